//! The view of a ladder: captions from the general to the specific, and whether κ rises with each.

use crate::explorer::captions::CaptionList;
use crate::explorer::legibility::{Legibility, is_letter};
use crate::explorer::number::{spoken_numbers, three_significant};
use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::caption_view::CaptionView;
use crate::explorer::text::{cut_off_note, view_note};
use crate::explorer::world::{FIRST_OF_PHOTOGRAPHS, FIRST_OF_SCENES, World};
use crate::numerics::Family;
use crate::scenes::{information, parse};

/// Rungs at most: more would fit neither a screen nor a link.
pub const MAX_RUNGS: usize = 16;

/// A ladder that comes with the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInLadder {
    /// Title of the ladder in the menu that offers it.
    pub name: &'static str,
    /// The pictures its captions are about.
    pub world: World,
    /// Captions of the ladder, the most general first.
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

/// Words by which a longer caption need not say more than the one that it holds.
const OPENING_WORDS: [&str; 8] = ["any", "except", "no", "nor", "not", "or", "some", "without"];
/// Bits that are as good as none: those of captions with several objects are sampled.
const FREE_BITS: f64 = 0.1;

/// Information of a rung's words against those of the rung above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InformationOrder {
    More,
    TheSame,
    Less,
    /// Nobody has settled which of the two says more.
    Unsettled,
}

/// Change of κ from one rung to the next, against what the words say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RungStep {
    /// The rung is the first, or numbers are missing.
    Unknown,
    /// One of the two has words that the model has never met, or cannot be read at all.
    Unread,
    /// The words say more, and κ rises.
    Narrows,
    /// The words say less, and κ falls.
    Widens,
    /// The words say more or less, and κ does not follow.
    Violates,
    /// The words say neither more nor less.
    SaysTheSame,
    /// Nobody has settled which of the two says more.
    Unsettled,
}

/// One rung with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RungView {
    /// Text of the caption on this rung.
    pub text: String,
    /// Numbers of the rung, where they are known.
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
    let is_whole = |i: usize| {
        let view = views[i].as_ref();
        view.is_none_or(|view| view.legibility == Legibility::Whole)
    };
    let row = |i: usize| {
        let above = i.checked_sub(1);
        let change = above.and_then(|above| Some(kappa(i)? - kappa(above)?));
        let bits_change = above.and_then(|above| Some(known_bits(i)? - known_bits(above)?));
        let step = match above.zip(change) {
            None => RungStep::Unknown,
            Some((above, _)) if !is_whole(i) || !is_whole(above) => RungStep::Unread,
            Some((above, change)) => {
                let by_text = || order_by_text(&texts[above], &texts[i]);
                step(change, bits_change.map_or_else(by_text, order_by_bits))
            }
        };
        RungView {
            text: texts[i].clone(),
            view: views[i].clone(),
            change,
            bits: known_bits(i),
            bits_change,
            step,
        }
    };
    (0..texts.len()).map(row).collect()
}

/// Information of a caption in bits; `None` where the world of drawn scenes does not understand it, or no scene fits.
pub fn bits_of(caption: &str) -> Option<f64> {
    let found = parse(caption).map(|description| information(&description).bits);
    found.filter(|bits| bits.is_finite())
}

fn order_by_bits(change: f64) -> InformationOrder {
    match change {
        change if change > FREE_BITS => InformationOrder::More,
        change if change < -FREE_BITS => InformationOrder::Less,
        _ => InformationOrder::TheSame,
    }
}

/// Order of two rungs by their text alone: a rung that holds the words of another says more, as does a later one of a
/// ladder that was written so.
fn order_by_text(above: &str, below: &str) -> InformationOrder {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c| !is_letter(c));
        let articles = ["", "a", "an", "the"];
        words
            .map(str::to_lowercase)
            .filter(|word| !articles.contains(&word.as_str()))
            .collect()
    };
    let [upper, lower] = [above, below].map(words);
    let holds =
        |longer: &[String], shorter: &[String]| shorter.iter().all(|word| longer.contains(word));
    let adds = |longer: &[String], shorter: &[String]| {
        let mut added = longer.iter().filter(|word| !shorter.contains(word));
        holds(longer, shorter) && !added.any(|word| OPENING_WORDS.contains(&word.as_str()))
    };
    let is_written_so = |first: &str, then: &str| {
        BUILT_IN_LADDERS.iter().any(|ladder| {
            let place = |text: &str| ladder.rungs.iter().position(|rung| *rung == text);
            place(first)
                .zip(place(then))
                .is_some_and(|(first, then)| first < then)
        })
    };
    match () {
        () if holds(&upper, &lower) && holds(&lower, &upper) => InformationOrder::TheSame,
        () if adds(&lower, &upper) || is_written_so(above, below) => InformationOrder::More,
        () if adds(&upper, &lower) || is_written_so(below, above) => InformationOrder::Less,
        () => InformationOrder::Unsettled,
    }
}

