//! Which of the paper's findings hold: rules over `results.json`, so that nobody has to look kindly at a table.

use std::fmt::Write as _;

use super::results::{DIVERGED_AT_STEP, Results, Summary};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmVmf, Bayesvlm, Clip, Deterministic, Gaussian, GaussianDiagonal,
    ImagePs, ImageVmf, Pcmepp, Pfe, Probvlm, Prolip, SymvlmPs, SymvlmPsRaw, SymvlmVmf,
    SymvlmVmfRaw,
};

/// The paper's method.
const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// What the paper compares it with.
const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];
/// What is retrieved; the last where more captions of a picture are true than its own.
const DIRECTIONS: [(&str, &str); 3] = [
    ("t2i", "text → image"),
    ("i2t", "image → text"),
    ("i2t_own", "image → own text"),
];
/// S above this is no downward trend: of ten levels in random order, one in twenty has less.
const NO_TREND: f64 = -0.564;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;

/// Which way a number is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Greater,
    Less,
}

/// What one comparison says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    For,
    Against,
    /// The difference is within the spread over seeds.
    Neither,
}

/// One row of a finding.
#[derive(Debug, Clone, PartialEq)]
struct Comparison {
    what: String,
    found: String,
    verdict: Verdict,
}

/// Something that the paper says, and what these results say of it.
#[derive(Debug, Clone, PartialEq)]
struct Finding {
    claim: &'static str,
    comparisons: Vec<Comparison>,
}

/// The findings as Markdown, for which there are numbers of one data set.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let findings = [
        uncertainty_orders_recall(results, "spearman", Better::Less),
        uncertainty_orders_recall(results, "r_squared", Better::Greater),
        recall_rises(results),
        pictures_uncertainty_says_nothing(results),
        symmetry_costs_recall(results),
        gaussians_fall_in_a_line(results),
        fine_tuning_hurts_zero_shot(results),
        dummies_need_concentration(results),
        hierarchies_are_ordered(results),
    ];
    let mut text = String::new();
    for finding in findings.iter().filter(|f| !f.comparisons.is_empty()) {
        finding.write(&mut text);
    }
    for method in results.methods() {
        if let Some(found) = results.summary(method, DIVERGED_AT_STEP) {
            let (title, step) = (method.title(), found.mean);
            writeln!(text, "{title}: the loss left the numbers after step {step:.0} (mean of {} seeds), so that it has no others.\n", found.n).ok();
        }
    }
    text
}

impl Finding {
    fn count(&self, verdict: Verdict) -> usize {
        let of = |comparison: &&Comparison| comparison.verdict == verdict;
        self.comparisons.iter().filter(of).count()
    }

    fn verdict(&self) -> String {
        let (n_for, n_against) = (self.count(Verdict::For), self.count(Verdict::Against));
        match (n_for, n_against) {
            _ if n_for == self.comparisons.len() => "holds".to_owned(),
            (0, 0) => "undecided: all differences are within the spread over seeds".to_owned(),
            (0, _) => "does not hold".to_owned(),
            _ => format!(
                "holds in {n_for} of {} comparisons, the opposite in {n_against}",
                self.comparisons.len()
            ),
        }
    }

    fn write(&self, text: &mut String) {
        writeln!(text, "**{}** — {}.\n", self.claim, self.verdict()).ok();
        text.push_str("<details><summary>Comparisons</summary>\n\n");
        text.push_str("| comparison | found | |\n|---|---|---|\n");
        for Comparison {
            what,
            found,
            verdict,
        } in &self.comparisons
        {
            let sign = match verdict {
                Verdict::For => "yes",
                Verdict::Against => "no",
                Verdict::Neither => "as good",
            };
            writeln!(text, "| {what} | {found} | {sign} |").ok();
        }
        text.push_str("\n</details>\n\n");
    }
}

/// Whether one method's number is better than another's by more than the spread over seeds of either.
fn compare(
    results: &Results,
    metric: &str,
    what: &str,
    [ours, theirs]: [MethodName; 2],
    better: Better,
) -> Option<Comparison> {
    let (a, b) = (
        results.summary(ours, metric)?,
        results.summary(theirs, metric)?,
    );
    let gain = match better {
        Better::Greater => a.mean - b.mean,
        Better::Less => b.mean - a.mean,
    };
    Some(Comparison {
        what: format!("{what}: {} against {}", ours.title(), theirs.title()),
        found: format!("{} against {}", shown(a), shown(b)),
        verdict: judge(gain, a.sd.max(b.sd)),
    })
}

fn judge(gain: f64, spread: f64) -> Verdict {
    if gain > spread {
        Verdict::For
    } else if gain < -spread {
        Verdict::Against
    } else {
        Verdict::Neither
    }
}

