//! Certificates and campaigns: what is trusted, what is named, what is done again.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{fs, path::Path};

use warpmp_collatz::{
    Error, Result, alpha,
    campaign::{Campaign, Event, FolderError, Lock, Specification, run},
    certificate::{Certificate, Damage, Highest, load, store},
    cpu::Cpu,
    dfs,
    engine::{Control, Engine, Outcome},
    gpu::{Gpu, Settings},
    honda,
    scheme::Scheme,
    window::Window,
};
use warpmp_device::open_sim;

const COUNT: u128 = 1 << 14;

fn scheme() -> Scheme {
    Scheme::Dfs(dfs::Plan::new(6, 10, 6, 2).unwrap())
}

fn specification(count: u128) -> Specification {
    Specification::new(Window::new((1 << 64) + 5, count).unwrap(), COUNT, scheme()).unwrap()
}

/// An engine that is wrong, or loses its device, or counts.
#[derive(Default)]
struct Faulty {
    cpu: Cpu,
    wrong: u64,
    losses: u32,
    calls: u32,
}

impl Engine for Faulty {
    fn name(&self) -> String {
        "faulty".into()
    }

    fn dfs(&mut self, plan: &dfs::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        self.calls += 1;
        if self.losses > 0 {
            self.losses -= 1;
            return Err(lost());
        }
        let mut outcome = self.cpu.dfs(plan, window, control)?;
        outcome.checksum = outcome.checksum.wrapping_add(self.wrong);
        Ok(outcome)
    }

    fn honda(&mut self, plan: &honda::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        self.cpu.honda(plan, window, control)
    }

    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        self.cpu.delays(from, delays, control)
    }
}

fn lost() -> Error {
    warpmp_device::Error::DeviceLost { call: "cuLaunchKernel", code: "CUDA_ERROR_ILLEGAL_ADDRESS".into() }.into()
}

/// Does what is missing, `most` windows at the most; gives how many were done.
fn work(folder: &Path, specification: &Specification, most: usize) -> usize {
    let (campaign, _lock) = Campaign::create(folder, specification).unwrap();
    let contents = campaign.contents().unwrap();
    let control = Control::default();
    let missing = (0..specification.windows()).filter_map(|number| specification.window(number));
    let missing: Vec<Window> =
        missing.filter(|window| contents.done.iter().all(|done| done.window != *window)).take(most).collect();
    let engine: Box<dyn Engine> = Box::new(Cpu::new());
    run(&specification.scheme, missing.iter().copied(), vec![(engine, &control)], |event| match event {
        Event::Done(window, certificate) => store(&campaign.path(&window), &certificate),
        Event::Lost(_, error) => Err(error),
    })
    .unwrap();
    missing.len()
}

#[test]
fn a_campaign_resumes_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let specification = specification(10 * COUNT - 7);
    assert_eq!(work(folder.path(), &specification, 4), 4);
    // What a killed process leaves: a half-written file, and its name in the lock.
    fs::write(folder.path().join(".unfinished-abc"), "{").unwrap();
    fs::write(folder.path().join("lock"), "process 1\n").unwrap();
    let contents = Campaign::open(folder.path()).unwrap().contents().unwrap();
    assert_eq!(specification.covered(&contents.done), 4 * COUNT - 5);
    let gap = Window::new((1 << 64) + 4 * COUNT, 6 * COUNT - 2).unwrap();
    assert_eq!(specification.gaps(&contents.done), [gap]);
    assert_eq!(work(folder.path(), &specification, 100), 6);
    assert_eq!(work(folder.path(), &specification, 100), 0);
    let contents = Campaign::open(folder.path()).unwrap().contents().unwrap();
    assert_eq!((specification.covered(&contents.done), specification.gaps(&contents.done).len()), (10 * COUNT - 7, 0));
    assert!(!folder.path().join(".unfinished-abc").exists());
    // The windows' figures are those of the whole.
    let whole = Certificate::make(&scheme(), &specification.range, &mut Cpu::new(), &Control::default()).unwrap();
    assert_eq!(contents.done.iter().map(|c| c.figures.tested).sum::<u64>(), whole.figures.tested);
    for certificate in &contents.done {
        certificate.recheck(true, &Control::default()).unwrap();
    }
}

#[test]
fn a_directory_has_one_worker_and_one_campaign() {
    let folder = tempfile::tempdir().unwrap();
    let (_, lock) = Campaign::create(folder.path(), &specification(COUNT)).unwrap();
    assert_eq!(lock.stale(), None);
    let Err(FolderError::Locked { holder, .. }) = Campaign::create(folder.path(), &specification(COUNT)) else {
        panic!("two at a time");
    };
    assert_eq!(holder, format!("process {}", std::process::id()));
    drop(lock);
    assert_eq!(Lock::take(folder.path()).unwrap().stale(), None);
    fs::write(folder.path().join("lock"), "process 12345\n").unwrap();
    assert_eq!(Lock::take(folder.path()).unwrap().stale(), Some("process 12345"));
    assert!(matches!(
        Campaign::create(folder.path(), &specification(2 * COUNT)),
        Err(FolderError::OtherCampaign { .. })
    ));
}

