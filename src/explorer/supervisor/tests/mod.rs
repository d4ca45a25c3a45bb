//! Every transition of the supervisor, and that no request is left unanswered, whatever engines do.

mod property;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::explorer::latest_queue::Priority;
use crate::protocol::Request;
use world::{CLIP, Faults, World};

fn set<const N: usize>(words: [&str; N]) -> BTreeSet<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn names<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn loads(source: &ModelSource, kind: EngineKind) -> BTreeSet<(String, EngineKind)> {
    BTreeSet::from([(source.key(), kind)])
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
fn on_gpu(faults: Faults) -> World {
    let world = World::built_in(Faults {
        gpu_millis: Some(1.0),
        ..faults
    });
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
    let mut world = World::built_in(Faults::default());
    world.add_picture("star");
    world.ask_about(Priority::Matrix, &["a", "b"], &["star"]);
    let expected = (names(["a", "b"]), names(["star"]));
    assert_eq!(world.last_answer(), Some(expected), "in one request");
    assert_eq!(world.n_sent("a"), 1, "sent once");
}

#[test]
fn a_slower_gpu_is_not_used() {
    let world = World::built_in(Faults {
        gpu_millis: Some(99.0),
        ..Faults::default()
    });
    assert_eq!(world.n_engines(), 1, "the GPU engine ended");
    let says = |event: &EngineEvent| matches!(event, EngineEvent::Choice(words) if words.contains("99 ms"));
    assert_eq!(world.count(says), 1, "and why");
}

#[test]
fn a_lost_gpu_while_idle_is_replaced_by_the_cpu() {
    let mut world = on_gpu(Faults::default());
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
    let mut world = on_gpu(Faults {
        hangers: set(["a"]),
        ..Faults::default()
    });
    world.ask(&["a", "b"]);
    world.faults.hangers.clear();
    world.lose_gpu();
    let expected = (names(["a", "b"]), Vec::new());
    assert_eq!(world.last_answer(), Some(expected), "replayed on the CPU");
    assert_eq!(world.quarantined(), [""; 0], "nobody is set aside");
}

#[test]
fn a_gpu_that_is_lost_while_a_picture_is_read_removes_no_picture() {
    let mut world = on_gpu(Faults {
        hangers: set(["star"]),
        ..Faults::default()
    });
    world.add_picture("star");
    world.faults.hangers.clear();
    world.lose_gpu();
    assert_eq!(world.count(is_refused), 0, "it stays");
    let read = |event: &EngineEvent| matches!(event, EngineEvent::Picture(_));
    assert_eq!(world.count(read), 1, "and is read by the CPU");
}

#[test]
fn a_gpu_that_is_lost_while_loading_leaves_the_cpu_at_work() {
    let mut world = World::built_in(Faults {
        gpu_millis: Some(1.0),
        hanging_loads: loads(&ModelSource::BuiltIn, EngineKind::Gpu),
        ..Faults::default()
    });
    world.lose_gpu();
    world.ask(&["a"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "answered"
    );
    assert_eq!(world.count(is_restarted), 0, "nothing was restarted");
}

#[test]
fn a_caption_that_kills_is_sent_twice_and_set_aside_alone() {
    let captions = ["a", "killer", "c", "d"];
    let mut world = World::built_in(Faults {
        killers: set(["killer"]),
        ..Faults::default()
    });
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
    assert_eq!(
        world.last_answer(),
        Some((names(["next"]), Vec::new())),
        "the next caption"
    );
    assert_eq!(world.count(is_stopped), 0, "an engine runs");
}

#[test]
fn two_captions_that_kill_are_both_found() {
    let mut world = World::built_in(Faults {
        killers: set(["x", "y"]),
        ..Faults::default()
    });
    world.ask(&["a", "x", "b", "y"]);
    assert_eq!(world.quarantined(), ["x", "y"], "each is named");
    assert_eq!(
        [world.n_sent("x"), world.n_sent("y")],
        [2, 2],
        "no more than twice"
    );
    assert_eq!(
        world.last_answer(),
        Some((names(["a", "b"]), Vec::new())),
        "the rest"
    );
}

#[test]
fn a_lone_caption_that_kills_is_answered_in_words() {
    for priority in Priority::ALL {
        let mut world = World::built_in(Faults {
            killers: set(["killer"]),
            ..Faults::default()
        });
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
fn a_caption_that_was_answered_before_is_not_suspected_first() {
    let mut world = World::built_in(Faults {
        killers: set(["killer"]),
        ..Faults::default()
    });
    world.ask(&["a", "b"]);
    world.ask(&["a", "killer"]);
    assert_eq!(world.quarantined(), ["killer"], "the new one");
    assert_eq!(world.n_sent("a"), 3, "never alone");
}

#[test]
fn a_picture_that_kills_is_read_twice_and_dropped_alone() {
    let mut world = World::built_in(Faults {
        killers: set(["killer"]),
        ..Faults::default()
    });
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
    let mut world = World::built_in(Faults {
        hangers: set(["a", "b"]),
        ..Faults::default()
    });
    world.add_picture("a");
    world.faults.hangers = set(["b"]);
    world.add_picture("b");
    world.kill();
    world.faults.hangers.clear();
    world.kill();
    assert_eq!(world.count(is_refused), 0, "each was suspected once");
    world.ask_about(Priority::Matrix, &["c"], &["a", "b"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["c"]), names(["a", "b"]))),
        "both are read"
    );
}

#[test]
fn a_remembered_model_that_kills_is_loaded_twice_and_not_at_the_next_visit() {
    let faults = Faults {
        killing_loads: loads(&CLIP, EngineKind::Cpu),
        ..Faults::default()
    };
    let first = World::started(faults.clone(), CLIP, LoadNotes::default());
    let n_loads = |world: &World| world.loads.iter().filter(|(_, s)| *s == CLIP).count();
    assert_eq!(n_loads(&first), 2, "two strikes");
    assert_eq!(first.count(is_given_up), 1, "the page says why");
    assert!(
        first.supervisor.source().is_built_in(),
        "the built-in model answers"
    );
    let strikes = first.notes.iter().filter_map(|note| match note {
        LoadNote::Strikes(load, n) => Some((load.clone(), *n)),
        _ => None,
    });
    let notes = LoadNotes {
        strikes: strikes.collect(),
        unended: Vec::new(),
    };
    let mut second = World::started(faults, CLIP, notes);
    assert_eq!(n_loads(&second), 0, "it is not tried by itself");
    assert_eq!(second.count(is_given_up), 1, "the page says why");
    second.faults = Faults::default();
    second.happens(Event::ChangeModel(CLIP));
    assert_eq!(n_loads(&second), 1, "but when the visitor asks for it");
    assert_eq!(*second.supervisor.source(), CLIP, "and then it answers");
}

#[test]
fn a_built_in_model_that_kills_waits_for_the_visitor() {
    let mut world = World::built_in(Faults {
        killing_loads: loads(&ModelSource::BuiltIn, EngineKind::Cpu),
        ..Faults::default()
    });
    assert_eq!(
        (world.loads.len(), world.count(is_stopped)),
        (2, 1),
        "two strikes"
    );
    world.ask(&["a"]);
    world.faults = Faults::default();
    world.happens(Event::Retry);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "after another try"
    );
}

#[test]
fn an_upgrade_that_kills_is_not_tried_at_the_third_visit() {
    let faults = || Faults {
        gpu_millis: Some(1.0),
        killing_loads: loads(&ModelSource::BuiltIn, EngineKind::Gpu),
        ..Faults::default()
    };
    let load = LoadId {
        kind: LoadKind::Upgrade,
        source: ModelSource::BuiltIn.key(),
    };
    for (n_strikes, n_loads) in [(0, 2), (1, 2), (2, 1)] {
        let notes = LoadNotes {
            strikes: vec![(load.clone(), n_strikes)],
            unended: Vec::new(),
        };
        let world = World::started(faults(), ModelSource::BuiltIn, notes);
        assert_eq!(world.loads.len(), n_loads, "after {n_strikes} strikes");
        assert_eq!(world.count(is_stopped), 0, "the CPU answers");
    }
}

#[test]
fn an_image_encoder_that_kills_blames_the_model_and_no_picture() {
    let mut world = World::started(
        Faults {
            killing_image_encoders: set(["clip"]),
            ..Faults::default()
        },
        CLIP,
        LoadNotes::default(),
    );
    world.add_picture("star");
    assert_eq!(world.count(is_refused), 0, "the picture stays");
    assert_eq!(world.count(is_given_up), 1, "the model goes");
    world.ask_about(Priority::Matrix, &["a"], &["star"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), names(["star"]))),
        "by the built-in model"
    );
}

