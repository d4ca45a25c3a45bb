//! Shape of a caption's halo: a point of light that goes out of focus as the caption grows vague.

/// Radius of a point in focus, as a share of the halo's half height.
const FOCUSED: f64 = 0.13;

/// Sizes of a halo's three layers in units of its half height, and their opacities.
///
/// The light is spread, not added: a wide mist is faint, and only a focused point has a core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HaloShape {
    /// Half width and half height of the mist.
    pub mist: [f64; 2],
    /// Opacity of the mist.
    pub mist_strength: f64,
    /// Radius of the glow around the point.
    pub glow: f64,
    /// Opacity of the glow.
    pub glow_strength: f64,
    /// Radius of the point itself.
    pub core: f64,
    /// Opacity of the point.
    pub core_strength: f64,
}

impl HaloShape {
    /// Shape at a percentile of 1/κ; at the 100th the mist has the half width `reach`.
    pub fn at(percentile: f64, reach: f64) -> Self {
        let spread = (percentile / 100.0).clamp(0.0, 1.0);
        let grown = |limit: f64| 2.4 * FOCUSED + (limit - 2.4 * FOCUSED) * spread.powf(0.8);
        Self {
            mist: [grown(reach), grown(1.0)],
            mist_strength: 1.0 - 0.35 * spread,
            glow: 2.0 * FOCUSED + 0.5 * spread,
            glow_strength: (1.0 - spread).powf(1.5),
            core: FOCUSED,
            core_strength: (1.0 - 4.0 * spread).max(0.0),
        }
    }
}

/// Density of a halo's light at a share of its radius: a Gaussian, cut where it is no longer seen.
pub fn halo_density(at: f64) -> f64 {
    ((-4.5 * at * at).exp() - (-4.5_f64).exp() * at).max(0.0)
}

/// Halo of a caption: light by its percentile, or a dashed outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HaloMark {
    /// Light, at this percentile of 1/κ.
    At(f64),
    /// A dashed line without colour: the model cannot read the caption.
    Unread,
}

/// Look of a halo in words, for a screen reader.
pub fn halo_text(mark: HaloMark) -> &'static str {
    match mark {
        HaloMark::Unread => "a dashed outline: not read",
        HaloMark::At(p) if p < 20.0 => "in focus",
        HaloMark::At(p) if p < 40.0 => "nearly in focus",
        HaloMark::At(p) if p < 60.0 => "soft",
        HaloMark::At(p) if p < 80.0 => "out of focus",
        HaloMark::At(_) => "a wide mist",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vaguer_caption_is_wider_and_fainter() {
        let halos = [0, 20, 40, 60, 80, 100].map(|p| HaloShape::at(f64::from(p), 3.0));
        for (sharper, vaguer) in halos.iter().zip(&halos[1..]) {
            let wider = vaguer.mist[0] > sharper.mist[0] && vaguer.mist[1] > sharper.mist[1];
            let fainter = vaguer.mist_strength < sharper.mist_strength
                && vaguer.glow_strength < sharper.glow_strength;
            assert!(wider && fainter, "{vaguer:?} after {sharper:?}");
        }
    }

    #[test]
    fn the_widest_mist_fills_the_halo_and_no_more() {
        let widest = HaloShape::at(100.0, 3.0);
        assert_eq!(widest.mist, [3.0, 1.0], "at the 100th percentile");
        assert_eq!(HaloShape::at(250.0, 3.0), widest, "beyond it");
    }

    #[test]
    fn only_a_focused_point_has_a_core() {
        for (percentile, has_core) in [(0.0, true), (20.0, true), (30.0, false), (90.0, false)] {
            let strength = HaloShape::at(percentile, 1.0).core_strength;
            assert_eq!(strength > 0.0, has_core, "{strength} at {percentile}");
        }
    }
}
