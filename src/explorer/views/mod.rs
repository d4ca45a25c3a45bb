//! The views of the page: the one table of their names, components and requests to engines, and the logic of each.
//!
//! A new view is a row of the table, a file of logic beside it where it needs one, a component of the page and a sheet.

pub mod corruption;
pub mod evidence;
pub mod geometry;
pub mod ladder;
pub mod learn;
pub mod none_of_these;
pub mod studio;
pub mod traverse;
pub mod words;

use super::readings::generated::GeneratedPictures;
use super::readings::request::ReadingRequest;
use crate::corruption::{ImageCorruption, Misspelling};
use ladder::Ladder;
use none_of_these::Classes;
use studio::drawing::Drawing;

/// The parts of the page that views' requests are made of.
#[derive(Debug)]
pub(super) struct RequestInputs<'a> {
    /// Captions of the matrix that have words.
    pub(super) captions: Vec<String>,
    /// Text of the caption that views of a single caption show; empty without one.
    pub(super) caption: &'a str,
    /// The page's name for the chosen picture; `None` without one.
    pub(super) picture: Option<&'a str>,
    /// Pictures that an engine has read.
    pub(super) images: Vec<String>,
    /// Captions that were written for the page's pictures, or that its lessons are about.
    pub(super) elsewhere: Vec<String>,
    pub(super) ladder: &'a Ladder,
    pub(super) classes: &'a Classes,
    pub(super) drawing: &'a Drawing,
    pub(super) image_corruption: ImageCorruption,
    pub(super) misspelling: Misspelling,
}

