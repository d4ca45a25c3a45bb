//! The views, a file or a folder each; what they show is worked out in `explorer`.

mod corruption;
mod evidence;
mod explore;
mod geometry;
mod ladder;
mod learn;
mod none_of_these;
mod studio;
mod teach;
mod traverse;
mod words;

use std::any::Any;

use leptos::prelude::*;
use leptos::web_sys::HtmlElement;

use crate::explorer::View;
use crate::ui::model_panel::NeedsAdapter;

/// Puts a view into its place, or what is missing for it; it goes when what is returned is dropped.
pub(super) fn mount(view: Option<View>, place: HtmlElement) -> Box<dyn Any> {
    let Some(view) = view else {
        return Box::new(mount_to(place, || view! { <NeedsAdapter/> }));
    };
    match view {
        View::Explore => Box::new(mount_to(place, || view! { <explore::Explore/> })),
        View::Ladder => Box::new(mount_to(place, || view! { <ladder::Ladder/> })),
        View::Words => Box::new(mount_to(place, || view! { <words::Words/> })),
        View::Studio => Box::new(mount_to(place, || view! { <studio::Studio/> })),
        View::Geometry => Box::new(mount_to(place, || view! { <geometry::Geometry/> })),
        View::NoneOfThese => Box::new(mount_to(place, || view! { <none_of_these::NoneOfThese/> })),
        View::Corruption => Box::new(mount_to(place, || view! { <corruption::Corruption/> })),
        View::Traverse => Box::new(mount_to(place, || view! { <traverse::Traverse/> })),
        View::Evidence => Box::new(mount_to(place, || view! { <evidence::Evidence/> })),
        View::Learn => Box::new(mount_to(place, || view! { <learn::Learn/> })),
        View::Teach => Box::new(mount_to(place, || view! { <teach::Teach/> })),
    }
}
