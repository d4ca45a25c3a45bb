//! Share of the work of one process, given on the command line or by the environment of a job array.

use anyhow::{Context as _, Result, bail, ensure};

/// One of `n` processes that share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartOf {
    /// Number of this process, counted from 0.
    pub index: usize,
    /// Number of processes that share the work.
    pub n: usize,
}

impl PartOf {
    /// One process that does everything.
    pub const WHOLE: Self = Self { index: 0, n: 1 };

    /// Reads `3/8`, `auto` (Slurm says both numbers) or `auto/8` (Slurm or Kubernetes says the index).
    ///
    /// # Errors
    ///
    /// Another form, an index that is not below the number, or an environment that says nothing.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let (index, n) = match text.split_once('/') {
            Some((index, n)) => (index, Some(whole("--shard", n)?)),
            None => (text, None),
        };
        let part = match (index, n) {
            ("auto", n) => from_environment(n, environment)?,
            (index, Some(n)) => {
                let index = whole("--shard", index)?;
                Self { index, n }
            }
            (_, None) => bail!("--shard is {text}, 3/8, auto or auto/8 was expected"),
        };
        let Self { index, n } = part;
        ensure!(
            index < n,
            "--shard is {index}/{n}: indices count from 0, so one below {n} was expected"
        );
        Ok(part)
    }

    /// Whether a piece of the work belongs to this part.
    #[must_use]
    pub const fn has(self, piece: usize) -> bool {
        piece % self.n == self.index
    }
}

fn from_environment(
    n: Option<usize>,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<PartOf> {
    let read = |name: &str| -> Result<Option<usize>> {
        environment(name).map(|text| whole(name, &text)).transpose()
    };
    if let Some(id) = read("SLURM_ARRAY_TASK_ID")? {
        let first = read("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
        let step = read("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
        let n = n.map_or_else(|| read("SLURM_ARRAY_TASK_COUNT"), |n| Ok(Some(n)))?;
        let index = id.checked_sub(first);
        let index = index.context("SLURM_ARRAY_TASK_ID is below SLURM_ARRAY_TASK_MIN")?;
        return Ok(PartOf {
            index: index / step,
            n: n.context("SLURM_ARRAY_TASK_COUNT is not set; say --shard auto/NUMBER")?,
        });
    }
    if let Some(index) = read("JOB_COMPLETION_INDEX")? {
        // Kubernetes tells a job its index, but not the number of jobs.
        let n = n.context("of how many jobs is this one? say --shard auto/NUMBER")?;
        return Ok(PartOf { index, n });
    }
    bail!("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set");
}

fn whole(name: &str, text: &str) -> Result<usize> {
    let parsed = text.trim().parse();
    parsed.with_context(|| format!("{name} is {text:?}, a whole number was expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<PartOf> {
        PartOf::parse(text, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn job_arrays_of_slurm_and_kubernetes_are_understood() {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "14"),
            ("SLURM_ARRAY_TASK_MIN", "10"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "5"),
        ];
        let kubernetes = [("JOB_COMPLETION_INDEX", "3")];
        for (text, variables, expected) in [
            ("3/8", &[][..], (3, 8)),
            ("auto", &slurm, (2, 5)),
            ("auto/8", &slurm, (2, 8)),
            ("auto/4", &kubernetes, (3, 4)),
        ] {
            let found = parse(text, variables).expect("understood");
            let found = (found.index, found.n);
            assert_eq!(found, expected, "{text} with {variables:?}");
        }
    }

    #[test]
    fn what_cannot_be_understood_says_what_was_expected() {
        for (text, variables, part) in [
            ("8/8", &[][..], "one below 8"),
            ("3", &[], "3/8, auto or auto/8"),
            ("a/8", &[], "\"a\", a whole number"),
            ("auto", &[], "SLURM_ARRAY_TASK_ID"),
            ("auto", &[("JOB_COMPLETION_INDEX", "3")], "of how many"),
            ("auto/2", &[("JOB_COMPLETION_INDEX", "3")], "one below 2"),
        ] {
            let error = parse(text, variables).expect_err("not understood");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn parts_share_the_work_without_rest() {
        for piece in 0..20 {
            let owners = (0..3).filter(|&index| PartOf { index, n: 3 }.has(piece));
            assert_eq!(owners.count(), 1, "piece {piece}");
        }
    }
}
