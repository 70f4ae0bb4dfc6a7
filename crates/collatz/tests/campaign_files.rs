//! A campaign's directory after accidents: what is lost, broken, foreign, or of another version.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use warpmp_collatz::{
    Error,
    campaign::{Begun, Campaign, FolderError, Remains, Restored, Specification},
    certificate::{Certificate, Damage, FORMAT, load, store},
    cpu::Cpu,
    dfs,
    engine::Control,
    scheme::Scheme,
    window::Window,
};

const COUNT: u128 = 1 << 12;

fn specification(from: u128, count: u128) -> Specification {
    let scheme = Scheme::Dfs(dfs::Plan::new(6, 10, 6, 2).unwrap());
    Specification::new(Window::new(from, count).unwrap(), COUNT, scheme).unwrap()
}

/// Certificates of the windows with these numbers.
fn work(folder: &Path, specification: &Specification, numbers: impl IntoIterator<Item = u128>) {
    let (campaign, _lock) = Campaign::create(folder, specification).unwrap();
    for number in numbers {
        let window = specification.window(number).unwrap();
        let made = Certificate::make(&specification.scheme, &window, &mut Cpu::new(), &Control::default()).unwrap();
        store(&campaign.path(&window), &made).unwrap();
    }
}

/// A campaign of five windows, of which the first and the last are short; the second and the last are done.
fn begun() -> (tempfile::TempDir, Specification) {
    let folder = tempfile::tempdir().unwrap();
    let specification = specification((1 << 64) + 5, 5 * COUNT - 12);
    work(folder.path(), &specification, [1, 4]);
    (folder, specification)
}

fn write_sealed(path: &Path, content: &Value) {
    let sha256 = format!("{:x}", Sha256::digest(content.to_string().as_bytes()));
    fs::write(path, json!({"sha256": sha256, "content": content}).to_string()).unwrap();
}

fn content(path: &Path) -> Value {
    serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap()["content"].take()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Cut off anywhere, or with any byte changed: it is noticed, written anew, and the same again; the broken file is kept.
#[test]
fn a_broken_description_is_written_anew() {
    let (folder, specification) = begun();
    let path = folder.path().join("campaign.json");
    let whole = fs::read(&path).unwrap();
    let cut = (0..whole.len() - 1).map(|length| whole[..length].to_vec());
    let changed = (0..whole.len() - 1).map(|place| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    });
    let zeros = [vec![0; whole.len()], [&whole[..], b"}"].concat()];
    for (number, broken) in zeros.into_iter().chain(cut).chain(changed).enumerate() {
        fs::write(&path, &broken).unwrap();
        let Err(FolderError::LostSpecification { remains, .. }) = Campaign::open(folder.path()) else {
            // Between tokens, one kind of blank is as good as another.
            assert_eq!(
                serde_json::from_slice::<Value>(&broken).unwrap(),
                serde_json::from_slice::<Value>(&whole).unwrap()
            );
            continue;
        };
        let end = specification.range.end();
        let summary = format!("for starts from {} to {} in windows of {COUNT}", (1 << 64) + COUNT, end - 1);
        assert_eq!(remains, Remains { certificates: 2, summary });
        // Writing takes long.
        if number > 10 && number % 7 != 0 {
            continue;
        }
        let (campaign, _lock) = Campaign::create(folder.path(), &specification).unwrap();
        let aside = campaign.restored().unwrap().aside.clone().unwrap();
        assert_eq!((fs::read(&aside).unwrap(), fs::read(&path).unwrap()), (broken, whole.clone()));
        assert_eq!(campaign.contents().unwrap().done.len(), 2);
        fs::remove_file(aside).unwrap();
    }
    // Several are kept.
    for _ in 0..3 {
        fs::write(&path, "").unwrap();
        Campaign::create(folder.path(), &specification).unwrap();
    }
    assert_eq!(
        names(folder.path())[2..6],
        ["campaign.json", "campaign.json.aside", "campaign.json.aside-2", "campaign.json.aside-3"]
    );
}

