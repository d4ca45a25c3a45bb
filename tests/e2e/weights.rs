//! Where weights come from, asked of the page's engine itself: the hub, the visitor's files, the browser's disk.

mod built_page {
    use std::fs;
    use std::ops::Range;
    use std::time::Duration;

    use kappascope::weights::shard::Precision as Dtype;
    use serde_json::{Value, json};

    use crate::harness::tiny_clip::{
        HUB, cosines, files_beside, hub_files, import_siglip, open, picture, session,
    };
    use crate::harness::{Browser, Server, manifest};

    /// The same f32 arithmetic, compiled for another machine.
    const TOLERANCE: f64 = 1e-4;
    const LIMIT: Duration = Duration::from_secs(60);
    const CAPTIONS: [&str; 2] = ["a star", "two red circles"];
    /// An engine of its own, and every message that it sent.
    const START: &str = "window.messages = [];
        const script = `import init from '${new URL(`./engine_${arguments[0]}.js`, location)}'; await init()`;
        const blob = new Blob([script], { type: 'text/javascript' });
        window.engine = new Worker(URL.createObjectURL(blob), { type: 'module' });
        engine.onmessage = event => messages.push(event.data);";
    /// The newest message of a kind.
    const FIND: &str = "const of = message => typeof message === 'string' ? message : Object.keys(message)[0];
        const found = messages.filter(message => of(message) === arguments[0]).at(-1);
        return found === undefined ? null : JSON.parse(JSON.stringify(found[arguments[0]] ?? true, (_, value) => typeof value === 'bigint' ? Number(value) : value));";

    /// Cosines of the captions with the picture, by the native program with weights that were rounded to this.
    fn native_cosines(dtype: Dtype) -> Vec<f64> {
        let folder = tempfile::tempdir().expect("a folder for the test");
        cosines(&session(folder.path(), dtype), &CAPTIONS.map(str::to_owned))
    }

    fn engine(browser: &Browser, server: &Server) {
        browser.open(&server.address("favicon.svg"));
        start(browser);
    }

    fn start(browser: &Browser) {
        start_engine(browser, "cpu");
    }

    fn start_engine(browser: &Browser, name: &str) {
        browser.run(START, &[json!(name)]);
        hear(browser, "Started");
    }

    fn send(browser: &Browser, message: &Value) {
        browser.run(
            "engine.postMessage(arguments[0])",
            std::slice::from_ref(message),
        );
    }

    fn hear(browser: &Browser, kind: &str) -> Value {
        browser.wait_for(kind, LIMIT, FIND, &[json!(kind)])
    }

    fn load_hub(server: &Server, id: &str) -> Value {
        let origin = server.address("hub");
        json!({ "LoadHub": { "origin": origin, "id": id, "revision": "abc" } })
    }

    fn add_picture(browser: &Browser) {
        give_picture(browser);
        hear(browser, "ImageAdded");
    }

    fn give_picture(browser: &Browser) {
        let bytes = fs::read(picture()).expect("a picture");
        browser.run(
            "engine.postMessage({ AddImage: { image: 'star', bytes: new Uint8Array(arguments[0]) } })",
            &[json!(bytes)],
        );
    }

    fn compare_with_native(browser: &Browser, dtype: Dtype) {
        compare(browser, &native_cosines(dtype));
    }

    /// The engine's cosines of the captions with the picture against these.
    fn compare(browser: &Browser, expected: &[f64]) {
        send(
            browser,
            &json!({ "Score": { "id": 1, "captions": CAPTIONS, "images": ["star"], "relates": false } }),
        );
        let compared = hear(browser, "Compared");
        let found = compared["cosines"].as_array().expect("numbers").clone();
        for (found, expected) in found.iter().zip(expected) {
            let found = found.as_f64().expect("a number");
            assert!(
                (found - expected).abs() <= TOLERANCE,
                "{found}, natively {expected}"
            );
        }
        assert_eq!(found.len(), CAPTIONS.len(), "one for each caption");
    }

