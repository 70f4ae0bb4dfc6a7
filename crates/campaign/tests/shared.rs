//! A directory in which several processes work, and are killed.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::{
    collections::BTreeSet,
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant, SystemTime},
};

use common::{Squares, complete, names};
use warpmp_campaign::{Campaign, Claims, Control, Error, Event, Mode, Part, Stopped, Stored, deal};

const FOLDER: &str = "WARPMP_CAMPAIGN_TEST_FOLDER";
const BEAT: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_millis(800);

fn work() -> Squares {
    Squares::new(120, 1000)
}

/// Works in a shared directory until nothing is left; how many units this process stored first.
fn share(folder: &Path, workers: usize, pause: Duration) -> usize {
    let work = work();
    let (campaign, _lock) = Campaign::join(folder, &work).unwrap();
    let control = Control::default();
    let go_on = || control.check().is_ok();
    let units = campaign.shared_with(Part::ALL, &go_on, BEAT, PATIENCE).unwrap().map(Result::unwrap);
    let worker = |_| {
        |unit: &warpmp_campaign::Claimed<u64>| -> Result<_, Error> {
            thread::sleep(pause);
            Ok(work.make(unit.unit))
        }
    };
    let mut new = 0;
    deal(
        units,
        (0..workers).map(worker).collect(),
        |_| false,
        || control.stop(),
        |event| {
            if let Event::Done(_, sum) = event {
                match campaign.store(&sum)? {
                    Stored::New => new += 1,
                    Stored::Again => {}
                    Stored::Differs(path) => panic!("{}", path.display()),
                }
            }
            Ok(())
        },
    )
    .unwrap();
    new
}

/// The program of the child processes; alone it has nothing to do.
#[test]
fn child() {
    if let Some(folder) = env::var_os(FOLDER) {
        share(Path::new(&folder), 2, Duration::from_millis(8));
    }
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child"]).env(FOLDER, folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn processes_share_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> = (0..3).map(|_| start(folder.path())).collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    complete(folder.path(), &work());
    assert!(names(folder.path()).iter().all(|name| !name.contains(".claim")), "{:?}", names(folder.path()));
    // The work was shared.
    let campaign = Campaign::<Squares>::open(folder.path()).unwrap();
    let mut devices: Vec<String> = campaign.contents().unwrap().done.into_iter().map(|sum| sum.device).collect();
    devices.sort();
    devices.dedup();
    assert!(devices.len() > 1, "{devices:?}");
}

#[test]
fn killed_processes_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..6 {
        let mut children = [start(folder.path()), start(folder.path())];
        thread::sleep(Duration::from_millis(30 + 23 * round));
        for child in &mut children {
            child.kill().unwrap();
        }
        assert!(children.iter_mut().all(|child| !child.wait().unwrap().success() || round > 3));
    }
    // Claims of dead processes are left behind, or there was no time for any.
    let begin = Instant::now();
    assert!(start(folder.path()).wait().unwrap().success());
    println!("{:?}", begin.elapsed());
    complete(folder.path(), &work());
}

/// Each unit is done once, as long as nobody dies.
#[test]
fn workers_do_not_do_a_unit_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let new = thread::scope(|scope| {
        let sharing: Vec<_> = (0..4).map(|_| scope.spawn(move || share(path, 2, Duration::from_millis(1)))).collect();
        sharing.into_iter().map(|it| it.join().unwrap()).sum::<usize>()
    });
    assert_eq!(new, 120);
    complete(path, &work());
}

#[test]
fn a_claim_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let claims = || Claims::new(folder.path(), BEAT, PATIENCE);
    let (mut one, mut two) = (claims(), claims());
    let claim = one.take("a").unwrap().unwrap();
    // As long as it lives, however long that is.
    let end = Instant::now() + 3 * PATIENCE;
    while Instant::now() < end {
        assert!(two.take("a").unwrap().is_none());
        thread::sleep(BEAT / 2);
    }
    drop(claim);
    let claim = two.take("a").unwrap().unwrap();
    assert!(one.take("a").unwrap().is_none());
    drop((claim, one, two));
    assert_eq!(names(folder.path()), [""; 0]);
}