#[test]
fn adapters_that_kill_are_dropped_by_name() {
    let mut world = World::started(
        Faults {
            killing_adapters: BTreeSet::from([7]),
            ..Faults::default()
        },
        CLIP,
        LoadNotes::default(),
    );
    world.happens(Event::GiveAdapters(
        "bad.safetensors".to_owned(),
        Arc::new(vec![7]),
    ));
    let refused = |event: &EngineEvent| matches!(event, EngineEvent::AdapterRefused(name, _) if name == "bad.safetensors");
    assert_eq!(world.count(refused), 1, "by name");
    let n_sent = world
        .posted
        .iter()
        .filter(|(_, r)| matches!(r, Request::Adapt { .. }));
    assert_eq!(n_sent.count(), 2, "two strikes");
    world.ask(&["a"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "without them"
    );
}

#[test]
fn adapters_are_given_to_the_engine_that_replaces_one() {
    let mut world = World::started(Faults::default(), CLIP, LoadNotes::default());
    world.happens(Event::GiveAdapters(
        "good.safetensors".to_owned(),
        Arc::new(vec![1]),
    ));
    world.kill();
    world.ask(&["a"]);
    let answered = |event: &EngineEvent| matches!(event, EngineEvent::Answered(_));
    assert_eq!(world.count(answered), 1, "with κ");
}

#[test]
fn an_engine_that_never_answers_may_be_stopped_and_is_replaced() {
    let slow = |event: &EngineEvent| matches!(event, EngineEvent::IsSlow(true));
    for is_stopped_by_hand in [true, false] {
        let mut world = World::built_in(Faults {
            hangers: set(["endless"]),
            ..Faults::default()
        });
        world.ask(&["a", "endless"]);
        world.pass(19);
        assert_eq!(world.count(slow), 0, "not yet");
        world.pass(1);
        assert_eq!(world.count(slow), 1, "now");
        for _ in 0..2 {
            if is_stopped_by_hand {
                world.happens(Event::Stop);
            } else {
                world.pass(60);
            }
        }
        assert_eq!(
            world.quarantined(),
            ["endless"],
            "by hand: {is_stopped_by_hand}"
        );
        assert_eq!(
            world.last_answer(),
            Some((names(["a"]), Vec::new())),
            "the rest"
        );
        assert_eq!(world.n_sent("endless"), 2, "twice");
    }
}

#[test]
fn a_heartbeat_keeps_an_engine_that_computes_for_long() {
    let mut world = World::built_in(Faults {
        hangers: set(["long"]),
        ..Faults::default()
    });
    world.ask(&["long"]);
    for _ in 0..100 {
        world.pass(2);
        let serial = world
            .supervisor
            .main
            .as_ref()
            .map_or(0, |engine| engine.serial);
        world.happens(Event::Said(serial, Response::Heartbeat));
    }
    assert_eq!(world.count(is_restarted), 0, "it is alive");
    let slow = |event: &EngineEvent| matches!(event, EngineEvent::IsSlow(true));
    assert_eq!(world.count(slow), 1, "but the visitor may stop it");
}

#[test]
fn a_page_that_slept_was_not_kept_waiting() {
    let mut world = World::built_in(Faults {
        hangers: set(["long"]),
        ..Faults::default()
    });
    world.ask(&["long"]);
    world.now += 3.6e6;
    world.pass(1);
    assert_eq!(
        world.count(is_restarted),
        0,
        "an hour of sleep counts for seconds"
    );
}

#[test]
fn a_load_that_never_ends_is_given_up() {
    let mut world = World::built_in(Faults {
        hanging_loads: loads(&ModelSource::BuiltIn, EngineKind::Cpu),
        ..Faults::default()
    });
    world.ask(&["a"]);
    world.pass(301);
    assert_eq!(world.loads.len(), 2, "and begun anew");
    world.pass(301);
    assert_eq!(world.count(is_stopped), 1, "once");
    world.faults = Faults::default();
    world.happens(Event::Retry);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "what waited is answered"
    );
}

