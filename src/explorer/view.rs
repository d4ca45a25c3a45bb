//! The views of the page, each with an address of its own.

/// One way of looking at captions and pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// The matrix of captions and pictures.
    #[default]
    Explore,
    /// Captions from the general to the specific, as one object.
    Ladder,
    /// What each word of a caption adds.
    Words,
    /// A scene to draw, and how likely each caption finds it.
    Studio,
    /// Where a caption's spread lies on the sphere.
    Geometry,
    /// Naming pictures, and refusing to.
    NoneOfThese,
    /// Pictures and captions corrupted, severity by severity.
    Corruption,
    /// From a picture's best caption towards the one that says least.
    Traverse,
    /// What was measured of the model.
    Evidence,
    /// A tour, lessons that ask before they show, and what κ is not.
    Learn,
    /// Links, lessons and worksheets for a class.
    Teach,
}

impl View {
    /// All views, in the order in which they are offered.
    pub const ALL: [Self; 11] = [
        Self::Explore,
        Self::Ladder,
        Self::Words,
        Self::Studio,
        Self::Geometry,
        Self::NoneOfThese,
        Self::Corruption,
        Self::Traverse,
        Self::Evidence,
        Self::Learn,
        Self::Teach,
    ];

    /// The view in an address.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Ladder => "ladder",
            Self::Words => "words",
            Self::Studio => "studio",
            Self::Geometry => "geometry",
            Self::NoneOfThese => "none-of-these",
            Self::Corruption => "disturb",
            Self::Traverse => "traverse",
            Self::Evidence => "evidence",
            Self::Learn => "learn",
            Self::Teach => "teach",
        }
    }

    /// The view in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explore => "Explore",
            Self::Ladder => "Ladder",
            Self::Words => "Words",
            Self::Studio => "Studio",
            Self::Geometry => "Geometry",
            Self::NoneOfThese => "None of these",
            Self::Corruption => "Disturb",
            Self::Traverse => "Traverse",
            Self::Evidence => "Evidence",
            Self::Learn => "Learn",
            Self::Teach => "Teach",
        }
    }

    /// What a visitor does there: `See`, `Understand` or `Check`.
    pub fn group(self) -> &'static str {
        match self {
            Self::Explore | Self::Ladder | Self::Words | Self::Studio => "See",
            Self::Geometry | Self::NoneOfThese | Self::Corruption | Self::Traverse => "Understand",
            Self::Evidence | Self::Learn | Self::Teach => "Check",
        }
    }

    /// The view that an address names.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.slug() == slug)
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
        assert_eq!(
            groups,
            ["See", "Understand", "Check"],
            "in the order of the views"
        );
    }
}
