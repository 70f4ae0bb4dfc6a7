//! Headers that nobody meant to write, and NumPy's verdicts on them.
//!
//! `headers.txt` has some of them with NumPy's verdicts, so that no test needs NumPy. Where Python and NumPy are there, thousands more are
//! compared. `WARPMP_BLESS=1` writes the file anew.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpmp_campaign::hex;

use super::*;

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/io/npy/headers.txt");
/// Headers in the file, and headers that are compared where NumPy is there.
const STORED_HEADERS: u64 = 300;
const LIVE_HEADERS: u64 = 10_000;
/// Our limit in bits, which NumPy has not.
const LIMIT: usize = 65536;

/// NumPy's verdicts, one a line: the type and the shape, or a word for headers that it refuses or that are no operand.
const SCRIPT: &str = r#"
import io, sys, warnings
import numpy
warnings.simplefilter("ignore")
for line in sys.stdin:
    file = bytes.fromhex(line)
    reader = io.BytesIO(file[8:])
    try:
        read = {1: numpy.lib.format.read_array_header_1_0, 2: numpy.lib.format.read_array_header_2_0}
        shape, fortran, dtype = read[file[6]](reader)
        flat = len(shape) == 1
        columns = 1 if flat else shape[-1] if shape else 0
        known = len(shape) in (1, 2) and all(0 < size < 2**64 for size in shape)
        fits = known and columns * dtype.itemsize <= LIMIT // 8
        ours = dtype.str in ("<u4", "<u8", "<i4", "<i8") and (flat or not fortran) and fits
        print(f"{dtype.str} {int(shape[0])} {int(columns)}" if ours else "other")
    except Exception:
        print("refused")
"#;

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// A header's text, changed in a place or two.
fn text(rng: &mut ChaCha8Rng) -> String {
    let keys = ["descr", "fortran_order", "shape"];
    let dtype = |rng: &mut ChaCha8Rng| {
        pick(rng, &["'<u4'", "'<u8'", "'<u4'", "'<u8'", "'<u4'", "'<u8'", "'>u4'", "'u8'", "'<i8'", "[('x', '<u4')]"])
    };
    let order = |rng: &mut ChaCha8Rng| {
        pick(rng, &["False", "False", "False", "False", "False", "False", "True", "FalseHood", "0"])
    };
    let shapes = [
        "(3, 4)",
        "(1, 1)",
        "(12, 1)",
        "(3L, 4L)",
        "(2,, 2)",
        "(3, 4,)",
        "(3,)",
        "()",
        "(0, 4)",
        "(1, 2, 3)",
        "[3, 4]",
        "(3, -4)",
    ];
    let mut pairs: Vec<String> = keys
        .iter()
        .map(|key| {
            let value = match *key {
                "descr" => dtype(rng),
                "fortran_order" => order(rng),
                _ if rng.random_range(0..4) > 0 => "(3, 4)",
                _ => pick(rng, &shapes),
            };
            format!("'{key}': {value}")
        })
        .collect();
    match rng.random_range(0..16) {
        0 => pairs.push(format!("'shape': {}", pick(rng, &shapes))),
        1 => pairs.push(format!("'x': \"{}\"", pick(rng, &["'shape': (9, 9)", "}", "#", "'"]))),
        2 => pairs.swap(0, 2),
        3 => pairs.push("%%%".into()),
        4 => {
            pairs.remove(rng.random_range(0..3));
        }
        _ => {}
    }
    let end = pick(rng, &[", }", "}", " }", ",\n}", ", } # end"]);
    let mut text = format!("{{{}{end}", pairs.join(pick(rng, &[", ", ",", " ,\n"])));
    for _ in 0..pick(rng, &[0, 0, 1, 1, 2]) {
        let at = rng.random_range(0..=text.len());
        let other = pick(
            rng,
            &[
                "'", "\"", "(", ")", ",", " ", "\n", "#", "0", "7", "{", "}", ":", "u", "L", "_", "\u{e9}", "\t", "[",
                "-",
            ],
        );
        let end = (at + rng.random_range(0..2)).min(text.len());
        if text.is_char_boundary(at) && text.is_char_boundary(end) {
            text.replace_range(at..end, if rng.random_range(0..4) == 0 { "" } else { other });
        }
    }
    text + pick(rng, &["", "\n", "   \n"])
}

