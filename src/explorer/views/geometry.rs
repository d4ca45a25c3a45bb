//! The view of geometry: distribution of the cosine to a caption's mean direction, in the model's dimension and others.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use crate::explorer::legibility::Legibility;
use crate::explorer::number::three_significant;
use crate::explorer::readings::snapshot::Snapshot;
use crate::numerics::{Family, uniform_cosine_density};
use crate::protocol::PerFamily;

/// Draws of a distribution that the ball shows.
pub const N_DRAWS: usize = 200;
/// Seed of the draws: the same in every visit.
const SEED: u64 = 1;
/// Points of a curve, enough to look round on a wide screen.
const N_POINTS: usize = 321;
/// Dimensions that the slider offers, beside the model's own.
const DIMENSIONS: [usize; 19] = [
    3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
];
/// The smallest dimension in which the density is finite everywhere: that of a ball.
pub(in crate::explorer) const MIN_DIMENSION: usize = 3;
/// The largest dimension that a link may ask for.
pub(in crate::explorer) const MAX_DIMENSION: usize = 2048;

/// Distribution of the cosine between a caption's mean direction and a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CosineDistribution {
    /// Cosine with pictures that are distributed uniformly on the sphere.
    Uniform,
    /// Cosine with pictures under a family with this concentration κ.
    OfFamily(Family, f64),
}

/// Points of a density, to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Cosines from −1 to 1, each with its density.
    pub points: Vec<[f64; 2]>,
    /// The point with the greatest density.
    pub peak: [f64; 2],
}

impl Curve {
    /// The central interval that holds this share of the probability.
    pub fn middle(&self, share: f64) -> [f64; 2] {
        let tail = (1.0 - share) / 2.0;
        [tail, 1.0 - tail].map(|fraction| self.quantile(fraction))
    }

    /// The cosine below which this fraction of the probability lies, by the trapezoid rule.
    fn quantile(&self, fraction: f64) -> f64 {
        let area = |pair: &[[f64; 2]]| (pair[1][0] - pair[0][0]) * (pair[0][1] + pair[1][1]) / 2.0;
        let total: f64 = self.points.windows(2).map(area).sum();
        let mut below = 0.0;
        for pair in self.points.windows(2) {
            let inside = area(pair);
            if inside > 0.0 && below + inside >= fraction * total {
                // Within a trapezoid the area grows as a quadratic, whose root this is.
                let (width, rest) = (pair[1][0] - pair[0][0], fraction * total - below);
                let (left, right) = (pair[0][1], pair[1][1]);
                let root = (left * left + 2.0 * (right - left) * rest / width).max(0.0);
                return pair[0][0] + 2.0 * rest / (left + root.sqrt());
            }
            below += inside;
        }
        1.0
    }
}

/// Numbers of a distribution of the cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineMoments {
    /// Mean of the cosine.
    pub mean: f64,
    /// Standard deviation of the cosine.
    pub deviation: f64,
    /// The angle whose cosine is the mean cosine.
    pub mean_angle_degrees: f64,
    /// Kullback–Leibler divergence to the uniform distribution, in nats.
    pub nats: f64,
}

/// A caption on the sphere.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionGeometry {
    /// Text of the caption, as typed.
    pub caption: String,
    /// Share of it that the model can read.
    pub legibility: Legibility,
    /// Dimension of the model's embeddings.
    pub embed_dim: usize,
    /// Concentration κ of the caption's distribution under each family.
    pub concentration: PerFamily<f64>,
    /// τκ: κ times the logit scale τ, by which training multiplies likelihoods.
    pub tempered: PerFamily<f64>,
    /// The pictures on the page, in order.
    pub pictures: Vec<PictureTick>,
}

/// A picture's tick on the axis of cosines.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureTick {
    /// The page's name for the picture.
    pub image: String,
    /// Cosine to the mean direction under each family; the families have mean directions of their own.
    pub cosine: PerFamily<f64>,
    /// Evidence over a blind guess in nats under each family.
    pub nats: PerFamily<f64>,
}

