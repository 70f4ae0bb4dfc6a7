//! A directory in which one process works: strange, broken, foreign and lost files.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::fs;

use common::{Squares, complete, names};
use warpmp_campaign::{Begun, Campaign, Damage, Error, Lock, Part, Stored, load, store, unnamed, write_whole};

#[test]
fn a_campaign_resumes_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(20, 100);
    assert!(matches!(Campaign::<Squares>::begun(folder.path()), Ok(Begun::Nothing)));
    {
        let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
        for block in [3, 4, 19] {
            assert_eq!(campaign.store(&work.make(block)).unwrap(), Stored::New);
        }
    }
    fs::write(folder.path().join(".unfinished-x"), "{").unwrap();
    fs::write(folder.path().join("lock"), "process 1\n").unwrap();
    let (campaign, lock) = Campaign::create(folder.path(), &work).unwrap();
    assert_eq!(lock.stale(), Some("process 1"));
    assert!(!folder.path().join(".unfinished-x").exists());
    let missing: Vec<u64> = campaign.missing(&campaign.contents().unwrap(), Part::ALL).collect();
    assert_eq!(missing, (0..20).filter(|block| ![3, 4, 19].contains(block)).collect::<Vec<_>>());
    for block in missing {
        assert_eq!(campaign.store(&work.make(block)).unwrap(), Stored::New);
    }
    complete(folder.path(), &work);
}

/// A file that is being written has no name, where the system can do this, and then it replaces the old one.
#[test]
fn nothing_half_written_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let is_unnamed = unnamed::open(folder.path()).is_some();
    for (text, before) in [("first", 0), ("second", 1)] {
        write_whole(&path, |file| {
            file.write_all(text.as_bytes())?;
            assert_eq!(names(folder.path()).len(), before + usize::from(!is_unnamed));
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(names(folder.path()).len(), 1);
    }
    let failed = write_whole(&path, |_| Err(std::io::ErrorKind::StorageFull.into()));
    assert!(failed.is_err() && fs::read_to_string(&path).unwrap() == "second");
    assert_eq!(names(folder.path()).len(), 1);
}

#[test]
fn damaged_files_are_named_and_moved_aside() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(6, 10);
    let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
    (0..5).for_each(|block| drop(campaign.store(&work.make(block)).unwrap()));
    let text = fs::read_to_string(campaign.path(&0)).unwrap();
    fs::write(campaign.path(&0), text.replacen("\"sum\": ", "\"sum\": 1", 1)).unwrap();
    fs::write(campaign.path(&1), &text[..20]).unwrap();
    let mut later = work.make(2);
    later.program = "squares 2.0".into();
    store::<Squares>(&campaign.path(&2), &later).unwrap();
    fs::copy(campaign.path(&4), campaign.path(&5)).unwrap();
    store::<Squares>(&campaign.path(&3), &Squares::new(6, 11).make(3)).unwrap();
    fs::write(folder.path().join("notes.json"), "{}").unwrap();
    fs::write(folder.path().join("000009.json"), "{}").unwrap();
    let contents = campaign.contents().unwrap();
    let damages: Vec<&Damage> = contents.damaged.iter().map(|(_, damage)| damage).collect();
    assert!(
        matches!(
            damages[..],
            [
                Damage::Digest { .. },
                Damage::Unreadable { .. },
                Damage::Foreign { .. },
                Damage::Misplaced { .. },
                Damage::Misplaced { .. },
            ]
        ),
        "{damages:?}"
    );
    assert_eq!((contents.done.len(), contents.others.len()), (1, 2));
    let before = names(folder.path());
    let Err(error @ Error::Untrusted { .. }) = campaign.clear(&contents, false) else { panic!("files were moved") };
    for (path, damage) in &contents.damaged {
        let named = format!("{} ({damage})", path.file_name().unwrap().to_str().unwrap());
        assert_eq!(error.to_string().contains(&named), !damage.is_broken(), "{error}");
    }
    assert_eq!(names(folder.path()), before);
    let moved = campaign.clear(&contents, true).unwrap();
    assert_eq!(moved.len(), 5);
    assert_eq!(fs::read_to_string(&moved[1].to).unwrap(), text[..20]);
    let contents = campaign.contents().unwrap();
    assert!(contents.damaged.is_empty());
    assert_eq!(campaign.missing(&contents, Part::ALL).collect::<Vec<_>>(), [0, 1, 2, 3, 5]);
}

