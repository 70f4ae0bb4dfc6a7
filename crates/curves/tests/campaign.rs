//! Campaigns on small curves: sessions of several engines in one directory, resumed, checked, joined, and damaged in every way.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use num_bigint::BigUint;
use warpmp_campaign::records::Appender;
use warpmp_curves::affine::Group;
use warpmp_curves::campaign::{
    self, Checked, Event, Finding, Folder, Found, Opened, Part, Progress, Status, Worker, points,
};
use warpmp_curves::search::{Engine, Plan};
use warpmp_curves::walk::Settings;
use warpmp_curves::{Layout, Problem};

/// A random curve of prime order, and the logarithm: rows 0 and 9 have 32 bits, row 8 has 40 bits.
fn curve(row: usize) -> (Problem, BigUint) {
    let text = include_str!("data/curves.csv");
    let row = text.lines().filter(|line| !line.starts_with('#')).nth(1 + row).unwrap();
    let numbers: Vec<BigUint> = row.split(',').map(|digits| digits.parse().unwrap()).collect();
    let [p, a, b, n, px, py, qx, qy, k] = numbers.try_into().unwrap();
    (Problem::new("", Group { p, a, b }, n, Some((px, py)), Some((qx, qy))).unwrap(), k)
}

fn settings(distinguished_bits: u32, seed: u64) -> Settings {
    Settings { branch_bits: 9, distinguished_bits, seed }
}

/// The processor with few walks.
fn cpu(settings: Settings) -> Worker {
    let layout = Layout { blocks: 1, threads: 1, points: 64, capacity: 0 };
    Worker { engine: Engine::Cpu, name: "cpu".into(), plan: Plan { settings, layout, rounds: 32 } }
}

fn sim(settings: Settings, name: &str) -> Worker {
    let layout = Layout { blocks: 1, threads: 32, points: 4, capacity: 4096 };
    let engine = Engine::Device(warpmp_device::open_sim());
    Worker { engine, name: name.into(), plan: Plan { settings, layout, rounds: 16 } }
}

/// Searches until the end, or until `go_on` says no; what was told on the way.
fn search(
    opened: &Opened,
    workers: &[Worker],
    memory_bytes: u64,
    go_on: impl FnMut(Progress) -> bool,
) -> (Option<Found>, Vec<Event>) {
    let events = Mutex::new(Vec::new());
    let event = |event| events.lock().unwrap().push(event);
    let outcome = campaign::run(opened, workers, memory_bytes, &event, go_on).unwrap();
    (outcome.found, events.into_inner().unwrap())
}

/// A directory with some thousand points of a curve of 131 bits, which has no logarithm soon.
fn some_points(folder: &Path, seed: u64, least: u64) -> Folder {
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    let settings = settings(5, seed);
    let opened = Opened::new(folder, &problem, settings).unwrap();
    let (found, events) = search(&opened, &[cpu(settings)], 1 << 20, |progress| progress.points < least);
    assert_eq!((found, events), (None, Vec::new()));
    drop(opened);
    Folder::open(folder).unwrap()
}

fn check(campaign: &Folder, sample: usize) -> Checked {
    campaign::check(campaign, sample, 1, &|_| true).unwrap()
}

/// The files of points.
fn files(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("points-")).collect()
}

