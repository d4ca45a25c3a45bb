//! A ladder: captions from the general to the specific, and whether κ rises with each.

use crate::explorer::number::{percent, three_significant};
use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::pair::CaptionView;
use crate::explorer::state::{Caption, Direction, START_CAPTIONS, move_by_one};
use crate::numerics::Family;
use crate::scenes::{information, parse};

/// Rungs at most: more fit neither a screen nor a link.
pub const MAX_RUNGS: usize = 16;

/// A ladder that comes with the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltInLadder {
    /// What it is called.
    pub name: &'static str,
    /// The pictures its words are about: `drawn scenes` or `photographs`.
    pub world: &'static str,
    /// Its captions, the most general first.
    pub rungs: &'static [&'static str],
}

/// The ladders that come with the page; the first is there at the start.
pub const BUILT_IN_LADDERS: [BuiltInLadder; 6] = [
    BuiltInLadder {
        name: "From a picture to two shapes",
        world: "drawn scenes",
        rungs: &START_CAPTIONS,
    },
    BuiltInLadder {
        name: "Where the star stands",
        world: "drawn scenes",
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
        world: "drawn scenes",
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
        world: "drawn scenes",
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
        world: "photographs",
        rungs: &[
            "an animal",
            "a dog",
            "a golden retriever",
            "a golden retriever puppy",
            "a golden retriever puppy on grass",
        ],
    },
    BuiltInLadder {
        name: "A cat with eyes",
        world: "photographs",
        rungs: &[
            "a photo",
            "a photo of a cat",
            "a photo of a black cat",
            "a photo of a black cat with green eyes",
            "a photo of a black cat with big dark green eyes",
        ],
    },
];

/// The rungs of a ladder, in the order shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// The captions, the most general first by their writer's intention.
    pub rungs: Vec<Caption>,
    next_key: u64,
}

impl Default for Ladder {
    fn default() -> Self {
        Self::new(START_CAPTIONS)
    }
}

impl Ladder {
    /// A ladder of these captions, as many as fit.
    pub fn new<'a>(rungs: impl IntoIterator<Item = &'a str>) -> Self {
        let mut ladder = Self {
            rungs: Vec::new(),
            next_key: 1,
        };
        for rung in rungs {
            ladder.add(rung);
        }
        ladder
    }

    /// Adds a rung below the others and returns its key; `None` where the ladder is full.
    pub fn add(&mut self, text: &str) -> Option<u64> {
        if self.rungs.len() >= MAX_RUNGS {
            return None;
        }
        let key = self.next_key;
        self.next_key += 1;
        self.rungs.push(Caption {
            key,
            text: text.to_owned(),
        });
        Some(key)
    }

    /// Changes a rung's words.
    pub fn edit(&mut self, key: u64, text: String) {
        if let Some(rung) = self.rungs.iter_mut().find(|rung| rung.key == key) {
            rung.text = text;
        }
    }

    /// Takes a rung away.
    pub fn remove(&mut self, key: u64) {
        self.rungs.retain(|rung| rung.key != key);
    }

    /// Moves a rung by one; `false` where it already stands at the end.
    pub fn move_rung(&mut self, key: u64, direction: Direction) -> bool {
        move_by_one(&mut self.rungs, key, direction)
    }

    /// The rungs' words, in order.
    pub fn texts(&self) -> Vec<String> {
        self.rungs.iter().map(|rung| rung.text.clone()).collect()
    }

    /// The built-in ladder that this is, by its place among them.
    pub fn built_in(&self) -> Option<usize> {
        let same = |ladder: &BuiltInLadder| {
            let texts = self.rungs.iter().map(|rung| rung.text.as_str());
            texts.eq(ladder.rungs.iter().copied())
        };
        BUILT_IN_LADDERS.iter().position(same)
    }
}

/// What a rung is to the one above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The first rung, or one whose numbers are not all there.
    Unknown,
    /// κ rises: the caption is more specific to the model too.
    Narrows,
    /// κ does not rise although the words say more, or nobody knows whether they do.
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
    /// κ minus that of the rung above.
    pub change: Option<f64>,
    /// Information of the words, where the built-in world understands them.
    pub bits: Option<f64>,
    /// Bits minus those of the rung above.
    pub bits_change: Option<f64>,
    /// What it is to the rung above.
    pub step: Step,
}

/// The rungs with what is known of each; `bits` has one entry for each rung.
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

/// Information of a caption in bits; `None` where the built-in world does not understand it, or no scene fits.
pub fn bits_of(caption: &str) -> Option<f64> {
    let found = parse(caption).map(|description| information(&description).bits);
    found.filter(|bits| bits.is_finite())
}

fn step(change: Option<f64>, bits_change: Option<f64>) -> Step {
    match (change, bits_change) {
        (None, _) => Step::Unknown,
        (Some(change), _) if change > 0.0 => Step::Narrows,
        (_, Some(bits)) if bits <= 0.0 => Step::SaysNoMore,
        _ => Step::Violates,
    }
}

/// A step in words.
pub fn step_text(rung: &RungView) -> String {
    let Some(change) = rung.change else {
        return String::new();
    };
    let size = three_significant(change.abs());
    match rung.step {
        Step::Unknown => String::new(),
        Step::Narrows => format!("✓ narrower by {size}"),
        Step::Violates if change == 0.0 => "✗ no narrower".into(),
        Step::Violates => format!("✗ wider by {size}"),
        Step::SaysNoMore if change == 0.0 => "no narrower; the words say no more".into(),
        Step::SaysNoMore => format!("wider by {size}; the words say no more"),
    }
}

