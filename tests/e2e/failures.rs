//! What fails is said, and what can go on goes on: a dead engine, denied storage, damaged weights.

mod built_page {
    use std::collections::HashMap;
    use std::fs;
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::harness::{
        Browser, Server, built_in_model, escaped, golden_picture, manifest, open_ready, text,
        type_first_caption, wait_until_it_says,
    };

    /// A caption that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_dead_engine_is_replaced() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(
            "const Real = Worker; window.engines = [];
             window.Worker = class extends Real { constructor(...all) { super(...all); window.engines.push(this); } };",
        );
        open_ready(&browser, &server.address("?backend=cpu"));
        browser.run(
            "const last = engines.at(-1); last.terminate(); last.dispatchEvent(new ErrorEvent('error', { message: 'killed' }));",
            &[],
        );
        type_first_caption(&browser, CAPTION);
        let n_engines = browser.run("return engines.length", &[]);
        assert_eq!(n_engines, Value::from(2), "engines started in all");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn without_the_later_part_of_its_program_the_page_answers_and_says_what_is_missing() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(
            "const real = fetch;
             window.isWithheld = true;
             window.fetch = (address, ...how) => isWithheld && String(address).includes('_later.wasm')
                ? Promise.reject(new TypeError('no network')) : real(address, ...how);",
        );
        open_ready(&browser, &server.address("?backend=cpu"));
        wait_until_it_says(&browser, "A part of this page could not be loaded.");
        type_first_caption(&browser, CAPTION);
        browser.click("nav.views a[data-to=words]");
        let said = "return getComputedStyle(document.querySelector('main'), '::before').content";
        assert_eq!(browser.run(said, &[]), json!("\"Loading this view…\""));
        browser.run("window.isWithheld = false", &[]);
        wait_until_it_says(&browser, "Which word adds the most?");
        browser.click("nav.views a[data-to=explore]");
        wait_until_it_says(&browser, CAPTION);
        browser.wait_for(
            "what stands below the matrix, the panel of the models and the foot, and the message taken back",
            Duration::from_secs(40),
            "return document.querySelectorAll('main .later > *').length > 3
                && [...document.querySelectorAll('.later')].every(place => place.firstElementChild)
                && !document.querySelector('.notice')",
            &[],
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn files_that_are_no_model_leave_the_page_as_it_was() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?world=photos&backend=cpu"));
        type_first_caption(&browser, "two grumpy cats in knitted hats");
        let shown = "return [location.hash.includes('m=clip'), document.querySelector('.worlds [aria-pressed=true]')?.dataset.world,
            document.querySelector('.wall-panel').checkVisibility()]";
        let before = browser.run(shown, &[]);
        assert_eq!(before, json!([false, "photos", true]), "photographs");
        browser.click("[data-act=models]");
        browser.choose_file("[data-act=files]", &golden_picture());
        wait_until_it_says(&browser, "no .safetensors file among those picked");
        browser.wait_for(
            "the page as it was",
            Duration::from_secs(20),
            &format!("return JSON.stringify((() => {{ {shown} }})()) === arguments[0]"),
            &[json!(before.to_string())],
        );
        type_first_caption(&browser, "three grumpy cats in knitted hats");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn denied_storage_is_said_and_nothing_else_is_lost() {
        let denials = [
            (
                "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });",
                "keeps no settings for this page",
            ),
            (
                // As on an insecure origin, where engines have no disk. The only script that the page makes is theirs.
                "const Real = Blob;
                 window.Blob = class extends Real {
                     constructor(parts, options) {
                         const isScript = options?.type === 'text/javascript';
                         super(isScript ? ['delete WorkerNavigator.prototype.storage;', ...parts] : parts, options);
                     }
                 };",
                "keeps nothing for this page",
            ),
        ];
        for (denial, words) in denials {
            let (server, browser) = (Server::start(), Browser::start());
            browser.run_before_pages(denial);
            open_ready(&browser, &server.address("?backend=cpu"));
            wait_until_it_says(&browser, words);
            type_first_caption(&browser, CAPTION);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn without_the_findings_or_the_names_the_numbers_of_all_methods_still_stand() {
        for (refused, words) in [
            (
                "/evidence/scenes/findings.json",
                "The findings could not be fetched",
            ),
            ("/evidence/names.json", "The names could not be fetched"),
        ] {
            let (server, browser) = (Server::start(), Browser::start());
            server.refuse(refused);
            open_ready(
                &browser,
                &server.address("?backend=cpu#v=1&c=a&view=evidence"),
            );
            wait_until_it_says(&browser, words);
            let shown = "return ['.evidence-table', '.chart'].map(part => document.querySelector(`.suite ${part}`) !== null)";
            let shown = browser.run(shown, &[]);
            assert_eq!(shown, json!([true, true]), "tables and figures");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn damaged_weights_are_refused() {
        let manifest = manifest();
        let shard = manifest["shards"][0]["file"]
            .as_str()
            .expect("a shard has a file");
        let mut bytes = fs::read(built_in_model().join(shard)).expect("the shard is there");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let replaced = HashMap::from([(format!("/models/scenes/{shard}"), bytes)]);
        let (server, browser) = (Server::replacing(replaced), Browser::start());
        browser.open(&server.address("?backend=cpu"));
        wait_until_it_says(&browser, shard);
        assert!(
            text(&browser).to_lowercase().contains("sha"),
            "it says what is wrong: {}",
            text(&browser)
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_report_of_a_failure_says_where_it_happened_and_nothing_of_the_visitors() {
        let manifest = manifest();
        let shard = manifest["shards"][0]["file"]
            .as_str()
            .expect("a shard has a file");
        let replaced = HashMap::from([(format!("/models/scenes/{shard}"), vec![0; 64])]);
        let (server, browser) = (Server::replacing(replaced), Browser::start());
        browser.run_before_pages(
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: text => { window.copied = text; return Promise.resolve() } } })",
        );
        let link = format!("?backend=cpu#v=1&c={}", escaped(CAPTION));
        browser.open(&server.address(&link));
        wait_until_it_says(&browser, "Copy a report of the failure");
        browser.click("[data-act=report]");
        wait_until_it_says(&browser, "Report copied");
        let report = browser.run("return copied", &[]);
        let report = report.as_str().expect("text");
        for words in ["message: ", shard, "stage: ", "model: scenes", "browser: "] {
            assert!(report.contains(words), "{words} is in {report}");
        }
        assert!(!report.contains(CAPTION), "no caption is in {report}");
    }
}
