//! The views of learning: tour, lessons and failures of κ, which were written by hand, and how guesses are judged.
//!
//! The texts hold no numbers; those come from the model at work.

use std::cmp::Ordering;

use serde::Deserialize;

use crate::explorer::number::three_significant;
use crate::explorer::readings::cache::ReadingCache;
use crate::numerics::Family;

/// Pictures of the gallery that a worksheet shows with numbers.
pub const N_NUMBERED: usize = 6;

/// The texts of `lessons.json`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Lessons {
    /// Steps of the tour.
    pub tour: Vec<TourStep>,
    /// Lessons in the order offered; a place in it, from 0, names one.
    pub lessons: Vec<Lesson>,
    /// The argument for a spread of captions and none of pictures, step by step.
    pub asymmetry: Vec<CaptionExamples>,
    /// Kinds of captions whose κ misleads.
    pub failures: Vec<CaptionExamples>,
}

/// One step of the tour, shown beside the view that it is about.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TourStep {
    /// Title of the step, shown above its text.
    pub title: String,
    /// Text of the step: where to look and what to do.
    pub text: String,
    /// Link of the page that it opens, without `#`.
    pub link: String,
    /// Selector of the part of the page that it speaks of.
    pub about: String,
}

/// A lesson, for one visitor or for a class.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Lesson {
    /// Title of the lesson, by which it is chosen.
    pub title: String,
    /// Subject of the lesson in a sentence.
    pub about: String,
    /// Link of the class's page, without `#`.
    pub link: String,
    /// Duration in class, in minutes.
    pub minutes: u32,
    /// Notes for the teacher.
    pub notes: Vec<String>,
    /// Questions that are asked before anything is shown.
    pub questions: Vec<LessonQuestion>,
    /// Questions to talk about, each with an answer for the key.
    pub open: Vec<[String; 2]>,
    /// Captions to be matched with the first pictures of the gallery, on paper.
    #[serde(default)]
    pub pictures: Vec<LessonPicture>,
    /// Words that the lesson needs, each with a sentence.
    #[serde(default)]
    pub words: Vec<[String; 2]>,
}

/// A caption, and which of the numbered pictures it could mean.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LessonPicture {
    /// The words that are asked about.
    pub caption: String,
    /// Numbers of the pictures that fit, from 1.
    pub fits: Vec<usize>,
}

/// A question about κ of some captions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LessonQuestion {
    /// The captions, in the order in which they are offered; of two the vaguer one is chosen, more are put in order.
    pub captions: Vec<String>,
    /// Explanation that is shown with the answer.
    pub why: String,
    /// The captions as people who know what the words mean put them, the vaguest first; those of one group are alike.
    pub truth: Vec<Vec<String>>,
}

/// Captions that show something about κ.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CaptionExamples {
    /// Title of what they show.
    pub name: String,
    /// The captions, shown with the κ that the model gives.
    pub captions: Vec<String>,
    /// Explanation of what is seen in the numbers, or goes wrong in them.
    pub why: String,
}

impl Lessons {
    /// Captions of lessons, argument and failures.
    pub fn captions(&self) -> impl Iterator<Item = String> {
        let asked = self.lessons.iter().flat_map(Lesson::captions);
        let examples = self.asymmetry.iter().chain(&self.failures);
        asked.chain(examples.flat_map(|examples| examples.captions.iter().cloned()))
    }
}