/// A file of version 1 or 2, in Latin-1, with this header.
fn file(text: &str, version: u8) -> Vec<u8> {
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
    let mut file = MAGIC.to_vec();
    file.extend([version, 0]);
    let length = (bytes.len() as u32).to_le_bytes();
    file.extend(&length[..if version == 1 { 2 } else { 4 }]);
    file.extend(bytes);
    file
}

fn files(seed: u64, count: u64) -> Vec<Vec<u8>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|k| file(&text(&mut rng), 1 + u8::from(k % 4 == 3))).collect()
}

/// What this program says of a file: type and shape of its integers; none if it refuses the file.
fn verdict(file: &[u8]) -> Option<String> {
    let (header, length) = read_header(&mut &file[..], "x", LIMIT).ok()?;
    assert_eq!(length, file.len() as u64);
    Some(format!("{} {} {}", header.dtype, header.rows, header.columns))
}

/// NumPy's verdicts; none without NumPy.
fn verdicts_of_numpy(files: &[Vec<u8>]) -> Option<Vec<String>> {
    let python = std::env::var_os("WARPMP_PYTHON").unwrap_or_else(|| "python3".into());
    let script = SCRIPT.replace("LIMIT", &LIMIT.to_string());
    let mut command = Command::new(python);
    command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let lines: String = files.iter().map(|file| hex(file) + "\n").collect();
    let mut stdin = child.stdin.take()?;
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let _ = writer.join();
    let verdicts: Vec<String> = String::from_utf8(output.stdout).ok()?.lines().map(str::to_owned).collect();
    (verdicts.len() == files.len()).then_some(verdicts)
}

/// Compares verdicts; how many headers have an array's?
#[track_caller]
fn compare<'v>(files: &[Vec<u8>], verdicts: impl IntoIterator<Item = &'v str>) -> usize {
    let mut fine = 0;
    for (file, expected) in files.iter().zip(verdicts) {
        let expected = (expected != "refused" && expected != "other").then(|| expected.to_owned());
        assert_eq!(verdict(file), expected, "{:?}", String::from_utf8_lossy(file));
        fine += usize::from(expected.is_some());
    }
    fine
}

#[test]
fn stored_verdicts_of_numpy() {
    if std::env::var_os("WARPMP_BLESS").is_some() {
        let files = files(1, STORED_HEADERS);
        let verdicts = verdicts_of_numpy(&files).expect("NumPy is needed");
        let lines: Vec<String> =
            files.iter().zip(verdicts).map(|(file, verdict)| format!("{} {verdict}\n", hex(file))).collect();
        fs::write(STORED, lines.concat()).unwrap();
    }
    let stored = fs::read_to_string(STORED).unwrap();
    let lines: Vec<(&str, &str)> = stored.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let files: Vec<Vec<u8>> = lines.iter().map(|(file, _)| file.as_bytes().chunks(2).map(byte).collect()).collect();
    let fine = compare(&files, lines.iter().map(|(_, verdict)| *verdict));
    assert!(files.len() == STORED_HEADERS as usize && fine > 40, "{} headers, {fine} of arrays", files.len());
}

#[test]
fn thousands_of_verdicts() {
    let files = files(2, LIVE_HEADERS);
    let Some(verdicts) = verdicts_of_numpy(&files) else {
        println!("skipped: no Python with NumPy");
        return;
    };
    assert!(compare(&files, verdicts.iter().map(String::as_str)) > 1000);
}
