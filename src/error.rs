//! The one error type of the library: what was wrong, then what was expected.

/// A `Result` whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong outside of pure arithmetic.
///
/// Each message names the thing and what was expected, in lower case and without a period, so that it can be shown
/// to a visitor as it is or wrapped in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A picture that cannot be decoded or is too large.
    #[error("{0}")]
    Image(String),
    /// A caption that cannot be encoded, or a broken tokenizer file.
    #[error("{0}")]
    Text(String),
    /// Weights, manifest or checkpoint that do not say what they must.
    #[error("{0}")]
    Weights(String),
    /// A file or an address that cannot be read or written.
    #[error("{path}: {reason}")]
    Io {
        /// The file or address.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A file that its server does not have: the server answered with the status 404.
    #[error("{address}: {reason}")]
    Absent {
        /// Address of the file.
        address: String,
        /// Answer of the server, in words.
        reason: String,
    },
    /// A server that gives no answer, not even a status.
    #[error("{address} gave no answer, perhaps because there is no network ({reason})")]
    Unreachable {
        /// Address that was asked for.
        address: String,
        /// Message of the browser.
        reason: String,
    },
    /// An engine whose answers differ from the manifest's golden values, or that cannot run at all.
    #[error("{0}")]
    Engine(String),
    /// A load that was given up because somebody asked for that.
    #[error("cancelled")]
    Cancelled,
}

/// Returns [`Error::Weights`] with a formatted message.
#[allow(unused_macros, reason = "the page reads no weights")]
macro_rules! refuse {
    ($($message:tt)*) => {
        return Err(crate::error::Error::Weights(format!($($message)*)))
    };
}

/// Returns [`Error::Weights`] with a formatted message if a condition holds.
#[allow(unused_macros, reason = "the page reads no weights")]
macro_rules! refuse_if {
    ($condition:expr, $($message:tt)*) => {
        if $condition {
            return Err(crate::error::Error::Weights(format!($($message)*)));
        }
    };
}

#[allow(unused_imports, reason = "the page reads no weights")]
pub(crate) use {refuse, refuse_if};
