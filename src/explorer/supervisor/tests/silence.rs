//! Engines that never answer, cannot be sent a message, or die by themselves.

use super::*;

#[test]
fn an_engine_that_never_answers_may_be_stopped_and_is_replaced() {
    let slow = |event: &EngineEvent| matches!(event, EngineEvent::IsSlow(true));
    for is_stopped_by_hand in [true, false] {
        let mut world = SimulatedPage::built_in(faults(|f| f.hangers = set(["endless"])));
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
        world.assert_answered(&["a"], "the rest");
        assert_eq!(world.n_sent("endless"), 2, "twice");
    }
}

#[test]
fn a_heartbeat_keeps_an_engine_that_computes_for_long() {
    let mut world = SimulatedPage::built_in(faults(|f| f.hangers = set(["long"])));
    world.ask(&["long"]);
    for _ in 0..100 {
        world.pass(2);
        let serial = world
            .supervisor
            .main
            .as_ref()
            .map_or(0, |engine| engine.serial);
        world.happens(Event::Response(serial, Response::Heartbeat));
    }
    assert_eq!(world.count(is_restarted), 0, "it is alive");
    let slow = |event: &EngineEvent| matches!(event, EngineEvent::IsSlow(true));
    assert_eq!(world.count(slow), 1, "but the visitor may stop it");
}

#[test]
fn a_page_that_slept_was_not_kept_waiting() {
    let mut world = SimulatedPage::built_in(faults(|f| f.hangers = set(["long"])));
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
    let mut world = SimulatedPage::built_in(faults(|f| {
        f.hanging_loads = loads(&ModelSource::FALLBACK, EngineKind::Cpu);
    }));
    world.ask(&["a"]);
    world.pass(301);
    assert_eq!(world.loads.len(), 2, "and begun anew");
    world.pass(301);
    assert_eq!(world.count(is_stopped), 1, "once");
    world.faults = SimulatedFaults::default();
    world.happens(Event::Retry);
    world.assert_answered(&["a"], "what waited is answered");
}

#[test]
fn a_load_that_is_stopped_by_hand_makes_room_for_the_built_in_model() {
    let mut world =
        SimulatedPage::with_clip(faults(|f| f.hanging_loads = loads(&CLIP, EngineKind::Cpu)));
    world.happens(Event::Stop);
    world.ask(&["a"]);
    world.assert_answered(&["a"], "it answers");
}

#[test]
fn a_cancelled_load_that_does_not_end_by_itself_is_ended() {
    let mut world =
        SimulatedPage::with_clip(faults(|f| f.hanging_loads = loads(&CLIP, EngineKind::Cpu)));
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
    let mut world =
        SimulatedPage::with_clip(faults(|f| f.hanging_loads = loads(&CLIP, EngineKind::Cpu)));
    world.happens(Event::Pause);
    world.pass(1000);
    assert_eq!(world.loads.len(), 1, "nothing was begun anew");
}

#[test]
fn a_request_that_cannot_be_posted_is_one_that_kills() {
    let mut world = SimulatedPage::built_in(faults(|f| f.unpostable = set(["huge"])));
    world.ask(&["a", "huge"]);
    assert_eq!(world.quarantined(), ["huge"], "it is named");
    world.assert_answered(&["a"], "the rest");
}

#[test]
fn an_engine_that_dies_again_and_again_without_a_reason_is_given_up_until_the_visitor_wants_it() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
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
    world.assert_answered(&["a"], "after another try");
}

#[test]
fn another_model_is_loaded_beside_the_one_at_work() {
    let mut world =
        SimulatedPage::built_in(faults(|f| f.hanging_loads = loads(&CLIP, EngineKind::Cpu)));
    world.happens(Event::ChangeModel(CLIP));
    world.ask(&["a"]);
    world.assert_answered(&["a"], "meanwhile");
    world.kill();
    assert_eq!(world.count(is_given_up), 1, "its death is told");
    assert_eq!(world.count(is_restarted), 0, "the other one goes on");
}

#[test]
fn a_question_about_the_browser_survives_its_engine() {
    let mut world = SimulatedPage::built_in(faults(|f| f.hangers = set(["a"])));
    world.ask(&["a"]);
    world.happens(Event::Query(Request::ListStored));
    world.faults.hangers.clear();
    world.kill();
    let stored = |event: &EngineEvent| matches!(event, EngineEvent::Stored(_));
    assert_eq!(world.count(stored), 1, "the next one answers");
}

#[test]
fn an_engine_that_dies_while_it_is_measured_is_not_measured_by_the_next() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    world.happens(Event::Query(Request::MeasureDevice));
    world.kill();
    let failed = |event: &EngineEvent| matches!(event, EngineEvent::DeviceMeasured(Err(_)));
    assert_eq!(world.count(failed), 1, "the visitor may ask again");
    let asked = world
        .posted
        .iter()
        .filter(|(_, request)| *request == Request::MeasureDevice);
    assert_eq!(asked.count(), 1, "the next engine is not asked");
}

#[test]
fn a_question_that_nobody_answers_is_answered_in_words() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    let hub = crate::protocol::Hub::vit_b_32();
    world.happens(Event::Query(Request::QueryDownloadSize(hub)));
    world.pass(121);
    let failed = |event: &EngineEvent| matches!(event, EngineEvent::DownloadSize(Err(_)));
    assert_eq!(world.count(failed), 1, "no engine answered");
}

#[test]
fn models_are_kept_however_long_that_takes_and_whatever_engine_dies() {
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    world.happens(Event::Query(Request::StoreModels(Vec::new())));
    world.pass(121);
    world.kill();
    let asked = world.posted.iter();
    let asked = asked.filter(|(_, request)| matches!(request, Request::StoreModels(_)));
    assert_eq!(asked.count(), 2, "the next engine goes on");
}

#[test]
fn without_an_engine_the_page_says_why() {
    let mut world = SimulatedPage::new(SimulatedFaults::default());
    world.happens(Event::Start(Start {
        source: ModelSource::FALLBACK,
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