#[test]
fn a_lost_description_is_told_by_the_certificates() {
    let (folder, right) = begun();
    fs::remove_file(folder.path().join("campaign.json")).unwrap();
    assert!(matches!(Campaign::open(folder.path()), Err(FolderError::LostSpecification { .. })));
    let Begun::Certificates(certificates) = Campaign::begun(folder.path()).unwrap() else { panic!("not lost") };
    // A size that does not fit, and one that does.
    assert_eq!(Specification::of(right.range, 1 << 38, &certificates).as_ref(), Some(&right));
    assert_eq!(Specification::of(right.range, COUNT, &certificates).as_ref(), Some(&right));
    assert_eq!(Specification::of(Window::new(1 << 64, COUNT).unwrap(), COUNT, &certificates), None);
    // The last window alone tells no size, but fits the one that is asked for.
    assert_eq!(Specification::of(right.range, COUNT, &certificates[1..]).as_ref(), Some(&right));
    // Another size, another scheme, a range that ends elsewhere: nothing is written.
    let before = names(folder.path());
    let size = Specification::new(right.range, 2 * COUNT, right.scheme).unwrap();
    let scheme = Specification { scheme: Scheme::Dfs(dfs::Plan::new(6, 10, 6, 3).unwrap()), ..right.clone() };
    let range = specification((1 << 64) + 5, 5 * COUNT - 13);
    for other in [size, scheme, range] {
        assert!(
            matches!(Campaign::create(folder.path(), &other), Err(FolderError::OtherCertificates { .. })),
            "{other:?}"
        );
        assert_eq!(names(folder.path()), before);
    }
    let (campaign, lock) = Campaign::create(folder.path(), &right).unwrap();
    assert_eq!(campaign.restored(), Some(&Restored { certificates: 2, aside: None }));
    drop(lock);
    assert_eq!(Campaign::create(folder.path(), &right).unwrap().0.restored(), None);
    // Nothing to tell: a new campaign, and no word of an old one.
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Campaign::begun(empty.path()), Ok(Begun::Nothing)));
    assert!(matches!(Campaign::begun(&empty.path().join("nowhere")), Ok(Begun::Nothing)));
    assert_eq!(Campaign::create(empty.path(), &right).unwrap().0.restored(), None);
}

/// Two neighbouring campaigns of the same plan become one: their certificates in one directory, without descriptions.
#[test]
fn campaigns_are_joined() {
    let (one, two, both) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let from = 1 << 64;
    work(one.path(), &specification(from, 3 * COUNT), 0..3);
    work(two.path(), &specification(from + 2 * COUNT, 3 * COUNT), 0..3);
    for folder in [&one, &two] {
        for name in names(folder.path()).iter().filter(|name| name.starts_with('0')) {
            fs::copy(folder.path().join(name), both.path().join(name)).unwrap();
        }
    }
    // One window is there twice, under one name.
    let whole = specification(from, 6 * COUNT);
    let (campaign, _lock) = Campaign::create(both.path(), &whole).unwrap();
    let contents = campaign.contents().unwrap();
    assert_eq!(
        (contents.done.len(), whole.covered(&contents.done), whole.missing(&contents.done)),
        (5, 5 * COUNT, COUNT)
    );
    assert!(contents.damaged.is_empty() && contents.others.is_empty());
}

#[test]
fn files_that_are_in_nobodys_way_are_left_alone() {
    let (folder, specification) = begun();
    let campaign = Campaign::open(folder.path()).unwrap();
    let at = |name: &str| folder.path().join(name);
    let certificate = campaign.path(&specification.window(1).unwrap());
    let mut others: Vec<PathBuf> = ["notes.json", "0-5.json", "-.json", "package.json.json"].map(at).to_vec();
    for path in &others {
        fs::write(path, "{\"name\": 1}").unwrap();
    }
    // A copy under another name; half of a window; the certificate of another campaign.
    others.push(at("copy of a certificate.json"));
    fs::copy(&certificate, &others[4]).unwrap();
    let mut half = load(&certificate).unwrap().unwrap();
    for window in [Window::new(half.window.from(), COUNT / 2).unwrap(), Window::new(1 << 50, COUNT).unwrap()] {
        half.window = window;
        others.push(campaign.path(&window));
        store(&others[others.len() - 1], &half).unwrap();
    }
    others.push(at("directory.json"));
    fs::create_dir(&others[7]).unwrap();
    others.sort();
    let before = names(folder.path());
    let contents = campaign.contents().unwrap();
    assert_eq!((contents.done.len(), contents.damaged.len(), &contents.others), (2, 0, &others));
    work(folder.path(), &specification, [0, 2, 3]);
    assert_eq!(specification.missing(&campaign.contents().unwrap().done), 0);
    assert_eq!(names(folder.path()).len(), before.len() + 3);
}

/// The same windows by another plan, and a window under the name of another: in good order, but not this campaign's.
#[test]
fn certificates_of_two_campaigns() {
    let (folder, specification) = begun();
    let campaign = Campaign::open(folder.path()).unwrap();
    let [one, two] = [0, 1].map(|number| specification.window(number).unwrap());
    let scheme = Scheme::Dfs(dfs::Plan::new(6, 10, 6, 3).unwrap());
    let other = Certificate::make(&scheme, &one, &mut Cpu::new(), &Control::default()).unwrap();
    store(&campaign.path(&one), &other).unwrap();
    fs::copy(campaign.path(&two), campaign.path(&specification.window(2).unwrap())).unwrap();
    let contents = campaign.contents().unwrap();
    assert_eq!((contents.done.len(), specification.covered(&contents.done)), (2, 2 * COUNT - 7));
    let damages: Vec<&Damage> = contents.damaged.iter().map(|(_, damage)| damage).collect();
    let misplaced = |damage: &&Damage| matches!(damage, Damage::Misplaced { .. }) && !damage.is_broken();
    assert!(damages.len() == 2 && damages.iter().all(misplaced), "{damages:?}");
    assert!(damages[0].to_string().contains("scheme") && damages[1].to_string().contains(&two.to_string()));
}

