//! Processes that compile kernels beforehand.
//!
//! The driver compiles one kernel at a time in a process, however many threads ask (measured), but keeps what it
//! compiled in a cache on disk, for all processes. So some more processes of this program go through the same widths,
//! each compiles its share of the candidates, and says when it is through with a width; the one that measures then
//! finds the kernels in the cache. Without them, it compiles by itself.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Write as _, stdout},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use warpmp::{
    Operation, Plan, Session,
    tuning::{self, Table, Work},
};

use warpmp_campaign::Part;

use crate::{
    args::Tune,
    error::{Error, Result},
    interrupt,
};

/// More than these gain little: the widest kernel of a width takes its time.
const MOST: usize = 8;

/// Memory of the GPU that a helper may need.
const BYTES: u64 = 1 << 30;

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Helpers, and what they are through with.
#[derive(Debug, Default)]
pub(super) struct Helpers {
    children: Vec<Child>,
    /// Lines, with the helper's number; none when its output ends.
    lines: Option<Receiver<(usize, Option<String>)>>,
    /// Operations and widths that each is through with.
    done: Vec<HashSet<String>>,
    /// Those whose output has not ended.
    alive: HashSet<usize>,
}

impl Helpers {
    /// As many as the machine can use; none if that is less than two, or if there is no cache.
    pub(super) fn start(args: &Tune, session: &Session) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let free_bytes = session.device().and_then(|device| device.free_bytes().ok()).unwrap_or(0);
        let of = (cores / 2).min((free_bytes / 4 / BYTES) as usize).min(MOST);
        let no_cache = std::env::var_os("CUDA_CACHE_DISABLE").is_some_and(|it| it == "1");
        let (2.., false, Ok(program)) = (of, no_cache, std::env::current_exe()) else { return Self::default() };
        let command = |number| {
            let mut command = Command::new(&program);
            command.args(["tune", "--quiet", "--compile", &format!("{number}/{of}")]);
            command.args(["--device", &format!("cuda:{}", session.engine().ordinal)]);
            command.args(args.quick.then_some("--quick"));
            for operation in &args.operation {
                command.args(["--operation", &operation.to_string()]);
            }
            for bits in &args.bits {
                command.args(["--bits", &bits.to_string()]);
            }
            command
        };
        Self::of((0..of).map(command))
    }

    /// These processes; those that cannot be started do not help.
    fn of(commands: impl Iterator<Item = Command>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let mut helpers = Self::default();
        helpers.lines = Some(receiver);
        for mut command in commands {
            let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
            let Ok(mut child) = spawned else { continue };
            let (number, sender) = (helpers.children.len(), sender.clone());
            if let Some(output) = child.stdout.take() {
                thread::spawn(move || {
                    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                        let _ = sender.send((number, Some(line)));
                    }
                    let _ = sender.send((number, None));
                });
                helpers.alive.insert(number);
            }
            helpers.children.push(child);
            helpers.done.push(HashSet::new());
        }
        helpers
    }

    /// Waits until all are through with a width, at most until then.
    pub(super) fn wait(&mut self, operation: Operation, bits: usize, until: Instant) {
        let Some(lines) = &self.lines else { return };
        let wanted = line(operation, bits);
        while self.alive.iter().any(|number| !self.done[*number].contains(&wanted)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || interrupt::check().is_err() {
                break;
            }
            match lines.recv_timeout(left.min(LOOK)) {
                Ok((number, Some(line))) => {
                    self.done[number].insert(line);
                }
                Ok((number, None)) => {
                    self.alive.remove(&number);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.alive.clear(),
            }
        }
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // Some have ended by themselves.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a helper says when it is through with a width.
fn line(operation: Operation, bits: usize) -> String {
    format!("{operation} {bits}")
}

/// A helper's work: loads its part of the candidates, width by width; after `budget` those with default settings alone, as
/// the one that measures does. What cannot be compiled is found out again by that one.
pub(super) fn compile(session: &Session, works: &[Work], part: Part, budget: Duration) -> Result<()> {
    let device = session.device().ok_or(Error::Bug)?;
    let end = Instant::now() + budget;
    // The same algorithms come first at each width, and some take long. So helpers change places from width to width.
    let mut turn = 0;
    for Work { operation, grid } in works {
        for &bits in &grid.bits {
            turn += 1;
            let shapes = tuning::operands(*operation, bits, 1);
            let candidates = crate::engine::register().candidates(*operation, &shapes, device.info())?;
            for candidate in candidates.iter().zip(turn..).filter(|(_, number)| part.has(*number)).map(|(it, _)| it) {
                interrupt::check()?;
                if !candidate.is_due(end) {
                    continue;
                }
                let table = Table::of_one(*operation, device.info().capability, candidate);
                let plan = Plan::new(*operation, &shapes, device.info(), &table, None)?;
                for kernel in plan.kernels() {
                    let _ = device.load(&kernel);
                }
            }
            // Nobody to read it: the one that measures has ended.
            if writeln!(stdout(), "{}", line(*operation, bits)).and_then(|()| stdout().flush()).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn helpers(scripts: &[&str]) -> Helpers {
        Helpers::of(scripts.iter().map(|script| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        }))
    }

    #[test]
    fn all_helpers_are_waited_for() {
        let soon = || Instant::now() + Duration::from_secs(20);
        let slow = "echo mul 64; sleep 0.3; echo mul 128; exec sleep 60";
        let start = Instant::now();
        let mut two = helpers(&["echo mul 64; echo mul 128; exec sleep 60", slow]);
        two.wait(Operation::Mul, 64, soon());
        two.wait(Operation::Mul, 128, soon());
        assert!((Duration::from_millis(300)..Duration::from_secs(10)).contains(&start.elapsed()));
        // Not for ever, and they end with what waits for them.
        two.wait(Operation::Mul, 256, Instant::now() + Duration::from_millis(200));
        drop(two);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn helpers_that_fail_are_not_waited_for() {
        let start = Instant::now();
        let mut two = helpers(&["exit 1", "echo mul 64"]);
        two.wait(Operation::Mul, 4096, start + Duration::from_secs(20));
        Helpers::default().wait(Operation::Mul, 64, start + Duration::from_secs(20));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
