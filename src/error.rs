//! The one error type of the library.
