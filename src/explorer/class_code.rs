//! A lesson's score as six letters that a pupil reads out, and the codes of a class as a table: no server takes part.

use std::collections::BTreeMap;

use super::views::learn::{Lesson, Lessons};
use super::world::World;

/// Letters of a code: no vowels, so that no code is a word, and none that looks like another.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// Number of letters in a code.
const N_LETTERS: usize = 6;
/// Numbers of lessons, of answered questions and of right comparisons that a code can hold.
const MOST: [u32; 3] = [16, 16, 64];
/// Number of checksums; one mistyped code in `CHECKS` is accepted as another score.
const CHECKS: u32 = 1_900;

/// Score of a pupil in one lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LessonScore {
    /// The world of the lesson.
    pub world: World,
    /// Place of the lesson among those of its world.
    pub lesson: usize,
    /// Neighbours in the guessed orders that stand right.
    pub n_right: u32,
    /// Questions of the lesson that were answered, rightly or not.
    pub n_answered: u32,
}

impl LessonScore {
    /// The score in six letters.
    #[must_use]
    pub fn code(self) -> String {
        let world = World::ALL.iter().position(|world| *world == self.world);
        let [lesson, world] = [self.lesson, world.unwrap_or_default()]
            .map(|place| u32::try_from(place).unwrap_or_default());
        let parts = [lesson, self.n_answered, self.n_right];
        let score = parts.iter().zip(MOST).fold(world, |score, (part, most)| {
            score * most + part.min(&(most - 1))
        });
        let mut rest = score * CHECKS + check(score);
        let letter = |_| {
            let letter = LETTERS[(rest % 20) as usize];
            rest /= 20;
            char::from(letter)
        };
        (0..N_LETTERS).map(letter).collect()
    }

    /// The score that a code holds; `None` for letters that are not a code.
    #[must_use]
    pub fn read(code: &str) -> Option<Self> {
        if code.len() != N_LETTERS {
            return None;
        }
        let letters = code.bytes().rev().map(|letter| letter.to_ascii_uppercase());
        let mut number = 0;
        for letter in letters {
            let digit = LETTERS.iter().position(|known| *known == letter)?;
            number = 20 * number + u32::try_from(digit).ok()?;
        }
        let mut score = number / CHECKS;
        if number % CHECKS != check(score) {
            return None;
        }
        let mut part = |most: u32| {
            let part = score % most;
            score /= most;
            part
        };
        let [n_right, n_answered, lesson] = [MOST[2], MOST[1], MOST[0]].map(&mut part);
        Some(Self {
            world: *World::ALL.get(score as usize)?,
            lesson: lesson as usize,
            n_right,
            n_answered,
        })
    }
}

/// Checksum of a score, which a wrong letter changes; the first letter six times is not a valid code.
fn check(score: u32) -> u32 {
    let score = score.wrapping_add(1);
    score.wrapping_mul(2_654_435_761).rotate_right(11) % CHECKS
}

/// Lines on the codes of a class, typed with anything between them: each lesson with how many reached which score, and
/// the words that are not codes.
#[must_use]
pub fn class_lines(codes: &str, world: World, lessons: &Lessons) -> Vec<String> {
    let mut by_lesson: BTreeMap<(World, usize), Vec<LessonScore>> = BTreeMap::new();
    let mut lines = Vec::new();
    for code in codes.split(|c: char| !c.is_alphanumeric()) {
        match LessonScore::read(code) {
            Some(score) => by_lesson
                .entry((score.world, score.lesson))
                .or_default()
                .push(score),
            None if code.is_empty() => {}
            None => lines.push(format!("{code}: not a code; a letter may be wrong.")),
        }
    }
    for ((of, i), scores) in by_lesson {
        let lesson = lessons.lessons.get(i).filter(|_| of == world);
        lines.extend(lesson_lines(of, i, lesson, &scores));
    }
    lines
}

/// The average of the scores of one lesson, and each of them.
fn lesson_lines(
    world: World,
    i: usize,
    lesson: Option<&Lesson>,
    scores: &[LessonScore],
) -> Vec<String> {
    let title = match lesson {
        Some(lesson) => format!("“{}”", lesson.title),
        None => format!("{}, lesson {}", world.title(), i + 1),
    };
    let n = scores.len();
    let n_pairs = lesson.map(|lesson| format!(" of {}", lesson.n_pairs()));
    let n_pairs = n_pairs.unwrap_or_default();
    let total: u32 = scores.iter().map(|score| score.n_right).sum();
    let mean = f64::from(total) / n as f64;
    let mut lines = vec![format!(
        "{title}: {n} answers, {mean:.1}{n_pairs} comparisons right on average."
    )];
    let n_questions = lesson.map(|lesson| lesson.questions.len());
    lines.extend(score_lines(scores, &n_pairs, n_questions.unwrap_or(0)));
    lines
}

