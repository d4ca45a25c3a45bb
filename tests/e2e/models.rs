//! Another model through the page's own controls: where its weights come from, what can go wrong on the way, and κ.

mod built_page {
    use std::collections::HashMap;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use kappascope::answer::caption_reading;
    use kappascope::device::cpu;
    use kappascope::inference::Session;
    use kappascope::model::adapter::{AdapterConfig, MeanDirection, PerFamily};
    use kappascope::train::export::bundle::{self, records};
    use kappascope::weights::adapter_file::{self, About, AdapterFile};
    use kappascope::weights::manifest::Provenance;
    use kappascope::weights::shard::Precision as Dtype;
    use serde_json::{Value, json};

    use crate::harness::tiny_clip::{
        cosines, files_beside, hub_files, import_into, import_random, picture, session, write_files,
    };
    use crate::harness::{
        Browser, Server, WINDOWS, assert_sound, axe, manifest, open_ready, text,
        wait_until_it_says, wait_until_kept, wait_until_ready, weights,
    };

    /// The same f32 arithmetic, compiled for another machine.
    const TOLERANCE: f64 = 1e-4;
    /// The adapters' weights are stored in two bytes.
    const ADAPTER_TOLERANCE: f64 = 2e-2;
    const LIMIT: Duration = Duration::from_secs(120);
    /// A small part of the text encoder ten times a second, so that a load takes seconds.
    const PIECE_BYTES: usize = 400;
    const WEIGHTS: &str = "model.safetensors";

    fn open(server: &Server, browser: &Browser, id: &str) {
        let hub = server.address(&format!("hub/test/{id}@abc"));
        open_ready(browser, &server.address(&format!("?backend=cpu&hub={hub}")));
        browser.click("[data-act=models]");
    }

    fn open_tiny(server: &Server, browser: &Browser) {
        open(server, browser, "tiny");
    }

    fn download(browser: &Browser) {
        browser.click("[data-act=query-size]");
        wait_for(browser, "[data-act=hub]");
        browser.click("[data-act=hub]");
    }

    fn wait_for(browser: &Browser, selector: &str) {
        let is_there = "return document.querySelector(arguments[0])?.checkVisibility() ?? false";
        browser.wait_for(selector, LIMIT, is_there, &[json!(selector)]);
    }

    fn wait_until_at_work(browser: &Browser, model: &str) {
        wait_for(
            browser,
            &format!("[data-model={model}][aria-current='true']"),
        );
        wait_until_ready(browser, LIMIT);
    }

    fn words(browser: &Browser, selector: &str) -> String {
        let words = "return document.querySelector(arguments[0])?.textContent ?? ''";
        let words = browser.run(words, &[json!(selector)]);
        words.as_str().unwrap_or_default().to_owned()
    }

    fn loaded_bytes(browser: &Browser) -> f64 {
        let value = "return document.querySelector('.load progress')?.value ?? 0";
        browser.run(value, &[]).as_f64().expect("a number of bytes")
    }

