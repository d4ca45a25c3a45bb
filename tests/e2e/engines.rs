//! Engines that lose their GPU, die and never answer, in the built page: what the visitor sees, and that nothing innocent
//! is lost.
//!
//! Workers are wrapped before the page runs: `faults` says what becomes of a request, by what it asks and holds, and
//! after what an engine dies that it says.

/// `cargo test` without a built page passes these by.
mod built_page {
    use std::collections::HashMap;
    use std::fs;
    use std::time::Duration;

    use kappascope::inference::CAPTIONS_PER_PASS;
    use serde_json::{Value, json};

    use crate::harness::tiny_clip::{hub_files, picture};
    use crate::harness::{
        ANSWERING, Browser, Server, add_picture, dist, engine, new_picture, open_ready, pictures,
        reading, text, type_first_caption, wait_for_caption, wait_until_it_says, wait_until_ready,
    };

    const LIMIT: Duration = Duration::from_secs(120);
    /// The longest that a page without its program may say nothing.
    const SILENCE: Duration = Duration::from_secs(20);
    /// Passes of the model for one request, enough for half of them to end well before the last.
    const N_PASSES: usize = 8;
    /// Captions that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";
    const KILLER: &str = "a striped thing that nobody survives";

    /// `faults[kind](content, n)` says what becomes of the n-th request of a kind: `die`, `hang`, `refuse`, `destroy` or
    /// nothing; `faults.heard(kind)`, whether an engine dies after it has said something of a kind. `heard` is what
    /// engines said, and when.
    const WRAPPED: &str = "
        window.engines = []; window.sent = []; window.heard = []; window.faults = {};
        const Real = Worker, kindOf = message => typeof message === 'string' ? message : Object.keys(message)[0];
        window.Worker = class extends Real {
            constructor(...all) {
                super(...all);
                engines.push(this);
                this.addEventListener('message', ({ data }) => {
                    const kind = kindOf(data);
                    heard.push([kind, performance.now()]);
                    if (window.faults.heard?.(kind) === 'die') this.die();
                });
            }
            die() {
                this.terminate();
                const error = new ErrorEvent('error', { message: 'killed by the test' });
                setTimeout(() => this.dispatchEvent(error));
            }
            postMessage(message, ...rest) {
                const kind = kindOf(message), content = message[kind];
                sent.push([kind, content]);
                const fault = window.faults[kind]?.(content, sent.filter(([other]) => other === kind).length);
                if (fault === 'refuse') throw new DOMException('it is too large', 'DataCloneError');
                if (fault === 'destroy') super.postMessage('destroy-device');
                if (fault === 'die') this.die();
                if (fault !== 'hang' && fault !== 'die') super.postMessage(message, ...rest);
            }
        };";
    /// Time that passes faster, for those who wait.
    const HURRIED: &str = "const clock = performance.now.bind(performance);
        performance.now = () => 5 * clock();";
    /// In the worker: the device is destroyed as soon as it is there and the test wants it.
    const DESTROYABLE: &str = "
        let device, isDoomed = false;
        const destroy = () => { if (isDoomed) device?.destroy(); };
        const request = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = async function (...all) {
            device = await request.apply(this, all);
            destroy();
            return device;
        };
        // What listens already is put behind the listener here.
        const before = self.onmessage;
        self.onmessage = null;
        self.addEventListener('message', event => {
            if (event.data !== 'destroy-device') return;
            event.stopImmediatePropagation();
            isDoomed = true;
            destroy();
        });
        self.onmessage = before;
        // It may have come before this script.
        const early = self.earlyMessages ?? [], place = early.indexOf('destroy-device');
        if (place >= 0) {
            early.splice(place, 1);
            isDoomed = true;
        }
        export { default } from './engine_gpu_whole.js';";

