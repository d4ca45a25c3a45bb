//! Cache of the encodings of the captions asked for last, so that typing in one row re-encodes only that row.

use std::collections::{HashMap, VecDeque};

/// Values by caption; the least recently used one is removed first.
#[derive(Debug)]
pub struct Recent<T> {
    values: HashMap<String, T>,
    /// Captions, the one used last at the back.
    order: VecDeque<String>,
}

impl<T> Recent<T> {
    /// Greatest number of captions; each holds a few vectors of the embedding's dimension.
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

    /// Remembers the value of a caption, and removes the least recently used one when there are too many.
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