/// A row of the table.
struct Row {
    /// The view in a link.
    slug: &'static str,
    /// Title of the view in the navigation.
    name: &'static str,
    /// Group in the navigation: `See`, `Understand` or `Check`.
    group: &'static str,
    /// Request to engines, beside that of the matrix.
    reads: fn(RequestInputs<'_>) -> ReadingRequest,
    /// The pictures that it generates and asks about.
    generates: fn(&RequestInputs<'_>) -> Option<GeneratedPictures>,
    /// Whether it asks about the captions of lessons in place of those written for pictures.
    shows_lessons: bool,
    /// Whether it compares the model with what is true.
    needs_known_truth: bool,
    /// Whether it says something of a model without adapters.
    works_without_adapters: bool,
}

impl Row {
    /// A view that needs nothing beside the matrix.
    const fn new(slug: &'static str, name: &'static str, group: &'static str) -> Self {
        Self {
            slug,
            name,
            group,
            reads: |_| ReadingRequest::default(),
            generates: |_| None,
            shows_lessons: false,
            needs_known_truth: false,
            works_without_adapters: false,
        }
    }

    const fn reads(self, reads: fn(RequestInputs<'_>) -> ReadingRequest) -> Self {
        Self { reads, ..self }
    }

    const fn generates(
        self,
        generates: fn(&RequestInputs<'_>) -> Option<GeneratedPictures>,
    ) -> Self {
        Self { generates, ..self }
    }

    const fn shows_lessons(self) -> Self {
        Self {
            shows_lessons: true,
            ..self
        }
    }

    const fn needs_known_truth(self) -> Self {
        Self {
            needs_known_truth: true,
            ..self
        }
    }

    const fn works_without_adapters(self) -> Self {
        Self {
            works_without_adapters: true,
            ..self
        }
    }
}

/// The table: each view, the module of `ui::views` that has its component of the same name, and its row. The first
/// token is a dollar sign, for the macro that is made of it.
macro_rules! views {
    ($dollar:tt $($(#[$meta:meta])* $view:ident in $module:ident = $row:expr;)*) => {
        /// One way of looking at captions and pictures.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub enum View { $($(#[$meta])* $view),* }

        impl View {
            /// All views, in the order in which they are offered.
            pub const ALL: [Self; [$(stringify!($view)),*].len()] = [$(Self::$view),*];

            fn row(self) -> Row {
                match self { $(Self::$view => $row),* }
            }
        }

        /// Calls a macro with the module and the component of every view.
        #[allow(unused_macros, reason = "the page alone has components")]
        macro_rules! each_view {
            ($dollar call:ident) => { $dollar call! { $($module $view;)* } };
        }
        #[allow(unused_imports, reason = "the same")]
        pub(crate) use each_view;
    };
}

views! { $
    /// The matrix of captions and pictures.
    #[default]
    Explore in explore = Row::new("explore", "Explore", "See").works_without_adapters();
    /// Captions from the general to the specific.
    Ladder in ladder = Row::new("ladder", "Ladder", "See")
        .reads(|page| ReadingRequest::of(page.ladder.texts().map(str::to_owned), Vec::new()));
    /// Change of κ by each word of a caption.
    Words in words = Row::new("words", "Words", "See")
        .reads(|page| ReadingRequest::of(words::variant_captions(page.caption), Vec::new()));
    /// A scene to draw, and how likely it is under each caption.
    Studio in studio = Row::new("studio", "Studio", "See")
        .needs_known_truth()
        .generates(|page| Some(GeneratedPictures::Drawing(page.drawing.clone())));
    /// A caption's distribution on the sphere.
    Geometry in geometry = Row::new("geometry", "Geometry", "Understand");
    /// Naming pictures, and refusing to.
    NoneOfThese in none_of_these = Row::new("none-of-these", "None of these", "Understand")
        .reads(|page| ReadingRequest::of(page.classes.captions(), page.images));
    /// Pictures and captions corrupted, severity by severity.
    Corruption in corruption = Row::new("disturb", "Disturb", "Understand")
        .reads(|page| ReadingRequest::of(page.misspelling.ladder(page.caption), page.images))
        .generates(|page| {
            let picture = page.picture?.to_owned();
            Some(GeneratedPictures::Corrupted(picture, page.image_corruption))
        });
    /// From a picture's best caption towards the vaguest.
    Traverse in traverse = Row::new("traverse", "Traverse", "Understand").reads(|page| ReadingRequest {
        captions: traverse::pool(&page.captions, &page.elsewhere),
        images: page.images,
        relates: true,
    });
    /// Measurements of the model.
    Evidence in evidence = Row::new("evidence", "Evidence", "Check").works_without_adapters();
    /// A tour, lessons that ask before they show, and what κ is not.
    Learn in learn = Row::new("learn", "Learn", "Check")
        .shows_lessons()
        .reads(|page| ReadingRequest::of(page.elsewhere, Vec::new()));
    /// Links, lessons and worksheets for a class.
    Teach in teach = Row::new("teach", "Teach", "Check")
        .shows_lessons()
        .reads(|page| ReadingRequest::of(page.elsewhere, Vec::new()));
}

impl View {
    /// The view in a link.
    pub fn slug(self) -> &'static str {
        self.row().slug
    }

    /// Title of the view, shown in the navigation and the document's title.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Group in the navigation: `See`, `Understand` or `Check`.
    pub fn group(self) -> &'static str {
        self.row().group
    }

    /// Whether it shows what is true beside what the model says, and so needs a world in which that is known.
    pub fn needs_known_truth(self) -> bool {
        self.row().needs_known_truth
    }

    /// Whether it shows the texts of lessons, and asks engines about their captions.
    pub fn shows_lessons(self) -> bool {
        self.row().shows_lessons
    }

    /// Whether it says something of a model that has no adapters, and so no κ.
    pub fn works_without_adapters(self) -> bool {
        self.row().works_without_adapters
    }

    /// The view that a link names.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.slug() == slug)
    }

    /// Request of the view to engines, beside that of the matrix.
    pub(super) fn reading_request(self, inputs: RequestInputs<'_>) -> ReadingRequest {
        (self.row().reads)(inputs)
    }

    /// The pictures that the view generates and asks about.
    pub(super) fn generated_pictures(
        self,
        inputs: &RequestInputs<'_>,
    ) -> Option<GeneratedPictures> {
        (self.row().generates)(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_is_found_by_its_address() {
        for view in View::ALL {
            assert_eq!(View::from_slug(view.slug()), Some(view), "{view:?}");
        }
        assert_eq!(View::from_slug("attic"), None, "a view that is not there");
    }

    #[test]
    fn views_of_one_group_stand_together() {
        let mut groups: Vec<&str> = View::ALL.map(View::group).to_vec();
        groups.dedup();
        let expected = ["See", "Understand", "Check"];
        assert_eq!(groups, expected, "in the order of the views");
    }
}
