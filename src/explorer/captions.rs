//! Lists of captions that a visitor edits, in which each caption keeps its key while it is edited and moved.

use std::cmp::Ordering;
use std::ops::Deref;

use crate::protocol::shortened;

/// A caption with a key that survives editing and moving.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyedCaption {
    /// Never used twice in one list.
    pub key: u64,
    /// Text as typed, of at most [`MAX_CAPTION_CHARACTERS`](crate::protocol::MAX_CAPTION_CHARACTERS).
    pub text: String,
}

/// Direction in which a caption moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the first row.
    Up,
    /// Towards the last row.
    Down,
}

/// Captions in the order shown, at most `CAPACITY` of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptionList<const CAPACITY: usize> {
    captions: Vec<KeyedCaption>,
    next_key: u64,
}

impl<const CAPACITY: usize> Deref for CaptionList<CAPACITY> {
    type Target = [KeyedCaption];

    fn deref(&self) -> &[KeyedCaption] {
        &self.captions
    }
}

impl<const CAPACITY: usize> CaptionList<CAPACITY> {
    /// A list of these captions, as many as fit.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut list = Self {
            captions: Vec::new(),
            next_key: 1,
        };
        list.replace(texts);
        list
    }

    /// Puts these captions in place of all others, with keys of their own.
    pub fn replace<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        self.captions.clear();
        for text in texts {
            self.add(text);
        }
    }

    /// Takes the captions of an earlier state of the list; keys that were used since are used no more.
    pub(super) fn take_back(&mut self, earlier: Self) {
        self.captions = earlier.captions;
        self.next_key = self.next_key.max(earlier.next_key);
    }

    /// Adds a caption below the others and returns its key; `None` where the list is full.
    pub fn add(&mut self, text: &str) -> Option<u64> {
        if self.captions.len() >= CAPACITY {
            return None;
        }
        let key = self.next_key;
        self.next_key += 1;
        self.captions.push(KeyedCaption {
            key,
            text: shortened(text).to_owned(),
        });
        Some(key)
    }

    /// Changes a caption's text.
    pub fn edit(&mut self, key: u64, mut text: String) {
        if let Some(caption) = self.captions.iter_mut().find(|caption| caption.key == key) {
            text.truncate(shortened(&text).len());
            caption.text = text;
        }
    }

    /// Removes the caption with this key; without one, nothing changes.
    pub fn remove(&mut self, key: u64) {
        self.captions.retain(|caption| caption.key != key);
    }

    /// Moves a caption by one row; `false` where it already stands at the end.
    pub fn move_by_one(&mut self, key: u64, direction: Direction) -> bool {
        let Some(from) = self.index(key) else {
            return false;
        };
        let to = match direction {
            Direction::Up => from.checked_sub(1),
            Direction::Down => Some(from + 1).filter(|&to| to < self.len()),
        };
        if let Some(to) = to {
            self.captions.swap(from, to);
        }
        to.is_some()
    }

    /// Sorts the captions from the greatest value down, or up where they stand so already; those without one come last.
    pub fn sort(&mut self, value: impl Fn(&KeyedCaption) -> Option<f64>) {
        sort_or_reverse(&mut self.captions, value);
    }

    /// The row of a caption, from 0.
    pub fn index(&self, key: u64) -> Option<usize> {
        self.iter().position(|caption| caption.key == key)
    }

    /// Text of the caption with this key; `None` where the list has none.
    pub fn text(&self, key: u64) -> Option<&str> {
        Some(&self[self.index(key)?].text)
    }

    /// The texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|caption| caption.text.as_str())
    }
}

/// Sorts items from the greatest value down, or up where they stand so already; those without a value come last.
pub(super) fn sort_or_reverse<T: Clone>(items: &mut Vec<T>, value: impl FnMut(&T) -> Option<f64>) {
    let values: Vec<Option<f64>> = items.iter().map(value).collect();
    let order = other_order(&values).into_iter();
    *items = order.map(|place| items[place].clone()).collect();
}

/// The places of values, from the greatest down, or up where they stand so already; what has no value comes last.
fn other_order(values: &[Option<f64>]) -> Vec<usize> {
    let known = |(place, value): (usize, &Option<f64>)| Some((place, (*value)?));
    let mut known: Vec<(usize, f64)> = values.iter().enumerate().filter_map(known).collect();
    let mut sort = |sign: f64| {
        known.sort_by(|a, b| {
            (sign * a.1)
                .partial_cmp(&(sign * b.1))
                .unwrap_or(Ordering::Equal)
        });
        known.iter().map(|(place, _)| *place).collect::<Vec<_>>()
    };
    let mut order = sort(-1.0);
    if order.iter().copied().eq(0..order.len()) {
        order = sort(1.0);
    }
    order.extend((0..values.len()).filter(|&place| values[place].is_none()));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::MAX_CAPTION_CHARACTERS;

    fn texts(list: &CaptionList<4>) -> Vec<&str> {
        list.texts().collect()
    }

    #[test]
    fn a_removed_key_is_never_used_again() {
        let mut list = CaptionList::<4>::new(["a", "b"]);
        let last = list[1].key;
        list.remove(last);
        let next = list.add("c");
        assert!(next > Some(last), "the key {next:?} came after {last}");
    }

    #[test]
    fn moving_beyond_an_end_changes_nothing() {
        let mut list = CaptionList::<4>::new(["a", "b"]);
        let (first, before) = (list[0].key, list.clone());
        assert!(!list.move_by_one(first, Direction::Up), "it stands first");
        assert_eq!(list, before, "a refused move leaves the list as it was");
        assert!(list.move_by_one(first, Direction::Down), "it can sink");
        assert_eq!(texts(&list), ["b", "a"], "it stands second now");
    }

    #[test]
    fn a_full_list_takes_no_more() {
        let mut list = CaptionList::<4>::new(["x"; 50]);
        assert_eq!(list.len(), 4, "captions stop at the limit");
        assert_eq!(list.add("y"), None, "and one more is refused");
    }

    #[test]
    fn a_caption_is_cut_where_it_is_too_long() {
        let long = "ä".repeat(MAX_CAPTION_CHARACTERS + 1);
        let mut list = CaptionList::<4>::new([long.as_str()]);
        let n_added = list[0].text.chars().count();
        assert_eq!(n_added, MAX_CAPTION_CHARACTERS, "as it is added");
        list.edit(list[0].key, format!("a{long}"));
        let n_edited = list[0].text.chars().count();
        assert_eq!(n_edited, MAX_CAPTION_CHARACTERS, "as it is typed");
    }

    #[test]
    fn sorting_twice_turns_the_order_round() {
        let mut list = CaptionList::<4>::new(["bb", "", "a", "cccc"]);
        let length = |caption: &KeyedCaption| {
            let n = caption.text.len();
            (n > 0).then_some(n as f64)
        };
        list.sort(length);
        assert_eq!(texts(&list), ["cccc", "bb", "a", ""], "the longest first");
        list.sort(length);
        let expected = ["a", "bb", "cccc", ""];
        assert_eq!(texts(&list), expected, "no value still comes last");
    }
}
