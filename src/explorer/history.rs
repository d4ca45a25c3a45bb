//! History of the visitor's changes, step by step, so that they can be undone.

use super::state::ExplorerState;

/// Steps that can be undone.
const MAX_STEPS: usize = 20;

/// The page before each of the last steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    steps: Vec<ExplorerState>,
    /// Place where the last step was typed or dragged.
    place: Option<u64>,
}

impl History {
    /// Keeps the page as it is before a step. What is typed or dragged in one place without another step between is one
    /// step.
    pub fn keep(&mut self, before: &ExplorerState, place: Option<u64>) {
        if place.is_none() || place != self.place {
            self.steps.push(before.clone());
            let n_old = self.steps.len().saturating_sub(MAX_STEPS);
            self.steps.drain(..n_old);
        }
        self.place = place;
    }

    /// The page without the last step that changed something; the distribution, the measures and the open view stay.
    ///
    /// `None` where nothing is left to undo; the steps of another model's page are forgotten.
    pub fn undo(&mut self, now: &ExplorerState) -> Option<ExplorerState> {
        self.place = None;
        loop {
            let before = self.steps.pop()?;
            if before.model != now.model {
                self.steps.clear();
                return None;
            }
            let mut undone = now.clone();
            undone.take_content(before);
            if undone != *now {
                return Some(undone);
            }
        }
    }

    /// Whether there are steps to undo.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::captions::CaptionList;
    use crate::explorer::state::ModelChoice;
    use crate::explorer::views::View;
    use crate::explorer::world::World;

    fn page() -> ExplorerState {
        ExplorerState::new(ModelChoice::SCENES, ["a star", "a moon"], ["x", "y"])
    }

    #[test]
    fn a_removed_caption_comes_back_with_its_key_and_place() {
        let (mut state, mut history) = (page(), History::default());
        let before = state.captions.clone();
        history.keep(&state, None);
        state.remove_caption(before[0].key);
        state.view = View::Ladder;
        let undone = history.undo(&state).expect("there is a step");
        assert_eq!(*undone.captions, *before, "both captions");
        assert_eq!(undone.view, View::Ladder, "the view is no step");
        assert_eq!(history.undo(&undone), None, "there was one step");
    }

    #[test]
    fn a_key_is_not_used_again_after_a_caption_was_undone() {
        let (mut state, mut history) = (page(), History::default());
        history.keep(&state, None);
        let added = state.captions.add("a ring");
        let mut undone = history.undo(&state).expect("there is a step");
        let next = undone.captions.add("a cross");
        assert!(next > added, "{next:?} after {added:?}");
    }

    #[test]
    fn a_key_is_not_used_again_after_a_link_was_undone() {
        let (mut state, mut history) = (page(), History::default());
        history.keep(&state, None);
        state.captions = CaptionList::new(["a ring"]);
        let mut undone = history.undo(&state).expect("there is a step");
        let added = undone.captions.add("a cross");
        let with_it = undone.captions.iter().filter(|one| Some(one.key) == added);
        assert_eq!(with_it.count(), 1, "{:?}", undone.captions);
    }

    #[test]
    fn classes_and_the_coverage_come_back() {
        let (mut state, mut history) = (page(), History::default());
        let (classes, coverage) = (state.classes.clone(), state.coverage);
        history.keep(&state, Some(1));
        state.classes.names = "ring".into();
        state.classes.threshold += 10;
        history.keep(&state, Some(2));
        state.coverage = 0.9;
        let undone = history.undo(&state).expect("there is a step");
        assert_eq!(undone.coverage, coverage, "the last step");
        assert_eq!(undone.classes, state.classes, "which changed no class");
        let undone = history.undo(&undone).expect("there is another");
        assert_eq!(undone.classes, classes, "names and limits");
    }

    #[test]
    fn what_is_typed_in_one_place_is_one_step() {
        let (mut state, mut history) = (page(), History::default());
        let [first, second] = [0, 1].map(|row: usize| state.captions[row].key);
        for (key, text) in [(first, "a"), (first, "a s"), (second, "b"), (first, "c")] {
            history.keep(&state, Some(key));
            state.captions.edit(key, text.into());
        }
        let mut texts = Vec::new();
        while let Some(undone) = history.undo(&state) {
            texts.push(undone.captions.texts().collect::<Vec<_>>().join("|"));
            state = undone;
        }
        assert_eq!(texts, ["a s|b", "a s|a moon", "a star|a moon"]);
    }

    #[test]
    fn twenty_steps_are_kept_and_those_that_changed_nothing_are_passed_over() {
        let (mut state, mut history) = (page(), History::default());
        for i in 0..30 {
            history.keep(&state, None);
            history.keep(&state, None);
            state.captions.edit(1, i.to_string());
        }
        let mut n_undone = 0;
        while let Some(undone) = history.undo(&state) {
            state = undone;
            n_undone += 1;
        }
        assert_eq!(n_undone, MAX_STEPS / 2, "each step was kept twice");
    }

    #[test]
    fn the_steps_of_another_world_are_forgotten() {
        let (state, mut history) = (page(), History::default());
        history.keep(&state, None);
        let other = ExplorerState::start(World::Photographs, []);
        assert_eq!(history.undo(&other), None, "its captions are its own");
        assert!(history.is_empty(), "{history:?}");
    }
}
