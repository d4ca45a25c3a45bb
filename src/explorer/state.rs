//! All that a link restores: captions, pictures, how they are read, the chosen pair, and the open view.

use super::captions::{CaptionList, sort_or_reverse};
use super::locks::Locks;
use super::measure::{Measure, SecondNumber};
use super::photographs::PHOTOGRAPH_SETS;
use super::views::View;
use super::views::ladder::Ladder;
use super::views::none_of_these::Classes;
use super::views::studio::drawing::Drawing;
use super::world::World;
use crate::corruption::{ImageCorruption, Misspelling};
use crate::numerics::Family;

/// Starts the names of the visitor's own pictures, which stay on the machine and so in no link.
pub const OWN: &str = "own-";
/// Captions on the page at most: beyond it rows no longer fit a screen, and a link no longer fits a message.
pub const MAX_CAPTIONS: usize = 24;
/// Pictures on the page at most.
pub const MAX_PICTURES: usize = 24;

/// Bytes that a teacher's own questions take in a link at most: of the 2,953 that a QR code holds, 553 are left for the
/// page's address and the lesson.
pub const MAX_QUESTION_BYTES: usize = 2400;

/// Share of captions whose right photograph the wall lights at first: high, and yet a dog leaves most of it dark.
const FIRST_COVERAGE: f64 = 0.7;

/// Everything on the page that a link restores.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplorerState {
    /// The model that should answer.
    pub model: ModelChoice,
    /// Captions of the matrix, in the order shown.
    pub captions: CaptionList<MAX_CAPTIONS>,
    /// Names of the pictures, in the order shown: those of the gallery and the visitor's own.
    pub pictures: Vec<String>,
    /// Family of distributions whose numbers are shown.
    pub family: Family,
    /// Measure that the bars of the matrix show.
    pub measure: Measure,
    /// The number under each bar.
    pub beside: SecondNumber,
    /// Whether "none of these" takes part in the posterior.
    pub counts_none: bool,
    /// The picture whose column is chosen.
    pub picture: Option<String>,
    /// Key of the caption whose row is chosen.
    pub caption: Option<u64>,
    /// The view that is open.
    pub view: View,
    /// Dimension in which the geometry draws distributions; `None` for the model's own.
    pub dimension: Option<usize>,
    /// Captions of the ladder.
    pub ladder: Ladder,
    /// Classes that pictures are named with.
    pub classes: Classes,
    /// Kind of corruption at whose severities the chosen picture is shown.
    pub image_corruption: ImageCorruption,
    /// Kind of misspelling that the chosen caption is given, step by step.
    pub misspelling: Misspelling,
    /// Scene in the studio.
    pub drawing: Drawing,
    /// Controls that are locked or hidden.
    pub locks: Locks,
    /// Step of the tour, from 0, while it is taken.
    pub tour_step: Option<usize>,
    /// The lesson that is open, from 0.
    pub lesson: usize,
    /// Number of the guessing game, while one is played.
    pub game: Option<u32>,
    /// Whether type is as large as a projector needs.
    pub is_big: bool,
    /// Share of captions whose right photograph the wall shall light.
    pub coverage: f64,
    /// Questions that a teacher asks beside those of the lesson, one a line.
    pub questions: String,
    /// Eight hexadecimal digits of the weights that answered on the page, which a link's are only compared with; empty
    /// before a model has answered.
    pub weights: String,
}

/// The model that the visitor wants to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelChoice {
    /// One that comes with the page.
    BuiltIn(World),
    /// `OpenAI`'s CLIP ViT-B/32 or another one in its place, which knows photographs.
    Clip,
}

impl ModelChoice {
    /// The model of the drawn scenes.
    pub const SCENES: Self = Self::BuiltIn(World::Scenes);

    /// The world that comes with the page and that this model is the model of.
    #[must_use]
    pub fn built_in(self) -> Option<World> {
        match self {
            Self::BuiltIn(world) => Some(world),
            Self::Clip => None,
        }
    }

    /// The world whose gallery, ladders and lessons are shown with this model.
    #[must_use]
    pub fn world(self) -> World {
        self.built_in().unwrap_or(World::Scenes)
    }

    /// The name in links and on the page.
    #[must_use]
    pub fn slug(self) -> &'static str {
        self.built_in().map_or("clip", World::slug)
    }
}

