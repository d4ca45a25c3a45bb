//! A list of jobs, some of them at a time.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, anyhow};

use crate::train::progress::Interrupt;

/// Takes one job after the other from the list, in `n_workers` threads, until none is left or one fails.
///
/// # Errors
///
/// The first that a job returned; or the user interrupted.
pub(super) fn side_by_side<T: Send>(
    n_workers: usize,
    jobs: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let left = Mutex::new(jobs.into_iter().collect::<VecDeque<T>>());
    let work = || {
        let interrupt = Interrupt::install();
        // A function, so that the lock is released before the job begins.
        let next = || locked(&left).pop_front();
        while let Some(job) = next() {
            let done = match interrupt.is_set() {
                true => Err(anyhow!("interrupted; the same command goes on from there")),
                false => run(job),
            };
            if done.is_err() {
                locked(&left).clear();
                return done;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers.max(1)).map(|_| scope.spawn(work)).collect();
        let outcomes = workers.into_iter().map(|worker| worker.join());
        // All of them, so that each has saved what it had, then the first that failed.
        let outcomes: Vec<_> = outcomes.collect();
        let failed = |panic| std::panic::resume_unwind(panic);
        let mut outcomes = outcomes.into_iter();
        outcomes.try_for_each(|outcome| outcome.unwrap_or_else(failed))
    })
}

/// Access to data that threads share, also after one of them failed.
pub(super) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
