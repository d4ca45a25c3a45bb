//! The native program: trains, evaluates and scores.

fn main() {}