    /// A GPU for the page, which looks for one; engines have the real one, if any.
    const FAKED_GPU: &str =
        "Object.defineProperty(Navigator.prototype, 'gpu', { configurable: true,
        get: () => ({ requestAdapter: async () => ({ info: { architecture: 'imagined' } }) }) });";
    /// A browser without WebGPU.
    const NO_WEBGPU: &str =
        "Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });";
    /// A tab whose storage and name were copied by “Duplicate tab”, as browsers tell that.
    const DUPLICATED: &str = "sessionStorage['kappascope.tab'] = 'other';
        Object.defineProperty(PerformanceNavigationTiming.prototype, 'type', { get: () => 'back_forward' });";

    fn wrapped(faults: &str) -> Browser {
        let browser = Browser::start();
        browser.run_before_pages(&format!("{WRAPPED}{faults}"));
        browser
    }

    /// The page with a GPU engine whose device can be destroyed.
    fn destroyable() -> Server {
        let script = "engine_gpu.js";
        let whole = fs::read(dist().join(script)).expect("a GPU engine");
        Server::replacing(HashMap::from([
            (format!("/{script}"), DESTROYABLE.as_bytes().to_vec()),
            ("/engine_gpu_whole.js".to_owned(), whole),
        ]))
    }

    /// How many requests of a kind hold these words.
    fn n_sent(browser: &Browser, kind: &str, words: &str) -> u64 {
        let count = "return sent.filter(([kind, content]) => kind === arguments[0] && JSON.stringify(content).includes(arguments[1])).length";
        let n_sent = browser.run(count, &[json!(kind), json!(words)]);
        n_sent.as_u64().expect("a number of requests")
    }

    /// How often engines said something of a kind.
    fn n_heard(browser: &Browser, kind: &str) -> u64 {
        let count = "return heard.filter(([other]) => other === arguments[0]).length";
        let n_heard = browser.run(count, &[json!(kind)]);
        n_heard.as_u64().expect("a number of messages")
    }

    /// Has the page begin with the tiny model of the hub.
    fn remembered_hub(server: &Server) -> String {
        let hub = server.address("hub/test/tiny@abc");
        format!(
            "if (!localStorage['kappascope.clip-source']) {{
                localStorage['kappascope.clip-source'] = 3;
                localStorage['kappascope.hub'] = '{hub}';
            }}"
        )
    }

    /// Leaves the page a death of the built-in model's load, and such a load that a tab was last seen with so long ago.
    fn left_behind(age_millis: u32) -> String {
        format!(
            "localStorage['kappascope.strikes|cpu|built-in'] = 1;
             localStorage['kappascope.loading|other|cpu|built-in'] = Date.now() - {age_millis};"
        )
    }

    /// The page has had its engine load the built-in model so often, and then rests.
    fn assert_loads(browser: &Browser, n_loads: u64, after: &str) {
        let rests = "return ['ready', 'stopped'].includes(document.documentElement.dataset.status)";
        browser.wait_for("a page at rest", LIMIT, rests, &[]);
        assert_eq!(n_sent(browser, "Load", ""), n_loads, "loads after {after}");
    }

    /// The page says soon that its own program failed, and offers to reload it.
    fn assert_failure(browser: &Browser, words: &str) {
        let is_told = "return document.getElementById('failure').checkVisibility()";
        browser.wait_for("a word about the program", SILENCE, is_told, &[]);
        let says = text(browser);
        assert!(says.contains(words), "it says what is wrong: {says}");
        wait_for(browser, "[data-act=reload]");
    }

    fn wait_for(browser: &Browser, selector: &str) {
        let is_there = "return document.querySelector(arguments[0])?.checkVisibility() ?? false";
        browser.wait_for(selector, LIMIT, is_there, &[json!(selector)]);
    }

    fn fill_first_caption(browser: &Browser, caption: &str) {
        browser.fill("[data-caption] :is(input, textarea)", caption);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_gpu_that_is_lost_is_replaced_by_the_cpu_and_nothing_is_removed() {
        let moments = [
            ("while idle", ""),
            ("while scoring", "Score"),
            ("while a picture is read", "AddImage"),
        ];
        for (when, kind) in moments {
            let (server, browser) = (destroyable(), wrapped(""));
            open_ready(&browser, &server.address("?backend=gpu"));
            assert_eq!(engine(&browser), "gpu", "{when}");
            let before = pictures(&browser);
            if kind.is_empty() {
                browser.run("engines.at(-1).postMessage('destroy-device')", &[]);
            } else {
                let doom = "let isDone = false; faults[arguments[0]] = () => isDone ? '' : (isDone = true, 'destroy')";
                browser.run(doom, &[json!(kind)]);
            }
            match kind {
                "Score" => fill_first_caption(&browser, CAPTION),
                "AddImage" => browser.choose_file(".add-picture input", &picture()),
                _ => {}
            }
            wait_until_it_says(&browser, "was started again");
            wait_until_ready(&browser, ANSWERING);
            assert_eq!(engine(&browser), "cpu", "{when}");
            if kind == "Score" {
                wait_for_caption(&browser, CAPTION);
            }
            let n_new = usize::from(kind == "AddImage");
            assert_eq!(pictures(&browser).len(), before.len() + n_new, "{when}");
            type_first_caption(&browser, "a small green cross");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_gpu_that_is_lost_while_loading_leaves_the_model_to_the_cpu() {
        let (server, browser) = (
            destroyable(),
            wrapped("faults.Load = (_, n) => n === 1 ? 'destroy' : ''"),
        );
        open_ready(&browser, &server.address("?backend=gpu"));
        assert_eq!(engine(&browser), "cpu", "another engine");
        // The short line does not say why; the menu of models does.
        browser.click("[data-act=models]");
        wait_until_it_says(
            &browser,
            "the GPU engine stopped while it loaded this model",
        );
        type_first_caption(&browser, CAPTION);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_caption_that_kills_is_left_out_alone_and_the_next_is_answered() {
        for fault in ["die", "refuse"] {
            let faults = format!(
                "faults.Score = score => JSON.stringify(score).includes('nobody survives') ? '{fault}' : ''"
            );
            let (server, browser) = (Server::start(), wrapped(&faults));
            open_ready(&browser, &server.address("?backend=cpu"));
            let n_captions = reading(&browser).captions.len();
            fill_first_caption(&browser, KILLER);
            wait_until_it_says(&browser, &format!("“{KILLER}” is left out"));
            wait_until_ready(&browser, ANSWERING);
            assert_eq!(
                n_sent(&browser, "Score", "nobody survives"),
                2,
                "{fault}: sent twice"
            );
            let of_one = n_captions / captions(&browser).len();
            assert_eq!(
                reading(&browser).captions.len(),
                n_captions - of_one,
                "{fault}: all others"
            );
            type_first_caption(&browser, CAPTION);
            assert_eq!(
                reading(&browser).captions.len(),
                n_captions,
                "{fault}: the next one, too"
            );
        }
    }

    fn captions(browser: &Browser) -> Vec<Value> {
        let rows = "return [...document.querySelectorAll('tr[data-caption]')].map(row => row.dataset.caption)";
        let rows = browser.run(rows, &[]);
        rows.as_array().cloned().unwrap_or_default()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_remembered_model_that_kills_is_tried_twice_and_then_on_demand() {
        let server = Server::replacing(hub_files());
        let faults = "faults.LoadHub = () => localStorage.isMended ? '' : 'die';";
        let browser = wrapped(&format!("{faults}{}", remembered_hub(&server)));
        browser.open(&server.address("?backend=cpu#v=1&m=clip&c=a%20star"));
        wait_until_it_says(&browser, "stopped the engine twice");
        wait_until_ready(&browser, LIMIT);
        assert_eq!(n_sent(&browser, "LoadHub", ""), 2, "at the first visit");
        browser.reload();
        wait_until_it_says(&browser, "stopped its engine twice before");
        wait_until_ready(&browser, LIMIT);
        assert_eq!(n_sent(&browser, "LoadHub", ""), 0, "at the next visit");
        browser.run("localStorage.isMended = 1", &[]);
        wait_for(&browser, "[data-act=go-on]");
        browser.click("[data-act=go-on]");
        wait_for(&browser, "[data-model=clip][aria-current='true']");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_built_in_model_that_kills_waits_for_another_try() {
        let faults = "faults.Load = () => localStorage.isMended ? '' : 'die'";
        let (server, browser) = (Server::start(), wrapped(faults));
        browser.open(&server.address("?backend=cpu"));
        wait_until_it_says(&browser, "no engine runs");
        assert_eq!(n_sent(&browser, "Load", ""), 2, "at the first visit");
        browser.reload();
        wait_for(&browser, "[data-act=retry-engine]");
        assert_eq!(n_sent(&browser, "Load", ""), 0, "at the next visit");
        browser.run("localStorage.isMended = 1", &[]);
        browser.click("[data-act=retry-engine]");
        wait_until_ready(&browser, LIMIT);
        type_first_caption(&browser, CAPTION);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_image_encoder_that_kills_is_loaded_twice_and_then_on_demand() {
        let server = Server::replacing(hub_files());
        let faults = "faults.heard = kind => kind === 'ImageEncoderLoads' && !localStorage.isMended ? 'die' : '';";
        let browser = wrapped(&format!("{faults}{}", remembered_hub(&server)));
        open_ready(
            &browser,
            &server.address("?backend=cpu#v=1&m=clip&c=a%20star"),
        );
        // Nothing of the hub is kept here, and nothing of it is fetched without a click: the panel opens and says so.
        wait_for(&browser, "[data-act=go-on]");
        // A notice may lie over it.
        browser.run("document.querySelector('[data-act=go-on]').click()", &[]);
        wait_for(&browser, "[data-model=clip][aria-current='true']");
        browser.choose_file(".add-picture input", &picture());
        wait_until_it_says(
            &browser,
            "loading its image encoder stopped the engine twice",
        );
        wait_until_ready(&browser, LIMIT);
        assert_eq!(n_heard(&browser, "ImageEncoderLoads"), 2, "two strikes");
        browser.reload();
        wait_until_it_says(&browser, "stopped its engine twice before");
        wait_until_ready(&browser, LIMIT);
        assert_eq!(n_sent(&browser, "LoadHub", ""), 0, "at the next visit");
        browser.run("localStorage.isMended = 1", &[]);
        wait_for(&browser, "[data-act=go-on]");
        // A notice may lie over it.
        browser.run("document.querySelector('[data-act=go-on]').click()", &[]);
        wait_for(&browser, "[data-model=clip][aria-current='true']");
        browser.choose_file(".add-picture input", &picture());
        wait_for(&browser, "td.pair[data-value]");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_gpu_that_kills_its_engine_is_tried_at_two_visits_and_the_cpu_goes_on() {
        let faults = "faults.Load = (_, n) => n === 1 ? '' : 'die';";
        let (server, browser) = (Server::start(), wrapped(&format!("{FAKED_GPU}{faults}")));
        let visits = [
            (2, "the GPU engine stopped: killed by the test"),
            (2, "the GPU engine stopped: killed by the test"),
            (1, "the GPU engine stopped twice while it loaded this model"),
        ];
        for (visit, (n_loads, words)) in (1..).zip(visits) {
            open_ready(&browser, &server.address(&format!("?visit={visit}")));
            // The short line does not say why; the menu of models does.
            browser.click("[data-act=models]");
            wait_until_it_says(&browser, words);
            assert_eq!(n_sent(&browser, "Load", ""), n_loads, "at visit {visit}");
            assert_eq!(engine(&browser), "cpu", "at visit {visit}");
            type_first_caption(&browser, CAPTION);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_of_another_tab_counts_once_that_tab_is_gone() {
        // The page takes a tab for gone that was not seen for two and a half minutes.
        let tabs = [
            (1_000, 1, "a tab that loads"),
            (200_000, 0, "one that is gone"),
        ];
        for (age_millis, n_loads, whose) in tabs {
            let (server, browser) = (Server::start(), wrapped(&left_behind(age_millis)));
            browser.open(&server.address("?backend=cpu"));
            assert_loads(&browser, n_loads, whose);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_of_the_tab_s_own_counts_after_a_reload_and_not_in_a_copy_of_the_tab() {
        let left = left_behind(1_000);
        let (server, browser) = (Server::start(), wrapped(&format!("{left}{DUPLICATED}")));
        browser.open(&server.address("?backend=cpu"));
        assert_loads(&browser, 1, "“Duplicate tab”");
        let own = "sessionStorage['kappascope.tab'] = 'other';";
        let (server, browser) = (Server::start(), wrapped(&format!("{left}{own}")));
        browser.open(&server.address("?backend=cpu"));
        assert_loads(&browser, 1, "an address that was opened");
        browser.reload();
        assert_loads(&browser, 0, "a reload");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_adapter_file_that_kills_is_dropped_by_name() {
        let (server, browser) = (
            Server::replacing(hub_files()),
            wrapped("faults.Adapt = () => 'die'"),
        );
        let hub = server.address("hub/test/tiny@abc");
        open_ready(
            &browser,
            &server.address(&format!("?backend=cpu&hub={hub}")),
        );
        browser.click("[data-act=models]");
        browser.click("[data-act=query-size]");
        wait_for(&browser, "[data-act=hub]");
        browser.click("[data-act=hub]");
        wait_for(&browser, "[data-model=clip][aria-current='true']");
        let folder = tempfile::tempdir().expect("a folder for the test");
        let file = folder.path().join("dreadful.safetensors");
        fs::write(&file, b"nothing").expect("a file for the test");
        browser.choose_file("[data-act=adapter]", &file);
        wait_until_it_says(&browser, "“dreadful.safetensors” cannot be used");
        wait_until_ready(&browser, LIMIT);
        assert_eq!(n_sent(&browser, "Adapt", ""), 2, "two strikes");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_engine_that_never_answers_may_be_stopped_and_is_replaced() {
        let faults = "faults.Score = score => JSON.stringify(score).includes('nobody survives') ? 'hang' : ''";
        for is_stopped_by_hand in [true, false] {
            let (server, browser) = (Server::start(), wrapped(&format!("{HURRIED}{faults}")));
            open_ready(&browser, &server.address("?backend=cpu"));
            fill_first_caption(&browser, KILLER);
            if is_stopped_by_hand {
                for _ in 0..2 {
                    wait_for(&browser, "[data-act=stop-engine]");
                    browser.click("[data-act=stop-engine]");
                    let is_gone = "return !document.querySelector('[data-act=stop-engine]').checkVisibility()";
                    browser.wait_for("the end of the wait", LIMIT, is_gone, &[]);
                }
            }
            wait_until_it_says(&browser, &format!("“{KILLER}” is left out"));
            wait_until_ready(&browser, ANSWERING);
            type_first_caption(&browser, CAPTION);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_engine_says_after_each_pass_that_it_is_alive() {
        let (server, browser) = (Server::start(), wrapped(""));
        open_ready(&browser, &server.address("?backend=cpu"));
        let captions = 0..N_PASSES * CAPTIONS_PER_PASS;
        let captions: Vec<String> = captions.map(|i| format!("{CAPTION} {i}")).collect();
        let score = "heard.length = 0;
            engines.at(-1).postMessage({ Score: { id: 1e6, captions: arguments[0], images: [], relates: false } });
            return performance.now()";
        let start = browser.run(score, &[json!(captions)]);
        let is_answered = "return heard.some(([kind]) => kind === 'Scored')";
        browser.wait_for("an answer", LIMIT, is_answered, &[]);
        let times = "return heard.filter(([kind]) => kind === arguments[0]).map(([_, millis]) => millis - arguments[1])";
        let times = |kind: &str| -> Vec<f64> {
            let times = browser.run(times, &[json!(kind), start.clone()]);
            let times = times.as_array().expect("times").iter();
            times.filter_map(Value::as_f64).collect()
        };
        let (alive, answered) = (times("Heartbeat"), times("Scored"));
        assert_eq!(alive.len(), N_PASSES, "one for each pass: {alive:?}");
        // They come while the engine computes, not with the answer.
        assert!(
            alive[0] < answered[0] / 2.0,
            "first at {} ms, answered at {} ms",
            alive[0],
            answered[0]
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_that_never_ends_may_be_stopped() {
        let faults = "faults.Load = (_, n) => n === 1 ? 'hang' : ''";
        let (server, browser) = (Server::start(), wrapped(&format!("{HURRIED}{faults}")));
        browser.open(&server.address("?backend=cpu"));
        wait_for(&browser, "[data-act=stop-engine]");
        browser.click("[data-act=stop-engine]");
        wait_for(&browser, "[data-act=retry-engine]");
        browser.click("[data-act=retry-engine]");
        wait_until_ready(&browser, LIMIT);
        type_first_caption(&browser, CAPTION);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn two_deaths_near_each_other_take_no_picture_off() {
        let (server, browser) = (Server::start(), wrapped(""));
        open_ready(&browser, &server.address("?backend=cpu"));
        let before = pictures(&browser).len();
        // The first engine dies of the visitor's picture, the second one of another.
        browser.run(
            "let n = 0; faults.AddImage = ({ image }) => n === 0 && image.startsWith('own') || n === 1 ? (n += 1, 'die') : ''",
            &[],
        );
        new_picture(&browser, || {
            browser.choose_file(".add-picture input", &picture());
        });
        assert_eq!(pictures(&browser).len(), before + 1, "all are read");
        let n_engines = browser.run("return engines.length", &[]);
        assert_eq!(n_engines, json!(3), "two died");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_picture_that_kills_or_cannot_be_sent_is_taken_off_alone() {
        for fault in ["die", "refuse"] {
            let (server, browser) = (Server::start(), wrapped(""));
            open_ready(&browser, &server.address("?backend=cpu"));
            let before = pictures(&browser);
            browser.run(
                "const [fault] = arguments; faults.AddImage = ({ image }) => image.startsWith('own') ? fault : ''",
                &[json!(fault)],
            );
            browser.choose_file(".add-picture input", &picture());
            wait_until_it_says(&browser, "“lone-red-star.png” was not added");
            wait_until_ready(&browser, ANSWERING);
            assert_eq!(pictures(&browser), before, "{fault}: all others stay");
            let n_sent = n_sent(&browser, "AddImage", "own");
            assert_eq!(n_sent, 2, "{fault}: sent twice");
            browser.run("faults = {}", &[]);
            add_picture(&browser, &picture());
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_picture_that_is_never_read_is_taken_off_and_captions_are_answered() {
        let faults = "faults.AddImage = ({ image }) => image.startsWith('own') ? 'hang' : ''";
        let (server, browser) = (Server::start(), wrapped(&format!("{HURRIED}{faults}")));
        open_ready(&browser, &server.address("?backend=cpu"));
        let before = pictures(&browser);
        browser.choose_file(".add-picture input", &picture());
        wait_until_it_says(&browser, "“lone-red-star.png” was not added");
        wait_until_ready(&browser, ANSWERING);
        assert_eq!(pictures(&browser), before, "all others stay");
        type_first_caption(&browser, CAPTION);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_without_its_program_says_so_within_twenty_seconds() {
        let (server, browser) = (Server::start(), Browser::start());
        server.refuse("/app");
        browser.open(&server.address("?"));
        assert_failure(&browser, "could not be loaded");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_whose_program_fails_at_its_start_says_so_within_twenty_seconds() {
        let failures = [
            // The program panics over the first,
            ("createElement", "stopped because of an error of its own"),
            // and the second ends it without a word.
            ("createTextNode", "could not be loaded or started"),
        ];
        for (function, words) in failures {
            let (server, browser) = (Server::start(), Browser::start());
            browser.run_before_pages(&format!(
                "if (!sessionStorage.isMended) Document.prototype.{function} = () => {{ throw new Error('broken by the test') }};"
            ));
            browser.open(&server.address("?backend=cpu"));
            assert_failure(&browser, words);
            browser.run("sessionStorage.isMended = 1", &[]);
            browser.click("[data-act=reload]");
            wait_until_ready(&browser, LIMIT);
            let is_told = browser.run(
                "return document.getElementById('failure').checkVisibility()",
                &[],
            );
            assert_eq!(is_told, json!(false), "{function}: the page works again");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_whose_program_crashes_says_so() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        browser.run(
            "Document.prototype.createElement = () => { throw new Error('broken by the test') };
             Node.prototype.cloneNode = () => { throw new Error('broken by the test') };",
            &[],
        );
        browser.run("location.hash = 'v=1&view=ladder'", &[]);
        wait_until_it_says(&browser, "stopped because of an error of its own");
        browser.click("[data-act=reload]");
        wait_until_ready(&browser, LIMIT);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn without_webgpu_the_cpu_answers_and_the_menu_of_models_says_why() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(NO_WEBGPU);
        open_ready(&browser, &server.address("?"));
        assert_eq!(engine(&browser), "cpu", "the engine that runs everywhere");
        browser.click("[data-act=models]");
        wait_until_it_says(&browser, "this browser offers no WebGPU");
        type_first_caption(&browser, CAPTION);
        assert_eq!(engine(&browser), "cpu", "and it stays");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn without_simd_the_page_shows_what_was_recorded_and_why() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages("WebAssembly.validate = () => false");
        browser.open(&server.address("?"));
        wait_until_it_says(&browser, "lacks WebAssembly SIMD");
        assert!(
            text(&browser).contains("Recorded answers"),
            "and what is shown"
        );
        assert!(!reading(&browser).captions.is_empty(), "numbers are");
    }
}