#[test]
fn damaged_and_foreign_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let specification = specification(6 * COUNT);
    work(folder.path(), &specification, 100);
    let campaign = Campaign::open(folder.path()).unwrap();
    let path = |number| campaign.path(&specification.window(number).unwrap());
    let text = |number| fs::read_to_string(path(number)).unwrap();
    // A figure changed by hand.
    fs::write(path(0), text(0).replacen("\"tested\": ", "\"tested\": 1", 1)).unwrap();
    // Cut off.
    fs::write(path(1), &text(1)[..100]).unwrap();
    // Another version and other rules, sealed as they should be.
    let mut certificate = load(&path(2)).unwrap().unwrap();
    certificate.program = "warpmp-collatz 0.0.9".into();
    store(&path(2), &certificate).unwrap();
    let mut certificate = load(&path(3)).unwrap().unwrap();
    certificate.rules.replace_range(..1, "x");
    store(&path(3), &certificate).unwrap();
    // A window under another's name.
    fs::copy(path(5), path(4)).unwrap();
    let contents = campaign.contents().unwrap();
    assert_eq!(contents.done.len(), 2);
    let damages: Vec<&Damage> = contents.damaged.iter().map(|(_, damage)| damage).collect();
    assert!(matches!(damages[0], Damage::Digest { .. }), "{damages:?}");
    assert!(matches!(damages[1], Damage::Unreadable { .. }));
    assert!(matches!(damages[2], Damage::Foreign { what, .. } if what == "program"));
    assert!(matches!(damages[3], Damage::Foreign { what, .. } if what == "rules"));
    assert!(matches!(damages[4], Damage::Misplaced { .. }));
    assert_eq!(specification.gaps(&contents.done).len(), 1);
    assert_eq!(work(folder.path(), &specification, 100), 5);
    assert!(campaign.contents().unwrap().damaged.is_empty());
}

/// Windows of the published scheme, dealt to two simulated GPUs: sums and the highest value are those of the whole.
#[test]
fn a_campaign_of_the_published_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let scheme = Scheme::Alpha(alpha::Plan::new(10, 9).unwrap());
    let range = Window::new((1 << 71) + 5, 7 * COUNT).unwrap();
    let specification = Specification::new(range, COUNT, scheme).unwrap();
    let (campaign, _lock) = Campaign::create(folder.path(), &specification).unwrap();
    let controls = [Control::default(), Control::default()];
    let settings = Settings { report_capacity: 16, ..Settings::default() };
    let gpu = || -> Box<dyn Engine> { Box::new(Gpu::new(open_sim(), settings)) };
    let windows = (0..specification.windows()).filter_map(|number| specification.window(number));
    run(&scheme, windows, controls.iter().map(|control| (gpu(), control)).collect(), |event| match event {
        Event::Done(window, certificate) => store(&campaign.path(&window), &certificate),
        Event::Lost(_, error) => Err(error),
    })
    .unwrap();
    let contents = campaign.contents().unwrap();
    assert_eq!((contents.done.len(), specification.gaps(&contents.done).len()), (8, 0));
    let whole = scheme.recompute(&range, &Control::default()).unwrap();
    let checksums = contents.done.iter().map(|it| u64::from_str_radix(&it.figures.checksum, 16).unwrap());
    assert_eq!(checksums.sum::<u64>(), whole.checksum);
    let highest = whole.heights.highest().unwrap();
    let right = Highest::Value { start: highest.start.to_string(), value: highest.value.to_string() };
    assert!(contents.done.iter().any(|certificate| certificate.highest == right));
    for certificate in &contents.done {
        certificate.recheck(true, &Control::default()).unwrap();
        let mut wrong = certificate.clone();
        wrong.highest = Highest::Value { start: "5".into(), value: "16".into() };
        assert!(matches!(wrong.recheck(true, &Control::default()), Err(Error::OtherHighest { .. })));
    }
}

/// What is written is read: whatever the figures are, the seal holds.
#[test]
fn certificates_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    let window = Window::new((1 << 126) + 3, 1000).unwrap();
    let mut certificate = Certificate::make(&scheme(), &window, &mut Cpu::new(), &Control::default()).unwrap();
    for figure in [0, 1, 999_999_999_999_999_999, u64::MAX] {
        certificate.microseconds = figure;
        certificate.figures.tested = figure;
        certificate.at = figure;
        store(&path, &certificate).unwrap();
        assert_eq!(load(&path).unwrap().unwrap(), certificate);
    }
}

#[test]
fn a_faulty_kernel_is_caught_before_anything_is_certified() {
    let mut engine = Faulty { wrong: 1, ..Faulty::default() };
    let window = Window::new(1 << 40, COUNT).unwrap();
    let made = Certificate::make(&scheme(), &window, &mut engine, &Control::default());
    assert!(matches!(made, Err(Error::Disagreement { .. })), "{made:?}");
}

