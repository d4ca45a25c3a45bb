//! Formulas of one line, typeset as `MathML`.

use leptos::prelude::*;

use crate::explorer::formula_markup;

/// A formula of a line of text as `MathML`; nothing while there is none.
pub(crate) fn typeset(formula: impl Fn() -> Option<String> + Send + 'static) -> impl IntoView {
    let markup = move || formula().map(|formula| formula_markup(&formula));
    view! { <p class="formula" inner_html=markup></p> }
}
