//! The numbers of a pair that the matrix may show.

/// What the bars of the matrix show, and what captions are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// Nats above uniform, in which κ takes part.
    #[default]
    Likelihood,
    /// CLIP's own cosine, which knows no κ.
    Cosine,
}

/// The number under each bar of nats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecondNumber {
    /// Posterior over captions.
    #[default]
    Posterior,
    /// CLIP's own cosine.
    Cosine,
    /// Logarithm of the density itself.
    LogDensity,
}
