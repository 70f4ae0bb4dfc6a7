//! Files of records: cut off anywhere, with any byte changed, of another kind, killed writers.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{fs, path::Path};

use warpmp_campaign::{
    Error,
    records::{self, Appender, Kind, Scan, read, read_some},
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
    assert_eq!(scan, Scan { records: 15, blocks: 3, damaged: Vec::new(), unfinished: 0, end: BLOCKS[3] as u64 });
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
        assert_eq!(records::unfinished(&path).unwrap(), scan.unfinished);
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

#[test]
fn a_reader_follows_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    write(&path);
    let whole = fs::read(&path).unwrap();
    // The file grows byte by byte; the reader goes on where it stopped.
    let (mut found, mut end) = (Vec::new(), 0);
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let scan = read_some(&path, kind(), end, u64::MAX, |record| found.push(record.to_vec())).unwrap();
        assert_eq!((scan.damaged, scan.end + scan.unfinished), (Vec::new(), length as u64));
        end = scan.end;
    }
    assert_eq!(found, expected(0..15));
    // A part of it.
    let scan = read_some(&path, kind(), BLOCKS[1] as u64, 1, |_| {}).unwrap();
    assert_eq!((scan.records, scan.end), (1, BLOCKS[2] as u64));
    // A damaged end is no place to go on from: it may be a block that is not wholly visible yet.
    fs::write(&path, [&whole[..BLOCKS[2]], &[0; 30]].concat()).unwrap();
    let scan = read(&path, kind(), |_| {}).unwrap();
    let middle = BLOCKS[2] as u64;
    assert_eq!((scan.end, scan.damaged.len()), (middle, 1));
    assert_eq!(scan.damaged[0], middle..middle + 30);
}

#[test]
fn a_name_is_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    let mut first = Appender::create(&path, kind()).unwrap().unwrap();
    assert!(Appender::create(&path, kind()).unwrap().is_none());
    first.append(&record(0)).unwrap();
    drop(first);
    assert!(Appender::create(&path, kind()).unwrap().is_none());
    assert_eq!(records(&path).0, expected(0..1));
}

/// More than the reader holds at a time, a damaged place of some blocks in the middle.
#[test]
fn long_files_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.records");
    let count = (9 << 20) / BYTES as u64;
    records::write(&path, kind(), (0..count).map(record)).unwrap();
    let mut next = 0;
    let scan = read(&path, kind(), |found| {
        assert_eq!(found, record(next));
        next += 1;
    });
    assert_eq!((scan.unwrap().records, next), (count, count));
    let mut bytes = fs::read(&path).unwrap();
    bytes[1 << 20..6 << 20].fill(7);
    fs::write(&path, &bytes).unwrap();
    let (mut kept, mut last) = (0, None);
    let scan = read(&path, kind(), |found| {
        kept += 1;
        last = Some(found.to_vec());
    })
    .unwrap();
    assert_eq!((scan.records, last), (kept, Some(record(count - 1).to_vec())));
    let [range] = &scan.damaged[..] else { panic!("{scan:?}") };
    assert!(range.start <= 1 << 20 && range.end >= 6 << 20 && range.end - range.start < 8 << 20, "{range:?}");
    // Records of another size.
    assert!(records::write(&path, kind(), [[0_u8; 3]]).is_err());
}
