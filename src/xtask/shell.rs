//! Running programs: with the tools' folder on their path, and their output shown as well as kept.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Standard output of a program, and whether it succeeded.
pub(crate) struct Finished {
    pub(crate) succeeded: bool,
    pub(crate) stdout: String,
}

/// A program that sees the tools that [`super::tools`] installed before those of the machine.
pub(crate) fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root());
    command.env("PATH", search_path()).stdin(Stdio::null());
    command
}

/// Cargo with the words of a line. It may not change `Cargo.lock`: what is checked is what is recorded there.
pub(crate) fn cargo(line: &str) -> Command {
    let (subcommand, arguments) = line.split_once(' ').unwrap_or((line, ""));
    let mut command = program("cargo", &[subcommand, "--locked"]);
    command.args(arguments.split_whitespace());
    command
}

/// Runs a program; its standard output is shown line by line and kept.
pub(crate) fn show_and_keep(command: &mut Command) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|e| format!("{name} cannot be started: {e}"))?;
    let mut stdout = String::new();
    if let Some(pipe) = child.stdout.take() {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            println!("{line}");
            stdout.push_str(&line);
            stdout.push('\n');
        }
    }
    let status = child.wait().map_err(|e| format!("{name} was lost: {e}"))?;
    let succeeded = status.success();
    Ok(Finished { succeeded, stdout })
}

/// Runs a program whose output needs no reading.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let line = format!("{command:?}");
    let status = command.status().map_err(|e| format!("{line}: {e}"))?;
    let failed = || format!("{line} failed: {status}");
    status.success().then_some(()).ok_or_else(failed)
}

/// Standard output of a program; `None` if it cannot be run or fails.
pub(crate) fn output_of(name: &str, arguments: &[&str]) -> Option<String> {
    let output = program(name, arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = || String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then(text)
}

/// The first of these programs that lies on the path.
pub(crate) fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = search_path();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let at = |name| folders.iter().map(move |folder| folder.join(name));
    names
        .iter()
        .flat_map(at)
        .find(|candidate| candidate.is_file())
}

/// The folder of `Cargo.toml`, as `cargo run` says it: this program may have been built in another clone with the same
/// target directory.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = env::var_os("CARGO_MANIFEST_DIR");
        folder.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
    });
    &ROOT
}

/// Folder of installed tools: beside the build's other products, so that nothing of the user's is replaced.
pub(crate) fn tools_folder() -> PathBuf {
    target_folder().join("tools")
}

/// Folder of what cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target)
}

fn search_path() -> OsString {
    let existing = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools_folder().join("bin")).chain(env::split_paths(&existing));
    env::join_paths(folders).unwrap_or(existing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(command: &Command) -> Vec<&str> {
        let arguments = command.get_args();
        arguments.filter_map(|argument| argument.to_str()).collect()
    }

    #[test]
    fn cargo_may_not_change_the_lock_file() {
        let command = cargo("test --lib -- name");
        let expected = ["test", "--locked", "--lib", "--", "name"];
        assert_eq!(arguments(&command), expected, "with arguments");
        let command = cargo("doc");
        assert_eq!(arguments(&command), ["doc", "--locked"], "without");
    }
}
