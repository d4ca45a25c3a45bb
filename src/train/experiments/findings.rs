//! Findings of the papers and whether they hold: rules over `results.json`, so that nobody has to look kindly at a
//! table.

mod captions;
mod elip_parts;
mod elsewhere;
mod order;
mod paths;
mod pictures;
mod recall;
mod rejection;
mod shift;

use std::fmt::Write as _;

use super::judge::Judge;
use super::results::Results;
use super::verdict::{Finding, MIN_SEEDS};
use crate::report::{Metric, SuiteFinding, SuiteFindings};

/// The rule of all findings, for the reader of the report.
#[must_use]
pub(super) fn rule() -> String {
    format!(
        "By rule: a finding holds where all its comparisons say yes, and does not where some say the opposite and none \
         yes; between the two it holds in part, or mostly not where more say the opposite, or makes mostly no \
         difference where more than half of the decided ones show none. \
         A difference counts when it is greater than twice its standard error over seeds. A trained method \
         with fewer than {MIN_SEEDS} seeds decides nothing; what trains nothing is the same for every seed. Nor do S, \
         R² and slope where an uncertainty says the same of all or of most queries, where recall is the same at every \
         level, or where fewer queries find than there are levels. Seeds change weights and batches, not the test \
         split. The paper's own numbers are of its data, named beside them, and CLIP's features: they say in which \
         direction it differs there, not how much it should here."
    )
}

/// The findings of one data set as Markdown, and which trainings diverged.
#[must_use]
pub(super) fn markdown(all: &Results, dataset: &str) -> String {
    let (mut text, results) = (String::new(), &all.on(dataset));
    for finding in findings(all, dataset) {
        finding.write(&mut text);
    }
    for method in results.methods() {
        if let Some(found) = results.summary(method, &Metric::DivergedAtStep) {
            let (title, step) = (method.title(), found.mean);
            let seeds = match found.n {
                1 => "(one seed)".to_owned(),
                n => format!("(mean of {n} seeds)"),
            };
            let lost = "it has no other numbers of them";
            writeln!(
                text,
                "{title} diverged: its loss was not finite after step {step:.0} {seeds}; {lost}.\n"
            )
            .ok();
        }
    }
    text
}

/// The verdicts of every data set, for the page.
#[must_use]
pub(super) fn for_the_page(results: &Results) -> SuiteFindings {
    let datasets = results.datasets();
    let on_each: Vec<Vec<Finding>> = datasets
        .iter()
        .map(|dataset| findings(results, dataset))
        .collect();
    let n_findings = on_each.first().map_or(0, Vec::len);
    let of_claim = |i: usize| {
        let verdicts = on_each.iter().map(|found| found[i].verdict());
        SuiteFinding::new(on_each[0][i].claim.text, verdicts.collect())
    };
    SuiteFindings {
        datasets,
        findings: (0..n_findings).map(of_claim).collect(),
    }
}

