//! The numbers of a pair that the matrix may show.

/// Measure that the bars of the matrix show and that captions are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// Evidence over a blind guess in nats, in which κ takes part.
    #[default]
    Likelihood,
    /// The encoder's own cosine, which knows no κ.
    Cosine,
}

/// The number under each bar of nats, beside how many times likelier the picture is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecondNumber {
    /// No second number beside the first.
    #[default]
    None,
    /// Posterior over the captions shown, given the picture: a share from 0 to 1.
    Posterior,
    /// Evidence over a blind guess in nats.
    Nats,
    /// The encoder's own cosine.
    Cosine,
    /// Logarithm of the density itself.
    LogDensity,
}
