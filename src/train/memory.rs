//! Memory between two steps of a training.

/// Restarts the program with an allocator that keeps freed memory, where that is glibc's.
///
/// A step takes and gives back hundreds of megabytes. By its defaults glibc returns them to the system at once, and the
/// next step waits for the same pages, cleared: a quarter to a third of a fit's time (`benches/fit.md`). The settings
/// are read when a program starts, so that nothing short of unsafe code changes them later. The process keeps its
/// number.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::start_anew();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::env;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// Bytes of one piece from which on it is a mapping of its own, the greatest that every version takes.
    const MAPPED: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "33554432");
    /// Free bytes at the end of the heap from which on they are returned: more than a machine has.
    const TRIMMED: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "1099511627776");

    /// Comes back where the settings are made already, by whom it may be, or cannot be made.
    pub(super) fn start_anew() {
        if [MAPPED, TRIMMED]
            .iter()
            .any(|(name, _)| env::var_os(name).is_some())
        {
            return;
        }
        let mut arguments = env::args_os();
        let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) else {
            return;
        };
        let mut anew = Command::new(program);
        anew.arg0(name).args(arguments).envs([MAPPED, TRIMMED]);
        // `exec` returns only if it fails; then the slower allocator stays.
        let _ = anew.exec();
    }
}