    fn captions(browser: &Browser) -> Vec<String> {
        let rows = "return [...document.querySelectorAll('tr[data-caption]')].map(row => row.dataset.caption)";
        let rows = browser.run(rows, &[]);
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| row.as_str().expect("words").to_owned())
            .collect()
    }

    fn add_picture(browser: &Browser) {
        browser.choose_file(".add-picture input", &picture());
        wait_for(browser, "td.pair[data-value]");
        wait_until_ready(browser, LIMIT);
    }

    /// The cosines on the page against those of the native program.
    fn compare_cosines(browser: &Browser, session: &Session, tolerance: f64) {
        let cells = "return [...document.querySelectorAll('[data-field=cosine][data-value]')].map(cell => Number(cell.dataset.value))";
        let found = browser.run(cells, &[]);
        let found: Vec<f64> = found
            .as_array()
            .expect("cells")
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        let captions = captions(browser);
        assert_eq!(found.len(), captions.len(), "one for each caption");
        for (found, expected) in found.iter().zip(cosines(session, &captions)) {
            assert!(
                (found - expected).abs() <= tolerance,
                "{found}, natively {expected}"
            );
        }
    }

    /// Adapters of random weights for this encoder.
    fn adapters(session: &Session, captions: &[String]) -> AdapterFile {
        let device = cpu();
        device.seed(5);
        let sizes = AdapterConfig {
            embed_dim: session.manifest().encoder.embed_dim(),
            hidden_width: 16,
            hidden_layers: 1,
            mean_direction: MeanDirection::Learned,
        };
        let random = || records(&sizes.init(&device)).expect("values");
        let mut file = AdapterFile {
            about: About {
                format: adapter_file::FORMAT,
                title: "Tiny, adapted".to_owned(),
                adapters: PerFamily {
                    vmf: sizes.clone(),
                    power_spherical: sizes.clone(),
                },
                reference_uncertainty: PerFamily {
                    vmf: vec![0.01, 0.1, 1.0, 10.0],
                    power_spherical: vec![0.01, 0.1, 1.0, 10.0],
                },
                captions: captions.to_vec(),
                concentration: PerFamily::default(),
                provenance: Provenance::default(),
            },
            records: PerFamily {
                vmf: random(),
                power_spherical: random(),
            },
        };
        file.about.concentration = concentration(session, file.clone(), captions);
        file
    }

    fn concentration(
        session: &Session,
        file: AdapterFile,
        captions: &[String],
    ) -> PerFamily<Vec<f64>> {
        let adapted = pollster::block_on(session.with_adapters(file)).expect("they fit");
        let texts = pollster::block_on(adapted.encode_text(captions)).expect("it runs");
        let readings = texts.iter().map(|text| {
            caption_reading(String::new(), text)
                .expect("a κ")
                .concentration
        });
        let (vmf, power_spherical) = readings
            .map(|kappa| (kappa.vmf, kappa.power_spherical))
            .unzip();
        PerFamily {
            vmf,
            power_spherical,
        }
    }

    fn give_adapters(browser: &Browser, folder: &Path, file: &AdapterFile) {
        let path = folder.join(adapter_file::FILE);
        fs::write(&path, file.write().expect("a file")).expect("a file for the test");
        browser.choose_file("[data-act=adapter]", &path);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn clip_compares_photographs_by_cosine_and_has_a_kappa_once_it_is_given_adapters() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let session = session(folder.path(), Dtype::F16);
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        assert!(server.asked(WEIGHTS).is_empty(), "nothing without a click");
        download(&browser);
        wait_until_at_work(&browser, "clip");
        let text_end = last_asked(&server);
        let file_bytes =
            hub_files()[&format!("{}/{WEIGHTS}", crate::harness::tiny_clip::HUB)].len();
        assert!(text_end < file_bytes, "text first: {text_end} bytes");
        assert_eq!(words(&browser, "[data-field=kappa]"), "no adapter", "κ");
        assert!(text(&browser).contains("train adapt"), "how to have one");
        add_picture(&browser);
        assert_eq!(last_asked(&server), file_bytes, "and the rest");
        compare_cosines(&browser, &session, TOLERANCE);

        let captions = captions(&browser);
        let file = adapters(&session, &captions);
        let mut foreign = file.clone();
        foreign.about.concentration.vmf[0] *= 2.0;
        give_adapters(&browser, folder.path(), &foreign);
        wait_until_it_says(&browser, "belong to another encoder");
        give_adapters(&browser, folder.path(), &file);
        wait_for(&browser, "[data-field=kappa][data-value]");
        wait_until_ready(&browser, LIMIT);
        let expected = concentration(&session, file, &captions).vmf;
        compare_kappas(&browser, &expected);
        let kept = "return location.hash.includes('m=clip') && location.hash.includes('own=1')";
        browser.wait_for("the model in the address", LIMIT, kept, &[]);
        browser.reload();
        wait_for(&browser, "[data-field=kappa][data-value]");
        wait_until_ready(&browser, LIMIT);
        compare_kappas(&browser, &expected);
    }

    fn compare_kappas(browser: &Browser, expected: &[f64]) {
        let cells = "return [...document.querySelectorAll('[data-field=kappa][data-value]')].map(cell => Number(cell.dataset.value))";
        let found = browser.run(cells, &[]);
        let found = found.as_array().expect("cells");
        assert_eq!(found.len(), expected.len(), "one for each caption");
        for (found, expected) in found.iter().zip(expected) {
            let found = found.as_f64().expect("a number");
            assert!(
                (found / expected - 1.0).abs() <= ADAPTER_TOLERANCE,
                "κ {found}, natively {expected}"
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_link_that_is_opened_in_the_page_brings_its_model() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        let follow = |link: &str| browser.run("location.hash = arguments[0]", &[json!(link)]);
        follow("v=1&m=clip&c=a%20star");
        wait_until_it_says(&browser, "This page was made with CLIP");
        download(&browser);
        wait_until_at_work(&browser, "clip");
        follow("v=1&c=a%20red%20star");
        wait_until_at_work(&browser, "scenes");
        follow("v=1&m=clip&c=a%20blue%20star");
        wait_until_at_work(&browser, "clip");
        assert_eq!(captions(&browser), ["a blue star"], "the link's caption");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_model_of_the_hub_is_taken_by_its_id_at_the_commit_that_was_asked() {
        let mut files = hub_files();
        let newest = "/hub/api/models/test/tiny/revision/main";
        files.insert(newest.to_owned(), br#"{"sha": "abc"}"#.to_vec());
        let (server, browser) = (Server::replacing(files), Browser::start());
        open(&server, &browser, "nowhere");
        browser.fill("[data-act=hub-id]", "tiny");
        let is_refused = "return document.querySelector('[data-act=query-size]').disabled";
        browser.wait_for("a refusal", LIMIT, is_refused, &[]);
        assert!(server.asked(newest).is_empty(), "nothing before a click");
        browser.fill("[data-act=hub-id]", "test/tiny");
        download(&browser);
        let size = words(&browser, "[data-field=download-size]");
        assert!(size.contains("at revision abc"), "{size}");
        wait_until_at_work(&browser, "clip");
    }

    fn last_asked(server: &Server) -> usize {
        let ranges = server.asked(WEIGHTS).into_iter();
        ranges
            .map(|range| range.expect("never the whole file").end)
            .max()
            .unwrap_or(0)
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_waits_over_a_reload_and_goes_on_where_it_stopped() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        server.slow_down(WEIGHTS, PIECE_BYTES);
        download(&browser);
        wait_for(&browser, "[data-act=pause]");
        std::thread::sleep(Duration::from_secs(2));
        browser.click("[data-act=pause]");
        std::thread::sleep(Duration::from_secs(1));
        let (before, n_asked) = (loaded_bytes(&browser), server.asked(WEIGHTS).len());
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(loaded_bytes(&browser), before, "it waits");
        assert!(
            words(&browser, "[data-field=load-words]").contains("waiting"),
            "and says so"
        );
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        wait_for(&browser, "[data-act=go-on]");
        assert_eq!(server.asked(WEIGHTS).len(), n_asked, "it still waits");
        server.hurry();
        browser.click("[data-act=go-on]");
        wait_until_at_work(&browser, "clip");
        let first = server.asked(WEIGHTS)[n_asked].clone();
        assert!(
            first.is_some_and(|range| range.start > 0),
            "what had arrived is not asked for again"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_that_is_cancelled_leaves_the_page_as_it_was() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        let before = captions(&browser);
        server.slow_down(WEIGHTS, PIECE_BYTES);
        download(&browser);
        wait_for(&browser, "[data-act=cancel]");
        browser.click("[data-act=cancel]");
        let is_gone = "return !document.querySelector('[data-act=cancel]').checkVisibility() && !location.hash.includes('m=clip')";
        browser.wait_for("the end of the load", LIMIT, is_gone, &[]);
        assert_eq!(captions(&browser), before, "the same page");
        wait_until_at_work(&browser, "scenes");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_goes_wrong_is_said_and_the_built_in_model_goes_on() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let model = folder.path().join("model");
        import_into(&model, Dtype::F16);
        let mut replaced = files_beside(&model, "clip-vit-b-32");
        let shards = replaced
            .iter_mut()
            .filter(|(path, _)| path.ends_with(".safetensors"));
        for (_, bytes) in shards {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        }
        let (server, browser) = (Server::replacing(replaced), Browser::start());
        open(&server, &browser, "nowhere");
        wait_for(&browser, "[data-act=beside]");
        browser.click("[data-act=beside]");
        wait_for(&browser, "[data-field=trouble]:not(:empty)");
        let trouble = words(&browser, "[data-field=trouble]");
        assert!(trouble.to_lowercase().contains("sha"), "{trouble}");
        browser.click("[data-act=query-size]");
        wait_until_it_says(&browser, "has no such model");
        server.refuse("/hub/");
        browser.fill("[data-act=hub-id]", "test/other");
        browser.click("[data-act=query-size]");
        wait_until_it_says(&browser, "could not be reached");
        crate::harness::type_first_caption(&browser, "a small green cross");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn shards_beside_the_page_work_in_two_bytes_and_in_one() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let session = session(folder.path(), Dtype::F32);
        let mut replaced = HashMap::new();
        for (dtype, place) in [
            (Dtype::F16, "clip-vit-b-32"),
            (Dtype::Int8, "clip-vit-b-32-int8"),
        ] {
            let model = folder.path().join(place);
            import_into(&model, dtype);
            replaced.extend(files_beside(&model, place));
        }
        let (server, browser) = (Server::replacing(replaced), Browser::start());
        // As on a telephone, for the page and for its engines.
        browser.run_before_pages(
            "Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 2 });
             const short = `Object.defineProperty(WorkerNavigator.prototype, 'deviceMemory', { get: () => 2 });`;
             window.Blob = class extends Blob {
                 constructor(parts, options) { super(options?.type === 'text/javascript' ? [short, ...parts] : parts, options) }
             };",
        );
        open(&server, &browser, "nowhere");
        wait_for(&browser, "[data-act=beside]");
        wait_until_it_says(&browser, "take eight bits");
        for (act, in_int8, tolerance) in [("beside-int8", true, 3e-2), ("beside", false, 3e-3)] {
            browser.click(&format!("[data-act={act}]"));
            // The model before it is CLIP too, and answers until this one can: only its engine's words tell them apart.
            let is_held = "return document.querySelector('[data-field=engine]').textContent.includes('weights in eight bits') === arguments[0]";
            browser.wait_for("the other weights", LIMIT, is_held, &[json!(in_int8)]);
            wait_until_at_work(&browser, "clip");
            if in_int8 {
                add_picture(&browser);
            }
            compare_cosines(&browser, &session, tolerance);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_device_that_is_touched_and_does_not_tell_its_memory_is_taken_for_a_small_one() {
        for (n_touch_points, is_short) in [(5, true), (0, false)] {
            let (server, browser) = (Server::replacing(hub_files()), Browser::start());
            browser.run_before_pages(&format!(
                "delete Navigator.prototype.deviceMemory;
                 Object.defineProperty(Navigator.prototype, 'maxTouchPoints', {{ get: () => {n_touch_points} }});"
            ));
            open_tiny(&server, &browser);
            let told = browser.run("return navigator.deviceMemory ?? null", &[]);
            assert_eq!(told, Value::Null, "as in Safari and Firefox");
            let hint = "Memory is short here, so the CPU engine holds these weights in eight bits";
            let is_said = text(&browser).contains(hint);
            assert_eq!(is_said, is_short, "with {n_touch_points} touch points");
            download(&browser);
            wait_until_at_work(&browser, "clip");
            let engine = words(&browser, "[data-field=engine]");
            let is_held = engine.contains("weights in eight bits");
            assert_eq!(is_held, is_short, "the engine's words: {engine}");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_models_say_what_the_gpu_offers() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=gpu"));
        let engine = words(&browser, "[data-field=engine]");
        let offered = [
            "buffers up to",
            "workgroup memory",
            "shader-f16",
            "timestamp-query",
        ];
        let is_said = offered.iter().all(|part| engine.contains(part));
        assert!(is_said, "the engine's words: {engine}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_device_is_measured_and_the_table_is_saved_as_json() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu&m=scenes"));
        browser.click("[data-act=models]");
        browser.click("[data-act=measure]");
        wait_for(&browser, "[data-act=save-timings]");
        let rows = "return [...document.querySelectorAll('[data-field=timings] tbody tr')].map(row => row.innerText)";
        let rows = browser.run(rows, &[]);
        assert_eq!(rows.as_array().map(Vec::len), Some(4), "{rows}");
        browser.run(
            "navigator.clipboard.writeText = async text => { window.copied = text }",
            &[],
        );
        browser.click("[data-act=copy-timings]");
        wait_until_it_says(&browser, "Copied");
        let keep = "window.saved = []; HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]) }";
        browser.run(keep, &[]);
        browser.click("[data-act=save-timings]");
        let report = browser.run_async(
            "const done = arguments[arguments.length - 1]; fetch(saved[0][1]).then(file => file.json()).then(done, () => done(null))",
        );
        let copied = browser.run("return JSON.parse(copied)", &[]);
        assert_eq!(copied, report, "copied and saved");
        assert_eq!(report["engine"], "cpu", "{report}");
        let timings = report["timings"].as_array().expect("a list");
        for timing in timings {
            let median = timing["median_millis"].as_f64().expect("a number");
            assert!(median > 0.0, "{timing}");
        }
        let works = timings.iter().filter_map(|timing| timing["work"].as_str());
        let works: Vec<&str> = works.collect();
        let shown = browser.run("return [...document.querySelectorAll('[data-field=timings] tbody th')].map(head => head.textContent)", &[]);
        assert_eq!(shown, json!(works), "the table's rows are the file's");
        assert!(report["load_millis"].as_f64() > Some(0.0), "{report}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_kept_model_needs_no_network_after_a_reload_until_it_is_deleted() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let session = session(folder.path(), Dtype::F16);
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        server.stop_once(WEIGHTS, 5);
        download(&browser);
        wait_until_at_work(&browser, "clip");
        add_picture(&browser);
        let is_linked =
            "return location.hash.includes('m=clip') && location.hash.includes('own=1')";
        browser.wait_for("the address of this page", LIMIT, is_linked, &[]);
        server.refuse("/hub/");
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        browser.click("[data-act=models]");
        wait_until_at_work(&browser, "clip");
        add_picture(&browser);
        compare_cosines(&browser, &session, TOLERANCE);
        // A notice about the picture that did not come along may lie over it.
        browser.run("document.querySelector('[data-act=delete]').click()", &[]);
        let is_empty = "return document.querySelector('[data-field=kept]')?.dataset.value === '0'";
        browser.wait_for("an empty disk", LIMIT, is_empty, &[]);
        server.take_paths();
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        wait_until_it_says(&browser, "This page was made with CLIP");
        browser.run(
            "location.hash = arguments[0]",
            &[json!("v=1&m=clip&c=a%20star")],
        );
        let is_followed =
            "return document.querySelector('tr[data-caption]')?.dataset.caption === 'a star'";
        browser.wait_for("the link's caption", LIMIT, is_followed, &[]);
        wait_until_ready(&browser, LIMIT);
        assert_hub_is_left_alone(&server);
    }

    fn assert_hub_is_left_alone(server: &Server) {
        let mut asked = server.take_paths();
        asked.retain(|path| path.starts_with("/hub/"));
        assert!(asked.is_empty(), "without a click: {asked:?}");
    }

    /// Empties the browser's own disk, as browsers do where space is short; local storage stays.
    const EVICT: &str = "const done = arguments[arguments.length - 1];
        (async () => {
            const root = await navigator.storage.getDirectory();
            for await (const name of root.keys()) await root.removeEntry(name, { recursive: true });
        })().then(() => done(true), error => done(String(error)))";

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn weights_that_the_browser_no_longer_keeps_wait_for_a_click() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        open_tiny(&server, &browser);
        download(&browser);
        wait_until_at_work(&browser, "clip");
        let is_linked = "return location.hash.includes('m=clip')";
        browser.wait_for("the model in the address", LIMIT, is_linked, &[]);
        assert_eq!(browser.run_async(EVICT), json!(true), "an empty disk");
        server.take_paths();
        browser.reload();
        wait_until_it_says(&browser, "without a click nothing is fetched");
        wait_until_ready(&browser, LIMIT);
        assert_hub_is_left_alone(&server);
        browser.click("[data-act=go-on]");
        wait_until_at_work(&browser, "clip");
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        browser.click("[data-act=models]");
        wait_until_at_work(&browser, "clip");
        add_picture(&browser);
    }

    /// Counts in every page how often it asks the browser to keep its storage.
    const COUNT_ASKED: &str = "window.asked = 0;
        StorageManager.prototype.persist = async () => { window.asked += 1; return true };";

    fn assert_asked(browser: &Browser, n_times: u64, what: &str) {
        let asked = browser.run("return window.asked", &[]);
        assert_eq!(asked, json!(n_times), "{what}: asked for lasting storage");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn lasting_storage_is_asked_for_when_the_visitor_keeps_weights() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        browser.run_before_pages(COUNT_ASKED);
        open_tiny(&server, &browser);
        browser.click("[data-act=query-size]");
        wait_for(&browser, "[data-act=hub]");
        assert_asked(&browser, 0, "before the download");
        browser.click("[data-act=hub]");
        wait_until_at_work(&browser, "clip");
        assert_asked(&browser, 1, "after the download");

        let release = Server::release("");
        open_ready(&browser, &release.address("?backend=cpu"));
        wait_until_kept(&browser);
        browser.click("[data-act=models]");
        wait_for(&browser, "[data-act=keep]");
        assert_asked(&browser, 0, "before the built-in models are kept");
        browser.click("[data-act=keep]");
        assert_asked(&browser, 1, "after that click");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn files_that_the_visitor_has_are_a_model_even_on_a_full_disk() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let session = session(folder.path(), Dtype::F32);
        let files: Vec<String> = write_files(folder.path())
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let (server, browser) = (Server::start(), Browser::start());
        open_tiny(&server, &browser);
        let origin = server.address("");
        browser.devtools(
            "Storage.overrideQuotaForOrigin",
            json!({ "origin": origin.trim_end_matches('/'), "quotaSize": 4000 }),
        );
        browser.choose_file("[data-act=files]", Path::new(&files.join("\n")));
        wait_until_at_work(&browser, "clip");
        add_picture(&browser);
        compare_cosines(&browser, &session, TOLERANCE);
    }

    /// At full size, which takes a gigabyte of memory and half a minute.
    #[test]
    #[ignore = "needs the built page and KAPPASCOPE_RANDOM_B32=1: cargo xtask test"]
    fn captions_are_answered_while_a_large_image_encoder_is_on_its_way() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let model = folder.path().join("model");
        import_random(&model, 1);
        let session = bundle::open(&model, &cpu()).expect("an open model");
        let replaced = files_beside(&model, "clip-vit-b-32");
        let (server, browser) = (Server::replacing(replaced), Browser::start());
        open(&server, &browser, "nowhere");
        wait_for(&browser, "[data-act=beside]");
        browser.click("[data-act=beside]");
        wait_until_at_work(&browser, "clip");
        let bytes_a_second = 20_000_000;
        server.slow_down("image-2.safetensors", bytes_a_second / 10);
        browser.choose_file(".add-picture input", &picture());
        wait_for(&browser, "[data-act=cancel]");
        browser.fill("tr[data-caption] textarea", "a caption typed meanwhile");
        let is_answered =
            "const row = document.querySelector('tr[data-caption=\"a caption typed meanwhile\"]');
            return row !== null && !row.classList.contains('stale')
                && document.querySelector('[data-act=cancel]').checkVisibility()";
        browser.wait_for("an answer meanwhile", LIMIT, is_answered, &[]);
        wait_for(&browser, "td.pair[data-value]");
        wait_until_ready(&browser, LIMIT);
        compare_cosines(&browser, &session, TOLERANCE);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_panel_tells_how_the_models_weights_were_made_and_what_eight_bits_cost() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address("?backend=cpu"));
        browser.click("[data-act=models]");
        browser.click("[data-field=origin] summary");
        let manifest = manifest();
        let made = |key: &str| {
            manifest["provenance"][key]
                .as_str()
                .expect("text")
                .to_owned()
        };
        let shown = words(&browser, "[data-field=origin]");
        for part in [made("command"), made("commit"), made("date"), weights()] {
            assert!(shown.contains(&part), "{part} is in {shown}");
        }
        let seed = format!("seed {}", manifest["provenance"]["seed"]);
        assert!(shown.contains(&seed), "{seed} is in {shown}");
        open_ready(&browser, &server.address("?backend=cpu&world=photos"));
        browser.click("[data-act=models]");
        wait_until_it_says(
            &browser,
            "Weights in eight bits against 32: rank correlation of κ 0.99",
        );
    }

    /// axe-core, which `cargo xtask test` fetches, must find nothing on the panel.
    #[test]
    #[ignore = "needs the built page and axe-core: cargo xtask test"]
    fn axe_finds_nothing_on_the_models_nor_without_an_adapter() {
        let axe = axe();
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        for (name, width, height, features) in WINDOWS {
            browser.resize(width, height);
            browser.emulate_media("", features);
            open_tiny(&server, &browser);
            if words(&browser, "[data-model=clip] .status") != "at work" {
                download(&browser);
            }
            wait_until_at_work(&browser, "clip");
            browser.run(&axe, &[]);
            browser.save_screenshot(&format!("models-{name}.png"));
            assert_sound(&browser, name);
        }
    }
}