/// The claim of a host that is gone, whose clock nobody knows; and text that is no claim.
#[test]
fn a_claim_without_a_heartbeat_is_taken_over() {
    for text in [
        r#"{"owner":{"host":"<gone>","machine":"other","process":1,"started":"5","number":0},"beat":7}"#,
        "",
        "\u{0}\u{0}",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.claim");
        fs::write(&path, text).unwrap();
        let observers: Vec<_> = (0..8).map(|_| Mutex::new(Claims::new(folder.path(), BEAT, PATIENCE))).collect();
        let begin = Instant::now();
        // Eight want it at the same time.
        let owners = thread::scope(|scope| {
            let taking: Vec<_> = observers
                .iter()
                .map(|claims| {
                    scope.spawn(|| {
                        let mut claims = claims.lock().unwrap();
                        while begin.elapsed() < 4 * PATIENCE {
                            if let Some(claim) = claims.take("a").unwrap() {
                                assert!(begin.elapsed() >= PATIENCE);
                                return Some(claim);
                            }
                            thread::sleep(BEAT / 5);
                        }
                        None
                    })
                })
                .collect();
            taking.into_iter().filter_map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        // A claim saves work: a second owner would be no error, none at all would be.
        assert!((1..=2).contains(&owners.len()), "{}", owners.len());
    }
}

#[test]
fn an_owner_that_comes_back_late_leaves_the_new_claim() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (Claims::new(folder.path(), BEAT, PATIENCE), Claims::new(folder.path(), BEAT, PATIENCE));
    let late = one.take("a").unwrap().unwrap();
    fs::remove_file(late.path()).unwrap();
    let new = two.take("a").unwrap().unwrap();
    thread::sleep(3 * BEAT);
    let text = fs::read_to_string(new.path()).unwrap();
    drop(late);
    assert!(new.path().exists() && text.contains("beat"));
    assert!(one.take("a").unwrap().is_none());
}

#[test]
fn a_stop_ends_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let (campaign, _lock) = Campaign::join(folder.path(), &work()).unwrap();
    let control = Control::default();
    let go_on = || control.check().is_ok();
    let mut units = campaign.shared(Part::ALL, &go_on).unwrap();
    let claimed = units.next().unwrap().unwrap();
    assert_eq!(campaign.contents().unwrap().claims, 1);
    drop(claimed);
    assert_eq!(campaign.contents().unwrap().claims, 0);
    control.stop();
    assert_eq!(control.check(), Err(Stopped));
    assert!(units.next().is_none());
}

/// A worker whose device is lost costs its unit only; the last one says that it cannot be done.
#[test]
fn lost_units_are_done_again() {
    type Outcome = (Result<(), String>, Vec<u32>, usize);
    let attempt = |failures: &[u32]| -> Outcome {
        let worker = |mut left: u32| {
            move |unit: &u32| {
                left = left.saturating_sub(1);
                if left > 0 { Err("lost".to_owned()) } else { Ok(unit * unit) }
            }
        };
        let (mut done, mut lost) = (Vec::new(), 0);
        let workers = failures.iter().map(|failures| worker(failures.saturating_add(1))).collect();
        let result = deal(
            0..6,
            workers,
            |error: &String| error == "lost",
            || {},
            |event| {
                match event {
                    Event::Done(unit, square) => {
                        assert_eq!(square, unit * unit);
                        done.push(unit);
                    }
                    Event::Lost(..) => lost += 1,
                }
                Ok(())
            },
        );
        done.sort_unstable();
        (result, done, lost)
    };
    assert_eq!(attempt(&[2]), (Ok(()), (0..6).collect(), 2));
    let (result, done, _) = attempt(&[u32::MAX - 1, 0]);
    assert_eq!((result, done), (Ok(()), (0..6).collect()));
    let (result, done, _) = attempt(&[u32::MAX - 1]);
    assert_eq!((result, done), (Err("lost".into()), Vec::new()));
}