#[test]
fn a_lost_specification_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(6, 10);
    let description = folder.path().join("campaign.json");
    let (campaign, lock) = Campaign::create(folder.path(), &work).unwrap();
    campaign.store(&work.make(4)).unwrap();
    drop(lock);
    let text = fs::read(&description).unwrap();
    for broken in [None, Some(&text[..30])] {
        match broken {
            Some(text) => fs::write(&description, text).unwrap(),
            None => fs::remove_file(&description).unwrap(),
        }
        let Err(Error::LostSpecification { remains, .. }) = Campaign::<Squares>::open(folder.path()) else {
            panic!("not lost")
        };
        assert_eq!((remains.certificates, &*remains.summary), (1, "up to block 4"));
        assert!(matches!(Campaign::join(folder.path(), &work), Err(Error::LostSpecification { .. })));
        for other in [Squares::new(6, 11), Squares::new(4, 10)] {
            assert!(matches!(Campaign::create(folder.path(), &other), Err(Error::OtherCertificates { .. })));
        }
        let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
        assert_eq!(campaign.restored().unwrap().aside.is_some(), broken.is_some());
        assert_eq!(fs::read(&description).unwrap(), text);
    }
    for other in [Squares::new(5, 10), Squares::new(7, 11)] {
        assert!(matches!(Campaign::create(folder.path(), &other), Err(Error::OtherCampaign { .. })));
    }
}

#[test]
fn a_campaign_is_extended() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (Squares::new(3, 10), Squares::new(5, 10));
    let (campaign, lock) = Campaign::create(folder.path(), &before).unwrap();
    campaign.store(&before.make(1)).unwrap();
    // A process that shares the directory extends nothing, nor one that finds it held.
    assert!(matches!(Campaign::create(folder.path(), &after), Err(Error::Locked { .. })));
    drop(lock);
    assert!(matches!(Campaign::join(folder.path(), &after), Err(Error::OtherCampaign { .. })));
    assert_eq!(Campaign::<Squares>::open(folder.path()).unwrap().specification(), &before);
    let (campaign, lock) = Campaign::create(folder.path(), &after).unwrap();
    assert_eq!(campaign.extended(), Some(&before));
    let contents = campaign.contents().unwrap();
    assert_eq!(campaign.missing(&contents, Part::ALL).collect::<Vec<_>>(), [0, 2, 3, 4]);
    drop(lock);
    // From now on it is the longer one.
    assert_eq!(Campaign::create(folder.path(), &after).unwrap().0.extended(), None);
    assert!(matches!(Campaign::create(folder.path(), &before), Err(Error::OtherCampaign { .. })));
    assert_eq!(warpmp_campaign::program(folder.path()).unwrap().as_deref(), Some("squares 1.0"));
}

#[test]
fn a_second_certificate_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(3, 10);
    let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
    let (mut again, mut wrong) = (work.make(1), work.make(1));
    again.device = "another".into();
    assert_eq!(campaign.store(&work.make(1)).unwrap(), Stored::New);
    assert_eq!(campaign.store(&again).unwrap(), Stored::Again);
    let one = folder.path().join("000001.json.differs");
    let two = folder.path().join("000001.json.differs-2");
    for expected in [&one, &two] {
        wrong.sum += 1;
        // Twice: it is stored once.
        for _ in 0..2 {
            assert_eq!(campaign.store(&wrong).unwrap(), Stored::Differs(expected.clone()));
            assert_eq!(load::<Squares>(expected).unwrap().unwrap(), wrong);
        }
    }
    let contents = campaign.contents().unwrap();
    assert_eq!(contents.disputed, [one, two]);
    assert_eq!(contents.done, [work.make(1)]);
    // Another file in its place stays, and is named.
    fs::write(campaign.path(&2), "x").unwrap();
    assert!(matches!(campaign.store(&work.make(2)), Err(Error::NotTrusted { path, .. }) if path == campaign.path(&2)));
    assert_eq!(fs::read_to_string(campaign.path(&2)).unwrap(), "x");
}