impl LessonQuestion {
    /// Wording of the question: which of two captions is vaguer, or how more are ordered.
    pub fn ask(&self) -> &'static str {
        match self.captions.len() {
            2 => "Which caption is vaguer?",
            _ => "Put these captions in order, the vaguest first.",
        }
    }

    /// The captions with their κ from the least to the greatest, and last those that the model cannot read, without
    /// it; `None` before all are known.
    pub fn answer(
        &self,
        cache: &ReadingCache,
        family: Family,
    ) -> Option<Vec<(String, Option<f64>)>> {
        let kappa = |caption: &String| {
            let view = cache.caption(caption, family)?;
            let kappa = (!view.is_unread()).then_some(view.concentration);
            Some((caption.clone(), kappa))
        };
        let mut known: Vec<(String, Option<f64>)> =
            self.captions.iter().map(kappa).collect::<Option<_>>()?;
        let place = |kappa: Option<f64>| kappa.unwrap_or(f64::INFINITY);
        known.sort_by(|a, b| place(a.1).total_cmp(&place(b.1)));
        Some(known)
    }

    /// Pairs of neighbours in a guessed order that stand as their words do, and pairs in all.
    pub fn judge(&self, guess: &[String]) -> (usize, usize) {
        let n_right = guess
            .windows(2)
            .filter(|pair| self.is_in_order(pair))
            .count();
        (n_right, guess.len().saturating_sub(1))
    }

    /// Verdict on a guess by the words, and on the model where it errs; `None` while its numbers are missing.
    pub fn verdict(
        &self,
        guess: &[String],
        cache: &ReadingCache,
        family: Family,
    ) -> Option<String> {
        let answer = self.answer(cache, family)?;
        let [read, unread] = parted(&answer).map(|part| {
            let captions = part.iter().map(|(caption, _)| caption.clone());
            captions.collect::<Vec<_>>()
        });
        let guessed = match self.judge(guess) {
            _ if self.truth.len() == 1 => "Either answer is right: the words say the same.".into(),
            (1, 1) => "Right.".to_owned(),
            (0, 1) => "By their words it is the other way round.".into(),
            (n_right, n) if !unread.is_empty() => {
                format!("{n_right} of your {n} steps are right.")
            }
            (n_right, n) => contest(n_right, self.judge(&read).0, n),
        };
        Some(format!(
            "{guessed} {}",
            self.errors_of_model(&read, &unread)
        ))
    }

    /// Errors in the model's order of the captions that it can read, against that of the words.
    fn errors_of_model(&self, read: &[String], unread: &[String]) -> String {
        let errors = read.windows(2).filter(|pair| !self.is_in_order(pair));
        let errors = errors.map(|pair| format!("it finds “{}” vaguer than “{}”", pair[0], pair[1]));
        let unread = unread
            .iter()
            .map(|caption| format!("it cannot read “{caption}”"));
        let faults: Vec<String> = unread.chain(errors).collect();
        match faults.len() {
            0 if self.truth.len() == 2 => "The model says the same.".into(),
            0 => "The model has no step wrong.".into(),
            _ => format!("The model errs: {}.", faults.join(", and ")),
        }
    }

    /// Whether the second of two captions says at least as much as the first.
    fn is_in_order(&self, pair: &[String]) -> bool {
        let rank = |caption: &String| self.truth.iter().position(|group| group.contains(caption));
        rank(&pair[0]) <= rank(&pair[1])
    }
}

/// Comparison of the right steps of a visitor and of the model.
fn contest(own: usize, model: usize, n: usize) -> String {
    let end = match own.cmp(&model) {
        Ordering::Greater => "you have beaten it",
        Ordering::Equal => "a draw",
        Ordering::Less => "it has beaten you",
    };
    format!("{own} of your {n} steps are right, and {model} of the model’s: {end}.")
}

impl Lesson {
    /// Plan of its minutes: a fifth to begin, two to answer, one to look and one to talk.
    #[must_use]
    pub fn plan(&self) -> String {
        let fifth = self.minutes.div_ceil(5);
        format!(
            "A plan: {fifth} minutes to say what “vague” means, {} to answer on paper, {fifth} to see what the model \
             says, {} to talk about the open questions.",
            2 * fifth,
            self.minutes.saturating_sub(4 * fifth).max(1)
        )
    }

    /// Neighbours in the orders that it asks for.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        let n_captions = self
            .questions
            .iter()
            .map(|question| question.captions.len());
        n_captions.sum::<usize>() - self.questions.len()
    }

    /// Captions of its questions.
    pub fn captions(&self) -> impl Iterator<Item = String> {
        let questions = self.questions.iter();
        questions.flat_map(|question| question.captions.iter().cloned())
    }
}

/// The right order in a line, the vaguest first.
pub fn truth_text(question: &LessonQuestion) -> String {
    let group = |group: &Vec<String>| {
        let captions = group.iter().map(|caption| format!("“{caption}”"));
        captions.collect::<Vec<_>>().join(" = ")
    };
    let groups = question.truth.iter().map(group);
    groups.collect::<Vec<_>>().join(" < ")
}

/// The captions of an answer that the model can read, and the others.
fn parted(answer: &[(String, Option<f64>)]) -> [&[(String, Option<f64>)]; 2] {
    let n_read = answer.partition_point(|(_, kappa)| kappa.is_some());
    answer.split_at(n_read).into()
}

