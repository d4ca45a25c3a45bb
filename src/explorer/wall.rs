//! The wall: many pictures at once, of which those are lit that a caption could mean.
//!
//! Of drawn scenes the words themselves say which fit. Of photographs nobody knows; there the wall lights the model's
//! set, which holds the right one with a stated probability. Of drawn scenes this set is ringed, beside the truth.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::number::{grouped, percent};
use super::readings::caption_view::CaptionView;
use super::world::World;
use crate::numerics::Family;
use crate::protocol::{CompactDirection, FoundCoverage, PictureSets};
use crate::scenes::{Compositions, Scene, information, parse};

/// Scenes on the wall.
pub const N_WALL_SCENES: usize = 48;
/// Seed of these scenes, which are the same at each visit.
const SEED: u64 = 7;
/// Share of pictures from which a caption is said to fit nearly all of them.
const NEARLY_ALL: f64 = 0.95;
/// Share of pictures from which tenths are counted.
const MANY: f64 = 0.35;

/// Pictures of the wall that a caption could mean: in truth, or by a model's set.
#[derive(Debug, Clone, PartialEq)]
pub struct LitPictures {
    /// Whether the caption could mean each picture, in the order of the wall.
    pub lit: Vec<bool>,
    /// Share of all pictures of the world that it could mean, from 0 to 1.
    pub share: f64,
}

impl LitPictures {
    /// Number of pictures that the caption could mean.
    #[must_use]
    pub fn n_lit(&self) -> usize {
        self.lit.iter().filter(|is_lit| **is_lit).count()
    }
}

/// Random scenes of the world of drawings.
#[must_use]
pub fn wall_scenes() -> Vec<Scene> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let scene = |_| Scene::sample(Compositions::All, &mut rng);
    (0..N_WALL_SCENES).map(scene).collect()
}

/// The scenes that a caption is true of, and the probability of it; `None` where the world does not understand it.
#[must_use]
pub fn fitting_scenes(caption: &str, scenes: &[Scene]) -> Option<LitPictures> {
    let description = parse(caption)?;
    Some(LitPictures {
        lit: scenes.iter().map(|scene| description.fits(scene)).collect(),
        share: (-information(&description).bits).exp2(),
    })
}

/// The pictures in a caption's set at the stated coverage with this index, by their embeddings.
///
/// `None` for a caption that the model cannot read, and before an engine has sent its direction.
#[must_use]
pub fn likely_pictures(
    caption: &CaptionView,
    (sets, family, i_coverage): (&PictureSets, Family, usize),
    pictures: &[CompactDirection],
) -> Option<LitPictures> {
    let mean_direction = &caption.mean_direction;
    if caption.is_unread() || mean_direction.is_empty() || pictures.is_empty() {
        return None;
    }
    let least = sets.threshold(family, caption.concentration, i_coverage)?;
    let is_lit = |picture: &CompactDirection| mean_direction.cosine(picture) >= least;
    let mut likely = LitPictures {
        lit: pictures.iter().map(is_lit).collect(),
        share: 0.0,
    };
    likely.share = likely.n_lit() as f64 / pictures.len() as f64;
    Some(likely)
}

/// Number of drawings that the model rings at a stated coverage, of those that the words are true of and of the others.
///
/// `ringed` is its set; `lit` those that the words are true of, where the world understands them.
#[must_use]
pub fn ringed_text(
    ringed: Option<&LitPictures>,
    lit: Option<&LitPictures>,
    coverage: f64,
) -> String {
    let Some(ringed) = ringed else {
        return "No drawing is ringed: the model has not compared these words with them."
            .to_owned();
    };
    let (n, n_ringed, coverage) = (ringed.lit.len(), ringed.n_lit(), percent(coverage));
    let text = format!("The model rings {n_ringed} of {n} at {coverage}");
    let Some(lit) = lit else {
        return text + ".";
    };
    let both = ringed.lit.iter().zip(&lit.lit);
    let n_both = both.filter(|both| *both == (&true, &true)).count();
    let n_lit = lit.n_lit();
    let (n_other, n_dark) = (n_ringed - n_both, n - n_lit);
    format!("{text}: {n_both} of the {n_lit} lit, {n_other} of the {n_dark} others.")
}

/// A share of so many pictures in words that anyone can count by: `nearly all`, `about half`, `about 6 in 10`,
/// `about 1 in 19`.
#[must_use]
pub fn share_of_pictures(share: f64, n_pictures: usize) -> String {
    if share >= NEARLY_ALL {
        return "nearly all".to_owned();
    }
    if (share - 0.5).abs() < 0.05 {
        return "about half".to_owned();
    }
    if share >= MANY {
        return format!("about {:.0} in 10", 10.0 * share);
    }
    if share <= 0.0 {
        return format!("fewer than 1 in {n_pictures}");
    }
    let one_in = 1.0 / share;
    // Two figures are as many as one can take in.
    let unit = 10_f64.powf((one_in.log10() - 1.0).floor()).max(1.0);
    format!(
        "about 1 in {}",
        grouped(&format!("{:.0}", (one_in / unit).round() * unit))
    )
}