/// Clocks of hosts and of the file system may be wrong by years: a claim lives by its heartbeats alone, and dies without them.
#[test]
fn wrong_clocks_change_no_claim() {
    let folder = tempfile::tempdir().unwrap();
    let claims = || Claims::new(folder.path(), BEAT, PATIENCE);
    let (mut owner, mut other) = (claims(), claims());
    let claim = owner.take("a").unwrap().unwrap();
    let set = |path: &Path, time: SystemTime| {
        // A heartbeat may put a new file in its place at this moment.
        if let Ok(file) = fs::File::options().write(true).open(path) {
            file.set_modified(time).unwrap();
        }
    };
    let years = |count: u64| Duration::from_secs(count * 365 * 86400);
    let [past, future] = [SystemTime::UNIX_EPOCH + years(5), SystemTime::now() + years(40)];
    let end = Instant::now() + 3 * PATIENCE;
    while Instant::now() < end {
        set(claim.path(), if other.take("a").unwrap().is_none() { past } else { panic!("a living owner's claim") });
        thread::sleep(BEAT / 3);
        set(claim.path(), future);
    }
    // An owner elsewhere that is dead, and whose file seems to be of tomorrow.
    let dead = folder.path().join("b.claim");
    fs::write(&dead, r#"{"owner":{"host":"x","machine":"y","process":1,"started":"5","number":0},"beat":7}"#).unwrap();
    set(&dead, future);
    let begin = Instant::now();
    while other.take("b").unwrap().is_none() {
        assert!(begin.elapsed() < 20 * PATIENCE, "a claim of the future is never free");
        thread::sleep(BEAT);
    }
    assert!(begin.elapsed() >= PATIENCE);
}

/// A host falls asleep, another one does its unit, the host wakes up and stores its own certificate. Equal: nothing happens. Different:
/// both are kept, and everybody who looks is told.
#[test]
fn a_host_that_comes_back_late_stores_its_unit_twice() {
    for is_wrong in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let work = Squares::new(3, 10);
        let (late, _lock) = Campaign::join(folder.path(), &work).unwrap();
        let name = "000001";
        // The sleeping host's claim: no heartbeat comes.
        let claim = folder.path().join(format!("{name}.claim"));
        fs::write(&claim, r#"{"owner":{"host":"x","machine":"y","process":1,"started":"5","number":0},"beat":7}"#)
            .unwrap();
        assert_eq!(share_some(folder.path(), &work), 3);
        assert!(!claim.exists());
        let mut certificate = work.make(1);
        certificate.device = "the late host".into();
        certificate.sum += u64::from(is_wrong);
        let stored = late.store(&certificate).unwrap();
        let contents = late.contents().unwrap();
        assert_eq!(contents.done.len(), 3, "the first certificate of each unit counts");
        assert_eq!(contents.done[1].sum, work.make(1).sum);
        let beside = folder.path().join("000001.json.differs");
        if is_wrong {
            assert_eq!(stored, Stored::Differs(beside.clone()));
            assert_eq!(contents.disputed, std::slice::from_ref(&beside));
            assert_eq!(warpmp_campaign::load::<Squares>(&beside).unwrap().unwrap(), certificate);
        } else {
            assert_eq!(stored, Stored::Again);
            assert!(contents.disputed.is_empty() && !beside.exists());
        }
    }
}

/// Does all units of a shared directory; how many.
fn share_some(folder: &Path, work: &Squares) -> usize {
    let (campaign, _lock) = Campaign::join(folder, work).unwrap();
    let go_on = || true;
    let units = campaign.shared_with(Part::ALL, &go_on, BEAT, PATIENCE).unwrap();
    units.map(|claimed| assert_eq!(campaign.store(&work.make(claimed.unwrap().unit)).unwrap(), Stored::New)).count()
}

/// Parts have every unit once, alone and shared; a process sees what the others have stored.
#[test]
fn parts_and_news() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(10, 10);
    let go_on = || true;
    let (campaign, lock) = Campaign::enter(folder.path(), &work, Mode::ALONE).unwrap();
    let mut known = BTreeSet::new();
    let part = |number| Part::new(number, 3).unwrap();
    for (number, is_shared) in [(0, false), (1, true), (2, true)] {
        let contents = campaign.contents().unwrap();
        let mode = Mode { is_shared, part: part(number) };
        let mut units: Vec<u64> =
            campaign.units(&contents, mode, &go_on).unwrap().map(|it| store(&campaign, it.unwrap().unit)).collect();
        units.sort_unstable();
        assert_eq!(units, (0..10).filter(|unit| unit % 3 == number).collect::<Vec<_>>());
        let news: Vec<u64> = campaign.news(&known).unwrap().into_iter().map(|sum| sum.block).collect();
        assert_eq!(news, units);
        known.extend(news);
    }
    drop(lock);
    complete(folder.path(), &work);
}

fn store(campaign: &Campaign<Squares>, unit: u64) -> u64 {
    assert_eq!(campaign.store(&campaign.specification().make(unit)).unwrap(), Stored::New);
    unit
}