/// Whether a method's number lies on the side of a bound that a finding says.
fn bounded(
    results: &Results,
    metric: &str,
    what: &str,
    method: MethodName,
    (better, bound): (Better, f64),
) -> Option<Comparison> {
    let found = results.summary(method, metric)?;
    let (is_there, sign) = match better {
        Better::Greater => (found.mean > bound, '>'),
        Better::Less => (found.mean < bound, '<'),
    };
    Some(Comparison {
        what: format!("{what}: {} {sign} {bound}", method.title()),
        found: shown(found),
        verdict: if is_there {
            Verdict::For
        } else {
            Verdict::Against
        },
    })
}

fn shown(found: Summary) -> String {
    format!("{:.3} ± {:.3}", found.mean, found.sd)
}

/// Every ordered pair of ours and theirs.
fn pairs<'a>(
    ours: &'a [MethodName],
    theirs: &'a [MethodName],
) -> impl Iterator<Item = [MethodName; 2]> + 'a {
    ours.iter()
        .flat_map(move |&a| theirs.iter().map(move |&b| [a, b]))
}

fn uncertainty_orders_recall(results: &Results, metric: &str, better: Better) -> Finding {
    let (claim, name) = match better {
        Better::Less => (
            "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
            "S",
        ),
        Better::Greater => (
            "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
            "R²",
        ),
    };
    let comparisons = DIRECTIONS.iter().flat_map(|(direction, title)| {
        pairs(&ASYMVLM, &BASELINES).filter_map(move |pair| {
            let metric = format!("{direction}_{metric}");
            compare(results, &metric, &format!("{name}, {title}"), pair, better)
        })
    });
    Finding {
        claim,
        comparisons: comparisons.collect(),
    }
}

fn recall_rises(results: &Results) -> Finding {
    let mut others = vec![Clip];
    others.extend(BASELINES);
    let comparisons = DIRECTIONS.iter().flat_map(|(direction, title)| {
        pairs(&ASYMVLM, &others).filter_map(move |pair| {
            let metric = format!("{direction}_recall_at_1");
            let what = format!("Recall@1, {title}");
            compare(results, &metric, &what, pair, Better::Greater)
        })
    });
    Finding {
        claim: "AsymVLM finds more than CLIP and the baselines (Recall@1)",
        comparisons: comparisons.collect(),
    }
}

fn pictures_uncertainty_says_nothing(results: &Results) -> Finding {
    let comparisons = DIRECTIONS.iter().flat_map(|(direction, title)| {
        [ImageVmf, ImagePs].into_iter().filter_map(move |method| {
            let metric = format!("{direction}_spearman");
            let rule = (Better::Greater, NO_TREND);
            bounded(results, &metric, &format!("S, {title}"), method, rule)
        })
    });
    Finding {
        claim: "An uncertainty of pictures says nothing: recall does not fall with it",
        comparisons: comparisons.collect(),
    }
}

fn symmetry_costs_recall(results: &Results) -> Finding {
    let comparisons = DIRECTIONS.iter().flat_map(|(direction, title)| {
        [
            [SymvlmVmf, AsymvlmVmf],
            [SymvlmPs, AsymvlmPs],
            [SymvlmVmfRaw, AsymvlmVmf],
            [SymvlmPsRaw, AsymvlmPs],
        ]
        .into_iter()
        .filter_map(move |pair| {
            let metric = format!("{direction}_recall_at_1");
            let what = format!("Recall@1, {title}");
            compare(results, &metric, &what, pair, Better::Less)
        })
    });
    Finding {
        claim: "A distribution for pictures too finds less (Recall@1)",
        comparisons: comparisons.collect(),
    }
}

fn gaussians_fall_in_a_line(results: &Results) -> Finding {
    let comparisons = DIRECTIONS.iter().flat_map(|(direction, title)| {
        [Gaussian, GaussianDiagonal]
            .into_iter()
            .flat_map(move |method| {
                let (r_squared, recall) = (
                    format!("{direction}_r_squared"),
                    format!("{direction}_recall_at_1"),
                );
                [
                    bounded(
                        results,
                        &r_squared,
                        &format!("R², {title}"),
                        method,
                        (Better::Greater, STRAIGHT),
                    ),
                    compare(
                        results,
                        &recall,
                        &format!("Recall@1, {title}"),
                        [method, AsymvlmVmf],
                        Better::Less,
                    ),
                ]
            })
            .flatten()
    });
    Finding {
        claim: "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
        comparisons: comparisons.collect(),
    }
}

fn fine_tuning_hurts_zero_shot(results: &Results) -> Finding {
    let comparisons = results
        .metrics(Deterministic, "accuracy_")
        .into_iter()
        .flat_map(|metric| {
            let task = metric.trim_start_matches("accuracy_").to_owned();
            [Clip, AsymvlmVmf, AsymvlmPs].map(|other| {
                compare(
                    results,
                    &metric,
                    &task,
                    [Deterministic, other],
                    Better::Less,
                )
            })
        });
    Finding {
        claim: "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
        comparisons: comparisons.flatten().collect(),
    }
}

