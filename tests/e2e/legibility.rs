//! What the page says of a caption that its model cannot read: nothing but that, in every view.

mod built_page {
    use serde_json::json;

    use crate::harness::{
        ANSWERING, Browser, Server, open_ready, wait_for_caption, wait_until_it_says,
        wait_until_ready,
    };

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_unread_caption_has_no_percentile_no_mark_and_no_tick() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a%20puppy&c=a%20red%20star&g=lone-red-star&g=four-cool-shapes\
            &ladder=own&l=something&l=a%20puppy&l=a%20red%20star";
        open_ready(&browser, &server.address(address));
        wait_until_it_says(&browser, "The model cannot read this");
        let row = "const row = document.querySelector('[data-caption=\"a puppy\"]');
            return [row.querySelector('.halo.illegible') !== null, getComputedStyle(row.querySelector('.vaguer')).display,
                row.querySelector('.strokes s').textContent, row.querySelector('.best-of').textContent,
                getComputedStyle(row.querySelector('.halo-dashes')).stroke === 'none']";
        assert_eq!(
            browser.run(row, &[]),
            json!([true, "none", "puppy", "", false]),
            "unread, its percentile, what is struck through, its mark, no dashes"
        );
        browser.run("document.querySelector('[data-to=ladder]').click()", &[]);
        wait_until_ready(&browser, ANSWERING);
        let steps =
            "return [...document.querySelectorAll('.rungs .step')].map(step => step.innerText)";
        let steps = browser.run(steps, &[]).to_string();
        assert!(
            !steps.contains('✓') && steps.contains("“puppy”"),
            "the steps are {steps}"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_class_that_is_unread_names_no_picture() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a&g=lone-red-star&g=four-cool-shapes&view=none-of-these\
            &names=red%2C%20bird&threshold=0&margin=0";
        open_ready(&browser, &server.address(address));
        wait_until_it_says(&browser, "Not read by the model");
        let answers =
            "return [...document.querySelectorAll('td.answer')].map(answer => answer.innerText)";
        let answers = browser.run(answers, &[]).to_string();
        assert!(!answers.contains("bird"), "the answers are {answers}");
        let shares =
            "return document.querySelector('[data-class=bird] [data-field=class-share]').innerText";
        assert_eq!(browser.run(shares, &[]), json!("–"), "its share");
        let heads = "return ['red', 'bird'].map(name => document.querySelector(`[data-class=${name}] th`).textContent)";
        assert_eq!(
            browser.run(heads, &[]),
            json!(["red", "bird (not read)"]),
            "as it is read out"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_right_answer_is_right_whatever_the_model_reads() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a&view=learn&lesson=2";
        open_ready(&browser, &server.address(address));
        choose(&browser, "something red");
        wait_until_it_says(&browser, "Right. The model errs: it cannot read");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn signs_that_are_no_words_leave_a_caption_about_photographs_unread() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&m=photos&c=%E8%8C%B6%E8%89%B2%E3%81%AE%E7%8A%AC&c=a%20dog%E2%80%99s%20bone&g=dog-on-couch";
        open_ready(&browser, &server.address(address));
        wait_until_it_says(&browser, "The model cannot read this");
        let unread = "return [...document.querySelectorAll('.row:has(.illegible)')].map(row => row.dataset.caption)";
        assert_eq!(
            browser.run(unread, &[]),
            json!(["茶色の犬"]),
            "the apostrophe is only left out"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_misspelt_word_is_asked_about_and_one_click_mends_it() {
        let (server, browser) = (Server::start(), Browser::start());
        for (address, note, change, mended) in [
            (
                "?backend=cpu#v=1&m=photos&c=a%20dog%20on%20a%20Skatebord&g=dog-on-couch",
                "The model reads “Skatebord” in pieces. Did you mean “skateboard”?",
                "Skatebord → skateboard",
                "a dog on a skateboard",
            ),
            (
                "?backend=cpu#v=1&c=a%20red%20cirlce&g=lone-red-star",
                "it has never met “cirlce”. Did you mean “circle”?",
                "cirlce → circle",
                "a red circle",
            ),
        ] {
            open_ready(&browser, &server.address(address));
            wait_until_it_says(&browser, note);
            let click = "const change = document.querySelector('.row .changes button');
                const words = change.textContent; change.click(); return words";
            assert_eq!(browser.run(click, &[]), json!(change), "what is offered");
            wait_for_caption(&browser, mended);
            let note = "return document.querySelector('.row .note').textContent";
            assert_eq!(browser.run(note, &[]), json!(""), "nothing is left to ask");
        }
    }

    /// Answers the first question with this caption.
    fn choose(browser: &Browser, caption: &str) {
        let there =
            "return [...document.querySelectorAll('[data-question=\"0\"] .ask:not(:disabled)')]
            .some(button => button.innerText === arguments[0])";
        browser.wait_for(caption, ANSWERING, there, &[json!(caption)]);
        let click = "[...document.querySelectorAll('[data-question=\"0\"] .ask')]
            .find(button => button.innerText === arguments[0]).click()";
        browser.run(click, &[json!(caption)]);
    }
}
