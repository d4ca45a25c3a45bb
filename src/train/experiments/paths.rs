//! `ProLIP`'s paths (section 4.4 and table 2 of [its paper](https://arxiv.org/abs/2410.18857)): from the caption that a
//! picture retrieves towards a root in fifty steps, and how much of the picture's hierarchy is met on the way.
//!
//! Without uncertainty the root is the embedding of no words. With it, the root is that and the caption whose
//! distribution includes the picture's most, added and normalised. Steps retrieve by cosine, as the released code does.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::numbers::Numbers;
use crate::metrics::mean;
use crate::model::clip::normalize;
use crate::report::{Metric, PathRoot, PathScore};
use crate::train::features::cache::CaptionRow;
use crate::train::features::rows::Rows;
use crate::train::methods::{Method, Side};

/// Steps from a start towards a root, which itself is not reached.
const N_STEPS: usize = 50;
/// Dimensions whose volumes are multiplied before a logarithm is taken of the product.
const PER_LOGARITHM: usize = 4;

/// Mean and variance of one distribution in one dimension, and of another.
type Dimension<'a> = ((&'a f32, &'a f32), (&'a f32, &'a f32));

/// Features of a split whose captions form hierarchies, not normalised.
pub(super) struct Hierarchies<'a> {
    /// Features of the pictures, `[n_images, width]`.
    pub(super) images: Tensor<2>,
    /// Features of the captions, `[n_texts, width]`.
    pub(super) texts: Tensor<2>,
    /// Of the caption without words, `[1, width]`.
    pub(super) no_words: Tensor<2>,
    /// Whose captions these are, in the order of their rows.
    pub(super) captions: &'a [CaptionRow],
}

/// Precision and recall of paths to both roots, in the mean of all pictures; nothing for a method whose sides are not
/// Gaussians, or where captions have no levels.
///
/// # Errors
///
/// The device fails.
pub(super) fn path_numbers<M: Method>(method: &M, of: Hierarchies<'_>) -> Result<Numbers> {
    let (firsts, hierarchies) = distinct(of.captions);
    if firsts.is_empty() {
        return Ok(Numbers::new());
    }
    let (Some(images), Some(texts), Some([no_words, _])) = (
        method.gaussians(Side::Image, of.images),
        method.gaussians(Side::Text, of.texts),
        method.gaussians(Side::Text, of.no_words),
    ) else {
        return Ok(Numbers::new());
    };
    let gallery = Gallery::of(&images[0], &texts[0], no_words, &firsts)?;
    let (images, texts) = (
        Gaussians::of(images)?,
        Gaussians::of(texts)?.of_rows(&firsts),
    );
    let found = hierarchies.par_iter().enumerate();
    let found = found.filter(|(_, hierarchy)| !hierarchy.is_empty());
    let found: Vec<[[f64; 3]; 2]> = found
        .map(|(image, hierarchy)| {
            let most_inclusive = texts.most_inclusive(&images, image);
            [None, Some(most_inclusive)].map(|caption| gallery.scores(image, caption, hierarchy))
        })
        .collect();
    let mut numbers = Numbers::new();
    for (r, root) in PathRoot::ALL.iter().enumerate() {
        for (s, score) in PathScore::ALL.iter().enumerate() {
            let all: Vec<f64> = found.iter().map(|scores| scores[r][s]).collect();
            numbers.insert(Metric::Path(*root, *score), mean(&all));
        }
    }
    Ok(numbers)
}

/// The first row of each distinct caption that has a level, and those of each picture by their place among these.
fn distinct(captions: &[CaptionRow]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n_images = captions.iter().map(|caption| caption.image + 1).max();
    let mut hierarchies = vec![Vec::new(); n_images.unwrap_or(0)];
    let (mut firsts, mut places) = (Vec::new(), BTreeMap::new());
    let levelled = captions.iter().enumerate();
    let levelled = levelled.filter(|(_, caption)| caption.level.is_some());
    for (row, caption) in levelled {
        let place = *places.entry(caption.text.as_str()).or_insert(firsts.len());
        if place == firsts.len() {
            firsts.push(row);
        }
        hierarchies[caption.image].push(place);
    }
    (firsts, hierarchies)
}

