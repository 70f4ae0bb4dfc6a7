//! A bar with rate and remaining time on a terminal.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpmp_numtheory::Watch;

use crate::{interrupt, summary::scaled};

/// Work that ends before this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of one command, on standard error. The bar appears by itself once the work takes long, also if nothing is done yet.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// The things that are counted, if their number is known and need not be small.
    things: f64,
    what: &'static str,
    /// Shows the bar later; none if the bar stays hidden.
    patience: Option<Patience>,
}

impl Progress {
    /// Progress up to `total` units of work; none if the end is not known. `what` names the things that are
    /// counted. With `quiet`, or if standard error is no terminal, the bar stays hidden.
    pub(crate) fn new(total: Option<u64>, what: &'static str, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = if total.is_some() { "{wide_bar} {percent:>3} %  {msg}" } else { "{spinner} {elapsed}  {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        let is_wanted = !quiet && io::stderr().is_terminal();
        let patience = is_wanted.then(|| Patience::new(&bar));
        Self { bar, start: Instant::now(), things: 0.0, what, patience }
    }

    /// Progress up to `things` things, of which parts may be done; then [`Progress::count`] tells all.
    pub(crate) fn of_count(things: f64, what: &'static str, quiet: bool) -> Self {
        let mut progress = Self::new(Some(1 << 32), what, quiet);
        progress.things = things;
        progress
    }

    /// `count` of the things of [`Progress::of_count`] are finished.
    pub(crate) fn count(&self, count: f64) {
        let done = (count / self.things.max(1.0) * 4_294_967_296.0) as u64;
        let rate = count / self.start.elapsed().as_secs_f64();
        self.show(done, || format!("{} {}, {}/s", scaled(count), self.what, scaled(rate)));
    }

    /// The work under way, where nothing is counted: tables, kernels that the driver compiles.
    pub(crate) fn phase(&self, text: impl Into<Cow<'static, str>>) {
        if self.patience.is_some() {
            self.bar.set_message(text);
        }
    }

    /// `done` parts of the total are done, and this one begins.
    pub(crate) fn part(&self, done: u64, text: &str) {
        self.phase(text.to_owned());
        self.show(done, || text.to_owned());
    }

    /// Keeps the bar hidden if results go to the terminal.
    pub(crate) fn hide_if(&mut self, is_terminal: bool) {
        self.patience.take_if(|_| is_terminal);
    }

    /// `done` units of work are done, `count` things finished.
    pub(crate) fn update(&self, done: u64, count: u64) {
        let rate = count as f64 / self.start.elapsed().as_secs_f64();
        self.show(done, || format!("{count} {}, {}/s", self.what, scaled(rate)));
    }

    fn show(&self, done: u64, message: impl FnOnce() -> String) {
        // Nothing is done: the phase says more than a rate of 0.
        if self.patience.is_none() || done == 0 {
            return;
        }
        let left = left_seconds(self.start.elapsed().as_secs_f64(), done, self.bar.length());
        let left = left
            .map_or_else(String::new, |seconds| format!(", {} left", HumanDuration(Duration::from_secs_f64(seconds))));
        self.bar.set_message(message() + &left);
        self.bar.set_position(done);
    }
}

/// A thread that shows a bar unless the work ends soon.
#[derive(Debug)]
struct Patience {
    /// Nobody sends: the thread sees that the sender is gone.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Patience {
    fn new(bar: &ProgressBar) -> Self {
        let (end, ended) = mpsc::channel();
        let bar = bar.clone();
        let wait = move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                reveal(&bar);
            }
        };
        // Without the thread there is no bar.
        let thread = thread::Builder::new().name("progress".into()).spawn(wait).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It ends at once.
            let _ = thread.join();
        }
    }
}

/// Brings a bar to the terminal.
fn reveal(bar: &ProgressBar) {
    let mut shown = shown();
    if shown.is_ended {
        return;
    }
    shown.bar = Some(bar.clone());
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
}

/// The seconds that are left at the rate so far. It is told with each step of the bar, so it does not grow while the bar stands.
fn left_seconds(elapsed: f64, done: u64, total: Option<u64>) -> Option<f64> {
    let total = total.filter(|total| done > 0 && *total >= done)?;
    Some((elapsed / done as f64 * (total - done) as f64).min(f64::from(u32::MAX)))
}

impl Watch for Progress {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }

    fn progress(&self, share: f64) {
        let total = self.bar.length().unwrap_or(0);
        self.show((share * total as f64) as u64, || self.what.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.patience = None;
        shown().bar = None;
        self.bar.finish_and_clear();
    }
}

/// The bar on the terminal: a command shows one at a time.
struct Shown {
    bar: Option<ProgressBar>,
    /// The program ends: no bar appears any more.
    is_ended: bool,
}

static SHOWN: Mutex<Shown> = Mutex::new(Shown { bar: None, is_ended: false });

fn shown() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the bar from the terminal: the program ends although work is under way.
pub(crate) fn end() {
    let mut shown = shown();
    shown.is_ended = true;
    if let Some(bar) = shown.bar.take() {
        bar.finish_and_clear();
    }
}

/// Writes to the terminal while the bar is out of the way.
pub(crate) fn beside_bar<T>(write: impl FnOnce() -> T) -> T {
    let bar = shown().bar.clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

#[cfg(test)]
mod tests {
    use super::left_seconds;

    #[test]
    fn the_rate_so_far_tells_the_rest() {
        assert_eq!(left_seconds(10.0, 25, Some(100)), Some(30.0));
        assert_eq!(left_seconds(10.0, 100, Some(100)), Some(0.0));
        assert_eq!(
            (left_seconds(10.0, 0, Some(100)), left_seconds(10.0, 5, None), left_seconds(1.0, 9, Some(5))),
            (None, None, None)
        );
    }
}
