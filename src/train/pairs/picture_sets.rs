//! Thresholds by which a caption gets the set of pictures that it could mean, and their coverage on other pairs.
//!
//! Split conformal prediction: where captions and pictures are drawn alike, a threshold below which a share 1 − c of
//! the cosines of right pairs lies finds the right picture with probability c. One threshold for all captions finds too
//! few of the vague ones' pictures and too many of the specific ones', so there is one for each of some parts of the
//! captions by κ (Mondrian conformal prediction), and between these it is interpolated. The cosine is that of a
//! picture with the caption's mean direction, by which its likelihood ranks pictures; the control, one threshold for
//! all, is on the encoder's own cosine.

use std::iter::repeat_n;

use rayon::prelude::*;

use super::encoded::{EncodedPairs, rows};
use super::scores::{Scores, dot};
use crate::family::{Family, PerFamily};
use crate::protocol::{CosineThresholds, FoundCoverage, MeasuredSets, PictureSets};
use crate::train::features::rows::Rows;

/// Stated shares of right pictures that the sets shall hold.
const COVERAGES: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// Parts of the captions by κ, each of which has thresholds of its own.
const N_PARTS: usize = 16;
/// Groups of captions by κ, of which the worst is reported.
const N_GROUPS: usize = 5;

/// Chooses thresholds on the pairs of `calibration`, and measures them on each of the other data sets.
///
/// `calibration` and the others need captions of all levels, of pictures that the model was not trained on.
#[must_use]
pub fn picture_sets(calibration: &EncodedPairs, others: &[(&str, &EncodedPairs)]) -> PictureSets {
    let thresholds = PerFamily::of(|family| {
        let concentrations = calibration.concentrations(family);
        let right = right_pairs(calibration, calibration.mean_directions(family));
        let pairs = right
            .iter()
            .map(|pair| (concentrations[pair.caption], pair.cosine));
        thresholds(pairs.collect())
    });
    let right = right_pairs(calibration, &calibration.embeddings);
    let cosines = ascending(right.iter().map(|pair| pair.cosine));
    let by_cosine = COVERAGES.map(|coverage| least_cosine(&cosines, coverage));
    let mut sets = PictureSets {
        coverages: COVERAGES.to_vec(),
        thresholds,
        measured: Vec::new(),
    };
    let measured = others
        .iter()
        .map(|(on, pairs)| measure(on, pairs, &sets, by_cosine));
    sets.measured = measured.collect();
    sets
}

/// A caption with a picture that it is right for, and the cosine of one of its directions with that.
struct RightPair {
    caption: usize,
    cosine: f64,
}

/// Each caption with each picture that it is right for; `directions` has a row for each caption.
fn right_pairs(pairs: &EncodedPairs, directions: &Rows) -> Vec<RightPair> {
    let captions = pairs.captions.pictures_of.iter().zip(rows(directions));
    let pairs = captions
        .enumerate()
        .flat_map(|(caption, (pictures, direction))| {
            pictures.iter().map(move |picture| RightPair {
                caption,
                cosine: f64::from(dot(direction, pairs.images.row(*picture))),
            })
        });
    pairs.collect()
}

fn ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The thresholds of each part of pairs of κ and cosine; a more specific caption has no lower threshold.
fn thresholds(mut pairs: Vec<(f64, f64)>) -> CosineThresholds {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut log_concentrations, mut parts) = (Vec::new(), Vec::new());
    let part_size = pairs.len().div_ceil(N_PARTS).max(1);
    let mut rest = pairs.as_slice();
    while let Some(last) = rest.get(part_size.min(rest.len()).wrapping_sub(1)) {
        // Captions of one κ, such as one word that was said of many pictures, stay together.
        let (part, others) = rest.split_at(rest.partition_point(|pair| pair.0 <= last.0));
        rest = others;
        log_concentrations.push(part[part.len() / 2].0.ln());
        parts.push(ascending(part.iter().map(|pair| pair.1)));
    }
    CosineThresholds {
        log_concentrations,
        cosines: COVERAGES.map(|coverage| rising(&parts, coverage)).into(),
    }
}

