//! The spreads that are drawn: the uniform one, and both distributions of a caption.

use crate::explorer::family_name;
use crate::explorer::views::geometry::{CaptionGeometry, CosineDistribution};
use crate::numerics::Family;
use crate::protocol::PerFamily;

/// Concentration that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concentration {
    /// κ, as the model gives it.
    Model,
    /// τκ, as training tempers it.
    Tempered,
}

/// A spread with its label and its class in the style sheet.
pub(super) type LabelledSpread = (CosineDistribution, &'static str, &'static str);

/// The uniform distribution and those of both families.
pub(super) fn spreads(known: &CaptionGeometry, which: Concentration) -> [LabelledSpread; 3] {
    let values = concentration(known, which);
    let labelled = |family, value, class| {
        (
            CosineDistribution::OfFamily(family, value),
            family_name(family),
            class,
        )
    };
    [
        (CosineDistribution::Uniform, "a blind guess", "uniform"),
        labelled(Family::VonMisesFisher, values.vmf, "vmf"),
        labelled(
            Family::PowerSpherical,
            values.power_spherical,
            "power-spherical",
        ),
    ]
}

/// A caption's concentration under both families.
pub(super) fn concentration(known: &CaptionGeometry, which: Concentration) -> PerFamily<f64> {
    match which {
        Concentration::Model => known.concentration,
        Concentration::Tempered => known.tempered,
    }
}
