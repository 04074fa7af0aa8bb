//! Progress on a terminal; elsewhere only what is announced.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use optsleuth_model::{HuntStatus, Progress, SearchStatus};

use crate::interrupt;

/// A line on standard error that says what is going on.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(100));
        Bar(bar)
    }

    /// Removes the line, before the result is printed.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Progress for Bar {
    fn step(&self, what: &str) {
        self.0.unset_length();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            self.0.set_style(style);
        }
        self.0.set_message(what.to_owned());
    }

    fn announce(&self, what: &str) {
        self.0.suspend(|| eprintln!("{what}"));
        self.step(what);
    }

    fn count(&self, done: usize, total: usize) {
        if self.0.length() != Some(total as u64) {
            self.0.set_length(total as u64);
            let template = "{spinner} {msg} {wide_bar} {pos}/{len} ({per_sec}, {eta} left)";
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.0.set_style(style);
            }
        }
        self.0.set_position(done as u64);
    }

    fn search(&self, status: &SearchStatus) {
        let seconds = status.elapsed.as_secs_f64().max(0.001);
        let top = match status.top.is_empty() {
            true => "no witness yet".to_owned(),
            false => format!("top: {}", status.top.join(", ")),
        };
        self.0.set_message(format!(
            "{:.0} s · {} runs ({:.0}/s) · {} witnesses · similarity {:.3} · {top}",
            seconds,
            status.runs,
            status.runs as f64 / seconds,
            status.witnesses,
            status.best_similarity,
        ));
    }

    fn hunt(&self, status: &HuntStatus) {
        let budget = status.budget.map_or(String::new(), |time| format!(" of {}", minutes(time)));
        let blocks = match status.blocks {
            0 => String::new(),
            blocks => format!(" · {blocks} blocks"),
        };
        self.step(&format!(
            "{}{budget} · {} · {} tests ({:.0}/s) · {} findings{blocks} · {}",
            minutes(status.elapsed),
            status.reached,
            status.tests,
            status.rate,
            status.findings,
            status.doing,
        ));
    }

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}