#[test]
fn a_load_that_is_stopped_by_hand_makes_room_for_the_built_in_model() {
    let mut world = World::started(
        Faults {
            hanging_loads: loads(&CLIP, EngineKind::Cpu),
            ..Faults::default()
        },
        CLIP,
        LoadNotes::default(),
    );
    world.happens(Event::Stop);
    world.ask(&["a"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "it answers"
    );
}

#[test]
fn a_cancelled_load_that_does_not_end_by_itself_is_ended() {
    let mut world = World::started(
        Faults {
            hanging_loads: loads(&CLIP, EngineKind::Cpu),
            ..Faults::default()
        },
        CLIP,
        LoadNotes::default(),
    );
    world.happens(Event::Cancel);
    world.pass(6);
    let given_up = |event: &EngineEvent| matches!(event, EngineEvent::GivenUp(None));
    assert_eq!(world.count(given_up), 1, "as the visitor wished");
    assert!(
        world.supervisor.source().is_built_in(),
        "the built-in model is loaded"
    );
}

#[test]
fn a_paused_load_waits_for_as_long_as_it_takes() {
    let mut world = World::started(
        Faults {
            hanging_loads: loads(&CLIP, EngineKind::Cpu),
            ..Faults::default()
        },
        CLIP,
        LoadNotes::default(),
    );
    world.happens(Event::Pause);
    world.pass(1000);
    assert_eq!(world.loads.len(), 1, "nothing was begun anew");
}

#[test]
fn a_request_that_cannot_be_posted_is_one_that_kills() {
    let mut world = World::built_in(Faults {
        unpostable: set(["huge"]),
        ..Faults::default()
    });
    world.ask(&["a", "huge"]);
    assert_eq!(world.quarantined(), ["huge"], "it is named");
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "the rest"
    );
}

