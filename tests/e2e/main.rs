//! The built page in a headless browser: `cargo xtask test page e2e`.
//!
//! Each test has a browser and a server of its own. The page is read through its `data-` hooks only.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "an integration test has no users"
)]

mod engines;
mod explorer;
mod learning;
mod models;
mod server;
mod targets;
mod tiny_clip;
mod views;
mod webdriver;
mod weights;

/// `cargo test` without a built page passes these by.
mod built_page {
    use std::collections::{BTreeSet, HashMap};
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::explorer::{
        ANSWERING, add_picture, assert_agree, engine, native_reading, new_picture, open_ready,
        pictures, reading, text, type_first_caption, wait_for_caption, wait_until_it_says,
        wait_until_ready,
    };
    use crate::server::{Server, dist};
    use crate::webdriver::Browser;

    /// The same f32 arithmetic, compiled for another machine.
    const CPU_TOLERANCE: f64 = 1e-4;
    /// Sums in another order, and a GPU's own exponentials.
    const GPU_TOLERANCE: f64 = 1e-3;
    /// A caption that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";
    const ENTER: &str = "\u{E007}";
    const ALT: &str = "\u{E00A}";
    const ARROW_UP: &str = "\u{E013}";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_cpu_engine_shows_the_numbers_of_the_native_program() {
        compare_with_native("cpu", CPU_TOLERANCE);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_gpu_engine_shows_the_numbers_of_the_native_program() {
        compare_with_native("gpu", GPU_TOLERANCE);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_is_no_picture_is_refused_and_the_rest_stays() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let before = reading(&browser);
        let whole = fs::read(golden_picture()).expect("the golden picture is there");
        let broken = [
            ("words.png", b"these are words".to_vec()),
            ("truncated.png", whole[..whole.len() / 2].to_vec()),
            ("bomb.png", png_header(60_000, 60_000)),
        ];
        for (name, bytes) in broken {
            let file =
                std::env::temp_dir().join(format!("kappascope-{}-{name}", std::process::id()));
            fs::write(&file, bytes).expect("a temporary file can be written");
            browser.choose_file(".add-picture input", &file);
            let says = "return document.body.innerText.includes(arguments[0])";
            let shown = file
                .file_name()
                .and_then(|name| name.to_str())
                .expect("it has a name")
                .to_owned();
            browser.wait_for(
                &format!("a word about {name}"),
                Duration::from_secs(20),
                says,
                &[json!(shown)],
            );
            wait_until_ready(&browser, Duration::from_secs(20));
            assert_eq!(reading(&browser), before, "{name} changed what was there");
            fs::remove_file(file).expect("a temporary file can be removed");
        }
        type_first_caption(&browser, CAPTION);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_picture_may_be_dropped_or_pasted_anywhere_on_the_page() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let picture = fs::read(golden_picture()).expect("the golden picture is there");
        let give = "const [place, bytes, events] = arguments;
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], 'given.png', { type: 'image/png' }));
            const of = { dragover: DragEvent, drop: DragEvent, paste: ClipboardEvent };
            const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
            return events.filter(name => document.querySelector(place).dispatchEvent(new of[name](name, init)))";
        let drop = json!(["dragover", "drop"]);
        let ways = [
            ("main", &drop),
            (".masthead", &drop),
            ("html", &drop),
            ("body", &json!(["paste"])),
        ];
        for (place, events) in ways {
            let arguments = [json!(place), json!(picture), events.clone()];
            new_picture(&browser, || {
                let left = browser.run(give, &arguments);
                assert_eq!(left, json!([]), "left to the browser, on {place}");
            });
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_address_brings_back_what_was_typed() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        type_first_caption(&browser, CAPTION);
        let before = reading(&browser);
        let kept = "return decodeURIComponent(location.hash).includes(arguments[0])";
        browser.wait_for(
            "the caption in the address",
            Duration::from_secs(10),
            kept,
            &[json!(CAPTION)],
        );
        browser.reload();
        wait_for_caption(&browser, CAPTION);
        assert_eq!(
            reading(&browser).captions,
            before.captions,
            "after a reload"
        );
        let address = browser.run("return location.href", &[]);
        let another = Browser::start();
        another.open(address.as_str().expect("an address is text"));
        wait_for_caption(&another, CAPTION);
        assert_eq!(
            reading(&another).captions,
            before.captions,
            "in another visitor's browser"
        );
    }

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
    fn denied_storage_is_said_and_nothing_else_is_lost() {
        let denials = [
            (
                "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });",
                "keeps no settings for this page",
            ),
            (
                // As on an insecure origin, where engines have no disk.
                "const Real = Worker;
                 window.Worker = class extends Real {
                     constructor(script, options) {
                         const words = `delete WorkerNavigator.prototype.storage; await import('${new URL(script, location)}');`;
                         super(URL.createObjectURL(new Blob([words], { type: 'text/javascript' })), options);
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
    fn a_picture_from_elsewhere_is_called_so() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let known = "outside what it knows";
        assert!(!text(&browser).contains(known), "the gallery is known");
        let screenshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/preview.png");
        add_picture(&browser, &screenshot);
        wait_until_it_says(&browser, known);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn damaged_weights_are_refused() {
        let manifest = manifest();
        let shard = manifest["shards"][0]["file"]
            .as_str()
            .expect("a shard has a file");
        let mut bytes = fs::read(model().join(shard)).expect("the shard is there");
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
    fn the_page_fits_a_desk_a_phone_and_the_night() {
        let (server, browser) = (Server::start(), Browser::start());
        for (name, width, height, colours) in [
            ("desk-light", 1440, 900, "light"),
            ("desk-dark", 1440, 900, "dark"),
            ("tablet", 820, 1180, "light"),
            ("phone", 390, 844, "light"),
        ] {
            browser.resize(width, height);
            browser.prefer_colours(colours);
            open_ready(&browser, &server.address("?backend=cpu"));
            browser.save_screenshot(&format!("{name}.png"));
            let overflow = browser.run(
                "return document.documentElement.scrollWidth - window.innerWidth",
                &[],
            );
            let overflow = overflow.as_f64().expect("a width");
            assert!(
                overflow <= 0.0,
                "{name}: the page is {overflow} pixels wider than the window"
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn buttons_stay_in_their_row_and_numbers_in_their_cell() {
        for browser in [Browser::with_mouse(), Browser::start()] {
            assert_in_place(&browser);
        }
    }

    fn assert_in_place(browser: &Browser) {
        let server = Server::start();
        open_ready(browser, &server.address("?backend=cpu"));
        type_first_caption(
            browser,
            "three striped blue moons on grey, one of them large and none of them round",
        );
        let windows = [(1440, 900), (1024, 768), (768, 1024), (390, 844)];
        let misplaced = "const reaches = button => {
            const { left, right, top, bottom } = button.getBoundingClientRect();
            return document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === button;
        };
        const misplaced = [...document.querySelectorAll('.matrix .row')].flatMap(row => {
            row.scrollIntoView({ block: 'center' });
            row.querySelector('textarea').focus();
            const frame = row.getBoundingClientRect();
            const buttons = [...row.querySelectorAll('.tools button')].filter(button => {
                const { top, bottom } = button.getBoundingClientRect();
                return top < frame.top || bottom > frame.bottom || !reaches(button);
            });
            const numbers = [...row.querySelectorAll('.pair .nats')].filter(number => {
                const words = document.createRange();
                words.selectNodeContents(number.firstChild);
                const next = number.closest('.pair').nextElementSibling?.getBoundingClientRect();
                return next?.width > 0 && words.getBoundingClientRect().right > next.left;
            });
            return [...buttons, ...numbers].map(place => [row.dataset.caption, place.ariaLabel ?? place.firstChild.data]);
        });
        const more = document.querySelector('.new-caption');
        more.scrollIntoView({ block: 'center' });
        const covered = [...more.querySelectorAll('button')].filter(button => !reaches(button));
        return misplaced.concat(covered.map(button => button.innerText))";
        let check = |pictures: &str| {
            for (width, height) in windows {
                browser.resize(width, height);
                let found = browser.run(misplaced, &[]);
                assert_eq!(found, json!([]), "{pictures} at {width} pixels");
            }
        };
        check("six pictures");
        browser.run(
            "document.querySelectorAll('.small-frame:not([aria-pressed=true])').forEach(frame => frame.click())",
            &[],
        );
        wait_until_ready(browser, ANSWERING);
        check("the whole gallery");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_focus_stays_in_sight_where_lines_are_added_and_moved() {
        for (view, line) in [("", ".row"), ("#v=1&view=ladder", ".rung")] {
            let (server, browser) = (Server::start(), Browser::start());
            open_ready(&browser, &server.address(&format!("?backend=cpu{view}")));
            browser.resize(1024, 500);
            let lines = format!("const lines = [...document.querySelectorAll('{line}')]");
            let n_lines = browser.run(&format!("{lines}; return lines.length"), &[]);
            let n_lines = n_lines.as_u64().expect("a number of lines");
            let press = |keys: &str, what: &str, place: u64| {
                browser.press(":focus", keys);
                let script = format!(
                    "{lines}, focus = document.activeElement, {{ top, bottom }} = focus.getBoundingClientRect();
                    return focus.matches(arguments[0]) && lines.indexOf(focus.closest('{line}')) === arguments[1]
                        && top >= 0 && bottom <= innerHeight"
                );
                browser.wait_for(
                    &format!("the {what} of line {place} in sight"),
                    Duration::from_secs(10),
                    &script,
                    &[json!(what), json!(place)],
                );
            };
            browser.run(
                &format!("{lines}; lines.at(-1).querySelector('textarea').focus()"),
                &[],
            );
            press(ENTER, "textarea", n_lines);
            press(ENTER, "textarea", n_lines + 1);
            for place in (1..=n_lines).rev() {
                press(&format!("{ALT}{ARROW_UP}"), "textarea", place);
            }
            // On screens that are touched a row shows its buttons once it has the focus.
            let focus = "const last = lines.at(-1); last.querySelector('textarea').focus();
                last.querySelector('[aria-label^=\"Move up\"]').focus()";
            browser.run(&format!("{lines}; {focus}"), &[]);
            for place in (1..=n_lines).rev() {
                press(ENTER, "button", place);
            }
        }
    }

    fn compare_with_native(backend: &str, tolerance: f64) {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address(&format!("?backend={backend}")));
        assert_eq!(engine(&browser), backend, "the engine asked for");
        let known = pictures(&browser);
        let file = golden_picture();
        let name = add_picture(&browser, &file);
        assert!(!known.contains(&name), "{name} is a new picture");
        type_first_caption(&browser, CAPTION);
        let mut page = reading(&browser);
        let captions: BTreeSet<String> = page
            .captions
            .keys()
            .map(|(caption, _)| caption.clone())
            .collect();
        assert!(
            captions.contains(CAPTION),
            "the typed caption has numbers: {captions:?}"
        );
        page.nats.retain(|(_, image), _| *image == name);
        assert_eq!(
            page.nats.len(),
            captions.len(),
            "each caption has a number for the picture"
        );
        assert_agree(
            &page,
            &native_reading(&captions, &[(name, &file)]),
            tolerance,
        );
    }

    fn model() -> PathBuf {
        dist().join("models/scenes")
    }

    fn manifest() -> Value {
        let text =
            fs::read_to_string(model().join("manifest.json")).expect("the page brings a model");
        serde_json::from_str(&text).expect("the manifest is JSON")
    }

    fn golden_picture() -> PathBuf {
        let manifest = manifest();
        model().join(Path::new(
            manifest["golden"]["image"]["file"]
                .as_str()
                .expect("the manifest names a picture"),
        ))
    }

    /// The first bytes of a PNG that claims this size and holds no pixels.
    fn png_header(width: u32, height: u32) -> Vec<u8> {
        let mut header = b"IHDR".to_vec();
        header.extend(width.to_be_bytes());
        header.extend(height.to_be_bytes());
        header.extend([8, 2, 0, 0, 0]);
        let checksum = crc32(&header);
        [
            b"\x89PNG\r\n\x1a\n\0\0\0\r",
            header.as_slice(),
            &checksum.to_be_bytes(),
        ]
        .concat()
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 {
                    crc >> 1 ^ 0xedb8_8320
                } else {
                    crc >> 1
                }
            })
        })
    }
}
