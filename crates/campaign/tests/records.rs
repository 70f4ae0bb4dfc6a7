//! Files of records: cut off anywhere, with any byte changed, of another kind, killed writers.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{fs, path::Path};

use warpmp_campaign::{
    Error,
    records::{Appender, Kind, Scan, read},
};

const BYTES: usize = 7;

fn kind() -> Kind {
    Kind::new("points of a test", BYTES as u16)
}

fn record(number: u64) -> [u8; BYTES] {
    let mut record = [0; BYTES];
    record.copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[..BYTES]);
    record
}

/// Three blocks, of 5, 1 and 9 records.
fn write(path: &Path) {
    let mut appender = Appender::open(path, kind()).unwrap();
    for number in 0..15 {
        appender.append(&record(number)).unwrap();
        if number == 4 || number == 5 {
            appender.flush().unwrap();
        }
    }
}

fn records(path: &Path) -> (Vec<Vec<u8>>, Scan) {
    let mut records = Vec::new();
    let scan = read(path, kind(), |record| records.push(record.to_vec())).unwrap();
    (records, scan)
}

fn expected(numbers: impl IntoIterator<Item = u64>) -> Vec<Vec<u8>> {
    numbers.into_iter().map(|number| record(number).to_vec()).collect()
}

/// Where the blocks begin and end.
const BLOCKS: [usize; 4] = [0, 40 + 5 * BYTES, 80 + 6 * BYTES, 120 + 15 * BYTES];
const OF_BLOCKS: [std::ops::Range<u64>; 3] = [0..5, 5..6, 6..15];

#[test]
fn records_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    write(&path);
    let (found, scan) = records(&path);
    assert_eq!(found, expected(0..15));
    assert_eq!(scan, Scan { records: 15, blocks: 3, damaged: Vec::new(), unfinished: 0 });
    assert_eq!(fs::metadata(&path).unwrap().len() as usize, BLOCKS[3]);
    write(&path);
    assert_eq!(records(&path).0, expected((0..15).chain(0..15)));
    // Nothing to flush writes nothing.
    drop(Appender::open(&path, kind()).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().len() as usize, 2 * BLOCKS[3]);
}

/// A block is split before it is too long to be read again.
#[test]
fn many_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    let mut appender = Appender::open(&path, kind()).unwrap();
    (0..400_000).for_each(|number| appender.append(&record(number)).unwrap());
    assert!(matches!(appender.append(&[0; BYTES + 1]), Err(Error::File { .. })));
    drop(appender);
    let (found, scan) = records(&path);
    assert!(found == expected(0..400_000) && scan.blocks == 3, "{scan:?}");
}

#[test]
fn cut_off_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    write(&path);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let blocks = BLOCKS.iter().rposition(|begin| *begin <= length).unwrap();
        let kept = || OF_BLOCKS[..blocks].iter().cloned().flatten();
        let (found, scan) = records(&path);
        assert_eq!(found, expected(kept()), "{length}");
        assert_eq!((scan.damaged, scan.unfinished as usize), (Vec::new(), length - BLOCKS[blocks]));
        // The next writer goes on.
        let mut appender = Appender::open(&path, kind()).unwrap();
        assert_eq!(appender.cut() as usize, length - BLOCKS[blocks]);
        appender.append(&record(99)).unwrap();
        drop(appender);
        let (found, scan) = records(&path);
        assert_eq!(found, expected(kept().chain([99])));
        assert_eq!((scan.damaged, scan.unfinished), (Vec::new(), 0));
    }
}

#[test]
fn any_byte_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    write(&path);
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        let broken = BLOCKS.iter().rposition(|begin| *begin <= place).unwrap();
        let (found, scan) = records(&path);
        let kept = (0..3).filter(|block| *block != broken).flat_map(|block| OF_BLOCKS[block].clone());
        assert_eq!(found, expected(kept.clone()), "{place}");
        let lost: u64 = scan.damaged.iter().map(|range| range.end - range.start).sum::<u64>() + scan.unfinished;
        assert_eq!(lost as usize, BLOCKS[broken + 1] - BLOCKS[broken], "{place}: {scan:?}");
        // What is damaged is kept, and what is written behind it is read.
        let mut appender = Appender::open(&path, kind()).unwrap();
        appender.append(&record(99)).unwrap();
        drop(appender);
        assert_eq!(records(&path).0, expected(kept.chain([99])), "{place}");
    }
}

#[test]
fn records_of_another_kind_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    write(&path);
    for other in [Kind::new("points of a test", 14), Kind::new("points of another test", BYTES as u16)] {
        assert!(matches!(read(&path, other, |_| {}), Err(Error::NotTrusted { .. })));
        assert!(matches!(Appender::open(&path, other), Err(Error::NotTrusted { .. })));
    }
    let _writing = Appender::open(&path, kind()).unwrap();
    assert!(matches!(Appender::open(&path, kind()), Err(Error::Locked { .. })));
    assert!(matches!(read(&folder.path().join("none"), kind(), |_| {}), Err(error) if error.is_not_found()));
}
