//! The release as a server gives it: its policy, its use without a network, its place, and what happens when it is renewed.

mod built_page {
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use kappascope::explorer::World;
    use serde_json::{Value, json};
    use sha2::{Digest as _, Sha256};

    use crate::harness::{
        ANSWERING, Browser, Server, add_picture, dist_release, engine, kept, open_ready, text,
        type_first_caption, wait_until_it_says, wait_until_kept, wait_until_ready,
    };

    const LIMIT: Duration = Duration::from_secs(120);
    /// Captions that no test of the model holds, so that nothing recorded can answer.
    const CAPTION: &str = "a tiny striped thing near the corner";
    const OTHER_CAPTION: &str = "two pale things beside a dark one";
    const SCENES: &str = "?backend=cpu";
    const PHOTOGRAPHS: &str = "?world=&backend=cpu";
    /// Remembers what breaks the policy.
    const WATCHED: &str = "window.violations = [];
        document.addEventListener('securitypolicyviolation', event =>
            violations.push([event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber]));";
    /// A browser without service workers.
    const WITHOUT_WORKERS: &str =
        "Object.defineProperty(Navigator.prototype, 'serviceWorker', { get: () => undefined });";

    /// Nothing in the page or its engines broke the policy.
    fn assert_within_policy(browser: &Browser, what: &str) {
        let violations = browser.run("return violations", &[]);
        assert_eq!(violations, json!([]), "{what}: what broke the policy");
        let log = browser.log();
        let lines = log.as_array().expect("a log").iter();
        let blocked: Vec<&Value> = lines
            .filter(|line| line["message"].as_str().is_some_and(is_of_the_policy))
            .collect();
        assert!(blocked.is_empty(), "{what}: {blocked:?}");
    }

    fn is_of_the_policy(message: &str) -> bool {
        message.contains("Content Security Policy")
    }

    /// Visits the release once, until everything of this visit is there.
    fn visit(browser: &Browser, server: &Server, address: &str) {
        open_ready(browser, &server.address(address));
        wait_until_kept(browser);
    }

    fn open_view(browser: &Browser, view: &str) {
        browser.run(
            "[...document.querySelectorAll('nav.views a')].find(link => link.dataset.to === arguments[0]).click()",
            &[json!(view)],
        );
        let open = "return document.documentElement.dataset.view === arguments[0]";
        browser.wait_for(view, ANSWERING, open, &[json!(view)]);
        wait_until_ready(browser, ANSWERING);
    }

    fn views(browser: &Browser) -> Vec<String> {
        let views =
            "return [...document.querySelectorAll('nav.views a')].map(link => link.dataset.to)";
        let views = browser.run(views, &[]);
        let views = views.as_array().expect("views").iter();
        views
            .map(|view| view.as_str().expect("a name").to_owned())
            .collect()
    }