fn dummies_need_concentration(results: &Results) -> Finding {
    let comparisons = results
        .metrics(AsymvlmVmf, "dummy_")
        .into_iter()
        .filter(|metric| metric.ends_with("_negative"))
        .flat_map(|metric| {
            pairs(&ASYMVLM, &[Clip, Deterministic])
                .map(|pair| {
                    let what = metric.replace('_', " ");
                    compare(results, &metric, &what, pair, Better::Greater)
                })
                .collect::<Vec<_>>()
        });
    Finding {
        claim: "A dummy caption refuses pictures of no class only where captions have a concentration",
        comparisons: comparisons.flatten().collect(),
    }
}

fn hierarchies_are_ordered(results: &Results) -> Finding {
    let comparisons = ASYMVLM.into_iter().flat_map(|method| {
        [
            bounded(
                results,
                "adjacent_levels_ordered",
                "share of adjacent levels whose uncertainty falls",
                method,
                (Better::Greater, 0.5),
            ),
            bounded(
                results,
                "uncertainty_vs_tokens",
                "Spearman of uncertainty and length",
                method,
                (Better::Less, 0.0),
            ),
            bounded(
                results,
                "uncertainty_vs_bits",
                "Spearman of uncertainty and bits of information",
                method,
                (Better::Less, 0.0),
            ),
            rises_by_level(results, method),
        ]
    });
    Finding {
        claim: "Fuller captions are more certain, and their pictures more likely",
        comparisons: comparisons.flatten().collect(),
    }
}

/// Whether the median likelihood of the own picture rises from each level of the hierarchy to the next.
fn rises_by_level(results: &Results, method: MethodName) -> Option<Comparison> {
    let medians = (0..).map_while(|level| {
        let found = results.summary(method, &format!("score_level_{level}_q50"))?;
        Some(found.mean)
    });
    let medians: Vec<f64> = medians.collect();
    let rises = medians.windows(2).all(|pair| pair[1] > pair[0]);
    (medians.len() > 1).then(|| Comparison {
        what: format!("median likelihood rises by level: {}", method.title()),
        found: medians
            .iter()
            .map(|median| format!("{median:.2}"))
            .collect::<Vec<_>>()
            .join(", "),
        verdict: if rises {
            Verdict::For
        } else {
            Verdict::Against
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::reproduce::measure::Numbers;

    fn results(rows: &[(MethodName, &str, &[f64])]) -> Results {
        let mut results = Results::default();
        for (method, metric, values) in rows {
            for (seed, value) in (0..).zip(*values) {
                let numbers = Numbers::from([((*metric).to_owned(), *value)]);
                results.add(*method, "scenes", seed, numbers);
            }
        }
        results
    }

    #[test]
    fn a_difference_counts_when_it_is_greater_than_the_spread_over_seeds() {
        let recall = "t2i_recall_at_1";
        for (ours, expected) in [
            (&[0.5, 0.52][..], "— holds."),
            (&[0.3, 0.31], "— does not hold."),
            (&[0.4, 0.44], "— undecided"),
        ] {
            let text = markdown(&results(&[
                (AsymvlmVmf, recall, ours),
                (Clip, recall, &[0.41]),
            ]));
            assert!(text.contains(expected), "{ours:?}: {text}");
        }
    }

    #[test]
    fn a_finding_may_hold_in_part_and_is_silent_without_numbers() {
        let recall = "t2i_recall_at_1";
        let text = markdown(&results(&[
            (AsymvlmVmf, recall, &[0.5]),
            (Clip, recall, &[0.4]),
            (Pfe, recall, &[0.6]),
        ]));
        let expected = "holds in 1 of 2 comparisons, the opposite in 1";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("dummy"), "nothing was refused: {text}");
    }

    #[test]
    fn a_training_that_diverged_is_said() {
        let text = markdown(&results(&[(Gaussian, DIVERGED_AT_STEP, &[10.0, 20.0])]));
        assert!(text.contains("after step 15 (mean of 2 seeds)"), "{text}");
    }

    #[test]
    fn likelihood_must_rise_at_every_level() {
        let of = |last: f64| {
            let medians = [("score_level_0_q50", 0.5), ("score_level_1_q50", last)];
            let rows = medians.map(|(metric, value)| (AsymvlmPs, metric, vec![value]));
            let rows: Vec<(MethodName, &str, &[f64])> = rows
                .iter()
                .map(|(m, name, v)| (*m, *name, &v[..]))
                .collect();
            markdown(&results(&rows))
        };
        assert!(of(0.75).contains("| 0.50, 0.75 | yes |"), "{}", of(0.75));
        assert!(of(0.25).contains("| 0.50, 0.25 | no |"), "{}", of(0.25));
    }
}
