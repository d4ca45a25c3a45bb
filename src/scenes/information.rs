//! Information of a caption in bits: −log₂ of the probability that a random scene fits it.
//!
//! Exact for claims about one object or a number of objects. For several objects the probability is
//!
//! ```text
//! P = Σ_n p(n) · n!/(n−m)! · P(objects 1…m fit descriptions 1…m | n) · E[1/N | they fit]
//! ```
//!
//! where N counts the ways to assign objects to the m descriptions. Everything but the last expectation is exact;
//! that one is sampled, from scenes drawn so that they fit, and its standard error is carried along.

use rand::{Rng, RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::description::{
    Claim, CountRange, Description, Mask, ObjectDescription, Relation, has, n_assignments,
};
use super::scene::{
    COUNT_WEIGHTS, Colour, Ground, Light, MAX_OBJECTS, N_CELLS, Object, Shape, Size, Texture,
    sample_index,
};

/// Scenes drawn for each number of objects; keeps the standard error below 0.05 bits.
const N_SAMPLES: usize = 256;
/// Seed of the sampling, so that a caption's information is always the same number.
const SEED: u64 = 0x1f0;

/// Information of a caption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Information {
    /// −log₂ P(a random scene fits).
    pub bits: f64,
    /// Standard error of `bits`; 0 where the value is exact.
    pub standard_error: f64,
}

/// The information that a description carries about a scene drawn from the prior; infinite if no scene fits.
///
/// # Examples
/// ```
/// use kappascope::scenes::{information, parse};
/// let bits = |caption| information(&parse(caption).unwrap()).bits;
/// assert_eq!(bits("a picture"), 0.0);
/// assert!(bits("a star") < bits("a red star") && bits("a red star") < bits("a small red star"));
/// ```
pub fn information(description: &Description) -> Information {
    let scene =
        mass(Ground::WEIGHTS, description.grounds) * mass(Light::WEIGHTS, description.lights);
    let (probability, variance) = match &description.claim {
        Claim::Exists(objects) => match objects[..] {
            [] => (1.0, 0.0),
            [object] => (
                count_probability(
                    &object,
                    CountRange {
                        least: 1,
                        most: MAX_OBJECTS,
                    },
                ),
                0.0,
            ),
            _ => assignment_probability(objects, |_| true),
        },
        Claim::Related(a, relation, b) => related_probability(a, *relation, b),
        Claim::Count(object, range) => (count_probability(object, *range), 0.0),
    };
    let bits = -(scene * probability).log2();
    let standard_error = if variance > 0.0 {
        variance.sqrt() / probability / std::f64::consts::LN_2
    } else {
        0.0
    };
    Information {
        bits: bits.max(0.0),
        standard_error,
    }
}

/// Prior probability that a value lies in a mask.
fn mass(weights: &[f64], mask: Mask) -> f64 {
    let inside = weights.iter().enumerate().filter(|(i, _)| has(mask, *i));
    inside.map(|(_, w)| w).sum::<f64>() / weights.iter().sum::<f64>()
}

/// Prior probability that an object's attributes, its place aside, satisfy a description.
fn attribute_mass(object: &ObjectDescription) -> f64 {
    mass(Shape::WEIGHTS, object.shapes)
        * mass(Colour::WEIGHTS, object.colours)
        * mass(Size::WEIGHTS, object.sizes)
        * mass(Texture::WEIGHTS, object.textures)
}

fn count_prior(n_objects: usize) -> f64 {
    COUNT_WEIGHTS[n_objects - 1] / COUNT_WEIGHTS.iter().sum::<f64>()
}

/// Probability that the number of fitting objects lies in a range: cells are hypergeometric, attributes binomial.
fn count_probability(object: &ObjectDescription, range: CountRange) -> f64 {
    let n_allowed = object.cells.count_ones() as usize;
    let mass = attribute_mass(object);
    let mut probability = 0.0;
    for n in 1..=MAX_OBJECTS {
        for k in 0..=n.min(n_allowed) {
            let placed =
                choose(n_allowed, k) * choose(N_CELLS - n_allowed, n - k) / choose(N_CELLS, n);
            let counted: f64 = (0..=k)
                .filter(|&j| range.contains(j))
                .map(|j| choose(k, j) * mass.powi(exponent(j)) * (1.0 - mass).powi(exponent(k - j)))
                .sum();
            probability += count_prior(n) * placed * counted;
        }
    }
    probability
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "at most the number of objects"
)]
fn exponent(n: usize) -> i32 {
    n as i32
}

fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        0.0
    } else {
        (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
    }
}

fn related_probability(
    a: &ObjectDescription,
    relation: Relation,
    b: &ObjectDescription,
) -> (f64, f64) {
    assignment_probability(&[*a, *b], move |cells| relation.holds(cells[0], cells[1]))
}

/// Probability, and the variance of its estimate, that objects can be assigned to several descriptions.
fn assignment_probability(
    objects: &[ObjectDescription],
    accept: impl Fn(&[usize]) -> bool,
) -> (f64, f64) {
    let m = objects.len();
    let cells = accepted_cells(objects, &accept);
    let ordered_cells: f64 = (0..m).map(|i| (N_CELLS - i) as f64).product();
    let fit =
        objects.iter().map(attribute_mass).product::<f64>() * cells.len() as f64 / ordered_cells;
    if fit == 0.0 || m > MAX_OBJECTS {
        return (0.0, 0.0);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let (mut probability, mut variance) = (0.0, 0.0);
    for n in m..=MAX_OBJECTS {
        let orders: f64 = (0..m).map(|i| (n - i) as f64).product();
        let weight = count_prior(n) * orders * fit;
        let (mean, variance_of_mean) =
            mean_inverse_assignments(objects, &cells, n, &accept, &mut rng);
        probability += weight * mean;
        variance += weight * weight * variance_of_mean;
    }
    (probability, variance)
}

/// Every choice of distinct cells, one for each description, that satisfies places and relation.
fn accepted_cells(
    objects: &[ObjectDescription],
    accept: &dyn Fn(&[usize]) -> bool,
) -> Vec<Vec<usize>> {
    let mut partial: Vec<Vec<usize>> = vec![Vec::new()];
    for object in objects {
        partial = partial
            .iter()
            .flat_map(|cells| {
                let free =
                    (0..N_CELLS).filter(|cell| has(object.cells, *cell) && !cells.contains(cell));
                free.map(|cell| [&cells[..], &[cell]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    partial.retain(|cells| accept(cells));
    partial
}

/// Mean of 1/N, and the variance of that mean, over scenes whose first objects fit the descriptions.
fn mean_inverse_assignments(
    objects: &[ObjectDescription],
    cells: &[Vec<usize>],
    n_objects: usize,
    accept: &dyn Fn(&[usize]) -> bool,
    rng: &mut ChaCha8Rng,
) -> (f64, f64) {
    let (mut sum, mut sum_of_squares) = (0.0, 0.0);
    for _ in 0..N_SAMPLES {
        let scene = sample_fitting(objects, cells, n_objects, rng);
        let inverse = 1.0 / n_assignments(objects, &scene, accept) as f64;
        sum += inverse;
        sum_of_squares += inverse * inverse;
    }
    let n = N_SAMPLES as f64;
    let mean = sum / n;
    let variance = (sum_of_squares / n - mean * mean).max(0.0);
    (mean, variance / (n - 1.0))
}

/// Draws objects from the prior, given that the first of them fit the descriptions in order.
fn sample_fitting<R: Rng>(
    descriptions: &[ObjectDescription],
    cells: &[Vec<usize>],
    n_objects: usize,
    rng: &mut R,
) -> Vec<Object> {
    let mut taken = cells[rng.random_range(0..cells.len())].clone();
    while taken.len() < n_objects {
        let cell = rng.random_range(0..N_CELLS);
        if !taken.contains(&cell) {
            taken.push(cell);
        }
    }
    let rest = std::iter::repeat(&ObjectDescription::ANY);
    let described = taken.into_iter().zip(descriptions.iter().chain(rest));
    described
        .map(|(cell, description)| sample_object(description, cell, rng))
        .collect()
}

fn sample_object<R: Rng>(description: &ObjectDescription, cell: usize, rng: &mut R) -> Object {
    let centre = [1.0 / 6.0, 0.5, 5.0 / 6.0];
    Object {
        shape: Shape::ALL[sample_within(Shape::WEIGHTS, description.shapes, rng)],
        colour: Colour::ALL[sample_within(Colour::WEIGHTS, description.colours, rng)],
        size: Size::ALL[sample_within(Size::WEIGHTS, description.sizes, rng)],
        texture: Texture::ALL[sample_within(Texture::WEIGHTS, description.textures, rng)],
        x: centre[cell % 3],
        y: centre[cell / 3],
    }
}

fn sample_within<R: Rng>(weights: &[f64], mask: Mask, rng: &mut R) -> usize {
    let masked = |(i, w): (usize, &f64)| if has(mask, i) { *w } else { 0.0 };
    let masked: Vec<f64> = weights.iter().enumerate().map(masked).collect();
    sample_index(&masked, rng)
}

#[cfg(test)]
mod tests {
    use super::super::grammar::{full_description, random_part};
    use super::super::parse::parse;
    use super::super::scene::{Compositions, Scene};
    use super::*;

    /// Scenes counted for the comparison; gives a relative error of 1 % at a probability of 5 %.
    const N_COUNTED: usize = 200_000;

    fn bits(caption: &str) -> f64 {
        information(&parse(caption).expect("a caption of the grammar")).bits
    }

    #[test]
    fn a_picture_tells_nothing_and_a_certain_fraction_is_its_logarithm() {
        assert_eq!(bits("a picture"), 0.0, "a picture fits everything");
        let dim = bits("a scene in dim light");
        assert!((dim - 2.0).abs() < 1e-12, "one scene in four: {dim} bits");
        let two = bits("two shapes");
        let expected = (20.0f64 / 6.0).log2();
        assert!((two - expected).abs() < 1e-12, "6 of 20 scenes: {two} bits");
    }

    fn crowd(rng: &mut ChaCha8Rng) -> Vec<Scene> {
        let scene = |_| Scene::sample(Compositions::All, rng);
        (0..N_COUNTED).map(scene).collect()
    }

    /// Compares with `count`, the scenes of the crowd that fit, within five standard errors.
    fn assert_counted(description: &Description, count: usize) {
        let counted = -(count as f64 / N_COUNTED as f64).log2();
        let found = information(description);
        let of_counting = 1.0 / (count as f64).sqrt() / std::f64::consts::LN_2;
        let allowed = 5.0 * of_counting.hypot(found.standard_error);
        let near = (found.bits - counted).abs() < allowed;
        assert!(near, "{found:?}, counted {counted}: {description:?}");
    }

    #[test]
    fn information_agrees_with_counting_scenes() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let crowd = crowd(&mut rng);
        let mut n_compared = 0;
        while n_compared < 60 {
            let description = random_part(&crowd[n_compared], &mut rng);
            let count = crowd.iter().filter(|scene| description.fits(scene)).count();
            if count >= 2000 {
                assert_counted(&description, count);
            }
            n_compared += usize::from(count > 0);
        }
    }

    #[test]
    fn several_objects_are_counted_without_bias() {
        let crowd = crowd(&mut ChaCha8Rng::seed_from_u64(12));
        for caption in [
            "a circle and a square",
            "something red and something red",
            "a warm thing left of a star",
            "a shape above a shape",
        ] {
            let description = parse(caption).expect("a caption of the grammar");
            let count = crowd.iter().filter(|scene| description.fits(scene)).count();
            assert_counted(&description, count);
        }
    }

    #[test]
    fn full_descriptions_have_small_standard_errors() {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        for _ in 0..50 {
            let scene = Scene::sample(Compositions::All, &mut rng);
            let found = information(&full_description(&scene, &mut rng));
            let is_small = found.bits.is_finite() && found.standard_error < 0.05;
            assert!(is_small, "{found:?} for {scene:?}");
        }
    }
}