/// The model's answer in a line: the captions that it can read, the vaguest first, then their κ, then the others.
pub fn answer_texts(answer: &[(String, Option<f64>)]) -> [String; 3] {
    let [read, unread] = parted(answer);
    let captions = read.iter().map(|(caption, _)| format!("“{caption}”"));
    let numbers = read
        .iter()
        .filter_map(|(_, kappa)| kappa.map(three_significant));
    let unread = unread
        .iter()
        .map(|(caption, _)| format!(", “{caption}” (not read)"));
    [
        captions.collect::<Vec<_>>().join(" < "),
        format!(" (κ {})", numbers.collect::<Vec<_>>().join(", ")),
        unread.collect(),
    ]
}

impl LessonPicture {
    /// The numbers of the pictures that the caption could mean, for the key.
    #[must_use]
    pub fn answer(&self) -> String {
        let numbers = self.fits.iter().map(usize::to_string);
        format!(
            "“{}”: {}",
            self.caption,
            numbers.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
pub(in crate::explorer) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explorer::link::{decode, encode};
    use crate::explorer::locks::{Access, PageControl};
    use crate::explorer::readings::cache::AnswerSource;
    use crate::explorer::readings::cache::tests::{answer_of, cache_of, cache_with};
    use crate::explorer::readings::matrix::Readings;
    use crate::explorer::readings::snapshot::Snapshot;
    use crate::explorer::text::rank_text;
    use crate::explorer::views::View;
    use crate::explorer::views::ladder::bits_of;
    use crate::explorer::views::studio::drawing::Drawing;
    use crate::explorer::wall::fitting_scenes;
    use crate::explorer::world::World;
    use crate::protocol::{Answer, CaptionReading, RecordedAnswer};
    use crate::report::GalleryEntry;
    use crate::scenes::description::{Claim, Description, ObjectDescription};
    use crate::scenes::parse;
    use crate::scenes::scene::{Colour, Ground, Light, Object, Scene, Shape, Size, Texture};

    /// The lessons of each world.
    pub(in crate::explorer) fn shipped() -> [(World, Lessons); 2] {
        let read = |text| serde_json::from_str(text).expect("the file is ours");
        let scenes = include_str!("../../../public/lessons.json");
        let photographs = include_str!("../../../public/lessons-photos.json");
        [
            (World::Scenes, read(scenes)),
            (World::Photographs, read(photographs)),
        ]
    }

    /// A question whose captions are offered in an order of their own.
    fn question(captions: &[&str], truth: &[&[&str]]) -> LessonQuestion {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        LessonQuestion {
            captions: owned(captions),
            why: String::new(),
            truth: truth.iter().map(|group| owned(group)).collect(),
        }
    }

    #[test]
    fn a_guess_is_judged_by_the_words_and_not_by_the_model() {
        let cache = cache_of(&[("a", 2.0), ("b", 1.0), ("c", 3.0)]);
        let question = question(&["b", "a", "c"], &[&["a"], &["b"], &["c"]]);
        let guess = |guess: [&str; 3]| guess.map(str::to_owned);
        assert_eq!(question.judge(&guess(["a", "b", "c"])), (2, 2), "all right");
        assert_eq!(question.judge(&guess(["b", "a", "c"])), (1, 2), "exchanged");
        let verdict = question.verdict(&guess(["a", "b", "c"]), &cache, Family::VonMisesFisher);
        let expected = "2 of your 2 steps are right, and 1 of the model’s: you have beaten it. \
            The model errs: it finds “b” vaguer than “a”.";
        assert_eq!(verdict.as_deref(), Some(expected), "the model errs once");
    }

    #[test]
    fn of_two_captions_the_model_says_the_same_or_errs() {
        let question = question(&["a", "b"], &[&["a"], &["b"]]);
        let guess = ["a", "b"].map(str::to_owned);
        for (kappas, expected) in [
            ([1.0, 2.0], "Right. The model says the same."),
            (
                [2.0, 1.0],
                "Right. The model errs: it finds “b” vaguer than “a”.",
            ),
        ] {
            let cache = cache_of(&[("a", kappas[0]), ("b", kappas[1])]);
            let verdict = question.verdict(&guess, &cache, Family::VonMisesFisher);
            assert_eq!(verdict.as_deref(), Some(expected), "{kappas:?}");
        }
    }

    #[test]
    fn of_captions_that_say_the_same_either_answer_is_right() {
        let cache = cache_of(&[("a", 2.0), ("b", 1.0)]);
        let question = question(&["a", "b"], &[&["a", "b"]]);
        for guess in [["a", "b"], ["b", "a"]].map(|guess| guess.map(str::to_owned)) {
            assert_eq!(question.judge(&guess), (1, 1), "{guess:?}");
            let verdict = question.verdict(&guess, &cache, Family::VonMisesFisher);
            let expected =
                "Either answer is right: the words say the same. The model has no step wrong.";
            assert_eq!(verdict.as_deref(), Some(expected), "{guess:?}");
        }
        assert_eq!(truth_text(&question), "“a” = “b”", "for the key");
    }

    #[test]
    fn what_the_model_cannot_read_is_its_error_and_nobody_elses() {
        let mut answer = answer_of(&[("something red", 5.0), ("a puppy", 1.4)], &[], &[]);
        answer.captions[1].unknown_words = vec!["puppy".into()];
        let question = question(
            &["something red", "a puppy"],
            &[&["something red"], &["a puppy"]],
        );
        let guess = ["something red", "a puppy"].map(str::to_owned);
        let verdict = question.verdict(&guess, &cache_with(&answer), Family::VonMisesFisher);
        let expected = "Right. The model errs: it cannot read “a puppy”.";
        assert_eq!(verdict.as_deref(), Some(expected), "its κ is the lower one");
    }

    #[test]
    fn a_plan_takes_the_minutes_of_its_lesson() {
        for lesson in shipped().into_iter().flat_map(|(_, of)| of.lessons) {
            let plan = lesson.plan();
            let numbers = plan
                .split_whitespace()
                .filter_map(|word| word.parse::<u32>().ok());
            assert_eq!(numbers.sum::<u32>(), lesson.minutes, "{plan}");
        }
    }

    #[test]
    fn nothing_is_judged_before_all_is_known() {
        let cache = cache_of(&[("a", 1.0)]);
        let question = question(&["a", "b"], &[&["a"], &["b"]]);
        let answer = question.answer(&cache, Family::VonMisesFisher);
        assert_eq!(answer, None, "b is not known");
    }

    #[test]
    fn an_answer_goes_from_the_vaguest_on() {
        let cache = cache_of(&[("a", 4.0), ("b", 2.0)]);
        let answer = question(&["a", "b"], &[]).answer(&cache, Family::VonMisesFisher);
        let texts = answer_texts(&answer.expect("both are known"));
        assert_eq!(texts, ["“b” < “a”", " (κ 2.00, 4.00)", ""], "in its order");
    }

    #[test]
    fn what_the_model_cannot_read_stands_last_and_has_no_kappa() {
        let kappas = [("a puppy", 1.4), ("a star", 8.0), ("something red", 5.0)];
        let mut readings = answer_of(&kappas, &[], &[]);
        readings.captions[0].unknown_words = vec!["puppy".into()];
        let question = question(&kappas.map(|(caption, _)| caption), &[]);
        let answer = question.answer(&cache_with(&readings), Family::VonMisesFisher);
        let texts = answer_texts(&answer.expect("all are known"));
        let expected = [
            "“something red” < “a star”",
            " (κ 5.00, 8.00)",
            ", “a puppy” (not read)",
        ];
        assert_eq!(texts, expected, "its κ is the least");
    }

    #[test]
    fn of_the_captions_of_a_question_the_model_can_read_some() {
        for (world, lessons) in shipped() {
            let (_, cache) = recorded_of(world);
            for question in lessons.lessons.iter().flat_map(|of| &of.questions) {
                for family in Family::ALL {
                    let answer = question.answer(&cache, family).expect("recorded");
                    let [read, _] = parted(&answer);
                    assert!(!read.is_empty(), "{world:?}: {answer:?}");
                }
            }
        }
    }

    #[test]
    fn every_open_question_has_an_answer_of_a_sentence_or_two() {
        for (world, lessons) in shipped() {
            for lesson in lessons.lessons {
                assert!(!lesson.open.is_empty(), "{world:?}, {}", lesson.title);
                for [question, answer] in lesson.open {
                    let n_sentences = answer.matches(". ").count() + 1;
                    let is_short = n_sentences <= 2 && (40..250).contains(&answer.len());
                    assert!(answer.ends_with('.') && is_short, "{question} {answer}");
                }
            }
        }
    }

    /// The captions between quotation marks in an answer to an open question that begins so.
    fn quoted(lessons: &Lessons, question: &str) -> Vec<String> {
        let mut open = lessons.lessons.iter().flat_map(|lesson| &lesson.open);
        let found = open.find(|[asked, _]| asked.starts_with(question));
        let [_, answer] = found.expect("it is asked");
        let quotes = answer.split('“').skip(1);
        let captions = quotes.filter_map(|rest| Some(rest.split_once('”')?.0.to_owned()));
        captions.collect()
    }

    #[test]
    fn captions_in_the_answers_to_open_questions_are_what_was_asked_for() {
        for ((world, lessons), n_words) in shipped().into_iter().zip([3, 4]) {
            let (_, cache) = recorded_of(world);
            let pair = quoted(&lessons, "Find two captions of ");
            for family in Family::ALL {
                let kappa = |caption: &String| {
                    assert_eq!(caption.split(' ').count(), n_words, "{caption}");
                    let view = cache.caption(caption, family).expect("recorded");
                    assert!(!view.is_unread(), "{caption}");
                    view.concentration
                };
                let [vague, specific] = [kappa(&pair[0]), kappa(&pair[1])];
                assert!(1.5 * vague < specific, "{pair:?}: {vague} {specific}");
            }
        }
        let [_, (_, photographs)] = shipped();
        let four = quoted(&photographs, "Write four captions of equal length");
        let lengths: BTreeSet<_> = four.iter().map(|one| one.split(' ').count()).collect();
        assert_eq!((four.len(), lengths.len()), (4, 1), "{four:?}");
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
    fn notes_send_no_class_to_a_view_that_its_link_hides() {
        for lesson in shipped().into_iter().flat_map(|(_, of)| of.lessons) {
            let (state, _) = decode(&lesson.link).expect("it is a page");
            let is_hidden = state.locks.access(PageControl::Views) == Access::Hidden;
            let texts = lesson.notes.iter().chain(lesson.open.iter().flatten());
            let elsewhere =
                texts.filter(|text| text.contains("the view ") || text.contains("drop in"));
            for text in elsewhere.filter(|_| is_hidden) {
                let is_teachers =
                    text.contains("your own page") || text.contains("Your teacher’s page");
                assert!(is_teachers, "{}: {text}", lesson.title);
            }
        }
    }

    #[test]
    fn an_ordinal_in_a_question_counts_as_the_page_and_the_key_do() {
        for lesson in shipped().into_iter().flat_map(|(_, of)| of.lessons) {
            for question in lesson.questions {
                let counts = ["The first", "The second"];
                if counts.iter().any(|words| question.why.contains(words)) {
                    assert_eq!(
                        question.captions,
                        question.truth.concat(),
                        "{}",
                        question.why
                    );
                }
            }
        }
    }

    #[test]
    fn the_star_of_the_tours_studio_can_go_below_the_circle() {
        let [(_, scenes), _] = shipped();
        let mut steps = scenes.tour.iter();
        let step = steps.find(|step| step.text.contains("Drag the star below the circle"));
        let (state, _) = decode(&step.expect("it asks for that").link).expect("it is a page");
        assert_eq!(state.view, View::Studio, "where it is dragged");
        let mut drawing = state.drawing;
        let is_below = |drawing: &Drawing| {
            let below = parse("a small red star below a large blue circle");
            below.expect("it parses").fits(&drawing.scene())
        };
        assert!(!is_below(&drawing), "it is still to be done");
        drawing.place(0, 0.5, 5.0 / 6.0);
        assert!(is_below(&drawing), "the truth follows: {drawing:?}");
        assert!(!drawing.is_between_places(), "and the numbers say much");
        drawing.shift(0, 0, -1000);
        (0..70).for_each(|_| drawing.shift(0, 0, 10));
        assert!(is_below(&drawing), "by the arrow keys, too: {drawing:?}");
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
                let ordered: Vec<&String> = truth.iter().flatten().collect();
                assert_eq!(ordered.len(), captions.len(), "{truth:?}: each once");
                let is_whole = ordered.iter().all(|caption| different.contains(caption));
                assert!(is_whole, "{truth:?} of {captions:?}");
                let is_told = ordered == captions.iter().collect::<Vec<_>>();
                assert!(captions.len() == 2 || !is_told, "{truth:?}: told");
            }
        }
    }

    /// The scene that its full description leaves.
    fn described(text: &str) -> Scene {
        let Description {
            claim: Claim::Exists(objects),
            grounds,
            lights,
        } = parse(text).expect("the world understands it")
        else {
            panic!("not of objects: {text}");
        };
        let at = |mask: u16| mask.trailing_zeros() as usize;
        let place = |i: usize| [1.0, 3.0, 5.0][i] / 6.0;
        let object = |object: &ObjectDescription| Object {
            shape: Shape::ALL[at(object.shapes)],
            colour: Colour::ALL[at(object.colours)],
            size: Size::ALL[at(object.sizes)],
            texture: Texture::ALL[at(object.textures)],
            x: place(at(object.cells) % 3),
            y: place(at(object.cells) / 3),
        };
        Scene {
            objects: objects.iter().map(object).collect(),
            ground: Ground::ALL[at(grounds)],
            light: Light::ALL[at(lights)],
        }
    }

    #[test]
    fn the_key_to_the_numbered_pictures_is_what_the_words_mean() {
        let gallery = include_str!("../../../public/gallery/gallery.json");
        let gallery: Vec<GalleryEntry> = serde_json::from_str(gallery).expect("the file is ours");
        let scenes: Vec<Scene> = gallery[..N_NUMBERED]
            .iter()
            .map(|picture| described(&picture.alt))
            .collect();
        let [(_, lessons), (_, photographs)] = shipped();
        for LessonPicture { caption, fits } in lessons.lessons.iter().flat_map(|of| &of.pictures) {
            let lit = fitting_scenes(caption, &scenes);
            let lit = lit
                .unwrap_or_else(|| panic!("not understood: {caption}"))
                .lit;
            let numbers: Vec<usize> = (1..)
                .zip(lit)
                .filter(|one| one.1)
                .map(|one| one.0)
                .collect();
            assert_eq!(&numbers, fits, "{caption}");
        }
        for lesson in lessons.lessons.iter().chain(&photographs.lessons) {
            assert!(!lesson.words.is_empty(), "{}: no words", lesson.title);
            let numbers = lesson.pictures.iter().flat_map(|asked| &asked.fits);
            assert!(
                numbers.clone().all(|i| (1..=N_NUMBERED).contains(i)),
                "{}",
                lesson.title
            );
        }
        assert!(
            lessons.lessons.iter().all(|of| !of.pictures.is_empty()),
            "none is asked"
        );
    }

    #[test]
    fn the_order_of_a_question_about_scenes_is_that_of_its_bits() {
        let [(_, scenes), _] = shipped();
        for question in scenes.lessons.iter().flat_map(|lesson| &lesson.questions) {
            let groups = question.truth.iter().enumerate();
            let captions = groups.flat_map(|(i, group)| group.iter().map(move |text| (i, text)));
            let known: Vec<(usize, f64)> = captions
                .filter_map(|(i, text)| Some((i, bits_of(text)?)))
                .collect();
            for pair in known.windows(2) {
                let ((group, bits), (next, more)) = (pair[0], pair[1]);
                let is_right = if group == next {
                    bits == more
                } else {
                    bits < more
                };
                assert!(is_right, "{:?}: {known:?}", question.truth);
            }
        }
    }

    /// Every caption in a file of recorded answers.
    fn recorded(json: &str) -> Vec<CaptionReading> {
        fn collect(value: &serde_json::Value, found: &mut Vec<CaptionReading>) {
            let parts: Vec<&serde_json::Value> = match value {
                serde_json::Value::Array(items) => items.iter().collect(),
                serde_json::Value::Object(fields) => fields.values().collect(),
                _ => Vec::new(),
            };
            match serde_json::from_value(value.clone()) {
                Ok(reading) if value.is_object() => found.push(reading),
                _ => parts.iter().for_each(|part| collect(part, found)),
            }
        }
        let mut found = Vec::new();
        let json = serde_json::from_str(json).expect("it is what was recorded");
        collect(&json, &mut found);
        found
    }

    #[test]
    fn the_argument_of_type_and_token_is_borne_out_by_the_models_own_numbers() {
        let answers = [
            include_str!("../../../public/examples/scenes/views.json"),
            include_str!("../../../public/examples/photos/views.json"),
        ];
        for ((world, texts), answers) in shipped().into_iter().zip(answers.map(recorded)) {
            let kappa = |caption: &String| {
                let mut answers = answers.iter();
                let found = answers.find(|reading| reading.caption == *caption);
                let found = found.unwrap_or_else(|| panic!("not recorded: {caption}"));
                assert!(found.unknown_words.is_empty(), "{caption} is read");
                found.concentration
            };
            assert_eq!(
                texts.asymmetry.len(),
                2,
                "{world:?}: type and token, 1–1 and n–n"
            );
            for step in texts.asymmetry {
                let kappas: Vec<_> = step.captions.iter().map(kappa).collect();
                let is_rising = kappas.windows(2).all(|pair| {
                    pair[0].vmf < pair[1].vmf && pair[0].power_spherical < pair[1].power_spherical
                });
                assert!(is_rising, "{world:?}, {}: {kappas:?}", step.name);
            }
        }
    }

    /// The lessons of the scenes say of these captions what their model has never met, and where it stops.
    #[test]
    fn what_the_lessons_say_of_the_scenes_model_is_what_it_answers() {
        let answers = recorded(include_str!("../../../public/examples/scenes/views.json"));
        let find = |caption: &str| {
            let found = answers.iter().find(|reading| reading.caption == caption);
            found.unwrap_or_else(|| panic!("not recorded: {caption}"))
        };
        for (caption, lacking) in [
            (
                "a golden retriever puppy on grass",
                &["golden", "retriever", "puppy", "grass"][..],
            ),
            ("no red star", &["no"]),
            ("a star that is not red", &["not"]),
            ("a red star or a blue star", &["or"]),
            ("asdf qwer zxcv", &["asdf", "qwer", "zxcv"]),
        ] {
            assert_eq!(find(caption).unknown_words, lacking, "of {caption:?}");
        }
        let [(_, scenes), _] = shipped();
        let failure = |name: &str| {
            let found = scenes.failures.iter().find(|failure| failure.name == name);
            found
                .map(|failure| failure.captions.clone())
                .expect("it is shown")
        };
        let foreign = failure("Other languages");
        let kappas: Vec<f64> = foreign[1..]
            .iter()
            .map(|text| find(text).concentration.vmf)
            .collect();
        assert!(
            kappas.windows(2).all(|pair| pair[0] == pair[1]),
            "one κ: {kappas:?}"
        );
        let long = failure("Very long text");
        assert!(find(&long[2]).truncated, "the blue circle is cut off");
    }

    /// Recorded answers of a world: the matrix of the start, and the answers to the other views.
    pub(in crate::explorer) fn recorded_of(world: World) -> (RecordedAnswer, ReadingCache) {
        let (start, views) = match world {
            World::Scenes => (
                include_str!("../../../public/examples/scenes/start.json"),
                include_str!("../../../public/examples/scenes/views.json"),
            ),
            World::Photographs => (
                include_str!("../../../public/examples/photos/start.json"),
                include_str!("../../../public/examples/photos/views.json"),
            ),
        };
        let start: RecordedAnswer = serde_json::from_str(start).expect("it is what was recorded");
        let views: Vec<Answer> = serde_json::from_str(views).expect("it is what was recorded");
        let mut cache = ReadingCache::default();
        for answer in &views {
            cache.learn(&start.card, answer, AnswerSource::Past);
        }
        (start, cache)
    }

    /// The failures and the lessons of the photographs say of these captions what their model reads, and what it makes
    /// of words that rule nothing out.
    #[test]
    fn what_the_lessons_say_of_the_photographs_model_is_what_it_answers() {
        let [_, (world, photographs)] = shipped();
        let (_, cache) = recorded_of(world);
        let failure = |name: &str| {
            let mut failures = photographs.failures.iter();
            let found = failures.find(|failure| failure.name == name);
            found.map(|failure| &failure.captions).expect("it is shown")
        };
        for family in Family::ALL {
            let view = |caption: &String| {
                let view = cache.caption(caption, family);
                view.unwrap_or_else(|| panic!("not recorded: {caption}"))
            };
            let is_read = |name: &str| -> Vec<bool> {
                let views = failure(name).iter().map(view);
                views.map(|view| !view.is_unread()).collect()
            };
            let kappas = |name: &str| -> Vec<f64> {
                let views = failure(name).iter().map(view);
                views.map(|view| view.concentration).collect()
            };
            let nonsense = is_read("Nonsense");
            let is_divided = nonsense[0] && nonsense[1..].contains(&true) && !nonsense[3];
            assert!(is_divided, "some nonsense is read: {nonsense:?}");
            let foreign = is_read("Other languages");
            assert_eq!(foreign, [true, false, false, false], "English alone");
            let german = view(&"ein Hund auf einer Wiese".to_owned());
            assert!(german.is_unread(), "as in the other languages: {german:?}");
            let (seen, unseen) = (
                is_read("Things no photograph shows"),
                kappas("Things no photograph shows"),
            );
            let misleads = (1..unseen.len()).any(|i| seen[i] && unseen[i] > unseen[0]);
            assert!(misleads, "κ knows that it cannot be seen: {unseen:?}");
            let dog = view(&"a dog".to_owned()).concentration;
            let negations = kappas("Negation");
            let is_specific = negations[1..].iter().all(|kappa| *kappa > dog);
            assert!(is_specific, "{negations:?} are vague beside {dog}");
            let long = kappas("Very long text");
            assert!(long[1] > long[0], "empty words add nothing: {long:?}");
            let brown = view(&"a brown dog".to_owned()).concentration;
            assert!(long[3] > brown, "repeated words add nothing: {long:?}");
        }
    }

    #[test]
    fn the_model_can_be_beaten_where_a_lesson_says_so() {
        let [_, (world, photographs)] = shipped();
        let (_, cache) = recorded_of(world);
        let mut lessons = photographs.lessons.iter();
        let beat = lessons.find(|lesson| lesson.title == "Beat the model");
        let beat = beat.expect("it is taught");
        for family in Family::ALL {
            let verdict = |question: &LessonQuestion| {
                let truth: Vec<String> = question.truth.concat();
                question.verdict(&truth, &cache, family).expect("recorded")
            };
            let verdicts: Vec<String> = beat.questions.iter().map(verdict).collect();
            let is_beaten = verdicts
                .iter()
                .any(|said| said.contains("you have beaten it"));
            assert!(is_beaten, "{family:?} has no step wrong: {verdicts:?}");
        }
    }

    #[test]
    fn words_are_as_many_as_the_lessons_count() {
        let counts = [
            ("Six words,", 6),
            ("Nine words,", 9),
            ("All have five words", 5),
        ];
        let mut n_counted = 0;
        for lesson in shipped().into_iter().flat_map(|(_, of)| of.lessons) {
            for question in lesson.questions {
                let counted = counts
                    .iter()
                    .find(|(words, _)| question.why.starts_with(words));
                let Some((words, n)) = counted else {
                    continue;
                };
                n_counted += 1;
                let all = words.starts_with("All");
                let said = question.truth[..if all { question.truth.len() } else { 1 }].concat();
                for caption in said {
                    assert_eq!(caption.split(' ').count(), *n, "{words} {caption}");
                }
            }
        }
        assert_eq!(n_counted, counts.len(), "each is said once");
    }

    /// "Where a cell says '2nd → 1st', κ has moved the caption": there is such a cell.
    #[test]
    fn kappa_moves_a_caption_where_the_tour_says_so() {
        for (world, lessons) in shipped() {
            let (start, _) = recorded_of(world);
            let mut steps = lessons.tour.iter();
            let step = steps.find(|step| step.text.contains("κ has moved the caption"));
            let (state, _) = decode(&step.expect("it is said").link).expect("it is a page");
            let snapshot = Snapshot {
                card: start.card,
                keys: state.captions.iter().map(|caption| caption.key).collect(),
                answer: start.answer,
                recorded: true,
            };
            assert!(
                state
                    .captions
                    .texts()
                    .eq(snapshot.answer.captions.iter().map(|of| &of.caption)),
                "it was recorded in this order"
            );
            let readings = Readings::new(&snapshot, &state);
            let cells = snapshot.keys.iter().flat_map(|key| {
                let cell = |image: &String| readings.pair(*key, image).map(rank_text);
                snapshot.answer.images.iter().filter_map(cell)
            });
            let moved: Vec<String> = cells.filter(|text| !text.is_empty()).collect();
            assert!(
                !moved.is_empty(),
                "{world:?}: all ranks are those of the cosine"
            );
        }
    }

    #[test]
    fn the_longest_caption_with_a_small_kappa_can_be_built() {
        let [(world, scenes), _] = shipped();
        let (_, cache) = recorded_of(world);
        let mut notes = scenes.lessons.iter().flat_map(|lesson| &lesson.notes);
        assert!(notes.any(|note| note.contains("κ below 1")), "it is a task");
        let view = cache.caption("there is something in the picture", Family::VonMisesFisher);
        let kappa = view.expect("recorded").concentration;
        assert!(kappa < 1.0, "six words have {kappa}");
    }
}