#[test]
fn an_engine_that_dies_again_and_again_without_a_reason_is_given_up_until_the_visitor_wants_it() {
    let mut world = World::built_in(Faults::default());
    for n_deaths in 1..=4 {
        assert_eq!(world.count(is_stopped), 0, "before death {n_deaths}");
        world.kill();
    }
    assert_eq!(
        (world.count(is_stopped), world.n_engines()),
        (1, 0),
        "four are enough"
    );
    world.happens(Event::Retry);
    world.ask(&["a"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "after another try"
    );
}

#[test]
fn another_model_is_loaded_beside_the_one_at_work() {
    let mut world = World::built_in(Faults {
        hanging_loads: loads(&CLIP, EngineKind::Cpu),
        ..Faults::default()
    });
    world.happens(Event::ChangeModel(CLIP));
    world.ask(&["a"]);
    assert_eq!(
        world.last_answer(),
        Some((names(["a"]), Vec::new())),
        "meanwhile"
    );
    world.kill();
    assert_eq!(world.count(is_given_up), 1, "its death is told");
    assert_eq!(world.count(is_restarted), 0, "the other one goes on");
}

#[test]
fn a_question_about_the_browser_survives_its_engine() {
    let mut world = World::built_in(Faults {
        hangers: set(["a"]),
        ..Faults::default()
    });
    world.ask(&["a"]);
    world.happens(Event::Query(Request::ListStored));
    world.faults.hangers.clear();
    world.kill();
    let stored = |event: &EngineEvent| matches!(event, EngineEvent::Stored(_));
    assert_eq!(world.count(stored), 1, "the next one answers");
}

#[test]
fn a_question_that_nobody_answers_is_answered_in_words() {
    let mut world = World::built_in(Faults::default());
    let hub = crate::protocol::Hub::vit_b_32();
    world.happens(Event::Query(Request::QueryDownloadSize(hub)));
    world.pass(121);
    let failed = |event: &EngineEvent| matches!(event, EngineEvent::DownloadSize(Err(_)));
    assert_eq!(world.count(failed), 1, "no engine answered");
}

#[test]
fn without_an_engine_the_page_says_why() {
    let mut world = World::new(Faults::default());
    world.happens(Event::Start(Start {
        source: ModelSource::BuiltIn,
        asked_kind: None,
        notes: LoadNotes::default(),
        obstacle: Some("no SIMD".to_owned()),
    }));
    assert_eq!(
        (world.count(is_stopped), world.n_engines()),
        (1, 0),
        "nothing is loaded"
    );
}
