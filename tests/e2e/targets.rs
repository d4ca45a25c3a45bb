//! How quickly the page opens and follows its visitor: each measure is written to `artefacts/`, beside its target, and how it
//! opens by `cargo xtask bench start` to `benches/results/` as well.
//!
//! The targets hold for a machine that does nothing else. A busy one is slower by what it is busy with, so that the
//! limits here are wider, and the work itself is counted in processor time.

mod built_page {
    use std::fmt::Write as _;
    use std::path::Path;
    use std::time::Duration;
    use std::{array, env, fs, thread};

    use serde_json::{Value, json};

    use crate::harness::{
        ANSWERING, Browser, Server, add_picture, dist, machine, open_ready, wait_until_kept,
        wait_until_ready,
    };

    /// Notes when an engine first answers the captions of the page, in milliseconds since it was asked for.
    const WATCH_START: &str = "new MutationObserver(() => {
            if (document.documentElement?.dataset.status === 'ready') window.answeredAt ??= performance.now();
        }).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-status'] })";
    /// What is measured of a first and of a second visit, and the milliseconds that it should take.
    const START: [(&str, f64); 5] = [
        ("first visit: first contentful paint", 150.0),
        ("first visit: first live κ", 800.0),
        (
            "… since the last file of captions' weights was asked for",
            300.0,
        ),
        ("second visit: first contentful paint", 150.0),
        ("second visit: first live κ", 400.0),
    ];
    /// Beginnings of the names of the files that hold what captions are read by.
    const OF_CAPTIONS: [&str; 3] = ["text-", "tokens-", "adapter_"];
    /// Pairs of visits, each pair at an origin of its own, which has nothing stored.
    const N_VISITS: usize = 5;
    /// Time in which a browser writes down what it has compiled.
    const COMPILED: Duration = Duration::from_secs(2);
    /// Time in which it clears away a page that was left.
    const CLEARED: Duration = Duration::from_secs(5);
    /// Notes long tasks and shifts of the layout from the first moment on.
    const WATCH: &str = "window.tasks = []; window.shift = 0;
        new PerformanceObserver(list => list.getEntries().forEach(entry => tasks.push(entry.duration))).observe({ type: 'longtask' });
        new PerformanceObserver(list => list.getEntries().forEach(entry => { shift += entry.hadRecentInput ? 0 : entry.value }))
            .observe({ type: 'layout-shift', buffered: true });";
    /// Types letters one by one and passes the milliseconds until κ follows.
    const TYPE: &str = "const done = arguments[arguments.length - 1], row = document.querySelector('tr[data-caption]'),
            field = row.querySelector('textarea'), kappa = row.querySelector('[data-field=kappa]'), waits = [];
        const type = () => {
            if (waits.length === 21) return done(waits);
            const start = performance.now(), watch = new MutationObserver(() => {
                watch.disconnect(); waits.push(performance.now() - start); setTimeout(type, 50);
            });
            watch.observe(kappa, { attributes: true, attributeFilter: ['data-value'] });
            field.value = 'a small red star above a large blue circle'.slice(0, 12 + waits.length);
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        };
        type();";
    /// Puts captions into the first row, one after the other, and passes the milliseconds until the tiles of the wall
    /// follow; the rings around them wait for the model.
    const LIGHT: &str = "const [captions, done] = arguments, field = document.querySelector('tr[data-caption] textarea'),
            wall = document.querySelector('.wall'), waits = [];
        field.focus();
        const type = () => {
            if (waits.length === captions.length) return done(waits);
            const start = performance.now(), watch = new MutationObserver(changes => {
                if (!changes.some(change => change.target.matches('.tile'))) return;
                watch.disconnect(); waits.push(performance.now() - start); setTimeout(type, 50);
            });
            watch.observe(wall, { subtree: true, attributes: true, attributeFilter: ['class'] });
            field.value = captions[waits.length];
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        };
        setTimeout(type, 500);";
    /// Captions that the wall is asked to follow.
    const N_TYPED: usize = 21;
    /// Places of photographs, each in two captions, so that no caption is asked about twice and answered from memory.
    const PLACES: [&str; N_TYPED.div_ceil(2)] = [
        "on a table",
        "on the grass",
        "on a couch",
        "on a beach",
        "on a boat",
        "on a bench",
        "on a street",
        "in a kitchen",
        "in a garden",
        "in the snow",
        "near a window",
    ];
    /// Drops a JPEG of this width, height and hue on the page, and passes the milliseconds until it has numbers.
    const ADD: &str = "const [width, height, hue, done] = arguments, surface = document.createElement('canvas');
        Object.assign(surface, { width, height });
        const context = surface.getContext('2d'), fill = context.createLinearGradient(0, 0, width, height);
        fill.addColorStop(0, `hsl(${hue} 80% 20%)`);
        fill.addColorStop(1, `hsl(${hue + 90} 80% 80%)`);
        context.fillStyle = fill;
        context.fillRect(0, 0, width, height);
        const pictures = () => [...document.querySelectorAll('td.pair[data-value]')].map(cell => cell.dataset.image);
        surface.toBlob(blob => {
            const before = new Set(pictures()), dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([blob], `${hue}.jpg`, { type: 'image/jpeg' }));
            const start = performance.now(), watch = new MutationObserver(() => {
                if (pictures().every(picture => before.has(picture))) return;
                watch.disconnect(); done(performance.now() - start);
            });
            watch.observe(document.querySelector('.matrix'), { subtree: true, childList: true, attributes: true, attributeFilter: ['data-value'] });
            document.querySelector('main').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
        }, 'image/jpeg', 0.9);";
    /// Width and height of a picture of twelve megapixels, as telephones take it.
    const LARGE: [u32; 2] = [4000, 3000];
    /// Large pictures that are added one after the other.
    const N_LARGE: u32 = 3;
    /// Drags a shape for three seconds and passes how often all captions followed.
    const DRAG: &str = "const done = arguments[arguments.length - 1], handle = document.querySelector('.handle'),
            frame = document.querySelector('.stage').getBoundingClientRect(), start = performance.now();
        let n_updates = 0, n_moves = 0;
        const watch = new MutationObserver(() => { n_updates += 1 });
        watch.observe(document.querySelector('.studio-captions'), { subtree: true, attributes: true, attributeFilter: ['data-value'] });
        const send = (name, share) => handle.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: 1,
            clientX: frame.left + frame.width * (0.3 + 0.4 * share), clientY: frame.top + frame.height * (0.3 + 0.3 * share) }));
        handle.setPointerCapture = () => {};
        send('pointerdown', 0);
        const move = () => {
            const seconds = (performance.now() - start) / 1000;
            if (seconds > 3) { send('pointerup', 1); watch.disconnect(); return done([n_updates / seconds, n_moves / seconds]); }
            n_moves += 1; send('pointermove', Math.abs(Math.sin(2 * seconds)));
            requestAnimationFrame(move);
        };
        move();";
    /// How much slower than its targets a busy machine may be.
    const BUSY: f64 = 5.0;

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_page_opens_within_a_multiple_of_its_targets() {
        let browser = Browser::start();
        browser.run_before_pages(WATCH_START);
        let visits: [[f64; START.len()]; N_VISITS] = array::from_fn(|_| two_visits(&browser));
        let medians = array::from_fn(|i| median(visits.iter().map(|visit| visit[i])));
        let place = machine::place(&browser, "");
        write_start(&medians, &visits, &place);
        for ((name, target), millis) in START.iter().zip(medians) {
            assert!(millis < BUSY * target, "{name}: {millis} ms");
        }
    }

    /// The times of a first visit to the release and of a second one.
    fn two_visits(browser: &Browser) -> [f64; START.len()] {
        let server = Server::release("");
        let [paint, answer] = visit(browser, &server);
        let asked = server
            .last_asked(&OF_CAPTIONS)
            .expect("weights of captions");
        let answered = browser.run("return performance.timeOrigin + answeredAt", &[]);
        let since_asked = number(&answered) - asked;
        wait_until_kept(browser);
        thread::sleep(COMPILED);
        leave(browser);
        let [second_paint, second_answer] = visit(browser, &server);
        leave(browser);
        [paint, answer, since_asked, second_paint, second_answer]
    }

    /// Leaves the page, and waits until the browser has cleared away what it left.
    fn leave(browser: &Browser) {
        browser.open("about:blank");
        thread::sleep(CLEARED);
    }

    fn visit(browser: &Browser, server: &Server) -> [f64; 2] {
        open_ready(browser, &server.address(""));
        let painted = "return performance.getEntriesByName('first-contentful-paint')[0].startTime";
        [painted, "return answeredAt"].map(|script| number(&browser.run(script, &[])))
    }

    /// Writes how the page opens as a table beside the screenshots; where `cargo xtask bench start` asks, as results.
    fn write_start(medians: &[f64; START.len()], visits: &[[f64; START.len()]], place: &str) {
        let mut text = format!(
            "# How soon the page opens\n\n`cargo xtask bench start` writes this file. The release from a server on the same \
             machine, as it opens with its model of photographs, CPU engine: milliseconds from asking for the page to its first \
             contentful paint, and to the first κ that an engine has computed rather than a recorded one; {N_VISITS} times, \
             each at an origin that the browser does not know, and there once more.\n\n\
             | what (median) | ms | reach | each time |\n|---|---|---|---|\n"
        );
        let mut rows = Vec::new();
        for (i, (name, target)) in START.iter().enumerate() {
            let runs: Vec<f64> = visits.iter().map(|visit| visit[i].round()).collect();
            let all = runs.iter().map(f64::to_string).collect::<Vec<_>>();
            let millis = medians[i].round();
            let all = all.join(", ");
            writeln!(text, "| {name} | {millis} | {target} | {all} |").expect("a string grows");
            rows.push(
                json!({ "name": name, "millis": millis, "reach": target, "each_millis": runs }),
            );
        }
        write!(text, "\n{place}").expect("a string grows");
        keep("start.md", &text);
        if env::var_os("KAPPASCOPE_BENCH_START").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
            let json = serde_json::to_string_pretty(&rows).expect("plain numbers");
            fs::write(folder.join("start.json"), json + "\n").expect("a file of results");
            fs::write(folder.join("start.md"), text).expect("a report");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_page_follows_typing_and_dragging() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(WATCH);
        open_ready(&browser, &server.address("?backend=cpu"));
        let shift = number(&browser.run("return shift", &[]));
        browser.run("tasks.length = 0", &[]);
        let waits = browser.run_async(TYPE);
        let typed = median(waits.as_array().into_iter().flatten().map(number));
        let typing = long_tasks(&browser);
        let caption = |i: usize| ["something red", "a large blue circle"][i % 2].to_owned();
        let lit = lights(&browser, caption);

        browser.run("document.querySelector('[data-to=studio]').click()", &[]);
        wait_until_ready(&browser, ANSWERING);
        browser.devtools("Performance.enable", json!({ "timeDomain": "threadTicks" }));
        browser.run("tasks.length = 0", &[]);
        let before = processor_seconds(&browser);
        let rates = browser.run_async(DRAG);
        let [updates, moves] = [0, 1].map(|i| number(&rates[i]));
        let millis = 1e3 * (processor_seconds(&browser) - before) / (3.0 * moves);
        let dragging = long_tasks(&browser);
        let measures = format!(
            "typing to κ: {typed:.0} ms at the median, target 100; to the wall: {lit:.1} ms, target 100; tasks over 50 ms by the clock: {typing}, target none\n\
             dragging: {updates:.0} updates and {moves:.0} moves a second, target 20; {millis:.1} ms of the page's thread \
             for each move; tasks over 50 ms by the clock: {dragging}, target none\n\
             layout shift: {shift:.4}, target 0\n"
        );
        keep_measured("targets.txt", &measures, &browser);

        assert!(typed < BUSY * 100.0, "κ follows a letter after {typed} ms");
        // No engine takes part.
        assert!(lit <= 100.0, "the wall follows a caption after {lit} ms");
        assert!(
            updates > 20.0 / BUSY,
            "captions follow {updates} times a second"
        );
        assert!(millis < 50.0, "each move takes {millis} ms");
        assert!(shift < 0.001, "the page shifts by {shift}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn photographs_follow_typing_and_a_large_one_is_read_soon() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?world=photos&backend=cpu"));
        let is_lit = "return document.querySelector('.tile.lit') !== null";
        browser.wait_for("a lit wall", ANSWERING, is_lit, &[]);
        let caption = |i: usize| format!("{} {}", ["a dog", "a pizza"][i % 2], PLACES[i / 2]);
        let lit = lights(&browser, caption);
        // The image encoder comes with the first picture.
        add_picture(&browser, &dist().join("gallery-photos/brown-bear.jpg"));
        let read = median((0..N_LARGE).map(|i| {
            wait_until_ready(&browser, ANSWERING);
            let [width, height] = LARGE;
            let picture = [width, height, 60 * i].map(Value::from);
            number(&browser.run_async_with(ADD, &picture))
        }));
        let measures = format!(
            "photographs, typing to the wall: {lit:.0} ms at the median, target 100\n\
             photographs, a JPEG of 12 megapixels to its numbers: {read:.0} ms at the median, target 700\n"
        );
        keep_measured("targets-photographs.txt", &measures, &browser);

        // The wall waits for the model.
        assert!(
            lit < BUSY * 100.0,
            "the wall follows a caption after {lit} ms"
        );
        assert!(read < BUSY * 700.0, "a picture is read after {read} ms");
    }

    /// Milliseconds at the median until the wall follows a caption; `caption` makes them, from the first, 0, on.
    fn lights(browser: &Browser, caption: impl Fn(usize) -> String) -> f64 {
        let captions: Vec<String> = (0..N_TYPED).map(caption).collect();
        let waits = browser.run_async_with(LIGHT, &[json!(captions)]);
        median(waits.as_array().into_iter().flatten().map(number))
    }

    /// Keeps what was measured beside the screenshots.
    fn keep(name: &str, measures: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artefacts");
        fs::create_dir_all(&folder).expect("artefacts/ can be made");
        fs::write(folder.join(name), measures).expect("a file can be written");
    }

    /// Keeps it among the results too, with the machine, where `cargo xtask bench start` asks for that.
    fn keep_measured(name: &str, measures: &str, browser: &Browser) {
        keep(name, measures);
        if env::var_os("KAPPASCOPE_BENCH_START").is_some() {
            let text = format!("{measures}{}", machine::place(browser, ""));
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
            fs::write(folder.join(name), text).expect("a file of results");
        }
    }

    fn long_tasks(browser: &Browser) -> Value {
        browser.run("return tasks.map(Math.round)", &[])
    }

    /// Processor time that the page's thread has taken.
    fn processor_seconds(browser: &Browser) -> f64 {
        let metrics = browser.devtools("Performance.getMetrics", json!({}));
        let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
        let tasks = metrics
            .iter()
            .find(|metric| metric["name"] == "TaskDuration");
        number(&tasks.expect("the browser counts tasks")["value"])
    }

    fn median(values: impl Iterator<Item = f64>) -> f64 {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    fn number(value: &Value) -> f64 {
        value
            .as_f64()
            .unwrap_or_else(|| panic!("not a number: {value}"))
    }
}
