//! Pictures that visitors bring: dropped, pasted, broken, and foreign to the model.

mod built_page {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use serde_json::json;

    use crate::harness::{
        Browser, Server, add_picture, golden_picture, new_picture, open_ready, reading, text,
        type_first_caption, wait_until_it_says, wait_until_ready,
    };

    /// A caption that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";

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
    fn a_new_picture_comes_into_sight_with_the_place_for_one_more() {
        let (server, browser) = (Server::start(), Browser::start());
        let cut_off = "return ['.picture.chosen', '.add-picture'].filter(part => {
            const { left, right } = document.querySelector(`.matrix .heads ${part}`).getBoundingClientRect();
            return left < 0 || right > innerWidth;
        })";
        for (width, height) in [(1280, 800), (820, 1180), (390, 844)] {
            browser.resize(width, height);
            open_ready(&browser, &server.address("?backend=cpu"));
            for n_more in 1..=3 {
                add_picture(&browser, &golden_picture());
                let found = browser.run(cut_off, &[]);
                assert_eq!(found, json!([]), "{n_more} more at {width} pixels");
            }
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_picture_from_elsewhere_is_called_so() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let known = "Not a drawing";
        let cut = "only the middle square read";
        for note in [known, cut] {
            assert!(!text(&browser).contains(note), "the gallery is known");
        }
        let photograph =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("public/gallery-photos/surfer.jpg");
        add_picture(&browser, &photograph);
        wait_until_it_says(&browser, known);
        wait_until_it_says(&browser, cut);
        let overlaps = "const bottom = part => [...document.querySelectorAll(part)].at(-1).getBoundingClientRect().bottom,
                note = [...document.querySelectorAll('.picture-notes')].at(-1).getBoundingClientRect().top;
            return ['.picture .frame img', '.picture .out-of-distribution'].filter(part => bottom(part) > note + 1)";
        let overlaps = browser.run(overlaps, &[]);
        assert_eq!(overlaps, json!([]), "the note stands below both");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_drawing_among_photographs_is_called_so_and_a_photograph_is_not() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?world=&backend=cpu"));
        let marked = "return document.querySelectorAll('.picture .out-of-distribution').length";
        assert_eq!(browser.run(marked, &[]), json!(0), "photographs are known");
        let drawing = "public/gallery/four-cool-shapes.png";
        add_picture(
            &browser,
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(drawing),
        );
        browser.wait_for(
            "a mark on the drawing",
            Duration::from_secs(120),
            &format!("{marked} === 1"),
            &[],
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_without_pictures_asks_about_none() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=zxcv&c=a%20red%20star%20and%20a%20fox"),
        );
        let seen = "return ['.touched-pair', '.ranks'].filter(part => document.querySelector(part)?.checkVisibility())";
        assert_eq!(browser.run(seen, &[]), json!([]), "nothing is compared");
        let asked = "return document.querySelector('.wall-caption').innerText";
        let asked = browser.run(asked, &[]);
        assert_eq!(
            asked,
            json!("“a red star and a fox” could mean"),
            "though the grammar has no such sentence"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_transparent_picture_is_shown_on_the_white_that_it_is_read_on() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.prefer_colours("dark");
        open_ready(&browser, &server.address("?backend=cpu"));
        let transparent = "tests/fixtures/preprocess/rgba.png";
        add_picture(
            &browser,
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(transparent),
        );
        wait_until_it_says(&browser, "transparent parts read as white");
        let grounds = "const pictures = [...document.querySelectorAll('.picture .frame img')];
            return [pictures.at(-1), pictures[0]].map(picture => getComputedStyle(picture).backgroundColor === 'rgb(255, 255, 255)')";
        let grounds = browser.run(grounds, &[]);
        assert_eq!(
            grounds,
            json!([true, false]),
            "its own, and an opaque one's"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_screen_that_is_touched_offers_its_camera() {
        let input = ".add-picture input[capture=environment]";
        let camera = "const input = document.querySelector(arguments[0]);
            return [input.getAttribute('aria-label'), input.checkVisibility(), input.getBoundingClientRect().height >= 44]";
        for (browser, is_offered) in [(Browser::start(), true), (Browser::with_mouse(), false)] {
            let server = Server::start();
            open_ready(&browser, &server.address("?backend=cpu"));
            for width in [1440, 820, 390] {
                browser.resize(width, 844);
                let found = browser.run(camera, &[json!(input)]);
                let expected = json!(["Take a photograph", is_offered, is_offered]);
                assert_eq!(found, expected, "at {width} pixels");
            }
            if is_offered {
                let own = new_picture(&browser, || browser.choose_file(input, &golden_picture()));
                // So narrow a window shows the numbers of one picture.
                let shown = "return [...document.querySelectorAll('[data-field=nats]')].filter(cell => cell.checkVisibility()).map(cell => cell.dataset.image)";
                let shown = browser.run(shown, &[]);
                let shown = shown.as_array().expect("a list");
                assert!(!shown.is_empty(), "numbers of the new picture");
                assert!(
                    shown.iter().all(|image| *image == own),
                    "{shown:?}, not {own}"
                );
            }
        }
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