impl CosineDistribution {
    /// Density of the cosine on the sphere of this dimension.
    pub fn density(self, embed_dim: usize, cosine: f64) -> f64 {
        match self {
            Self::Uniform => uniform_cosine_density(embed_dim, cosine),
            Self::OfFamily(family, concentration) => {
                family.cosine_density(embed_dim, concentration, cosine)
            }
        }
    }

    /// Numbers of the distribution on the sphere of this dimension.
    pub fn view(self, embed_dim: usize) -> CosineMoments {
        let (family, concentration) = self.family();
        CosineMoments {
            mean: family.mean_resultant_length(embed_dim, concentration),
            deviation: family.cosine_variance(embed_dim, concentration).sqrt(),
            mean_angle_degrees: family
                .mean_angle_radians(embed_dim, concentration)
                .to_degrees(),
            nats: family.kl_to_uniform(embed_dim, concentration),
        }
    }

    /// Draws on the sphere of this dimension, 3 or more, projected on a plane through the mean direction μ: the second
    /// coordinate is along μ, the first at a right angle to it.
    ///
    /// ```text
    /// z = t μ + √(1 − t²) v
    /// ```
    ///
    /// v is uniform among the directions at a right angle to μ, so one of its components is distributed as the cosine
    /// of the uniform distribution in one dimension less.
    pub fn draws(self, embed_dim: usize) -> Vec<[f64; 2]> {
        let (family, concentration) = self.family();
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let beside = embed_dim.max(MIN_DIMENSION) - 1;
        let draw = |_| {
            let cosine = family.sample_cosine(embed_dim, concentration, &mut rng);
            // Power spherical at κ = 0 is uniform, and drawn without rejections.
            let component = Family::PowerSpherical.sample_cosine(beside, 0.0, &mut rng);
            [component * (1.0 - cosine * cosine).max(0.0).sqrt(), cosine]
        };
        (0..N_DRAWS).map(draw).collect()
    }

    /// Family and concentration; both families are the uniform distribution at κ = 0.
    fn family(self) -> (Family, f64) {
        match self {
            Self::Uniform => (Family::VonMisesFisher, 0.0),
            Self::OfFamily(family, concentration) => (family, concentration),
        }
    }

    /// The curve of the density, sampled evenly in the angle so that sharp ends stay sharp.
    pub fn curve(self, embed_dim: usize) -> Curve {
        let last = (N_POINTS - 1) as f64;
        let point = |i: usize| {
            let cosine = -(std::f64::consts::PI * i as f64 / last).cos();
            [cosine, self.density(embed_dim, cosine)]
        };
        let points: Vec<[f64; 2]> = (0..N_POINTS).map(point).collect();
        let highest = points.iter().copied();
        let highest = highest.max_by(|a, b| a[1].total_cmp(&b[1]));
        // On the ball's surface the uniform density is level, and its middle stands for it.
        let peak = match self {
            Self::Uniform => [0.0, self.density(embed_dim, 0.0)],
            Self::OfFamily(..) => highest.unwrap_or_default(),
        };
        Curve { points, peak }
    }
}

/// The numbers of the caption with this key, for these pictures; `None` where it has none.
pub fn caption_geometry(
    snapshot: &Snapshot,
    pictures: &[String],
    key: u64,
) -> Option<CaptionGeometry> {
    let i_text = snapshot.keys.iter().position(|known| *known == key)?;
    let (answer, card) = (&snapshot.answer, &snapshot.card);
    let reading = answer.captions.get(i_text)?;
    let concentration = reading.concentration;
    let tick = |image: &String| {
        let i_image = answer.images.iter().position(|known| known == image)?;
        let (_, pair) = snapshot.reading(i_text, i_image)?;
        let cosine = pair.mean_direction_cosine;
        let nats = |family: Family| {
            let (kappa, cosine) = (concentration.get(family), cosine.get(family));
            family.log_likelihood_ratio(card.embed_dim, *kappa, *cosine)
        };
        Some(PictureTick {
            image: image.clone(),
            cosine,
            nats: PerFamily::of(nats),
        })
    };
    Some(CaptionGeometry {
        caption: reading.caption.clone(),
        legibility: Legibility::of(
            &reading.caption,
            &reading.unknown_words,
            reading.familiarity,
        ),
        embed_dim: card.embed_dim,
        concentration,
        tempered: PerFamily::of(|family| card.logit_scale.get(family) * concentration.get(family)),
        pictures: pictures.iter().filter_map(tick).collect(),
    })
}

