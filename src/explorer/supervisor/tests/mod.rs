//! Every transition of the supervisor, and that no request is left unanswered, whatever engines do.

mod loads;
mod property;
mod silence;
mod simulated_answers;
mod simulated_page;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::explorer::latest_queue::Priority;
use crate::protocol::{Request, Response};
use simulated_page::{CLIP, OWN_ENCODER, SimulatedFaults, SimulatedPage};

fn set<const N: usize>(words: [&str; N]) -> BTreeSet<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn names<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn loads(source: &ModelSource, kind: EngineKind) -> BTreeSet<(String, EngineKind)> {
    BTreeSet::from([(source.key(), kind)])
}

/// Faults of one kind, set by `change`.
fn faults(change: impl FnOnce(&mut SimulatedFaults)) -> SimulatedFaults {
    let mut faults = SimulatedFaults::default();
    change(&mut faults);
    faults
}

fn is_restarted(event: &EngineEvent) -> bool {
    matches!(event, EngineEvent::Restarted(_))
}

fn is_stopped(event: &EngineEvent) -> bool {
    matches!(event, EngineEvent::Stopped(_))
}

fn is_given_up(event: &EngineEvent) -> bool {
    matches!(event, EngineEvent::GivenUp(Some(_)))
}

fn is_refused(event: &EngineEvent) -> bool {
    matches!(event, EngineEvent::PictureRefused { .. })
}

fn is_failed(event: &EngineEvent) -> bool {
    matches!(event, EngineEvent::Failed(..))
}

/// A page whose GPU engine has been put to work.
fn on_gpu(faults: SimulatedFaults) -> SimulatedPage {
    let mut world = SimulatedPage::built_in(SimulatedFaults {
        gpu_millis: Some(1.0),
        ..faults
    });
    assert_eq!(world.loads.len(), 1, "none before the first answer");
    world.ask(&["first"]);
    let kinds: Vec<_> = world.loads.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [EngineKind::Cpu, EngineKind::Gpu],
        "the faster one answers"
    );
    assert_eq!(world.n_engines(), 1, "the slower one ended");
    world
}

#[test]
fn an_engine_answers_captions_and_pictures() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    world.add_picture("star");
    world.ask_about(Priority::Matrix, &["a", "b"], &["star"]);
    let expected = (names(["a", "b"]), names(["star"]));
    assert_eq!(world.last_answer(), Some(expected), "in one request");
    assert_eq!(world.n_sent("a"), 1, "sent once");
}

#[test]
fn recorded_pictures_are_given_together_and_only_others_are_read() {
    let mut world = SimulatedPage::new(SimulatedFaults::default());
    let images = ["star", "ring", "moon"];
    for image in images {
        world.add_recorded(image, OWN_ENCODER);
    }
    world.start(ModelSource::FALLBACK, LoadNotes::default());
    let is_read = |event: &EngineEvent| matches!(event, EngineEvent::Picture(_));
    assert_eq!((world.n_read(), world.count(is_read)), ((0, 1), 3));
    world.ask_about(Priority::Matrix, &["a"], &images);
    let expected = (names(["a"]), names(images));
    assert_eq!(world.last_answer(), Some(expected), "they are compared");
    world.add_recorded("hill", "another");
    assert_eq!(world.n_read(), (1, 1), "another encoder's is read");
    assert_eq!(world.count(is_read), 4, "once");
    world.kill();
    assert_eq!(world.n_read(), (2, 2), "and so by the next engine");
}

#[test]
fn captions_are_first_answered_with_the_recorded_pictures() {
    let mut world = SimulatedPage::new(SimulatedFaults::default());
    let images = ["star", "ring", "moon"];
    for image in images {
        world.add_recorded(image, OWN_ENCODER);
    }
    world.shown = vec!["a".to_owned()];
    world.ask(&["a"]);
    world.start(ModelSource::FALLBACK, LoadNotes::default());
    let expected = (names(["a"]), names(images));
    assert_eq!(world.last_answer(), Some(expected), "in one answer");
    assert_eq!(world.n_sent("a"), 1, "sent once");
}

