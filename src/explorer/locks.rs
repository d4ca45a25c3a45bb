//! What a teacher's link leaves open: each control of the page is open, locked or hidden.

/// A control, or a part of the page, that a link may lock or hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The way to the other views.
    Views,
    /// The model.
    Models,
    /// The captions' words.
    Captions,
    /// Which pictures are on the page.
    Pictures,
    /// The order of captions and pictures by their numbers.
    Order,
    /// The law whose numbers are shown.
    Law,
    /// What the bars show, and what stands beside them.
    Bars,
    /// The rungs of the ladder.
    Ladder,
    /// The scene in the studio.
    Studio,
    /// The dimension of the geometry.
    Dimension,
    /// The names that pictures are given.
    Classes,
    /// What harms pictures and captions.
    Harm,
    /// All numbers, bars and marks.
    Numbers,
    /// The explanations.
    Prose,
    /// What can be taken away.
    Export,
}

impl Control {
    /// All controls, in the order in which they are offered.
    pub const ALL: [Self; 15] = [
        Self::Views,
        Self::Models,
        Self::Captions,
        Self::Pictures,
        Self::Order,
        Self::Law,
        Self::Bars,
        Self::Ladder,
        Self::Studio,
        Self::Dimension,
        Self::Classes,
        Self::Harm,
        Self::Numbers,
        Self::Prose,
        Self::Export,
    ];

    /// The control in an address.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Views => "views",
            Self::Models => "models",
            Self::Captions => "captions",
            Self::Pictures => "pictures",
            Self::Order => "order",
            Self::Law => "law",
            Self::Bars => "bars",
            Self::Ladder => "ladder",
            Self::Studio => "studio",
            Self::Dimension => "dimension",
            Self::Classes => "classes",
            Self::Harm => "harm",
            Self::Numbers => "numbers",
            Self::Prose => "prose",
            Self::Export => "export",
        }
    }

    /// The control in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Views => "The other views",
            Self::Models => "The choice of model",
            Self::Captions => "The captions’ words",
            Self::Pictures => "The choice of pictures",
            Self::Order => "Sorting",
            Self::Law => "The law",
            Self::Bars => "What the bars show",
            Self::Ladder => "The ladder’s rungs",
            Self::Studio => "The scene in the studio",
            Self::Dimension => "The dimension",
            Self::Classes => "The class names",
            Self::Harm => "What disturbs",
            Self::Numbers => "All numbers, bars and marks",
            Self::Prose => "The explanations",
            Self::Export => "What can be taken away",
        }
    }

    /// Whether it changes anything, so that locking it means something.
    pub fn can_be_locked(self) -> bool {
        !matches!(self, Self::Numbers | Self::Prose | Self::Export)
    }
}

/// What may be done with a control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// All that it can do.
    #[default]
    Open,
    /// It is seen and cannot be changed.
    Locked,
    /// It is not there.
    Hidden,
}

/// The access to each control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Locks([Access; Control::ALL.len()]);

impl Locks {
    /// The access to a control.
    pub fn access(&self, control: Control) -> Access {
        self.0[control as usize]
    }

    /// Gives access to a control; what cannot be locked stays open instead.
    pub fn set(&mut self, control: Control, access: Access) {
        let is_sensible = access != Access::Locked || control.can_be_locked();
        self.0[control as usize] = if is_sensible { access } else { Access::Open };
    }

    /// The controls with this access.
    pub fn with(&self, access: Access) -> impl Iterator<Item = Control> {
        let all = Control::ALL.into_iter();
        all.filter(move |control| self.access(*control) == access)
    }

    /// The controls with this access as a value of an address; `None` for none.
    pub(crate) fn encode(&self, access: Access) -> Option<String> {
        let slugs: Vec<&str> = self.with(access).map(Control::slug).collect();
        (!slugs.is_empty()).then(|| slugs.join("."))
    }

    /// Gives this access to the controls that a value of an address names; unknown ones are passed over.
    pub(crate) fn decode(&mut self, value: &str, access: Access) {
        for slug in value.split('.') {
            let named = Control::ALL
                .into_iter()
                .find(|control| control.slug() == slug);
            if let Some(control) = named {
                self.set(control, access);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_cannot_be_locked() {
        let mut locks = Locks::default();
        locks.set(Control::Numbers, Access::Locked);
        assert_eq!(locks, Locks::default(), "numbers change nothing");
        locks.set(Control::Numbers, Access::Hidden);
        assert_eq!(
            locks.access(Control::Numbers),
            Access::Hidden,
            "but they can be hidden"
        );
    }

    #[test]
    fn unknown_controls_in_an_address_are_passed_over() {
        let mut locks = Locks::default();
        locks.decode("law.attic..views", Access::Hidden);
        let hidden: Vec<Control> = locks.with(Access::Hidden).collect();
        assert_eq!(hidden, [Control::Views, Control::Law], "the known ones");
        assert_eq!(
            locks.encode(Access::Hidden).as_deref(),
            Some("views.law"),
            "and back"
        );
        assert_eq!(locks.encode(Access::Locked), None, "nothing is locked");
    }
}
