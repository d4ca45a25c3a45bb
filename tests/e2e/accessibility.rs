//! States that no view's test looks at, as axe finds them, and what axe cannot find: a fourfold zoom, forced colours,
//! reduced motion, where the focus goes, and how many voices speak.

mod built_page {
    use std::time::Duration;

    use kappascope::explorer::View;
    use kappascope::explorer::views::learn::Lessons;
    use serde_json::{Value, json};

    use crate::harness::{
        ANSWERING, Browser, Server, WINDOWS, assert_fits, assert_sound, axe, axe_finds, open_ready,
        wait_until_it_says, wait_until_ready,
    };

    const LIMIT: Duration = Duration::from_secs(60);
    const ENTER: &str = "\u{E007}";
    /// A caption at which every engine dies.
    const KILLER: &str = "a striped thing that nobody survives";
    /// Engines that die at that caption, and of any load while the test wants that.
    const FRAIL: &str = "
        const Real = Worker;
        window.Worker = class extends Real {
            postMessage(message, ...rest) {
                const isDeadly = message.Score && JSON.stringify(message.Score).includes('nobody survives')
                    || message.Load && localStorage.isDeadly;
                if (!isDeadly) return super.postMessage(message, ...rest);
                this.terminate();
                const error = new ErrorEvent('error', { message: 'killed by the test' });
                setTimeout(() => this.dispatchEvent(error));
            }
        };";

    fn wait_for(browser: &Browser, selector: &str) {
        let is_there = "return document.querySelector(arguments[0])?.checkVisibility() ?? false";
        browser.wait_for(selector, LIMIT, is_there, &[json!(selector)]);
    }

    fn open_view(browser: &Browser, view: View) {
        let link = "[...document.querySelectorAll('nav.views a')].find(link => link.dataset.to === arguments[0]).click()";
        browser.run(link, &[json!(view.slug())]);
        let open = "return document.documentElement.dataset.view === arguments[0]";
        browser.wait_for(view.slug(), ANSWERING, open, &[json!(view.slug())]);
        wait_until_ready(browser, ANSWERING);
    }

