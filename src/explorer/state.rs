//! All that a link restores: the captions, the pictures, how they are read, the pair chosen, and the open view.

use std::cmp::Ordering;

use crate::explorer::locks::Locks;
use crate::explorer::view::View;
use crate::explorer::views::corruption::disturb::Harm;
use crate::explorer::views::corruption::misspell::Slip;
use crate::explorer::views::ladder::Ladder;
use crate::explorer::views::none_of_these::Classes;
use crate::explorer::views::studio::drawing::Drawing;
use crate::numerics::Family;

/// The captions a visitor starts from, from the vaguest to the most specific.
pub const START_CAPTIONS: [&str; 6] = [
    "a picture",
    "something warm",
    "something red",
    "a red star",
    "a small red star",
    "a small red star above a large blue circle",
];
/// Captions on the page at most: beyond it rows no longer fit a screen, and a link no longer fits a message.
pub const MAX_CAPTIONS: usize = 24;
/// Pictures on the page at most.
pub const MAX_PICTURES: usize = 24;

/// Everything on the page that a link restores.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplorerState {
    /// The model that should answer.
    pub model: ModelChoice,
    /// The captions, in the order shown.
    pub captions: Vec<Caption>,
    /// The pictures by name, in the order shown; those of the gallery and the visitor's own.
    pub pictures: Vec<String>,
    /// The law whose numbers are shown.
    pub family: Family,
    /// What the bars of the matrix are.
    pub measure: Measure,
    /// What stands under each bar.
    pub beside: Beside,
    /// Whether "none of these" takes part in the shares.
    pub counts_none: bool,
    /// The picture whose column is chosen.
    pub picture: Option<String>,
    /// The caption whose row is chosen.
    pub caption: Option<u64>,
    /// The view that is open.
    pub view: View,
    /// The dimension in which spreads are drawn; `None` for the model's own.
    pub dimension: Option<usize>,
    /// The rungs of the ladder.
    pub ladder: Ladder,
    /// The classes that pictures are named with.
    pub classes: Classes,
    /// What is done to pictures.
    pub harm: Harm,
    /// What is done to captions.
    pub slip: Slip,
    /// The scene in the studio.
    pub drawing: Drawing,
    /// What of the page is locked or hidden.
    pub locks: Locks,
    /// The station of the tour, while it is taken.
    pub tour_step: Option<usize>,
    /// The lesson that is open.
    pub lesson: usize,
    next_key: u64,
}

/// A caption with a name that survives editing and moving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caption {
    /// Never used twice on one page.
    pub key: u64,
    /// As typed.
    pub text: String,
}

/// What the bars of the matrix are, and what captions are ranked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// Nats above uniform, in which κ takes part.
    #[default]
    Likelihood,
    /// CLIP's own cosine, which knows no κ.
    Cosine,
}

/// The model that the visitor wants to answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// The one that comes with the page, which knows drawn scenes.
    #[default]
    Scenes,
    /// `OpenAI`'s CLIP ViT-B/32 or another one in its place, which knows photographs.
    Clip,
}

/// What stands under each bar of nats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Beside {
    /// The posterior over captions.
    #[default]
    Posterior,
    /// CLIP's own cosine.
    Cosine,
    /// The logarithm of the density itself.
    LogDensity,
}

/// Where a caption moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the first row.
    Up,
    /// Towards the last row.
    Down,
}

impl Default for ExplorerState {
    fn default() -> Self {
        Self::new(START_CAPTIONS, [])
    }
}

impl ExplorerState {
    /// A page with these captions and pictures, the first picture chosen.
    pub fn new<'a, 'b>(
        captions: impl IntoIterator<Item = &'a str>,
        pictures: impl IntoIterator<Item = &'b str>,
    ) -> Self {
        let mut state = Self {
            model: ModelChoice::default(),
            captions: Vec::new(),
            pictures: Vec::new(),
            family: Family::VonMisesFisher,
            measure: Measure::default(),
            beside: Beside::default(),
            counts_none: false,
            picture: None,
            caption: None,
            view: View::default(),
            dimension: None,
            ladder: Ladder::default(),
            classes: Classes::default(),
            harm: Harm::default(),
            slip: Slip::default(),
            drawing: Drawing::default(),
            locks: Locks::default(),
            tour_step: None,
            lesson: 0,
            next_key: 1,
        };
        for caption in captions {
            state.add_caption(caption);
        }
        for picture in pictures {
            state.add_picture(picture);
        }
        state
    }

