//! The directions between modules, read from the source: which module may use which, and what it must never mention;
//! and names and sizes.
//!
//! Comments, strings and `#[cfg(test)]` code are not read. A new module under `src/` must be entered in [`MODULES`].
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use source::{Source, Uses, files_below, root, sources, test_sources};

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
/// What would bring all of Burn's products into the GPU engine, a fifth of its program: `device` has its own, and
/// `model::initial` the values that parameters start with.
const BURN_PRODUCTS: &[&str] = &["matmul", "conv2d", "linalg", "Initializer", "LinearConfig"];
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
        name: "unicode",
        may_use: &[],
        never: &[BURN, LEPTOS, FILES, CLOCKS, STDOUT, CLAP, SERDE],
    },
    Module {
        name: "preprocess",
        may_use: &["error", "unicode"],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "host",
        may_use: &[],
        never: &[BURN, WEB, LEPTOS, FILES, CLOCKS, STDOUT, CLAP, SERDE],
    },
    Module {
        name: "device",
        may_use: &["error", "host"],
        never: &[LEPTOS, FILES, CLOCKS, STDOUT, CLAP],
    },
    Module {
        name: "model",
        may_use: &["device", "error", "family", "host", "numerics"],
        never: &[
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            READ_BACK,
            BURN_PRODUCTS,
        ],
    },
    Module {
        name: "weights",
        may_use: &["error", "host", "model", "preprocess", "protocol"],
        never: &[
            WEB,
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SYNCHRONOUS_READ_BACK,
            BURN_PRODUCTS,
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
            "host",
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
            BURN_PRODUCTS,
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
            "host",
        ],
        never: &[
            LEPTOS,
            FILES,
            CLOCKS,
            STDOUT,
            CLAP,
            SYNCHRONOUS_READ_BACK,
            BURN_PRODUCTS,
        ],
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
/// The most characters of a line of the page or of a comment, both of which `rustfmt` leaves as they are.
const LINE_LIMIT: usize = 120;
/// The most lines of a function or a component, from its signature to its last brace.
const FUNCTION_LIMIT: usize = 60;
/// The most lines of nineteen functions in twenty.
const PERCENTILE_95_LIMIT: usize = 32;

fn row(source: &Source) -> Option<&'static Module> {
    let name = source.module()?;
    MODULES.iter().find(|module| module.name == name)
}

/// What a rule finds wrong in each source, a line each.
fn complaints(rule: impl Fn(&Source) -> Vec<String>) -> String {
    let complain = |source: &Source| {
        let path = |what| format!("{}: {what}\n", source.path.display());
        rule(source).into_iter().map(path).collect::<String>()
    };
    sources().iter().map(complain).collect()
}

#[test]
fn every_module_is_in_the_table() {
    let known: BTreeSet<&str> = MODULES.iter().map(|module| module.name).collect();
    let is_unknown = |name: &String| !known.contains(name.as_str());
    let wrong = complaints(|source| source.module().filter(is_unknown).into_iter().collect());
    assert_eq!(wrong, "", "modules without a row in MODULES");
}

#[test]
fn modules_use_only_what_their_direction_allows() {
    let wrong = complaints(|source| {
        let Some(module) = row(source) else {
            return Vec::new();
        };
        let used = source.crate_modules().into_iter();
        let is_allowed = |used: &&str| *used == module.name || module.may_use.contains(used);
        used.filter(|used| !is_allowed(used))
            .map(|used| format!("{} must not use {used}", module.name))
            .collect()
    });
    assert_eq!(wrong, "", "wrong directions");
}

#[test]
fn files_of_a_module_use_each_other_in_one_direction() {
    let found = Uses::of(sources()).cycles();
    assert_eq!(
        found,
        BTreeSet::new(),
        "files that use each other in a circle"
    );
}

#[test]
fn modules_never_mention_what_they_must_not_know() {
    let wrong = complaints(|source| {
        let Some(module) = row(source) else {
            return Vec::new();
        };
        let words: BTreeSet<&str> = source.tokens.iter().map(String::as_str).collect();
        let forbidden = module.never.iter().flat_map(|list| list.iter());
        forbidden
            .filter(|word| words.contains(**word))
            .map(|word| format!("{} must not mention `{word}`", module.name))
            .collect()
    });
    assert_eq!(wrong, "", "forbidden words");
}

