//! Which word bought certainty: each beginning of a caption, and the whole without each word.

use leptos::prelude::*;

use crate::explorer::{
    Extent, MAX_WORDS, WordView, is_cut, signed, three_significant, word_views, worth_text,
};
use crate::ui::page::state::PageState;
use crate::ui::panels::FamilyChoice;
use crate::ui::plot;
use crate::ui::views::chosen_caption::{ChosenCaption, chosen_text};
use crate::ui::views::number::Number;

/// The view: a caption and a row for each of its words.
#[component]
pub(crate) fn Words() -> impl IntoView {
    let page = expect_context::<PageState>();
    let text = chosen_text(page);
    let words = Memo::new(move |_| {
        let family = page.state.with(|state| state.family);
        page.cache
            .with(|cache| text.with(|text| word_views(text, cache, family)))
    });
    let cut = move || {
        text.with(|text| is_cut(text))
            .then(|| format!("Only the first {MAX_WORDS} words are taken apart."))
    };
    view! {
        <section class="view" aria-labelledby="words-title">
            <h2 id="words-title">"Which word bought certainty?"</h2>
            <ChosenCaption/>
            <FamilyChoice/>
            <p class="finding">{move || words.with(|words| worth_text(words))}" "{cut}</p>
            <WordTable words=words/>
            <div class="prose">
                <section>
                    <h3>"Two ways to ask"</h3>
                    <p>"On the left the caption grows word by word, as it is read. On the right it is whole but for one word, and the "
                        "bar says how much "<i>"κ"</i>" loses without it. The two differ because words share what they say: after “red”, "
                        "“crimson” buys nothing."</p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>"Half a sentence is a caption too, but one the model met seldom or never. A word’s worth is what it does in this "
                        "caption, to this model; it is no property of the word."</p>
                </section>
            </div>
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
    view! {
        <table class="measures words-table">
            <caption class="hidden">"κ of the caption as it grows word by word, and without each word"</caption>
            <thead><tr>
                <th scope="col">"Word"</th>
                <th scope="col" class="plotted">"up to this word"</th><th scope="col"><i>"κ"</i></th><th scope="col">"change"</th>
                <th scope="col" class="plotted">"what it is worth"</th><th scope="col">"worth"</th><th scope="col"><i>"κ"</i>" without it"</th>
            </tr></thead>
            <tbody><For each=move || 0..n_words.get() key=|i| *i let:i><WordRow i=i words=words kappas=kappas worth=worth/></For></tbody>
            <tfoot aria-hidden="true"><tr>
                <td></td><td class="plotted">{plot::axis(move || kappas.get())}</td><td></td><td></td>
                <td class="plotted">{plot::axis(move || worth.get())}</td><td></td><td></td>
            </tr></tfoot>
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
    let percentile = move || read(|word| Some(word.prefix.as_ref()?.percentile));
    let certainty = move || percentile().map(|percentile| format!("{:.1}%", 100.0 - percentile));
    let kappa = move || read(|word| Some(word.prefix.as_ref()?.concentration));
    let worth_of = move || read(|word| word.worth);
    let text = move || word.with(|word| word.as_ref().map(|word| word.variant.word.clone()));
    let prefix = move || word.with(|word| word.as_ref().map(|word| word.variant.prefix.clone()));
    let without = move || {
        word.with(|word| {
            let rest = word.as_ref().map(|word| word.variant.without.clone());
            rest.map(|rest| rest.unwrap_or_else(|| "nothing would be left".into()))
        })
    };
    view! {
        <tr data-word=text style:--certainty=certainty>
            <th scope="row">{plot::halo(percentile, plot::Size::Small)}<span class="words">{text}</span></th>
            <td class="plotted" title=prefix>{plot::bar(kappa, move || kappas.get())}</td>
            <Number field="prefix-kappa" value=Signal::derive(kappa) show=three_significant/>
            <Number field="prefix-change" value=Signal::derive(move || read(|word| word.prefix_change)) show=signed/>
            <td class="plotted" title=without>{plot::bar(worth_of, move || worth.get())}</td>
            <Number field="word-worth" value=Signal::derive(worth_of) show=signed/>
            <Number field="without-kappa" value=Signal::derive(move || read(|word| Some(word.without.as_ref()?.concentration))) show=three_significant/>
        </tr>
    }
}
