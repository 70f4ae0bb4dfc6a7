//! A directory to work in, and the program run in it.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use num_bigint::BigUint;
use serde_json::Value;
use tempfile::TempDir;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output, which is text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// The run succeeded; its standard output.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.text()
    }

    /// The run failed with this code and an error of at most two lines that contains `words`.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "stderr: {}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in: {}", self.stderr);
        }
        assert!(self.stderr.contains("error: "), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        if code != 2 {
            assert!(self.stderr.lines().count() <= 2, "{}", self.stderr);
        }
    }
}

/// A directory that goes at the end of the test.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Names of all files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The program, to be run here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpmp"));
        command.current_dir(self.0.path()).args(args).env_remove("WARPMP_LOG");
        // Nobody's own tuning tables: those of this directory.
        command.env_remove("WARPMP_TUNING").env("XDG_CONFIG_HOME", self.path("config"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args).spawn().unwrap())
    }

    /// Runs the program to its end with a variable of the environment.
    pub(crate) fn run_where(&self, variable: &str, value: &str, args: &[&str]) -> Run {
        finish(self.command(args).env(variable, value).spawn().unwrap())
    }

    /// Runs the program to its end with `input` on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let run = finish(child);
        writer.join().unwrap();
        run
    }

    /// `mul A B` on the CPU with more options, split at spaces.
    pub(crate) fn mul(&self, args: &str) -> Run {
        let mut all = vec!["mul", "--device", "cpu"];
        all.extend(args.split_whitespace());
        self.run(&all)
    }
}

/// Runs the program with these words, split at spaces.
pub(crate) fn run(dir: &Dir, words: &str) -> Run {
    dir.run(&words.split_whitespace().collect::<Vec<_>>())
}

/// The same on the CPU.
pub(crate) fn on_cpu(dir: &Dir, words: &str) -> Run {
    run(dir, &format!("{words} --device cpu"))
}

/// `collatz` with these words.
pub(crate) fn collatz(dir: &Dir, words: &str) -> Run {
    run(dir, &format!("collatz {words}"))
}

/// What a run that succeeded says with `--json`.
#[track_caller]
pub(crate) fn object(run: &Run) -> Value {
    serde_json::from_str(run.ok()).unwrap()
}

pub(crate) fn finish(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().expect("killed by a signal"),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Waits until `ready`; a minute at the most.
#[track_caller]
pub(crate) fn wait_until(mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Is the handler there? Where the system does not say, half a second later it is.
pub(crate) fn catches_interrupts(child: &Child) -> bool {
    signals(&child.id().to_string(), "SigCgt:").map_or_else(
        || {
            thread::sleep(Duration::from_millis(500));
            true
        },
        |mask| mask & 0b10 != 0,
    )
}

/// Does the program write a file that is not complete yet? It has a temporary name or none.
pub(crate) fn is_writing(child: &Child) -> bool {
    let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let files = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    files.map(|file| file.to_string_lossy().into_owned()).any(|it| it.contains("(deleted)") || it.contains(".warpmp-"))
}

/// Were the tests started with this signal ignored, as `nohup` and shells do for commands in the background? Then the program
/// ignores it, too.
pub(crate) fn ignores(name: &str) -> bool {
    let number = match name {
        "-HUP" => 1,
        "-QUIT" => 3,
        "-XCPU" => 24,
        _ => return false,
    };
    signals("self", "SigIgn:").is_some_and(|mask| mask >> (number - 1) & 1 != 0)
}

/// A mask of signals from a process's status, where the system has it.
fn signals(process: &str, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    Some(u64::from_str_radix(mask.trim(), 16).unwrap())
}

/// Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    signal(child, "-INT");
}

/// Sends a signal, named as `kill` wants it.
pub(crate) fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The text as integers, decimal or hexadecimal.
pub(crate) fn parse(text: &str) -> Vec<BigUint> {
    let number = |line: &str| match line.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16).unwrap(),
        None => line.parse().unwrap(),
    };
    text.lines().filter(|line| !line.starts_with('#')).map(number).collect()
}

/// Products, one a line.
pub(crate) fn products(a: &[BigUint], b: &[BigUint]) -> String {
    a.iter().zip(b).map(|(a, b)| format!("{}\n", a * b)).collect()
}

/// Integers of many lengths that make carries run, from 0 to `2^most_bits − 1`.
pub(crate) fn mixed(count: usize, most_bits: u64, salt: u64) -> Vec<BigUint> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count)
        .map(|_| {
            let bits = next() % (most_bits + 1);
            let ones = (BigUint::from(1u8) << bits) - 1u8;
            match next() % 3 {
                0 => ones,
                1 => (ones + 1u8) >> 1,
                _ => BigUint::new((0..bits.div_ceil(32)).map(|_| next() as u32).collect()) & ones,
            }
        })
        .collect()
}

/// One integer a line.
pub(crate) fn lines(numbers: &[BigUint]) -> String {
    numbers.iter().map(|number| format!("{number}\n")).collect()
}

/// An `.npy` file, as NumPy writes it.
pub(crate) fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// An array of `uint32` (`item_bytes` 4) or `uint64` (8) with these integers, `columns` elements each.
pub(crate) fn npy_of(numbers: &[BigUint], item_bytes: usize, columns: usize) -> Vec<u8> {
    let mut data = Vec::new();
    for number in numbers {
        let mut row = number.to_bytes_le();
        assert!(row.len() <= item_bytes * columns);
        row.resize(item_bytes * columns, 0);
        data.extend(row);
    }
    npy(&format!("'<u{item_bytes}'"), "False", &format!("({}, {columns})", numbers.len()), &data)
}

/// The integers of an array, and the header's text.
pub(crate) fn read_npy(file: &[u8]) -> (String, Vec<BigUint>) {
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..10 + length].to_vec()).unwrap();
    assert!(header.ends_with('\n') && (10 + length) % 64 == 0);
    let shape = header.split(['(', ')']).nth(1).unwrap();
    let rows: usize = shape.split(',').next().unwrap().parse().unwrap();
    let data = &file[10 + length..];
    (header, data.chunks(data.len() / rows).map(BigUint::from_bytes_le).collect())
}