#[test]
fn a_campaign_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, k) = curve(8);
    let settings = settings(6, 1);
    // Killed by dropping everything at once, the logs aside: many short stays, a small index.
    let mut stays = 0;
    let found = loop {
        let opened = Opened::new(folder.path(), &problem, settings).unwrap();
        stays += 1;
        let (found, events) = search(&opened, &[cpu(settings)], 1 << 16, |progress| progress.points < 4000);
        assert_eq!(events, Vec::new());
        if let Some(found) = found {
            break found;
        }
        assert!(stays < 200, "no logarithm after {stays} stays");
    };
    assert_eq!(found.k, k.to_string());
    assert_eq!(found.logarithm(&problem), Some(k));
    let opened = Opened::new(folder.path(), &problem, settings).unwrap();
    let status = opened.status().unwrap();
    assert_eq!((status.sessions.len(), status.solution.as_ref()), (stays, Some(&found.k)));
    // The last stay may find the logarithm among the points of the others, before it has one of its own.
    assert!(status.sessions.iter().all(|session| session.ended));
    assert!(status.sessions.iter().filter(|session| session.points == 0).count() <= 1, "{status:?}");
    assert!(status.steps as f64 > 0.9 * status.work, "{status:?}");
    // Every stay takes the walks of the stay before.
    assert_eq!(status.saved, 1);
    // Later calls find it in the directory.
    assert_eq!(search(&opened, &[cpu(settings)], 1 << 16, |_| true).0, Some(found));
    assert_eq!(opened.status().unwrap().sessions.len(), stays);
    drop(opened);
    let checked = check(&Folder::open(folder.path()).unwrap(), 20);
    assert_eq!((checked.points, checked.sampled, checked.findings), (status.points, 20, Vec::new()));
}

#[test]
fn two_devices_work_into_one_directory() {
    let folder = tempfile::tempdir().unwrap();
    // No logarithm soon: each part lasts until both devices have worked, on a busy machine too.
    let problem = warpmp_curves::challenges::named("eccp-79").unwrap();
    let settings = settings(4, 2);
    let opened = Opened::new(folder.path(), &problem, settings).unwrap();
    let workers = [sim(settings, "one"), sim(settings, "two")];
    // In two parts: the walks of the first go on in the second.
    for parts in 1..=2 {
        let have_worked = |status: &Status| {
            let work = |device| status.sessions.iter().filter(|it| it.device == device && it.points > 100).count();
            ["one", "two"].map(work) == [parts; 2]
        };
        let (found, _) = search(&opened, &workers, 1 << 20, |_| !have_worked(&opened.status().unwrap()));
        assert_eq!(found, None);
        let status = opened.status().unwrap();
        assert!(have_worked(&status), "{status:?}");
        // Each device saved its walks, and took as many.
        assert_eq!((status.sessions.len(), status.saved), (2 * parts, 2), "{status:?}");
    }
    drop(opened);
    // Every point is one, those of walks that went on too.
    let checked = check(&Folder::open(folder.path()).unwrap(), 300);
    assert!(checked.sampled == 300 && checked.findings.is_empty(), "{checked:?}");
    // A start is reported once, though its walk went on.
    let mut starts = Vec::new();
    for path in files(folder.path()) {
        let kind = points::kind(Folder::open(folder.path()).unwrap().specification());
        warpmp_campaign::records::read(&path, kind, |record| starts.push(record[..8].to_vec())).unwrap();
    }
    let count = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), count);
}

#[test]
fn two_devices_find_a_logarithm() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, k) = curve(0);
    let settings = settings(4, 2);
    let opened = Opened::new(folder.path(), &problem, settings).unwrap();
    let (found, _) = search(&opened, &[sim(settings, "one"), sim(settings, "two")], 1 << 20, |_| true);
    assert_eq!(found.unwrap().k, k.to_string());
}

#[test]
fn directories_of_other_walks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, _) = curve(0);
    drop(Opened::new(folder.path(), &problem, settings(6, 1)).unwrap());
    let refused =
        |problem: &Problem, settings| Opened::new(folder.path(), problem, settings).map(drop).unwrap_err().to_string();
    for error in [
        refused(&curve(9).0, settings(6, 1)),
        refused(&problem, settings(7, 1)),
        refused(&problem, settings(6, 2)),
        refused(&problem, Settings { branch_bits: 8, ..settings(6, 1) }),
    ] {
        assert!(error.contains("of another campaign: a curve of 32 bits, seed 1, 9 branch bits, 6 disting"), "{error}");
    }
    assert!(Opened::new(folder.path(), &problem, settings(6, 1)).is_ok());
}

