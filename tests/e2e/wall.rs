//! The answer to the page's question: which pictures of the wall a caption lights, and which drawings the model rings.

mod built_page {
    use kappascope::explorer::{CARD_SIZE, fitting_scenes, share_of_pictures, wall_scenes};
    use serde_json::json;

    use crate::harness::{ANSWERING, Browser, Server, escaped, open_ready, wait_until_it_says};

    /// Moves the slider of the coverage to its end.
    const MOST_COVERAGE: &str =
        "const slider = document.querySelector('.coverage input'); slider.value = slider.max;
        slider.dispatchEvent(new Event('input', {bubbles: true})); return null";

    /// Opens the page with these captions, `rest` being the rest of the link.
    fn open_with(captions: &[&str], rest: &str) -> (Server, Browser) {
        let (server, browser) = (Server::start(), Browser::start());
        let rows = captions.iter().map(|text| format!("&c={}", escaped(text)));
        let link = format!("?backend=cpu#v=1{}{rest}", rows.collect::<String>());
        open_ready(&browser, &server.address(&link));
        (server, browser)
    }

    /// Lights the wall with the caption in this row, from 0, and counts.
    fn n_lit(browser: &Browser, row: usize) -> usize {
        let script = "const field = document.querySelectorAll('.row textarea')[arguments[0]]; field.blur(); field.focus();
            return new Promise(done => setTimeout(() => done(document.querySelectorAll('.tile.lit').length), 300))";
        let n_lit = browser.run(script, &[row.into()]).as_u64();
        usize::try_from(n_lit.expect("a number")).expect("few tiles")
    }