/// Findings on the papers' claims by the results of one data set; the same claims in the same order for any.
fn findings(all: &Results, dataset: &str) -> Vec<Finding> {
    // A disturbed data set is called after the clean one, and after what disturbs it: "scenes, shot 5".
    let undisturbed = dataset.split_once(", ").map(|(clean, _)| all.on(clean));
    let judge = Judge {
        results: &all.on(dataset),
        undisturbed: undisturbed.as_ref(),
    };
    [
        order::findings(&judge),
        recall::findings(&judge),
        rejection::findings(&judge),
        captions::findings(&judge),
        pictures::findings(&judge),
        paths::findings(&judge),
        shift::findings(&judge),
        elip_parts::findings(&judge),
        elsewhere::findings(&judge),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Made-up results for the tests of findings.
#[cfg(test)]
mod fixture {
    use super::super::numbers::Numbers;
    use super::{Finding, Metric, Results, findings};
    use crate::train::methods::MethodName;

    /// A method, a number of it, and that number of each seed.
    pub(super) type SeedValues<'a> = (MethodName, Metric, &'a [f64]);

    pub(super) fn results(dataset: &str, rows: &[SeedValues<'_>]) -> Results {
        let mut results = Results::default();
        for (method, metric, values) in rows {
            for (seed, value) in (0..).zip(*values) {
                let numbers = Numbers::from([(metric.clone(), *value)]);
                results.add(*method, dataset, seed, numbers);
            }
        }
        results
    }

    /// The finding whose claim begins so, on a data set.
    pub(super) fn finding_on(dataset: &str, claim: &str, rows: &[SeedValues<'_>]) -> Finding {
        finding_of(&results(dataset, rows), dataset, claim)
    }

    /// The finding whose claim begins so, on one of several data sets.
    pub(super) fn finding_of(all: &Results, dataset: &str, claim: &str) -> Finding {
        let mut findings = findings(all, dataset).into_iter();
        findings
            .find(|finding| finding.claim.text.starts_with(claim))
            .expect("a claim begins so")
    }

    /// Verdict on a claim, measured on scenes, as a sentence.
    pub(super) fn sentence(claim: &str, rows: &[SeedValues<'_>]) -> String {
        finding_on("scenes", claim, rows).sentence()
    }

    /// The finding as it is written, on scenes.
    pub(super) fn written(claim: &str, rows: &[SeedValues<'_>]) -> String {
        let mut text = String::new();
        finding_on("scenes", claim, rows).write(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{results, sentence};
    use super::*;
    use crate::report::{Retrieval, VerdictWord};
    use crate::train::methods::MethodName::{AsymvlmVmf, Clip, Gaussian, Pfe};

    const RECALL: Metric = Metric::Recall(Retrieval::TextToImage, 1);

    #[test]
    fn a_finding_without_numbers_is_not_decided_and_says_why() {
        let nothing = Results::default();
        let found = findings(&nothing, "");
        for finding in &found {
            let verdict = finding.verdict();
            let claim = finding.claim.text;
            assert_eq!(verdict.verdict, VerdictWord::NotDecided, "{claim}");
            assert!(!verdict.reason.is_empty(), "{claim} says why");
        }
        let text = markdown(&nothing, "");
        let n_written = text.matches("** — not decided: ").count();
        assert_eq!(n_written, found.len(), "none vanishes: {text}");
    }

    #[test]
    fn a_finding_may_hold_in_part() {
        let rows = [
            (AsymvlmVmf, RECALL, &[0.5; 3][..]),
            (Clip, RECALL, &[0.4]),
            (Pfe, RECALL, &[0.6; 3]),
        ];
        let found = sentence("AsymVLM finds more than CLIP", &rows);
        let expected = "holds in part: yes in 1 of 2 comparisons, the opposite in 1";
        assert!(found.starts_with(expected), "{found}");
        let text = markdown(&results("scenes", &rows), "scenes");
        let unmeasured = "Not compared, as not measured here: PCME++*, BayesVLM, ProbVLM, ProLIP adapter, AsymVLM PS.";
        assert!(text.contains(unmeasured), "{text}");
    }

    #[test]
    fn the_page_gets_the_verdicts_of_every_data_set() {
        let own = results(
            "photos",
            &[(AsymvlmVmf, RECALL, &[0.5; 3]), (Clip, RECALL, &[0.4])],
        );
        let mut all = own;
        for (method, value) in [(AsymvlmVmf, 0.3), (Clip, 0.4)] {
            for seed in 0..3 {
                all.add(
                    method,
                    "photos → hierarcaps",
                    seed,
                    [(RECALL, value)].into(),
                );
            }
        }
        let found = for_the_page(&all);
        assert_eq!(
            found.datasets,
            ["photos", "photos → hierarcaps"],
            "in order"
        );
        let claim = "AsymVLM finds more than CLIP and the baselines (Recall@1)";
        let finding = found.findings.iter().find(|finding| finding.claim == claim);
        let verdicts = [0, 1].map(|i| finding.and_then(|f| f.on(i)).expect("measured").verdict);
        assert_eq!(
            verdicts,
            [VerdictWord::Holds, VerdictWord::DoesNotHold],
            "of each"
        );
    }

    #[test]
    fn a_training_that_diverged_is_said() {
        let diverged = (Gaussian, Metric::DivergedAtStep, &[10.0, 20.0][..]);
        let text = markdown(&results("scenes", &[diverged]), "scenes");
        assert!(text.contains("after step 15 (mean of 2 seeds)"), "{text}");
    }
}
