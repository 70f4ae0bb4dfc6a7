//! A bar with rate and remaining time for people who wait, and silence for everybody else.

use std::{
    io::{self, IsTerminal as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of one command, on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// May the bar be shown, once there is reason to?
    wanted: bool,
    what: &'static str,
}

impl Progress {
    /// Progress up to `total` units of work; none if the end is not known. `what` names what is
    /// counted, `quiet` and a standard error that is no terminal keep it hidden.
    pub(crate) fn new(total: Option<u64>, what: &'static str, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template =
            if total.is_some() { "{wide_bar} {percent:>3} %  {msg}, {eta} left" } else { "{spinner} {elapsed}  {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, start: Instant::now(), wanted: !quiet && io::stderr().is_terminal(), what }
    }

    /// Hidden in any case: the terminal is taken.
    pub(crate) fn hide(&mut self) {
        self.wanted = false;
    }

    /// `done` units of work are done, `count` things finished.
    pub(crate) fn update(&self, done: u64, count: u64) {
        let elapsed = self.start.elapsed();
        if !self.wanted || elapsed < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
        let rate = count as f64 / elapsed.as_secs_f64();
        self.bar.set_message(format!("{count} {}, {}/s", self.what, crate::summary::scaled(rate)));
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