/// Distinct captions that may be met, and cosines among them.
struct Gallery {
    /// The caption that each picture retrieves.
    starts: Vec<usize>,
    /// Cosines of all captions with each other, `[n, n]`.
    cosines: Rows,
    /// Cosines of all captions with no words, `[1, n]`.
    no_words: Rows,
}

impl Gallery {
    /// From means that need not be unit vectors; `firsts` are the rows of distinct captions.
    fn of(
        images: &Tensor<2>,
        texts: &Tensor<2>,
        no_words: Tensor<2>,
        firsts: &[usize],
    ) -> Result<Self> {
        let texts = Rows::from_device(normalize(texts.clone()))?.of(firsts);
        let texts = texts.to_device(&images.device());
        let with_all = |rows: Tensor<2>| Rows::from_device(rows.matmul(texts.clone().transpose()));
        let of_images = with_all(normalize(images.clone()))?;
        let starts =
            (0..of_images.n_rows()).map(|image| greatest(of_images.row(image).iter().copied()));
        Ok(Self {
            starts: starts.collect(),
            cosines: with_all(texts.clone())?,
            no_words: with_all(normalize(no_words))?,
        })
    }

    /// Precision, recall and the root's recall of the path of a picture, to the embedding of no words, or of that and a
    /// caption together.
    fn scores(&self, image: usize, caption: Option<usize>, hierarchy: &[usize]) -> [f64; 3] {
        let no_words = self.no_words.row(0);
        let root: Vec<f32> = match caption {
            None => no_words.to_vec(),
            Some(caption) => {
                let length = (2.0 + 2.0 * no_words[caption])
                    .max(f32::MIN_POSITIVE)
                    .sqrt();
                let both = self.cosines.row(caption).iter().zip(no_words);
                both.map(|(a, b)| (a + b) / length).collect()
            }
        };
        let start = self.cosines.row(self.starts[image]);
        // The length of the point between start and root is the same for all captions.
        let nearest = |step: usize| {
            let share = step as f32 / N_STEPS as f32;
            let both = start.iter().zip(&root);
            greatest(both.map(|(a, b)| (1.0 - share) * a + share * b))
        };
        let met: BTreeSet<usize> = (0..N_STEPS).map(nearest).collect();
        let of_root = greatest(root.iter().copied());
        let in_hierarchy = |place: &&usize| hierarchy.contains(place);
        let n_met = hierarchy.iter().filter(|place| met.contains(place)).count();
        let n_of_root = hierarchy.iter().filter(|place| **place == of_root).count();
        let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        [
            share(met.iter().filter(in_hierarchy).count(), met.len()),
            share(n_met, hierarchy.len()),
            share(n_of_root, hierarchy.len()),
        ]
    }
}

/// Place of the greatest number, the first of equals.
fn greatest(numbers: impl Iterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (place, number) in numbers.enumerate() {
        if number > best.1 {
            best = (place, number);
        }
    }
    best.0
}

/// Gaussians with a variance for each dimension, on the host.
struct Gaussians {
    means: Rows,
    variances: Rows,
}

impl Gaussians {
    fn of([means, variances]: [Tensor<2>; 2]) -> Result<Self> {
        Ok(Self {
            means: Rows::from_device(means)?,
            variances: Rows::from_device(variances)?,
        })
    }

    fn of_rows(&self, rows: &[usize]) -> Self {
        Self {
            means: self.means.of(rows),
            variances: self.variances.of(rows),
        }
    }

    /// The row whose distribution includes that of a row of others most.
    fn most_inclusive(&self, others: &Self, other: usize) -> usize {
        let inclusions = (0..self.means.n_rows()).map(|row| others.inclusion(other, self, row));
        let mut best = (0, f64::NEG_INFINITY);
        for (row, inclusion) in inclusions.enumerate() {
            if inclusion > best.1 {
                best = (row, inclusion);
            }
        }
        best.0
    }