    fn answer(browser: &Browser) -> String {
        let script = "return document.querySelector('.wall-answer .fits').innerText";
        browser.run(script, &[]).as_str().expect("text").to_owned()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_more_specific_caption_lights_fewer_photographs_and_more_coverage_lights_more() {
        let captions = ["something", "a dog", "a brown dog running on grass"];
        let (_server, browser) = open_with(&captions, "&m=photos&g=dog-on-couch");
        wait_until_it_says(&browser, "of captions");
        let lit = [0, 1, 2].map(|row| n_lit(&browser, row));
        assert!(
            lit[0] > lit[1] && lit[1] > lit[2] && lit[2] > 0,
            "{captions:?} light {lit:?}"
        );
        let expected = share_of_pictures(lit[2] as f64 / 240.0, 240);
        assert_eq!(
            answer(&browser),
            format!("{expected} of these photographs"),
            "what is lit is what is said"
        );
        browser.run(MOST_COVERAGE, &[]);
        assert!(n_lit(&browser, 2) > lit[2], "95 % need more than 70 %");
        let linked = "return location.hash.includes('cover=0.95')";
        browser.wait_for("the coverage in the link", ANSWERING, linked, &[]);
        browser.reload();
        wait_until_it_says(&browser, "95 %");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_drawings_that_light_up_are_those_that_the_words_are_true_of() {
        let captions = ["something red", "a star", "a zebra"];
        let (_server, browser) = open_with(&captions, "&g=lone-red-star");
        let scenes = wall_scenes();
        for (row, caption) in captions.iter().enumerate() {
            let found = n_lit(&browser, row);
            let (n_lit, says) = match fitting_scenes(caption, &scenes) {
                Some(lit) => (
                    lit.lit.iter().filter(|is_lit| **is_lit).count(),
                    format!(
                        "{} of all drawings",
                        share_of_pictures(lit.share, scenes.len())
                    ),
                ),
                None => (0, "– the model cannot read this".to_owned()),
            };
            assert_eq!(found, n_lit, "{caption}");
            assert_eq!(answer(&browser), says, "{caption}");
        }
    }

    /// What the page says of the rings, and what it must say by the tiles.
    fn rings(browser: &Browser, coverage: &str) -> (String, String) {
        let script = "const n = rule => document.querySelectorAll(rule).length;
            return [[n('.ringed'), n('.ringed .tile.lit'), n('.tile.lit'), n('.tile')],
                document.querySelector('[data-field=ringed]').innerText]";
        let found: ([usize; 4], String) =
            serde_json::from_value(browser.run(script, &[])).expect("four numbers and a text");
        let ([n, both, lit, all], said) = found;
        let expected = format!(
            "The model rings {n} of {all} at {coverage}: {both} of the {lit} lit, {} of the {} others.",
            n - both,
            all - lit
        );
        (said, expected)
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_model_rings_as_many_drawings_as_the_page_says() {
        let captions = ["a red star", "a zebra"];
        let (_server, browser) = open_with(&captions, "&g=lone-red-star");
        n_lit(&browser, 0);
        let ringed = "return document.querySelectorAll('.wall .ringed').length";
        let is_ringed = format!("{ringed} > 0");
        browser.wait_for("rings", ANSWERING, &is_ringed, &[]);
        let (said, expected) = rings(&browser, "70 %");
        assert_eq!(said, expected, "as the page opens");
        let n_ringed = || browser.run(ringed, &[]).as_u64().expect("a number");
        let before = n_ringed();
        browser.run(MOST_COVERAGE, &[]);
        wait_until_it_says(&browser, "at 95 %");
        let (said, expected) = rings(&browser, "95 %");
        assert_eq!(said, expected, "as many as there are");
        let after = n_ringed();
        assert!(after >= before, "95 % ring {after}, 70 % {before}");
        n_lit(&browser, 1);
        assert_eq!(n_ringed(), 0, "the model knows no zebra");
        wait_until_it_says(&browser, "No drawing is ringed");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_link_lights_the_wall_with_the_caption_that_was_chosen() {
        let captions = ["something red", "a star", "a red star"];
        let (_server, browser) = open_with(&captions, "&g=lone-red-star&p=lone-red-star&r=1");
        let says = "return document.querySelector('.wall-caption').innerText";
        let said = browser.run(says, &[]);
        assert_eq!(said, "“a star” could mean", "the chosen row");
        browser.click("td.pair[data-caption='something red']");
        browser.run("document.activeElement.blur()", &[]);
        browser.click("h1");
        let said = browser.run(says, &[]);
        assert_eq!(said, "“something red” could mean", "the row chosen now");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_row_without_words_leaves_the_wall_to_the_captions_that_have_some() {
        let (_server, browser) = open_with(&["a star", "a red star"], "&g=lone-red-star");
        let n_rows = "return document.querySelectorAll('tr[data-caption]').length";
        browser.click(".new-caption button");
        let is_there = "return document.querySelectorAll('tr[data-caption]').length === 3 && document.activeElement.tagName === 'TEXTAREA'";
        browser.wait_for("an empty row with the focus", ANSWERING, is_there, &[]);
        assert_eq!(browser.run(n_rows, &[]), json!(3));
        let said = browser.run(
            "return document.querySelector('.wall-caption').innerText",
            &[],
        );
        let said = said.as_str().expect("text");
        assert!(said.ends_with("star” could mean"), "{said}");
        assert_ne!(answer(&browser), "– of all drawings", "it is answered");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_card_of_the_caption_is_saved_as_a_picture_of_the_size_that_sites_show() {
        for (captions, rest) in [
            (["a red star"], "&g=lone-red-star"),
            (["a dog on a couch"], "&m=photos&g=dog-on-couch"),
        ] {
            let (_server, browser) = open_with(&captions, rest);
            wait_until_it_says(&browser, "about 1 in");
            let keep = "window.saved = []; HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]) }";
            browser.run(keep, &[]);
            browser.click("[data-act=card]");
            let is_saved = "return saved.length === 1 && saved[0][0] === 'kappascope-card.png'";
            browser.wait_for("the card", ANSWERING, is_saved, &[]);
            let size = browser.run_async(
                "const done = arguments[arguments.length - 1], image = new Image();
                 image.onload = () => done([image.naturalWidth, image.naturalHeight]); image.onerror = () => done([]); image.src = saved[0][1]",
            );
            assert_eq!(size, json!(CARD_SIZE), "{captions:?}");
        }
    }
}
