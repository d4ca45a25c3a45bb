//! An afternoon before a class: what hundreds of captions and pictures leave in memory.
//!
//! `cargo test --test e2e -- --ignored soak::` with a built page; it takes minutes. What was measured is written to
//! `artefacts/soak.txt`. `KAPPASCOPE_SOAK_BACKEND=gpu` measures the GPU engine, `KAPPASCOPE_SOAK_DIVISOR=10` with a tenth
//! of the captions and pictures.

mod built_page {
    use std::env;
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use crate::harness::{Browser, Server, dist, engine, open_ready};

    /// Variable that names the engine which is measured: `cpu`, if it is not set, or `gpu`.
    const BACKEND: &str = "KAPPASCOPE_SOAK_BACKEND";
    /// Variable by which the numbers of captions and pictures are divided. Caches that a short warm-up does not fill
    /// grow after it.
    const DIVISOR: &str = "KAPPASCOPE_SOAK_DIVISOR";
    /// Captions and pictures before the first measurement, which fill every cache: the page's holds 2000 captions.
    const WARM_UP: (usize, usize) = (2000, 60);
    const SOAK: (usize, usize) = (500, 200);
    /// Growth that is allowed, of the engine's memory and of the page's objects.
    const FLAT: f64 = 1.05;
    /// Growth of the page's own memory for each picture that came and went: 24 kB for a column of eight captions were
    /// measured. The reactive library does not give back all of a disposed memo (`reactive_graph` 0.2.16, natively: 170
    /// bytes, and 430 of one that has read a signal), and a cell has many.
    const BYTES_OF_PICTURE: f64 = 32_000.0;

    /// Has the engine's worker tell the size of its memory.
    const TELL: &str = "\nconst told = new BroadcastChannel('memory');
        told.onmessage = () => wasm && told.postMessage(wasm.memory.buffer.byteLength);";
    /// Keeps the page's own memory at hand.
    const KEEP: &str =
        "addEventListener('TrunkApplicationStarted', event => { window.app = event.detail.wasm })";
    /// Passes the bytes of the engine's memory.
    const ENGINE_BYTES: &str =
        "const done = arguments[arguments.length - 1], told = new BroadcastChannel('memory');
        told.onmessage = event => { told.close(); done(event.data) };
        told.postMessage('?')";
    /// Writes captions into the first row, one after another's answer, and passes how many were answered.
    const ASK: &str = "const [first, n_captions, done] = arguments, row = document.querySelector('tr[data-caption]');
        const sizes = ['small', 'large', 'tiny'], colours = ['red', 'blue', 'green', 'yellow'], shapes = ['star', 'circle', 'square'];
        const words = i => `a ${sizes[i % 3]} ${colours[i % 4]} ${shapes[i % 5 % 3]} above number ${i}`;
        let n_done = 0;
        const ask = () => {
            if (n_done === n_captions) return done(n_done);
            const caption = words(first + n_done), field = row.querySelector('textarea'), watch = new MutationObserver(() => {
                if (row.dataset.caption !== caption || !row.querySelector('[data-field=kappa][data-value]')) return;
                if (!document.querySelector('[data-status=ready]')) return;
                watch.disconnect(); n_done += 1; setTimeout(ask);
            });
            watch.observe(document.body, { subtree: true, attributes: true, childList: true });
            field.value = caption;
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        };
        ask();";
    /// Drops pictures onto the page, each other pixels, waits for the numbers of each, takes it off again, and passes how
    /// many there were.
    const SHOW: &str = "const [first, n_pictures, done] = arguments, canvas = new OffscreenCanvas(256, 192), pen = canvas.getContext('2d');
        const columns = () => new Set([...document.querySelectorAll('td.pair[data-image][data-value]')].map(cell => cell.dataset.image));
        const until = test => new Promise(resolve => {
            const look = () => document.querySelector('[data-status=ready]') && test() ? resolve() : setTimeout(look, 20);
            look();
        });
        const show = async i => {
            const before = columns();
            for (let x = 0; x < 8; x += 1) { pen.fillStyle = `hsl(${(47 * i + 31 * x) % 360} 80% 50%)`; pen.fillRect(32 * x, 0, 32, 192); }
            const data = new DataTransfer();
            data.items.add(new File([await canvas.convertToBlob()], `picture-${i}.png`, { type: 'image/png' }));
            document.querySelector('main').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
            await until(() => columns().size > before.size);
            [...document.querySelectorAll('.picture .remove')].at(-1).click();
            await until(() => columns().size === before.size);
        };
        (async () => { for (let i = 0; i < n_pictures; i += 1) await show(first + i); done(n_pictures) })().catch(error => done(String(error)));";

