//! Windows of every size: nothing stands beyond an edge, in another's place, or out of sight.

mod built_page {
    use std::time::Duration;

    use kappascope::explorer::{ExplorerState, SecondNumber, View, World, encode};
    use serde_json::json;

    use crate::harness::{
        ANSWERING, Browser, Server, open_ready, type_first_caption, wait_until_ready,
    };

    const ENTER: &str = "\u{E007}";
    const ALT: &str = "\u{E00A}";
    const ARROW_UP: &str = "\u{E013}";

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

    /// Touches the cells of each row one by one: their words stay within their frame and clear of the next cell, and no
    /// row moves.
    const MISPLACED: &str = "const done = arguments[arguments.length - 1], misplaced = [];
        const frame = () => new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)));
        const rows = () => [...document.querySelectorAll('.matrix .row')].map(row => row.getBoundingClientRect().height).join();
        const touch = cell => (cell.click(), frame());
        const look = async () => {
            for (const row of document.querySelectorAll('.matrix .row')) {
                const cells = [...row.querySelectorAll('.pair')].filter(cell => cell.checkVisibility());
                // The row of the chosen caption may be taller: it has the caption's tools.
                await touch(cells[0]);
                const before = rows();
                for (const cell of cells) {
                    await touch(cell);
                    const words = document.createRange();
                    words.selectNodeContents(cell.querySelector('.best-of'));
                    const said = words.getBoundingClientRect(), own = cell.getBoundingClientRect();
                    const next = cell.nextElementSibling?.getBoundingClientRect();
                    const isOut = said.bottom > own.bottom + 1 || (next?.width > 0 && said.right > next.left);
                    if (isOut || rows() !== before) misplaced.push([cell.dataset.caption, cell.dataset.image, cell.innerText]);
                }
            }
        };
        look().then(() => done(misplaced), error => done(String(error)))";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_a_touched_number_is_compared_with_stays_in_its_cell() {
        let (server, browser) = (Server::start(), Browser::start());
        let pictures = ["star-above-circle", "lone-red-star", "four-cool-shapes"];
        let mut state = ExplorerState::start(World::Scenes, pictures);
        for beside in [SecondNumber::None, SecondNumber::Nats] {
            state.beside = beside;
            let link = format!("?backend=cpu#{}", encode(&state));
            open_ready(&browser, &server.address(&link));
            for width in [1440, 1181, 1024, 768, 390] {
                browser.resize(width, 900);
                let found = browser.run_async(MISPLACED);
                assert_eq!(found, json!([]), "{beside:?} at {width} pixels");
            }
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
        const matrix = document.querySelector('.matrix').getBoundingClientRect();
        const over = more.getBoundingClientRect().top < matrix.bottom - 0.5 ? ['over the matrix'] : [];
        return misplaced.concat(covered.map(button => button.innerText), over)";
        let check = |pictures: &str| {
            for (width, height) in windows {
                browser.resize(width, height);
                let found = browser.run(misplaced, &[]);
                assert_eq!(found, json!([]), "{pictures} at {width} pixels");
            }
        };
        check("six pictures");
        browser.resize(1280, 900);
        let hidden = "const { scrollWidth, clientWidth } = document.querySelector('.matrix');
            return scrollWidth - clientWidth";
        let hidden = browser.run(hidden, &[]);
        assert_eq!(
            hidden,
            json!(0),
            "six pictures need no scrolling at 1280 pixels"
        );
        browser.run(
            "document.querySelectorAll('.small-frame:not([aria-pressed=true])').forEach(frame => frame.click())",
            &[],
        );
        wait_until_ready(browser, ANSWERING);
        check("the whole gallery");
    }

    /// Opens all details, and gives the focus to a caption, which then shows its tools.
    const UNFOLD: &str =
        "document.querySelectorAll('details').forEach(part => { part.open = true });
        document.querySelector('main textarea')?.focus()";
    /// Controls that are lower than 44 pixels, but for half a pixel. A box is pressed by its label, and a link in a
    /// sentence may be as high as its line.
    const LOW: &str = "
        const parts = document.querySelectorAll('button, a[href], summary, select, input:is([type=range], [type=checkbox], [type=radio])');
        const isInSentence = part => part.matches('a')
            && [...part.parentElement.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
        const pressed = part => part.matches('[type=checkbox], [type=radio]') ? part.closest('label') : part;
        const height = part => pressed(part).getBoundingClientRect().height;
        return [...parts].filter(part => part.checkVisibility() && !isInSentence(part) && height(part) < 43.5)
            .map(part => [part.outerHTML.slice(0, 120), height(part)])";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_thumbs_press_is_as_high_as_they_need() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let check = |place: &str| {
            browser.run(UNFOLD, &[]);
            for width in [320, 390, 820, 1280] {
                browser.resize(width, 844);
                let found = browser.run(LOW, &[]);
                assert_eq!(found, json!([]), "{place} at {width} pixels: too low");
            }
        };
        for view in [View::Explore, View::Ladder, View::Words, View::Learn] {
            let link = "document.querySelector(`nav.views [data-to=${arguments[0]}]`).click()";
            browser.run(link, &[json!(view.slug())]);
            let open = "return document.documentElement.dataset.view === arguments[0]";
            browser.wait_for(view.slug(), ANSWERING, open, &[json!(view.slug())]);
            wait_until_ready(&browser, ANSWERING);
            check(view.slug());
        }
        browser.run("document.querySelector('[data-act=models]').click()", &[]);
        let open = "return document.querySelector('#models').checkVisibility()";
        browser.wait_for("the models", ANSWERING, open, &[]);
        check("models");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_row_on_a_tablet_begins_with_its_halo_its_words_and_its_numbers_on_one_line() {
        // The middle of a line of large type and that of a line of small type, on one baseline.
        const OFF_MOST: f64 = 6.0;
        let off = "const middle = part => { const { top, bottom } = part.getBoundingClientRect(); return (top + bottom) / 2 };
            return [...document.querySelectorAll('.matrix .row')].flatMap(row => {
                const field = row.querySelector('textarea'), style = getComputedStyle(field), edges = field.getBoundingClientRect();
                const line = edges.top + parseFloat(style.paddingTop) + parseFloat(style.lineHeight) / 2;
                const left = edges.left + parseFloat(style.paddingLeft);
                const parts = [row.querySelector('.halo'), ...row.querySelectorAll('.pair .nats')];
                return [...parts.map(part => middle(part) - line), row.querySelector('.kappa').getBoundingClientRect().left - left];
            })";
        for browser in [Browser::with_mouse(), Browser::start()] {
            let server = Server::start();
            open_ready(&browser, &server.address("?backend=cpu"));
            for width in [700, 820, 1000, 1180] {
                browser.resize(width, 1180);
                let found = browser.run(off, &[]);
                let found = found.as_array().expect("a list");
                assert!(found.len() > 40, "six rows of eight parts: {found:?}");
                let is_off = |off: &f64| off.abs() > OFF_MOST;
                let off: Vec<f64> = found.iter().filter_map(serde_json::Value::as_f64).collect();
                let off: Vec<f64> = off.into_iter().filter(is_off).collect();
                assert!(off.is_empty(), "{off:?} pixels off at {width}");
            }
        }
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
}
