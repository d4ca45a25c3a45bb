//! The way up from a picture, the lessons, what a teacher prepares, and what can be taken away.

mod built_page {
    use std::time::Duration;

    use kappascope::explorer::views::learn::Lessons;
    use kappascope::explorer::{PageControl, View, decode};
    use kappascope::numerics::VonMisesFisher;
    use serde_json::{Value, json};

    use crate::harness::{
        ANSWERING, Browser, Server, assert_near, assert_sound, axe, dist, native_kappas,
        native_table, open_ready, rows, wait_until_it_says, wait_until_ready,
    };
    /// The same f32 arithmetic, compiled for another machine.
    const TOLERANCE: f64 = 1e-4;
    /// The same f64 arithmetic, printed and read again.
    const EXACT: f64 = 1e-9;
    const DIMENSION: usize = 128;

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn captions_on_the_way_up_have_native_numbers_and_the_distributions_widen() {
        let (server, browser) = (Server::start(), Browser::start());
        let address =
            "?backend=cpu#v=1&c=a%20red%20star&g=lone-red-star&g=red-circles&view=traverse";
        open_ready(&browser, &server.address(address));
        let fields = ["met-share", "met-kappa", "met-nats"];
        let mut starts = Vec::new();
        for way in ["points", "distributions"] {
            let selector = format!("[data-way={way}] tr[data-met]");
            let met = names(&browser, &selector, "met");
            let shown = rows(&browser, &selector, &fields);
            starts.extend(met.first().cloned());
            let file = dist().join("gallery/lone-red-star.png");
            let table = native_table(met.iter().map(String::as_str), [file.as_path()]);
            for (i, caption) in met.iter().enumerate() {
                let number =
                    |list: &str, key: &str| table[list][i][key].as_f64().expect("a number");
                assert_near(shown[i][1], number("captions", "kappa"), TOLERANCE, caption);
                assert_near(shown[i][2], number("pairs", "nats"), TOLERANCE, caption);
            }
            let shares: Vec<_> = shown.iter().map(|row| row[0]).collect();
            assert!(
                shares.is_sorted() && shares[0] == Some(0.0),
                "{way}: {shares:?}"
            );
        }
        assert!(
            starts.len() == 2 && starts[0] == starts[1],
            "both ways start at {starts:?}"
        );
        let distributions = rows(&browser, "[data-way=distributions] tr[data-met]", &fields);
        let last = distributions.len() - 1;
        let (first, last) = (distributions[0][1], distributions[last][1]);
        assert!(first > last, "κ falls from {first:?} to {last:?}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn inclusion_is_that_of_numerics_and_its_test_is_antisymmetric() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a%20red%20star&g=lone-red-star&view=traverse";
        open_ready(&browser, &server.address(address));
        let inner = names(&browser, "tr[data-inner]", "inner");
        let kappas = native_kappas(&inner.iter().map(String::as_str).collect::<Vec<_>>());
        let script = "return [...document.querySelectorAll('tr[data-inner]')].map(row =>
            [...row.querySelectorAll('[data-field=inclusion]')].map(cell => [Number(cell.dataset.value), Number(cell.dataset.test)]))";
        let table = browser.run(script, &[]);
        let cell = |i: usize, j: usize, k: usize| table[i][j][k].as_f64().expect("a number");
        for (i, caption) in inner.iter().enumerate() {
            let distribution = VonMisesFisher::new(DIMENSION, kappas[caption]);
            let expected = distribution.inclusion_in(&distribution, 1.0);
            // κ of page and native program differ in the last digits of f32.
            assert_near(Some(cell(i, i, 0)), expected, 10.0 * TOLERANCE, caption);
            for j in 0..inner.len() {
                assert_near(Some(cell(i, j, 1)), -cell(j, i, 1), EXACT, "there and back");
            }
        }
        assert!(inner.len() > 2, "a table of {inner:?}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_lesson_asks_shows_the_native_kappa_and_keeps_the_score() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = server.address("?backend=cpu#v=1&c=a%20star&view=learn");
        open_ready(&browser, &address);
        wait_for(&browser, "[data-question='0'] .ask:not(:disabled)");
        let before = names(&browser, "[data-question] tr[data-measured]", "measured");
        assert!(
            before.is_empty(),
            "nothing is shown before it was asked: {before:?}"
        );
        click(&browser, "[data-question='0'] .ask");
        wait_for(&browser, "[data-question='0'] tr[data-measured]");
        assert_moved_by_keys(&browser, "[data-question='1'] .order li");
        click(&browser, "[data-question='1'] .view-controls .ask");
        let selector = "[data-question='1'] tr[data-measured]";
        wait_for(&browser, selector);
        let shown = names(&browser, selector, "measured");
        let kappas = native_kappas(&shown.iter().map(String::as_str).collect::<Vec<_>>());
        for (row, caption) in rows(&browser, selector, &["measured-kappa"])
            .iter()
            .zip(&shown)
        {
            assert_near(row[0], kappas[caption], TOLERANCE, caption);
        }
        let order: Vec<f64> = shown.iter().map(|caption| kappas[caption]).collect();
        assert!(
            order.is_sorted(),
            "the vaguest stands first: {shown:?} {order:?}"
        );
        let score = "return document.querySelector('[data-field=score]').innerText";
        let said = browser.run(score, &[]);
        assert!(
            said.as_str().unwrap_or_default().starts_with("2 of 3"),
            "the score is {said}"
        );
        browser.reload();
        wait_until_ready(&browser, ANSWERING);
        let kept =
            "return document.querySelector('[data-field=score]')?.innerText === arguments[0]";
        browser.wait_for("the score of before", ANSWERING, kept, &[said]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn why_captions_have_a_spread_is_told_with_the_native_kappa() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = server.address("?backend=cpu#v=1&c=a%20star&view=learn");
        open_ready(&browser, &address);
        let selector = "[data-part=asymmetry] tr[data-measured]";
        wait_for(&browser, &format!("{selector} .number[data-value]"));
        let shown = names(&browser, selector, "measured");
        assert!(shown.len() > 6, "two steps of several captions: {shown:?}");
        let kappas = native_kappas(&shown.iter().map(String::as_str).collect::<Vec<_>>());
        for (row, caption) in rows(&browser, selector, &["measured-kappa"])
            .iter()
            .zip(&shown)
        {
            assert_near(row[0], kappas[caption], TOLERANCE, caption);
        }
    }

    /// Moves the last line to the front by one button, which keeps the focus.
    fn assert_moved_by_keys(browser: &Browser, lines: &str) {
        let lines = format!("const lines = [...document.querySelectorAll(\"{lines}\")]");
        let focus = "lines.at(-1).querySelector('button').focus(); return lines.length";
        let n_lines = browser.run(&format!("{lines}; {focus}"), &[]);
        for place in (0..n_lines.as_u64().expect("a number of lines") - 1).rev() {
            browser.press(":focus", "\u{E007}");
            browser.wait_for(
                &format!("the focus in line {place}"),
                Duration::from_secs(10),
                &format!("{lines}; return lines[arguments[0]].querySelector('button') === document.activeElement"),
                &[json!(place)],
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_tour_drives_the_views_and_gives_the_page_back() {
        let (server, browser) = (Server::start(), Browser::start());
        // As high as a part and the card that speaks of it need.
        browser.resize(1280, 900);
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=my%20own%20words&view=learn"),
        );
        wait_for(&browser, "a.ask");
        click(&browser, "a.ask");
        let n = lessons().tour.len();
        for tour_step in 0..n {
            wait_for(&browser, &format!(".tour[data-tour-step='{tour_step}']"));
            let (state, _) = decode(&lessons().tour[tour_step].link).expect("it is a page");
            let open = "return document.documentElement.dataset.view === arguments[0]";
            browser.wait_for(
                state.view.slug(),
                ANSWERING,
                open,
                &[json!(state.view.slug())],
            );
            let apart = "const parts = ['.spoken-of', '.tour'].map(part => document.querySelector(part)?.getBoundingClientRect());
                if (parts.includes(undefined)) return false;
                const [about, card] = parts, isFocused = document.activeElement.matches('.tour');
                return isFocused && about.top >= 0 && (about.bottom <= card.top || about.right <= card.left || about.top >= card.bottom)";
            browser.wait_for(
                "a card with the focus beside what it speaks of",
                ANSWERING,
                apart,
                &[],
            );
            if tour_step + 1 < n {
                click(&browser, ".tour a.ask:last-of-type");
            }
        }
        wait_until_ready(&browser, ANSWERING);
        browser.run("history.back()", &[]);
        wait_for(&browser, &format!(".tour[data-tour-step='{}']", n - 2));
        browser.run("history.forward()", &[]);
        wait_for(&browser, &format!(".tour[data-tour-step='{}']", n - 1));
        click(&browser, ".tour .quiet");
        let back = "return document.documentElement.dataset.view === 'learn' && document.querySelector('.tour') === null";
        browser.wait_for("the page of before", ANSWERING, back, &[]);
        browser.reload();
        browser.wait_for("the page of before, reloaded", ANSWERING, back, &[]);
        click(&browser, "[data-to=words]");
        wait_until_the_caption_is(&browser, "my own words");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_link_is_followed_while_the_address_of_before_is_still_to_be_written() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(
            "const later = window.setTimeout;
            window.setTimeout = (f, pause, ...rest) => pause === 300 ? (window.write = f, 0) : later(f, pause, ...rest)",
        );
        open_ready(&browser, &server.address("?backend=cpu#v=1&c=a%20star"));
        browser.press(".row textarea", "s");
        browser.run(
            "const link = document.body.appendChild(document.createElement('a'));
            link.href = '#v=1&c=a%20moon';
            link.click();
            window.write()",
            &[],
        );
        wait_until_the_caption_is(&browser, "a moon");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_a_link_locks_stays_and_what_it_hides_is_gone() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a%20red%20star&g=lone-red-star&lock=captions.law&hide=views.prose.models.order";
        open_ready(&browser, &server.address(address));
        wait_until_it_says(&browser, "locked: the captions’ words, the distribution");
        let hidden = "return ['nav.views', '.prose', '[data-act=models]', '.sort'].map(part => getComputedStyle(document.querySelector(part)).display)";
        assert_eq!(
            browser.run(hidden, &[]),
            json!(["none", "none", "none", "none"]),
            "what is hidden"
        );
        let use_them = "const field = document.querySelector('.row textarea');
            document.querySelector('fieldset.distribution input[value^=power]').click();
            const radio = document.querySelector('fieldset.distribution input:checked');
            const attributes = of => ['aria-readonly', 'aria-disabled', 'tabindex'].map(name => of.getAttribute(name));
            const others = ':is(input, select, textarea)[tabindex]:not(.row textarea, fieldset.distribution input)';
            return [field.readOnly, ...attributes(field), field.value, radio.value, ...attributes(radio),
                [...document.querySelectorAll(others)].filter(part => part.checkVisibility()).length]";
        let now = browser.run(use_them, &[]);
        assert_eq!(
            now,
            json!([
                true,
                "true",
                null,
                "-1",
                "a red star",
                "von Mises–Fisher",
                null,
                "true",
                "-1",
                0
            ]),
            "what is locked is read or disabled, and nothing else that is seen is"
        );
        let tour = "const parts = [...document.querySelectorAll('[data-view=learn] :is(a, span)')];
            const tour = parts.filter(part => /tour/.test(part.textContent));
            return tour.length > 0 && tour.some(part => part.checkVisibility())";
        for access in ["hide", "lock"] {
            let address = format!("?backend=cpu#v=1&view=learn&{access}=views");
            open_ready(&browser, &server.address(&address));
            wait_for(&browser, ".to-tour");
            let is_seen = browser.run(tour, &[]);
            assert_eq!(
                is_seen,
                json!(false),
                "{access}: the tour leads to other views"
            );
        }
    }

    /// axe-core knows what each role allows.
    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn axe_finds_nothing_on_a_page_whose_controls_are_locked() {
        let axe = axe();
        let (server, browser) = (Server::start(), Browser::start());
        let lockable = PageControl::ALL.into_iter();
        let lockable = lockable.filter(|control| control.can_be_locked());
        let locks: Vec<&str> = lockable.map(PageControl::slug).collect();
        for view in View::ALL {
            let (view, locks) = (view.slug(), locks.join("."));
            let address = format!(
                "?backend=cpu#v=1&c=a%20red%20star&g=lone-red-star&view={view}&lock={locks}"
            );
            open_ready(&browser, &server.address(&address));
            wait_until_it_says(&browser, "locked: the other views");
            browser.run(&axe, &[]);
            assert_sound(&browser, &format!("{view}, locked"));
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn hidden_numbers_are_hidden_wherever_they_stand() {
        let (server, browser) = (Server::start(), Browser::start());
        // Of the ladder κ falls where the words say more.
        let address = "?backend=cpu#v=1&c=a%20red%20star&c=a%20star&g=lone-red-star&ladder=own&l=a%20star\
            &l=a%20solid%20star&hide=numbers";
        open_ready(&browser, &server.address(address));
        let marked = "[data-value], .formula, .export, .sort, .dispute, .evidence-table, .chart, .bar, .halo";
        let seen = "document.querySelectorAll('details').forEach(part => part.open = true);
            const isSeen = part => part.checkVisibility() && getComputedStyle(part).visibility === 'visible';
            const marked = [...document.querySelectorAll(arguments[0])].filter(isSeen);
            // The three texts below explain the scale; they measure nothing.
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), told = [];
            while (texts.nextNode()) {
                const { data, parentElement: part } = texts.currentNode;
                if (/(κ|kappa) [≈−]? ?\\d|\\d (nats|bits|×)/.test(data) && isSeen(part) && !part.closest('.prose')) told.push(data);
            }
            return [...marked.map(part => part.outerHTML.slice(0, 99)), ...told]";
        let there = "return document.querySelector(arguments[0]) !== null";
        for view in View::ALL {
            click(&browser, &format!("[data-to={}]", view.slug()));
            wait_until_ready(&browser, ANSWERING);
            // What is looked at has come.
            let shown = match view {
                View::Evidence => ".chart, .evidence-table",
                View::Teach => "[data-field=key] .number:not(:empty)",
                View::Learn => ".failures .number[data-value]",
                _ => "[data-value]",
            };
            browser.wait_for(shown, ANSWERING, there, &[json!(shown)]);
            let found = browser.run(seen, &[json!(marked)]);
            assert_eq!(found, json!([]), "{view:?}");
        }
        let edit = "const rung = document.querySelector('.rungs textarea');
            rung.dispatchEvent(new Event('change', { bubbles: true }))";
        click(&browser, "[data-to=ladder]");
        wait_for(&browser, ".rungs textarea");
        let verdict =
            "return document.querySelector('.rung:nth-child(2) .step').textContent.startsWith('✗')";
        browser.wait_for("a step against the words", ANSWERING, verdict, &[]);
        let drawn =
            "return getComputedStyle(document.querySelector('.rung:nth-child(2)')).borderTopStyle";
        let drawn = browser.run(drawn, &[]);
        assert_eq!(drawn, json!("solid"), "nor is its verdict drawn");
        browser.run(edit, &[]);
        let spoken = "return document.querySelector('#spoken').innerText.includes('kappa')";
        assert_eq!(browser.run(spoken, &[]), false, "nor is one spoken");
        click(&browser, "[data-to=learn]");
        let about = "const about = document.querySelector('.view > .finding');
            return about?.innerText.length > 9 && getComputedStyle(about).visibility === 'visible'";
        browser.wait_for("what the lesson is about", ANSWERING, about, &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_prepared_link_has_its_locks_and_a_worksheet_its_key() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=a%20red%20star&view=teach"),
        );
        wait_for(&browser, "#own-link");
        let choose = "const select = document.querySelector(arguments[0]);
            select.value = [...select.options].find(option => option.text === arguments[1]).value;
            select.dispatchEvent(new Event('change', { bubbles: true }))";
        browser.run(choose, &[json!("#law"), json!("locked")]);
        browser.run(choose, &[json!("#prepared-view"), json!("Words")]);
        let link =
            "return document.querySelector('#own-link').value.includes('view=words&lock=law')";
        browser.wait_for("a link with a lock", ANSWERING, link, &[]);
        let keys = "return [...document.querySelectorAll('[data-field=key]')].map(key => key.firstChild.textContent)";
        let keys = browser.run(keys, &[]);
        let question = &lessons().lessons[0].questions[0];
        let kappas = native_kappas(
            &question
                .captions
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let vaguest = question
            .captions
            .iter()
            .min_by(|a, b| kappas[*a].total_cmp(&kappas[*b]));
        let expected = format!("“{}”", vaguest.expect("two captions"));
        let key = keys[0].as_str().unwrap_or_default();
        assert!(key.starts_with(&expected), "{key} begins with {expected}");
        browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        let printed = "return ['.masthead', '.teach', '.worksheet', '.key'].map(part =>
            getComputedStyle(document.querySelector(part)).display !== 'none')";
        let printed = browser.run(printed, &[]);
        assert_eq!(
            printed,
            json!([false, false, true, true]),
            "only the sheet and its key"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_worksheet_holds_pictures_words_and_the_teachers_questions_which_the_class_sees() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu#v=1&view=teach"));
        wait_for(&browser, ".worksheet .qr");
        let ask = "const field = document.querySelector('#questions');
            field.value = 'Why?\\n\\nWho asks?';
            field.dispatchEvent(new InputEvent('input', { bubbles: true }))";
        browser.run(ask, &[]);
        let is_asked = "const link = document.querySelector('#lesson-link');
            const codes = [link.closest('section'), document.querySelector('.worksheet')];
            const [own, printed] = codes.map(part => part.querySelector('.qr-dots').getAttribute('d'));
            return link.value.includes('ask=Why') && own === printed";
        browser.wait_for("the link in the code", ANSWERING, is_asked, &[]);
        let parts = "const sheet = document.querySelector('.worksheet'), n = part => sheet.querySelectorAll(part).length;
            return [n('.numbered img'), n('.word-list li') > 2, n('.key .notes li') > 0, sheet.innerText.includes('Who asks?'),
                sheet.querySelector('.address').innerText === location.href.split('#')[0] + '#' + arguments[0],
                sheet.querySelector('.key').innerText.includes(arguments[1])]";
        let lesson = &lessons().lessons[0];
        let told = [json!(lesson.link), json!(lesson.open[0][1])];
        let parts = browser.run(parts, &told);
        let expected = json!([6, true, true, true, true, true]);
        assert_eq!(parts, expected, "of the sheet");
        let link = browser.run("return document.querySelector('#lesson-link').value", &[]);
        browser.run("location.href = arguments[0]", &[link]);
        let seen = "return [...document.querySelectorAll('.own-questions li')].map(one => one.innerText).join() === arguments[0]";
        let asked = json!("Why?,Who asks?");
        browser.wait_for("what the teacher asks", ANSWERING, seen, &[asked]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn every_view_can_be_taken_away_as_a_picture() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(
            "window.saved = []; const click = HTMLAnchorElement.prototype.click;
             HTMLAnchorElement.prototype.click = function () { this.download ? saved.push([this.download, this.href]) : click.call(this) };",
        );
        open_ready(&browser, &server.address("?backend=cpu"));
        for view in View::ALL {
            click(&browser, &format!("[data-to={}]", view.slug()));
            wait_until_ready(&browser, ANSWERING);
            for ending in ["svg", "png"] {
                click(&browser, &format!("[data-save={ending}]"));
                let saved = format!(
                    "return saved.at(-1)?.[0] === 'kappascope-{}.{ending}'",
                    view.slug()
                );
                browser.wait_for(&saved, ANSWERING, &saved, &[]);
            }
            let svg = "const text = decodeURIComponent(saved.at(-2)[1].split(',')[1]);
                const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
                const words = [...svg.querySelectorAll('text')].map(text => text.textContent).join('');
                return [svg.querySelector('parsererror')?.textContent ?? '', svg.querySelectorAll('text').length, svg.documentElement.getAttribute('width'),
                    ['Change one word', 'Take the numbers', '+ caption'].filter(chrome => words.includes(chrome)),
                    words.startsWith(document.title) && words.includes(location.href.split('#')[0])]";
            let svg = browser.run(svg, &[]);
            assert_eq!(svg[3], json!([]), "{view:?}: no controls");
            assert_eq!(svg[4], true, "{view:?}: its title and its link");
            assert_eq!(svg[0], "", "{view:?}: it is XML");
            assert!(svg[1].as_u64() > Some(5), "{view:?}: it holds text: {svg}");
            let width = browser.run_async(
                "const done = arguments[arguments.length - 1], image = new Image();
                 image.onload = () => done(image.naturalWidth); image.onerror = () => done(0); image.src = saved.at(-1)[1]",
            );
            let expected: f64 = svg[2]
                .as_str()
                .and_then(|width| width.parse().ok())
                .expect("a width");
            let width = width.as_f64().unwrap_or_default();
            assert!(
                (width - 2.0 * expected).abs() <= 2.0,
                "{view:?}: {width} pixels, twice {expected}"
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn views_show_what_was_recorded_before_any_engine_runs() {
        let (server, browser) = (Server::start(), Browser::start());
        server.refuse("/engine");
        browser.open(&server.address("?backend=cpu"));
        wait_until_it_says(&browser, "ecorded");
        for (view, cell) in [
            ("ladder", "rung-kappa"),
            ("words", "prefix-kappa"),
            ("none-of-these", "class-nats"),
            ("disturb", "misspelt-kappa"),
            ("disturb", "corrupted-nats"),
            ("studio", "drawn-nats"),
            ("traverse", "met-nats"),
        ] {
            click(&browser, &format!("[data-to={view}]"));
            let known = format!(
                "const cells = [...document.querySelectorAll('[data-field={cell}]')];
                 return cells.length > 1 && cells.every(cell => cell.dataset.value)"
            );
            browser.wait_for(
                &format!("recorded numbers in {view}"),
                ANSWERING,
                &known,
                &[],
            );
        }
    }

    fn lessons() -> Lessons {
        serde_json::from_str(include_str!("../../public/lessons.json")).expect("the file is ours")
    }

    fn click(browser: &Browser, selector: &str) {
        let script = "document.querySelector(arguments[0]).click()";
        browser.run(script, &[json!(selector)]);
    }

    fn wait_until_the_caption_is(browser: &Browser, caption: &str) {
        let script = "return document.querySelector('textarea')?.value === arguments[0]";
        browser.wait_for(caption, ANSWERING, script, &[json!(caption)]);
    }

    fn wait_for(browser: &Browser, selector: &str) {
        let script = "return document.querySelector(arguments[0]) !== null";
        browser.wait_for(
            selector,
            Duration::from_secs(60),
            script,
            &[json!(selector)],
        );
    }

    /// What stands in `data-…` of each element.
    fn names(browser: &Browser, selector: &str, data: &str) -> Vec<String> {
        wait_until_ready(browser, ANSWERING);
        let script = "return [...document.querySelectorAll(arguments[0])].map(row => row.dataset[arguments[1]])";
        let found = browser.run(script, &[json!(selector), json!(data)]);
        let names = found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }
}