#[test]
fn a_lost_specification_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    some_points(folder.path(), 5, 500);
    let file = folder.path().join("campaign.json");
    let before = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    assert!(Opened::new(folder.path(), &problem, settings(5, 6)).is_err());
    drop(Opened::new(folder.path(), &problem, settings(5, 5)).unwrap());
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn damaged_and_lost_files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = some_points(folder.path(), 5, 3000);
    let path = files(folder.path()).remove(0);
    let whole = fs::read(&path).unwrap();
    let log = folder.path().join(path.file_name().unwrap().to_str().unwrap().replace("points-", "session-"));
    let log = log.with_extension("json");
    let sealed = fs::read(&log).unwrap();
    assert_eq!(check(&campaign, 4).findings, Vec::new());
    // A byte of a block.
    let mut bytes = whole.clone();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let findings = check(&campaign, 0).findings;
    assert!(matches!(&findings[..], [Finding::Damaged(_), Finding::LostPoints { .. }]), "{findings:?}");
    // The search goes on without the block's points, and says so.
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    let opened = Opened::new(folder.path(), &problem, settings(5, 5)).unwrap();
    let (_, events) = search(&opened, &[cpu(settings(5, 5))], 1 << 20, |progress| progress.points < 5000);
    assert!(matches!(&events[..], [Event::Lost(lost)] if lost.path == path), "{events:?}");
    drop(opened);
    // A block that was being written is no damage, but its points were logged here.
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let checked = check(&campaign, 0);
    assert!(checked.torn.len() == 1 && matches!(&checked.findings[..], [Finding::LostPoints { .. }]), "{checked:?}");
    // A lost file, a lost log, a damaged log.
    fs::remove_file(&path).unwrap();
    let findings = check(&campaign, 0).findings;
    assert!(matches!(&findings[..], [Finding::LostPoints { found: 0, .. }]), "{findings:?}");
    assert!(findings[0].to_string().contains("lost, with "), "{findings:?}");
    fs::write(&path, &whole).unwrap();
    fs::remove_file(&log).unwrap();
    assert_eq!(check(&campaign, 0).findings, [Finding::LostLog { path: log.clone() }]);
    fs::write(&log, String::from_utf8(sealed).unwrap().replace("\"steps\": ", "\"steps\": 1")).unwrap();
    let findings = check(&campaign, 0).findings;
    assert!(matches!(&findings[..], [Finding::NotTrusted { .. }]), "{findings:?}");
}

/// Points with true checksums that are none: of another walk, and of the walk of their start, but not distinguished.
#[test]
fn wrong_points_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, _) = curve(8);
    let opened = Opened::new(folder.path(), &problem, settings(5, 5)).unwrap();
    search(&opened, &[cpu(settings(5, 5))], 1 << 20, |progress| progress.points < 20);
    drop(opened);
    let campaign = Folder::open(folder.path()).unwrap();
    let kind = points::kind(campaign.specification());
    // Distinguished points of a walk with fewer distinguished bits are points of this walk too.
    let other = tempfile::tempdir().unwrap();
    let fewer = settings(2, 5);
    let opened = Opened::new(other.path(), &problem, fewer).unwrap();
    search(&opened, &[cpu(fewer)], 1 << 20, |progress| progress.points < 200);
    drop(opened);
    let mut records = Vec::new();
    let theirs = points::kind(Folder::open(other.path()).unwrap().specification());
    warpmp_campaign::records::read(&files(other.path())[0], theirs, |record| records.push(record.to_vec())).unwrap();
    let mut appender = Appender::create(&points::path(folder.path(), 77), kind).unwrap().unwrap();
    records.truncate(24);
    for record in &records {
        appender.append(record).unwrap();
    }
    let mut wrong = records[0].clone();
    wrong[12] ^= 4;
    appender.append(&wrong).unwrap();
    drop(appender);
    let checked = check(&campaign, 1 << 20);
    assert_eq!(checked.sampled, checked.points);
    let (mut early, mut never, mut others) = (0, 0, 0);
    for finding in &checked.findings {
        match finding {
            Finding::NotDistinguished { .. } => early += 1,
            Finding::Wrong { .. } => never += 1,
            _ => others += 1,
        }
    }
    // Three bits more are zero in one point of eight. The session has no log.
    assert!((14..25).contains(&early) && never == 1 && others == 1, "{:?}", checked.findings);
}