    /// Greatest byte of the weights that was asked for.
    fn last_asked(server: &Server) -> usize {
        let ranges = server.asked("model.safetensors").into_iter();
        ranges
            .map(|range: Option<Range<usize>>| range.expect("never the whole file").end)
            .max()
            .unwrap_or(0)
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_hub_is_asked_for_the_text_encoder_first_and_for_the_other_with_the_first_picture() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/tiny"));
        let card = hear(&browser, "LoadedBare");
        assert_eq!(
            card["has_vision"],
            json!(false),
            "not asked for yet: {card}"
        );
        let text_bytes = last_asked(&server);
        let file_bytes = hub_files()[&format!("{HUB}/model.safetensors")].len();
        assert!(
            text_bytes < file_bytes,
            "{text_bytes} of {file_bytes} were asked for"
        );
        add_picture(&browser);
        assert_eq!(last_asked(&server), file_bytes, "now the rest");
        compare_with_native(&browser, Dtype::F16);
        let progress = hear(&browser, "Progress");
        assert_eq!(
            progress["loaded_bytes"], progress["total_bytes"],
            "all of it"
        );
    }

    /// Bytes of the files on the browser's disk that hold floats of two bytes.
    fn kept_in_two_bytes(browser: &Browser) -> Value {
        browser.run(
            "(async () => {
                const root = await navigator.storage.getDirectory();
                let bytes = 0;
                for await (const [, folder] of root.entries())
                    for await (const [name, file] of folder.entries())
                        if (name.endsWith('-f16')) bytes += (await file.getFile()).size;
                window.kept = bytes;
            })()",
            &[],
        );
        browser.wait_for("the kept files", LIMIT, "return window.kept ?? null", &[])
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_was_fetched_once_needs_no_hub_after_a_reload() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        add_picture(&browser);
        let fetched = hear(&browser, "Progress")["total_bytes"].as_u64();
        let kept = kept_in_two_bytes(&browser).as_u64();
        assert_eq!(kept.map(|bytes| bytes * 2), fetched, "half of what came");
        server.refuse("/hub/");
        browser.reload();
        start(&browser);
        send(&browser, &load_hub(&server, "test/tiny"));
        let card = hear(&browser, "LoadedBare");
        assert_eq!(card["from_cache"], json!(true), "from the disk: {card}");
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
        send(&browser, &json!("DeleteStored"));
        let stored = hear(&browser, "Stored");
        assert_eq!(stored["bytes"], json!(0), "deleted: {stored}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_server_that_stops_half_way_is_asked_for_the_rest() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(
            &browser,
            &json!({ "QueryDownloadSize": load_hub(&server, "test/tiny")["LoadHub"] }),
        );
        let size = &hear(&browser, "DownloadSize")["Ok"];
        assert!(size["image_bytes"].as_u64() > Some(0), "told: {size}");
        server.stop_once("model.safetensors", 1000);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        let asked = server.asked("model.safetensors");
        let starts: Vec<_> = asked.iter().flatten().map(|range| range.start).collect();
        // The header's length, the header, and the part twice; a browser may drop what came before the break.
        let goes_on = starts.len() == 4 && (0..=1000).contains(&(starts[3] - starts[2]));
        assert!(goes_on, "the part is asked for again: {starts:?}");
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
    }

    /// The reason for which an engine of its own refuses the tiny model.
    fn refusal(browser: &Browser, server: &Server) -> String {
        start(browser);
        send(browser, &load_hub(server, "test/tiny"));
        let refused = hear(browser, "Refused");
        refused["message"].as_str().expect("a reason").to_owned()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_block_screen_is_not_kept_as_weights() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        // Some screens send their page as what was asked for.
        let (page, file) = ("text/html; charset=utf-8", "application/octet-stream");
        for (place, content_type, words) in [
            ("", page, "a web page in place of the file"),
            ("", file, "not a safetensors file"),
            ("/config.json", file, "config.json: expected value"),
            ("/tokenizer.json", file, "the tokenizer cannot be read"),
        ] {
            let place = format!("{HUB}{place}");
            server.screen(Some((place.as_str(), content_type)));
            let reason = refusal(&browser, &server);
            assert!(
                reason.contains(words),
                "{place} as {content_type}: {reason}"
            );
        }
        server.screen(None);
        start(&browser);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        server.screen(Some((HUB, file)));
        give_picture(&browser);
        let refused = hear(&browser, "ImageRefused");
        let reason = refused["message"].as_str().expect("a reason");
        assert!(
            reason.contains("the image encoder was not loaded"),
            "{reason}"
        );
        server.screen(None);
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
    }

    /// Writes over a byte of the file with this ending that the browser keeps.
    const DAMAGE: &str = "const ending = arguments[0];
        window.damaged = null;
        (async () => {
            const root = await navigator.storage.getDirectory();
            for await (const [, folder] of root.entries())
                for await (const [name, file] of folder.entries())
                    if (name.endsWith(ending)) {
                        const writable = await file.createWritable({ keepExistingData: true });
                        await writable.write({ type: 'write', position: 100, data: new Uint8Array([1]) });
                        await writable.close();
                        window.damaged = true;
                    }
        })()";

    /// Leaves the page with its engine, and damages what the browser keeps.
    fn damage(browser: &Browser, ending: &str) {
        browser.reload();
        browser.run(DAMAGE, &[json!(ending)]);
        browser.wait_for("the damage", LIMIT, "return window.damaged", &[]);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_is_kept_and_is_not_what_first_came_is_fetched_again_by_itself() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        send(&browser, &json!("ListStored"));
        let stored = hear(&browser, "Stored");
        let lines = stored["hashes"].as_str().expect("a line for each file");
        assert!(
            lines.contains("config.json: trusted since it first came"),
            "{lines}"
        );
        let files = hub_files();
        for (ending, file) in [
            ("-text-f16", "/model.safetensors"),
            ("-header", "/model.safetensors"),
            ("-config.json", "/config.json"),
        ] {
            damage(&browser, ending);
            server.take_paths();
            start(&browser);
            send(&browser, &load_hub(&server, "test/tiny"));
            hear(&browser, "LoadedBare");
            let mut asked = server.take_paths();
            // A file that the hub does not have is asked for each time.
            asked.retain(|path| files.contains_key(path));
            assert!(!asked.is_empty(), "{ending} is fetched again");
            let is_other = |path: &String| !path.ends_with(file);
            assert!(!asked.iter().any(is_other), "nothing else: {asked:?}");
        }
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
    }

    /// The message that has an engine load the scenes' model.
    fn load_scenes(server: &Server) -> Value {
        let address = server.address("models/scenes/manifest.json");
        json!({ "Load": { "manifest_url": address, "integrity": "" } })
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_engine_that_begins_answers_before_it_times_a_pass() {
        let (server, browser) = (Server::start(), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_scenes(&server));
        hear(&browser, "Loaded");
        for id in 1..3 {
            let score = json!({ "id": id, "captions": CAPTIONS, "images": [], "relates": false });
            send(&browser, &json!({ "Score": score }));
            hear(&browser, "Scored");
        }
        let timed = hear(&browser, "PassTimed");
        assert!(
            timed["millis"].as_f64() > Some(0.0),
            "it takes time: {timed}"
        );
        let kinds = "return messages.map(message => typeof message === 'string' ? message : Object.keys(message)[0])
            .filter(kind => ['Loaded', 'Scored', 'PassTimed'].includes(kind))";
        let expected = json!(["Loaded", "Scored", "Scored", "PassTimed"]);
        assert_eq!(browser.run(kinds, &[]), expected, "in this order, and once");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_kept_shard_that_is_damaged_is_fetched_again_by_itself() {
        let (server, browser) = (Server::start(), Browser::start());
        engine(&browser, &server);
        let load = load_scenes(&server);
        send(&browser, &load);
        hear(&browser, "Loaded");
        let shard = &manifest()["shards"][0];
        let [file, sha256] =
            ["file", "sha256"].map(|key| shard[key].as_str().expect("text").to_owned());
        damage(&browser, &sha256);
        server.take_paths();
        start(&browser);
        send(&browser, &load);
        hear(&browser, "Loaded");
        let asked = server.take_paths();
        let is_it = |path: &String| path.ends_with(&file);
        assert!(asked.iter().any(is_it), "{file} comes again: {asked:?}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_file_that_the_hub_has_changed_is_refused_until_it_is_what_first_came() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        let path = format!("{HUB}/config.json");
        let config = hub_files().remove(&path).expect("a configuration");
        let mut changed = config.clone();
        changed.push(b' ');
        server.publish(&path, Some(changed));
        damage(&browser, "-config.json");
        for _ in 0..2 {
            let reason = refusal(&browser, &server);
            assert!(reason.contains("when it first came"), "{reason}");
        }
        server.publish(&path, Some(config));
        start(&browser);
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_load_waits_goes_on_and_can_be_given_up() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/tiny"));
        send(&browser, &json!("Pause"));
        std::thread::sleep(Duration::from_secs(1));
        let loaded = browser.run(FIND, &[json!("LoadedBare")]);
        assert_eq!(loaded, Value::Null, "it waits");
        send(&browser, &json!("Cancel"));
        hear(&browser, "Cancelled");
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_model_that_the_hub_does_not_have_is_refused_with_the_reason() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        send(&browser, &load_hub(&server, "test/other"));
        let refused = hear(&browser, "Refused");
        let message = refused["message"].as_str().expect("a reason");
        assert!(message.contains("the server answered 404"), "{message}");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_file_that_the_visitor_picked_is_a_model() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        browser.run(
            "const folder = arguments[0];
             const pick = async name => new File([await (await fetch('.' + folder + '/' + name)).blob()], name);
             const names = ['model.safetensors', 'config.json', 'tokenizer.json'];
             Promise.all(names.map(pick)).then(files => engine.postMessage({ LoadFiles: { names }, files }));",
            &[json!(HUB)],
        );
        hear(&browser, "LoadedBare");
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F32);
    }

    /// Embeddings of the probe caption and the probe picture, by the CPU engine.
    fn probes(browser: &Browser, server: &Server) -> [Value; 2] {
        engine(browser, server);
        send(browser, &load_hub(server, "test/tiny"));
        let card = hear(browser, "LoadedBare");
        add_picture(browser);
        send(browser, &json!("ProbePicture"));
        [
            card["probe"].clone(),
            hear(browser, "PictureProbed")["embedding"].clone(),
        ]
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_gpu_engine_must_embed_the_probes_as_the_cpu_engine_does() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        let [caption, right] = probes(&browser, &server);
        let mut wrong = right.clone();
        wrong[0] = json!(wrong[0].as_f64().expect("a number") + 0.1);
        start_engine(&browser, "gpu");
        send(&browser, &load_hub(&server, "test/tiny"));
        let refused = hear(&browser, "Refused");
        let message = refused["message"].as_str().expect("a reason");
        assert!(message.contains("no other engine has told"), "{message}");
        for (picture, answer) in [(wrong, "Refused"), (right, "ImageAdded")] {
            start_engine(&browser, "gpu");
            let expected = json!({ "caption": caption, "picture": picture });
            send(&browser, &json!({ "Expect": expected }));
            send(&browser, &load_hub(&server, "test/tiny"));
            hear(&browser, "LoadedBare");
            give_picture(&browser);
            hear(&browser, answer);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_gpu_engine_gives_a_siglip_the_cosines_of_the_native_program() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let model = folder.path().join("siglip");
        import_siglip(&model);
        let expected = cosines(&open(&model), &CAPTIONS.map(str::to_owned));
        let server = Server::replacing(files_beside(&model, "siglip"));
        let browser = Browser::start();
        browser.open(&server.address("favicon.svg"));
        start_engine(&browser, "gpu");
        let manifest_url = server.address("models/siglip/manifest.json");
        let load = json!({ "Load": { "manifest_url": manifest_url, "integrity": "" } });
        send(&browser, &load);
        let card = hear(&browser, "LoadedBare");
        assert_eq!(card["engine"], "gpu", "by the GPU: {card}");
        add_picture(&browser);
        compare(&browser, &expected);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_full_disk_is_no_reason_to_stop() {
        let (server, browser) = (Server::replacing(hub_files()), Browser::start());
        engine(&browser, &server);
        let origin = server.address("");
        browser.devtools(
            "Storage.overrideQuotaForOrigin",
            json!({ "origin": origin.trim_end_matches('/'), "quotaSize": 4000 }),
        );
        send(&browser, &load_hub(&server, "test/tiny"));
        hear(&browser, "LoadedBare");
        add_picture(&browser);
        compare_with_native(&browser, Dtype::F16);
        send(&browser, &json!("ListStored"));
        let stored = hear(&browser, "Stored");
        assert!(
            stored["bytes"].as_u64() <= Some(4000),
            "no more than allowed: {stored}"
        );
    }
}
