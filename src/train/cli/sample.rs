//! Arguments of `train sample`, and the draws: directions from the distribution of a caption.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::Serialize;

use super::captions::{CaptionArgs, CaptionNote, write_notes};
use crate::family::Family;
use crate::inference::{CaptionDistribution, TextEncoding};
use crate::train::files::put;

/// Percent of the draws below the quantiles that are printed.
const PERCENTS: [usize; 3] = [5, 50, 95];

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train sample --caption 'a red star' --caption 'a picture' -n 1000 --out draws.csv"
)]
pub(super) struct SampleArgs {
    #[command(flatten)]
    captions: CaptionArgs,
    /// Number of directions to draw for each caption.
    #[arg(short, long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    n: u32,
    /// Seed of the draws.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the directions into this CSV file: the number of the caption, from 0, and a column for each coordinate.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Draws as many directions as asked for from each caption's distribution, and says how they lie about its mean
/// direction.
///
/// # Errors
///
/// A model that cannot be opened or has no adapters, or a file that cannot be written.
pub(super) fn run(args: &SampleArgs) -> Result<()> {
    let (family, captions) = (args.captions.family(), &args.captions.captions);
    let session = args.captions.open()?;
    let texts = pollster::block_on(session.encode_text(captions))?;
    let distributions = distributions(&texts, family)?;
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let mut draw = |distribution: &CaptionDistribution| -> Vec<Vec<f64>> {
        let (mean, d) = (
            unit(&distribution.mean_direction),
            distribution.mean_direction.len(),
        );
        let one = |_| family.sample(d, distribution.concentration, &mean, &mut rng);
        (0..args.n).map(one).collect()
    };
    let draws: Vec<_> = distributions.iter().map(|found| draw(found)).collect();
    if let Some(out) = &args.out {
        write(out, &draws)?;
    }
    let statistics = distributions.iter().zip(&draws);
    let statistics = statistics.map(|(found, draws)| DrawStatistics::of(family, found, draws));
    let rows = captions.iter().zip(&texts).zip(statistics);
    let row = |((caption, text), draws): ((&String, _), _)| SampledCaption {
        caption: caption.clone(),
        draws,
        note: CaptionNote::of(caption, text),
    };
    args.captions
        .print(&SampledCaptions(rows.map(row).collect()))
}

fn distributions(texts: &[TextEncoding], family: Family) -> Result<Vec<&CaptionDistribution>> {
    let distributions = texts.iter().filter_map(|text| text.distributions.as_ref());
    let distributions: Vec<_> = distributions.map(|both| both.get(family)).collect();
    ensure!(
        distributions.len() == texts.len(),
        "the model has no adapters, so its captions are points: there is nothing to draw from; `train adapt` makes adapters"
    );
    Ok(distributions)
}

/// The direction in f64, scaled to length one again.
fn unit(direction: &[f32]) -> Vec<f64> {
    let wide: Vec<f64> = direction.iter().map(|&value| f64::from(value)).collect();
    let length = dot(&wide, &wide).sqrt();
    wide.iter().map(|value| value / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn write(out: &Path, draws: &[Vec<Vec<f64>>]) -> Result<()> {
    let d = draws[0][0].len();
    let columns: Vec<String> = (0..d).map(|i| format!("x{i}")).collect();
    let mut text = format!("caption,{}\n", columns.join(","));
    for (i_caption, draws) in draws.iter().enumerate() {
        for direction in draws {
            let values: Vec<String> = direction.iter().map(f64::to_string).collect();
            text.push_str(&format!("{i_caption},{}\n", values.join(",")));
        }
    }
    put(out, text)
}

/// Row of the table: statistics of one caption's draws, and what the model could not read of it.
#[derive(Debug, Serialize)]
struct SampledCaption {
    caption: String,
    #[serde(flatten)]
    draws: DrawStatistics,
    #[serde(flatten)]
    note: CaptionNote,
}

/// Statistics of the draws of one caption, beside those that its distribution gives.
#[derive(Debug, Serialize)]
struct DrawStatistics {
    /// Concentration κ of the caption's distribution.
    kappa: f64,
    /// Mean of the cosine to the mean direction, `A_d(κ)`.
    expected_cosine: f64,
    /// Mean of the cosine to the mean direction over the draws.
    mean_cosine: f64,
    /// Length of the mean of the draws, which is `A_d(κ)` for infinitely many.
    resultant_length: f64,
    /// Cosines below which 5, 50 and 95 % of the draws lie.
    quantiles: [f64; 3],
}

impl DrawStatistics {
    fn of(family: Family, distribution: &CaptionDistribution, draws: &[Vec<f64>]) -> Self {
        let (mean, kappa) = (
            unit(&distribution.mean_direction),
            distribution.concentration,
        );
        let mut cosines: Vec<f64> = draws
            .iter()
            .map(|direction| dot(direction, &mean))
            .collect();
        cosines.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mut sum = vec![0.0; mean.len()];
        for direction in draws {
            sum.iter_mut()
                .zip(direction)
                .for_each(|(sum, value)| *sum += value);
        }
        Self {
            kappa,
            expected_cosine: family.mean_resultant_length(mean.len(), kappa),
            mean_cosine: cosines.iter().sum::<f64>() / n,
            resultant_length: dot(&sum, &sum).sqrt() / n,
            quantiles: PERCENTS.map(|percent| cosines[percent * (cosines.len() - 1) / 100]),
        }
    }
}

/// The answer of `train sample`, a row for each caption.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct SampledCaptions(Vec<SampledCaption>);

impl fmt::Display for SampledCaptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["κ", "A_d(κ)", "mean t", "length", "5 %", "50 %", "95 %"];
        for head in heads {
            write!(f, "{head:>10} ")?;
        }
        writeln!(f, " caption")?;
        for SampledCaption {
            caption,
            draws: row,
            ..
        } in &self.0
        {
            let [low, middle, high] = row.quantiles;
            write!(
                f,
                "{:>10.4} {:>10.4} {:>10.4} ",
                row.kappa, row.expected_cosine, row.mean_cosine
            )?;
            write!(
                f,
                "{:>10.4} {low:>10.4} {middle:>10.4} {high:>10.4}  ",
                row.resultant_length
            )?;
            writeln!(f, "{caption}")?;
        }
        let notes = self.0.iter().map(|row| (row.caption.as_str(), &row.note));
        write_notes(f, notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_could_not_read_is_said_below_the_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("public/models/scenes");
        let session = crate::train::export::bundle::open(&folder, &crate::device::cpu());
        let captions = ["a red star", "a golden retriever"].map(str::to_owned);
        let texts = pollster::block_on(session.expect("the shipped model").encode_text(&captions));
        let family = Family::PowerSpherical;
        let row = |(caption, text): (&String, &TextEncoding)| {
            let both = text.distributions.as_ref().expect("it has adapters");
            let found = both.get(family);
            let mean = unit(&found.mean_direction);
            SampledCaption {
                caption: caption.clone(),
                draws: DrawStatistics::of(family, found, &[mean]),
                note: CaptionNote::of(caption, text),
            }
        };
        let texts = texts.expect("encoded");
        let table = SampledCaptions(captions.iter().zip(&texts).map(row).collect());
        let text = table.to_string();
        let last = text.lines().last().expect("a line");
        assert!(
            last.starts_with("“a golden retriever”: The model cannot read this"),
            "{text}"
        );
        assert!(!text.contains("“a red star”"), "it is read: {text}");
        let json = serde_json::to_value(&table).expect("plain data");
        assert_eq!(json[0]["is_unread"], false, "{json}");
        assert_eq!(json[1]["is_unread"], true, "{json}");
    }

    #[test]
    fn draws_lie_about_the_mean_direction_as_the_distribution_says() {
        let mean_direction: Vec<f32> = (0..16).map(|i| (i as f32 - 3.0).sin()).collect();
        let mean = unit(&mean_direction);
        for family in Family::ALL {
            let mut rng = ChaCha8Rng::seed_from_u64(4);
            let of_kappa = |concentration| CaptionDistribution {
                concentration,
                mean_direction: mean_direction.clone(),
            };
            let mut drawn = |concentration: f64| {
                let draws: Vec<_> = (0..4000)
                    .map(|_| family.sample(16, concentration, &mean, &mut rng))
                    .collect();
                DrawStatistics::of(family, &of_kappa(concentration), &draws)
            };
            let (vague, full) = (drawn(2.0), drawn(40.0));
            for row in [&vague, &full] {
                // The standard error of a mean cosine of 4,000 draws is below .004.
                let error = (row.mean_cosine - row.expected_cosine).abs();
                assert!(error < 0.016, "{family:?}: {row:?}");
                assert!(row.quantiles.is_sorted(), "{row:?}");
                assert!(row.resultant_length >= row.mean_cosine - 1e-9, "{row:?}");
            }
            assert!(
                full.quantiles[0] > vague.quantiles[1],
                "{family:?}: {vague:?}, {full:?}"
            );
        }
    }
}