/// Complains about sources outside these files that have one of these sequences of tokens.
fn only_in(files: &[&str], sequences: &[&[&str]]) -> String {
    complaints(|source| {
        let sequences = sequences.iter().filter(|sequence| source.has(sequence));
        let is_outside = |_: &&&[&str]| files.iter().all(|file| source.path != Path::new(file));
        sequences
            .filter(is_outside)
            .map(|found| found.concat())
            .collect()
    })
}

#[test]
fn features_are_switched_in_lib_and_device_only() {
    let wrong = only_in(&["src/lib.rs", "src/device.rs"], &[&["feature", "="]]);
    assert_eq!(wrong, "", "cfg(feature) outside lib.rs and device.rs");
}

#[test]
fn only_device_names_a_backend() {
    const TYPES: [&str; 7] = [
        "wgpu",
        "cubecl",
        "Wgpu",
        "WgpuSetup",
        "Flex",
        "Cuda",
        "NdArray",
    ];
    const MAKERS: [&str; 5] = ["flex", "webgpu", "wgpu", "cuda", "default"];
    let types = TYPES.map(|name| [name]);
    let makers = MAKERS.map(|name| ["Device", ":", ":", name]);
    let types = types.iter().map(|sequence| &sequence[..]);
    let all: Vec<&[&str]> = types
        .chain(makers.iter().map(|sequence| &sequence[..]))
        .collect();
    assert_eq!(
        only_in(&["src/device.rs", "src/device/gpu_kernels/mod.rs"], &all),
        "",
        "backends named outside of device"
    );
}

#[test]
fn nothing_unwraps_outside_tests() {
    assert_eq!(
        only_in(&[], &[&[".", "unwrap", "(", ")"]]),
        "",
        "unwrap outside tests"
    );
}

#[test]
fn the_native_program_writes_files_whole_and_synced() {
    const WRITER: &str = "src/train/files.rs";
    let wrong = complaints(|source| {
        let is_bound = source.module().as_deref() == Some("train");
        if !is_bound || source.path == Path::new(WRITER) {
            return Vec::new();
        }
        let writes: [&[&str]; 2] = [
            &["fs", ":", ":", "write", "("],
            &["File", ":", ":", "create"],
        ];
        let found = writes.into_iter().filter(|write| source.has(write));
        found.map(|write| write.concat()).collect()
    });
    assert_eq!(wrong, "", "files that {WRITER} does not write");
}

#[test]
fn the_public_data_is_for_tests_alone() {
    let wrong = complaints(|source| {
        let strings = source.strings.iter();
        strings
            .filter(|text| text.contains("../shared"))
            .cloned()
            .collect()
    });
    assert_eq!(wrong, "", "paths to data outside the project");
}

#[test]
fn programs_only_call_the_library() {
    let wrong = complaints(|source| {
        let n_lines = source.text.lines().count();
        let is_long = source.path.starts_with("src/bin") && n_lines > BIN_LIMIT;
        is_long
            .then(|| format!("{n_lines} lines"))
            .into_iter()
            .collect()
    });
    assert_eq!(wrong, "", "programs over {BIN_LIMIT} lines");
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let wrong = complaints(|source| {
        let mut wrong = Vec::new();
        if source.n_lines > FILE_LIMIT {
            wrong.push(format!("{} lines before its tests", source.n_lines));
        }
        if !source.text.starts_with("//!") {
            wrong.push("does not open with what it is".to_owned());
        }
        wrong
    });
    assert_eq!(wrong, "", "files have at most {FILE_LIMIT} lines");
}