impl ExplorerState {
    /// A page of this model with these captions and pictures, the first picture chosen; all else is as usual.
    pub fn new<'a, 'b>(
        model: ModelChoice,
        captions: impl IntoIterator<Item = &'a str>,
        pictures: impl IntoIterator<Item = &'b str>,
    ) -> Self {
        let world = model.world();
        let mut state = Self {
            model,
            captions: CaptionList::new(captions),
            pictures: Vec::new(),
            family: Family::VonMisesFisher,
            measure: Measure::default(),
            beside: SecondNumber::default(),
            counts_none: false,
            picture: None,
            caption: None,
            view: View::default(),
            dimension: None,
            ladder: Ladder::new(world.ladder().iter().copied()),
            classes: world.classes(),
            image_corruption: ImageCorruption::default(),
            misspelling: Misspelling::default(),
            drawing: Drawing::default(),
            locks: Locks::default(),
            tour_step: None,
            lesson: 0,
            game: None,
            is_big: false,
            coverage: FIRST_COVERAGE,
            questions: String::new(),
            weights: String::new(),
        };
        for picture in pictures {
            state.add_picture(picture);
        }
        state
    }

    /// The page of a world with these pictures, as a visitor finds it.
    pub fn start<'a>(world: World, pictures: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(ModelChoice::BuiltIn(world), world.captions(), pictures)
    }

    /// Takes over how another page reads its answers, and what it locks.
    pub fn read_as(&mut self, other: &Self) {
        self.family = other.family;
        self.measure = other.measure;
        self.beside = other.beside;
        self.counts_none = other.counts_none;
        self.locks = other.locks;
        self.is_big = other.is_big;
        self.coverage = other.coverage;
        self.questions.clone_from(&other.questions);
    }

    /// The teacher's own questions that have words.
    pub fn own_questions(&self) -> Vec<String> {
        let lines = self.questions.lines().map(str::trim);
        let asked = lines.filter(|line| !line.is_empty());
        asked.map(str::to_owned).collect()
    }

    /// Takes a teacher's own questions, as much of them as a link holds.
    pub fn ask(&mut self, questions: &str) {
        let mut n_bytes = 0;
        let fits = |letter: &char| {
            n_bytes += bytes_in_link(*letter);
            n_bytes <= MAX_QUESTION_BYTES
        };
        self.questions = questions.chars().take_while(fits).collect();
    }

    /// Chooses the model that should answer; the weights of a new one are not known yet.
    pub fn turn_to(&mut self, model: ModelChoice) {
        if self.model != model {
            self.model = model;
            self.weights.clear();
        }
    }

    /// Takes over what an earlier state of the page held.
    pub(super) fn take_content(&mut self, earlier: Self) {
        self.captions.take_back(earlier.captions);
        self.ladder.take_back(earlier.ladder);
        self.pictures = earlier.pictures;
        (self.picture, self.caption) = (earlier.picture, earlier.caption);
        self.drawing = earlier.drawing;
        self.classes = earlier.classes;
        self.coverage = earlier.coverage;
    }

    /// Adds the visitor's own pictures of another page.
    pub fn take_own_pictures(&mut self, from: &Self) {
        let own = from.pictures.iter().filter(|id| id.starts_with(OWN));
        for id in own {
            self.add_picture(id);
        }
    }

    /// Puts these captions in place of all others.
    pub fn replace_captions<'a>(&mut self, captions: impl IntoIterator<Item = &'a str>) {
        self.captions.replace(captions);
        self.caption = None;
    }

    /// Whether exactly these captions are on the page.
    pub fn has_captions(&self, captions: &[&str]) -> bool {
        self.captions.texts().eq(captions.iter().copied())
    }

    /// Whether the captions are some that the page offers, and none that the visitor typed.
    pub fn has_offered_captions(&self) -> bool {
        let sets = PHOTOGRAPH_SETS.iter().map(|set| set.captions);
        let mut offered = sets.chain(World::ALL.map(World::captions));
        offered.any(|captions| self.has_captions(&captions))
    }

    /// The captions that the model's world starts with and that are not on the page.
    pub fn missing_examples(&self) -> Vec<&'static str> {
        let is_missing = |example: &&str| !self.captions.texts().any(|text| text == *example);
        let worlds = self.model.built_in().into_iter();
        worlds
            .flat_map(World::captions)
            .filter(is_missing)
            .collect()
    }

    /// Removes a caption, and its choice.
    pub fn remove_caption(&mut self, key: u64) {
        self.captions.remove(key);
        self.caption.take_if(|chosen| *chosen == key);
    }

    /// Sorts the pictures as [`CaptionList::sort`] sorts captions.
    pub fn sort_pictures(&mut self, value: impl Fn(&String) -> Option<f64>) {
        sort_or_reverse(&mut self.pictures, value);
    }

    /// The caption that views of a single caption show: the chosen one, or else the one with the most words.
    pub fn chosen_caption(&self) -> Option<u64> {
        let is_there = |key: &u64| self.captions.index(*key).is_some();
        self.caption.filter(is_there).or_else(|| {
            let captions = self.captions.iter();
            let longest = captions.max_by_key(|caption| caption.text.split_whitespace().count())?;
            Some(longest.key)
        })
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

    /// Adds a picture after the others and chooses it; `false` where it is already there or the page is full.
    pub fn add_chosen_picture(&mut self, id: &str) -> bool {
        let is_added = self.add_picture(id);
        if is_added {
            self.picture = Some(id.to_owned());
        }
        is_added
    }

    /// Removes a picture; if it was chosen, its neighbour is chosen next.
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

    /// The captions an engine can be asked about: keys and texts of those with words.
    pub fn askable(&self) -> (Vec<u64>, Vec<String>) {
        let captions = self.captions.iter();
        let with_words = captions.filter(|caption| !caption.text.trim().is_empty());
        with_words
            .map(|caption| (caption.key, caption.text.clone()))
            .unzip()
    }
}