#[test]
fn figures_that_were_never_found_are_caught_by_check() {
    let window = Window::new(1 << 40, COUNT).unwrap();
    let mut certificate = Certificate::make(&scheme(), &window, &mut Cpu::new(), &Control::default()).unwrap();
    certificate.recheck(true, &Control::default()).unwrap();
    certificate.figures.tested -= 1;
    certificate.recheck(false, &Control::default()).unwrap();
    assert!(matches!(certificate.recheck(true, &Control::default()), Err(Error::Disagreement { .. })));
    certificate.figures.tested += 1;
    certificate.samples[0].figures.checksum = "0000000000000000".into();
    assert!(matches!(certificate.recheck(false, &Control::default()), Err(Error::Disagreement { .. })));
}

/// A change to a certificate.
type Change<'c> = &'c dyn Fn(&mut Certificate);

/// Anybody can seal a certificate: its samples are tied to its window, and no file makes a check run for ever.
#[test]
fn samples_that_are_none_of_the_window_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    let make = |count| {
        let window = Window::new(1 << 40, count).unwrap();
        Certificate::make(&scheme(), &window, &mut Cpu::new(), &Control::default()).unwrap()
    };
    let (short, long) = (make(COUNT), make(1 << 21));
    assert_eq!((short.samples.len(), long.samples.len()), (1, 2));
    for good in [&short, &long] {
        store(&path, good).unwrap();
        assert_eq!(load(&path).unwrap().as_ref(), Ok(good));
    }
    let part = |from, count| Window::new(from, count).unwrap();
    let changes: [(&str, Change<'_>); 10] = [
        ("number of samples: 0", &|it| it.samples.clear()),
        ("number of samples: 1", &|it| it.samples.truncate(1)),
        ("number of samples: 3", &|it| it.samples.push(it.samples[0].clone())),
        ("sample", &|it| it.samples[1].window = part(1 << 41, 1 << 20)),
        ("sample", &|it| it.samples[1].window = part((1 << 40) + (1 << 20) + 1, 1 << 20)),
        ("sample", &|it| it.samples[0].window = part(1 << 40, 1)),
        ("sample", &|it| it.samples[0].window = part(1 << 40, 1 << 100)),
        ("window", &|it| it.window = part(1 << 40, 1 << 100)),
        ("checksum", &|it| it.figures.checksum = "+00000000000000f".into()),
        ("highest value", &|it| it.highest = Highest::Value { start: "7".into(), value: "8".into() }),
    ];
    for (words, change) in changes {
        let mut changed = long.clone();
        change(&mut changed);
        store(&path, &changed).unwrap();
        let damage = load(&path).unwrap().unwrap_err().to_string();
        assert!(damage.contains(words), "{words}: {damage}");
        if words.contains("sample") || words == "window" {
            let error = changed.recheck(false, &Control::default()).unwrap_err().to_string();
            assert!(error.contains(&damage), "{error}");
        }
    }
    // Windows that no engine could count are not begun.
    let error = Specification::new(part(1, 1 << 120), 1 << 100, scheme()).unwrap_err().to_string();
    assert!(error.contains("at most 2^64"), "{error}");
}

#[test]
fn a_lost_device_costs_its_window_only() {
    let windows: Vec<Window> = (0..6).map(|i| Window::new(1 + i * COUNT, COUNT).unwrap()).collect();
    let control = Control::default();
    let attempt = |engines: Vec<(Box<dyn Engine>, &Control)>| {
        let (mut done, mut lost) = (Vec::new(), 0);
        let result = run(&scheme(), windows.iter().copied(), engines, |event| {
            match event {
                Event::Done(window, _) => done.push(window),
                Event::Lost(..) => lost += 1,
            }
            Ok(())
        });
        done.sort();
        (result, done, lost)
    };
    let faulty = |losses| -> Box<dyn Engine> { Box::new(Faulty { losses, ..Faulty::default() }) };
    let (result, done, lost) = attempt(vec![(faulty(2), &control)]);
    assert!(result.is_ok() && done == windows && lost == 2);
    let other = Control::default();
    let (result, done, _) = attempt(vec![(faulty(u32::MAX), &control), (Box::new(Cpu::new()), &other)]);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(done, windows);
    let (result, done, _) = attempt(vec![(faulty(u32::MAX), &control)]);
    assert!(matches!(result, Err(Error::Device(_))) && done.is_empty());
}

#[test]
fn an_unwritable_directory_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(Campaign::create(&file, &specification(COUNT)), Err(FolderError::File { .. })));
    assert!(matches!(Campaign::open(folder.path()), Err(FolderError::File { .. })));
}

/// A rule that removes what it must not changes the fingerprint: its certificates are foreign.
#[test]
fn the_fingerprint_names_the_rules() {
    let known = warpmp_collatz::certificate::fingerprint();
    assert_eq!(known.len(), 64);
    assert_eq!(known, warpmp_collatz::certificate::fingerprint());
}
