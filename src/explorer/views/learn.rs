//! The views of learning: tour, lessons and failures of κ, which were written by hand, and how guesses are judged.
//!
//! The texts hold no numbers; those come from the model at work.

use std::cmp::Ordering;

use serde::Deserialize;

use crate::explorer::number::three_significant;
use crate::explorer::readings::cache::ReadingCache;
use crate::numerics::Family;

/// The texts of `lessons.json`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Lessons {
    /// Steps of the tour.
    pub tour: Vec<TourStep>,
    /// The lessons.
    pub lessons: Vec<Lesson>,
    /// Kinds of captions whose κ misleads.
    pub failures: Vec<KappaFailure>,
}

/// One step of the tour, shown beside the view that it is about.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TourStep {
    /// Its title.
    pub title: String,
    /// What to look at and what to do.
    pub text: String,
    /// Link of the page that it opens, without `#`.
    pub link: String,
}

/// A lesson, for one visitor or for a class.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Lesson {
    /// Its title.
    pub title: String,
    /// Its subject in a sentence.
    pub about: String,
    /// Link of the class's page, without `#`.
    pub link: String,
    /// Duration in class, in minutes.
    pub minutes: u32,
    /// Notes for the teacher.
    pub notes: Vec<String>,
    /// Questions that are asked before anything is shown.
    pub questions: Vec<LessonQuestion>,
    /// Questions to talk about, without an answer key.
    pub open: Vec<String>,
}

/// A question about κ of some captions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LessonQuestion {
    /// The captions, in the order in which they are offered; of two the vaguer one is chosen, more are put in order.
    pub captions: Vec<String>,
    /// Explanation that is shown with the answer.
    pub why: String,
    /// The captions in the order that their words make certain, each true of every picture of the next; empty where
    /// they make none certain.
    #[serde(default)]
    pub truth: Vec<String>,
}

/// A kind of caption whose κ misleads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct KappaFailure {
    /// Title of the kind.
    pub name: String,
    /// The captions.
    pub captions: Vec<String>,
    /// Explanation of what goes wrong.
    pub why: String,
}

impl Lessons {
    /// Captions of lessons and failures.
    pub fn captions(&self) -> impl Iterator<Item = String> {
        let asked = self.lessons.iter().flat_map(Lesson::captions);
        let failures = self.failures.iter();
        asked.chain(failures.flat_map(|failure| failure.captions.iter().cloned()))
    }
}

impl LessonQuestion {
    /// The question's text.
    pub fn ask(&self) -> &'static str {
        match self.captions.len() {
            2 => "Which caption is vaguer?",
            _ if !self.truth.is_empty() => {
                "Beat the model: put these captions in order, the vaguest first."
            }
            _ => "Put these captions in order, the vaguest first.",
        }
    }

    /// The captions with their κ from the least to the greatest, where all are known.
    pub fn answer(&self, cache: &ReadingCache, family: Family) -> Option<Vec<(String, f64)>> {
        let kappa = |caption: &String| {
            let view = cache.caption(caption, family)?;
            Some((caption.clone(), view.concentration))
        };
        let mut known: Vec<(String, f64)> =
            self.captions.iter().map(kappa).collect::<Option<_>>()?;
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some(known)
    }

    /// Pairs of neighbours in a guessed order that the words order alike, or κ where they are not certain; and pairs in
    /// all.
    pub fn judge(
        &self,
        guess: &[String],
        cache: &ReadingCache,
        family: Family,
    ) -> Option<(usize, usize)> {
        let by_model = self.order_of_model(cache, family)?;
        let right = match self.truth.as_slice() {
            [] => &by_model,
            truth => truth,
        };
        Some((n_in_order(guess, right), guess.len().saturating_sub(1)))
    }

    /// How a guess that is judged stands against the model, in a sentence; `None` where the words make no order certain.
    pub fn contest(
        &self,
        guess: &[String],
        cache: &ReadingCache,
        family: Family,
    ) -> Option<String> {
        if self.truth.is_empty() {
            return None;
        }
        let n = guess.len().saturating_sub(1);
        let own = n_in_order(guess, &self.truth);
        let model = n_in_order(&self.order_of_model(cache, family)?, &self.truth);
        let end = match own.cmp(&model) {
            Ordering::Greater => "you have beaten it",
            Ordering::Equal => "a draw",
            Ordering::Less => "it has beaten you",
        };
        Some(format!(
            "By the words themselves {own} of your {n} steps are right, and {model} of the model’s: {end}."
        ))
    }

    /// The captions from the least κ to the greatest.
    fn order_of_model(&self, cache: &ReadingCache, family: Family) -> Option<Vec<String>> {
        let answer = self.answer(cache, family)?;
        Some(answer.into_iter().map(|(caption, _)| caption).collect())
    }
}

/// Pairs of neighbours that stand in another order as they do in this one.
fn n_in_order(captions: &[String], right: &[String]) -> usize {
    let rank = |caption: &String| right.iter().position(|known| known == caption);
    let pairs = captions.windows(2);
    pairs.filter(|pair| rank(&pair[0]) < rank(&pair[1])).count()
}

impl Lesson {
    /// Captions of its questions.
    pub fn captions(&self) -> impl Iterator<Item = String> {
        let questions = self.questions.iter();
        questions.flat_map(|question| question.captions.iter().cloned())
    }
}

