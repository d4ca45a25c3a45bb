//! Unicode by the browser.

use std::cell::OnceCell;

use js_sys::{JsString, RegExp};

use super::{Category, NormalForm};

const N_CATEGORIES: usize = Category::ALL.len();

thread_local! {
    /// A pattern for each category, made when it is first asked for.
    static PATTERNS: [OnceCell<RegExp>; N_CATEGORIES] = const { [const { OnceCell::new() }; N_CATEGORIES] };
}

pub(super) fn has(category: Category, character: char) -> bool {
    let name = match category {
        Category::Control => "Cc",
        Category::Format => "Cf",
        Category::Letter => "L",
        Category::Mark => "M",
        Category::NonspacingMark => "Mn",
        Category::Number => "N",
        Category::Other => "C",
        Category::PrivateUse => "Co",
        Category::Punctuation => "P",
        Category::Separator => "Z",
        Category::Symbol => "S",
    };
    let pattern = || RegExp::new(&format!("\\p{{{name}}}"), "u");
    let mut buffer = [0; 4];
    let text = character.encode_utf8(&mut buffer);
    PATTERNS.with(|patterns| patterns[category as usize].get_or_init(pattern).test(text))
}

pub(super) fn normal_form(form: NormalForm, text: &str) -> String {
    let name = match form {
        NormalForm::Nfc => "NFC",
        NormalForm::Nfd => "NFD",
        NormalForm::Nfkc => "NFKC",
        NormalForm::Nfkd => "NFKD",
    };
    JsString::from(text).normalize(name).into()
}