/// Neighbouring parts of the captions with one threshold, and all their cosines, ascending.
struct PooledParts {
    cosines: Vec<f64>,
    least: f64,
    n_parts: usize,
}

/// A threshold for each part that falls nowhere: parts are taken together where their own would fall. The greatest so
/// far would be a simpler choice, but it finds too few wherever chance has made one too great.
fn rising(parts: &[Vec<f64>], coverage: f64) -> Vec<f64> {
    let mut blocks: Vec<PooledParts> = Vec::new();
    for part in parts {
        let mut block = PooledParts {
            least: least_cosine(part, coverage),
            cosines: part.clone(),
            n_parts: 1,
        };
        while let Some(before) = blocks.pop_if(|before| before.least > block.least) {
            let both = before.cosines.into_iter().chain(block.cosines);
            let cosines = ascending(both);
            block = PooledParts {
                least: least_cosine(&cosines, coverage),
                cosines,
                n_parts: before.n_parts + block.n_parts,
            };
        }
        blocks.push(block);
    }
    let thresholds = blocks
        .iter()
        .flat_map(|block| repeat_n(block.least, block.n_parts));
    thresholds.collect()
}

/// The conformal threshold: of n cosines, ascending, the one with ⌊(n + 1)(1 − coverage)⌋ − 1 below it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a number of pairs"
)]
fn least_cosine(ascending: &[f64], coverage: f64) -> f64 {
    let rank = ((ascending.len() + 1) as f64 * (1.0 - coverage)) as usize;
    let below = rank.checked_sub(1);
    below.map_or(-1.0, |place| ascending[place].clamp(-1.0, 1.0))
}

fn measure(
    on: &str,
    pairs: &EncodedPairs,
    sets: &PictureSets,
    by_cosine: [f64; COVERAGES.len()],
) -> MeasuredSets {
    let by_concentration = PerFamily::of(|family| {
        let concentrations = pairs.concentrations(family);
        let threshold = |i, caption: usize| sets.threshold(family, concentrations[caption], i);
        found(pairs, pairs.mean_directions(family), |i, caption| {
            threshold(i, caption).unwrap_or(-1.0)
        })
    });
    MeasuredSets {
        on: on.to_owned(),
        n_pictures: pairs.n_images(),
        n_pairs: pairs.captions.pictures_of.iter().map(Vec::len).sum(),
        by_concentration,
        by_cosine: found(pairs, &pairs.embeddings, |i, _| by_cosine[i]),
    }
}

/// Coverage of sets by the cosine with these directions, for each stated coverage; `threshold` is a function of its
/// index and that of a caption.
fn found(
    pairs: &EncodedPairs,
    directions: &Rows,
    threshold: impl Fn(usize, usize) -> f64 + Sync,
) -> Vec<FoundCoverage> {
    let right = right_pairs(pairs, directions);
    let cosines = Scores::cosines(directions, &pairs.images);
    let of_coverage = |i| found_at(pairs, &right, &cosines, |caption| threshold(i, caption));
    (0..COVERAGES.len()).map(of_coverage).collect()
}

