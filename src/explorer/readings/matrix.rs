//! The numbers of the matrix: an answer under the state's family, for the captions and pictures on the page.

use std::collections::HashMap;

use super::best::{free_offset, mark_best, n_above};
use super::caption_view::CaptionView;
use super::pair_view::{PairView, posterior};
use super::snapshot::Snapshot;
use crate::explorer::extent::Extent;
use crate::explorer::measure::Measure;
use crate::explorer::number::MOST_TIMES;
use crate::explorer::state::ExplorerState;

/// Nats of the uniform distribution itself, which stands for "none of these".
const UNIFORM_NATS: f64 = 0.0;

/// Times likelier for which the bars have room at the least.
const LEAST_TIMES: f64 = 10.0;

/// Percentile of 1/κ from which a caption is said to fit nearly any picture.
const VAGUEST: f64 = 98.0;

/// Nats within which such a caption is neither for a picture nor against it.
const LITTLE_NATS: f64 = 1.0;

/// The numbers of a snapshot under one family.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    captions: HashMap<u64, CaptionView>,
    pairs: HashMap<u64, HashMap<String, PairView>>,
    /// The share of "none of these" for each picture, where it takes part.
    none_shares: HashMap<String, f64>,
    /// The scale of all bars.
    pub extent: Extent,
    /// Eight hexadecimal digits of the weights that the numbers are of.
    pub weights: String,
}

impl Readings {
    /// Reads a snapshot under the state's family, for the captions and pictures that are still on the page.
    pub fn new(snapshot: &Snapshot, state: &ExplorerState) -> Self {
        let family = state.family;
        let keys = snapshot.keys.iter().copied().enumerate();
        let rows: Vec<(usize, u64)> = keys
            .filter(|&(_, key)| state.captions.index(key).is_some())
            .collect();
        let images = snapshot.answer.images.iter().enumerate();
        let columns: Vec<(usize, &String)> = images
            .filter(|(_, id)| state.pictures.contains(id))
            .collect();
        let row = |&(i_text, _): &(usize, u64)| {
            let pairs = columns.iter();
            let pairs = pairs.map(|&(i_image, _)| snapshot.pair(i_text, i_image, family));
            pairs.collect::<Option<Vec<PairView>>>()
        };
        let mut grid: Vec<Vec<PairView>> = rows.iter().map_while(row).collect();
        let measured = |pair: &PairView| pair.measured(state.measure);
        let logit_scale = *snapshot.card.logit_scale.get(family);
        let values = grid.iter().flatten().map(measured);
        let extent = match state.measure {
            // A full bar means ten times likelier at least, so that noise stays short, and no more than is counted.
            Measure::Likelihood => {
                let ends = [LEAST_TIMES, MOST_TIMES].map(|times| times.ln() / logit_scale);
                Extent::above_zero(values, ends)
            }
            Measure::Cosine => Extent::of(values),
        };
        let caption = |&(i, key): &(usize, u64)| Some((key, snapshot.caption(i, family)?));
        let captions: HashMap<u64, CaptionView> = rows.iter().filter_map(caption).collect();
        let is_read = |key: &u64| captions.get(key).is_some_and(|view| !view.is_unread());
        // Captions that the model cannot read have numbers, and stand in no comparison.
        let mut read: Vec<&mut Vec<PairView>> = grid
            .iter_mut()
            .zip(&rows)
            .filter_map(|(pairs, (_, key))| is_read(key).then_some(pairs))
            .collect();
        let offset = free_offset(logit_scale);
        let margin = match state.measure {
            Measure::Likelihood => offset,
            Measure::Cosine => 0.0,
        };
        mark_best(&mut read, measured, margin, |pair, best| {
            // A caption that speaks against a picture is not its best one.
            if state.measure == Measure::Cosine || pair.is_near_zero() || pair.nats > UNIFORM_NATS {
                pair.best = best;
            }
        });
        fill_ranks(&mut read, offset);
        let none_nats = state.counts_none.then_some(UNIFORM_NATS);
        let none_shares = fill_posterior(&mut read, logit_scale, none_nats);
        let names = || columns.iter().map(|(_, id)| (*id).clone());
        let pairs = grid.into_iter().map(|row| names().zip(row).collect());
        Self {
            captions,
            pairs: rows.iter().map(|(_, key)| *key).zip(pairs).collect(),
            none_shares: names().zip(none_shares).collect(),
            extent,
            weights: snapshot.card.weights.clone(),
        }
    }

