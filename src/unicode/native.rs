//! Unicode by libraries.

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::{Category, NormalForm};

pub(super) fn has(category: Category, character: char) -> bool {
    let is = |found: GeneralCategory| character.general_category() == found;
    let is_of = |group: GeneralCategoryGroup| character.general_category_group() == group;
    match category {
        Category::Control => is(GeneralCategory::Control),
        Category::Format => is(GeneralCategory::Format),
        Category::NonspacingMark => is(GeneralCategory::NonspacingMark),
        Category::PrivateUse => is(GeneralCategory::PrivateUse),
        Category::Letter => is_of(GeneralCategoryGroup::Letter),
        Category::Mark => is_of(GeneralCategoryGroup::Mark),
        Category::Number => is_of(GeneralCategoryGroup::Number),
        Category::Other => is_of(GeneralCategoryGroup::Other),
        Category::Punctuation => is_of(GeneralCategoryGroup::Punctuation),
        Category::Separator => is_of(GeneralCategoryGroup::Separator),
        Category::Symbol => is_of(GeneralCategoryGroup::Symbol),
    }
}

pub(super) fn normal_form(form: NormalForm, text: &str) -> String {
    match form {
        NormalForm::Nfc => text.nfc().collect(),
        NormalForm::Nfd => text.nfd().collect(),
        NormalForm::Nfkc => text.nfkc().collect(),
        NormalForm::Nfkd => text.nfkd().collect(),
    }
}