    /// Adds a caption below the others and returns its key; `None` where the page is full.
    pub fn add_caption(&mut self, text: &str) -> Option<u64> {
        if self.captions.len() >= MAX_CAPTIONS {
            return None;
        }
        let key = self.next_key;
        self.next_key += 1;
        self.captions.push(Caption {
            key,
            text: text.to_owned(),
        });
        Some(key)
    }

    /// Puts these captions in place of all others.
    pub fn replace_captions<'a>(&mut self, captions: impl IntoIterator<Item = &'a str>) {
        self.captions.clear();
        self.caption = None;
        for caption in captions {
            self.add_caption(caption);
        }
    }

    /// Whether exactly these captions are on the page.
    pub fn has_captions(&self, captions: &[&str]) -> bool {
        self.captions
            .iter()
            .map(|caption| caption.text.as_str())
            .eq(captions.iter().copied())
    }

    /// The starting captions that are not on the page.
    pub fn missing_examples(&self) -> Vec<&'static str> {
        let is_missing = |text: &&str| !self.captions.iter().any(|caption| caption.text == *text);
        START_CAPTIONS.into_iter().filter(is_missing).collect()
    }

    /// Changes a caption's words.
    pub fn edit_caption(&mut self, key: u64, text: String) {
        if let Some(caption) = self.captions.iter_mut().find(|caption| caption.key == key) {
            caption.text = text;
        }
    }

    /// Takes a caption away.
    pub fn remove_caption(&mut self, key: u64) {
        self.captions.retain(|caption| caption.key != key);
        if self.caption == Some(key) {
            self.caption = None;
        }
    }

    /// Moves a caption by one row; `false` where it already stands at the end.
    pub fn move_caption(&mut self, key: u64, direction: Direction) -> bool {
        move_by_one(&mut self.captions, key, direction)
    }

    /// Sorts the captions from the greatest value down, or up where they stand so already; those without one come last.
    pub fn sort_captions(&mut self, value: impl Fn(&Caption) -> Option<f64>) {
        sort_or_reverse(&mut self.captions, value);
    }

    /// Sorts the pictures as [`Self::sort_captions`] sorts captions.
    pub fn sort_pictures(&mut self, value: impl Fn(&String) -> Option<f64>) {
        sort_or_reverse(&mut self.pictures, value);
    }

    /// A caption's words.
    pub fn text(&self, key: u64) -> Option<&str> {
        let caption = self.captions.iter().find(|caption| caption.key == key)?;
        Some(&caption.text)
    }

    /// The caption that views of a single caption show: the chosen one, or else the one with the most words.
    pub fn chosen_caption(&self) -> Option<u64> {
        let is_chosen = |caption: &&Caption| Some(caption.key) == self.caption;
        let n_words = |caption: &&Caption| caption.text.split_whitespace().count();
        let longest = || self.captions.iter().max_by_key(n_words);
        let chosen = self.captions.iter().find(is_chosen).or_else(longest);
        chosen.map(|caption| caption.key)
    }

    /// Adds a picture after the others; `false` where it is already there or the page is full.
    pub fn add_picture(&mut self, id: &str) -> bool {
        let fits =
            self.pictures.len() < MAX_PICTURES && !self.pictures.iter().any(|known| known == id);
        if fits {
            self.pictures.push(id.to_owned());
            self.picture.get_or_insert_with(|| id.to_owned());
        }
        fits
    }

    /// Takes a picture away; the choice falls on its neighbour.
    pub fn remove_picture(&mut self, id: &str) {
        let Some(at) = self.pictures.iter().position(|known| known == id) else {
            return;
        };
        self.pictures.remove(at);
        if self.picture.as_deref() == Some(id) {
            let neighbour = self.pictures.get(at).or(self.pictures.last());
            self.picture = neighbour.cloned();
        }
    }

    /// The captions an engine can be asked about: those with words, with their keys.
    pub fn askable(&self) -> (Vec<u64>, Vec<String>) {
        let said = self
            .captions
            .iter()
            .filter(|caption| !caption.text.trim().is_empty());
        said.map(|caption| (caption.key, caption.text.clone()))
            .unzip()
    }
}

fn sort_or_reverse<T: Clone + PartialEq>(items: &mut Vec<T>, value: impl Fn(&T) -> Option<f64>) {
    let (mut known, unknown): (Vec<T>, Vec<T>) = items
        .iter()
        .cloned()
        .partition(|item| value(item).is_some());
    known.sort_by(|a, b| value(b).partial_cmp(&value(a)).unwrap_or(Ordering::Equal));
    if items.starts_with(&known) {
        known.sort_by(|a, b| value(a).partial_cmp(&value(b)).unwrap_or(Ordering::Equal));
    }
    *items = [known, unknown].concat();
}