fn step(change: f64, order: InformationOrder) -> RungStep {
    match order {
        InformationOrder::More if change > 0.0 => RungStep::Narrows,
        InformationOrder::Less if change < 0.0 => RungStep::Widens,
        InformationOrder::More | InformationOrder::Less => RungStep::Violates,
        InformationOrder::TheSame => RungStep::SaysTheSame,
        InformationOrder::Unsettled => RungStep::Unsettled,
    }
}

/// The step to a rung, such as `✓ narrower by 3.1`; empty without one. What was cut off comes first, then what the
/// model could not read and what was probably meant.
pub fn step_text(rung: &RungView) -> String {
    let cut_off = cut_off_note(&rung.text).to_owned();
    let note = rung.view.as_ref().map(view_note).unwrap_or_default();
    [cut_off, note, judged_step(rung)].concat()
}

/// The step without notes; empty for a rung that is not wholly read.
fn judged_step(rung: &RungView) -> String {
    let is_whole = |view: &CaptionView| view.legibility == Legibility::Whole;
    let is_judged = rung.view.as_ref().is_none_or(is_whole);
    let Some(change) = rung.change.filter(|_| is_judged) else {
        return String::new();
    };
    let moved = match change {
        change if change > 0.0 => format!("narrower by {}", three_significant(change)),
        change if change < 0.0 => format!("wider by {}", three_significant(-change)),
        _ => "no narrower".into(),
    };
    match rung.step {
        RungStep::Unknown => String::new(),
        RungStep::Unread => "not judged: the rung above is not wholly read".into(),
        RungStep::Narrows => format!("✓ {moved}"),
        RungStep::Widens => "✓ less specific, as it should be".into(),
        RungStep::Violates => format!("✗ {moved}"),
        RungStep::SaysTheSame => format!("{moved}; the words say the same"),
        RungStep::Unsettled => format!("{moved}; which says more is not known"),
    }
}