    /// One caption's numbers, where there are any.
    pub fn caption(&self, key: u64) -> Option<&CaptionView> {
        self.captions.get(&key)
    }

    /// One pair's numbers, where there are any.
    pub fn pair(&self, key: u64, image: &str) -> Option<&PairView> {
        self.pairs.get(&key)?.get(image)
    }

    /// The caption with the most nats for a picture, of those that the model can read.
    pub fn best_caption(&self, image: &str) -> Option<u64> {
        let column = self
            .pairs
            .iter()
            .filter(|(key, _)| self.is_read(**key))
            .filter_map(|(key, row)| Some((*key, row.get(image)?.nats)));
        let (key, _) = column.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(key)
    }

    fn is_read(&self, key: u64) -> bool {
        self.caption(key).is_some_and(|view| !view.is_unread())
    }

    /// Note on a caption so vague that its nats lie below zero for some picture; empty for any other caption.
    pub fn zero_note(&self, key: u64) -> &'static str {
        let is_vaguest = |view: &CaptionView| view.percentile.is_some_and(|p| p >= VAGUEST);
        let pairs = || self.pairs.get(&key).into_iter().flatten();
        let is_below = pairs().any(|(_, pair)| pair.nats < 0.0 && !pair.is_near_zero());
        let says_little = pairs().all(|(_, pair)| pair.nats.abs() <= LITTLE_NATS);
        match self.caption(key).is_some_and(is_vaguest) && is_below && says_little {
            true => {
                "So vague that it fits nearly any picture: “less likely” says that others are likelier, not that it is false."
            }
            false => "",
        }
    }

    /// The share of "none of these" for a picture, where it takes part.
    pub fn none_share(&self, image: &str) -> Option<f64> {
        self.none_shares.get(image).copied()
    }

    /// Number of captions that stand before this one for a picture, by a measure; those as good as tied stand as by
    /// cosine.
    ///
    /// `None` for a caption that the model cannot read.
    pub fn place(&self, key: u64, image: &str, measure: Measure) -> Option<usize> {
        let rank = |(key, row): (&u64, &HashMap<String, PairView>)| {
            let pair = row.get(image).filter(|pair| pair.cosine_rank > 0)?;
            let rank = match measure {
                Measure::Likelihood => pair.likelihood_rank,
                Measure::Cosine => pair.cosine_rank,
            };
            Some((rank, pair.cosine_rank, *key))
        };
        let own = rank((&key, self.pairs.get(&key)?))?;
        let others = self.pairs.iter().filter_map(rank);
        Some(others.filter(|other| *other < own).count())
    }

    /// The caption that stands before all others for a picture, by a measure.
    pub fn first_caption(&self, image: &str, measure: Measure) -> Option<u64> {
        let mut keys = self.pairs.keys().copied();
        keys.find(|key| self.place(*key, image, measure) == Some(0))
    }

    /// Pictures whose best caption by cosine is not their best by likelihood, and pictures in all.
    pub fn n_disputed(&self) -> (usize, usize) {
        let mut bests: HashMap<&String, bool> = HashMap::new();
        for (image, pair) in self.pairs.values().flatten() {
            let is_disputed = bests.entry(image).or_default();
            *is_disputed |= pair.cosine_rank == 1 && pair.likelihood_rank > 1;
        }
        let n_disputed = bests.values().filter(|is_disputed| **is_disputed).count();
        (n_disputed, bests.len())
    }

    /// The picture with the most nats under a caption that the model can read.
    pub fn best_picture(&self, key: u64) -> Option<&str> {
        let row = self.pairs.get(&key).filter(|_| self.is_read(key))?;
        let (id, _) = row.iter().max_by(|a, b| a.1.nats.total_cmp(&b.1.nats))?;
        Some(id)
    }
}

