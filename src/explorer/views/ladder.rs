//! The view of a ladder: captions from the general to the specific, and whether κ rises with each.

use crate::explorer::captions::CaptionList;
use crate::explorer::number::{spoken_numbers, three_significant};
use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::caption_view::CaptionView;
use crate::explorer::world::{FIRST_OF_PHOTOGRAPHS, FIRST_OF_SCENES, World};
use crate::numerics::Family;
use crate::scenes::{information, parse};

/// Rungs at most: more would fit neither a screen nor a link.
pub const MAX_RUNGS: usize = 16;

/// A ladder that comes with the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInLadder {
    /// Its title.
    pub name: &'static str,
    /// The pictures its captions are about.
    pub world: World,
    /// Its captions, the most general first.
    pub rungs: &'static [&'static str],
}

/// The ladders that come with the page.
pub const BUILT_IN_LADDERS: [BuiltInLadder; 9] = [
    BuiltInLadder {
        name: "From a picture to two shapes",
        world: World::Scenes,
        rungs: &FIRST_OF_SCENES,
    },
    BuiltInLadder {
        name: "Where the star stands",
        world: World::Scenes,
        rungs: &[
            "something",
            "a star",
            "a yellow star",
            "a small yellow star",
            "a small yellow star at the top",
            "a small yellow star at the top left",
            "a small yellow star at the top left on a grey ground",
        ],
    },
    BuiltInLadder {
        name: "From round to ring",
        world: World::Scenes,
        rungs: &[
            "something",
            "a round thing",
            "a ring",
            "a patterned ring",
            "a dotted ring",
            "a large dotted ring",
        ],
    },
    BuiltInLadder {
        name: "How many",
        world: World::Scenes,
        rungs: &[
            "a picture",
            "several shapes",
            "four shapes",
            "four warm shapes",
            "four red shapes",
        ],
    },
    BuiltInLadder {
        name: "From an animal to a puppy",
        world: World::Photographs,
        rungs: &FIRST_OF_PHOTOGRAPHS,
    },
    BuiltInLadder {
        name: "A cat with eyes",
        world: World::Photographs,
        rungs: &[
            "a photo",
            "a photo of a cat",
            "a photo of a black cat",
            "a photo of a black cat with green eyes",
            "a photo of a black cat with big dark green eyes",
        ],
    },
    BuiltInLadder {
        name: "From somebody to a surfer",
        world: World::Photographs,
        rungs: &[
            "somebody",
            "somebody outdoors",
            "a person in the sea",
            "a surfer on a wave",
            "a surfer in a black suit on a big breaking wave",
        ],
    },
    BuiltInLadder {
        name: "From food to one pizza",
        world: World::Photographs,
        rungs: &[
            "food",
            "a meal",
            "a pizza",
            "a pizza with tomatoes",
            "a pizza with tomatoes on a wooden board",
            "a pizza with tomatoes on a wooden board beside a bottle of beer",
        ],
    },
    BuiltInLadder {
        name: "Five words each",
        world: World::Photographs,
        rungs: &[
            "an object in some place",
            "an animal in some room",
            "a dog on the couch",
            "a poodle on the couch",
        ],
    },
];

/// The captions of a ladder, the most general first by their writer's intention.
pub type Ladder = CaptionList<MAX_RUNGS>;

/// Index of the built-in ladder that has these captions.
pub fn built_in_ladder(ladder: &Ladder) -> Option<usize> {
    let is_same = |built_in: &BuiltInLadder| ladder.texts().eq(built_in.rungs.iter().copied());
    BUILT_IN_LADDERS.iter().position(is_same)
}

/// Change of κ from one rung to the next, against what the words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RungStep {
    /// It is the first rung, or numbers are missing.
    Unknown,
    /// κ rises: the caption is more specific to the model, too.
    Narrows,
    /// κ does not rise, although the words say more or their information is unknown.
    Violates,
    /// κ does not rise, and the words say no more either.
    SaysNoMore,
}

/// One rung with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RungView {
    /// The caption.
    pub text: String,
    /// Its numbers, where they are known.
    pub view: Option<CaptionView>,
    /// κ minus κ of the rung above.
    pub change: Option<f64>,
    /// Information of the caption in bits, where the world of drawn scenes understands it.
    pub bits: Option<f64>,
    /// Bits minus the bits of the rung above.
    pub bits_change: Option<f64>,
    /// Change of κ from the rung above.
    pub step: RungStep,
}

/// The rungs with their numbers; `bits` has one entry a rung.
pub fn rung_views(
    texts: &[String],
    bits: &[Option<f64>],
    cache: &ReadingCache,
    family: Family,
) -> Vec<RungView> {
    let views: Vec<Option<CaptionView>> = texts
        .iter()
        .map(|text| cache.caption(text, family))
        .collect();
    let kappa = |i: usize| views[i].as_ref().map(|view| view.concentration);
    let known_bits = |i: usize| bits.get(i).copied().flatten();
    let row = |i: usize| {
        let above = i.checked_sub(1);
        let change = above.and_then(|above| Some(kappa(i)? - kappa(above)?));
        let bits_change = above.and_then(|above| Some(known_bits(i)? - known_bits(above)?));
        RungView {
            text: texts[i].clone(),
            view: views[i].clone(),
            change,
            bits: known_bits(i),
            bits_change,
            step: step(change, bits_change),
        }
    };
    (0..texts.len()).map(row).collect()
}

/// Information of a caption in bits; `None` where the world of drawn scenes does not understand it, or no scene fits.
pub fn bits_of(caption: &str) -> Option<f64> {
    let found = parse(caption).map(|description| information(&description).bits);
    found.filter(|bits| bits.is_finite())
}