    /// `ProLIP`'s inclusion of a row in one of others, as paper and code write it: its logarithms of variances are
    /// twice those of ln ∫p₁²p₂.
    ///
    /// ```text
    /// Σ −2 ln σ₁² − ln σ₂² − ½ ln A − (μ₁ − μ₂)²/(σ₁² + 2σ₂²)    A = 1/σ₁² + 1/(2σ₂²)
    /// ```
    fn inclusion(&self, row: usize, others: &Self, other: usize) -> f64 {
        let inner = self.means.row(row).iter().zip(self.variances.row(row));
        let outer = others
            .means
            .row(other)
            .iter()
            .zip(others.variances.row(other));
        let both: Vec<_> = inner.zip(outer).collect();
        let of_dimension = |((mean, variance), (outer_mean, outer_variance)): &Dimension<'_>| {
            let [mean, variance, outer_mean, outer_variance] =
                [*mean, *variance, *outer_mean, *outer_variance].map(|value| f64::from(*value));
            let spread = variance + 2.0 * outer_variance;
            // σ₁⁸σ₂⁴A, of whose logarithm the sum takes half.
            let volume = variance.powi(3) * outer_variance * spread / 2.0;
            (volume, (mean - outer_mean).powi(2) / spread)
        };
        let sums = both.chunks(PER_LOGARITHM).map(|dimensions| {
            let found = dimensions.iter().map(of_dimension);
            let (volume, distance) =
                found.fold((1.0, 0.0), |(volume, sum), (v, d)| (volume * v, sum + d));
            -0.5 * f64::ln(volume) - distance
        });
        sums.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use crate::error;
    use crate::model::parameters::{ParameterVisitor, Parameters};
    use crate::train::methods::Pairs;

    fn rows<const N: usize, const D: usize>(values: [[f32; D]; N]) -> Rows {
        Rows {
            values: values.concat(),
            width: D,
        }
    }

    #[test]
    fn the_inclusion_is_that_of_the_papers_third_equation() {
        let inner = Gaussians {
            means: rows([[0.3, -0.2, 0.9, 0.1, 0.4]]),
            variances: rows([[0.5, 0.01, 2.0, 0.3, 0.7]]),
        };
        let outer = Gaussians {
            means: rows([[-0.1, 0.4, 0.2, 0.8, 0.3]]),
            variances: rows([[1.5, 0.2, 0.1, 0.9, 0.04]]),
        };
        // Written as the paper has it, with A, B and C of the exponent, which cancel for means that lie far apart.
        let term = |k: usize| {
            let [m1, s1, m2, s2] = [
                &inner.means,
                &inner.variances,
                &outer.means,
                &outer.variances,
            ]
            .map(|rows| f64::from(rows.values[k]));
            let (a, b) = (1.0 / s1 + 0.5 / s2, 2.0 * m1 / s1 + m2 / s2);
            let c = m1 * m1 / s1 + 0.5 * m2 * m2 / s2;
            -2.0 * s1.ln() - s2.ln() - 0.5 * a.ln() + b * b / (4.0 * a) - c
        };
        let expected: f64 = (0..5).map(term).sum();
        let found = inner.inclusion(0, &outer, 0);
        assert!(
            (found - expected).abs() < 1e-9,
            "{found}, expected {expected}"
        );
    }

    /// A method whose features hold means and variances side by side.
    #[derive(burn::module::Module, Debug)]
    struct Given {
        width: usize,
    }

    impl Parameters for Given {
        fn visit_parameters<V: ParameterVisitor>(&mut self, _: &mut V) -> error::Result<()> {
            Ok(())
        }
    }

    impl Method for Given {
        fn loss(&self, _pairs: Pairs, _epoch: usize) -> Tensor<1> {
            unreachable!("it is not trained")
        }

        fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
            features
        }

        fn gaussians(&self, _side: Side, features: Tensor<2>) -> Option<[Tensor<2>; 2]> {
            let means = features
                .clone()
                .slice([0..features.dims()[0], 0..self.width]);
            let variances = features
                .clone()
                .slice([0..features.dims()[0], self.width..2 * self.width]);
            Some([means, variances])
        }
    }

    /// Unit vectors at angles in degrees, each with a variance, `[n, 4]`.
    fn on_the_circle(rows: &[(f32, f32)]) -> Tensor<2> {
        let of = |(angle, variance): &(f32, f32)| {
            let angle = angle.to_radians();
            [angle.cos(), angle.sin(), *variance, *variance]
        };
        let values: Vec<f32> = rows.iter().flat_map(of).collect();
        Tensor::<1>::from_floats(values.as_slice(), &cpu()).reshape([rows.len(), 4])
    }

    fn caption(text: &str, image: usize, level: Option<usize>) -> CaptionRow {
        CaptionRow {
            text: text.to_owned(),
            image,
            n_tokens: 1,
            level,
            bits: None,
        }
    }

    const NARROW: f32 = 1e-4;

    /// Two pictures at −10° and 170°, captions at 45° and 0° of the first, at 180° (a wide one) and 200° of the second,
    /// no words at 90°.
    fn hierarchies(captions: &[CaptionRow]) -> Hierarchies<'_> {
        Hierarchies {
            images: on_the_circle(&[(-10.0, NARROW), (170.0, NARROW)]),
            texts: on_the_circle(&[(45.0, NARROW), (0.0, NARROW), (180.0, 2.0), (200.0, NARROW)]),
            no_words: on_the_circle(&[(90.0, NARROW)]),
            captions,
        }
    }

    #[test]
    fn a_path_meets_what_lies_between_its_start_and_its_root() {
        let of = |level: &dyn Fn(usize) -> Option<usize>| {
            [
                ("near", 0, 0),
                ("nearer", 0, 1),
                ("far", 1, 0),
                ("farther", 1, 1),
            ]
            .map(|(text, image, own)| caption(text, image, level(own)))
        };
        let captions = of(&Some);
        let numbers = path_numbers(&Given { width: 2 }, hierarchies(&captions)).expect("a device");
        for (root, expected) in [
            // From 0° by 45° to 90°; from 180° to 90°, by 45° in the end. Nearest to 90° is 45°.
            (
                PathRoot::NoWords,
                [(1.0 + 0.5) / 2.0, (1.0 + 0.5) / 2.0, (0.5 + 0.0) / 2.0],
            ),
            // From 0° by 45° towards 135°, by 180° in the end; from 180° to 135°. Nearest to 135° is 180°.
            (
                PathRoot::MostInclusive,
                [
                    (2.0 / 3.0 + 1.0) / 2.0,
                    (1.0 + 0.5) / 2.0,
                    (0.0 + 0.5) / 2.0,
                ],
            ),
        ] {
            for (score, expected) in PathScore::ALL.iter().zip(expected) {
                let found = numbers[&Metric::Path(root, *score)];
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{root:?}, {score:?}: {found}, expected {expected}"
                );
            }
        }
        let flat = of(&|_| None);
        let none = path_numbers(&Given { width: 2 }, hierarchies(&flat)).expect("a device");
        assert!(none.is_empty(), "without levels there is no hierarchy");
    }

    #[test]
    fn a_caption_that_is_said_twice_is_met_once_and_one_without_a_level_never() {
        let said = [
            caption("c", 0, None),
            caption("a", 0, Some(0)),
            caption("b", 0, Some(1)),
            caption("a", 1, Some(0)),
        ];
        let (firsts, hierarchies) = distinct(&said);
        assert_eq!(firsts, [1, 2]);
        assert_eq!(hierarchies, [vec![0, 1], vec![0]]);
    }
}
