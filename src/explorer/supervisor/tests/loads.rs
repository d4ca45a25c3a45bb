//! Models, image encoders and adapters that kill their engine, at this visit and the next.

use super::*;

#[test]
fn a_remembered_model_that_kills_is_loaded_twice_and_not_at_the_next_visit() {
    let faults = faults(|f| f.killing_loads = loads(&CLIP, EngineKind::Cpu));
    let first = SimulatedPage::with_clip(faults.clone());
    let n_loads = |world: &SimulatedPage| world.loads.iter().filter(|(_, s)| *s == CLIP).count();
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
        unfinished: Vec::new(),
    };
    let mut second = SimulatedPage::started(faults, CLIP, notes);
    assert_eq!(n_loads(&second), 0, "it is not tried by itself");
    assert_eq!(second.count(is_given_up), 1, "the page says why");
    second.faults = SimulatedFaults::default();
    second.happens(Event::ChangeModel(CLIP));
    assert_eq!(n_loads(&second), 1, "but when the visitor asks for it");
    assert_eq!(*second.supervisor.source(), CLIP, "and then it answers");
}

#[test]
fn a_built_in_model_that_kills_waits_for_the_visitor() {
    let mut world = SimulatedPage::built_in(faults(|f| {
        f.killing_loads = loads(&ModelSource::FALLBACK, EngineKind::Cpu);
    }));
    assert_eq!(
        (world.loads.len(), world.count(is_stopped)),
        (2, 1),
        "two strikes"
    );
    world.ask(&["a"]);
    world.faults = SimulatedFaults::default();
    world.happens(Event::Retry);
    world.assert_answered(&["a"], "after another try");
}

#[test]
fn an_upgrade_that_kills_is_not_tried_at_the_third_visit() {
    let faults = || SimulatedFaults {
        gpu_millis: Some(1.0),
        killing_loads: loads(&ModelSource::FALLBACK, EngineKind::Gpu),
        ..SimulatedFaults::default()
    };
    let load = LoadId {
        kind: LoadKind::Upgrade,
        source: ModelSource::FALLBACK.key(),
    };
    for (n_strikes, n_loads) in [(0, 2), (1, 2), (2, 1)] {
        let notes = LoadNotes {
            strikes: vec![(load.clone(), n_strikes)],
            unfinished: Vec::new(),
        };
        let mut world = SimulatedPage::started(faults(), ModelSource::FALLBACK, notes);
        world.ask(&["first"]);
        assert_eq!(world.loads.len(), n_loads, "after {n_strikes} strikes");
        assert_eq!(world.count(is_stopped), 0, "the CPU answers");
    }
}

#[test]
fn an_image_encoder_that_kills_blames_the_model_and_no_picture() {
    let mut world = SimulatedPage::with_clip(faults(|f| f.killing_image_encoders = set(["clip"])));
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
    let mut world = SimulatedPage::with_clip(faults(|f| f.killing_adapters = BTreeSet::from([7])));
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
    world.assert_answered(&["a"], "without them");
}

#[test]
fn kept_adapters_that_kill_are_dropped_and_kept_no_longer() {
    let mut world = SimulatedPage::new(faults(|f| f.killing_adapters = BTreeSet::from([7])));
    world.kept_adapters = Some(vec![7]);
    world.start(CLIP, LoadNotes::default());
    let refused = |event: &EngineEvent| matches!(event, EngineEvent::AdapterRefused(name, _) if name == "given at an earlier visit");
    assert_eq!(world.count(refused), 1, "the page says why");
    let n_posted = |is_it: fn(&Request) -> bool| {
        let posted = world.posted.iter();
        posted.filter(|(_, request)| is_it(request)).count()
    };
    let n_given = n_posted(|request| matches!(request, Request::Adapt { .. }));
    assert_eq!(n_given, 2, "two strikes");
    let n_forgotten = n_posted(|request| *request == Request::ForgetAdapters);
    assert_eq!(n_forgotten, 1, "by the third engine, which has them again");
    assert_eq!(world.kept_adapters, None, "the next visit is without them");
    world.ask(&["a"]);
    world.assert_answered(&["a"], "as is this one");
}

#[test]
fn adapters_are_given_to_the_engine_that_replaces_one() {
    let mut world = SimulatedPage::with_clip(SimulatedFaults::default());
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
fn another_world_takes_the_place_of_the_one_at_work_at_once() {
    let photographs = ModelSource::BuiltIn(crate::explorer::World::Photographs);
    let mut world = SimulatedPage::built_in(SimulatedFaults::default());
    world.add_picture("p");
    world.happens(Event::OpenWorld(crate::explorer::World::Photographs));
    assert_eq!(*world.supervisor.source(), photographs, "it answers");
    assert_eq!(world.n_engines(), 1, "and the one before it is gone");
    world.ask_about(Priority::Matrix, &["a"], &["p"]);
    let expected = (names(["a"]), names(["p"]));
    assert_eq!(world.last_answer(), Some(expected), "with the pictures");
}

#[test]
fn photographs_that_do_not_come_give_way_to_the_scenes() {
    let photographs = ModelSource::BuiltIn(crate::explorer::World::Photographs);
    let faults = SimulatedFaults {
        killing_loads: loads(&photographs, EngineKind::Cpu),
        ..SimulatedFaults::default()
    };
    let mut world = SimulatedPage::started(faults, photographs.clone(), LoadNotes::default());
    assert_eq!(world.count(is_given_up), 1, "the page says why");
    assert!(world.supervisor.source().is_fallback(), "scenes answer");
    world.faults = SimulatedFaults::default();
    world.happens(Event::OpenWorld(crate::explorer::World::Photographs));
    assert_eq!(*world.supervisor.source(), photographs, "another try");
}
