//! An answer as it is read: every number on the page comes from here, in f64.

use std::collections::HashMap;

use crate::explorer::extent::Extent;
use crate::explorer::state::{ExplorerState, Measure};
use crate::metrics::percentile_of;
use crate::numerics::Family;
use crate::protocol::{Answer, CaptionReading, ModelCard, PairReading, PerFamily};

/// Nats above uniform of the uniform law itself, which stands for "none of these".
const KNOWING_NOTHING: f64 = 0.0;

/// An answer with the model that gave it and the rows it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The model that answered.
    pub card: ModelCard,
    /// Keys of the captions, in the answer's order.
    pub keys: Vec<u64>,
    /// What the engine said.
    pub answer: Answer,
    /// Whether it was recorded when the model was made, and not computed on this device.
    pub recorded: bool,
}

/// A snapshot under one law.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    captions: HashMap<u64, CaptionView>,
    pairs: HashMap<u64, HashMap<String, PairView>>,
    /// The share of "none of these" for each picture, where it takes part.
    none_shares: HashMap<String, f64>,
    /// The scale of all bars.
    pub extent: Extent,
}

/// One caption's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionView {
    /// The words these numbers belong to.
    pub caption: String,
    /// Concentration κ.
    pub concentration: f64,
    /// The paper's uncertainty, 1/κ.
    pub uncertainty: f64,
    /// Share, in percent, of the reference captions that are less vague.
    pub percentile: f64,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut.
    pub truncated: bool,
    /// Words the model does not know.
    pub unknown_words: Vec<String>,
}

/// One caption against one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct PairView {
    /// Log-likelihood minus that of the uniform law.
    pub nats: f64,
    /// The log-density itself.
    pub log_density: f64,
    /// CLIP's own cosine.
    pub cosine: f64,
    /// Cosine of the mean direction and the picture.
    pub mean_direction_cosine: f64,
    /// Logarithm of the normaliser minus that of the uniform law.
    pub log_normalizer_ratio: f64,
    /// The caption's share among the captions shown, for this picture: softmax of τ · nats.
    pub posterior: f64,
    /// Whether no other caption shown measures more for this picture.
    pub is_best_caption: bool,
    /// Whether no other picture shown measures more under this caption.
    pub is_best_picture: bool,
    /// The caption's place for this picture by nats, from 1; 0 where it was not compared.
    pub likelihood_rank: usize,
    /// The same by CLIP's cosine.
    pub cosine_rank: usize,
}

impl Readings {
    /// Reads a snapshot under the state's law, for the captions and pictures that are still on the page.
    pub fn new(snapshot: &Snapshot, state: &ExplorerState) -> Self {
        let family = state.family;
        let rows: Vec<(usize, u64)> = snapshot
            .keys
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, key)| state.text(key).is_some())
            .collect();
        let columns: Vec<(usize, &String)> = snapshot
            .answer
            .images
            .iter()
            .enumerate()
            .filter(|(_, id)| state.pictures.contains(id))
            .collect();
        let captions = rows
            .iter()
            .filter_map(|&(i, key)| Some((key, caption_view(snapshot, i, family)?)))
            .collect();
        let mut grid: Vec<Vec<PairView>> = rows
            .iter()
            .map(|&(i_text, _)| {
                columns
                    .iter()
                    .filter_map(|&(i_image, _)| pair_view(snapshot, i_text, i_image, family))
                    .collect()
            })
            .collect();
        grid.retain(|row: &Vec<PairView>| row.len() == columns.len());
        mark_best(&mut grid, state.measure);
        fill_ranks(&mut grid);
        let none = state.counts_none.then_some(KNOWING_NOTHING);
        let none_shares = fill_posterior(
            &mut grid,
            of_family(snapshot.card.logit_scale, family),
            none,
        );
        let none_shares = columns.iter().map(|(_, id)| (*id).clone()).zip(none_shares);
        let none_shares = none_shares.collect();
        let extent = Extent::of(
            grid.iter()
                .flatten()
                .map(|pair| pair.measured(state.measure)),
        );
        let named = |row: Vec<PairView>| {
            columns
                .iter()
                .map(|(_, id)| (*id).clone())
                .zip(row)
                .collect()
        };
        let pairs = rows
            .iter()
            .map(|&(_, key)| key)
            .zip(grid.into_iter().map(named))
            .collect();
        Self {
            captions,
            pairs,
            none_shares,
            extent,
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

    /// The caption with the most nats for a picture.
    pub fn best_caption(&self, image: &str) -> Option<u64> {
        let column = self
            .pairs
            .iter()
            .filter_map(|(key, row)| Some((*key, row.get(image)?.nats)));
        let (key, _) = column.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(key)
    }

    /// The share of "none of these" for a picture, where it takes part.
    pub fn none_share(&self, image: &str) -> Option<f64> {
        self.none_shares.get(image).copied()
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

    /// The picture with the most nats under a caption.
    pub fn best_picture(&self, key: u64) -> Option<&str> {
        let row = self.pairs.get(&key)?;
        let (id, _) = row.iter().max_by(|a, b| a.1.nats.total_cmp(&b.1.nats))?;
        Some(id)
    }
}

impl PairView {
    /// The value that bars show and that is ranked by.
    pub fn measured(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Likelihood => self.nats,
            Measure::Cosine => self.cosine,
        }
    }
}