/// Share of right pictures found and size of the sets, with a threshold for each caption.
fn found_at(
    encoded: &EncodedPairs,
    right: &[RightPair],
    cosines: &Scores,
    threshold: impl Fn(usize) -> f64 + Sync,
) -> FoundCoverage {
    let concentrations = encoded.concentrations(Family::VonMisesFisher);
    let mut pairs: Vec<(f64, bool)> = right
        .iter()
        .map(|pair| {
            (
                concentrations[pair.caption],
                pair.cosine >= threshold(pair.caption),
            )
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |pairs: &[(f64, bool)]| {
        pairs.iter().filter(|(_, is_found)| *is_found).count() as f64 / pairs.len().max(1) as f64
    };
    let groups = pairs.chunks(pairs.len().div_ceil(N_GROUPS).max(1));
    let n_images = encoded.n_images();
    let sizes: Vec<f64> = (0..encoded.captions.len())
        .into_par_iter()
        .map(|caption| {
            let least = threshold(caption);
            let is_in = |image: &usize| cosines.at(caption, *image) >= least;
            (0..n_images).filter(is_in).count() as f64 / n_images as f64
        })
        .collect();
    let of_pairs: f64 = right.iter().map(|pair| sizes[pair.caption]).sum();
    FoundCoverage {
        found: share(&pairs),
        found_in_worst_fifth: groups.map(share).fold(1.0, f64::min),
        mean_size: of_pairs / right.len().max(1) as f64,
    }
}

/// Table of the sets' coverage: for each data set and stated coverage the share of right pictures found, in all and in
/// the worst fifth of the captions by κ, and the mean share of the pictures that a set holds.
#[must_use]
pub fn markdown(sets: &PictureSets) -> String {
    let mut table =
        "| pictures | stated | von Mises–Fisher: found, worst fifth, size | power spherical \
        | one threshold on the cosine |\n|---|---|---|---|---|"
            .to_owned();
    for measured in &sets.measured {
        for (i, stated) in sets.coverages.iter().enumerate() {
            let cell = |found: &[FoundCoverage]| {
                let FoundCoverage {
                    found,
                    found_in_worst_fifth,
                    mean_size,
                } = found[i];
                format!("{found:.3}, {found_in_worst_fifth:.3}, {mean_size:.3}")
            };
            let [vmf, power_spherical] =
                Family::ALL.map(|family| cell(measured.by_concentration.get(family)));
            let (on, cosine) = (&measured.on, cell(&measured.by_cosine));
            table += &format!("\n| {on} | {stated:.2} | {vmf} | {power_spherical} | {cosine} |");
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

    use super::super::captions::RetrievalCaptions;
    use super::super::encoded::Distributions;
    use super::*;
    use crate::weights::manifest::Manifest;

    const WIDTH: usize = 16;

    /// Captions that lie the farther from their picture the smaller their κ is.
    fn world(seed: u64) -> EncodedPairs {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut vector = |length: f32| -> Vec<f32> {
            let sum_of_uniform = |_| (0..6).map(|_| rng.random_range(-1.0..1.0_f32)).sum::<f32>();
            (0..WIDTH).map(sum_of_uniform).map(|x| x * length).collect()
        };
        let (n_images, n_captions) = (400, 3000);
        let images: Vec<f32> = (0..n_images).flat_map(|_| vector(1.0)).collect();
        let spread = |caption: usize| 0.3 + (caption % 10) as f32;
        let captions = (0..n_captions).flat_map(|caption| {
            let image = &images[caption % n_images * WIDTH..][..WIDTH];
            let noise = vector(spread(caption));
            image
                .iter()
                .zip(noise)
                .map(|(x, noise)| x + noise)
                .collect::<Vec<f32>>()
        });
        let rows = |values: Vec<f32>| Rows {
            values,
            width: WIDTH,
        };
        let captions = rows(captions.collect());
        let list = RetrievalCaptions {
            texts: vec![String::new(); n_captions],
            pictures_of: (0..n_captions)
                .map(|caption| vec![caption % n_images])
                .collect(),
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: (0..n_captions)
                .map(|caption| 30.0 / f64::from(spread(caption)))
                .collect(),
            mean_directions: None,
        });
        EncodedPairs::new(rows(images), list, captions, distributions).expect("fits")
    }

    #[test]
    fn what_is_stated_is_found_among_vague_and_specific_captions_alike() {
        let (calibration, test) = (world(1), world(2));
        let sets = picture_sets(&calibration, &[("others", &test)]);
        assert_eq!(sets.problem(), None, "{sets:?}");
        let measured = &sets.measured[0];
        assert_eq!(
            (measured.n_pictures, measured.n_pairs),
            (400, 3000),
            "sizes"
        );
        let table = markdown(&sets);
        assert_eq!(
            table.lines().count(),
            2 + COVERAGES.len(),
            "a row each: {table}"
        );
        for (i, coverage) in COVERAGES.into_iter().enumerate() {
            for family in Family::ALL {
                let found = measured.by_concentration.get(family)[i];
                assert!(
                    (found.found - coverage).abs() < 0.03,
                    "{coverage}: {found:?}"
                );
                assert!(
                    found.found_in_worst_fifth > coverage - 0.08,
                    "{coverage}: {found:?}"
                );
            }
            let by_cosine = measured.by_cosine[i];
            assert!(
                (by_cosine.found - coverage).abs() < 0.03,
                "{coverage}: {by_cosine:?}"
            );
            assert!(
                coverage > 0.85 || by_cosine.found_in_worst_fifth < coverage - 0.08,
                "the control: {by_cosine:?}"
            );
        }
    }

    #[test]
    fn mean_directions_take_the_place_of_the_embeddings_but_in_the_control() {
        let mut turned = world(1);
        let sets = picture_sets(&turned, &[("itself", &turned)]);
        let backwards = Rows {
            values: turned.embeddings.values.iter().map(|x| -x).collect(),
            width: WIDTH,
        };
        turned.distributions.vmf.mean_directions = Some(backwards);
        let found = picture_sets(&turned, &[("itself", &turned)]);
        let [before, after] = [&sets, &found].map(|sets| &sets.measured[0]);
        assert_eq!(before.by_cosine, after.by_cosine, "the encoder's cosine");
        let power_spherical = [before, after].map(|sets| &sets.by_concentration.power_spherical);
        assert_eq!(power_spherical[0], power_spherical[1], "as it was");
        assert_ne!(
            sets.thresholds.vmf, found.thresholds.vmf,
            "other directions have other thresholds"
        );
        for (stated, of_vmf) in sets.coverages.iter().zip(&after.by_concentration.vmf) {
            assert!((of_vmf.found - stated).abs() < 0.03, "{stated}: {of_vmf:?}");
        }
    }

    #[test]
    fn the_committed_sets_of_both_worlds_hold_what_they_state() {
        for manifest in [
            include_str!("../../../public/models/photos/manifest.json"),
            include_str!("../../../public/models/scenes/manifest.json"),
        ] {
            let manifest: Manifest = serde_json::from_str(manifest).expect("a manifest");
            let name = &manifest.name;
            let sets = manifest.picture_sets.expect("it has sets");
            assert!(!sets.measured.is_empty(), "{name}: measured on nothing");
            for measured in &sets.measured {
                for family in Family::ALL {
                    let found = measured.by_concentration.get(family).iter();
                    for (stated, found) in sets.coverages.iter().zip(found) {
                        // On COCO, of which nothing was learned, they hold more than they state.
                        let most = if measured.on.contains("COCO") {
                            0.05
                        } else {
                            0.02
                        };
                        let (on, more) = (&measured.on, found.found - stated);
                        let holds = (-0.02..=most).contains(&more);
                        assert!(holds, "{name}, {on}, {family:?}: {more} more than {stated}");
                    }
                }
            }
        }
    }

    #[test]
    fn parts_whose_thresholds_would_fall_have_one_together() {
        // Nine cosines from `from` sixteenths on, of which the fifth is the threshold.
        let part = |from: i32| {
            let cosines = (from..from + 9).map(|i| f64::from(i) / 16.0);
            cosines.collect::<Vec<_>>()
        };
        let parts = [part(0), part(4), part(2), part(8)];
        let alone = parts.each_ref().map(|part| least_cosine(part, 0.5) * 16.0);
        assert_eq!(alone, [4.0, 8.0, 6.0, 12.0], "the third falls");
        let together = rising(&parts, 0.5).into_iter().map(|cosine| cosine * 16.0);
        let together: Vec<f64> = together.collect();
        // Of 4 … 12 and 2 … 10 the ninth of eighteen.
        assert_eq!(together, [4.0, 7.0, 7.0, 12.0], "the second and the third");
        let falling = rising(&[part(6), part(4), part(2)], 0.5);
        assert!(
            falling.iter().all(|cosine| *cosine == falling[0]),
            "all are one: {falling:?}"
        );
    }

    #[test]
    fn a_threshold_leaves_out_as_many_as_the_coverage_allows() {
        let cosines: Vec<f64> = (0..9).map(|i| f64::from(i) / 10.0).collect();
        assert_eq!(least_cosine(&cosines, 0.5), 0.4, "the fifth of nine");
        assert_eq!(
            least_cosine(&cosines, 0.95),
            -1.0,
            "too few to leave one out"
        );
        assert_eq!(least_cosine(&[], 0.5), -1.0, "none");
    }
}