#[test]
fn markup_and_comments_are_wrapped() {
    let wrong = complaints(|source| {
        let is_markup = source.module().as_deref() == Some("ui");
        // A row of a table has one line.
        let is_comment = |line: &str| {
            let line = line.trim_start();
            line.starts_with("//") && !line.ends_with('|')
        };
        let lines = (1..).zip(source.text.lines());
        let wrapped = lines.filter(|(_, line)| is_markup || is_comment(line));
        wrapped
            .map(|(n, line)| (n, line.chars().count()))
            .filter(|(_, n_characters)| *n_characters > LINE_LIMIT)
            .map(|(n, n_characters)| format!("line {n} has {n_characters} characters"))
            .collect()
    });
    assert_eq!(wrong, "", "lines over {LINE_LIMIT} characters");
}

#[test]
fn functions_are_short() {
    let wrong = complaints(|source| {
        let functions = source.functions.iter();
        functions
            .filter(|function| function.n_lines > FUNCTION_LIMIT)
            .map(|function| format!("{} has {} lines", function.name, function.n_lines))
            .collect()
    });
    assert_eq!(wrong, "", "functions have at most {FUNCTION_LIMIT} lines");
}

#[test]
fn nineteen_functions_in_twenty_fit_on_a_screen() {
    let functions = sources().iter().flat_map(|source| &source.functions);
    let mut lengths: Vec<usize> = functions.map(|function| function.n_lines).collect();
    lengths.sort_unstable();
    let percentile = lengths[(lengths.len() * 19).div_ceil(20) - 1];
    assert!(
        percentile <= PERCENTILE_95_LIMIT,
        "the 95th percentile of {} functions is {percentile} lines, at most {PERCENTILE_95_LIMIT} are allowed",
        lengths.len()
    );
}

#[test]
fn a_type_name_has_one_meaning() {
    let mut files: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for source in sources().iter().chain(test_sources()) {
        for name in &source.types {
            files.entry(name).or_default().push(&source.path);
        }
    }
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "types of one name: {files:#?}");
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
fn code_is_read_and_nothing_else() {
    let source = Source::parse(
        "src/worker/x.rs".into(),
        "//! About burn.\nuse crate::{model::clip::Clip, error::{Error, Result}};\n#[cfg(test)]\nmod golden;\n\
         /// crate::ui\nfn f() -> crate::weights::Part { view! { <p>{crate::wire::read(\"leptos \\\" // \")}</p> } }\n\
         const Q: char = '\"'; // clap\nstruct After;\n#[cfg(test)]\nmod tests { use crate::train; }\n"
            .to_owned(),
    );
    let used: Vec<&str> = source.crate_modules().into_iter().collect();
    assert_eq!(
        used,
        ["error", "model", "weights", "wire"],
        "modules named by the code"
    );
    for hidden in ["burn", "leptos", "clap", "ui", "golden", "train"] {
        assert!(
            !source.has(&[hidden]),
            "{hidden} is not code: {:?}",
            source.tokens
        );
    }
    for seen in ["Clip", "Part", "After", "Q"] {
        assert!(source.has(&[seen]), "{seen} is code: {:?}", source.tokens);
    }
    assert_eq!(source.n_lines, 8, "lines before the tests");
}

#[test]
fn circles_are_found_through_what_a_module_hands_on() {
    let file = |path: &str, text: &str| Source::parse(path.into(), text.to_owned());
    let circle = [
        file(
            "src/a/mod.rs",
            "mod b; mod c; pub use b::B; pub use c::{C as D, e};",
        ),
        file("src/a/b.rs", "use super::D; pub struct B(D);"),
        file("src/a/c.rs", "pub struct C; pub fn e() { use super::B; }"),
    ];
    let found = Uses::of(&circle).cycles();
    assert_eq!(
        found,
        [["a::b", "a::c"].map(str::to_owned).into()].into(),
        "b and c"
    );
    let line = [
        file("src/a/mod.rs", "mod b; mod c; pub use b::B; pub use c::C;"),
        file("src/a/b.rs", "use super::{C, c}; pub struct B(C);"),
        file(
            "src/a/c.rs",
            "pub struct C; #[cfg(test)] mod tests { use super::super::B; }",
        ),
    ];
    assert_eq!(Uses::of(&line).cycles(), BTreeSet::new(), "b uses c");
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
