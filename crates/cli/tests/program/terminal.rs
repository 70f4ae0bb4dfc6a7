//! The program on a terminal: the progress bar appears by itself, and Ctrl-C removes it. The command `script` makes the terminal.

use std::{
    io::Write as _,
    process::{Child, Stdio},
};

use crate::common::{Dir, wait_until};

/// A program that ends with its test, also with a test that fails. With the terminal the program on it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the program on a terminal, types Ctrl-C once `words` are on the screen, and gives all that was on the screen; none where
/// there is no `script`.
fn stopped_at(dir: &Dir, args: &str, words: &[&str]) -> Option<String> {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_warpmp"));
    let mut command = std::process::Command::new("script");
    command.args(["-qefc", &line, "screen"]).current_dir(dir.path("")).env_remove("WARPMP_TUNING");
    let Ok(child) = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        eprintln!("skipped: no `script`");
        return None;
    };
    let mut child = Running(child);
    let screen =
        || std::fs::read(dir.path("screen")).map_or_else(|_| String::new(), |it| String::from_utf8_lossy(&it).into());
    wait_until(|| words.iter().all(|word| screen().contains(word)));
    let mut keyboard = child.0.stdin.take().unwrap();
    keyboard.write_all(b"\x03").unwrap();
    keyboard.flush().unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(130), "{}", screen());
    Some(screen())
}

/// The lines after the last one that was cleared.
fn left_over(screen: &str) -> &str {
    let (_, rest) = screen.rsplit_once("\u{1b}[2K").unwrap_or(("", screen));
    rest.rsplit_once("Script done").map_or(rest, |(rest, _)| rest)
}

#[test]
fn the_bar_of_a_campaign_goes_with_ctrl_c() {
    let dir = Dir::new();
    let Some(screen) = stopped_at(
        &dir,
        "collatz verify --device cpu --from 2^70 --count 2^50 --window 2^32 --leaf-bits 14 --lookahead-bits 12 -o camp",
        &["numbers, ", "/s, ", " left"],
    ) else {
        return;
    };
    let rest = left_over(&screen);
    assert!(rest.contains("error: interrupted; `warpmp resume camp` goes on") && !rest.contains('%'), "{screen:?}");
}

#[test]
fn a_measurement_shows_a_bar_before_its_first_row_is_done() {
    let dir = Dir::new();
    let Some(screen) = stopped_at(
        &dir,
        "bench mul --device cpu --bits 65536 --count 4096 --runs 1000",
        &["row 1 of 1: mul, 4096 lanes of 65536 bits"],
    ) else {
        return;
    };
    let rest = left_over(&screen);
    assert!(rest.contains("error: interrupted") && !rest.contains('%'), "{screen:?}");
}
