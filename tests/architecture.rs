//! The directions between modules, read from the source: which module may use which, and what it must never mention.
//!
//! Comments, strings and `#[cfg(test)]` code are not read. A new module under `src/` must be entered in [`MODULES`].
#![allow(missing_docs, reason = "an integration test has no users")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the browser is called in code.
const WEB: &[&str] = &[
    "web_sys",
    "js_sys",
    "wasm_bindgen",
    "wasm_bindgen_futures",
    "serde_wasm_bindgen",
    "gloo_net",
    "gloo_timers",
    "console_error_panic_hook",
    "JsValue",
];
const LEPTOS: &[&str] = &["leptos"];
const BURN: &[&str] = &["burn", "cubecl", "wgpu"];
const FILES: &[&str] = &["fs", "File", "OpenOptions"];
const CLOCKS: &[&str] = &["Instant", "SystemTime"];
/// `print!` is left to Clippy, since a browser's window prints, too.
const STDOUT: &[&str] = &["println", "eprintln", "eprint", "stdout", "stderr"];
const SERDE: &[&str] = &["serde", "serde_json", "Serialize", "Deserialize"];
const CLAP: &[&str] = &["clap", "anyhow", "indicatif"];
/// Synchronous read-backs panic in the browser, and `model` must not read back at all.
const READ_BACK: &[&str] = &[
    "into_data",
    "to_data",
    "into_scalar",
    "into_data_async",
    "to_data_async",
    "into_scalar_async",
];
const SYNCHRONOUS_READ_BACK: &[&str] = &["into_data", "to_data", "into_scalar"];
const FAILURE: &[&str] = &["Result", "panic", "unreachable", "todo", "unwrap", "expect"];

/// One row of the table: a module, the modules it may use, and the words it must not contain.
struct Module {
    name: &'static str,
    may_use: &'static [&'static str],
    never: &'static [&'static [&'static str]],
}

