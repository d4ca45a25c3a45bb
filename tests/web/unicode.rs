//! What the browser says of characters, against the libraries that say it natively.

use js_sys::RegExp;
use kappascope::unicode::{Category, NormalForm};
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};
use wasm_bindgen_test::wasm_bindgen_test;

/// Characters outside ASCII that both versions of Unicode have.
fn common_characters() -> Vec<char> {
    let unassigned = RegExp::new(r"\p{Cn}", "u");
    let has_meaning = |character: &char| {
        character.general_category() != GeneralCategory::Unassigned
            && !unassigned.test(character.encode_utf8(&mut [0; 4]))
    };
    ('\u{80}'..=char::MAX).filter(has_meaning).collect()
}

fn is_of(category: Category, character: char) -> bool {
    let (found, group) = (
        character.general_category(),
        character.general_category_group(),
    );
    match category {
        Category::Control => found == GeneralCategory::Control,
        Category::Format => found == GeneralCategory::Format,
        Category::NonspacingMark => found == GeneralCategory::NonspacingMark,
        Category::PrivateUse => found == GeneralCategory::PrivateUse,
        Category::Letter => group == GeneralCategoryGroup::Letter,
        Category::Mark => group == GeneralCategoryGroup::Mark,
        Category::Number => group == GeneralCategoryGroup::Number,
        Category::Other => group == GeneralCategoryGroup::Other,
        Category::Punctuation => group == GeneralCategoryGroup::Punctuation,
        Category::Separator => group == GeneralCategoryGroup::Separator,
        Category::Symbol => group == GeneralCategoryGroup::Symbol,
    }
}

#[wasm_bindgen_test]
fn the_browser_knows_the_categories() {
    let characters = common_characters();
    assert!(characters.len() > 280_000, "Unicode: {}", characters.len());
    for category in Category::ALL {
        let differs = |character: &&char| category.has(**character) != is_of(category, **character);
        let wrong: Vec<_> = characters.iter().filter(differs).take(20).collect();
        assert!(wrong.is_empty(), "{category:?} of {wrong:?}");
    }
}

#[wasm_bindgen_test]
fn the_browser_knows_the_normal_forms() {
    for form in NormalForm::ALL {
        for character in common_characters() {
            // What follows may join it, and change places with its marks.
            let text = format!("{character}\u{301}\u{323}");
            let expected: String = match form {
                NormalForm::Nfc => text.nfc().collect(),
                NormalForm::Nfd => text.nfd().collect(),
                NormalForm::Nfkc => text.nfkc().collect(),
                NormalForm::Nfkd => text.nfkd().collect(),
            };
            assert_eq!(form.of(&text), expected, "{form:?} of {text:?}");
        }
    }
}
