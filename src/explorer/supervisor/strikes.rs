//! Deaths while a model was being loaded, counted for each source and each kind of load, from visit to visit.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{EngineKind, ModelSource};

/// Deaths of a load after which it is not begun by itself.
pub(super) const MAX_STRIKES: u32 = 2;
/// Age of the last sign of a load after which its page is gone: a hidden page may count its time once a minute only.
pub(super) const STALE_MILLIS: f64 = 150_000.0;

/// Kind of a load: which part of a model, on which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadKind {
    /// A model on the CPU.
    Cpu,
    /// A model on the GPU, because the address asks for that.
    Gpu,
    /// The model at work on the GPU, in the background.
    Upgrade,
    /// The image encoder, with the first picture.
    ImageEncoder,
}

impl LoadKind {
    /// All kinds of loads that are counted.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Gpu, Self::Upgrade, Self::ImageEncoder];

    /// Name of the kind in the browser's storage.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Upgrade => "upgrade",
            Self::ImageEncoder => "image-encoder",
        }
    }
}

impl From<EngineKind> for LoadKind {
    fn from(kind: EngineKind) -> Self {
        match kind {
            EngineKind::Cpu => Self::Cpu,
            EngineKind::Gpu => Self::Gpu,
        }
    }
}

/// A load that is counted: its kind, and the key of the model's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadId {
    /// Engine or part of a model that is loaded.
    pub kind: LoadKind,
    /// Key of the model's source; see [`ModelSource::key`].
    pub source: String,
}

/// Note on a load that a visit leaves for the next.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadNote {
    /// Start of a load on this page.
    IsLoading(LoadId),
    /// End of a load on this page.
    HasEnded(LoadId),
    /// Number of deaths that are counted.
    Strikes(LoadId, u32),
}

/// Notes on loads that earlier visits left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadNotes {
    /// Deaths so far, by load.
    pub strikes: Vec<(LoadId, u32)>,
    /// Loads that began and did not end.
    pub unfinished: Vec<UnfinishedLoad>,
}

/// A load that began and did not end, in this tab or another.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedLoad {
    /// The load that killed its engine.
    pub load: LoadId,
    /// Whether this tab began it, before it crashed.
    pub is_own: bool,
    /// Milliseconds since the page that loads was last seen.
    pub age_millis: f64,
}

impl UnfinishedLoad {
    /// Whether the page that began it is gone, which a load must have brought about.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.is_own || self.age_millis > STALE_MILLIS
    }
}

/// Deaths counted by load, loads that go on, and the notes to be kept for the next visit.
#[derive(Debug, Clone, Default)]
pub(super) struct Strikes {
    counts: BTreeMap<LoadId, u32>,
    loading: BTreeSet<LoadId>,
    notes: Vec<LoadNote>,
}

impl Strikes {
    /// Counts the strikes and unfinished loads of earlier visits. One that still runs in another tab is not a strike.
    pub(super) fn recall(&mut self, notes: LoadNotes) {
        self.counts = notes.strikes.into_iter().collect();
        for unfinished in notes.unfinished {
            if unfinished.counts() {
                self.count(unfinished.load);
            }
        }
    }

    /// Takes note that a load begins.
    pub(super) fn begin(&mut self, kind: LoadKind, source: &ModelSource) {
        let load = LoadId::new(kind, source);
        self.loading.insert(load.clone());
        self.note(LoadNote::IsLoading(load));
    }

    /// Takes note that a load ended without blame: refused, cancelled, or replaced.
    pub(super) fn end(&mut self, kind: LoadKind, source: &ModelSource) {
        let load = LoadId::new(kind, source);
        if self.loading.remove(&load) {
            self.note(LoadNote::HasEnded(load));
        }
    }

    /// Takes note that a load killed its engine; returns how often it has.
    pub(super) fn strike(&mut self, kind: LoadKind, source: &ModelSource) -> u32 {
        self.end(kind, source);
        self.count(LoadId::new(kind, source))
    }

    /// Forgets the deaths of a load: it was loaded, or the visitor wants another try.
    pub(super) fn clear(&mut self, kind: LoadKind, source: &ModelSource) {
        self.end(kind, source);
        let load = LoadId::new(kind, source);
        if self.counts.remove(&load).is_some() {
            self.note(LoadNote::Strikes(load, 0));
        }
    }