/// Fills the ranks of each column, from 1 for the greatest; equals share a rank, as do nats within the free offset.
fn fill_ranks(grid: &mut [&mut Vec<PairView>], offset: f64) {
    let ranks = |values: &[f64], margin: f64| -> Vec<usize> {
        let rank = |value: &f64| 1 + n_above(values, *value, margin);
        values.iter().map(rank).collect()
    };
    for i_image in 0..grid.first().map_or(0, |row| row.len()) {
        let column = |read: fn(&PairView) -> f64, margin| {
            let values = grid.iter().map(|row| read(&row[i_image]));
            ranks(&values.collect::<Vec<f64>>(), margin)
        };
        let likelihood = column(|pair| pair.nats, offset);
        let cosine = column(|pair| pair.cosine, 0.0);
        for (row, ranks) in grid.iter_mut().zip(likelihood.into_iter().zip(cosine)) {
            (row[i_image].likelihood_rank, row[i_image].cosine_rank) = ranks;
        }
    }
}

/// Fills the posterior of each column, and returns the shares of a further candidate with so many nats for every
/// picture.
fn fill_posterior(
    grid: &mut [&mut Vec<PairView>],
    logit_scale: f64,
    further_nats: Option<f64>,
) -> Vec<f64> {
    let mut further_shares = Vec::new();
    for i_image in 0..grid.first().map_or(0, |row| row.len()) {
        let nats = grid.iter().map(|row| row[i_image].nats).chain(further_nats);
        let shares = posterior(nats, logit_scale);
        for (row, share) in grid.iter_mut().zip(&shares) {
            row[i_image].posterior = *share;
        }
        further_shares.extend(further_nats.and(shares.last()));
    }
    further_shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::best::BestMarks;
    use crate::explorer::readings::cache::tests::{answer_of, card};
    use crate::explorer::state::ModelChoice;
    use crate::numerics::Family;

    const DIM: usize = 128;
    const LOGIT_SCALE: f64 = 2.5;

    /// A page with two captions and two pictures.
    fn page() -> ExplorerState {
        ExplorerState::new(ModelChoice::SCENES, ["a", "b"], ["x", "y"])
    }

    /// Two captions, κ 4 and 30, against two pictures.
    fn snapshot(keys: &[u64]) -> Snapshot {
        let mut answer = answer_of(
            &[("a", 4.0), ("b", 30.0)],
            &["x", "y"],
            &[0.5, 0.2, -0.1, 0.6],
        );
        for pair in &mut answer.pairs {
            pair.cosine /= 2.0;
        }
        Snapshot {
            card: card(),
            keys: keys.to_vec(),
            answer,
            recorded: false,
        }
    }

    fn read(state: &ExplorerState) -> Readings {
        let keys: Vec<u64> = state.captions.iter().map(|caption| caption.key).collect();
        Readings::new(&snapshot(&keys), state)
    }

    /// The pairs of both captions with a picture.
    fn column<'a>(readings: &'a Readings, id: &str) -> [&'a PairView; 2] {
        [1, 2].map(|key| readings.pair(key, id).expect("it was answered"))
    }

    #[test]
    fn nats_are_the_log_likelihood_above_the_uniform_distribution() {
        let readings = read(&page());
        let [_, pair] = column(&readings, "y");
        let expected = Family::VonMisesFisher.log_likelihood_ratio(DIM, 30.0, 0.6);
        assert_eq!(pair.nats, expected, "for κ = 30 at cosine 0.6");
        let uniform = Family::VonMisesFisher.log_likelihood(DIM, 0.0, 0.0);
        let difference = pair.log_density - pair.nats - uniform;
        assert!(difference.abs() < 1e-9, "off by {difference}");
    }

    #[test]
    fn the_best_are_marked_once_in_each_row_and_column() {
        let readings = read(&page());
        let marks = |row: usize, id| {
            let pair = column(&readings, id)[row];
            (pair.best.is_best_picture, pair.best.is_best_caption)
        };
        assert_eq!(marks(0, "x"), (true, true), "best for the first caption");
        assert_eq!(marks(1, "x"), (false, false), "nothing prefers this pair");
        assert_eq!(marks(1, "y"), (true, true), "best for the second caption");
        assert_eq!(readings.best_picture(2), Some("y"), "by name too");
        assert_eq!(readings.best_caption("x"), Some(1), "and by key");
    }

    #[test]
    fn captions_change_places_with_the_measure_and_unread_ones_have_none() {
        let mut snapshot = snapshot(&[1, 2]);
        let places = |snapshot: &Snapshot, measure| {
            let readings = Readings::new(snapshot, &page());
            [1, 2].map(|key| readings.place(key, "x", measure))
        };
        let in_order = [Some(0), Some(1)];
        for (cosines, expected) in [([0.9, 0.1], in_order), ([0.1, 0.9], [Some(1), Some(0)])] {
            (
                snapshot.answer.pairs[0].cosine,
                snapshot.answer.pairs[2].cosine,
            ) = (cosines[0], cosines[1]);
            let found = places(&snapshot, Measure::Cosine);
            assert_eq!(found, expected, "for the cosines {cosines:?}");
            let found = places(&snapshot, Measure::Likelihood);
            assert_eq!(found, in_order, "whatever the cosines are");
        }
        snapshot.answer.captions[1].unknown_words = vec!["b".into()];
        let found = places(&snapshot, Measure::Cosine);
        assert_eq!(found, [Some(0), None], "the other cannot be read");
    }

    #[test]
    fn a_pair_that_is_less_likely_than_a_blind_guess_is_the_best_of_nothing() {
        let mut snapshot = snapshot(&[1, 2]);
        for pair in &mut snapshot.answer.pairs {
            pair.mean_direction_cosine.vmf = -pair.mean_direction_cosine.vmf.abs();
        }
        let mut state = page();
        let best = |state: &ExplorerState| {
            let readings = Readings::new(&snapshot, state);
            let pair = readings.pair(1, "x").expect("it was answered");
            (pair.nats < -1.0, pair.best.is_best_picture)
        };
        assert_eq!(best(&state), (true, false), "all speak against it");
        state.measure = Measure::Cosine;
        assert_eq!(best(&state), (true, true), "cosines have no zero");
    }

    #[test]
    fn the_posterior_over_captions_sums_to_one_for_each_picture() {
        let readings = read(&page());
        for id in ["x", "y"] {
            let [a, b] = column(&readings, id);
            let sum = a.posterior + b.posterior;
            assert!((sum - 1.0).abs() < 1e-12, "shares for {id} sum to {sum}");
            let odds = (a.posterior / b.posterior).ln() - LOGIT_SCALE * (a.nats - b.nats);
            assert!(odds.abs() < 1e-9, "log odds for {id} are off by {odds}");
        }
    }

    #[test]
    fn none_of_these_takes_its_share_at_zero_nats() {
        let mut state = page();
        let none = read(&state).none_share("x");
        assert_eq!(none, None, "it is not counted at first");
        state.counts_none = true;
        let readings = read(&state);
        for id in ["x", "y"] {
            let none = readings.none_share(id).expect("it is counted");
            let [a, b] = column(&readings, id);
            let sum = none + a.posterior + b.posterior;
            assert!((sum - 1.0).abs() < 1e-12, "shares for {id} sum to {sum}");
            let odds = (a.posterior / none).ln() - LOGIT_SCALE * a.nats;
            assert!(odds.abs() < 1e-9, "none has 0 nats for {id}; off by {odds}");
        }
    }

    #[test]
    fn ranks_are_counted_down_each_column_by_both_measures() {
        let readings = read(&page());
        let mut n_disputed = 0;
        for id in ["x", "y"] {
            let [a, b] = column(&readings, id);
            let by_nats = a.likelihood_rank < b.likelihood_rank;
            assert_eq!(by_nats, a.nats > b.nats, "for {id}: {a:?} and {b:?}");
            let by_cosine = a.cosine_rank < b.cosine_rank;
            assert_eq!(by_cosine, a.cosine > b.cosine, "for {id}: {a:?} and {b:?}");
            assert_eq!(a.likelihood_rank + b.likelihood_rank, 3, "ranks 1 and 2");
            n_disputed += usize::from((a.nats > b.nats) != (a.cosine > b.cosine));
        }
        assert_eq!(readings.n_disputed(), (n_disputed, 2), "of two pictures");
    }

    #[test]
    fn best_is_what_the_shown_measure_says() {
        let mut state = page();
        state.measure = Measure::Cosine;
        let readings = read(&state);
        for id in ["x", "y"] {
            for pair in column(&readings, id) {
                let is_first = pair.cosine_rank == 1;
                assert_eq!(pair.best.is_best_caption, is_first, "{pair:?} for {id}");
            }
        }
    }

    #[test]
    fn a_caption_that_left_the_page_leaves_the_posterior() {
        let mut state = page();
        state.remove_caption(2);
        let readings = Readings::new(&snapshot(&[1, 2]), &state);
        let pair = readings.pair(1, "x").expect("it was answered");
        assert_eq!(pair.posterior, 1.0, "one caption is left");
        assert!(!pair.best.is_best_caption, "nothing is best among one");
        assert_eq!(readings.caption(2), None, "the other is not read");
    }

    #[test]
    fn the_percentile_is_taken_among_the_familys_own_references() {
        let mut state = page();
        let percentile = |state: &ExplorerState| {
            let readings = read(state);
            readings.caption(1)?.percentile
        };
        let [vmf, power_spherical] =
            [Family::VonMisesFisher, Family::PowerSpherical].map(|family| {
                state.family = family;
                percentile(&state)
            });
        assert_eq!(vmf, Some(75.0), "1/4 lies above three of four");
        assert_eq!(power_spherical, Some(100.0), "and above both of the other");
    }

    #[test]
    fn an_answer_that_is_too_short_gives_no_numbers() {
        let mut short = snapshot(&[1, 2]);
        short.answer.pairs.truncate(1);
        let readings = Readings::new(&short, &page());
        assert_eq!(readings.pair(2, "y"), None, "nothing is made up");
    }

    #[test]
    fn a_caption_that_cannot_be_read_is_compared_with_nothing() {
        let mut snapshot = snapshot(&[1, 2]);
        snapshot.answer.captions[1].unknown_words = vec!["b".into()];
        let readings = Readings::new(&snapshot, &page());
        let view = readings.caption(2).expect("it was answered");
        assert_eq!(view.percentile, None, "{view:?}");
        for id in ["x", "y"] {
            let [read, unread] = column(&readings, id);
            assert_eq!(unread.best, BestMarks::default(), "no mark: {unread:?}");
            assert_eq!(unread.likelihood_rank, 0, "no rank: {unread:?}");
            assert!(unread.posterior.is_nan(), "no share: {unread:?}");
            assert_eq!(read.posterior, 1.0, "the other has it all");
            assert_eq!(readings.best_caption(id), Some(1), "of those read");
        }
        assert_eq!(readings.best_picture(2), None, "and none is its best");
    }

    #[test]
    fn below_zero_a_caption_that_says_little_has_a_reason() {
        let mut snapshot = snapshot(&[1, 2]);
        snapshot.answer.captions[0].concentration.vmf = 2.0;
        let mut note = |cosine: f64, key| {
            snapshot.answer.pairs[0].mean_direction_cosine.vmf = cosine;
            Readings::new(&snapshot, &page()).zero_note(key)
        };
        let little = note(-0.3, 1);
        assert!(little.starts_with("So vague"), "1/κ above all: {little}");
        assert_eq!(note(-0.9, 1), "", "it speaks against the picture");
        assert_eq!(note(-0.3, 2), "", "it is not vague");
    }
}