/// exp(xᵢ) / Σⱼ exp(xⱼ), without overflow.
pub fn softmax(logits: &[f64]) -> Vec<f64> {
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raised: Vec<f64> = logits.iter().map(|logit| (logit - highest).exp()).collect();
    let sum: f64 = raised.iter().sum();
    raised.into_iter().map(|value| value / sum).collect()
}

fn caption_view(snapshot: &Snapshot, i_text: usize, family: Family) -> Option<CaptionView> {
    let reading = snapshot.answer.captions.get(i_text)?;
    Some(read_caption(&snapshot.card, reading, family))
}

/// Reads one caption under a law.
pub(crate) fn read_caption(
    card: &ModelCard,
    reading: &CaptionReading,
    family: Family,
) -> CaptionView {
    let concentration = of_family(reading.concentration, family);
    let uncertainty = 1.0 / concentration;
    let reference = match family {
        Family::VonMisesFisher => &card.reference_uncertainty.vmf,
        Family::PowerSpherical => &card.reference_uncertainty.power_spherical,
    };
    CaptionView {
        caption: reading.caption.clone(),
        concentration,
        uncertainty,
        percentile: percentile_of(reference, uncertainty),
        n_tokens: reading.n_tokens,
        truncated: reading.truncated,
        unknown_words: reading.unknown_words.clone(),
    }
}

fn pair_view(
    snapshot: &Snapshot,
    i_text: usize,
    i_image: usize,
    family: Family,
) -> Option<PairView> {
    let answer = &snapshot.answer;
    let reading = answer.pairs.get(i_text * answer.images.len() + i_image)?;
    let caption = answer.captions.get(i_text)?;
    Some(read_pair(&snapshot.card, caption, reading, family))
}

/// Reads one pair under a law, without its place among others.
pub(crate) fn read_pair(
    card: &ModelCard,
    caption: &CaptionReading,
    reading: &PairReading,
    family: Family,
) -> PairView {
    let (embed_dim, concentration) = (card.embed_dim, of_family(caption.concentration, family));
    let cosine = of_family(reading.mean_direction_cosine, family);
    PairView {
        nats: family.log_likelihood_ratio(embed_dim, concentration, cosine),
        log_density: family.log_likelihood(embed_dim, concentration, cosine),
        cosine: reading.cosine,
        mean_direction_cosine: cosine,
        log_normalizer_ratio: family.log_normalizer_ratio(embed_dim, concentration),
        posterior: f64::NAN,
        is_best_caption: false,
        is_best_picture: false,
        likelihood_rank: 0,
        cosine_rank: 0,
    }
}

/// Marks the greatest of each row and of each column; where there is only one, there is nothing to be best among.
fn mark_best(grid: &mut [Vec<PairView>], measure: Measure) {
    let order = |a: &PairView, b: &PairView| a.measured(measure).total_cmp(&b.measured(measure));
    let (n_texts, n_images) = (grid.len(), grid.first().map_or(0, Vec::len));
    if n_images > 1 {
        for row in grid.iter_mut() {
            if let Some(best) = row.iter_mut().max_by(|a, b| order(a, b)) {
                best.is_best_picture = true;
            }
        }
    }
    if n_texts > 1 {
        for i_image in 0..n_images {
            let column = grid.iter_mut().map(|row| &mut row[i_image]);
            if let Some(best) = column.max_by(|a, b| order(a, b)) {
                best.is_best_caption = true;
            }
        }
    }
}