    /// Bytes of the engine's memory, of the page's, and of the page's JavaScript objects after a collection.
    #[derive(Debug)]
    struct Memory([f64; 3]);

    const PAGE: &str = "page";
    const NAMES: [&str; 3] = ["engine", PAGE, "JavaScript objects of the page"];

    #[test]
    #[ignore = "needs the built page and minutes: cargo test --test e2e -- --ignored soak::"]
    fn hundreds_of_captions_and_pictures_leave_the_engines_memory_as_it_was() {
        let backend = env::var(BACKEND).unwrap_or_else(|_| "cpu".to_owned());
        let divisor: usize = env::var(DIVISOR).map_or(1, |n| n.parse().expect("a number"));
        let [warm_up, soak] =
            [WARM_UP, SOAK].map(|(captions, pictures)| (captions / divisor, pictures / divisor));
        let script = format!("engine_{backend}.js");
        let whole = fs::read(dist().join(&script)).expect("a built page");
        let told = (format!("/{script}"), [&whole[..], TELL.as_bytes()].concat());
        let (server, browser) = (Server::replacing([told].into()), Browser::start());
        browser.run_before_pages(KEEP);
        open_ready(&browser, &server.address(&format!("?backend={backend}")));
        use_page(&browser, (0, 0), warm_up);
        let before = Memory::of(&browser);
        use_page(&browser, warm_up, soak);
        let after = Memory::of(&browser);
        assert_eq!(engine(&browser), backend, "the engine that was measured");
        keep(&backend, [warm_up, soak], [&before, &after]);
        for (name, (before, after)) in NAMES.iter().zip(before.0.iter().zip(&after.0)) {
            let limit = match *name {
                PAGE => before + BYTES_OF_PICTURE * soak.1 as f64,
                _ => FLAT * before,
            };
            assert!(
                *after <= limit,
                "memory of the {name}: {before} bytes after the warm-up, {after} at the end, at most {limit} are allowed"
            );
        }
    }

    /// Asks for captions and pictures, beginning with the numbers that were not asked for yet.
    fn use_page(browser: &Browser, first: (usize, usize), n: (usize, usize)) {
        for (script, first, n) in [(ASK, first.0, n.0), (SHOW, first.1, n.1)] {
            // A script may run for half a minute, in which a GPU that is imitated answers little.
            let piece = if engine(browser) == "gpu" { 1 } else { 20 };
            for i in (0..n).step_by(piece) {
                let n_asked = piece.min(n - i);
                let n_answered =
                    browser.run_async_with(script, &[json!(first + i), json!(n_asked)]);
                assert_eq!(
                    n_answered,
                    json!(n_asked),
                    "answers from number {}",
                    first + i
                );
            }
        }
    }

    impl Memory {
        fn of(browser: &Browser) -> Self {
            browser.devtools("HeapProfiler.enable", json!({}));
            browser.devtools("HeapProfiler.collectGarbage", json!({}));
            let heap = browser.devtools("Runtime.getHeapUsage", json!({}));
            Self([
                number(&browser.run_async(ENGINE_BYTES)),
                number(&browser.run("return app.memory.buffer.byteLength", &[])),
                number(&heap["usedSize"]),
            ])
        }
    }

    /// Keeps what was measured beside the screenshots.
    fn keep(backend: &str, [warm_up, soak]: [(usize, usize); 2], [before, after]: [&Memory; 2]) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artefacts");
        fs::create_dir_all(&folder).expect("artefacts/ can be made");
        let line = |(name, (before, after)): (&&str, (&f64, &f64))| {
            format!(
                "{backend}, {name}: {before} bytes after {warm_up:?} captions and pictures, {after} after {soak:?} more\n"
            )
        };
        let pairs = NAMES.iter().zip(before.0.iter().zip(&after.0));
        let text: String = pairs.map(line).collect();
        fs::write(folder.join("soak.txt"), text).expect("artefacts/ can be written");
    }

    fn number(value: &Value) -> f64 {
        value
            .as_f64()
            .unwrap_or_else(|| panic!("not a number: {value}"))
    }
}
