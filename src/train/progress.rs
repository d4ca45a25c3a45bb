//! Progress bars and the way out: Ctrl-C asks, the loop saves and stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// All bars of the process, one below the other: fits may run side by side.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Prints a line above the bars, or where there is no terminal below what was printed.
pub fn print_line(line: &str) {
    BARS.suspend(|| eprintln!("{line}"));
}

/// Whether the user asked to stop.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt(&'static AtomicBool);

impl Interrupt {
    /// Listens for Ctrl-C and termination, once for the whole process.
    pub fn install() -> Self {
        static FLAG: AtomicBool = AtomicBool::new(false);
        static INSTALLED: OnceLock<()> = OnceLock::new();
        INSTALLED.get_or_init(|| {
            // Without a handler Ctrl-C still works; it only loses what came after the last checkpoint.
            ctrlc::set_handler(|| FLAG.store(true, Ordering::Relaxed)).ok();
        });
        Self(&FLAG)
    }

    /// Whether the user asked to stop.
    pub fn is_set(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A progress bar with rate, time left and named numbers; where there is no terminal, a line now and then.
#[derive(Debug)]
pub struct Meter {
    bar: ProgressBar,
    name: &'static str,
    started: std::time::Instant,
    start: usize,
    printed: std::time::Instant,
}

/// Seconds between two lines where there is no terminal.
const SECONDS_PER_LINE: u64 = 20;

impl Meter {
    /// A bar over `start..total` steps.
    pub fn new(name: &'static str, start: usize, total: usize) -> Self {
        let bar = BARS.add(ProgressBar::new(total as u64).with_position(start as u64));
        let style = ProgressStyle::with_template(
            "{prefix} {wide_bar} {pos}/{len} {per_sec} {eta} left · {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(name);
        bar.reset_eta();
        let now = std::time::Instant::now();
        Self {
            bar,
            name,
            started: now,
            start,
            printed: now,
        }
    }

    /// Shows how far the work has come.
    pub fn update(&mut self, position: usize, numbers: &[(&str, f32)]) {
        let numbers = numbers
            .iter()
            .map(|(name, value)| format!("{name} {value:.4}"));
        let message = numbers.collect::<Vec<_>>().join(" · ");
        self.bar.set_position(position as u64);
        if self.bar.is_hidden() && self.printed.elapsed().as_secs() >= SECONDS_PER_LINE {
            let rate = (position - self.start) as f64 / self.started.elapsed().as_secs_f64();
            let left = (self.bar.length().unwrap_or(0) as f64 - position as f64) / rate;
            let name = self.name;
            eprintln!("{name} {position} · {rate:.1}/s · {left:.0} s left · {message}");
            self.printed = std::time::Instant::now();
        }
        self.bar.set_message(message);
    }

    /// Ends the bar and leaves it on screen.
    pub fn finish(&self) {
        self.bar.finish();
    }
}