fn step(change: Option<f64>, bits_change: Option<f64>) -> RungStep {
    match (change, bits_change) {
        (None, _) => RungStep::Unknown,
        (Some(change), _) if change > 0.0 => RungStep::Narrows,
        (_, Some(bits)) if bits <= 0.0 => RungStep::SaysNoMore,
        _ => RungStep::Violates,
    }
}

/// The step to a rung, such as `✓ narrower by 3.1`; empty without one.
pub fn step_text(rung: &RungView) -> String {
    let Some(change) = rung.change else {
        return String::new();
    };
    let size = three_significant(change.abs());
    match rung.step {
        RungStep::Unknown => String::new(),
        RungStep::Narrows => format!("✓ narrower by {size}"),
        RungStep::Violates if change == 0.0 => "✗ no narrower".into(),
        RungStep::Violates => format!("✗ wider by {size}"),
        RungStep::SaysNoMore if change == 0.0 => "no narrower; the words say no more".into(),
        RungStep::SaysNoMore => format!("wider by {size}; the words say no more"),
    }
}

/// At how many steps κ rises, in one sentence.
pub fn ladder_text(rungs: &[RungView]) -> String {
    let known: Vec<&RungView> = rungs.iter().filter(|rung| rung.change.is_some()).collect();
    if known.is_empty() {
        return "A ladder needs two rungs with numbers.".into();
    }
    let count = |step| known.iter().filter(|rung| rung.step == step).count();
    let n_rising = count(RungStep::Narrows);
    let rises = format!("κ rises at {n_rising} of {} steps", known.len());
    match count(RungStep::Violates) {
        0 => format!("{rises}."),
        1 => format!("{rises}; at one it should and does not."),
        n => format!("{rises}; at {n} it should and does not."),
    }
}

/// κ and percentile of a rung, in a sentence for a screen reader.
pub fn rung_text(rung: &RungView) -> String {
    let Some(view) = &rung.view else {
        return format!("{}: no numbers yet", rung.text);
    };
    let numbers = spoken_numbers(view.concentration, view.percentile);
    format!("{}: {numbers} {}", rung.text, step_text(rung))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::cache_of;

    fn rungs(kappas: &[f64], bits: &[Option<f64>]) -> Vec<RungView> {
        let texts: Vec<String> = (0..kappas.len()).map(|i| format!("rung {i}")).collect();
        let texts_and_kappas = texts.iter().map(String::as_str).zip(kappas.iter().copied());
        let pairs: Vec<(&str, f64)> = texts_and_kappas.collect();
        rung_views(&texts, bits, &cache_of(&pairs), Family::VonMisesFisher)
    }

    #[test]
    fn a_violation_is_shown_and_not_mended() {
        let rungs = rungs(&[1.0, 5.0, 4.0], &[Some(0.0), Some(2.0), Some(4.0)]);
        let steps: Vec<RungStep> = rungs.iter().map(|rung| rung.step).collect();
        let expected = [RungStep::Unknown, RungStep::Narrows, RungStep::Violates];
        assert_eq!(steps, expected, "κ is 1, 5, 4 while the bits rise");
        let expected = "κ rises at 1 of 2 steps; at one it should and does not.";
        assert_eq!(ladder_text(&rungs), expected, "in words");
        assert_eq!(step_text(&rungs[2]), "✗ wider by 1.00", "beside the rung");
    }

    #[test]
    fn words_that_say_no_more_are_no_violation() {
        let rungs = rungs(&[5.0, 4.0], &[Some(3.0), Some(3.0)]);
        assert_eq!(rungs[1].step, RungStep::SaysNoMore, "the bits stay at 3");
        let text = ladder_text(&rungs);
        assert_eq!(text, "κ rises at 0 of 1 steps.", "nothing is blamed");
    }

    #[test]
    fn without_the_worlds_bits_a_falling_kappa_is_a_violation() {
        let rungs = rungs(&[5.0, 4.0], &[None, None]);
        assert_eq!(rungs[1].step, RungStep::Violates, "nobody knows the bits");
        assert_eq!(rungs[1].bits_change, None, "and none are made up");
    }

    #[test]
    fn a_rung_without_numbers_has_no_step() {
        let texts = ["known", "unknown"].map(str::to_owned);
        let cache = cache_of(&[("known", 3.0)]);
        let rungs = rung_views(&texts, &[None, None], &cache, Family::VonMisesFisher);
        assert_eq!(rungs[1].step, RungStep::Unknown, "κ is not there yet");
        let expected = "A ladder needs two rungs with numbers.";
        assert_eq!(ladder_text(&rungs), expected, "one rung is known");
    }

    #[test]
    fn each_rung_about_drawn_scenes_says_more_than_the_one_above() {
        let of_scenes = |ladder: &&BuiltInLadder| ladder.world == World::Scenes;
        for BuiltInLadder { name, rungs, .. } in BUILT_IN_LADDERS.iter().filter(of_scenes) {
            let bits: Vec<Option<f64>> = rungs.iter().map(|rung| bits_of(rung)).collect();
            let is_rising = bits[0].is_some() && bits.is_sorted_by(|a, b| a < b);
            assert!(is_rising, "{name}: the bits were {bits:?}");
        }
    }

    #[test]
    fn a_built_in_ladder_is_known_by_its_words() {
        let mut ladder = Ladder::new(BUILT_IN_LADDERS[2].rungs.iter().copied());
        assert_eq!(built_in_ladder(&ladder), Some(2), "as it comes");
        let key = ladder[0].key;
        ladder.edit(key, "something else".into());
        assert_eq!(built_in_ladder(&ladder), None, "with one word changed");
        let first = built_in_ladder(&Ladder::new(FIRST_OF_SCENES));
        assert_eq!(first, Some(0), "at the start");
    }
}