/// Bytes that a letter takes in a link, where each byte of all but RFC 3986's unreserved ones is escaped by three.
fn bytes_in_link(letter: char) -> usize {
    match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '~' => 1,
        _ => 3 * letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::locks::{Access, PageControl};

    const SCENES: ModelChoice = ModelChoice::SCENES;

    #[test]
    fn removing_the_chosen_picture_chooses_its_neighbour() {
        let mut state = ExplorerState::new(SCENES, [], ["x", "y", "z"]);
        state.picture = Some("y".into());
        state.remove_picture("y");
        assert_eq!(state.picture.as_deref(), Some("z"), "the next picture");
        state.remove_picture("z");
        state.remove_picture("x");
        assert_eq!(state.picture, None, "nothing is left to choose");
    }

    #[test]
    fn a_picture_that_is_added_and_chosen_is_one_that_the_page_had_not() {
        let mut state = ExplorerState::new(SCENES, [], ["x", "y"]);
        assert!(state.add_chosen_picture("z"), "a new one");
        assert_eq!(
            state.picture.as_deref(),
            Some("z"),
            "its numbers are wanted"
        );
        assert!(!state.add_chosen_picture("x"), "it is there");
        assert_eq!(state.picture.as_deref(), Some("z"), "the choice stays");
    }

    #[test]
    fn a_full_page_takes_no_more_pictures() {
        let mut state = ExplorerState::new(SCENES, [], []);
        for i in 0..50 {
            state.add_picture(&format!("own-{i}"));
        }
        assert_eq!(state.pictures.len(), MAX_PICTURES, "of fifty");
    }

    #[test]
    fn an_edited_example_can_be_had_again() {
        for world in World::ALL {
            let mut state = ExplorerState::start(world, []);
            assert!(state.missing_examples().is_empty(), "all are there");
            let key = state.captions[2].key;
            state.captions.edit(key, "something blue".into());
            let example = world.captions()[2];
            assert_eq!(state.missing_examples(), [example], "one is not");
        }
    }

    #[test]
    fn the_visitors_pictures_come_along_into_another_world() {
        let before = ExplorerState::new(SCENES, [], ["star", "own-1", "own-2"]);
        let mut state = ExplorerState::start(World::Photographs, ["dog", "own-2"]);
        state.take_own_pictures(&before);
        assert_eq!(state.pictures, ["dog", "own-2", "own-1"], "each once");
    }

    #[test]
    fn what_a_teacher_locked_stays_locked_in_another_world() {
        let mut before = ExplorerState::start(World::Scenes, []);
        before.locks.set(PageControl::Captions, Access::Locked);
        before.family = Family::PowerSpherical;
        let mut state = ExplorerState::start(World::Photographs, []);
        state.read_as(&before);
        let read = |state: &ExplorerState| (state.locks, state.family);
        assert_eq!(read(&state), read(&before), "with how it is read");
        assert_eq!(state.captions.len(), 6, "its captions are its own");
    }

    #[test]
    fn the_longest_caption_stands_in_for_a_chosen_one() {
        let mut state = ExplorerState::new(SCENES, ["a", "a red star", "", "a star"], []);
        let keys: Vec<u64> = state.captions.iter().map(|caption| caption.key).collect();
        for (chosen, expected) in [(None, 1), (Some(3), 3), (Some(2), 2)] {
            state.caption = chosen.map(|row: usize| keys[row]);
            let found = state.chosen_caption();
            assert_eq!(found, Some(keys[expected]), "with {chosen:?} chosen");
        }
        state.remove_caption(keys[2]);
        assert_eq!(state.caption, None, "a caption that left is not chosen");
    }

    #[test]
    fn captions_without_words_are_not_asked_about() {
        let state = ExplorerState::new(SCENES, ["a star", "  ", ""], []);
        assert_eq!(state.askable().1, ["a star"], "only words are asked about");
    }
}