#[test]
fn one_process_alone_or_several() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(3, 10);
    let (_, alone) = Campaign::create(folder.path(), &work).unwrap();
    assert!(matches!(Campaign::join(folder.path(), &work), Err(Error::Locked { .. })));
    drop(alone);
    let shared = [Campaign::join(folder.path(), &work).unwrap(), Campaign::join(folder.path(), &work).unwrap()];
    assert!(matches!(Lock::take(folder.path()), Err(Error::Locked { .. })));
    assert!(matches!(Campaign::join(folder.path(), &Squares::new(4, 10)), Err(Error::OtherCampaign { .. })));
    drop(shared);
    assert_eq!(Lock::take(folder.path()).unwrap().stale(), None);
}

/// What a page shows: every unit is in one cell, claims and alarms are where their units are.
#[test]
fn a_map_of_the_units() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(10, 10);
    let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
    for block in [0, 1, 2, 9] {
        campaign.store(&work.make(block)).unwrap();
    }
    let mut wrong = work.make(9);
    wrong.sum += 1;
    assert!(matches!(campaign.store(&wrong), Ok(Stored::Differs(_))));
    fs::write(campaign.path(&4), "x").unwrap();
    fs::write(folder.path().join("000005.claim"), r#"{"owner":{"host":"<b>","process":7},"beat":1}"#).unwrap();
    fs::write(folder.path().join("000006.claim"), "").unwrap();
    fs::write(folder.path().join("index.claim"), "").unwrap();
    let contents = campaign.contents().unwrap();
    let map = campaign.map(&contents, 4).unwrap();
    let figures: Vec<_> = map.iter().map(|it| (it.first, it.units, it.done, it.claimed, it.alarms)).collect();
    assert_eq!(figures, [(0, 2, 2, 0, 0), (2, 3, 1, 0, 1), (5, 2, 0, 2, 0), (7, 3, 1, 0, 1)]);
    assert_eq!(campaign.map(&contents, 1000).unwrap().len(), 10);
    let claims = campaign.claims().unwrap();
    let hosts: Vec<_> = claims.iter().map(|it| (it.name.as_str(), it.host.as_str(), it.process)).collect();
    assert_eq!(hosts, [("000005", "<b>", Some(7)), ("000006", "", None), ("index", "", None)]);
    assert!(claims.iter().all(|it| it.heartbeat.is_some()));
}

/// `sha256sum` is the independent program, where there is one.
#[cfg(target_os = "linux")]
#[test]
fn checksums_are_those_of_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let work = Squares::new(5, 10);
    let (campaign, _lock) = Campaign::create(folder.path(), &work).unwrap();
    (0..5).for_each(|block| drop(campaign.store(&work.make(block)).unwrap()));
    for other in [".hidden.json", "b.json", "A.json", "x.json.differs", "x.json.aside", "x.claim"] {
        fs::write(folder.path().join(other), other).unwrap();
    }
    fs::create_dir(folder.path().join("folder.json")).unwrap();
    let sums = warpmp_campaign::checksums(folder.path()).unwrap();
    let names: Vec<&str> = sums.files.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["000000.json", "000001.json", "000002.json", "000003.json", "000004.json", "A.json", "b.json"];
    assert_eq!(names, [&expected[..], &["campaign.json"]].concat());
    let script = r"find . -maxdepth 1 -type f -name '[!.]*.json' -printf '%f\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum";
    let output = std::process::Command::new("sh").args(["-c", script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{}  -\n", sums.of_all));
}