#[test]
fn directories_are_joined() {
    let [one, two, all] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let points = [&one, &two].map(|folder| {
        let campaign = some_points(folder.path(), 5, 300);
        campaign::status(&campaign).unwrap().points
    });
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    let opened = Opened::new(all.path(), &problem, settings(5, 5)).unwrap();
    for (folder, points) in [&one, &two].into_iter().zip(points) {
        let joined = campaign::join(&opened, folder.path()).unwrap();
        assert_eq!((joined.copied, joined.known, joined.points), (1, 0, points));
        let joined = campaign::join(&opened, folder.path()).unwrap();
        assert_eq!((joined.copied, joined.known), (0, 1));
    }
    assert_eq!(opened.status().unwrap().points, points[0] + points[1]);
    // A copy that was made while the session worked is replaced by a longer one; a longer one stays.
    let path = files(one.path()).remove(0);
    let copy = all.path().join(path.file_name().unwrap());
    let whole = fs::read(&path).unwrap();
    fs::write(&copy, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(campaign::join(&opened, one.path()).unwrap().copied, 1);
    assert_eq!(fs::read(&copy).unwrap(), whole);
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(campaign::join(&opened, one.path()).unwrap().copied, 0);
    assert_eq!(fs::read(&copy).unwrap(), whole);
    // Other points of the same session: one of both is damaged.
    let mut bytes = whole.clone();
    bytes[60] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = campaign::join(&opened, one.path()).unwrap_err().to_string();
    assert!(error.contains("different points of one session"), "{error}");
    // Another seed.
    let other = tempfile::tempdir().unwrap();
    some_points(other.path(), 6, 100);
    let error = campaign::join(&opened, other.path()).unwrap_err().to_string();
    assert!(error.contains("of another campaign: eccp-131, seed 6"), "{error}");
    drop(opened);
    assert_eq!(check(&Folder::open(all.path()).unwrap(), 4).findings, Vec::new());
}

/// Meetings that tell nothing are counted once, whoever sees them.
#[test]
fn useless_meetings_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = some_points(folder.path(), 5, 300);
    let kind = points::kind(campaign.specification());
    let mut records = Vec::new();
    warpmp_campaign::records::read(&files(folder.path())[0], kind, |record| records.push(record.to_vec())).unwrap();
    let mut appender = Appender::create(&points::path(folder.path(), 77), kind).unwrap().unwrap();
    // One walk a second time; a wrong point with the hash of a true one.
    appender.append(&records[3]).unwrap();
    let wrong = [&records[5][..8], &records[6][8..]].concat();
    appender.append(&wrong).unwrap();
    drop(appender);
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    for _ in 0..2 {
        let opened = Opened::new(folder.path(), &problem, settings(5, 5)).unwrap();
        let mut looks = 0;
        search(&opened, &[cpu(settings(5, 5))], 1 << 20, |_| {
            looks += 1;
            looks < 10 || opened.status().unwrap().meetings.wrong == 0
        });
        let meetings = opened.status().unwrap().meetings;
        assert_eq!((meetings.repeated, meetings.wrong, meetings.useless, meetings.coincidences), (1, 1, 0, 0));
    }
    assert!(matches!(campaign.contents().unwrap().done[0].part, Part::Session(_)));
}
