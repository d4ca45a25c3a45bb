//! A view for each item of a list, where the views of items that stay are kept as they are.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;

use leptos::prelude::*;

/// Function that makes the view of an item, under the item's hash.
type KeyedView = (u64, Arc<dyn Fn() -> AnyView + Send + Sync>);

/// The views of these items, each of which is there once and is its own key.
pub(crate) fn each<T: Clone + Hash + Send + Sync + 'static>(
    items: impl Fn() -> Vec<T> + Send + Sync + 'static,
    view: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let view = Arc::new(view);
    let keyed = move |item: T| -> KeyedView {
        let mut hasher = DefaultHasher::new();
        item.hash(&mut hasher);
        let view = Arc::clone(&view);
        (hasher.finish(), Arc::new(move || view(item.clone())))
    };
    kept(Arc::new(move || items().into_iter().map(&keyed).collect()))
}

/// Compiled once, and not for each list.
fn kept(items: Arc<dyn Fn() -> Vec<KeyedView> + Send + Sync>) -> AnyView {
    view! { <For each=move || items() key=|(key, _)| *key children=|(_, view)| view()/> }.into_any()
}
