//! Exit codes of the program.

use burn::tensor::DataError;

use super::progress::Interrupt;

/// The input, a file or the command line is wrong.
pub const BAD_INPUT: u8 = 2;
/// The program is at fault, not its input (`EX_SOFTWARE`).
pub const INTERNAL: u8 = 70;
/// Ctrl-C; what was done is kept (128 and the number of the signal).
pub const INTERRUPTED: u8 = 130;

/// The exit code of a command that failed.
#[must_use]
pub fn code_of(error: &anyhow::Error) -> u8 {
    if Interrupt::install().is_set() {
        return INTERRUPTED;
    }
    if error.chain().any(|cause| cause.is::<DataError>()) {
        return INTERNAL;
    }
    BAD_INPUT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use burn::tensor::Tensor;

    #[test]
    fn what_a_user_can_mend_differs_from_a_fault_of_the_program() {
        let missing = std::fs::read("nowhere").expect_err("no such file");
        let missing = anyhow::Error::new(missing).context("nowhere");
        assert_eq!(code_of(&missing), BAD_INPUT, "a file that is not there");
        let data = Tensor::<1>::zeros([1], &cpu()).into_data();
        let fault = data
            .try_into_vec::<i64>()
            .expect_err("floats are no integers");
        let fault = anyhow::Error::new(fault).context("reading back");
        assert_eq!(code_of(&fault), INTERNAL, "a tensor of another type");
    }
}
