//! Our engines beside onnxruntime-web, in one browser and in turn: `cargo xtask bench browser`.
//!
//! `benches/browser/` has the page that asks both, and the program that writes the models. Both must give the same answers
//! before anything is timed. What was measured goes to `benches/results/`.

mod built_page {
    use std::collections::BTreeMap;
    use std::env;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::thread;
    use std::time::{Duration, Instant};

    use kappascope::train::import::{CheckpointSource, Import, import};
    use kappascope::weights::shard::Precision;
    use serde_json::{Value, json};

    use crate::harness::{Browser, Server, dist, machine};

    /// What is measured where no step is named.
    const STEPS: [&str; 6] = ["clip", "loading", "photos", "int8", "products", "memory"];
    /// Times that each is asked, after one that does not count.
    const ROUNDS: usize = 15;
    /// Times that either side is asked for its products, each time for the median of as many rounds.
    const PRODUCT_ROUNDS: usize = 3;
    /// A call on a software GPU takes a minute.
    const LIMIT: Duration = Duration::from_mins(60);
    const PAUSE: Duration = Duration::from_millis(500);

    /// A measure of both, the smaller the better.
    struct Row {
        name: String,
        ours: f64,
        theirs: f64,
        unit: String,
    }

    impl Row {
        fn ratio(&self) -> f64 {
            self.ours / self.theirs
        }

        fn json(&self) -> Value {
            let rounded = |value: f64, digits: i32| {
                (value * 10_f64.powi(digits)).round() / 10_f64.powi(digits)
            };
            json!({
                "name": self.name, "ours": rounded(self.ours, 1), "theirs": rounded(self.theirs, 1), "unit": self.unit,
                "ratio": rounded(self.ratio(), 3),
            })
        }
    }

    #[test]
    #[ignore = "needs models and a package: cargo xtask bench browser"]
    fn our_engines_beside_onnxruntime_web() {
        let folder = env::var_os("KAPPASCOPE_BENCH_BROWSER").map(PathBuf::from);
        let folder = folder.expect("KAPPASCOPE_BENCH_BROWSER is set by cargo xtask bench browser");
        let named = env::var("KAPPASCOPE_BENCH_STEPS").unwrap_or_default();
        let named: Vec<&str> = named.split_whitespace().collect();
        prepare(&folder);

        let server = Server::of(folder.clone());
        let steps = if named.is_empty() { &STEPS } else { &*named };
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        for (i_step, step) in steps.iter().enumerate() {
            let (new_rows, new_notes) = measure(&server, step);
            eprint!("{}", table(&new_rows));
            rows.extend(new_rows);
            notes.extend(new_notes);
            if STEPS.iter().all(|step| steps[..=i_step].contains(step)) {
                keep(
                    "browser",
                    &rows,
                    &report(&rows, &notes, &place(&folder, &server)),
                );
            }
        }
        if steps == ["gpu"] {
            let is_software = notes.iter().any(|note| note.contains("(in software)"));
            let is_wanted = env::var("KAPPASCOPE_GPU").as_deref() == Ok("real");
            assert!(
                !(is_wanted && is_software),
                "the browser offers no real GPU: {notes:?}"
            );
            let report = report(&rows, &notes, &place(&folder, &server));
            keep("browser-gpu", &rows, &report);
        }
        eprintln!("{}", report(&rows, &notes, &place(&folder, &server)));
    }

    /// The rows of a step, and what is to be said of them.
    fn measure(server: &Server, step: &str) -> (Vec<Row>, Vec<String>) {
        if step == "memory" {
            return (vec![memory(server)], Vec::new());
        }
        if step == "products" {
            return (products(server), Vec::new());
        }
        let outcome = outcome_of(&opened(server), step);
        let rows = outcome["rows"].as_array().into_iter().flatten();
        let notes = [agreements(&outcome), dispatches(&outcome)].concat();
        (rows.map(row).collect(), notes)
    }