/// Number of pictures of the wall that are lit, of how many.
#[must_use]
pub fn set_text(lit: &LitPictures) -> String {
    format!("set: {} of {}", lit.n_lit(), lit.lit.len())
}

/// A share of all drawings in words; `none` where words contradict each other.
#[must_use]
pub fn share_of_drawings(lit: &LitPictures) -> String {
    match lit.share {
        0.0 => "none".to_owned(),
        share => share_of_pictures(share, lit.lit.len()),
    }
}

/// The share of a world's pictures that are lit, in words.
#[must_use]
pub fn lit_share_text(world: World, lit: &LitPictures) -> String {
    match world {
        World::Scenes => share_of_drawings(lit),
        World::Photographs => share_of_pictures(lit.share, lit.lit.len()),
    }
}

/// Place among a model's stated coverages of the one that is nearest to a chosen one.
#[must_use]
pub fn nearest_coverage(sets: &PictureSets, chosen: f64) -> usize {
    let away = |stated: f64| (stated - chosen).abs();
    let all = sets.coverages.iter().enumerate();
    let nearest = all.min_by(|a, b| away(*a.1).total_cmp(&away(*b.1)));
    nearest.map_or(0, |(i, _)| i)
}

/// The stated coverage beside those that were found, in a line, and where sets with one threshold on the cosine are
/// smaller.
#[must_use]
pub fn found_text(sets: &PictureSets, family: Family, i_coverage: usize) -> Option<String> {
    // A no-break space keeps the number with its percent sign.
    let percent = |share: f64| format!("{:.0}\u{a0}%", 100.0 * share);
    let stated = percent(*sets.coverages.get(i_coverage)?);
    let (mut found, mut smaller) = (Vec::new(), Vec::new());
    for measured in &sets.measured {
        let ours = measured.by_concentration.get(family).get(i_coverage)?;
        let cosine = measured.by_cosine.get(i_coverage)?;
        found.push(format!("{} on {}", percent(ours.found), measured.on));
        if cosine.mean_size < ours.mean_size {
            smaller.push(measured.on.as_str());
        }
    }
    let line = format!("Stated {stated}, found {}.", found.join(" and "));
    Some(match smaller.is_empty() {
        true => line,
        false => {
            let on = smaller.join(" and ");
            format!("{line} On {on} the sets of the cosine alone are smaller.")
        }
    })
}

