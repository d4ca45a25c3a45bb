//! Captions to blame for an engine's death: one that was in a request when an engine died is sent alone, and only if an
//! engine dies again is it quarantined.

use std::collections::BTreeSet;

/// Captions under one model by what engines did with them.
#[derive(Debug, Clone, Default)]
pub(super) struct Captions {
    answered: BTreeSet<String>,
    /// Captions that were blamed, and then answered when sent alone.
    cleared: BTreeSet<String>,
    /// Captions of a request during which an engine died; each is sent alone next.
    blamed: BTreeSet<String>,
    /// Captions that killed an engine when sent alone.
    quarantined: BTreeSet<String>,
}

impl Captions {
    /// Takes note that captions were answered together.
    pub(super) fn answered(&mut self, captions: &[String]) {
        self.answered.extend(captions.iter().cloned());
    }

    /// Takes note that a caption was answered alone.
    pub(super) fn clear(&mut self, caption: &str) {
        self.blamed.remove(caption);
        self.cleared.insert(caption.to_owned());
        self.answered.insert(caption.to_owned());
    }

    /// Takes note that an engine died with these captions: those that none has answered are blamed, else all that were
    /// not cleared. Returns whether there are any.
    pub(super) fn blame(&mut self, captions: &[String]) -> bool {
        let without = |known: &BTreeSet<String>| -> Vec<String> {
            let is_unknown = |caption: &&String| !known.contains(*caption);
            captions.iter().filter(is_unknown).cloned().collect()
        };
        let new = without(&self.answered);
        let blamed = if new.is_empty() {
            without(&self.cleared)
        } else {
            new
        };
        let is_any = !blamed.is_empty();
        self.blamed.extend(blamed);
        is_any
    }

    /// The first of these that is to be sent alone.
    pub(super) fn blamed_among(&self, captions: &[String]) -> Option<String> {
        let mut captions = captions.iter();
        captions
            .find(|caption| self.blamed.contains(*caption))
            .cloned()
    }

    /// Sets a caption aside.
    pub(super) fn quarantine(&mut self, caption: &str) {
        self.blamed.remove(caption);
        self.quarantined.insert(caption.to_owned());
    }

    /// Whether a caption was set aside.
    pub(super) fn is_quarantined(&self, caption: &str) -> bool {
        self.quarantined.contains(caption)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captions(words: &[&str]) -> Vec<String> {
        words.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn new_captions_are_blamed_before_answered_ones_and_these_before_cleared_ones() {
        let all = captions(&["old", "new"]);
        let mut known = Captions::default();
        known.answered(&all[..1]);
        assert!(known.blame(&all), "one was never answered");
        let blamed = known.blamed_among(&all);
        assert_eq!(blamed.as_deref(), Some("new"), "that one");
        known.clear("new");
        assert!(known.blame(&all), "then it must be the other");
        let blamed = known.blamed_among(&all);
        assert_eq!(blamed.as_deref(), Some("old"), "which was not alone");
        known.clear("old");
        assert!(!known.blame(&all), "nobody is left");
    }

    #[test]
    fn a_caption_that_was_quarantined_is_blamed_no_more() {
        let all = captions(&["killer"]);
        let mut known = Captions::default();
        known.blame(&all);
        known.quarantine("killer");
        assert_eq!(known.blamed_among(&all), None, "it is not sent again");
        assert!(known.is_quarantined("killer"), "and known by name");
    }
}
