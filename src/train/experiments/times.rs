//! Times of fits, for each machine alone: times of different machines do not compare methods.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::environment::RunSession;
use super::results::{Results, Summary};
use crate::report::Metric;
use crate::train::methods::MethodName;

/// The times of one data set as Markdown; nothing where none were measured.
pub(super) fn markdown(results: &Results, sessions: &[RunSession]) -> String {
    let mut by_clock: BTreeMap<String, Vec<(MethodName, [f64; 2])>> = BTreeMap::new();
    let mut n_unknown = 0;
    for method in results.methods() {
        let session = results.by_seed(method, &Metric::Session);
        let measure = results.by_seed(method, &Metric::MeasureSeconds);
        for (seed, fit) in results.by_seed(method, &Metric::FitSeconds) {
            let place = session.get(&seed).map(|place| place.round());
            let place = sessions
                .iter()
                .enumerate()
                .find(|(i, _)| Some(*i as f64) == place);
            match (place, measure.get(&seed)) {
                (Some((_, session)), Some(measure)) => {
                    let of_clock = by_clock.entry(session.clock()).or_default();
                    of_clock.push((method, [fit, *measure]));
                }
                _ => n_unknown += 1,
            }
        }
    }
    let mut text = String::new();
    if n_unknown > 0 || !by_clock.is_empty() {
        text.push_str("## Time\n\n");
    }
    if n_unknown > 0 {
        writeln!(
            text,
            "Of {n_unknown} fits it was not recorded on which machine they ran, so their times compare nothing and are \
             not shown.\n"
        )
        .ok();
    }
    for (clock, fits) in by_clock {
        write_clock(&mut text, &clock, &fits);
    }
    text
}

fn write_clock(text: &mut String, clock: &str, fits: &[(MethodName, [f64; 2])]) {
    writeln!(text, "On {clock}; what else ran there is not known.\n").ok();
    text.push_str("| method | seeds | fit, seconds | measure, seconds |\n|---|---|---|---|\n");
    for method in MethodName::ALL {
        let of_method = || fits.iter().filter(|fit| fit.0 == method);
        let [fit, measure] = [0, 1].map(|i| {
            let seconds: Vec<f64> = of_method().map(|fit| fit.1[i]).collect();
            Summary::of(&seconds)
        });
        let (Some(fit), Some(measure)) = (fit, measure) else {
            continue;
        };
        let (title, n) = (method.title(), fit.n);
        writeln!(
            text,
            "| {title} | {n} | {:.1} | {:.1} |",
            fit.mean, measure.mean
        )
        .ok();
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Numbers;
    use super::*;

    fn session(machine: &str) -> RunSession {
        RunSession {
            machine: machine.to_owned(),
            device: "cpu".to_owned(),
            jobs: 1,
            commit: String::new(),
            tree: String::new(),
            command: String::new(),
        }
    }

    #[test]
    fn each_machine_has_a_table_of_its_own_and_unknown_ones_have_none() {
        let mut results = Results::default();
        let seconds = |session: Option<f64>, fit| {
            let mut numbers =
                Numbers::from([(Metric::FitSeconds, fit), (Metric::MeasureSeconds, 1.0)]);
            numbers.extend(session.map(|place| (Metric::Session, place)));
            numbers
        };
        results.add(MethodName::Pfe, "scenes", 0, seconds(Some(0.0), 10.0));
        results.add(MethodName::Pfe, "scenes", 1, seconds(Some(1.0), 30.0));
        results.add(MethodName::Pfe, "scenes", 2, seconds(None, 1000.0));
        let text = markdown(&results, &[session("fast"), session("slow")]);
        for part in [
            "On fast; device cpu, fits at a time: 1",
            "| PFE* | 1 | 10.0 | 1.0 |",
            "| PFE* | 1 | 30.0 | 1.0 |",
            "Of 1 fits it was not recorded",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(
            !text.contains("1000"),
            "no number without its machine: {text}"
        );
    }
}