/// Measured coverage of the sets, one sentence for each data set.
#[must_use]
pub fn coverage_text(sets: &PictureSets, family: Family, i_coverage: usize) -> Vec<String> {
    let of_set = sets.measured.iter().filter_map(|measured| {
        let ours: &FoundCoverage = measured.by_concentration.get(family).get(i_coverage)?;
        let cosine = measured.by_cosine.get(i_coverage)?;
        Some(format!(
            "{}: among {}, the one described was in the set for {} of captions (of the fifth of captions where it fails \
             most: {}); a set holds {} of the pictures on average. With one threshold on the cosine, without κ: {} (worst \
             fifth {}), {} of the pictures.",
            measured.on,
            grouped(&measured.n_pictures.to_string()),
            percent(ours.found),
            percent(ours.found_in_worst_fifth),
            percent(ours.mean_size),
            percent(cosine.found),
            percent(cosine.found_in_worst_fifth),
            percent(cosine.mean_size),
        ))
    });
    of_set.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::legibility::Legibility;
    use crate::protocol::CosineThresholds;
    use crate::protocol::MeasuredSets;
    use crate::protocol::PerFamily;

    #[test]
    fn shares_are_said_in_numbers_that_people_count_by() {
        let cases = [
            (1.0, "nearly all"),
            (0.62, "about 6 in 10"),
            (0.487, "about half"),
            (0.25, "about 1 in 4"),
            (1.0 / 19.2, "about 1 in 19"),
            (1.0 / 1234.0, "about 1 in 1,200"),
            (1e-6, "about 1 in 1,000,000"),
            (0.0, "fewer than 1 in 240"),
        ];
        for (share, expected) in cases {
            assert_eq!(share_of_pictures(share, 240), expected, "{share}");
        }
    }

    #[test]
    fn the_scenes_on_the_wall_agree_with_the_captions_bits() {
        let scenes = wall_scenes();
        for caption in ["a picture", "something red", "a star", "a red star"] {
            let lit = fitting_scenes(caption, &scenes).expect("the world understands it");
            let n_lit = lit.n_lit() as f64;
            let n = scenes.len() as f64;
            let deviation = (n * lit.share * (1.0 - lit.share)).sqrt();
            let difference = (n_lit - n * lit.share).abs();
            assert!(
                difference <= 3.0 * deviation + 1e-9,
                "{caption}: {n_lit} lit, {}",
                lit.share
            );
        }
        assert_eq!(
            fitting_scenes("a zebra", &scenes),
            None,
            "not of this world"
        );
        let none = fitting_scenes("a small red star and five stars", &scenes);
        assert_eq!(none, None, "a count is joined with nothing");
        let none = fitting_scenes("a round square", &scenes).expect("it is a sentence");
        assert_eq!(share_of_drawings(&none), "none", "a contradiction");
        let said = [World::Scenes, World::Photographs].map(|world| lit_share_text(world, &none));
        let expected = ["none", "fewer than 1 in 48"];
        assert_eq!(said, expected, "on the wall and on its card");
        assert_eq!(set_text(&none), "set: 0 of 48", "nothing is lit");
    }

    #[test]
    fn the_coverage_found_stands_beside_the_stated_and_smaller_sets_are_admitted() {
        let found = |found: f64, mean_size: f64| FoundCoverage {
            found,
            found_in_worst_fifth: 0.0,
            mean_size,
        };
        let measured = |on: &str, by_cosine: f64| MeasuredSets {
            on: on.to_owned(),
            n_pictures: 2000,
            n_pairs: 5000,
            by_concentration: PerFamily::of(|_| vec![found(0.694, 0.3)]),
            by_cosine: vec![found(0.7, by_cosine)],
        };
        let sets = |measured: Vec<MeasuredSets>| PictureSets {
            coverages: vec![0.7],
            measured,
            thresholds: PerFamily::of(|_| CosineThresholds::default()),
        };
        let text = |measured| found_text(&sets(measured), Family::VonMisesFisher, 0);
        let both = text(vec![measured("A", 0.4), measured("B", 0.2)]);
        let expected = "Stated 70 %, found 69 % on A and 69 % on B. On B the sets of the cosine alone are smaller.";
        let plain = |text: Option<String>| text.map(|text| text.replace('\u{a0}', " "));
        assert_eq!(plain(both).as_deref(), Some(expected), "B");
        let one = text(vec![measured("A", 0.4)]);
        let expected = Some("Stated 70 %, found 69 % on A.");
        assert_eq!(plain(one).as_deref(), expected, "none");
        let said = coverage_text(&sets(vec![measured("A", 0.4)]), Family::VonMisesFisher, 0);
        let start = "A: among 2,000, the one described was in the set for 69 % of captions";
        assert!(said[0].starts_with(start), "in full: {said:?}");
    }

    fn caption(concentration: f64) -> CaptionView {
        CaptionView {
            caption: "a dog".to_owned(),
            concentration,
            uncertainty: 1.0 / concentration,
            percentile: Some(50.0),
            n_tokens: 2,
            truncated: false,
            unknown_words: Vec::new(),
            respellings: Vec::new(),
            familiarity: None,
            legibility: Legibility::of("a dog", &[], None),
            mean_direction: CompactDirection::of(&[1.0, 0.0]),
        }
    }

    #[test]
    fn a_more_specific_caption_lights_fewer_photographs() {
        let thresholds = CosineThresholds {
            log_concentrations: vec![0.0, 5.0],
            cosines: vec![vec![-0.5, 0.9]],
        };
        let sets = PictureSets {
            coverages: vec![0.8],
            thresholds: PerFamily::of(|_| thresholds.clone()),
            measured: Vec::new(),
        };
        let wall = [[1.0, 0.0], [0.7, 0.7], [0.0, 1.0], [-1.0, 0.0]];
        let wall = wall.map(|picture| CompactDirection::of(&picture));
        let lit = |kappa| {
            let how = (&sets, Family::VonMisesFisher, nearest_coverage(&sets, 0.75));
            let lit = likely_pictures(&caption(kappa), how, &wall);
            lit.expect("it can be read")
        };
        let [vague, specific] = [lit(1.0), lit(148.0)];
        assert_eq!(vague.lit, [true, true, true, false], "vague");
        assert_eq!(specific.lit, [true, false, false, false], "specific");
        assert_eq!(
            [vague.share, specific.share],
            [0.75, 0.25],
            "shares of four"
        );
        let how = (&sets, Family::VonMisesFisher, 0);
        let none = likely_pictures(&caption(1.0), how, &[]);
        assert_eq!(none, None, "no embeddings have come");
    }

    #[test]
    fn ringed_drawings_are_counted_among_those_that_are_lit_and_among_the_others() {
        let set = |lit: [bool; 5]| LitPictures {
            lit: lit.to_vec(),
            share: 0.0,
        };
        let ringed = set([true, true, true, false, false]);
        let lit = set([false, true, true, true, false]);
        let text =
            |ringed: Option<&LitPictures>, lit: Option<&LitPictures>| ringed_text(ringed, lit, 0.7);
        let expected = "The model rings 3 of 5 at 70 %: 2 of the 3 lit, 1 of the 2 others.";
        assert_eq!(text(Some(&ringed), Some(&lit)), expected, "both are known");
        let none = set([false; 5]);
        let expected = "The model rings 3 of 5 at 70 %: 0 of the 0 lit, 3 of the 5 others.";
        assert_eq!(text(Some(&ringed), Some(&none)), expected, "none is lit");
        let expected = "The model rings 3 of 5 at 70 %.";
        assert_eq!(text(Some(&ringed), None), expected, "no sentence");
        let expected = "No drawing is ringed: the model has not compared these words with them.";
        assert_eq!(text(None, Some(&lit)), expected, "nothing is ringed");
    }
}
