//! The worlds that come with the page: which it opens with, the way from one to the other, and what a link brings back.

mod built_page {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use kappascope::explorer::World;
    use serde_json::{Value, json};

    use crate::harness::{
        Browser, Server, add_picture, dist, open_ready, reading, text, wait_until_it_says,
        wait_until_ready,
    };

    const LIMIT: Duration = Duration::from_secs(240);
    /// The page as it opens when nobody asks for a world.
    const PLAIN: &str = "?world=&backend=cpu";
    /// The same arithmetic, on another machine and through a JPEG decoder of the same kind.
    const TOLERANCE: f64 = 2e-3;

    /// Waits until a world is shown and its model rests.
    fn wait_until_shown(browser: &Browser, world: World) {
        let selector = format!("[data-world={}][aria-pressed=true]", world.slug());
        let is_there = "return document.querySelector(arguments[0]) !== null";
        browser.wait_for(&selector, LIMIT, is_there, &[json!(selector)]);
        wait_until_ready(browser, LIMIT);
    }

    fn captions(browser: &Browser) -> Vec<String> {
        let rows = "return [...document.querySelectorAll('tr[data-caption]')].map(row => row.dataset.caption)";
        let rows = browser.run(rows, &[]);
        let rows = rows.as_array().cloned().unwrap_or_default();
        let word = |row: &Value| row.as_str().unwrap_or_default().to_owned();
        rows.iter().map(word).collect()
    }

    /// The files of the photographs' image encoder.
    fn image_shards() -> Vec<String> {
        let path = dist().join(World::Photographs.manifest());
        let manifest = fs::read_to_string(path).expect("the page brings the model");
        let manifest: Value = serde_json::from_str(&manifest).expect("the manifest is JSON");
        let shards = manifest["shards"].as_array().expect("shards").iter();
        shards
            .filter(|shard| shard["part"] == "image")
            .map(|shard| format!("photos/{}", shard["file"].as_str().expect("a name")))
            .collect()
    }

    fn photograph(name: &str) -> PathBuf {
        dist().join(World::Photographs.gallery()).join(name)
    }

