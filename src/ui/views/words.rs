//! Words of a caption by what each adds: each beginning of a caption, and the whole without each word.

use leptos::prelude::*;

use crate::explorer::views::words::{MAX_WORDS, WordView, is_cut, word_views, worth_text};
use crate::explorer::{Extent, signed, three_significant};
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_caption::{ChosenCaption, chosen_text};
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::measures::{Number, caption_head, foot, head};
use crate::ui::panels::prose::about;
use crate::ui::plot;

const COLUMNS: &str = "Word|~up to this word|*κ*|change|~what it is worth|worth|*κ* without it";
const ABOUT: &str = "
# Two ways to ask
On the left the caption grows word by word, as it is read. On the right it is whole but for one word, and the bar
says how much *κ* loses without it. The two differ because words share what they say. A word that the model has never
met is struck through.

# What it is not
Half a sentence is a caption too, but one the model met seldom or never. A word’s worth is what it does in this
caption, to this model; it is no property of the word.";

/// The view: a caption and a row for each of its words.
#[component]
pub(crate) fn Words() -> impl IntoView {
    let page = expect_context::<PageState>();
    let text = chosen_text(page);
    let words = Memo::new(move |_| {
        let family = page.family();
        page.cache
            .with(|cache| text.with(|text| word_views(text, cache, family)))
    });
    let cut = move || {
        let is_cut = text.with(|text| is_cut(text));
        is_cut.then(|| format!("Only the first {MAX_WORDS} words are taken apart."))
    };
    view! {
        <section class="view" aria-labelledby="words-title">
            <h2 id="words-title">"Which word adds the most?"</h2>
            <ChosenCaption/>
            <FamilyChoice/>
            <p class="finding">{move || words.with(|words| worth_text(words))}" "{cut}</p>
            <WordTable words=words/>
            {about(ABOUT)}
        </section>
    }
}

#[component]
fn WordTable(words: Memo<Vec<WordView>>) -> impl IntoView {
    let n_words = Memo::new(move |_| words.with(Vec::len));
    let kappas = Memo::new(move |_| {
        words.with(|words| {
            let views = words.iter().flat_map(|word| [&word.prefix, &word.without]);
            Extent::of(views.flatten().map(|view| view.concentration))
        })
    });
    let worth = Memo::new(move |_| {
        words.with(|words| Extent::of(words.iter().filter_map(|word| word.worth)))
    });
    let row = move |i| view! { <WordRow i=i words=words kappas=kappas worth=worth/> }.into_any();
    view! {
        <table class="measures cards words-table">
            <caption class="hidden">"κ of the caption as it grows word by word, and without each word"</caption>
            {head(COLUMNS)}
            <tbody>
                {each(move || (0..n_words.get()).collect(), row)}
            </tbody>
            {foot(COLUMNS, [kappas, worth])}
        </table>
    }
}

/// One word. Its place is its name, so that bars glide while words are typed.
#[component]
fn WordRow(
    i: usize,
    words: Memo<Vec<WordView>>,
    kappas: Memo<Extent>,
    worth: Memo<Extent>,
) -> impl IntoView {
    let word = Memo::new(move |_| words.with(|words| words.get(i).cloned()));
    let read =
        move |part: fn(&WordView) -> Option<f64>| word.with(|word| word.as_ref().and_then(part));
    let number = move |part| Signal::derive(move || read(part));
    let mark = move || word.with(|word| Some(word.as_ref()?.prefix.as_ref()?.mark()));
    let kappa = move || read(|word| Some(word.prefix.as_ref()?.concentration));
    let without_kappa = number(|word| Some(word.without.as_ref()?.concentration));
    let text = move || word.with(|word| word.as_ref().map(|word| word.variant.word.clone()));
    let words = move || text().unwrap_or_default();
    let of_prefix = move || word.with(|word| word.as_ref()?.prefix.clone());
    let prefix = move || word.with(|word| word.as_ref().map(|word| word.variant.prefix.clone()));
    let without = move || {
        let rest = |word: &WordView| word.variant.without.clone();
        let nothing = || "nothing would be left".to_owned();
        word.with(|word| word.as_ref().map(|word| rest(word).unwrap_or_else(nothing)))
    };
    view! {
        <tr data-word=text style:--certainty=move || plot::certainty(mark())>
            {caption_head(of_prefix, words)}
            <td class="plotted" title=prefix>{plot::bar(kappa, move || kappas.get())}</td>
            <Number field="prefix-kappa" value=Signal::derive(kappa) show=three_significant/>
            <Number field="prefix-change" value=number(|word| word.prefix_change) show=signed/>
            <td class="plotted" title=without>{plot::bar(move || read(|word| word.worth), move || worth.get())}</td>
            <Number field="word-worth" value=number(|word| word.worth) show=signed/>
            <Number field="without-kappa" value=without_kappa show=three_significant/>
        </tr>
    }
}