    fn picture() -> PathBuf {
        dist_release().join("gallery/lone-red-star.png")
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn nothing_breaks_the_policy_in_any_view() {
        for address in [SCENES, PHOTOGRAPHS] {
            let (server, browser) = (Server::release(""), Browser::start());
            browser.run_before_pages(WATCHED);
            open_ready(&browser, &server.address(address));
            add_picture(&browser, &picture());
            let views = views(&browser);
            assert!(views.len() > 8, "{views:?}");
            for view in views {
                open_view(&browser, &view);
                for kind in ["svg", "png"] {
                    let save = "document.querySelector(`[data-save=${arguments[0]}]`)?.click()";
                    browser.run(save, &[json!(kind)]);
                }
                assert_within_policy(&browser, &view);
            }
            browser.run("document.querySelector('[data-act=models]').click()", &[]);
            let locked =
                "location.hash = 'v=1&c=a%20red%20star&lock=captions.law&hide=views.prose'";
            browser.run(locked, &[]);
            wait_until_it_says(&browser, "This page was prepared for a class");
            let display = "return getComputedStyle(document.querySelector('nav.views')).display";
            assert_eq!(browser.run(display, &[]), json!("none"), "what is hidden");
            assert_within_policy(&browser, "a prepared page");
            // What this test listens to does speak.
            browser.run("document.body.setAttribute('style', 'top: 0')", &[]);
            let heard = "return violations.length > 0";
            browser.wait_for("a broken policy", LIMIT, heard, &[]);
            let log = browser.log().to_string();
            assert!(is_of_the_policy(&log), "and in the log: {log}");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_gpu_engine_keeps_the_policy() {
        let (server, browser) = (Server::release(""), Browser::start());
        browser.run_before_pages(WATCHED);
        browser.open(&server.address("?backend=gpu"));
        // It has passed its self-test; what it then answers, a software GPU takes minutes for.
        let is_loaded = "return document.querySelector('[data-engine=gpu]') !== null";
        browser.wait_for("the GPU engine", 2 * LIMIT, is_loaded, &[]);
        assert_within_policy(&browser, "the GPU engine");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn no_engine_can_ask_another_host() {
        let (server, elsewhere) = (Server::release(""), Server::start());
        let browser = Browser::start();
        let address = elsewhere.address("favicon.svg");
        browser.run_before_pages(&format!(
            "const make = URL.createObjectURL;
             URL.createObjectURL = blob => make(blob.type !== 'text/javascript' ? blob
                 : new Blob([`await fetch('{address}', {{ mode: 'no-cors' }}).catch(() => {{}});`, blob], {{ type: blob.type }}));"
        ));
        open_ready(&browser, &server.address(SCENES));
        assert_eq!(elsewhere.take_paths(), [""; 0], "what was asked elsewhere");
        let log = browser.log().to_string();
        assert!(is_of_the_policy(&log), "the browser says why: {log}");
    }

    /// Silence of the page after which everything that a click asked for has come.
    const SILENCE: Duration = Duration::from_millis(300);
    /// Most pauses that one click may take.
    const MAX_PAUSES: usize = 50;

    /// Paths that the page asked for since they were last taken. At a time of its own after a visit, the browser
    /// itself asks whether the service worker has changed: that is not the page's doing.
    fn paths_of_the_page(server: &Server) -> Vec<String> {
        let mut paths = server.take_paths();
        paths.retain(|path| path != "/service-worker.js");
        paths
    }

    /// Waits until what was asked for before has come.
    fn wait_for_silence(server: &Server) {
        for _ in 0..MAX_PAUSES {
            std::thread::sleep(SILENCE);
            if paths_of_the_page(server).is_empty() {
                return;
            }
        }
    }

    fn assert_silent(server: &Server, browser: &Browser, what: &str) {
        std::thread::sleep(SILENCE);
        assert_eq!(paths_of_the_page(server), [""; 0], "{what}: asked for");
        let others = "return performance.getEntriesByType('resource').map(entry => entry.name)
            .filter(name => !/^(blob|data):/.test(name) && new URL(name).origin !== location.origin)";
        assert_eq!(browser.run(others, &[]), json!([]), "{what}: elsewhere");
    }

    /// Visits a page twice, types, follows a link, and opens every view by a click: only clicks ask for anything.
    fn assert_only_clicks_ask(address: &str) {
        let (server, browser) = (Server::release(""), Browser::start());
        visit(&browser, &server, address);
        type_first_caption(&browser, CAPTION);
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        std::thread::sleep(Duration::from_secs(1));
        wait_for_silence(&server);
        type_first_caption(&browser, OTHER_CAPTION);
        assert_silent(&server, &browser, "a caption");
        browser.run("location.hash += '&view=ladder'", &[]);
        std::thread::sleep(Duration::from_secs(1));
        assert_silent(&server, &browser, "a link");
        open_view(&browser, "explore");
        // The image encoder comes with the first picture that is not the page's own.
        add_picture(&browser, &picture());
        let views = views(&browser);
        assert!(views.len() > 8, "{views:?}");
        for view in views {
            open_view(&browser, &view);
            wait_for_silence(&server);
            assert_silent(&server, &browser, &view);
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn after_loading_scenes_nothing_is_asked_for_without_a_click() {
        assert_only_clicks_ask(SCENES);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn after_loading_photographs_nothing_is_asked_for_without_a_click() {
        assert_only_clicks_ask(PHOTOGRAPHS);
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn after_one_visit_the_page_works_without_a_network() {
        for (address, below) in [(PHOTOGRAPHS, ""), (SCENES, "/sub/path")] {
            let (server, browser) = (Server::release(below), Browser::start());
            visit(&browser, &server, address);
            let obstacles = browser.devtools("Page.getInstallabilityErrors", json!({}));
            let none = json!({ "installabilityErrors": [] });
            assert_eq!(obstacles, none, "{address}: it can be installed");
            let outside = server.take_paths();
            let outside: Vec<&String> = outside
                .iter()
                .filter(|path| !path.starts_with(&format!("{below}/")))
                .collect();
            assert!(
                outside.is_empty(),
                "asked outside of {below:?}: {outside:?}"
            );
            server.refuse("/");
            browser.reload();
            wait_until_ready(&browser, LIMIT);
            assert_eq!(engine(&browser), "cpu", "{address}: an engine answers");
            type_first_caption(&browser, CAPTION);
            let broken = "return [...document.images].filter(image => image.complete && image.naturalWidth === 0).map(image => image.src)";
            assert_eq!(browser.run(broken, &[]), json!([]), "{address}: pictures");
            let isolated = browser.run("return crossOriginIsolated", &[]);
            assert_eq!(isolated, json!(true), "{address}: isolated");
            for view in ["ladder", "words", "learn"] {
                open_view(&browser, view);
            }
            if address == SCENES {
                // The image encoder of photographs is fetched with the first picture that a visitor adds.
                open_view(&browser, "explore");
                add_picture(&browser, &picture());
            } else {
                browser.open(&server.address(SCENES));
                let said = "/models/scenes/manifest.json gave no answer, perhaps because there is no network";
                wait_until_it_says(&browser, said);
            }
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_click_keeps_both_models_so_that_the_other_world_works_without_a_network() {
        let (server, browser) = (Server::release(""), Browser::start());
        visit(&browser, &server, SCENES);
        browser.click("[data-act=models]");
        let offer = "const button = document.querySelector('[data-act=keep]');
            return button.checkVisibility() && button.innerText.includes('MB')";
        browser.wait_for("an offer with its size", LIMIT, offer, &[]);
        server.take_paths();
        std::thread::sleep(Duration::from_secs(1));
        let weights = |paths: &[String]| {
            let mut weights = paths.iter().filter(|path| path.ends_with(".safetensors"));
            weights.any(|path| path.contains("photos"))
        };
        assert!(!weights(&server.take_paths()), "nothing without a click");
        browser.click("[data-act=keep]");
        wait_until_it_says(&browser, "Both built-in models are kept");
        assert!(weights(&server.take_paths()), "the other model came");
        server.refuse("/");
        browser.click("[data-act=photos]");
        let other =
            "return document.querySelector('[data-model=photos][aria-current=true]') !== null";
        browser.wait_for("the other world", LIMIT, other, &[]);
        wait_until_ready(&browser, LIMIT);
        type_first_caption(&browser, "a dog that waits in the rain");
        add_picture(&browser, &picture());
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        assert_eq!(engine(&browser), "cpu", "also at the next visit");
    }

    /// A file of the release as text.
    fn released(path: &str) -> String {
        fs::read_to_string(dist_release().join(path)).expect("a file of the release")
    }

    fn hash(content: &str) -> String {
        base64::encode(Sha256::digest(content))
    }

    /// The name in the release of a file that the page names.
    fn named(name: &str) -> String {
        let page = released("index.html");
        let (_, rest) = page
            .split_once(&format!("<meta name=\"file:{name}\" content=\""))
            .expect("it is named");
        rest.split(['?', ' ']).next().expect("a name").to_owned()
    }

    /// Publishes another version of the release: another title and another script of the CPU engine, and nothing of the
    /// old names.
    fn renew(server: &Server) {
        let (page, worker) = (released("index.html"), released("service-worker.js"));
        let (old, new) = (named("engine_cpu.js"), "engine_cpu-renewed.js");
        let (script, new_script) = (released(&old), format!("{}\n// renewed", released(&old)));
        let new_page = page
            .replace("<title>Kappascope", "<title>Renewed")
            .replace(&old, new)
            .replace(&hash(&script), &hash(&new_script));
        let new_worker = worker
            .replace(&old, new)
            .replace(&hash(&script), &hash(&new_script))
            .replace(&hash(&page), &hash(&new_page));
        assert!(
            new_worker != worker && new_page != page,
            "both are other files"
        );
        server.publish(&format!("/{old}"), None);
        server.publish(&format!("/{new}"), Some(new_script.into_bytes()));
        server.publish("/index.html", Some(new_page.into_bytes()));
        server.publish("/service-worker.js", Some(new_worker.into_bytes()));
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_renewed_page_is_offered_and_comes_whole_by_a_click() {
        let (server, browser) = (Server::release(""), Browser::start());
        visit(&browser, &server, SCENES);
        let before = kept(&browser);
        renew(&server);
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        let title = || browser.run("return document.title", &[]).to_string();
        assert!(
            title().contains("Kappascope"),
            "the old page is whole: {}",
            title()
        );
        type_first_caption(&browser, CAPTION);
        wait_until_it_says(&browser, "A new version of this page is ready");
        browser.save_screenshot("renewed.png");
        browser.click("#renewed button");
        let is_new = "return document.title.includes('Renewed')";
        browser.wait_for("the new page", LIMIT, is_new, &[]);
        wait_until_ready(&browser, LIMIT);
        type_first_caption(&browser, OTHER_CAPTION);
        assert!(text(&browser).contains(OTHER_CAPTION), "it answers");
        wait_until_kept(&browser);
        let after = kept(&browser);
        let old = named("engine_cpu.js");
        assert!(
            before.iter().any(|key| key.contains(&old)),
            "{old} was kept: {before:?}"
        );
        assert!(
            !after.iter().any(|key| key.contains(&old)),
            "{old} is removed: {after:?}"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn an_old_page_among_new_files_says_what_to_do() {
        let manifest = format!("{} ", released("models/scenes/manifest.json"));
        let page = released("index.html");
        let (_, app) = page.split_once("from './app").expect("the page's program");
        let app = format!("/app{}", app.split('\'').next().expect("a name"));
        let engine = format!("/{}", named("engine_cpu.js"));
        let program = format!("/{}", named("engine_cpu_bg.wasm"));
        let shard = "/models/scenes/text.safetensors";
        let weights = fs::read(dist_release().join(&shard[1..]));
        let mut weights = weights.expect("a file of weights");
        let middle = weights.len() / 2;
        weights[middle] ^= 1;
        let sound_program = fs::read(dist_release().join(&program[1..]));
        let mut sound_program = sound_program.expect("the engine's program");
        // A section that nothing reads: of kind 0, of two bytes, which are its name and that name's length.
        sound_program.extend([0, 2, 1, b'x']);
        for (path, content, words) in [
            (engine.as_str(), None, "renewed meanwhile"),
            (
                program.as_str(),
                Some(b"another program".to_vec()),
                "renewed meanwhile",
            ),
            (
                program.as_str(),
                Some(sound_program),
                "has another hash than the page expects",
            ),
            (
                "/models/scenes/manifest.json",
                Some(manifest.into_bytes()),
                "renewed meanwhile",
            ),
            (shard, Some(weights), "renewed meanwhile"),
            (app.as_str(), None, "has just been renewed"),
            (
                app.as_str(),
                Some(b"export default async () => { document.title = 'other' }".to_vec()),
                "has just been renewed",
            ),
        ] {
            let (server, browser) = (Server::release(""), Browser::start());
            browser.run_before_pages(WITHOUT_WORKERS);
            server.publish(path, content);
            browser.open(&server.address(SCENES));
            wait_until_it_says(&browser, words);
        }
    }

    /// The files in the browser's store for weights.
    fn stored(browser: &Browser) -> Vec<String> {
        let names = browser.run_async(
            "const done = arguments[arguments.length - 1];
             (async () => {
                 const root = await navigator.storage.getDirectory(), names = [];
                 for await (const name of (await root.getDirectoryHandle('kappascope-weights')).keys()) names.push(name);
                 return names;
             })().then(done, error => done([String(error)]))",
        );
        let names = names.as_array().cloned().unwrap_or_default();
        let word = |name: &Value| name.as_str().unwrap_or_default().to_owned();
        names.iter().map(word).collect()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn what_a_new_manifest_does_not_list_is_no_longer_stored() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address(SCENES));
        let tokenizer = World::Scenes.manifest().replace("manifest", "tokenizer");
        let old = released(&tokenizer);
        let new = format!("{old} ");
        let hex = |text: &str| format!("{:x}", Sha256::digest(text));
        let before = stored(&browser);
        assert!(before.contains(&hex(&old)), "it is stored: {before:?}");
        let (size, new_size) = (old.len(), new.len());
        let manifest = released(World::Scenes.manifest())
            .replace(&hex(&old), &hex(&new))
            .replace(
                &format!("\"bytes\": {size}"),
                &format!("\"bytes\": {new_size}"),
            );
        server.publish(&format!("/{tokenizer}"), Some(new.clone().into_bytes()));
        server.publish(
            &format!("/{}", World::Scenes.manifest()),
            Some(manifest.into_bytes()),
        );
        browser.reload();
        wait_until_ready(&browser, LIMIT);
        let after = stored(&browser);
        assert!(
            after.contains(&hex(&new)),
            "the new one is stored: {after:?}"
        );
        assert!(!after.contains(&hex(&old)), "the old one is not: {after:?}");
        assert_eq!(after.len(), before.len(), "and all others are");
    }
}