/// Moves the caption with this key by one place; `false` where it already stands at the end.
pub(crate) fn move_by_one(captions: &mut [Caption], key: u64, direction: Direction) -> bool {
    let Some(from) = captions.iter().position(|caption| caption.key == key) else {
        return false;
    };
    let to = match direction {
        Direction::Up => from.checked_sub(1),
        Direction::Down => Some(from + 1).filter(|&to| to < captions.len()),
    };
    if let Some(to) = to {
        captions.swap(from, to);
    }
    to.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes::{information, parse};

    #[test]
    fn a_removed_key_is_never_used_again() {
        let mut state = ExplorerState::new(["a", "b"], []);
        let last = state.captions[1].key;
        state.remove_caption(last);
        let next = state.add_caption("c");
        assert!(next > Some(last), "the key {next:?} came after {last}");
    }

    #[test]
    fn moving_beyond_an_end_changes_nothing() {
        let mut state = ExplorerState::new(["a", "b"], []);
        let (first, before) = (state.captions[0].key, state.clone());
        assert!(
            !state.move_caption(first, Direction::Up),
            "the first row cannot rise"
        );
        assert_eq!(state, before, "a refused move leaves the page as it was");
        assert!(
            state.move_caption(first, Direction::Down),
            "the first row can sink"
        );
        assert_eq!(state.captions[1].text, "a", "it stands second now");
    }

    #[test]
    fn removing_the_chosen_picture_chooses_its_neighbour() {
        let mut state = ExplorerState::new([], ["x", "y", "z"]);
        state.picture = Some("y".into());
        state.remove_picture("y");
        assert_eq!(
            state.picture.as_deref(),
            Some("z"),
            "the next picture takes its place"
        );
        state.remove_picture("z");
        state.remove_picture("x");
        assert_eq!(state.picture, None, "nothing is left to choose");
    }

    #[test]
    fn a_full_page_takes_no_more() {
        let mut state = ExplorerState::new([], []);
        for i in 0..50 {
            state.add_picture(&format!("own-{i}"));
            state.add_caption("x");
        }
        assert_eq!(
            state.pictures.len(),
            MAX_PICTURES,
            "pictures stop at the limit"
        );
        assert_eq!(
            state.captions.len(),
            MAX_CAPTIONS,
            "captions stop at the limit"
        );
    }

    #[test]
    fn an_edited_example_can_be_had_again() {
        let mut state = ExplorerState::default();
        assert!(
            state.missing_examples().is_empty(),
            "all are there at first"
        );
        let key = state.captions[2].key;
        state.edit_caption(key, "something blue".into());
        assert_eq!(
            state.missing_examples(),
            [START_CAPTIONS[2]],
            "only that one is missing"
        );
    }

    #[test]
    fn each_starting_caption_says_more_than_the_one_before() {
        let bits = START_CAPTIONS.map(|caption| {
            let description =
                parse(caption).unwrap_or_else(|| panic!("the world has no sentence {caption:?}"));
            information(&description).bits
        });
        assert!(bits.is_sorted_by(|a, b| a < b), "the bits were {bits:?}");
    }

    #[test]
    fn the_longest_caption_stands_in_for_a_chosen_one() {
        let mut state = ExplorerState::new(["a", "a red star", "", "a star"], []);
        let keys: Vec<u64> = state.captions.iter().map(|caption| caption.key).collect();
        assert_eq!(state.chosen_caption(), Some(keys[1]), "none is chosen");
        state.caption = Some(keys[3]);
        assert_eq!(state.chosen_caption(), Some(keys[3]), "the last is chosen");
        state.caption = Some(keys[2]);
        assert_eq!(
            state.chosen_caption(),
            Some(keys[2]),
            "a caption stays chosen while its words are replaced"
        );
    }

    #[test]
    fn sorting_twice_turns_the_order_round() {
        let mut state = ExplorerState::new(["bb", "", "a", "cccc"], []);
        let length = |caption: &Caption| {
            let n = caption.text.len();
            (n > 0).then_some(n as f64)
        };
        let order = |state: &ExplorerState| {
            let texts = state.captions.iter().map(|caption| caption.text.clone());
            texts.collect::<Vec<_>>()
        };
        state.sort_captions(length);
        assert_eq!(order(&state), ["cccc", "bb", "a", ""], "the longest first");
        state.sort_captions(length);
        assert_eq!(
            order(&state),
            ["a", "bb", "cccc", ""],
            "then the shortest, and what has no value still last"
        );
    }

    #[test]
    fn captions_without_words_are_not_asked_about() {
        let state = ExplorerState::new(["a star", "  ", ""], []);
        assert_eq!(state.askable().1, ["a star"], "only words are asked about");
    }
}