#[test]
fn a_recorded_picture_that_comes_back_is_given_again() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    for n_given in 1..3 {
        world.add_recorded("star", OWN_ENCODER);
        assert_eq!(world.n_read(), (0, n_given), "given");
        world.ask_about(Priority::Matrix, &["a"], &["star"]);
        let expected = (names(["a"]), names(["star"]));
        assert_eq!(world.last_answer(), Some(expected), "and compared");
        world.happens(Event::RemovePicture("star".to_owned()));
    }
}

#[test]
fn a_gpu_engine_takes_recorded_pictures_before_it_is_put_to_work() {
    let mut world = SimulatedPage::new(faults(|f| f.gpu_millis = Some(1.0)));
    world.add_recorded("star", OWN_ENCODER);
    world.start(ModelSource::FALLBACK, LoadNotes::default());
    world.ask(&["first"]);
    assert_eq!(world.n_read(), (0, 2), "each engine is given it");
    world.ask_about(Priority::Matrix, &["a"], &["star"]);
    let expected = (names(["a"]), names(["star"]));
    assert_eq!(world.last_answer(), Some(expected), "by the GPU");
}

#[test]
fn a_slower_gpu_is_not_used() {
    let mut world = SimulatedPage::built_in(faults(|f| f.gpu_millis = Some(99.0)));
    world.ask(&["first"]);
    assert_eq!(world.n_engines(), 1, "the GPU engine ended");
    let says = |event: &EngineEvent| matches!(event, EngineEvent::BackendChosen(words) if words.contains("99 ms"));
    assert_eq!(world.count(says), 1, "and why");
}

#[test]
fn a_lost_gpu_while_idle_is_replaced_by_the_cpu() {
    let mut world = on_gpu(SimulatedFaults::default());
    world.add_picture("star");
    world.lose_gpu();
    assert_eq!(world.count(is_restarted), 1, "the page is told");
    assert_eq!(world.count(is_refused), 0, "nothing is removed");
    world.ask_about(Priority::Matrix, &["a"], &["star"]);
    let expected = (names(["a"]), names(["star"]));
    assert_eq!(world.last_answer(), Some(expected), "by another engine");
    assert_eq!(
        world.posted.last().map(|(kind, _)| *kind),
        Some(EngineKind::Cpu),
        "the CPU"
    );
}

#[test]
fn a_gpu_that_is_lost_while_scoring_blames_no_caption() {
    let mut world = on_gpu(faults(|f| f.hangers = set(["a"])));
    world.ask(&["a", "b"]);
    world.faults.hangers.clear();
    world.lose_gpu();
    let expected = (names(["a", "b"]), Vec::new());
    assert_eq!(world.last_answer(), Some(expected), "replayed on the CPU");
    assert_eq!(world.quarantined(), [""; 0], "nobody is set aside");
}

#[test]
fn a_gpu_that_is_lost_while_a_picture_is_read_removes_no_picture() {
    let mut world = on_gpu(faults(|f| f.hangers = set(["star"])));
    world.add_picture("star");
    world.faults.hangers.clear();
    world.lose_gpu();
    assert_eq!(world.count(is_refused), 0, "it stays");
    let read = |event: &EngineEvent| matches!(event, EngineEvent::Picture(_));
    assert_eq!(world.count(read), 1, "and is read by the CPU");
}

#[test]
fn a_gpu_that_is_lost_while_loading_leaves_the_cpu_at_work() {
    let mut world = SimulatedPage::built_in(SimulatedFaults {
        gpu_millis: Some(1.0),
        hanging_loads: loads(&ModelSource::FALLBACK, EngineKind::Gpu),
        ..SimulatedFaults::default()
    });
    world.ask(&["first"]);
    world.lose_gpu();
    world.ask(&["a"]);
    world.assert_answered(&["a"], "answered");
    assert_eq!(world.count(is_restarted), 0, "nothing was restarted");
}

