//! The guessing game: the visitor picks the vaguer caption of each of three pairs.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::readings::cache::ReadingCache;
use super::readings::caption_view::CaptionView;
use super::views::learn::{LessonQuestion, Lessons};
use crate::numerics::Family;

/// Pairs of captions in a game.
pub const N_ROUNDS: usize = 3;

/// The questions of the game with this number, the same in every browser; fewer where the lessons hold fewer.
///
/// The lessons know the order of their captions by what the words mean, so a guess is judged by that and not by a
/// model.
#[must_use]
pub fn game_rounds(lessons: &Lessons, game: u32) -> Vec<LessonQuestion> {
    let questions = lessons.lessons.iter().flat_map(|lesson| &lesson.questions);
    let mut pairs: Vec<LessonQuestion> = Vec::new();
    for pair in questions.flat_map(pairs_of) {
        // Two lessons may ask the same.
        if pairs.iter().all(|known| known.truth != pair.truth) {
            pairs.push(pair);
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(game.into());
    let mut round = || {
        let i = rng.random_range(0..pairs.len().max(1));
        let mut pair = (i < pairs.len()).then(|| pairs.swap_remove(i))?;
        if rng.random() {
            pair.captions.reverse();
        }
        Some(pair)
    };
    (0..N_ROUNDS).map_while(|_| round()).collect()
}

/// The pairs of a question's captions that differ in what they say and whose lengths do not give that away.
fn pairs_of(question: &LessonQuestion) -> Vec<LessonQuestion> {
    let n_words = |caption: &str| caption.split_whitespace().count();
    let mut pairs = Vec::new();
    for (i, vaguer) in question.truth.iter().enumerate() {
        for narrower in &question.truth[i + 1..] {
            let (Some(vaguer), Some(narrower)) = (vaguer.first(), narrower.first()) else {
                continue;
            };
            if n_words(vaguer) + 1 >= n_words(narrower) {
                pairs.push(LessonQuestion {
                    captions: vec![vaguer.clone(), narrower.clone()],
                    truth: vec![vec![vaguer.clone()], vec![narrower.clone()]],
                    why: String::new(),
                });
            }
        }
    }
    pairs
}

/// A game while it is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Game {
    rounds: Vec<LessonQuestion>,
    i_round: usize,
    n_right: usize,
    /// Right answers in a row, those of earlier games counted.
    pub streak: u32,
    /// The answer to the round that is open.
    pub answer: Option<GameAnswer>,
}

/// A visitor's guess, with the verdict and the numbers that are then shown.
#[derive(Debug, Clone, PartialEq)]
pub struct GameAnswer {
    /// Place of the caption that was chosen.
    pub side: usize,
    /// Verdict on the guess by the words, and on the model where it errs.
    pub verdict: String,
    /// Views of both captions by the model; `None` for one without an answer.
    pub views: Vec<Option<CaptionView>>,
}

impl Game {
    /// A game of these rounds after so many right answers in a row; `None` without rounds.
    #[must_use]
    pub fn new(rounds: Vec<LessonQuestion>, streak: u32) -> Option<Self> {
        (!rounds.is_empty()).then_some(Self {
            rounds,
            i_round: 0,
            n_right: 0,
            streak,
            answer: None,
        })
    }

    /// The captions of the open round.
    #[must_use]
    pub fn captions(&self) -> &[String] {
        &self.rounds[self.i_round].captions
    }

    /// Takes the caption at this place as the vaguer one; the first answer counts.
    pub fn choose(&mut self, side: usize, cache: &ReadingCache, family: Family) {
        if self.answer.is_some() {
            return;
        }
        let question = &self.rounds[self.i_round];
        // The chosen caption stands first, as the vaguer one.
        let mut guess = question.captions.clone();
        guess.swap(0, side);
        let is_right = question.judge(&guess).0 > 0;
        self.n_right += usize::from(is_right);
        self.streak = if is_right { self.streak + 1 } else { 0 };
        let verdict = question.verdict(&guess, cache, family);
        let captions = question.captions.iter();
        self.answer = Some(GameAnswer {
            side,
            verdict: verdict.unwrap_or_else(|| "The model has not answered yet.".into()),
            views: captions
                .map(|caption| cache.caption(caption, family))
                .collect(),
        });
    }

    /// Opens the next round; `false` where there is none.
    pub fn go_on(&mut self) -> bool {
        self.answer = None;
        self.i_round += 1;
        let goes_on = self.i_round < self.rounds.len();
        self.i_round = self.i_round.min(self.rounds.len() - 1);
        goes_on
    }

    /// Whether all rounds are answered.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.answer.is_some() && self.i_round + 1 == self.rounds.len()
    }

    /// State of the game, in a sentence.
    #[must_use]
    pub fn text(&self) -> String {
        let (n, streak) = (self.rounds.len(), self.streak);
        match self.is_over() {
            true => format!("{} of {n} right. In a row: {streak}.", self.n_right),
            false => format!("Pair {} of {n}. In a row: {streak}.", self.i_round + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explorer::views::learn::tests::shipped;

    #[test]
    fn a_game_is_the_same_everywhere_and_no_round_comes_twice() {
        for (world, lessons) in shipped() {
            for game in 0..20 {
                let rounds = game_rounds(&lessons, game);
                assert_eq!(rounds, game_rounds(&lessons, game), "{world:?} {game}");
                let different: BTreeSet<_> = rounds.iter().map(|round| &round.truth).collect();
                assert_eq!(different.len(), N_ROUNDS, "{world:?} {game}: {rounds:?}");
            }
            assert_ne!(
                game_rounds(&lessons, 0),
                game_rounds(&lessons, 1),
                "another game"
            );
        }
    }

    #[test]
    fn choosing_the_shorter_caption_does_not_win() {
        for (world, lessons) in shipped() {
            let rounds = (0..50).flat_map(|game| game_rounds(&lessons, game));
            let (mut n_right, mut n) = (0, 0);
            for round in rounds {
                let mut guess = round.captions.clone();
                guess.sort_by_key(String::len);
                n_right += round.judge(&guess).0;
                n += 1;
            }
            assert!(3 * n_right < 2 * n, "{world:?}: {n_right} of {n} by length");
        }
    }

    #[test]
    fn the_vaguer_caption_is_the_right_answer_on_either_side() {
        let (_, lessons) = &shipped()[0];
        let mut sides = BTreeSet::new();
        for round in (0..20).flat_map(|game| game_rounds(lessons, game)) {
            let vaguer = &round.truth[0][0];
            sides.insert(round.captions.iter().position(|caption| caption == vaguer));
            let mut guess = round.captions.clone();
            guess.sort_by_key(|caption| caption != vaguer);
            assert_eq!(round.judge(&guess), (1, 1), "{round:?}");
            guess.reverse();
            assert_eq!(round.judge(&guess), (0, 1), "{round:?}");
        }
        assert_eq!(sides.len(), 2, "it stands left and right");
    }

    #[test]
    fn a_game_counts_right_answers_and_begins_its_row_anew_after_a_wrong_one() {
        let (_, lessons) = &shipped()[0];
        let rounds = game_rounds(lessons, 5);
        let mut game = Game::new(rounds.clone(), 4).expect("there are rounds");
        let cache = ReadingCache::default();
        let mut texts = vec![game.text()];
        for (i, round) in rounds.iter().enumerate() {
            let vaguer = round
                .captions
                .iter()
                .position(|caption| *caption == round.truth[0][0]);
            let right = vaguer.expect("it is offered");
            let side = if i == 1 { 1 - right } else { right };
            game.choose(side, &cache, Family::VonMisesFisher);
            let answered = game.clone();
            game.choose(1 - side, &cache, Family::VonMisesFisher);
            assert_eq!(game, answered, "the first answer counts");
            texts.push(game.text());
            assert_eq!(game.go_on(), i + 1 < rounds.len(), "after round {i}");
        }
        let expected = [
            "Pair 1 of 3. In a row: 4.",
            "Pair 1 of 3. In a row: 5.",
            "Pair 2 of 3. In a row: 0.",
            "2 of 3 right. In a row: 1.",
        ];
        assert_eq!(texts, expected);
        assert_eq!(Game::new(Vec::new(), 0), None, "nothing to play");
    }
}