/// An answer in a line, each caption with its κ, the vaguest first.
pub fn answer_text(answer: &[(String, f64)]) -> String {
    let captions = answer.iter();
    let captions =
        captions.map(|(caption, kappa)| format!("“{caption}” (κ {})", three_significant(*kappa)));
    captions.collect::<Vec<_>>().join(" < ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explorer::link::{decode, encode};
    use crate::explorer::readings::cache::tests::cache_of;
    use crate::explorer::views::View;
    use crate::explorer::world::World;

    /// The lessons of each world.
    fn shipped() -> [(World, Lessons); 2] {
        let read = |text| serde_json::from_str(text).expect("the file is ours");
        let scenes = include_str!("../../../public/lessons.json");
        let photographs = include_str!("../../../public/lessons-photos.json");
        [
            (World::Scenes, read(scenes)),
            (World::Photographs, read(photographs)),
        ]
    }

    fn question(captions: &[&str]) -> LessonQuestion {
        LessonQuestion {
            captions: captions.iter().map(|&caption| caption.to_owned()).collect(),
            why: String::new(),
            truth: Vec::new(),
        }
    }

    #[test]
    fn a_guess_is_judged_by_its_neighbours() {
        let cache = cache_of(&[("a", 1.0), ("b", 2.0), ("c", 3.0)]);
        let question = question(&["b", "a", "c"]);
        let judge = |guess: [&str; 3]| {
            let guess = guess.map(str::to_owned);
            question.judge(&guess, &cache, Family::VonMisesFisher)
        };
        assert_eq!(judge(["a", "b", "c"]), Some((2, 2)), "all right");
        assert_eq!(judge(["b", "a", "c"]), Some((1, 2)), "two are exchanged");
        assert_eq!(judge(["c", "b", "a"]), Some((0, 2)), "all wrong");
    }

    #[test]
    fn where_the_words_are_certain_they_judge_the_model_too() {
        let cache = cache_of(&[("a", 2.0), ("b", 1.0), ("c", 3.0)]);
        let mut question = question(&["b", "a", "c"]);
        question.truth = ["a", "b", "c"].map(str::to_owned).to_vec();
        let guess = ["a", "b", "c"].map(str::to_owned);
        let family = Family::VonMisesFisher;
        assert_eq!(
            question.judge(&guess, &cache, family),
            Some((2, 2)),
            "right"
        );
        let words = question.contest(&guess, &cache, family);
        let expected = "By the words themselves 2 of your 2 steps are right, and 1 of the model’s: you have beaten it.";
        assert_eq!(words.as_deref(), Some(expected), "the model errs once");
    }

    #[test]
    fn nothing_is_judged_before_all_is_known() {
        let cache = cache_of(&[("a", 1.0)]);
        let question = question(&["a", "b"]);
        let answer = question.answer(&cache, Family::VonMisesFisher);
        assert_eq!(answer, None, "b is not known");
    }

    #[test]
    fn an_answer_goes_from_the_vaguest_on() {
        let cache = cache_of(&[("a", 4.0), ("b", 2.0)]);
        let answer = question(&["a", "b"]).answer(&cache, Family::VonMisesFisher);
        let line = answer_text(&answer.expect("both are known"));
        assert_eq!(line, "“b” (κ 2.00) < “a” (κ 4.00)", "with their numbers");
    }

    #[test]
    fn every_link_of_the_lessons_is_one_of_the_page() {
        for (world, Lessons { tour, lessons, .. }) in shipped() {
            let links = tour.iter().map(|step| &step.link);
            for link in links.chain(lessons.iter().map(|lesson| &lesson.link)) {
                let (state, _) = decode(link).unwrap_or_else(|| panic!("no page: {link}"));
                assert_eq!(&encode(&state), link, "nothing in it is passed over");
                assert_eq!(state.model.built_in(), Some(world), "of its world: {link}");
            }
        }
    }

    #[test]
    fn the_tour_visits_every_view_to_see_and_to_understand() {
        for (world, lessons) in shipped() {
            let visited: Vec<View> = lessons
                .tour
                .iter()
                .filter_map(|step| Some(decode(&step.link)?.0.view))
                .collect();
            let is_possible = |view: &View| world.has_known_truth() || !view.needs_known_truth();
            let views = View::ALL.into_iter().filter(is_possible);
            for view in views.filter(|view| view.group() != "Check") {
                assert!(visited.contains(&view), "{view:?} is not among {visited:?}");
            }
        }
    }

    #[test]
    fn every_question_has_two_captions_or_an_order() {
        for lesson in shipped().into_iter().flat_map(|(_, of)| of.lessons) {
            assert!(!lesson.notes.is_empty(), "{}: no notes", lesson.title);
            for LessonQuestion {
                captions, truth, ..
            } in lesson.questions
            {
                let different = captions.iter().collect::<BTreeSet<_>>();
                assert!(different.len() > 1, "{captions:?}");
                assert_eq!(different.len(), captions.len(), "{captions:?}: each once");
                let ordered = truth.iter().collect::<BTreeSet<_>>();
                assert!(truth.is_empty() || ordered == different, "{truth:?}");
                assert!(truth.is_empty() || truth != captions, "{truth:?}: told");
            }
        }
    }
}