/// The ladder in one sentence.
pub fn ladder_text(rungs: &[RungView]) -> String {
    let known: Vec<&RungView> = rungs.iter().filter(|rung| rung.change.is_some()).collect();
    if known.is_empty() {
        return "A ladder needs two rungs with numbers.".into();
    }
    let n_narrowing = known
        .iter()
        .filter(|rung| rung.step == Step::Narrows)
        .count();
    let n_violations = known
        .iter()
        .filter(|rung| rung.step == Step::Violates)
        .count();
    let rises = format!("κ rises at {n_narrowing} of {} steps", known.len());
    match n_violations {
        0 => format!("{rises}."),
        1 => format!("{rises}; at one it should and does not."),
        n => format!("{rises}; at {n} it should and does not."),
    }
}

/// κ and the percentile of a rung as one sentence for a screen reader.
pub fn rung_text(rung: &RungView) -> String {
    let Some(view) = &rung.view else {
        return format!("{}: no numbers yet", rung.text);
    };
    let kappa = three_significant(view.concentration);
    let share = percent(view.percentile / 100.0);
    let step = step_text(rung);
    format!(
        "{}: kappa {kappa}, vaguer than {share} of the reference captions. {step}",
        rung.text
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::cache_of;

    fn rungs(kappas: &[f64], bits: &[Option<f64>]) -> Vec<RungView> {
        let texts: Vec<String> = (0..kappas.len()).map(|i| format!("rung {i}")).collect();
        let pairs: Vec<(&str, f64)> = texts
            .iter()
            .map(String::as_str)
            .zip(kappas.iter().copied())
            .collect();
        rung_views(&texts, bits, &cache_of(&pairs), Family::VonMisesFisher)
    }

    #[test]
    fn a_violation_is_shown_and_not_mended() {
        let rungs = rungs(&[1.0, 5.0, 4.0], &[Some(0.0), Some(2.0), Some(4.0)]);
        let steps: Vec<Step> = rungs.iter().map(|rung| rung.step).collect();
        assert_eq!(
            steps,
            [Step::Unknown, Step::Narrows, Step::Violates],
            "κ is 1, 5, 4 while the bits rise"
        );
        assert_eq!(
            ladder_text(&rungs),
            "κ rises at 1 of 2 steps; at one it should and does not.",
            "in words"
        );
        assert_eq!(step_text(&rungs[2]), "✗ wider by 1.00", "beside the rung");
    }

    #[test]
    fn words_that_say_no_more_are_no_violation() {
        let rungs = rungs(&[5.0, 4.0], &[Some(3.0), Some(3.0)]);
        assert_eq!(rungs[1].step, Step::SaysNoMore, "the bits stay at 3");
        assert_eq!(
            ladder_text(&rungs),
            "κ rises at 0 of 1 steps.",
            "nothing is blamed"
        );
    }

    #[test]
    fn without_the_worlds_bits_a_falling_kappa_is_a_violation() {
        let rungs = rungs(&[5.0, 4.0], &[None, None]);
        assert_eq!(rungs[1].step, Step::Violates, "nobody knows the bits");
        assert_eq!(rungs[1].bits_change, None, "and none are made up");
    }

    #[test]
    fn a_rung_without_numbers_has_no_step() {
        let texts = ["known", "unknown"].map(str::to_owned);
        let cache = cache_of(&[("known", 3.0)]);
        let rungs = rung_views(&texts, &[None, None], &cache, Family::VonMisesFisher);
        assert_eq!(rungs[1].step, Step::Unknown, "κ is not there yet");
        assert_eq!(
            ladder_text(&rungs),
            "A ladder needs two rungs with numbers.",
            "one rung is known"
        );
    }

    #[test]
    fn each_rung_about_drawn_scenes_says_more_than_the_one_above() {
        for ladder in BUILT_IN_LADDERS
            .iter()
            .filter(|ladder| ladder.world == "drawn scenes")
        {
            let bits: Vec<f64> = ladder
                .rungs
                .iter()
                .map(|rung| {
                    let description =
                        parse(rung).unwrap_or_else(|| panic!("the world has no sentence {rung:?}"));
                    information(&description).bits
                })
                .collect();
            assert!(
                bits.is_sorted_by(|a, b| a < b),
                "{}: the bits were {bits:?}",
                ladder.name
            );
        }
    }

    #[test]
    fn a_built_in_ladder_is_known_by_its_words() {
        let mut ladder = Ladder::new(BUILT_IN_LADDERS[2].rungs.iter().copied());
        assert_eq!(ladder.built_in(), Some(2), "as it comes");
        let key = ladder.rungs[0].key;
        ladder.edit(key, "something else".into());
        assert_eq!(ladder.built_in(), None, "with one word changed");
        assert_eq!(Ladder::default().built_in(), Some(0), "at the start");
    }

    #[test]
    fn a_full_ladder_takes_no_more() {
        let mut ladder = Ladder::new((0..50).map(|_| "x"));
        assert_eq!(ladder.rungs.len(), MAX_RUNGS, "rungs stop at the limit");
        assert_eq!(ladder.add("y"), None, "and one more is refused");
    }
}