/// Fills the places of each column, from 1 for the greatest; equals share a place.
fn fill_ranks(grid: &mut [Vec<PairView>]) {
    let ranks = |values: &[f64]| -> Vec<usize> {
        let rank = |value: &f64| 1 + values.iter().filter(|other| *other > value).count();
        values.iter().map(rank).collect()
    };
    for i_image in 0..grid.first().map_or(0, Vec::len) {
        let column = |read: fn(&PairView) -> f64| {
            let values = grid.iter().map(|row| read(&row[i_image]));
            ranks(&values.collect::<Vec<f64>>())
        };
        let (likelihood, cosine) = (column(|pair| pair.nats), column(|pair| pair.cosine));
        for (row, ranks) in grid.iter_mut().zip(likelihood.into_iter().zip(cosine)) {
            (row[i_image].likelihood_rank, row[i_image].cosine_rank) = ranks;
        }
    }
}

/// Fills the shares of each column, and returns those of a further candidate with so many nats for every picture.
fn fill_posterior(
    grid: &mut [Vec<PairView>],
    logit_scale: f64,
    further_nats: Option<f64>,
) -> Vec<f64> {
    let n_images = grid.first().map_or(0, Vec::len);
    let mut further_shares = Vec::new();
    for i_image in 0..n_images {
        let nats = grid.iter().map(|row| row[i_image].nats).chain(further_nats);
        let logits: Vec<f64> = nats.map(|nats| logit_scale * nats).collect();
        let shares = softmax(&logits);
        for (row, share) in grid.iter_mut().zip(&shares) {
            row[i_image].posterior = *share;
        }
        further_shares.extend(further_nats.and(shares.last()));
    }
    further_shares
}