#[test]
fn a_caption_that_kills_is_sent_twice_and_set_aside_alone() {
    let captions = ["a", "killer", "c", "d"];
    let mut world = SimulatedPage::built_in(faults(|f| f.killers = set(["killer"])));
    world.ask(&captions);
    assert_eq!(world.n_sent("killer"), 2, "the second time alone");
    assert_eq!(world.quarantined(), ["killer"], "it is named");
    let expected = (names(["a", "c", "d"]), Vec::new());
    assert_eq!(
        world.last_answer(),
        Some(expected),
        "all others are answered"
    );
    world.ask(&["killer", "next"]);
    assert_eq!(world.n_sent("killer"), 2, "it is not sent again");
    world.assert_answered(&["next"], "the next caption");
    assert_eq!(world.count(is_stopped), 0, "an engine runs");
}

#[test]
fn two_captions_that_kill_are_both_found() {
    let mut world = SimulatedPage::built_in(faults(|f| f.killers = set(["x", "y"])));
    world.ask(&["a", "x", "b", "y"]);
    assert_eq!(world.quarantined(), ["x", "y"], "each is named");
    assert_eq!(
        [world.n_sent("x"), world.n_sent("y")],
        [2, 2],
        "no more than twice"
    );
    world.assert_answered(&["a", "b"], "the rest");
}

#[test]
fn a_lone_caption_that_kills_is_answered_in_words() {
    for priority in Priority::ALL {
        let mut world = SimulatedPage::built_in(faults(|f| f.killers = set(["killer"])));
        world.ask_about(priority, &["killer"], &[]);
        assert_eq!(world.n_sent("killer"), 2, "{priority:?}");
        assert_eq!(world.quarantined(), ["killer"], "{priority:?}");
        assert_eq!(world.count(is_failed), 1, "{priority:?}");
        world.ask_about(priority, &["killer"], &[]);
        assert_eq!(world.count(is_failed), 2, "asked again, {priority:?}");
        assert_eq!(world.n_engines(), 1, "an engine runs, {priority:?}");
    }
}

#[test]
fn a_caption_that_was_answered_before_is_not_blamed_first() {
    let mut world = SimulatedPage::built_in(faults(|f| f.killers = set(["killer"])));
    world.ask(&["a", "b"]);
    world.ask(&["a", "killer"]);
    assert_eq!(world.quarantined(), ["killer"], "the new one");
    assert_eq!(world.n_sent("a"), 3, "never alone");
}

#[test]
fn a_picture_that_kills_is_read_twice_and_dropped_alone() {
    let mut world = SimulatedPage::built_in(faults(|f| f.killers = set(["killer"])));
    for image in ["a", "killer", "b"] {
        world.add_picture(image);
    }
    let refused = |event: &EngineEvent| matches!(event, EngineEvent::PictureRefused { image, .. } if image == "killer");
    assert_eq!(world.count(refused), 1, "by name");
    assert_eq!(world.count(is_refused), 1, "and no other");
    world.ask_about(Priority::Matrix, &["c"], &["a", "b"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["c"]), names(["a", "b"]))),
        "the others are read"
    );
}

#[test]
fn two_deaths_near_each_other_blame_nobody() {
    let mut world = SimulatedPage::built_in(faults(|f| f.hangers = set(["a", "b"])));
    world.add_picture("a");
    world.faults.hangers = set(["b"]);
    world.add_picture("b");
    world.kill();
    world.faults.hangers.clear();
    world.kill();
    assert_eq!(world.count(is_refused), 0, "each was blamed once");
    world.ask_about(Priority::Matrix, &["c"], &["a", "b"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["c"]), names(["a", "b"]))),
        "both are read"
    );
}
