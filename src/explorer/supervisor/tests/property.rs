//! Random events, with random faults: nothing is left unanswered, and only what kills or hangs engines is blamed.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::simulated_page::{CLIP, OWN_ENCODER, SimulatedFaults, SimulatedPage};
use crate::explorer::latest_queue::Priority;
use crate::explorer::supervisor::{EngineEvent, EngineKind, Event, LoadNotes, ModelSource};

/// Random step of a visitor, an engine or the clock.
#[derive(Debug, Clone)]
enum RandomStep {
    Ask(Priority, Vec<usize>),
    AddPicture(usize),
    RemovePicture(usize),
    Change(bool),
    OpenWorld(crate::explorer::World),
    Adapt(u8),
    Kill,
    Stop,
    Cancel,
    Retry,
    Pass(u32),
}

const CAPTIONS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const PHOTOGRAPHS: ModelSource = ModelSource::BuiltIn(crate::explorer::World::Photographs);
const PICTURES: [&str; 4] = ["p", "q", "r", "s"];

fn step() -> impl Strategy<Value = RandomStep> {
    let priority = prop::sample::select(Priority::ALL.to_vec());
    prop_oneof![
        6 => (priority, vec(0..CAPTIONS.len(), 1..4)).prop_map(|(p, c)| RandomStep::Ask(p, c)),
        3 => (0..PICTURES.len()).prop_map(RandomStep::AddPicture),
        2 => (0..PICTURES.len()).prop_map(RandomStep::RemovePicture),
        1 => any::<bool>().prop_map(RandomStep::Change),
        1 => prop::sample::select(crate::explorer::World::ALL.to_vec()).prop_map(RandomStep::OpenWorld),
        1 => (0_u8..2).prop_map(RandomStep::Adapt),
        1 => Just(RandomStep::Kill),
        1 => Just(RandomStep::Stop),
        1 => Just(RandomStep::Cancel),
        1 => Just(RandomStep::Retry),
        3 => (1_u32..40).prop_map(RandomStep::Pass),
    ]
}

fn faults() -> impl Strategy<Value = SimulatedFaults> {
    let some = |words: &'static [&'static str]| btree_set(prop::sample::select(words), 0..3);
    let owned = |words: BTreeSet<&'static str>| words.into_iter().map(str::to_owned).collect();
    let loads = btree_set(
        prop_oneof![
            Just((CLIP.key(), EngineKind::Cpu)),
            Just((CLIP.key(), EngineKind::Gpu)),
            Just((ModelSource::FALLBACK.key(), EngineKind::Gpu)),
            Just((PHOTOGRAPHS.key(), EngineKind::Cpu)),
            Just((PHOTOGRAPHS.key(), EngineKind::Gpu)),
        ],
        0..3,
    );
    (
        some(&CAPTIONS),
        some(&CAPTIONS),
        some(&PICTURES),
        loads,
        any::<[bool; 3]>(),
    )
        .prop_map(
            move |(killers, hangers, pictures, loads, [adapters, images, gpu])| SimulatedFaults {
                killers: owned(&killers | &pictures),
                hangers: owned(hangers),
                killing_adapters: if adapters {
                    BTreeSet::from([1])
                } else {
                    BTreeSet::new()
                },
                killing_image_encoders: if images {
                    BTreeSet::from([CLIP.key()])
                } else {
                    BTreeSet::new()
                },
                killing_loads: loads,
                gpu_millis: gpu.then_some(1.0),
                ..SimulatedFaults::default()
            },
        )
}

fn take(world: &mut SimulatedPage, on_page: &mut BTreeSet<usize>, step: RandomStep) {
    match step {
        RandomStep::Ask(priority, captions) => {
            let captions: Vec<_> = captions.into_iter().map(|i| CAPTIONS[i]).collect();
            let images: Vec<_> = on_page.iter().map(|i| PICTURES[*i]).collect();
            world.ask_about(priority, &captions, &images);
        }
        RandomStep::AddPicture(i) if on_page.insert(i) => match PICTURES[i] {
            image @ "r" => world.add_recorded(image, OWN_ENCODER),
            image @ "s" => world.add_recorded(image, "another"),
            image => world.add_picture(image),
        },
        RandomStep::RemovePicture(i) if on_page.remove(&i) => {
            world.happens(Event::RemovePicture(PICTURES[i].to_owned()));
        }
        RandomStep::AddPicture(_) | RandomStep::RemovePicture(_) => {}
        RandomStep::Change(to_clip) => {
            let source = if to_clip { CLIP } else { ModelSource::FALLBACK };
            world.happens(Event::ChangeModel(source));
        }
        RandomStep::OpenWorld(other) => world.happens(Event::OpenWorld(other)),
        RandomStep::Adapt(byte) => {
            world.happens(Event::GiveAdapters("file".to_owned(), Arc::new(vec![byte])));
        }
        RandomStep::Kill if world.n_engines() > 0 => world.kill(),
        RandomStep::Kill => {}
        RandomStep::Stop => world.happens(Event::Stop),
        RandomStep::Cancel => world.happens(Event::Cancel),
        RandomStep::Retry => world.happens(Event::Retry),
        RandomStep::Pass(seconds) => world.pass(seconds),
    }
}

fn is_end(event: &EngineEvent) -> bool {
    matches!(
        event,
        EngineEvent::Answered(_)
            | EngineEvent::Compared(_)
            | EngineEvent::ViewAnswered(_)
            | EngineEvent::Failed(..)
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_request_ends_and_only_faults_are_blamed(
        faults in faults(),
        starts_with_clip in any::<bool>(),
        steps in vec(step(), 1..40),
    ) {
        let source = if starts_with_clip { CLIP } else { ModelSource::FALLBACK };
        let mut world = SimulatedPage::started(faults.clone(), source, LoadNotes::default());
        let mut on_page = BTreeSet::new();
        for step in steps {
            take(&mut world, &mut on_page, step);
        }
        // However badly it went: after long enough, and another try, everything has been answered.
        for _ in 0..8 {
            world.pass(400);
            world.happens(Event::Retry);
        }
        world.pass(400);
        prop_assert!(world.supervisor.queue.is_idle(), "a request waits: {:?}", world.supervisor.queue);
        prop_assert!(world.n_engines() <= 2, "{} engines run", world.n_engines());
        for caption in world.quarantined() {
            let is_faulty = faults.killers.contains(caption) || faults.hangers.contains(caption);
            prop_assert!(is_faulty, "{caption} neither kills nor hangs");
        }
        let n_ended = world.count(is_end);
        world.ask(&["harmless"]);
        prop_assert_eq!(world.count(is_end), n_ended + 1, "the next caption is answered");
    }

    #[test]
    fn no_caption_is_sent_more_often_than_it_may_kill(
        faults in faults(),
        captions in vec(vec(0..CAPTIONS.len(), 1..6), 1..12),
    ) {
        let mut world = SimulatedPage::built_in(SimulatedFaults { gpu_millis: None, ..faults.clone() });
        for captions in captions {
            let captions: Vec<_> = captions.into_iter().map(|i| CAPTIONS[i]).collect();
            world.ask(&captions);
            world.pass(400);
        }
        for faulty in &faults.killers | &faults.hangers {
            prop_assert!(world.n_sent(&faulty) <= 2, "{faulty} was sent {} times", world.n_sent(&faulty));
        }
    }
}