/// What a later version writes is not broken: it is somebody's work.
#[test]
fn later_versions_are_recognised() {
    let (folder, specification) = begun();
    let path = Campaign::open(folder.path()).unwrap().path(&specification.window(1).unwrap());
    let good = content(&path);
    let with = |changes: &[(&str, Value)]| {
        let mut content = good.clone();
        for (field, value) in changes {
            content[field] = value.clone();
        }
        content
    };
    let damage = |content: Value| {
        write_sealed(&path, &content);
        load(&path).unwrap().unwrap_err()
    };
    let next = u64::from(FORMAT) + 1;
    // Another form, with fields that are not known; the same form of another program; and, of this program, what it never wrote.
    for (content, word) in [
        (with(&[("format", next.into()), ("proof", json!([1]))]), "format"),
        (with(&[("format", next.into()), ("figures", Value::Null)]), "format"),
        (with(&[("program", "warpmp-collatz 9.0.0".into()), ("proof", 1.into())]), "program"),
        (with(&[("proof", 1.into())]), "proof"),
        (with(&[("scheme", json!({"other": {}}))]), "other"),
    ] {
        let damage = damage(content);
        assert!(!damage.is_broken() && damage.to_string().contains(word), "{damage}");
    }
    // Sealed in another way.
    fs::write(&path, json!({"content": with(&[("format", next.into())]), "signature": "…"}).to_string()).unwrap();
    assert!(!load(&path).unwrap().unwrap_err().is_broken());
    // And what no version wrote.
    for text in ["", "{}", "[]", "null", "{\"content\": 5, \"sha256\": \"\"}", "\u{0}\u{0}", "{\"content\""] {
        fs::write(&path, text).unwrap();
        assert!(load(&path).unwrap().unwrap_err().is_broken(), "{text}");
    }
    // Where the description is lost, none is made for certificates of another version.
    write_sealed(&path, &with(&[("program", "warpmp-collatz 9.0.0".into())]));
    let aside = Campaign::set_aside(&folder.path().join("campaign.json")).unwrap();
    assert!(matches!(Campaign::create(folder.path(), &specification), Err(FolderError::NotTrusted { .. })));
    assert!(!folder.path().join("campaign.json").exists());
    fs::rename(aside, folder.path().join("campaign.json")).unwrap();
    // A description that a later version wrote is neither used nor replaced.
    let description = folder.path().join("campaign.json");
    let mut later = content(&description);
    later["program"] = "warpmp-collatz 9.0.0".into();
    later["notes"] = 1.into();
    write_sealed(&description, &later);
    let text = fs::read(&description).unwrap();
    for found in [Campaign::open(folder.path()).map(drop), Campaign::create(folder.path(), &specification).map(drop)] {
        let Err(FolderError::NotTrusted { damage: Damage::Foreign { what, .. }, .. }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(what, "program");
    }
    let mut odd = content(&description);
    odd["program"] = specification.program.clone().into();
    odd.as_object_mut().unwrap().remove("notes");
    odd["window_count"] = "0".into();
    assert_eq!(fs::read(&description).unwrap(), text);
    write_sealed(&description, &odd);
    assert!(matches!(Campaign::open(folder.path()), Err(FolderError::NotTrusted { .. })));
}

/// Where a file cannot be renamed to, nothing is left of it; and what is in the way can be moved.
#[test]
fn what_is_in_the_way() {
    let (folder, specification) = begun();
    let campaign = Campaign::open(folder.path()).unwrap();
    let certificate = load(&campaign.path(&specification.window(1).unwrap())).unwrap().unwrap();
    let path = campaign.path(&specification.window(2).unwrap());
    fs::create_dir(&path).unwrap();
    fs::write(path.join("file"), "").unwrap();
    let before = names(folder.path());
    let Err(Error::Campaign(FolderError::File { path: named, .. })) = store(&path, &certificate) else {
        panic!("over a directory")
    };
    assert_eq!((named, names(folder.path())), (path.clone(), before));
    let contents = campaign.contents().unwrap();
    assert_eq!((&contents.damaged[0].0, contents.damaged[0].1.is_broken()), (&path, true));
    let aside = Campaign::set_aside(&path).unwrap();
    assert!(aside.join("file").exists() && !path.exists());
    store(&path, &certificate).unwrap();
    assert_eq!(
        Campaign::set_aside(&path).unwrap(),
        folder.path().join(format!("{}-2", aside.file_name().unwrap().display()))
    );
    #[cfg(unix)]
    {
        // What would never end, or be the whole memory.
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(campaign.contents().unwrap().damaged[0].1.is_broken());
        fs::remove_file(&path).unwrap();
    }
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(campaign.contents().unwrap().damaged[0].1.is_broken());
}