/// Each score with how many reached it, the best first; one of fewer questions than the lesson has says of how many.
fn score_lines(scores: &[LessonScore], n_pairs: &str, n_questions: usize) -> Vec<String> {
    let mut reached: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for score in scores {
        let reached = reached.entry((score.n_right, score.n_answered));
        *reached.or_default() += 1;
    }
    let line = |((n_right, n_answered), n): (&(u32, u32), &u32)| {
        let answered = match (*n_answered as usize) < n_questions {
            true => format!(" ({n_answered} of {n_questions} answered)"),
            false => String::new(),
        };
        format!("{n_right}{n_pairs} right{answered}: {n} of the class")
    };
    reached.iter().rev().map(line).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explorer::views::learn::tests::shipped;

    fn score(lesson: usize, n_right: u32) -> LessonScore {
        LessonScore {
            world: World::Scenes,
            lesson,
            n_right,
            n_answered: 3,
        }
    }

    proptest! {
        #[test]
        fn every_score_comes_back_from_its_code(
            lesson in 0..16_usize, n_answered in 0..16_u32, n_right in 0..64_u32, is_scenes: bool,
        ) {
            let world = if is_scenes { World::Scenes } else { World::Photographs };
            let score = LessonScore { world, lesson, n_right, n_answered };
            let code = score.code();
            prop_assert_eq!(code.len(), N_LETTERS, "{}", code);
            prop_assert_eq!(LessonScore::read(&code.to_lowercase()), Some(score), "{}", code);
        }

        #[test]
        fn what_is_typed_never_stops_the_page(text in ".*") {
            let score = LessonScore::read(&text);
            prop_assert!(score.is_none_or(|score| score.n_right < MOST[2]), "{:?}", score);
        }
    }

    #[test]
    fn a_wrong_letter_is_found() {
        let code = score(1, 5).code();
        let (mut n_taken, mut n) = (0, 0);
        for i in 0..N_LETTERS {
            for letter in LETTERS.map(char::from) {
                let mut wrong: Vec<char> = code.chars().collect();
                wrong[i] = letter;
                let wrong: String = wrong.into_iter().collect();
                n += usize::from(wrong != code);
                n_taken += usize::from(wrong != code && LessonScore::read(&wrong).is_some());
            }
        }
        assert!(n_taken <= 1, "{n_taken} of {n} wrong codes were taken");
        assert_eq!(LessonScore::read("BBBBBB"), None, "nobody has reached it");
    }

    #[test]
    fn a_score_of_a_lesson_half_done_says_how_much_was_answered() {
        let [(_, lessons), _] = shipped();
        let part = LessonScore {
            n_answered: 1,
            ..score(0, 1)
        };
        let codes = [part, score(0, 1), part, part].map(LessonScore::code);
        let n_pairs = lessons.lessons[0].n_pairs();
        let expected = [
            format!("1 of {n_pairs} right: 1 of the class"),
            format!("1 of {n_pairs} right (1 of 3 answered): 3 of the class"),
        ];
        let lines = class_lines(&codes.join(" "), World::Scenes, &lessons);
        assert_eq!(lines[1..], expected, "beside whoever answered all");
        let lines = class_lines(&part.code(), World::Photographs, &lessons);
        assert_eq!(lines[1], "1 right: 1 of the class", "of another world");
    }

    #[test]
    fn a_class_is_counted_lesson_by_lesson() {
        let [(_, lessons), _] = shipped();
        let codes = [score(0, 6), score(0, 9), score(0, 9)].map(LessonScore::code);
        let typed = format!("{}, {}\n{} QQQQQQQ", codes[0], codes[1], codes[2]);
        let n_pairs = lessons.lessons[0].n_pairs();
        let expected = [
            "QQQQQQQ: not a code; a letter may be wrong.".to_owned(),
            format!(
                "“{}”: 3 answers, 8.0 of {n_pairs} comparisons right on average.",
                lessons.lessons[0].title
            ),
            format!("9 of {n_pairs} right: 2 of the class"),
            format!("6 of {n_pairs} right: 1 of the class"),
        ];
        assert_eq!(class_lines(&typed, World::Scenes, &lessons), expected);
    }
}
