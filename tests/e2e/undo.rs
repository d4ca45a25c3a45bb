//! Steps that the visitor takes back.

mod built_page {
    use serde_json::json;

    use crate::harness::{ANSWERING, Browser, Server, open_ready};

    const CONTROL_Z: &str = "\u{E009}z\u{E000}";
    const CAPTIONS: &str = "return [...document.querySelectorAll('tr[data-caption]')].map(row => row.dataset.caption).join() === arguments[0]";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_removed_caption_leaves_the_cursor_beside_it_and_comes_back() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&c=a%20star&c=a%20moon&c=a%20ring&g=lone-red-star";
        open_ready(&browser, &server.address(address));
        let remove = "window.spoken = []; const region = document.querySelector('#spoken');
            new MutationObserver(() => spoken.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
            document.querySelector('[data-caption=\"a moon\"] .remove-row').click()";
        browser.run(remove, &[]);
        let beside = "return document.activeElement.matches('textarea') && document.activeElement.value === 'a ring'
            && spoken.some(words => words.includes('removed: a moon'))";
        browser.wait_for("the cursor in the next caption", ANSWERING, beside, &[]);
        browser.press(":focus", CONTROL_Z);
        let all = json!("a star,a moon,a ring");
        browser.wait_for("the caption back", ANSWERING, CAPTIONS, &[all]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_picture_that_was_taken_off_comes_back() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&c=a%20star&g=lone-red-star&g=red-circles";
        open_ready(&browser, &server.address(address));
        browser.run("document.querySelector('.picture .remove').click()", &[]);
        let pictures = "return document.querySelectorAll('td.pair[data-image][data-value]').length === arguments[0]
            && document.activeElement !== document.body";
        browser.wait_for("one picture and a focus", ANSWERING, pictures, &[json!(1)]);
        browser.press(":focus", CONTROL_Z);
        browser.wait_for("both pictures", ANSWERING, pictures, &[json!(2)]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn class_names_and_the_coverage_come_back() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&c=a%20star&g=lone-red-star&view=none-of-these&names=star";
        open_ready(&browser, &server.address(address));
        let named = "return location.hash.includes('names=' + arguments[0])";
        browser.fill("#class-names", "moon");
        browser.wait_for("another name", ANSWERING, named, &[json!("moon")]);
        // A text field has steps of its own.
        browser.press("#class-margin", CONTROL_Z);
        browser.wait_for("the first name", ANSWERING, named, &[json!("star")]);
        browser.click("[data-to=explore]");
        let slid = "const slider = document.querySelector('.coverage input');
            if (slider === null) return false;
            slider.value = slider.max;
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            return true";
        browser.wait_for("the slider", ANSWERING, slid, &[]);
        let is_most = "return location.hash.includes('cover=0.95') === arguments[0]";
        browser.wait_for("95 %", ANSWERING, is_most, &[json!(true)]);
        browser.press(".coverage input", CONTROL_Z);
        browser.wait_for("the first coverage", ANSWERING, is_most, &[json!(false)]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_word_is_swapped_by_one_key_and_swapped_back_by_another() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&c=a%20small%20red%20star&g=lone-red-star";
        open_ready(&browser, &server.address(address));
        browser.click(".row textarea");
        let offers = "return [...document.querySelectorAll('.changes button:not(:empty)')].map(change => change.innerText).join()
            === arguments[0]";
        let first = json!("star → circle,red → blue,− small");
        browser.wait_for("changes of one word", ANSWERING, offers, &[first]);
        browser.press(".changes button:nth-child(2)", "\u{E007}");
        browser.wait_for("blue", ANSWERING, CAPTIONS, &[json!("a small blue star")]);
        let there = "return document.activeElement.innerText === 'blue → red'";
        browser.wait_for("the way back under the focus", ANSWERING, there, &[]);
        browser.press(":focus", "\u{E007}");
        browser.wait_for("red", ANSWERING, CAPTIONS, &[json!("a small red star")]);
        browser.press(":focus", CONTROL_Z);
        browser.wait_for(
            "blue again",
            ANSWERING,
            CAPTIONS,
            &[json!("a small blue star")],
        );
    }
}
