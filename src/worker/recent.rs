//! The encodings of the captions that were asked for last, so that typing in one row re-encodes only that row.

use std::collections::{HashMap, VecDeque};

/// Values by caption; the one unused for the longest time leaves first.
#[derive(Debug)]
pub struct Recent<T> {
    values: HashMap<String, T>,
    /// Captions, the one used last at the back.
    order: VecDeque<String>,
}

impl<T> Recent<T> {
    /// At most so many captions; each holds a few vectors of the embedding's dimension.
    pub const CAPACITY: usize = 512;
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Clone> Recent<T> {
    /// The value of a caption, which then counts as just used.
    pub fn find(&mut self, caption: &str) -> Option<T> {
        let value = self.values.get(caption)?.clone();
        self.order.retain(|other| other != caption);
        self.order.push_back(caption.to_owned());
        Some(value)
    }

    /// Remembers the value of a caption, and forgets the longest unused one when there are too many.
    pub fn remember(&mut self, caption: String, value: T) {
        if self.values.insert(caption.clone(), value).is_none() {
            self.order.push_back(caption);
        }
        if self.order.len() > Self::CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }

    /// Forgets all captions and their encodings.
    pub fn clear(&mut self) {
        self.values.clear();
        self.order.clear();
    }
}