    fn assert_sound_in_both_lights(browser: &Browser, axe: &str, state: &str) {
        browser.run(axe, &[]);
        for colours in ["light", "dark"] {
            browser.prefer_colours(colours);
            assert_sound(browser, &format!("{state}, {colours}"));
        }
    }

    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn axe_finds_nothing_on_messages_a_prepared_page_and_the_tour() {
        let (axe, server, browser) = (axe(), Server::start(), Browser::start());
        let lessons: Lessons =
            serde_json::from_str(include_str!("../../public/lessons.json")).expect("ours");
        let prepared = "v=1&c=a%20red%20star&g=lone-red-star&lock=captions.law&hide=views.prose";
        for (state, link, selector) in [
            ("a message", "v=1&c=a%20star&own=1", ".notice"),
            ("a prepared page", prepared, ".prepared"),
            ("the tour", &lessons.tour[0].link, ".tour"),
        ] {
            for (name, width, height, features) in WINDOWS {
                browser.resize(width, height);
                browser.emulate_media("", features);
                browser.open("about:blank");
                open_ready(&browser, &server.address(&format!("?backend=cpu#{link}")));
                wait_for(&browser, selector);
                browser.run(&axe, &[]);
                assert_sound(&browser, &format!("{state}, {name}"));
            }
        }
    }

    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn axe_finds_nothing_on_a_page_whose_engine_or_program_stopped() {
        let (axe, server, browser) = (axe(), Server::start(), Browser::start());
        browser.run_before_pages(FRAIL);
        open_ready(&browser, &server.address("?backend=cpu"));
        browser.fill("[data-caption] textarea", KILLER);
        wait_until_it_says(&browser, &format!("“{KILLER}” is left out"));
        wait_until_ready(&browser, ANSWERING);
        assert_sound_in_both_lights(&browser, &axe, "a caption that was left out");
        browser.run("localStorage.isDeadly = 1", &[]);
        browser.reload();
        wait_until_it_says(&browser, "no engine runs");
        assert_sound_in_both_lights(&browser, &axe, "without an engine");
        browser.reload();
        wait_for(&browser, "[data-act=retry-engine]");
        assert_sound_in_both_lights(&browser, &axe, "a load that waits");
        browser.run("dispatchEvent(new Event('kappascope-crashed'))", &[]);
        wait_for(&browser, "#failure");
        assert_sound_in_both_lights(&browser, &axe, "a program that stopped");
    }

    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn a_worksheet_is_printed_whole_and_dark_on_light_or_light_on_dark() {
        let (axe, server, browser) = (axe(), Server::start(), Browser::start());
        // A4 at 96 dots an inch.
        browser.resize(794, 1123);
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=a%20red%20star&view=teach"),
        );
        wait_for(&browser, ".worksheet .qr");
        browser.run(&axe, &[]);
        for colours in ["light", "dark"] {
            browser.emulate_media("print", &[("prefers-color-scheme", colours)]);
            let name = format!("a printed worksheet, {colours}");
            assert_fits(&browser, &name);
            assert_eq!(axe_finds(&browser, Some(".worksheet")), json!([]), "{name}");
        }
    }

    /// Text, pictures and controls beyond the window's edge, and texts that their box cuts; what can be scrolled into sight is neither.
    const CUT: &str = "
        const scrolls = part => part !== null && part !== document.body
            && (['auto', 'scroll'].includes(getComputedStyle(part).overflowX) || scrolls(part.parentElement));
        const hasText = part => [...part.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
        const isSeen = part => part.checkVisibility() && !part.closest('svg, .hidden, .skip') && part.getBoundingClientRect().width > 0;
        const isBeyond = part => {
            const { left, right } = part.getBoundingClientRect();
            return (hasText(part) || part.matches('button, a, input, select, textarea, img, canvas'))
                && (left < -1 || right > innerWidth + 1);
        };
        const isCut = part => hasText(part) && ['hidden', 'clip'].includes(getComputedStyle(part).overflowX)
            && part.scrollWidth > part.clientWidth + 1;
        return [...document.querySelectorAll('body *')]
            .filter(part => isSeen(part) && !scrolls(part.parentElement) && (isBeyond(part) || isCut(part)))
            .map(part => part.outerHTML.slice(0, 120))";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn at_a_fourfold_zoom_nothing_is_cut_or_covered_and_nothing_scrolls_sideways() {
        let (server, browser) = (Server::start(), Browser::start());
        // 1280 × 1024 at 400 %.
        browser.resize(320, 256);
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=a%20star&own=1"),
        );
        wait_for(&browser, ".notice");
        let place = "return getComputedStyle(document.querySelector('.notices')).position";
        assert_eq!(browser.run(place, &[]), json!("static"), "above the view");
        for view in View::ALL {
            open_view(&browser, view);
            let name = format!("{view:?} at a fourfold zoom");
            assert_fits(&browser, &name);
            assert_eq!(browser.run(CUT, &[]), json!([]), "{name}: cut");
        }
        browser.run("document.querySelector('[data-act=models]').click()", &[]);
        wait_for(&browser, "#models");
        assert_fits(&browser, "the models at a fourfold zoom");
        assert_eq!(browser.run(CUT, &[]), json!([]), "the models: cut");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn in_forced_colours_what_is_chosen_focused_and_measured_is_still_seen() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        browser.emulate_media("", &[("forced-colors", "active")]);
        open_ready(&browser, &server.address("?backend=cpu"));
        let active = browser.run("return matchMedia('(forced-colors: active)').matches", &[]);
        assert_eq!(active, json!(true), "the browser forces colours");
        let width = |selector: &str| {
            let width = "return parseFloat(getComputedStyle(document.querySelector(arguments[0])).borderBottomWidth)";
            browser.run(width, &[json!(selector)]).as_f64()
        };
        for (chosen, other) in [
            (
                ".choice input:checked ~ span",
                ".choice input:not(:checked) ~ span",
            ),
            (".views a[aria-current]", ".views a:not([aria-current])"),
            (
                ".world[aria-pressed=true]",
                ".world:not([aria-pressed=true])",
            ),
        ] {
            assert!(width(chosen) > width(other), "{chosen} has a mark");
        }
        browser.click(".row textarea");
        let outline = "const { outlineStyle, outlineWidth } = getComputedStyle(document.querySelector('.row textarea:focus'));
            return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2";
        assert_eq!(
            browser.run(outline, &[]),
            json!(true),
            "a field with the focus"
        );
        open_view(&browser, View::Ladder);
        let unseen = "const ground = getComputedStyle(document.body).backgroundColor;
            const bars = [...document.querySelectorAll('.rung .bar-fill')].filter(bar => bar.getBoundingClientRect().width > 1);
            const painted = colour => {
                const context = document.createElement('canvas').getContext('2d');
                context.fillStyle = colour;
                context.fillRect(0, 0, 1, 1);
                return context.getImageData(0, 0, 1, 1).data.join();
            };
            const isUnseen = ({ fill, stroke }) => [fill, stroke].every(colour => colour === 'none' || painted(colour) === painted(ground));
            return [bars.length > 1, bars.filter(bar => isUnseen(getComputedStyle(bar))).length]";
        assert_eq!(
            browser.run(unseen, &[]),
            json!([true, 0]),
            "bars of another colour than the page"
        );
    }

    /// Properties that glide, but for the opacity, which moves nothing.
    const GLIDING: &str = "
        const list = text => text.split(',').map(part => part.trim());
        const gliding = [...document.querySelectorAll('*')].flatMap(part => {
            const { transitionProperty, transitionDuration, animationName, animationDuration } = getComputedStyle(part);
            const durations = list(transitionDuration), animations = list(animationDuration);
            const glides = list(transitionProperty).filter((name, i) => name !== 'opacity' && parseFloat(durations[i % durations.length]) > 0);
            return glides.concat(list(animationName).filter((name, i) => name !== 'none' && parseFloat(animations[i % animations.length]) > 0));
        });
        return [...new Set(gliding)].sort()";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn who_wants_less_motion_has_none() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let moving = browser.run(GLIDING, &[]);
        assert_ne!(moving, json!([]), "things glide where nobody minds");
        browser.emulate_media("", &[("prefers-reduced-motion", "reduce")]);
        for view in View::ALL {
            open_view(&browser, view);
            assert_eq!(browser.run(GLIDING, &[]), json!([]), "{view:?}: glides");
        }
    }

    /// Presses Enter on the button that a script returns, then waits until this is true.
    fn press_and_wait(browser: &Browser, button: &str, what: &str, is_true: &str) {
        browser.run(&format!("({button}).focus()"), &[]);
        let has_focus = browser.run(
            &format!("return document.activeElement === ({button})"),
            &[],
        );
        assert_eq!(has_focus, json!(true), "{button} takes the focus");
        browser.press(":focus", ENTER);
        let kept = format!(
            "const focused = document.activeElement;
             return focused !== document.body && focused.checkVisibility() && ({is_true})"
        );
        browser.wait_for(what, LIMIT, &kept, &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_is_removed_leaves_the_focus_beside_it() {
        for browser in [Browser::with_mouse(), Browser::start()] {
            let server = Server::start();
            let open = |link: &str| {
                browser.open("about:blank");
                open_ready(&browser, &server.address(&format!("?backend=cpu#{link}")));
            };
            open("v=1&view=ladder&ladder=own&l=something&l=a%20ring&l=a%20small%20ring");
            browser.run(
                "document.querySelectorAll('.rung textarea')[1].focus()",
                &[],
            );
            press_and_wait(
                &browser,
                "document.querySelectorAll('.rung')[1].querySelector('[aria-label^=Remove]')",
                "a focus in the rungs",
                "document.querySelectorAll('.rung').length === 2 && focused.closest('.rungs') !== null",
            );
            open("v=1&view=studio");
            let tool = "[...document.querySelectorAll('.studio-tools button')].find(button => button.innerText === ";
            let remove = format!("{tool}'remove the chosen shape')");
            press_and_wait(
                &browser,
                &format!("{tool}'+ shape')"),
                "another shape",
                "document.querySelectorAll('.handle').length > 1",
            );
            let n_shapes = "return document.querySelectorAll('.handle').length";
            let n_shapes = browser
                .run(n_shapes, &[])
                .as_u64()
                .expect("a number of shapes");
            for n_left in (1..n_shapes).rev() {
                press_and_wait(
                    &browser,
                    &remove,
                    "a focus among the tools",
                    &format!(
                        "document.querySelectorAll('.handle').length === {n_left}
                         && focused.closest('.studio-tools') !== null && !focused.disabled"
                    ),
                );
            }
            open("v=1&c=a%20star&own=1");
            press_and_wait(
                &browser,
                "document.querySelector('.notice button')",
                "a focus on the view",
                "document.querySelector('.notice') === null && document.querySelector('#app').contains(focused)",
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_class_that_is_removed_leaves_the_focus_in_the_field() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&view=none-of-these&names=star,ring,moon&g=lone-red-star";
        open_ready(&browser, &server.address(address));
        browser.click("#class-names");
        let press = "for (let i = 0; i < 5; i++) document.execCommand('delete')";
        let end = "const field = document.querySelector('#class-names'); field.setSelectionRange(field.value.length, field.value.length)";
        browser.run(&format!("{end}; {press}"), &[]);
        wait_until_ready(&browser, ANSWERING);
        let kept = "const field = document.activeElement;
            return [field.id, field.value, field.selectionStart === field.value.length]";
        assert_eq!(
            browser.run(kept, &[]),
            json!(["class-names", "star,ring", true]),
            "the cursor stays where it was"
        );
    }

    /// Remembers which live regions changed.
    const LISTENING: &str = "
        const live = ':is([aria-live]:not([aria-live=off]), [role=alert], [role=status], [role=log], output:not([aria-live]))';
        window.spoke = new Set();
        new MutationObserver(changes => {
            for (const { target } of changes) {
                const region = (target.closest ? target : target.parentElement)?.closest(live);
                if (region) spoke.add(region.id || region.className);
            }
        }).observe(document.body, { subtree: true, childList: true, characterData: true });";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn one_voice_speaks_at_a_time() {
        let (server, browser) = (Server::start(), Browser::with_mouse());
        let address = "?backend=cpu#v=1&c=a%20star&c=a%20ring&g=lone-red-star&g=red-circles";
        open_ready(&browser, &server.address(address));
        browser.run(LISTENING, &[]);
        let remove = "document.querySelector('[data-caption=\"a ring\"] .remove-row').click()";
        let models = "document.querySelector('[data-act=models]').click();
            document.querySelector('[data-act=measure]').click()";
        // The same captions, so that nothing else is to be told.
        let tell = "location.hash = 'v=1&c=a%20star&g=lone-red-star&g=red-circles&own=1'";
        for (what, act, voice) in [
            ("a removed caption", remove, "spoken"),
            ("a measured device", models, "spoken"),
            ("a message", tell, "notices"),
        ] {
            browser.run("spoke.clear()", &[]);
            browser.run(act, &[]);
            let has_spoken = "return spoke.has(arguments[0])";
            browser.wait_for(what, LIMIT, has_spoken, &[json!(voice)]);
            // Longer than what is said at the end of a pause takes.
            std::thread::sleep(Duration::from_secs(2));
            let spoke = browser.run("return [...spoke]", &[]);
            assert_eq!(spoke, json!([voice]), "{what}: what has spoken");
        }
        browser.run("spoke.clear()", &[]);
        browser.fill("[data-caption] textarea", "two red circles");
        let said = "return document.querySelector('#spoken').textContent.includes('kappa')";
        browser.wait_for("the numbers of the caption", ANSWERING, said, &[]);
        std::thread::sleep(Duration::from_secs(2));
        let spoke: Value = browser.run("return [...spoke]", &[]);
        assert_eq!(spoke, json!(["spoken"]), "one voice for its numbers");
    }
}
