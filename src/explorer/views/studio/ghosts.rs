//! Scenes beside a drawing that fit a caption, and follow the drawing as far as the caption stays true.

use super::drawing::Drawing;
use super::scene_search::{SceneSearch, stands_apart};
use crate::scenes::{Description, parse};

/// Number of scenes that are shown beside a drawing.
pub const N_GHOSTS: usize = 4;
/// Seed of the search for them, so that a caption has the same ones at each visit.
const SEED: u64 = 4;
/// Scenes that the search tries: some milliseconds on a slow device, and enough for four of nearly every caption.
const MAX_TRIES: u32 = 2_000;

/// Scenes that a caption is true of while a drawing is changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GhostScenes {
    description: Option<Description>,
    /// The drawing from which its objects' way is measured.
    origin: Drawing,
    /// The scenes as they were found.
    found: Vec<Drawing>,
    /// The scenes as they are shown, at most [`N_GHOSTS`]; none where nothing is known to fit.
    pub shown: Vec<Drawing>,
}

impl GhostScenes {
    /// Scenes that fit a caption, beside a drawing as it is before it is changed.
    pub fn new(caption: &str, origin: &Drawing) -> Self {
        let mut found = Vec::new();
        if let Some(mut search) = SceneSearch::new(caption, SEED) {
            search.step(MAX_TRIES);
            found = search.found;
            found.truncate(N_GHOSTS);
        }
        Self {
            description: parse(caption),
            origin: origin.clone(),
            shown: found.clone(),
            found,
        }
    }

    /// Moves in each scene what has been moved in the drawing, unless the caption were false or two objects in one
    /// place; such a scene waits where it is.
    pub fn follow(&mut self, drawing: &Drawing) {
        let Some(description) = &self.description else {
            return;
        };
        for (shown, found) in self.shown.iter_mut().zip(&self.found) {
            let mut moved = found.clone();
            for (i, (now, before)) in drawing.objects.iter().zip(&self.origin.objects).enumerate() {
                let way = |now: u16, before: u16| now.cast_signed() - before.cast_signed();
                let (dx, dy) = (way(now.x, before.x), way(now.y, before.y));
                if (dx, dy) != (0, 0) {
                    moved.shift(counterpart(found, drawing, i), dx, dy);
                }
            }
            let scene = moved.scene();
            if stands_apart(&scene) && description.fits(&scene) {
                *shown = moved;
            }
        }
    }
}

/// Place in another scene of what is most like the drawing's object: the first of its shape, or else the one in its
/// place.
fn counterpart(scene: &Drawing, drawing: &Drawing, i: usize) -> usize {
    let shape = drawing.objects[i].shape;
    let mut objects = scene.objects.iter();
    let alike = objects.position(|object| object.shape == shape);
    alike.unwrap_or(i % scene.objects.len().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::world::World;

    /// The drawing at each step of dragging an object about.
    fn drag(i: usize) -> impl Iterator<Item = Drawing> {
        (0..200_i16).map(move |step| {
            let angle = f64::from(step) / 30.0;
            let mut drawing = Drawing::default();
            drawing.place(i, 0.5 + 0.4 * angle.cos(), 0.5 + 0.4 * angle.sin());
            drawing
        })
    }

    #[test]
    fn ghosts_follow_a_drag_and_always_fit_their_caption() {
        for caption in World::Scenes.captions() {
            let description = parse(caption).expect("the world understands it");
            let origin = Drawing::default();
            let mut ghosts = GhostScenes::new(caption, &origin);
            let found = ghosts.shown.clone();
            assert_eq!(found.len(), N_GHOSTS, "{caption}");
            let mut n_places = 0;
            for drawing in drag(0).chain(drag(1)) {
                let before = ghosts.shown.clone();
                ghosts.follow(&drawing);
                n_places += usize::from(before != ghosts.shown);
                for ghost in &ghosts.shown {
                    assert!(description.fits(&ghost.scene()), "{caption}: {ghost:?}");
                }
            }
            assert!(
                n_places > 50,
                "{caption}: {n_places} of 400 steps moved one"
            );
            ghosts.follow(&origin);
            assert_eq!(ghosts.shown, found, "{caption}: back where they were");
        }
    }

    #[test]
    fn a_ghost_waits_where_its_caption_would_be_false() {
        let origin = Drawing::default();
        let mut ghosts = GhostScenes::new("a star at the top left", &origin);
        let mut far = origin.clone();
        far.place(0, 0.9, 0.9);
        let found = ghosts.shown.clone();
        ghosts.follow(&far);
        assert_eq!(ghosts.shown, found, "the star stays at the top left");
    }

    #[test]
    fn a_caption_from_elsewhere_has_no_ghosts() {
        let mut ghosts = GhostScenes::new("a golden retriever", &Drawing::default());
        ghosts.follow(&Drawing::default());
        assert_eq!(ghosts.shown, [], "no such thing here");
    }
}
