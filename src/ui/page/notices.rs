//! Messages to the visitor: what happened, what still works, what to do.

use leptos::prelude::*;

/// Messages on the page at most; older ones make room.
const MAX_NOTICES: usize = 4;

/// The messages on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notices {
    shown: RwSignal<Vec<Notice>>,
    n_told: StoredValue<u64>,
}

/// One message to the visitor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Notice {
    /// Never used twice on one page.
    pub(crate) key: u64,
    pub(crate) text: String,
}

impl Default for Notices {
    fn default() -> Self {
        Self {
            shown: RwSignal::default(),
            n_told: StoredValue::new(0),
        }
    }
}

impl Notices {
    pub(crate) fn shown(self) -> Vec<Notice> {
        self.shown.get()
    }

    /// Adds a message, in place of an older one with the same words.
    pub(crate) fn notify(self, text: String) {
        self.n_told.update_value(|n| *n += 1);
        let key = self.n_told.get_value();
        self.shown.update(|notices| {
            notices.retain(|notice| notice.text != text);
            notices.push(Notice { key, text });
            let n_old = notices.len().saturating_sub(MAX_NOTICES);
            notices.drain(..n_old);
        });
    }

    /// Takes a message back that has ceased to be true.
    pub(crate) fn take_back(self, text: &str) {
        self.shown.maybe_update(|notices| {
            let n_before = notices.len();
            notices.retain(|notice| notice.text != text);
            notices.len() < n_before
        });
    }

    pub(crate) fn dismiss(self, key: u64) {
        self.shown
            .update(|notices| notices.retain(|notice| notice.key != key));
    }
}