/// Sentence that says at how many steps κ follows the words.
pub fn ladder_text(rungs: &[RungView]) -> String {
    if !rungs.iter().any(|rung| rung.change.is_some()) {
        return "A ladder needs two rungs with numbers.".into();
    }
    let count = |step| rungs.iter().filter(|rung| rung.step == step).count();
    let n_right = count(RungStep::Narrows) + count(RungStep::Widens);
    let n_judged = n_right + count(RungStep::Violates);
    let n_others = rungs.iter().filter(|rung| rung.change.is_some()).count() - n_judged;
    let others = match n_others {
        0 => String::new(),
        1 => " One step is not judged.".into(),
        n => format!(" {n} steps are not judged."),
    };
    match n_judged {
        0 => others.trim_start().to_owned(),
        n => format!("κ follows the words at {n_right} of {n} steps.{others}"),
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
    use crate::explorer::readings::cache::tests::{answer_of, cache_of, cache_with};
    use crate::explorer::views::learn::tests::recorded_of;
    use crate::protocol::MAX_CAPTION_CHARACTERS;

    fn rungs(kappas: &[f64], bits: &[Option<f64>]) -> Vec<RungView> {
        let texts: Vec<String> = (0..kappas.len()).map(|i| format!("rung {i}")).collect();
        let texts_and_kappas = texts.iter().map(String::as_str).zip(kappas.iter().copied());
        let pairs: Vec<(&str, f64)> = texts_and_kappas.collect();
        rung_views(&texts, bits, &cache_of(&pairs), Family::VonMisesFisher)
    }

    fn steps(rungs: &[RungView]) -> Vec<RungStep> {
        rungs.iter().map(|rung| rung.step).collect()
    }

    #[test]
    fn a_violation_is_shown_and_not_mended() {
        let rungs = rungs(&[1.0, 5.0, 4.0], &[Some(0.0), Some(2.0), Some(4.0)]);
        let expected = [RungStep::Unknown, RungStep::Narrows, RungStep::Violates];
        assert_eq!(steps(&rungs), expected, "κ is 1, 5, 4 while the bits rise");
        let expected = "κ follows the words at 1 of 2 steps.";
        assert_eq!(ladder_text(&rungs), expected, "in words");
        assert_eq!(step_text(&rungs[2]), "✗ wider by 1.00", "beside the rung");
    }

    #[test]
    fn words_that_say_the_same_or_less_are_never_narrower() {
        let bits = [3.0, 3.0, 3.05, 1.0, 0.5].map(Some);
        let rungs = rungs(&[4.0, 5.0, 6.0, 2.0, 3.0], &bits);
        let expected = [
            RungStep::Unknown,
            RungStep::SaysTheSame,
            RungStep::SaysTheSame,
            RungStep::Widens,
            RungStep::Violates,
        ];
        assert_eq!(steps(&rungs), expected, "the bits stay at 3 and fall");
        assert_eq!(
            step_text(&rungs[1]),
            "narrower by 1.00; the words say the same",
            "no tick"
        );
        assert_eq!(
            step_text(&rungs[3]),
            "✓ less specific, as it should be",
            "κ falls rightly"
        );
        assert_eq!(
            step_text(&rungs[4]),
            "✗ narrower by 1.00",
            "κ rises wrongly"
        );
        let text = ladder_text(&rungs);
        let expected = "κ follows the words at 1 of 2 steps. 2 steps are not judged.";
        assert_eq!(text, expected, "two say the same");
    }

    #[test]
    fn a_rung_with_words_that_the_model_has_never_met_is_not_judged() {
        let texts = ["an animal", "a puppy"].map(str::to_owned);
        let mut answer = answer_of(&[("an animal", 1.2), ("a puppy", 1.4)], &[], &[]);
        for (reading, word) in answer.captions.iter_mut().zip(["animal", "puppy"]) {
            reading.unknown_words = vec![word.to_owned()];
        }
        let rungs = rung_views(&texts, &[], &cache_with(&answer), Family::VonMisesFisher);
        assert_eq!(rungs[1].step, RungStep::Unread, "κ rises by 0.2");
        assert!(
            !step_text(&rungs[1]).contains('✓'),
            "{}",
            step_text(&rungs[1])
        );
        assert_eq!(
            ladder_text(&rungs),
            "One step is not judged.",
            "nothing is claimed"
        );
    }

    #[test]
    fn a_rung_that_lost_its_end_says_so_before_its_step() {
        let full = "a".repeat(MAX_CAPTION_CHARACTERS);
        let texts = ["a", &full[1..], &full].map(str::to_owned);
        let pairs = [(&*texts[0], 1.0), (&texts[1], 2.0), (&texts[2], 3.0)];
        let cache = cache_of(&pairs);
        let rungs = rung_views(&texts, &[], &cache, Family::VonMisesFisher);
        let [_, whole, cut] = &rungs[..] else {
            panic!("three rungs: {rungs:?}");
        };
        let says = |rung| step_text(rung).contains("2,000 characters");
        assert!(!says(whole), "one less is whole: {}", step_text(whole));
        assert!(says(cut), "the step was: {}", step_text(cut));
        assert!(step_text(cut).contains("narrower by 1.00"), "and its step");
    }

    #[test]
    fn where_nobody_has_counted_the_words_are_compared() {
        for (above, below, expected) in [
            ("a dog", "a brown dog", InformationOrder::More),
            ("a brown dog", "the dog", InformationOrder::Less),
            ("a dog", "no dog", InformationOrder::Unsettled),
            ("a dog", "a dog or a cat", InformationOrder::Unsettled),
            ("a dog", "A dog.", InformationOrder::TheSame),
            ("a cow", "a red fire engine", InformationOrder::Unsettled),
            ("an animal", "a golden retriever", InformationOrder::More),
        ] {
            assert_eq!(order_by_text(above, below), expected, "{above} → {below}");
        }
        let rungs = rungs(&[5.0, 4.0], &[None, None]);
        assert_eq!(rungs[1].step, RungStep::Unsettled, "“rung 0” → “rung 1”");
        let expected = "wider by 1.00; which says more is not known";
        assert_eq!(step_text(&rungs[1]), expected, "no claim beyond κ");
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
    fn every_built_in_ladder_is_recorded() {
        for ladder in BUILT_IN_LADDERS {
            let (_, cache) = recorded_of(ladder.world);
            for rung in ladder.rungs {
                for family in Family::ALL {
                    let view = cache.caption(rung, family);
                    assert!(view.is_some(), "{}: {rung:?} is not", ladder.name);
                }
            }
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