    /// What the GPU engine dispatched, the kernels that took longest first.
    fn dispatches(outcome: &Value) -> Vec<String> {
        let mut all = outcome["dispatches"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let millis = |kernel: &Value| kernel["millis"].as_f64().unwrap_or_default();
        all.sort_by(|a, b| millis(b).total_cmp(&millis(a)));
        let line = |kernel: &Value| {
            let [of, name] = ["of", "name"].map(|key| kernel[key].as_str().unwrap_or_default());
            format!(
                "* {of}: {:.2} ms in {} dispatches of {name}",
                millis(kernel),
                kernel["n"]
            )
        };
        all.iter().map(line).collect()
    }

    fn report(rows: &[Row], notes: &[String], place: &str) -> String {
        format!("{}\n{}\n\n{place}", table(rows), notes.join("\n"))
    }

    /// Puts the page's engines, its model of photographs and the page of the comparison into the folder, and imports the
    /// random CLIP.
    fn prepare(folder: &Path) {
        let copy_all = |from: &Path, to: &Path| {
            fs::create_dir_all(to).expect("a folder for the models");
            for entry in fs::read_dir(from).expect("a folder").flatten() {
                if entry.path().is_file() {
                    fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy of a file");
                }
            }
        };
        copy_all(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/browser"),
            folder,
        );
        copy_all(&dist().join("models/photos"), &folder.join("models/photos"));
        for program in ["engine_cpu", "engine_gpu"] {
            for name in [format!("{program}.js"), format!("{program}_bg.wasm")] {
                fs::copy(dist().join(&name), folder.join(&name)).expect("an engine in dist/");
            }
        }
        let checkpoint = folder.join("models/checkpoint").display().to_string();
        for (name, precision) in [("clip", Precision::F16), ("clip-int8", Precision::Int8)] {
            let out = folder.join("models").join(name);
            if out.join("manifest.json").exists() {
                continue;
            }
            let job = Import {
                source: CheckpointSource::parse(&checkpoint, None).expect("a checkpoint"),
                out,
                precision,
                tokenizer: None,
                golden_picture: None,
                replace: true,
                command: "cargo xtask bench browser".to_owned(),
            };
            import(&job).expect("a model folder");
        }
    }

    fn opened(server: &Server) -> Browser {
        let browser = Browser::alone(&[]);
        browser.open(&server.address("index.html"));
        browser
    }

    /// What a step of the page came to.
    fn outcome_of(browser: &Browser, step: &str) -> Value {
        browser.run("bench(...arguments)", &[json!(step), json!(ROUNDS)]);
        let (start, mut progress) = (Instant::now(), String::new());
        loop {
            thread::sleep(PAUSE);
            let now = browser.run("return outcome.isDone ? outcome : outcome.progress", &[]);
            if let Some(now) = now.as_str() {
                if now != progress {
                    now.clone_into(&mut progress);
                    eprintln!("{:>5.0} s  {progress}", start.elapsed().as_secs_f64());
                }
                assert!(
                    start.elapsed() < LIMIT,
                    "{step} takes longer than {LIMIT:?}, at: {progress}"
                );
                continue;
            }
            assert!(
                now["error"].is_null(),
                "{step}: {}; the browser's log: {:#}",
                now["error"],
                browser.log()
            );
            return now;
        }
    }

    fn row(row: &Value) -> Row {
        let text = |name: &str| row[name].as_str().expect("a text").to_owned();
        Row {
            name: text("name"),
            ours: median(times_of(row, "ours")),
            theirs: median(times_of(row, "theirs")),
            unit: text("unit"),
        }
    }

    fn times_of<'a>(row: &'a Value, side: &str) -> impl Iterator<Item = f64> + use<'a> {
        let times = row[side].as_array().into_iter().flatten();
        times.filter_map(Value::as_f64)
    }

    /// The kernel of the CPU engine beside a native one, each asked in turn.
    fn products(server: &Server) -> Vec<Row> {
        let mut times: BTreeMap<u64, [Vec<f64>; 2]> = BTreeMap::new();
        for _ in 0..PRODUCT_ROUNDS {
            let outcome = outcome_of(&opened(server), "products");
            let rows = outcome["rows"].as_array().into_iter().flatten();
            let ours =
                rows.map(|row| (row["name"].as_str().expect("a side"), times_of(row, "ours")));
            let ours: Vec<(&str, f64)> = ours.map(|(side, times)| (side, median(times))).collect();
            let theirs = native_products(ours.iter().map(|(side, _)| *side));
            for (side, millis) in ours {
                let [first, second] = times.entry(side.parse().expect("a side")).or_default();
                first.push(millis);
                second.push(theirs[side].as_f64().expect("milliseconds"));
            }
        }
        let row = |(n, [ours, theirs]): (u64, [Vec<f64>; 2])| Row {
            name: format!(
                "Product of {n} × {n} numbers, beside OpenBLAS with AVX2 outside the browser"
            ),
            ours: median(ours.into_iter()),
            theirs: median(theirs.into_iter()),
            unit: "ms".to_owned(),
        };
        times.into_iter().map(row).collect()
    }

    /// Milliseconds of a product by sides of its matrices.
    fn native_products<'a>(sides: impl Iterator<Item = &'a str>) -> Value {
        let python = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/browser/products.py");
        let output = Command::new(python).arg(script).args(sides).output();
        let output = output.expect("Python runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "products.py: {said}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The greatest memory of a tab that loads both towers and answers.
    fn memory(server: &Server) -> Row {
        let [ours, theirs] = ["ours", "theirs"].map(|side| {
            let browser = opened(server);
            outcome_of(&browser, side);
            let bytes = browser.peak_tab_bytes().expect("/proc tells of memory");
            bytes as f64 / 1e6
        });
        Row {
            name: "ViT-B/32 f32, memory of the tab at its peak, both towers".to_owned(),
            ours,
            theirs,
            unit: "MB".to_owned(),
        }
    }

    fn agreements(outcome: &Value) -> Vec<String> {
        let all = outcome["agreements"].as_array().into_iter().flatten();
        let line = |found: &Value| {
            let [cosine, least] =
                ["cosine", "atLeast"].map(|name| found[name].as_f64().unwrap_or_default());
            let [name, device] =
                ["name", "device"].map(|name| found[name].as_str().unwrap_or_default());
            format!(
                "* {name} ({device}): cosine of the answers {cosine:.6}, at least {least} was asked for."
            )
        };
        all.map(line).collect()
    }

    fn table(rows: &[Row]) -> String {
        let mut text =
            "| what (median) | ours | onnxruntime-web | unit | ratio |\n|---|---|---|---|---|\n"
                .to_owned();
        for row in rows {
            let Row {
                name,
                ours,
                theirs,
                unit,
            } = row;
            let ratio = row.ratio();
            writeln!(
                text,
                "| {name} | {ours:.1} | {theirs:.1} | {unit} | {ratio:.2} |"
            )
            .expect("a string grows");
        }
        text
    }

    /// Where, when and of what this was measured.
    fn place(folder: &Path, server: &Server) -> String {
        let package = folder.join("node_modules/onnxruntime-web/package.json");
        let package = fs::read(package).expect("npm installed it");
        let package: Value = serde_json::from_slice(&package).expect("a package.json");
        let version = package["version"].as_str().unwrap_or_default();
        machine::place(&opened(server), &format!("; onnxruntime-web {version}"))
    }

    /// Writes the results into files of this name.
    fn keep(name: &str, rows: &[Row], report: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
        fs::create_dir_all(&folder).expect("a folder for the results");
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let json = serde_json::to_string_pretty(&rows).expect("plain numbers");
        fs::write(folder.join(format!("{name}.json")), json + "\n").expect("a file of results");
        let head = "# Our engines beside onnxruntime-web, in the browser\n\n`cargo xtask bench browser` writes this file. The same \
                    weights on both sides, one thread, WebAssembly with SIMD; each question to both in turn, the first one not \
                    counted. Our times hold what a visitor waits for: tokens, decoding a picture of the size it is read in and, when \
                    loading, tokenizer, hashes and storage. Our towers are fetched as the page has them (f16; those of \
                    photographs int8), theirs as ONNX in f32; where a row says int8, each has its own.";
        fs::write(
            folder.join(format!("{name}.md")),
            format!("{head}\n\n{report}"),
        )
        .expect("a report");
    }

    fn median(values: impl Iterator<Item = f64>) -> f64 {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }
}
