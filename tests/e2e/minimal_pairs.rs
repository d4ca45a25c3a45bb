//! Drawings that differ in one word: any change that the page suggests lights another of them.

mod built_page {
    use kappascope::explorer::{MINIMAL_PAIRS, WordChange, word_changes};
    use serde_json::json;

    use crate::harness::{
        ANSWERING, Browser, Server, open_ready, reading, wait_for_caption, wait_until_ready,
    };

    /// The caption under which the page offers changes of one word.
    const CAPTION: &str = "a small red star";

    /// The pictures from the likeliest under a caption to the least likely.
    fn order(browser: &Browser, caption: &str) -> Vec<String> {
        wait_for_caption(browser, caption);
        let nats = reading(browser).nats.into_iter();
        let mut row: Vec<(String, f64)> = nats
            .filter(|((text, _), _)| text == caption)
            .map(|((_, image), nats)| (image, nats))
            .collect();
        assert_eq!(row.len(), MINIMAL_PAIRS.len(), "a cell for each: {row:?}");
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        row.into_iter().map(|(image, _)| image).collect()
    }

    /// The pictures that a caption is true of, which are named by all that tells them apart.
    fn fitting(caption: &str) -> Vec<&'static str> {
        let words: Vec<&str> = caption.split(' ').skip(1).collect();
        let fits = |id: &&str| {
            words
                .iter()
                .all(|word| id.split('-').any(|own| own == *word))
        };
        MINIMAL_PAIRS.into_iter().filter(fits).collect()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn each_change_of_one_word_lights_another_drawing_and_can_be_undone() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let first = "return document.querySelector('tr[data-caption]').dataset.caption";
        let first = browser.run(first, &[]);
        browser.click(".pairs");
        let is_open = "return document.querySelectorAll('.heads .picture:not(.add)').length === 8";
        browser.wait_for("the eight drawings", ANSWERING, is_open, &[]);
        assert_eq!(
            order(&browser, CAPTION)[..1],
            fitting(CAPTION),
            "of {CAPTION}"
        );

        let changes = word_changes(CAPTION);
        for (i, WordChange { caption, label }) in changes.iter().enumerate() {
            let click = "const row = [...document.querySelectorAll('tr[data-caption]')].at(-1),
                    chip = row.querySelectorAll('.changes button')[arguments[0]], label = chip.textContent;
                chip.click(); return label";
            let clicked = browser.run(click, &[json!(i)]);
            assert_eq!(clicked, json!(label), "the chip below the last caption");
            let expected = fitting(caption);
            let mut found = order(&browser, caption);
            found.truncate(expected.len());
            found.sort();
            let mut sorted = expected.clone();
            sorted.sort_unstable();
            assert_eq!(found, sorted, "{label}: {caption}");
            assert_ne!(expected, fitting(CAPTION), "{label} lights another");
            browser.click("[title='Ctrl+Z']");
            wait_for_caption(&browser, CAPTION);
        }

        browser.click("[title='Ctrl+Z']");
        let is_back =
            "return document.querySelector('tr[data-caption]').dataset.caption === arguments[0]";
        browser.wait_for("the captions from before", ANSWERING, is_back, &[first]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_drawings_are_opened_by_their_link_and_not_offered_where_captions_are_locked() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let link = browser.run("return document.querySelector('.pairs').hash", &[]);
        let link = link.as_str().expect("a link is text");
        let another = Browser::start();
        open_ready(&another, &server.address(&format!("?backend=cpu{link}")));
        assert_eq!(
            order(&another, CAPTION)[..1],
            fitting(CAPTION),
            "by the link"
        );
        let locked = format!("?backend=cpu{link}&lock=captions");
        another.open("about:blank");
        another.open(&server.address(&locked));
        wait_until_ready(&another, ANSWERING);
        let is_offered = "return document.querySelector('.pairs') !== null";
        assert_eq!(
            another.run(is_offered, &[]),
            json!(false),
            "captions are locked"
        );
    }
}