const MODULES: &[Module] = &[
    Module {
        name: "error",
        may_use: &[],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "family",
        may_use: &[],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP, &["cfg"]],
    },
    Module {
        name: "report",
        may_use: &["family"],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP, &["cfg"]],
    },
    Module {
        name: "corruption",
        may_use: &["numerics"],
        never: &[
            BURN,
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SERDE,
            &["cfg"],
        ],
    },
    Module {
        name: "numerics",
        may_use: &["family"],
        never: &[
            BURN,
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SERDE,
            FAILURE,
            &["cfg"],
        ],
    },
    Module {
        name: "metrics",
        may_use: &["numerics"],
        never: &[
            BURN,
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SERDE,
            &["cfg"],
        ],
    },
    Module {
        name: "scenes",
        may_use: &["numerics"],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "protocol",
        may_use: &["family"],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "preprocess",
        may_use: &["error"],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "device",
        may_use: &["error"],
        never: &[LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "model",
        may_use: &["family", "numerics", "error"],
        never: &[WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP, READ_BACK],
    },
    Module {
        name: "weights",
        may_use: &["error", "model", "preprocess", "protocol"],
        never: &[
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SYNCHRONOUS_READ_BACK,
        ],
    },
    Module {
        name: "inference",
        may_use: &[
            "error",
            "numerics",
            "metrics",
            "model",
            "preprocess",
            "weights",
            "device",
            "protocol",
        ],
        never: &[
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SYNCHRONOUS_READ_BACK,
        ],
    },
    Module {
        name: "wire",
        may_use: &["protocol", "error"],
        never: &[BURN, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "answer",
        may_use: &["error", "protocol", "preprocess", "inference"],
        never: &[WEB, LEPTOS, BURN, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "worker",
        may_use: &[
            "answer",
            "error",
            "protocol",
            "wire",
            "inference",
            "preprocess",
            "weights",
            "device",
        ],
        never: &[LEPTOS, FILES, CLOCKS, STDOUT, CLAP, SYNCHRONOUS_READ_BACK],
    },
    Module {
        name: "explorer",
        may_use: &[
            "family",
            "protocol",
            "numerics",
            "metrics",
            "scenes",
            "report",
            "corruption",
        ],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "ui",
        may_use: &[
            "error",
            "family",
            "explorer",
            "protocol",
            "wire",
            "numerics",
            "metrics",
            "scenes",
            "report",
            "corruption",
        ],
        // A visitor's own picture is a `web_sys::File`.
        never: &[BURN, &["fs", "OpenOptions"], CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "train",
        may_use: &[
            "answer",
            "error",
            "family",
            "report",
            "corruption",
            "numerics",
            "metrics",
            "scenes",
            "explorer",
            "protocol",
            "preprocess",
            "device",
            "model",
            "weights",
            "inference",
        ],
        never: &[WEB, LEPTOS],
    },
    Module {
        name: "xtask",
        may_use: &[],
        never: &[BURN, WEB, LEPTOS, CLAP, SERDE],
    },
];

/// The longest a file may be before its tests.
const FILE_LIMIT: usize = 450;
/// The longest a program's `main` file may be: it only calls the library.
const BIN_LIMIT: usize = 40;

#[test]
fn every_module_is_in_the_table() {
    let known: BTreeSet<&str> = MODULES.iter().map(|module| module.name).collect();
    let unknown: BTreeSet<String> = sources()
        .iter()
        .filter_map(|source| source.module())
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    assert!(
        unknown.is_empty(),
        "modules without a row in MODULES: {unknown:?}"
    );
}

#[test]
fn modules_use_only_what_their_direction_allows() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(module) = source.row() else { continue };
        for used in crate_modules(&source.code) {
            if used != module.name && !module.may_use.contains(&used.as_str()) {
                wrong.push(format!(
                    "{}: {} must not use {used}",
                    source.path.display(),
                    module.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "wrong directions:\n{}", wrong.join("\n"));
}

#[test]
fn modules_never_mention_what_they_must_not_know() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(module) = source.row() else { continue };
        let words: BTreeSet<&str> = words(&source.code).collect();
        for word in module.never.iter().flat_map(|list| list.iter()) {
            if words.contains(word) {
                wrong.push(format!(
                    "{}: {} must not mention `{word}`",
                    source.path.display(),
                    module.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "forbidden words:\n{}", wrong.join("\n"));
}

#[test]
fn features_are_switched_in_lib_and_device_only() {
    let allowed = [Path::new("src/lib.rs"), Path::new("src/device.rs")];
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| {
            source.code.contains("feature =") && !allowed.contains(&source.path.as_path())
        })
        .map(|source| source.path)
        .collect();
    assert!(
        wrong.is_empty(),
        "cfg(feature) outside lib.rs and device.rs: {wrong:?}"
    );
}

#[test]
fn only_device_names_a_backend() {
    let backends: BTreeSet<&str> = [
        "wgpu",
        "cubecl",
        "Wgpu",
        "WgpuSetup",
        "Flex",
        "Cuda",
        "NdArray",
    ]
    .into();
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path != Path::new("src/device.rs"))
    {
        let by_type = words(&source.code)
            .find(|word| backends.contains(word))
            .map(str::to_owned);
        let by_constructor = [
            "Device::flex",
            "Device::webgpu",
            "Device::wgpu",
            "Device::cuda",
            "Device::default",
        ]
        .into_iter()
        .find(|constructor| source.code.contains(constructor))
        .map(str::to_owned);
        wrong.extend(
            by_type
                .or(by_constructor)
                .map(|name| format!("{}: {name}", source.path.display())),
        );
    }
    assert!(
        wrong.is_empty(),
        "backends named outside device.rs:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn programs_only_call_the_library() {
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.path.starts_with("src/bin"))
        .map(|source| (source.text.lines().count(), source.path))
        .filter(|(n_lines, _)| *n_lines > BIN_LIMIT)
        .collect();
    assert!(
        wrong.is_empty(),
        "programs over {BIN_LIMIT} lines: {wrong:?}"
    );
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut wrong = Vec::new();
    for source in sources() {
        let n_lines = before_tests(&source.text).lines().count();
        if n_lines > FILE_LIMIT {
            wrong.push(format!(
                "{}: {n_lines} lines before its tests, at most {FILE_LIMIT}",
                source.path.display()
            ));
        }
        if !source.text.starts_with("//!") {
            wrong.push(format!(
                "{}: does not open with what it is",
                source.path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_unwraps_outside_tests() {
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.code.contains(".unwrap()"))
        .map(|source| source.path)
        .collect();
    assert!(wrong.is_empty(), "unwrap outside tests: {wrong:?}");
}

#[test]
fn colours_are_named_in_the_tokens_only() {
    let style = root().join("style");
    let sheets = files_below(&style)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "css"));
    let mut wrong = Vec::new();
    for sheet in sheets.filter(|path| !path.ends_with("tokens.css")) {
        let text = fs::read_to_string(&sheet).expect("a stylesheet can be read");
        wrong.extend(hex_colours(&text).map(|colour| format!("{}: {colour}", sheet.display())));
    }
    assert!(
        wrong.is_empty(),
        "colours outside tokens.css:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_scanner_reads_code_and_nothing_else() {
    let code = code_of(
        "//! About burn.\nuse crate::{model::clip::Clip, error::{Error, Result}};\n#[cfg(test)]\nmod golden;\n\
         /// crate::ui\nfn f() -> crate::weights::Part {}\nconst A: &str = \"leptos \\\" // \"; const Q: char = '\"'; // clap\n\
         struct After;\n#[cfg(test)]\nmod tests { use crate::train; }\n",
    );
    let used: Vec<String> = crate_modules(&code).into_iter().collect();
    assert_eq!(
        used,
        ["error", "model", "weights"],
        "modules named by the code"
    );
    let words: BTreeSet<&str> = words(&code).collect();
    for hidden in ["burn", "leptos", "clap", "ui", "golden", "train"] {
        assert!(!words.contains(hidden), "{hidden} is not code: {code}");
    }
    for seen in ["Clip", "Part", "After", "Q"] {
        assert!(words.contains(seen), "{seen} is code: {code}");
    }
}

#[test]
fn the_scanner_knows_colours_from_selectors() {
    let css = "a{color:#fff;b:1px solid #12ab34} #add{} url(#gradient)";
    assert_eq!(
        hex_colours(css).collect::<Vec<_>>(),
        ["#fff", "#12ab34"],
        "colours of {css}"
    );
}

/// A source file: where it lies below the root, as it is, and without comments, strings and tests.
struct Source {
    path: PathBuf,
    text: String,
    code: String,
}

impl Source {
    /// The module of the crate that the file belongs to; `None` for `lib.rs` and the programs.
    fn module(&self) -> Option<String> {
        let below = self.path.strip_prefix("src").ok()?;
        let first = Path::new(below.components().next()?.as_os_str())
            .file_stem()?
            .to_str()?
            .to_owned();
        (first != "lib" && first != "bin").then_some(first)
    }

    /// The files of the modules that this one declares for its tests.
    fn test_files(&self) -> Vec<PathBuf> {
        let folder = match self.path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib") => self.path.with_file_name(""),
            _ => self.path.with_extension(""),
        };
        test_modules(&self.text)
            .map(|name| folder.join(name).with_extension("rs"))
            .collect()
    }

    fn row(&self) -> Option<&'static Module> {
        let name = self.module()?;
        MODULES.iter().find(|module| module.name == name)
    }
}

fn sources() -> Vec<Source> {
    let mut found: Vec<Source> = files_below(&root().join("src"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file can be read");
            let below = path
                .strip_prefix(root())
                .expect("sources lie below the root")
                .to_owned();
            Source {
                path: below,
                code: code_of(&text),
                text,
            }
        })
        .collect();
    let for_tests: BTreeSet<PathBuf> = found.iter().flat_map(Source::test_files).collect();
    found.retain(|source| !for_tests.contains(&source.path));
    assert!(
        found.len() > 2,
        "the sources were not found below {}",
        root().display()
    );
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be listed").path())
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    found.sort();
    found
}

/// A file up to the module of its tests, which stands last.
fn before_tests(text: &str) -> &str {
    let is_tests = |(at, marker): &(usize, &str)| {
        let rest = text[at + marker.len()..]
            .lines()
            .find(|line| !line.starts_with("#["));
        rest.is_some_and(|line| line.ends_with('{') || line.ends_with('}'))
    };
    text.match_indices("\n#[cfg(test)]\n")
        .find(is_tests)
        .map_or(text, |(at, _)| &text[..at])
}

/// The names of the modules that a file declares for its tests only, as in `#[cfg(test)] mod golden;`.
fn test_modules(text: &str) -> impl Iterator<Item = &str> {
    let declarations = text
        .match_indices("#[cfg(test)]\n")
        .filter_map(|(at, marker)| text[at + marker.len()..].lines().next());
    declarations.filter_map(|line| {
        line.trim_start_matches("pub(crate) ")
            .strip_prefix("mod ")?
            .strip_suffix(';')
    })
}

/// The code of a file without tests, comments and the content of strings.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = before_tests(text);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let n_bytes = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with('"') {
            string_bytes(rest, code.ends_with("r#"))
        } else {
            code.push_str(&rest[..1]);
            1
        };
        rest = &rest[n_bytes..];
    }
    code.push_str(rest);
    test_modules(text).fold(code, |code, name| {
        code.replace(&format!("#[cfg(test)]\nmod {name};"), "")
    })
}

/// The length of the string literal that a text begins with, quotes included.
fn string_bytes(text: &str, is_raw: bool) -> usize {
    if is_raw {
        return text.find("\"#").map_or(text.len(), |at| at + 1);
    }
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The modules named by `crate::module` and `crate::{module, …}`.
fn crate_modules(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, marker) in code.match_indices("crate::") {
        let rest = &code[at + marker.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(first_words(group)),
            None => found.extend(words(rest).next().map(str::to_owned)),
        }
    }
    // A name re-exported by or defined in lib.rs starts with a capital and is not a module.
    found
        .into_iter()
        .filter(|name| name.starts_with(char::is_lowercase))
        .collect()
}

/// The first word of each element of a braced list whose opening brace was just read.
fn first_words(group: &str) -> Vec<String> {
    let (mut depth, mut elements, mut element) = (0_i32, Vec::new(), String::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => elements.push(std::mem::take(&mut element)),
            _ => element.push(c),
        }
    }
    elements.push(element);
    elements
        .iter()
        .filter_map(|element| words(element).next().map(str::to_owned))
        .collect()
}

/// `#rgb` and `#rrggbb` where a value may stand, not where a selector or an address does.
fn hex_colours(css: &str) -> impl Iterator<Item = &str> {
    css.match_indices('#').filter_map(|(at, _)| {
        let digits = css[at + 1..]
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>();
        let is_colour =
            matches!(digits.len(), 3 | 4 | 6 | 8) && digits.chars().all(|c| c.is_ascii_hexdigit());
        let in_value =
            css[..at].trim_end().ends_with([':', ',', '(']) && !css[..at].ends_with("url(");
        let in_list = css[..at]
            .rfind([':', '{', '}', ';'])
            .is_some_and(|mark| css.as_bytes()[mark] == b':');
        (is_colour && (in_value || in_list)).then(|| &css[at..=at + digits.len()])
    })
}
