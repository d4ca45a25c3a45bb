//! Links and worksheets for a class.

mod view;
mod worksheet;

pub(in crate::ui) use view::Teach;