/// The dimensions that the slider offers, ascending, with the model's own among them.
pub fn dimensions(embed_dim: usize) -> Vec<usize> {
    let mut dimensions = DIMENSIONS.to_vec();
    if let Err(at) = dimensions.binary_search(&embed_dim) {
        dimensions.insert(at, embed_dim);
    }
    dimensions
}

/// Formula of the cosine's density under a family, up to a factor.
pub fn density_formula(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "f(t) ∝ exp(κ t) · (1 − t²)^((d − 3)/2)",
        Family::PowerSpherical => "f(t) ∝ (1 + t)^κ · (1 − t²)^((d − 3)/2)",
    }
}

/// The formula of [`density_formula`] with numbers put in.
pub fn density_formula_with_numbers(
    family: Family,
    concentration: f64,
    dimension: usize,
) -> String {
    let kappa = three_significant(concentration);
    let exponent = (dimension as f64 - 3.0) / 2.0;
    match family {
        Family::VonMisesFisher => format!("f(t) ∝ exp({kappa} t) · (1 − t²)^{exponent}"),
        Family::PowerSpherical => format!("f(t) ∝ (1 + t)^{kappa} · (1 − t²)^{exponent}"),
    }
}

/// Mean angle of the pictures at a caption's κ: on a ball, in the shown dimension, and in the model's own; `None` for a
/// caption that the model cannot read, whose κ says nothing of pictures.
pub fn ball_text(known: &CaptionGeometry, family: Family, shown: usize) -> Option<String> {
    if known.legibility.is_unread() {
        return None;
    }
    let (concentration, embed_dim) = (*known.concentration.get(family), known.embed_dim);
    let degrees = |dimension: usize| {
        family
            .mean_angle_radians(dimension, concentration)
            .to_degrees()
    };
    let angle = |dimension: usize| three_significant(degrees(dimension));
    let kappa = three_significant(concentration);
    let [ball, own] = [MIN_DIMENSION, embed_dim].map(angle);
    let cap = match degrees(MIN_DIMENSION) {
        tight if tight < 35.0 => "a tight cap",
        wide if wide < 60.0 => "a wide cap",
        _ => "little more than one side",
    };
    let between = if shown == MIN_DIMENSION || shown == embed_dim {
        String::new()
    } else {
        format!(" At {shown} it is {}°.", angle(shown))
    };
    Some(format!(
        "On a ball, in 3 dimensions, κ = {kappa} would keep pictures {ball}° from the mean direction: {cap}.{between} \
         In the model’s {embed_dim} dimensions the same κ means {own}°, where a blind guess means 90°: in many dimensions \
         nearly all directions stand at right angles to each other."
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explorer::readings::cache::tests::{answer_of, card};

    /// Error of the trapezoid rule with 321 points on densities as narrow as these.
    const AREA_TOLERANCE: f64 = 2e-3;

    /// Standard errors between a mean of draws and its expectation: one in 16,000 lies beyond, and the seed is fixed.
    const STANDARD_ERRORS: f64 = 4.0;

    /// Less than a pixel on any screen.
    const MIDDLE_TOLERANCE: f64 = 1e-3;

    proptest! {
        #[test]
        fn every_curve_holds_all_the_probability(
            at in 0..DIMENSIONS.len(),
            concentration in 0.0..60.0_f64,
            power_spherical: bool,
        ) {
            let family = if power_spherical { Family::PowerSpherical } else { Family::VonMisesFisher };
            for distribution in [CosineDistribution::Uniform, CosineDistribution::OfFamily(family, concentration)] {
                let points = distribution.curve(DIMENSIONS[at]).points;
                let area: f64 = points
                    .windows(2)
                    .map(|pair| (pair[1][0] - pair[0][0]) * (pair[0][1] + pair[1][1]) / 2.0)
                    .sum();
                prop_assert!((area - 1.0).abs() < AREA_TOLERANCE, "{distribution:?} in {} holds {area}", DIMENSIONS[at]);
            }
        }
    }

    #[test]
    fn the_formulas_are_those_of_the_curves() {
        let (dimension, kappa) = (128, 5.36);
        for family in Family::ALL {
            let shown = density_formula_with_numbers(family, kappa, dimension);
            assert!(
                shown.contains("5.36") && shown.ends_with("(1 − t²)^62.5"),
                "the formula was: {shown}"
            );
            for cosine in [-0.3, 0.1, 0.4_f64] {
                let shape = match family {
                    Family::VonMisesFisher => (kappa * cosine).exp(),
                    Family::PowerSpherical => (1.0 + cosine).powf(kappa),
                };
                let expected = shape * (1.0 - cosine * cosine).powf(62.5);
                let distribution = CosineDistribution::OfFamily(family, kappa);
                let found =
                    distribution.density(dimension, cosine) / distribution.density(dimension, 0.0);
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "{family:?} at {cosine}: {found} and {expected}"
                );
            }
        }
    }

    #[test]
    fn the_middle_of_the_ball_is_known() {
        // On the surface of a ball the height of an even point is itself even (Archimedes).
        let [low, high] = CosineDistribution::Uniform.curve(3).middle(0.9);
        assert!(
            (low + 0.9).abs() < 1e-9 && (high - 0.9).abs() < 1e-9,
            "nine tenths lie between −0.9 and 0.9, not {low} and {high}"
        );
    }

    #[test]
    fn the_middle_narrows_to_the_equator_as_the_dimension_grows() {
        // The cosine tends to a normal distribution of variance 1/d, whose middle 95 % reach 1.96 deviations.
        let [low, high] = CosineDistribution::Uniform.curve(768).middle(0.95);
        let expected = 1.96 / 768_f64.sqrt();
        for (found, sign) in [(low, -1.0), (high, 1.0)] {
            let gap = found - sign * expected;
            assert!(gap.abs() < MIDDLE_TOLERANCE, "{found} is off by {gap}");
        }
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution_and_lie_in_the_disc() {
        let distributions = Family::ALL.map(|family| CosineDistribution::OfFamily(family, 5.0));
        for distribution in distributions
            .into_iter()
            .chain([CosineDistribution::Uniform])
        {
            for dimension in [3, 16, 128, 768] {
                let draws = distribution.draws(dimension);
                let n = draws.len() as f64;
                let is_inside = |[x, t]: &[f64; 2]| x.hypot(*t) <= 1.0 + 1e-12;
                assert!(
                    draws.iter().all(is_inside),
                    "{distribution:?} in {dimension}"
                );
                let moments = distribution.view(dimension);
                let error = moments.deviation / n.sqrt();
                let mean = draws.iter().map(|[_, t]| t).sum::<f64>() / n;
                let gap = (mean - moments.mean).abs() / error;
                assert!(
                    gap < STANDARD_ERRORS,
                    "{distribution:?} in {dimension}: mean cosine {mean}, not {}",
                    moments.mean
                );
                // A component of a uniform direction at a right angle to μ has variance 1/(d − 1).
                let square = 1.0 - moments.mean.powi(2) - moments.deviation.powi(2);
                let variance = square / (dimension as f64 - 1.0);
                let across: Vec<f64> = draws.iter().map(|[x, _]| x * x).collect();
                let found = across.iter().sum::<f64>() / n;
                let spread = across.iter().map(|square| (square - found).powi(2));
                let error = (spread.sum::<f64>() / n / n).sqrt();
                assert!(
                    (found - variance).abs() / error < STANDARD_ERRORS,
                    "{distribution:?} in {dimension}: {found} across, not {variance}"
                );
                assert_eq!(draws, distribution.draws(dimension), "the same draws again");
            }
        }
    }

    #[test]
    fn without_concentration_a_family_is_uniform() {
        for family in Family::ALL {
            for dimension in [3, 128] {
                let curve = CosineDistribution::OfFamily(family, 0.0).curve(dimension);
                let uniform = CosineDistribution::Uniform.curve(dimension);
                for (a, b) in curve.points.iter().zip(&uniform.points) {
                    let gap = (a[1] - b[1]).abs() / b[1].max(1.0);
                    assert!(gap <= 1e-9, "{family:?} in {dimension}: {a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_kappa_spreads_as_the_dimension_grows() {
        let distribution = CosineDistribution::OfFamily(Family::VonMisesFisher, 5.0);
        let angles = DIMENSIONS.map(|dimension| distribution.view(dimension).mean_angle_degrees);
        let from_a_cap = angles[0] < 40.0 && angles.is_sorted_by(|a, b| a < b);
        let to_a_right_angle = angles[18] > 89.0;
        assert!(from_a_cap && to_a_right_angle, "{angles:?}");
    }

    #[test]
    fn ticks_stand_where_the_answer_says() {
        let answer = answer_of(
            &[("a", 4.0), ("b", 30.0)],
            &["y", "x"],
            &[0.1, 0.2, 0.3, 0.6],
        );
        let snapshot = Snapshot {
            card: card(),
            keys: vec![1, 2],
            answer,
            recorded: false,
        };
        let pictures = ["x", "y"].map(str::to_owned);
        let geometry = caption_geometry(&snapshot, &pictures, 2).expect("it was answered");
        let cosines: Vec<(&str, f64)> = geometry
            .pictures
            .iter()
            .map(|tick| (tick.image.as_str(), tick.cosine.vmf))
            .collect();
        assert_eq!(cosines, [("x", 0.6), ("y", 0.3)], "in the page's order");
        assert_eq!(geometry.tempered.vmf, 75.0, "2.5 · 30");
        let expected = Family::PowerSpherical.log_likelihood_ratio(128, 30.0, 0.6);
        let nats = geometry.pictures[0].nats.power_spherical;
        assert_eq!(nats, expected, "for κ = 30 at cosine 0.6");
        let unknown = caption_geometry(&snapshot, &pictures, 99);
        assert_eq!(unknown, None, "nobody asked about that one");
    }

    #[test]
    fn the_models_own_dimension_is_offered_once() {
        for own in [3, 100, 128, 2048] {
            let dimensions = dimensions(own);
            let is_rising = dimensions.is_sorted_by(|a, b| a < b);
            let is_offered = dimensions.contains(&own);
            assert!(is_rising && is_offered, "for {own}: {dimensions:?}");
        }
    }

    /// Sentence about a caption of this κ; “puppy” is a word that the model has never met.
    fn verdict(caption: &str, kappa: f64, shown: usize) -> Option<String> {
        let mut answer = answer_of(&[(caption, kappa)], &["x"], &[0.5]);
        let unknown = caption.contains("puppy").then(|| "puppy".to_owned());
        answer.captions[0].unknown_words = unknown.into_iter().collect();
        let snapshot = Snapshot {
            card: card(),
            keys: vec![1],
            answer,
            recorded: false,
        };
        let known = caption_geometry(&snapshot, &[], 1).expect("it was answered");
        ball_text(&known, Family::VonMisesFisher, shown)
    }

    #[test]
    fn only_a_tight_cap_is_called_one() {
        for (kappa, cap) in [
            (9.58, "a tight cap"),
            (3.0, "a wide cap"),
            (0.87, "one side"),
        ] {
            let sentence = verdict("a red star", kappa, 128).expect("it is read");
            assert!(sentence.contains(cap), "for κ = {kappa}: {sentence}");
        }
    }

    #[test]
    fn a_caption_that_is_unread_has_no_verdict() {
        assert_eq!(
            verdict("a puppy", 9.58, 3),
            None,
            "its only noun is unknown"
        );
    }

    #[test]
    fn the_sentence_names_a_dimension_between_only_when_it_is_shown() {
        let at = |shown| verdict("a red star", 5.0, shown).expect("it is read");
        assert!(at(16).contains("At 16 it is"), "{}", at(16));
        assert!(!at(3).contains("At 3"), "{}", at(3));
        assert!(!at(128).contains("At 128"), "{}", at(128));
    }
}
