//! Measurements of the fits as `evaluation.json`, and as a table.

use anyhow::{Context as _, Result};

use crate::family::PerFamily;
use crate::report::{
    AdaptedCosine, AdaptedFamily, AdaptedReport, BothWays, LevelStatistic, Metric, RecallAt,
    Retrieval,
};
use crate::train::experiments::Numbers;
use crate::train::experiments::evaluation_table::number;
use crate::train::features::cache::Cache;

/// Report of both fits and of the encoder alone on the held-out split.
pub(super) fn report(
    cache: &Cache,
    seed: u64,
    fits: PerFamily<&Numbers>,
    cosine: &Numbers,
) -> Result<AdaptedReport> {
    let family = |numbers: &Numbers| -> Result<_> {
        Ok(AdaptedFamily {
            recall: recall(numbers)?,
            spearman_levels: spearman_levels(numbers),
        })
    };
    let (train, test) = (&cache.train.ids, &cache.test.ids);
    Ok(AdaptedReport {
        dataset: cache.config.dataset.clone(),
        seed,
        n_training_pictures: train.images.len(),
        n_training_captions: train.captions.len(),
        n_pictures: test.images.len(),
        n_captions: test.captions.len(),
        families: PerFamily {
            vmf: family(fits.vmf)?,
            power_spherical: family(fits.power_spherical)?,
        },
        cosine: AdaptedCosine {
            recall: recall(cosine)?,
        },
    })
}

fn recall(numbers: &Numbers) -> Result<BothWays<RecallAt>> {
    let at = |of, k| {
        let metric = Metric::Recall(of, k);
        let value = numbers.get(&metric).copied();
        value.with_context(|| format!("a fit without {metric}"))
    };
    let of = |of| -> Result<_> {
        Ok(RecallAt {
            r1: at(of, 1)?,
            r5: at(of, 5)?,
            r10: at(of, 10)?,
        })
    };
    Ok(BothWays {
        text_to_image: of(Retrieval::TextToImage)?,
        image_to_text: of(Retrieval::ImageToText)?,
    })
}

fn spearman_levels(numbers: &Numbers) -> BothWays<Option<f64>> {
    let of = |of| {
        let metric = Metric::Levels(of, LevelStatistic::Spearman);
        numbers.get(&metric).copied()
    };
    BothWays {
        text_to_image: of(Retrieval::TextToImage),
        image_to_text: of(Retrieval::ImageToText),
    }
}

/// The report as a table in Markdown.
#[must_use]
pub fn markdown(report: &AdaptedReport) -> String {
    let (dataset, n_pictures, n_captions) = (&report.dataset, report.n_pictures, report.n_captions);
    let mut lines = vec![
        format!(
            "| {dataset}, {n_captions} captions of {n_pictures} pictures | vMF | power spherical | cosine |"
        ),
        "|---|---|---|---|".to_owned(),
    ];
    let PerFamily {
        vmf,
        power_spherical,
    } = &report.families;
    let mut row = |label: &str, values: [Option<f64>; 3]| {
        let cells = values.map(|value| value.map_or_else(|| "–".to_owned(), number));
        lines.push(format!("| {label} | {} |", cells.join(" | ")));
    };
    let recalls = [&vmf.recall, &power_spherical.recall, &report.cosine.recall];
    let [to_image, to_text] = [
        recalls.map(|recall| recall.text_to_image),
        recalls.map(|recall| recall.image_to_text),
    ];
    for (label, of) in [("text → image", to_image), ("image → text", to_text)] {
        row(&format!("{label}, R@1"), of.map(|at| Some(at.r1)));
        row("… R@5", of.map(|at| Some(at.r5)));
        row("… R@10", of.map(|at| Some(at.r10)));
    }
    let [vmf, power_spherical] = [&vmf.spearman_levels, &power_spherical.spearman_levels];
    row(
        "S over ten levels of 1/κ, text → image",
        [vmf.text_to_image, power_spherical.text_to_image, None],
    );
    row(
        "… image → text",
        [vmf.image_to_text, power_spherical.image_to_text, None],
    );
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(shift: f64) -> Numbers {
        let names = [
            ("t2i_recall_at_1", 0.1),
            ("t2i_recall_at_5", 0.2),
            ("t2i_recall_at_10", 0.3),
            ("i2t_recall_at_1", 0.4),
            ("i2t_recall_at_5", 0.5),
            ("i2t_recall_at_10", 0.6),
            ("t2i_spearman", -0.9),
        ];
        let metric = |name: &str| name.parse::<Metric>().expect("a metric");
        names
            .map(|(name, value)| (metric(name), value + shift))
            .into()
    }

    #[test]
    fn each_number_stands_in_its_own_cell() {
        let family = |numbers: &Numbers| AdaptedFamily {
            recall: recall(numbers).expect("all recalls"),
            spearman_levels: spearman_levels(numbers),
        };
        let table = markdown(&AdaptedReport {
            dataset: "coco".to_owned(),
            seed: 0,
            n_training_pictures: 8,
            n_training_captions: 40,
            n_pictures: 4,
            n_captions: 20,
            families: PerFamily {
                vmf: family(&numbers(0.0)),
                power_spherical: family(&numbers(0.01)),
            },
            cosine: AdaptedCosine {
                recall: recall(&numbers(0.02)).expect("all recalls"),
            },
        });
        for line in [
            "| coco, 20 captions of 4 pictures | vMF | power spherical | cosine |",
            "| text → image, R@1 | .100 | .110 | .120 |",
            "| … R@10 | .600 | .610 | .620 |",
            "| S over ten levels of 1/κ, text → image | −.900 | −.890 | – |",
            "| … image → text | – | – | – |",
        ] {
            assert!(
                table.lines().any(|found| found == line),
                "{line} in\n{table}"
            );
        }
    }

    #[test]
    fn a_fit_that_lacks_a_recall_is_refused() {
        let mut numbers = numbers(0.0);
        numbers.remove(&Metric::Recall(Retrieval::ImageToText, 5));
        let error = recall(&numbers).expect_err("one is missing");
        assert!(error.to_string().contains("i2t_recall_at_5"), "{error}");
    }
}