    /// Whether a load has killed its engine so often that it is not begun by itself.
    pub(super) fn is_out(&self, kind: LoadKind, source: &ModelSource) -> bool {
        let count = self.counts.get(&LoadId::new(kind, source));
        count.is_some_and(|count| *count >= MAX_STRIKES)
    }

    /// Takes note that the loads of this page still go on.
    pub(super) fn refresh(&mut self) {
        for load in self.loading.clone() {
            self.note(LoadNote::IsLoading(load));
        }
    }

    /// Notes that the page is left: leaving it while a model is loaded is not a crash.
    pub(super) fn leave(&mut self) {
        for load in std::mem::take(&mut self.loading) {
            self.note(LoadNote::HasEnded(load));
        }
    }

    /// Notes to be kept that are new since this was last asked.
    pub(super) fn take_notes(&mut self) -> Vec<LoadNote> {
        std::mem::take(&mut self.notes)
    }

    fn count(&mut self, load: LoadId) -> u32 {
        let count = self.counts.entry(load.clone()).or_default();
        *count += 1;
        let count = *count;
        self.note(LoadNote::Strikes(load, count));
        count
    }

    /// Files are counted for this visit only.
    fn note(&mut self, note: LoadNote) {
        let (LoadNote::IsLoading(load) | LoadNote::HasEnded(load) | LoadNote::Strikes(load, _)) =
            &note;
        if !load.source.is_empty() {
            self.notes.push(note);
        }
    }
}

impl LoadId {
    fn new(kind: LoadKind, source: &ModelSource) -> Self {
        let source = source.key();
        Self { kind, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIP: ModelSource = ModelSource::SameSite("clip");

    fn load(kind: LoadKind) -> LoadId {
        LoadId::new(kind, &CLIP)
    }

    #[test]
    fn each_source_and_each_kind_of_load_counts_for_itself() {
        let mut strikes = Strikes::default();
        for _ in 0..MAX_STRIKES {
            strikes.begin(LoadKind::Gpu, &CLIP);
            strikes.strike(LoadKind::Gpu, &CLIP);
        }
        for kind in LoadKind::ALL {
            let is_out = strikes.is_out(kind, &CLIP);
            assert_eq!(is_out, kind == LoadKind::Gpu, "{kind:?} of CLIP");
            assert!(!strikes.is_out(kind, &ModelSource::FALLBACK), "{kind:?}");
        }
    }

    #[test]
    fn a_load_that_other_tabs_go_on_with_is_no_strike() {
        let unfinished = |is_own, age_millis| UnfinishedLoad {
            load: load(LoadKind::Cpu),
            is_own,
            age_millis,
        };
        let cases = [
            (unfinished(false, 1e3), 1, "another tab's"),
            (unfinished(false, STALE_MILLIS + 1.0), 2, "a gone page's"),
            (
                unfinished(true, 1e3),
                2,
                "this tab's, from before it crashed",
            ),
        ];
        for (unfinished, expected, whose) in cases {
            let mut strikes = Strikes::default();
            strikes.recall(LoadNotes {
                strikes: vec![(load(LoadKind::Cpu), 1)],
                unfinished: vec![unfinished],
            });
            let is_out = strikes.is_out(LoadKind::Cpu, &CLIP);
            assert_eq!(is_out, expected >= MAX_STRIKES, "{whose}");
        }
    }

    #[test]
    fn what_is_left_for_the_next_visit_is_taken_up_by_it() {
        let mut strikes = Strikes::default();
        strikes.begin(LoadKind::Cpu, &CLIP);
        strikes.strike(LoadKind::Cpu, &CLIP);
        strikes.begin(LoadKind::Cpu, &CLIP);
        let id = || load(LoadKind::Cpu);
        let expected = [
            LoadNote::IsLoading(id()),
            LoadNote::HasEnded(id()),
            LoadNote::Strikes(id(), 1),
            LoadNote::IsLoading(id()),
        ];
        assert_eq!(strikes.take_notes(), expected, "a death, and a crash");
        strikes.leave();
        let expected = [LoadNote::HasEnded(id())];
        assert_eq!(strikes.take_notes(), expected, "leaving is no crash");
    }

    #[test]
    fn files_are_not_kept() {
        let mut strikes = Strikes::default();
        let files = ModelSource::Files(1);
        strikes.begin(LoadKind::Cpu, &files);
        assert_eq!(strikes.strike(LoadKind::Cpu, &files), 1, "it is counted");
        assert_eq!(strikes.take_notes(), [], "for this visit only");
    }
}
