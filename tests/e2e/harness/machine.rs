//! Where, when and of what something was measured.

use std::fs;
use std::process::Command;
use std::thread;

use super::Browser;

/// A line with the processor, its load, the browser, `beside` it what else took part, the commit and the day.
pub fn place(browser: &Browser, beside: &str) -> String {
    let agent = browser.run("return navigator.userAgent.match(/Chrome\\S+/)[0]", &[]);
    let agent = agent.as_str().unwrap_or("an unnamed browser");
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let cpu = cpu
        .unwrap_or("an unnamed processor")
        .trim_start_matches([' ', '\t', ':']);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').nth(1).unwrap_or("unknown");
    let n_cores = thread::available_parallelism().map_or(0, usize::from);
    let [commit, day] = [
        said("git", &["rev-parse", "--short", "HEAD"]),
        said("date", &["-u", "+%Y-%m-%d"]),
    ];
    format!(
        "{cpu}, {n_cores} cores, load average {load}; {agent}{beside}; commit {commit}; {day}.\n"
    )
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    output.map_or_else(String::new, |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}
