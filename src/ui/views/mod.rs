//! The views, a file or a folder each, as the table in `explorer::views` names them; what they show is worked out
//! there.

use std::any::Any;

use leptos::prelude::*;
use leptos::web_sys::HtmlElement;

use crate::explorer::View;
use crate::explorer::views::each_view;

/// The modules of all views, and the one place from a view to its component.
macro_rules! components {
    ($($module:ident $view:ident;)*) => {
        $(mod $module;)*

        /// Puts a view into its place; it goes when what is returned is dropped.
        pub(super) fn mount(view: View, place: HtmlElement) -> Box<dyn Any> {
            match view {
                $(View::$view => Box::new(mount_to(place, $module::$view)),)*
            }
        }
    };
}

each_view!(components);

pub(super) use explore::{BelowMatrix, Explore};
