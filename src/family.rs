//! The two families of distributions on the sphere by name, and a value for each of them.
//!
//! A leaf: knows the names of the distributions, none of their formulas, which `numerics` adds.

use serde::{Deserialize, Serialize};

/// The family of distributions on the unit sphere that a caption's distribution belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// von Mises–Fisher: density ∝ exp(κt).
    VonMisesFisher,
    /// Power spherical: density ∝ (1 + t)^κ.
    PowerSpherical,
}

impl Family {
    /// Both families, in the order they are shown.
    pub const ALL: [Self; 2] = [Self::VonMisesFisher, Self::PowerSpherical];
}

/// A value for each [`Family`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerFamily<T> {
    /// Value under the von Mises–Fisher family.
    pub vmf: T,
    /// Value under the power spherical family.
    pub power_spherical: T,
}

impl<T> PerFamily<T> {
    /// The value of one family.
    pub fn get(&self, family: Family) -> &T {
        match family {
            Family::VonMisesFisher => &self.vmf,
            Family::PowerSpherical => &self.power_spherical,
        }
    }

    /// Values of `f` for each family.
    pub fn of(mut f: impl FnMut(Family) -> T) -> Self {
        Self {
            vmf: f(Family::VonMisesFisher),
            power_spherical: f(Family::PowerSpherical),
        }
    }

    /// The values by reference.
    pub const fn as_ref(&self) -> PerFamily<&T> {
        PerFamily {
            vmf: &self.vmf,
            power_spherical: &self.power_spherical,
        }
    }

    /// Each value through `f`.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerFamily<U> {
        PerFamily {
            vmf: f(self.vmf),
            power_spherical: f(self.power_spherical),
        }
    }
}
