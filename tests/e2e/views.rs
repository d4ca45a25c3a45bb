//! The views beside the matrix: their numbers against the native program's, their keys, and their looks.

mod built_page {
    use std::fs;

    use kappascope::corruption::Misspelling;
    use kappascope::explorer::views::studio::drawing::Drawing;
    use kappascope::explorer::{drawing_file, free_offset};
    use kappascope::numerics::Family;
    use kappascope::scenes::{information, parse};
    use serde_json::{Value, json};

    use crate::harness::{
        ANSWERING, Browser, Server, WINDOWS, assert_near, assert_sound, axe, dist, escaped,
        gallery_picture, native_kappas, native_table, new_picture, open_ready, reading, rows,
        wait_until_ready, weights,
    };
    /// The same f32 arithmetic, compiled for another machine.
    const TOLERANCE: f64 = 1e-4;
    /// The same f64 arithmetic, printed and read again.
    const EXACT: f64 = 1e-12;
    /// A picture that the browser has resized, not Pillow: 0.017 was found, and 0.099 without its sides.
    const RESIZED: f64 = 0.04;
    const CAPTION: &str = "a small red star above a large blue circle";
    /// Names of the views in an address.
    const VIEWS: [&str; 11] = [
        "explore",
        "ladder",
        "words",
        "studio",
        "geometry",
        "none-of-these",
        "disturb",
        "traverse",
        "evidence",
        "learn",
        "teach",
    ];
    const ALT: &str = "\u{E00A}";
    const ARROW_DOWN: &str = "\u{E015}";
    const ARROW_UP: &str = "\u{E013}";
    const HOME: &str = "\u{E011}";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_ladder_shows_the_native_kappa_and_the_worlds_bits() {
        let (server, browser) = (Server::start(), Browser::start());
        let rungs = ["something", "a ring", "a small ring", "a dotted thing"];
        let query: String = rungs.map(|rung| format!("&l={}", escaped(rung))).concat();
        open_ready(
            &browser,
            &server.address(&format!("?backend=cpu#v=1&view=ladder&ladder=own{query}")),
        );
        let kappas = native_kappas(&rungs);
        let fields = ["rung-kappa", "rung-change", "rung-bits"];
        let shown = rows(&browser, "tr[data-rung]", &fields);
        assert_eq!(shown.len(), rungs.len(), "rows for {rungs:?}");
        for (i, row) in shown.iter().enumerate() {
            let what = rungs[i];
            assert_near(row[0], kappas[what], TOLERANCE, &format!("κ of {what:?}"));
            let bits = parse(what).map(|description| information(&description).bits);
            assert_near(row[2], bits.expect("it parses"), EXACT, what);
            if i > 0 {
                let change = kappas[what] - kappas[rungs[i - 1]];
                assert_near(
                    row[1],
                    change,
                    2.0 * TOLERANCE,
                    &format!("change at {what:?}"),
                );
            }
        }
        browser.press("tr[data-rung] textarea", &format!("{ALT}{ARROW_DOWN}"));
        let order = "return [...document.querySelectorAll('tr[data-rung]')].map(row => row.dataset.rung).join() === arguments[0]";
        browser.wait_for(
            "a rung that was moved by keys",
            ANSWERING,
            order,
            &[json!("a ring,something,a small ring,a dotted thing")],
        );
        let moved = rows(&browser, "tr[data-rung]", &fields);
        let change = kappas["something"] - kappas["a ring"];
        assert_near(
            moved[1][1],
            change,
            2.0 * TOLERANCE,
            "the change is negative now",
        );
        assert!(change < 0.0, "a ring says more than something: {kappas:?}");
        let marked = browser.run(
            "return document.querySelector('tr.rung.violates, tr.rung:nth-child(2) .step').innerText",
            &[],
        );
        let marked = marked.as_str().unwrap_or_default().to_owned();
        assert!(
            marked.contains("less specific, as it should be"),
            "the second rung says {marked:?}"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn each_word_has_the_native_kappa_of_its_two_captions() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!("?backend=cpu#v=1&c={}&view=words", escaped(CAPTION));
        open_ready(&browser, &server.address(&address));
        let words: Vec<&str> = CAPTION.split(' ').collect();
        let prefix = |i: usize| words[..=i].join(" ");
        let without = |i: usize| [&words[..i], &words[i + 1..]].concat().join(" ");
        let captions: Vec<String> = (0..words.len())
            .flat_map(|i| [prefix(i), without(i)])
            .collect();
        let asked: Vec<&str> = captions.iter().map(String::as_str).collect();
        let kappas = native_kappas(&asked);
        let shown = rows(
            &browser,
            "tr[data-word]",
            &["prefix-kappa", "without-kappa", "word-worth"],
        );
        assert_eq!(shown.len(), words.len(), "rows for {words:?}");
        for (i, row) in shown.iter().enumerate() {
            let (prefix, without) = (kappas[&prefix(i)], kappas[&without(i)]);
            assert_near(row[0], prefix, TOLERANCE, &format!("up to word {i}"));
            assert_near(row[1], without, TOLERANCE, &format!("without word {i}"));
            let worth = kappas[CAPTION] - without;
            assert_near(
                row[2],
                worth,
                2.0 * TOLERANCE,
                &format!("worth of word {i}"),
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_geometrys_tables_hold_the_numbers_of_numerics() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!(
            "?backend=cpu#v=1&c={}&g=lone-red-star&g=red-circles&view=geometry",
            escaped(CAPTION)
        );
        open_ready(&browser, &server.address(&address));
        compare_spreads(&browser, 128);
        let files =
            ["lone-red-star", "red-circles"].map(|id| dist().join(format!("gallery/{id}.png")));
        let table = native_table([CAPTION], files.iter().map(|file| file.as_path()));
        let shown = rows(&browser, ".twin tr[data-image]", &["nats-vmf"]);
        for (row, pair) in shown.iter().zip(table["pairs"].as_array().expect("pairs")) {
            let nats = pair["nats"].as_f64().expect("a number");
            assert_near(row[0], nats, TOLERANCE, &pair["image"].to_string());
        }
        assert_eq!(shown.len(), files.len(), "a row for each picture");
        browser.press("#dimension", HOME);
        let on_the_ball = "return document.querySelector('#dimension').getAttribute('aria-valuetext').startsWith('3 dim')
            && document.querySelector('.ball-beside figcaption').innerText.startsWith('3 ')";
        browser.wait_for("the ball, by a key", ANSWERING, on_the_ball, &[]);
        compare_spreads(&browser, 3);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn classes_have_the_native_nats_and_cosines_and_may_be_none() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = "?backend=cpu#v=1&c=a&g=cross-in-the-dark&g=red-circles&view=none-of-these";
        open_ready(&browser, &server.address(address));
        let file = dist().join("gallery/cross-in-the-dark.png");
        let captions = [
            "something red",
            "something yellow",
            "something green",
            "a picture",
        ];
        let table = native_table(captions, [file.as_path()]);
        let pairs = table["pairs"].as_array().expect("pairs").clone();
        let shown = rows(&browser, "tr[data-class]", &["class-nats", "class-cosine"]);
        assert_eq!(
            shown.len(),
            captions.len(),
            "three classes and none of them"
        );
        for (i, (row, pair)) in shown.iter().zip(&pairs).enumerate() {
            let number = |key: &str| pair[key].as_f64().expect("a number");
            assert_near(row[0], number("nats"), TOLERANCE, captions[i]);
            if i < 3 {
                assert_near(row[1], number("cosine"), TOLERANCE, captions[i]);
            }
        }
        let answers = || {
            browser.run(
                "return ['by-likelihood', 'by-threshold', 'by-margin'].map(field =>
                    document.querySelector(`tr[data-image=\"cross-in-the-dark\"] [data-field=${field}]`).innerText)",
                &[],
            )
        };
        assert_eq!(answers()[0], "none", "a purple cross is none of the three");
        browser.press("#class-threshold", HOME);
        let circles = dist().join("gallery/red-circles.png");
        let table = native_table(captions, [circles.as_path()]);
        let pairs = table["pairs"].as_array().expect("pairs");
        let cosine = |i: usize| pairs[i]["cosine"].as_f64().expect("a number");
        let i_best = (0..3).max_by(|a, b| cosine(*a).total_cmp(&cosine(*b)));
        let i_best = i_best.expect("three classes");
        assert!(cosine(i_best) >= 0.0, "the threshold 0 admits the nearest");
        let nearest =
            "return document.querySelectorAll('tr[data-class]')[arguments[0]].dataset.class";
        let nearest = browser.run(nearest, &[json!(i_best)]);
        let lowered = "return document.querySelector('tr[data-image=\"red-circles\"] [data-field=by-threshold]').innerText === arguments[0]";
        browser.wait_for(
            "the nearest class without a threshold",
            ANSWERING,
            lowered,
            &[nearest],
        );
        assert_eq!(answers()[1], "none", "no class has a cosine above 0");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_views_are_walked_by_links_and_by_the_way_back() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        let open = "return document.documentElement.dataset.view === arguments[0]";
        for view in &VIEWS[1..] {
            browser.click(&format!("nav.views a[data-to={view}]"));
            browser.wait_for(view, ANSWERING, open, &[json!(view)]);
        }
        browser.run("history.back()", &[]);
        browser.wait_for(
            "the view before",
            ANSWERING,
            open,
            &[json!(VIEWS[VIEWS.len() - 2])],
        );
    }

    /// Log odds of the shares against "none of these" are τ times the nats, with one τ for all captions.
    fn check_that_shares_follow_nats(browser: &Browser, nats: &[f64]) {
        let shares = rows(browser, ".shares tr", &["posterior", "none-share"]);
        let none = shares
            .iter()
            .find_map(|row| row[1])
            .expect("a share of none");
        let scales: Vec<f64> = shares
            .iter()
            .filter_map(|row| row[0])
            .zip(nats)
            .map(|(share, nats)| (share / none).ln() / nats)
            .collect();
        assert_eq!(scales.len(), nats.len(), "a share for each caption");
        for scale in &scales {
            let error = (scale / scales[0] - 1.0).abs();
            assert!(
                error < 0.01,
                "log odds against none are τ · nats with one τ: {scales:?}"
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_matrix_shows_what_kappa_does_to_the_order_and_sorts() {
        let (server, browser) = (Server::start(), Browser::start());
        let captions = ["a picture", "something red", "a red star"];
        let query: String = captions
            .map(|text| format!("&c={}", escaped(text)))
            .concat();
        let address = format!("?backend=cpu#v=1{query}&g=lone-red-star&by=cosine&none=1");
        open_ready(&browser, &server.address(&address));
        let table = native_table(captions, [gallery_picture().as_path()]);
        let pairs = table["pairs"].as_array().expect("pairs").clone();
        let column = |key: &str| -> Vec<f64> {
            pairs
                .iter()
                .map(|pair| pair[key].as_f64().expect("a number"))
                .collect()
        };
        let recorded: Value =
            serde_json::from_str(include_str!("../../public/examples/scenes/start.json"))
                .expect("the file is ours");
        let scale = recorded["card"]["logit_scale"]["vmf"].as_f64();
        let offset = free_offset(scale.expect("a number"));
        let rank = |values: &[f64], i: usize, margin: f64| {
            let is_above = |other: &&f64| **other > values[i] + margin;
            1 + values.iter().filter(is_above).count()
        };
        let (nats, cosines) = (column("nats"), column("cosine"));
        let expected: Vec<String> = (0..captions.len())
            .map(|i| match (rank(&cosines, i, 0.0), rank(&nats, i, offset)) {
                (before, after) if before == after => String::new(),
                (before, after) => format!("{} → {}", ordinal(before), ordinal(after)),
            })
            .collect();
        let moved = "return [...document.querySelectorAll('[data-field=moved]')].map(mark => mark.textContent)";
        assert_eq!(
            browser.run(moved, &[]),
            json!(expected),
            "places by cosine and by nats"
        );
        let words = "const cell = document.querySelector('td[data-field=nats]'), aria = (part, name) => part.getAttribute(`aria-${name}`);
            return [cell.title, aria(cell, 'description'), aria(cell.closest('[role=grid]'), 'label')].map(words => /cosine/.test(words))";
        assert_eq!(
            browser.run(words, &[]),
            json!([true, true, true]),
            "cells in words, and the matrix"
        );
        check_that_shares_follow_nats(&browser, &nats);
        let order = "return [...document.querySelectorAll('tr[data-caption]')].map(row => row.dataset.caption)";
        browser.click(".sort");
        assert_eq!(
            browser.run(order, &[]),
            json!(["a red star", "something red", "a picture"]),
            "the most specific first"
        );
        browser.click(".sort");
        assert_eq!(
            browser.run(order, &[]),
            json!(captions),
            "the vaguest first"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_drawing_has_the_native_nats_and_follows_the_keys() {
        let (server, browser) = (Server::start(), Browser::start());
        let captions = ["a red star", "something at the top", "a dotted ring"];
        let query: String = captions
            .map(|text| format!("&c={}", escaped(text)))
            .concat();
        let mut drawing = Drawing::default();
        drawing.add();
        let address = format!(
            "?backend=cpu#v=1{query}&view=studio&scene={}",
            drawing.encode()
        );
        open_ready(&browser, &server.address(&address));
        compare_drawing(&browser, &drawing, &captions);
        browser.press(".handle", &format!("{ARROW_DOWN}{ARROW_DOWN}"));
        drawing.shift(0, 0, 20);
        let moved = "return location.hash.includes(arguments[0])";
        browser.wait_for(
            "the drawing in the address",
            ANSWERING,
            moved,
            &[json!(drawing.encode())],
        );
        compare_drawing(&browser, &drawing, &captions);
        browser.press(".handle", &ARROW_UP.repeat(10));
        let stopped = "return document.querySelector('.stage ~ [data-spoken]').textContent.startsWith('the edge stops it')";
        browser.wait_for("what is said at the edge", ANSWERING, stopped, &[]);
        browser.click(".ask");
        let ten = "return document.querySelectorAll('.ten button').length === 10";
        browser.wait_for("ten scenes", ANSWERING, ten, &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn misspelt_captions_have_the_native_kappa_and_corruption_costs_nats() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!(
            "?backend=cpu#v=1&c={}&c=something&g=star-above-circle&view=disturb&harm=occlusion",
            escaped(CAPTION)
        );
        open_ready(&browser, &server.address(&address));
        let answered = "return document.querySelectorAll('[data-field=corrupted-nats][data-value]').length === 6";
        browser.wait_for("nats of six pictures", ANSWERING, answered, &[]);
        let texts = Misspelling::Keyboard.ladder(CAPTION);
        let asked: Vec<&str> = texts.iter().map(String::as_str).collect();
        let kappas = native_kappas(&asked);
        let shown = rows(&browser, "tr[data-misspelling]", &["misspelt-kappa"]);
        assert_eq!(shown.len(), texts.len(), "a row for each of {texts:?}");
        for (row, text) in shown.iter().zip(&texts) {
            assert_near(row[0], kappas[text], TOLERANCE, text);
        }
        let corrupted = rows(&browser, "tr[data-severity]", &["corrupted-nats"]);
        let nats = |severity: usize| corrupted[severity][0].expect("it was answered");
        let file = dist().join("gallery/star-above-circle.png");
        let table = native_table([CAPTION], [file.as_path()]);
        let whole = table["pairs"][0]["nats"].as_f64().expect("a number");
        assert_near(Some(nats(0)), whole, TOLERANCE, "the picture itself");
        assert!(
            nats(5) < nats(0) - 0.3,
            "a picture three quarters hidden: {corrupted:?}"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_photograph_that_is_corrupted_is_the_whole_that_the_model_reads() {
        let (server, browser) = (Server::start(), Browser::start());
        let (caption, picture) = ("two people riding horses on a beach", "riders-on-beach");
        let caption_query = escaped(caption);
        let address =
            format!("?world=&backend=cpu#v=1&m=photos&c={caption_query}&g={picture}&view=disturb");
        open_ready(&browser, &server.address(&address));
        let answered = "return document.querySelectorAll('[data-field=corrupted-nats][data-value]').length === 6";
        browser.wait_for("nats of six pictures", ANSWERING, answered, &[]);
        let shown = rows(&browser, "tr[data-severity='0']", &["corrupted-nats"])[0][0];
        browser.run_async(
            "const done = arguments[arguments.length - 1], canvas = document.querySelector('tr[data-severity=\"0\"] canvas');
             canvas.toBlob(file => { window.drawn = new File([file], 'drawn.png', { type: 'image/png' }); done(0) })",
        );
        browser.click("nav.views a[data-to=explore]");
        wait_until_ready(&browser, ANSWERING);
        let drop = "const data = new DataTransfer();
            data.items.add(window.drawn);
            document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }))";
        let drawn = new_picture(&browser, || {
            browser.run(drop, &[]);
        });
        let nats = reading(&browser).nats;
        let of = |picture: &str| nats[&(caption.to_owned(), picture.to_owned())];
        assert_near(shown, of(picture), TOLERANCE, "at severity 0");
        assert_near(
            Some(of(&drawn)),
            of(picture),
            RESIZED,
            "of what is drawn there",
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_evidence_is_what_was_committed() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&c=a&view=evidence"),
        );
        let there = "return document.querySelector('[data-field=measured]') !== null";
        browser.wait_for("the tables", ANSWERING, there, &[]);
        let text = fs::read_to_string(dist().join("models/scenes/evaluation.json"))
            .expect("the page brings its evaluation");
        let committed: Value = serde_json::from_str(&text).expect("it is JSON");
        let shown = rows(&browser, ".evidence-table tbody tr", &["measured"]);
        let expected = ["all", "one_attribute", "several_attributes"]
            .map(|key| committed["vmf"]["kappa_vs_bits"][key]["kappa"].as_f64());
        for (row, expected) in shown.iter().zip(expected) {
            let expected = expected.expect("a number");
            assert_near(row[0], expected, EXACT, "κ against bits");
        }
        methods_are_what_was_committed(&browser);
    }

    /// Each number of the methods' tables is a mean of `summary.json`.
    fn methods_are_what_was_committed(browser: &Browser) {
        let there = "return document.querySelector('.suite [data-field=measured]') !== null";
        browser.wait_for("the methods", ANSWERING, there, &[]);
        let text = fs::read_to_string(dist().join("evidence/scenes/summary.json"))
            .expect("the page brings the results of all methods");
        let committed: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        let means = committed.iter().map(|number| number["mean"].as_f64());
        let means: Vec<f64> = means.map(|mean| mean.expect("a number")).collect();
        let values = "return [...document.querySelectorAll('.suite [data-field=measured]')].map(cell => Number(cell.dataset.value))";
        let shown = browser.run(values, &[]);
        let shown = shown.as_array().expect("cells").iter();
        let shown: Vec<f64> = shown.filter_map(Value::as_f64).collect();
        assert_eq!(shown.len(), means.len(), "every number has one place");
        for value in shown {
            // The browser's reader of numbers may miss the last bit.
            let is_it = |mean: &f64| (mean - value).abs() <= EXACT;
            assert!(means.iter().any(is_it), "{value} was measured");
        }
        every_method_is_explained(browser);
        findings_are_what_was_committed(browser);
        figures_are_what_was_committed(browser);
    }

    /// The glossary names each part of every method's name, and the numbers of the findings.
    fn every_method_is_explained(browser: &Browser) {
        let unexplained = "const terms = [...document.querySelectorAll('.suite dt')].map(term => term.textContent);
            const methods = [...document.querySelectorAll('.suite .evidence-table tbody th')].map(head => head.textContent);
            const parts = methods.flatMap(method => method.split(/, | (?=vMF|PS)/)).concat('*', 'S', 'R²', 'MMI', 'RSUM');
            const isKnown = part => terms.some(term => part === term || part.startsWith(term + ' '));
            return [methods.length > 20, parts.filter(part => !isKnown(part))]";
        let unexplained = browser.run(unexplained, &[]);
        assert_eq!(unexplained, json!([true, []]), "names without a meaning");
    }

    /// Every finding of `findings.json` stands with its verdicts, whatever they are.
    fn findings_are_what_was_committed(browser: &Browser) {
        let text = fs::read_to_string(dist().join("evidence/scenes/findings.json"))
            .expect("the page brings the findings");
        let committed: Value = serde_json::from_str(&text).expect("it is JSON");
        let findings = committed["findings"].as_array().expect("a list");
        let n_datasets = committed["datasets"].as_array().expect("a list").len();
        let expected = findings.iter().map(|finding| {
            let verdicts = finding["verdicts"].as_array().expect("one or more");
            // Verdicts that are the same on all data sets stand once.
            let verdicts = verdicts.iter().cycle().take(n_datasets);
            let words: Vec<&Value> = verdicts.map(|one| &one["verdict"]).collect();
            json!([finding["claim"], words])
        });
        let expected: Vec<Value> = expected.collect();
        assert!(
            expected.len() > 10,
            "{} findings of three papers",
            expected.len()
        );
        let shown = "return [...document.querySelectorAll('.findings tbody tr')].map(row => [row.cells[0].textContent,
            [...row.querySelectorAll('[data-verdict]')].map(cell => cell.dataset.verdict)])";
        let shown = browser.run(shown, &[]);
        assert_eq!(shown, json!(expected), "each with its verdicts");
    }

    /// Each figure draws the lines of `figures.json`, its letters lie inside, and its names point at their lines.
    fn figures_are_what_was_committed(browser: &Browser) {
        let text = fs::read_to_string(dist().join("evidence/scenes/figures.json"))
            .expect("the page brings the figures");
        let committed: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        let shown = "return [...document.querySelectorAll('.chart')].map(chart => [chart.dataset.figure,
            [...chart.querySelectorAll('.chart-panel')].map(panel =>
                [...panel.querySelectorAll('.chart-series')].map(line => line.querySelectorAll('.chart-dot').length)),
            [...chart.querySelectorAll('.chart-table tbody')].map(body => body.querySelectorAll('td').length > 0)])";
        let shown = browser.run(shown, &[]);
        let expected: Vec<Value> = committed.iter().map(shape).collect();
        assert_eq!(
            shown,
            json!(expected),
            "as many lines and points as were committed"
        );
        let choose = "const chart = document.querySelector('.chart'), button = chart.querySelectorAll('.chart-legend button')[1];
            button.click(); return button.textContent";
        let name = browser.run(choose, &[]);
        let touched = "return (async () => {
            const chart = document.querySelector('.chart[data-touched]'), opacity = line => getComputedStyle(line).opacity;
            await Promise.all(chart.getAnimations({ subtree: true }).map(animation => animation.finished));
            const lines = [...chart.querySelectorAll('.chart-series')].filter(line => opacity(line) === '1');
            return lines.flatMap(line => [...line.querySelectorAll('.chart-target title')]).map(title => title.textContent) })()";
        let points = browser.run(touched, &[]);
        let name = name
            .as_str()
            .and_then(|text| text.trim().split_once(' '))
            .expect("a letter and a name")
            .1;
        let points = points.as_array().expect("points");
        let is_named = |point: &Value| point.as_str().is_some_and(|text| text.starts_with(name));
        assert!(
            !points.is_empty() && points.iter().all(is_named),
            "{name}: {points:?}"
        );
    }

    /// Name, points of each line of each panel, and that each panel has a table.
    fn shape(figure: &Value) -> Value {
        let list = |value: &Value| value.as_array().cloned().expect("a list");
        let n_points = |line: &Value| list(&line["points"]).len();
        let panels = list(&figure["panels"]);
        let lines: Vec<Vec<usize>> = panels
            .iter()
            .map(|panel| list(&panel["lines"]).iter().map(n_points).collect())
            .collect();
        json!([figure["name"], lines, vec![true; panels.len()]])
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_exported_numbers_are_the_pages_own() {
        let (server, browser) = (Server::start(), Browser::start());
        let address = format!("?backend=cpu#v=1&c={}&g=lone-red-star", escaped(CAPTION));
        open_ready(&browser, &server.address(&address));
        browser.click(".export summary");
        let there = "return document.querySelector('.export a').href.startsWith('data:')";
        browser.wait_for("the links", ANSWERING, there, &[]);
        let file = "return fetch(document.querySelector(`.export a[download$='${arguments[0]}']`).href).then(file => file.text())";
        let json = browser.run(file, &[json!("json")]);
        let json: Value = serde_json::from_str(json.as_str().expect("text")).expect("it is JSON");
        let on_page = rows(&browser, "tr[data-caption]", &["kappa", "nats"]);
        let exported = ["kappa", "nats"].map(|key| json["pairs"][0][key].as_f64());
        for (exported, shown) in exported.iter().zip(&on_page[0]) {
            let shown = shown.expect("the page shows it");
            assert_near(*exported, shown, EXACT, "in full");
        }
        assert_eq!(json["weights"], json!(weights()), "whose numbers they are");
        let csv = browser.run(file, &[json!("csv")]);
        let line = csv
            .as_str()
            .expect("text")
            .lines()
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let start = format!("\"{CAPTION}\",{},", on_page[0][0].expect("a number"));
        assert!(
            line.starts_with(&start),
            "the line {line:?} starts with {start:?}"
        );
        assert!(line.ends_with(&format!(",{}", weights())), "{line:?}");
        let command = browser.run(
            "return document.querySelector('.export .command').innerText",
            &[],
        );
        assert_eq!(
            command.as_str().expect("text").trim(),
            format!(
                "cargo run --release -- score --caption '{CAPTION}' --image 'public/gallery/lone-red-star.png'"
            ),
            "what computes it natively"
        );
    }

    /// axe-core, which `cargo xtask test` fetches, must find nothing, and nothing may stand beyond the window's edge, on any view in any light or width.
    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn axe_finds_nothing_on_any_view_and_each_fits_its_window() {
        let axe = axe();
        let (server, browser) = (Server::start(), Browser::start());
        for (name, width, height, features) in WINDOWS {
            browser.resize(width, height);
            browser.emulate_media("", features);
            open_ready(&browser, &server.address("?backend=cpu"));
            browser.run(&axe, &[]);
            for view in VIEWS {
                browser.run(
                    "[...document.querySelectorAll('nav.views a')].find(link => link.dataset.to === arguments[0]).click()",
                    &[json!(view)],
                );
                let open = "return document.documentElement.dataset.view === arguments[0]";
                browser.wait_for(view, ANSWERING, open, &[json!(view)]);
                wait_until_ready(&browser, ANSWERING);
                browser.save_screenshot(&format!("view-{view}-{name}.png"));
                assert_sound(&browser, &format!("{view}, {name}"));
            }
        }
    }

    /// The numbers in the tables of the geometry against those of the two distributions at the page's own κ.
    fn compare_spreads(browser: &Browser, dimension: usize) {
        let fields = [
            "spread-concentration",
            "spread-mean",
            "spread-deviation",
            "spread-nats",
        ];
        let shown = rows(browser, ".twin tr:has([data-field=spread-mean])", &fields);
        assert_eq!(
            shown.len(),
            5,
            "the uniform distribution, and each distribution at κ and at τκ"
        );
        let families = [
            Family::VonMisesFisher,
            Family::VonMisesFisher,
            Family::PowerSpherical,
            Family::VonMisesFisher,
            Family::PowerSpherical,
        ];
        for (i, (row, family)) in shown.iter().zip(families).enumerate() {
            let kappa = row[0].expect("a concentration");
            let what = format!("row {i} in {dimension} dimensions");
            let expected = [
                family.mean_resultant_length(dimension, kappa),
                family.cosine_variance(dimension, kappa).sqrt(),
                family.kl_to_uniform(dimension, kappa),
            ];
            for (found, expected) in row[1..].iter().zip(expected) {
                assert_near(*found, expected, EXACT, &what);
            }
        }
    }

    /// Nats and truth of each caption for the drawing, against the native program's and the world's.
    fn compare_drawing(browser: &Browser, drawing: &Drawing, captions: &[&str]) {
        let file = std::env::temp_dir().join(format!("kappascope-{}.bmp", std::process::id()));
        fs::write(&file, drawing_file(drawing)).expect("a temporary file can be written");
        let table = native_table(captions.iter().copied(), [file.as_path()]);
        fs::remove_file(file).expect("a temporary file can be removed");
        let shown = rows(browser, "tr[data-drawn]", &["drawn-nats"]);
        assert_eq!(shown.len(), captions.len(), "a row for each caption");
        for (row, pair) in shown.iter().zip(table["pairs"].as_array().expect("pairs")) {
            let nats = pair["nats"].as_f64().expect("a number");
            assert_near(row[0], nats, TOLERANCE, &pair["caption"].to_string());
        }
        let truth = captions.iter().map(|caption| {
            let description = parse(caption).expect("it parses");
            if description.fits(&drawing.scene()) {
                "fits"
            } else {
                "does not fit"
            }
        });
        let says = "return [...document.querySelectorAll('[data-field=truth]')].map(cell => cell.innerText)";
        assert_eq!(
            browser.run(says, &[]),
            json!(truth.collect::<Vec<_>>()),
            "what is true"
        );
    }

    /// A place in words, as the page says it, up to the third.
    fn ordinal(n: usize) -> String {
        ["", "1st", "2nd", "3rd"][n].to_owned()
    }
}