/// The value of one family.
pub fn of_family(values: PerFamily<f64>, family: Family) -> f64 {
    match family {
        Family::VonMisesFisher => values.vmf,
        Family::PowerSpherical => values.power_spherical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::cache::tests::card;

    const DIM: usize = 128;
    const LOGIT_SCALE: f64 = 2.5;

    /// Two captions, κ 4 and 30, against two pictures.
    fn snapshot(keys: &[u64]) -> Snapshot {
        let caption = |concentration| CaptionReading {
            concentration: PerFamily {
                vmf: concentration,
                power_spherical: concentration,
            },
            ..CaptionReading::default()
        };
        let pair = |cosine| PairReading {
            cosine: cosine / 2.0,
            mean_direction_cosine: PerFamily {
                vmf: cosine,
                power_spherical: cosine,
            },
        };
        let answer = Answer {
            captions: vec![caption(4.0), caption(30.0)],
            images: vec!["x".into(), "y".into()],
            pairs: [0.3, 0.2, -0.1, 0.6].map(pair).to_vec(),
            ..Answer::default()
        };
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

    #[test]
    fn nats_are_the_log_likelihood_above_the_uniform_law() {
        let state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let readings = read(&state);
        let pair = readings
            .pair(state.captions[1].key, "y")
            .expect("it was answered");
        let expected = Family::VonMisesFisher.log_likelihood_ratio(DIM, 30.0, 0.6);
        assert_eq!(pair.nats, expected, "for κ = 30 at cosine 0.6");
        let uniform = Family::VonMisesFisher.log_likelihood(DIM, 0.0, 0.0);
        let difference = pair.log_density - pair.nats - uniform;
        assert!(
            difference.abs() < 1e-9,
            "the log-density is the nats above uniform's own; off by {difference}"
        );
    }

    #[test]
    fn the_best_are_marked_once_in_each_row_and_column() {
        let state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let readings = read(&state);
        let marks = |row: usize, id| {
            let pair = readings
                .pair(state.captions[row].key, id)
                .expect("it was answered");
            (pair.is_best_picture, pair.is_best_caption)
        };
        assert_eq!(
            marks(0, "x"),
            (true, true),
            "x is best for the first caption, and the reverse"
        );
        assert_eq!(marks(1, "x"), (false, false), "nothing prefers this pair");
        assert_eq!(
            marks(1, "y"),
            (true, true),
            "y and the second caption prefer each other"
        );
        assert_eq!(
            readings.best_picture(state.captions[1].key),
            Some("y"),
            "by name too"
        );
        assert_eq!(
            readings.best_caption("x"),
            Some(state.captions[0].key),
            "and by key"
        );
    }

    #[test]
    fn the_posterior_over_captions_sums_to_one_for_each_picture() {
        let state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let readings = read(&state);
        for id in ["x", "y"] {
            let pair = |row: usize| {
                readings
                    .pair(state.captions[row].key, id)
                    .expect("it was answered")
                    .clone()
            };
            let (a, b) = (pair(0), pair(1));
            assert!(
                (a.posterior + b.posterior - 1.0).abs() < 1e-12,
                "for {id}: {} + {}",
                a.posterior,
                b.posterior
            );
            let odds = (a.posterior / b.posterior).ln() - LOGIT_SCALE * (a.nats - b.nats);
            assert!(
                odds.abs() < 1e-9,
                "the log odds for {id} are τ times the nats between them; off by {odds}"
            );
        }
    }

    #[test]
    fn none_of_these_takes_its_share_at_zero_nats() {
        let mut state = ExplorerState::new(["a", "b"], ["x", "y"]);
        assert_eq!(
            read(&state).none_share("x"),
            None,
            "it is not counted at first"
        );
        state.counts_none = true;
        let readings = read(&state);
        for id in ["x", "y"] {
            let none = readings.none_share(id).expect("it is counted");
            let pair = |row: usize| {
                readings
                    .pair(state.captions[row].key, id)
                    .expect("answered")
            };
            let sum = none + pair(0).posterior + pair(1).posterior;
            assert!(
                (sum - 1.0).abs() < 1e-12,
                "the shares for {id} sum to {sum}"
            );
            let odds = (pair(0).posterior / none).ln() - LOGIT_SCALE * pair(0).nats;
            assert!(odds.abs() < 1e-9, "none has 0 nats for {id}; off by {odds}");
        }
    }

    #[test]
    fn places_are_counted_down_each_column_by_both_measures() {
        let state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let readings = read(&state);
        for id in ["x", "y"] {
            let pair = |row: usize| {
                readings
                    .pair(state.captions[row].key, id)
                    .expect("answered")
            };
            let (a, b) = (pair(0), pair(1));
            assert_eq!(
                a.likelihood_rank < b.likelihood_rank,
                a.nats > b.nats,
                "by nats for {id}: {a:?} and {b:?}"
            );
            assert_eq!(
                a.cosine_rank < b.cosine_rank,
                a.cosine > b.cosine,
                "by cosine for {id}: {a:?} and {b:?}"
            );
            assert_eq!(a.likelihood_rank + b.likelihood_rank, 3, "places 1 and 2");
        }
        let n_disputed = ["x", "y"].into_iter().filter(|id| {
            let pair = |row: usize| {
                readings
                    .pair(state.captions[row].key, id)
                    .expect("answered")
            };
            (pair(0).nats > pair(1).nats) != (pair(0).cosine > pair(1).cosine)
        });
        assert_eq!(
            readings.n_disputed(),
            (n_disputed.count(), 2),
            "of two pictures"
        );
    }

    #[test]
    fn best_is_what_the_shown_measure_says() {
        let mut state = ExplorerState::new(["a", "b"], ["x", "y"]);
        state.measure = Measure::Cosine;
        let readings = read(&state);
        for id in ["x", "y"] {
            for caption in &state.captions {
                let pair = readings.pair(caption.key, id).expect("answered");
                assert_eq!(
                    pair.is_best_caption,
                    pair.cosine_rank == 1,
                    "{pair:?} for {id}"
                );
            }
        }
    }

    #[test]
    fn a_caption_that_left_the_page_leaves_the_posterior() {
        let mut state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let keys: Vec<u64> = state.captions.iter().map(|caption| caption.key).collect();
        state.remove_caption(keys[1]);
        let readings = Readings::new(&snapshot(&keys), &state);
        let pair = readings.pair(keys[0], "x").expect("it was answered");
        assert_eq!(pair.posterior, 1.0, "one caption is left");
        assert!(!pair.is_best_caption, "nothing is best among one");
        assert_eq!(readings.caption(keys[1]), None, "the other is not read");
    }

    #[test]
    fn the_percentile_is_taken_among_the_laws_own_references() {
        let mut state = ExplorerState::new(["a", "b"], []);
        let key = state.captions[0].key;
        let percentile = |state: &ExplorerState| {
            read(state)
                .caption(key)
                .expect("it was answered")
                .percentile
        };
        assert_eq!(percentile(&state), 75.0, "1/4 lies above three of four");
        state.family = Family::PowerSpherical;
        assert_eq!(
            percentile(&state),
            100.0,
            "and above both of the other law's"
        );
    }

    #[test]
    fn an_answer_that_is_too_short_gives_no_numbers() {
        let state = ExplorerState::new(["a", "b"], ["x", "y"]);
        let mut short = snapshot(&[1, 2]);
        short.answer.pairs.truncate(1);
        let readings = Readings::new(&short, &state);
        assert_eq!(readings.pair(2, "y"), None, "nothing is made up");
    }

    #[test]
    fn great_logits_do_not_overflow() {
        assert_eq!(
            softmax(&[1e4, 1e4]),
            [0.5, 0.5],
            "equal logits share equally"
        );
    }
}