    /// Nats by caption of one picture.
    fn nats_of(browser: &Browser, picture: &str) -> BTreeMap<String, f64> {
        let all = reading(browser).nats.into_iter();
        all.filter(|((_, image), _)| image == picture)
            .map(|((caption, _), nats)| (caption, nats))
            .collect()
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_asks_once_for_the_first_files_of_its_world_and_for_none_of_the_other() {
        let photographs = [
            "/gallery-photos/gallery.json",
            "/examples/photos/start.json",
        ];
        let scenes = ["/gallery/gallery.json", "/examples/scenes/start.json"];
        for (address, of_it, of_the_other) in [
            (PLAIN, photographs, scenes),
            ("?world=scenes&backend=cpu", scenes, photographs),
            ("?backend=cpu#v=1&c=a%20red%20circle", scenes, photographs),
            ("?backend=cpu#v=1&m=photos&c=a%20dog", photographs, scenes),
        ] {
            let (server, browser) = (Server::start(), Browser::start());
            open_ready(&browser, &server.address(address));
            let paths = server.take_paths();
            let n_asked = |path: &&str| paths.iter().filter(|asked| asked == path).count();
            assert_eq!(of_it.each_ref().map(n_asked), [1, 1], "{address}: its own");
            assert_eq!(
                of_the_other.each_ref().map(n_asked),
                [0, 0],
                "{address}: the other's"
            );
            let links = "return [...document.querySelectorAll('link[rel=preload]')].map(link => link.getAttribute('href'))";
            let links = browser.run(links, &[]).to_string();
            assert!(links.contains(&of_it[1][1..]), "{address}: {links}");
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_page_opens_with_photographs_and_fetches_the_image_encoder_with_the_first_own_one() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address(PLAIN));
        wait_until_shown(&browser, World::Photographs);
        assert_eq!(
            captions(&browser),
            World::Photographs.captions(),
            "at the start"
        );
        wait_until_it_says(&browser, "“a dog on a couch” could mean");
        wait_until_it_says(&browser, "about 1 in ");
        let recorded = nats_of(&browser, "brown-bear");
        assert_eq!(
            recorded.len(),
            captions(&browser).len(),
            "one for each caption"
        );
        for shard in image_shards() {
            assert!(server.asked(&shard).is_empty(), "{shard} is not needed yet");
        }
        let own = add_picture(&browser, &photograph("brown-bear.jpg"));
        for shard in image_shards() {
            assert!(!server.asked(&shard).is_empty(), "{shard} is needed now");
        }
        for (caption, nats) in nats_of(&browser, &own) {
            let expected = recorded[&caption];
            let error = (nats - expected).abs();
            assert!(
                error <= TOLERANCE * expected.abs().max(1.0),
                "{caption:?}: {nats} here, {expected} by the recorded embedding"
            );
        }
        assert!(
            text(&browser).contains("CC BY 2.0"),
            "whose photographs they are"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn each_world_is_found_again_as_it_was_left() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(&browser, &server.address(PLAIN));
        wait_until_shown(&browser, World::Photographs);
        browser.fill("[data-caption] :is(input, textarea)", "a bear in a meadow");
        browser.click("[data-world=scenes]");
        wait_until_shown(&browser, World::Scenes);
        assert_eq!(
            captions(&browser),
            World::Scenes.captions(),
            "the other world"
        );
        browser.click("[data-world=photos]");
        wait_until_shown(&browser, World::Photographs);
        assert_eq!(
            captions(&browser)[0],
            "a bear in a meadow",
            "as it was left"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn links_keep_their_world() {
        let (server, browser) = (Server::start(), Browser::start());
        open_ready(
            &browser,
            &server.address("?world=&backend=cpu#v=1&c=a%20star&g=red-circles"),
        );
        wait_until_shown(&browser, World::Scenes);
        let link = "v=1&m=photos&c=a%20dog&g=dog-on-couch";
        browser.run("location.hash = arguments[0]", &[json!(link)]);
        wait_until_shown(&browser, World::Photographs);
        assert_eq!(captions(&browser), ["a dog"], "of the link");
        browser.reload();
        wait_until_shown(&browser, World::Photographs);
        assert_eq!(captions(&browser), ["a dog"], "after a reload");
        assert_eq!(
            nats_of(&browser, "dog-on-couch").len(),
            1,
            "with its picture"
        );
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn the_studio_goes_to_the_scenes_says_so_and_comes_back() {
        let (server, browser) = (Server::start(), Browser::start());
        let link = "?world=&backend=cpu#v=1&m=photos&c=a%20dog&g=dog-on-couch";
        open_ready(&browser, &server.address(link));
        browser.click("[data-to=studio]");
        wait_until_shown(&browser, World::Scenes);
        wait_until_it_says(&browser, "your photographs are as you left them");
        browser.click("[data-act=back]");
        wait_until_shown(&browser, World::Photographs);
        assert_eq!(captions(&browser), ["a dog"], "as they were left");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_class_is_held_against_the_model_where_the_words_are_certain() {
        let (server, browser) = (Server::start(), Browser::start());
        let link = "?world=&backend=cpu#v=1&m=photos&c=a%20dog&view=learn&lesson=1";
        open_ready(&browser, &server.address(link));
        let is_known =
            "return document.querySelector('[data-question=\"0\"] .ask')?.disabled === false";
        browser.wait_for("the model's order", LIMIT, is_known, &[]);
        browser.click("[data-question='0'] .ask");
        wait_until_it_says(&browser, "of your 4 steps are right");
        browser.click("[data-act=other-lessons]");
        wait_until_shown(&browser, World::Scenes);
        wait_until_it_says(&browser, "Length is not certainty");
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_page_without_photographs_opens_with_scenes() {
        for missing in ["/examples/photos", "/models/photos"] {
            let (server, browser) = (Server::start(), Browser::start());
            server.refuse(missing);
            browser.open(&server.address(PLAIN));
            wait_until_shown(&browser, World::Scenes);
            assert_eq!(
                captions(&browser),
                World::Scenes.captions(),
                "without {missing}"
            );
        }
    }

    #[test]
    #[ignore = "needs the built page: cargo xtask test"]
    fn a_browser_that_saves_data_loads_no_model_before_a_click() {
        let (server, browser) = (Server::start(), Browser::start());
        browser.run_before_pages(
            "Object.defineProperty(Navigator.prototype, 'connection', { get: () => ({ saveData: true }) });
             HTMLAnchorElement.prototype.click = function () { window.saved = this.href }",
        );
        browser.open(&server.address(PLAIN));
        wait_until_it_says(&browser, "your browser saves data");
        assert!(!reading(&browser).captions.is_empty(), "recorded answers");
        browser.click("[data-save=svg]");
        let svg = browser.run("return decodeURIComponent(window.saved)", &[]);
        let named = "Photographs (built in) · von Mises–Fisher";
        let is_named = svg.as_str().is_some_and(|svg| svg.contains(named));
        assert!(is_named, "a picture of recorded answers names their model");
        for ending in [".safetensors", "engine_cpu_bg.wasm"] {
            assert!(server.asked(ending).is_empty(), "{ending} is not loaded");
        }
        browser.click("[data-act=retry-engine]");
        wait_until_shown(&browser, World::Photographs);
    }
}
