//! Locks of a teacher's link: each control of the page is open, locked or hidden.

macro_rules! controls {
    ($($(#[$doc:meta])* $control:ident = $slug:literal, $name:literal;)*) => {
        /// A control, or a part of the page, that a link may lock or hide.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum PageControl { $($(#[$doc])* $control),* }

        impl PageControl {
            /// All controls, in the order in which they are offered.
            pub const ALL: [Self; [$($slug),*].len()] = [$(Self::$control),*];

            /// The control in a link.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$control => $slug),* }
            }

            /// Label of the control in the list that a teacher chooses from.
            pub fn name(self) -> &'static str {
                match self { $(Self::$control => $name),* }
            }
        }
    };
}

controls! {
    /// Links to the other views.
    Views = "views", "The other views";
    /// Choice of the model.
    Models = "models", "The choice of model";
    /// Texts of the captions.
    Captions = "captions", "The captions’ words";
    /// Choice of the pictures.
    Pictures = "pictures", "The choice of pictures";
    /// Sorting of captions and pictures by their numbers.
    Order = "order", "Sorting";
    /// Choice of the family of distributions.
    Distribution = "law", "The distribution";
    /// Choice of the bars' numbers, and of those beside them.
    Bars = "bars", "What the bars show";
    /// Rungs of the ladder.
    Ladder = "ladder", "The ladder’s rungs";
    /// Scene in the studio.
    Studio = "studio", "The scene in the studio";
    /// Dimension of the geometry.
    Dimension = "dimension", "The dimension";
    /// Names that pictures are given.
    Classes = "classes", "The class names";
    /// Choice of the kinds of corruption.
    Corruption = "harm", "Kinds of corruption";
    /// All numbers, bars and halos.
    Numbers = "numbers", "All numbers, bars and marks";
    /// The explanations below each view.
    Prose = "prose", "The explanations";
    /// Links, files and pictures of the page's numbers.
    Export = "export", "Export";
}

impl PageControl {
    /// Whether the control changes anything, and so can be locked.
    pub fn can_be_locked(self) -> bool {
        !matches!(self, Self::Numbers | Self::Prose | Self::Export)
    }
}

/// Access of the visitor to a control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// The control can be used.
    #[default]
    Open,
    /// The control is shown but cannot be changed.
    Locked,
    /// The control is not on the page.
    Hidden,
}

/// The access to each control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Locks([Access; PageControl::ALL.len()]);

impl Locks {
    /// The access to a control.
    pub fn access(&self, control: PageControl) -> Access {
        self.0[control as usize]
    }

    /// Gives access to a control; one that cannot be locked stays open instead.
    pub fn set(&mut self, control: PageControl, access: Access) {
        let is_sensible = access != Access::Locked || control.can_be_locked();
        self.0[control as usize] = if is_sensible { access } else { Access::Open };
    }

    /// The controls with this access.
    pub fn with(&self, access: Access) -> impl Iterator<Item = PageControl> {
        let all = PageControl::ALL.into_iter();
        all.filter(move |control| self.access(*control) == access)
    }

    /// The controls with this access as a value of a link; `None` for none.
    pub(super) fn encode(&self, access: Access) -> Option<String> {
        let slugs: Vec<&str> = self.with(access).map(PageControl::slug).collect();
        (!slugs.is_empty()).then(|| slugs.join("."))
    }

    /// Gives this access to the controls that a value of a link names; unknown ones are passed over.
    pub(super) fn decode(&mut self, value: &str, access: Access) {
        for slug in value.split('.') {
            let mut all = PageControl::ALL.into_iter();
            if let Some(control) = all.find(|control| control.slug() == slug) {
                self.set(control, access);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_can_be_hidden_and_not_locked() {
        let mut locks = Locks::default();
        locks.set(PageControl::Numbers, Access::Locked);
        assert_eq!(locks, Locks::default(), "numbers change nothing");
        locks.set(PageControl::Numbers, Access::Hidden);
        let access = locks.access(PageControl::Numbers);
        assert_eq!(access, Access::Hidden, "but they can be hidden");
    }

    #[test]
    fn unknown_controls_in_a_link_are_passed_over() {
        let mut locks = Locks::default();
        locks.decode("law.attic..views", Access::Hidden);
        let hidden: Vec<PageControl> = locks.with(Access::Hidden).collect();
        let expected = [PageControl::Views, PageControl::Distribution];
        assert_eq!(hidden, expected, "the known ones");
        let value = locks.encode(Access::Hidden);
        assert_eq!(value.as_deref(), Some("views.law"), "and back");
        assert_eq!(locks.encode(Access::Locked), None, "nothing is locked");
    }
}
