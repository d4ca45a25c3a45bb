//! Kappascope.
pub mod error;
