//! The project's source files as `syn` parses them: code without comments, strings and tests, and who imports whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, File, Item, Signature, UseTree, Visibility};

/// A source file without its tests.
pub(crate) struct Source {
    /// Where it lies below the root.
    pub(crate) path: PathBuf,
    /// The text as it is, tests included.
    pub(crate) text: String,
    /// Lines before the module of its tests, which stands last.
    pub(crate) n_lines: usize,
    /// Identifiers, punctuation and brackets in order; no comments and no literals.
    pub(crate) tokens: Vec<String>,
    /// Literals as the code writes them, strings with their quotes.
    pub(crate) strings: Vec<String>,
    /// Types that the file defines, those of its tests included.
    pub(crate) types: Vec<String>,
    /// Functions with a body, components of the page and methods included.
    pub(crate) functions: Vec<Function>,
    imports: Vec<Import>,
    paths: Vec<Vec<String>>,
    test_modules: Vec<String>,
}

pub(crate) struct Function {
    pub(crate) name: String,
    /// Lines from its signature to its last brace.
    pub(crate) n_lines: usize,
}

/// One name of a `use` at the top of a file.
struct Import {
    path: Vec<String>,
    /// Name under which it is imported; `None` for `*`.
    name: Option<String>,
    is_public: bool,
}

/// The folder of `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `src` that are not for tests alone.
pub(crate) fn sources() -> &'static [Source] {
    &ALL.0
}

/// The files below `src` that are for tests alone.
pub(crate) fn test_sources() -> &'static [Source] {
    &ALL.1
}

static ALL: LazyLock<(Vec<Source>, Vec<Source>)> = LazyLock::new(read_sources);

fn read_sources() -> (Vec<Source>, Vec<Source>) {
    let files = files_below(&root().join("src")).into_iter();
    let found: Vec<Source> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file can be read");
            let below = path.strip_prefix(root()).expect("it lies below the root");
            Source::parse(below.to_owned(), text)
        })
        .collect();
    let for_tests: BTreeSet<PathBuf> = found.iter().flat_map(Source::test_files).collect();
    let is_code = |source: &Source| !for_tests.contains(&source.path);
    let (code, tests): (Vec<_>, Vec<_>) = found.into_iter().partition(is_code);
    assert!(code.len() > 100, "only {} sources were found", code.len());
    (code, tests)
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = paths
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect();
    found.sort();
    found
}

impl Source {
    pub(crate) fn parse(path: PathBuf, text: String) -> Self {
        let mut file = syn::parse_file(&text)
            .unwrap_or_else(|error| panic!("{} does not parse: {error}", path.display()));
        let test_start = file.items.iter().find_map(start_of_tests);
        let mut source = Self {
            path,
            n_lines: test_start.map_or(text.lines().count(), |line| line - 1),
            text,
            tokens: Vec::new(),
            strings: Vec::new(),
            types: types(&file),
            functions: Vec::new(),
            imports: Vec::new(),
            paths: Vec::new(),
            test_modules: test_modules(&file),
        };
        file.items.retain(|item| !is_for_tests(attributes(item)));
        source.visit_file(&file);
        for item in &file.items {
            let n_paths = source.paths.len();
            source.read_tokens(item.into_token_stream());
            if let Item::Use(item) = item {
                source.paths.truncate(n_paths);
                let is_public = !matches!(item.vis, Visibility::Inherited);
                source.read_use(&item.tree, &mut Vec::new(), is_public);
            }
        }
        let attributes = file.attrs.iter().map(ToTokens::to_token_stream);
        source.read_tokens(attributes.collect());
        source
    }

    /// The module that the file is, from the crate's root on; empty for `lib.rs`.
    pub(crate) fn module_path(&self) -> Vec<String> {
        let below = self.path.strip_prefix("src").unwrap_or(&self.path);
        let parts = below.with_extension("");
        let names = parts.iter().map(|part| part.to_string_lossy().into_owned());
        names
            .filter(|name| name != "mod" && name != "lib")
            .collect()
    }

    /// The module of the crate that the file belongs to; `None` for `lib.rs` and the programs.
    pub(crate) fn module(&self) -> Option<String> {
        let first = self.module_path().into_iter().next();
        first.filter(|name| name != "bin")
    }

    /// Whether this sequence of identifiers and punctuation occurs, as in `["unwrap", "("]`.
    pub(crate) fn has(&self, sequence: &[&str]) -> bool {
        let windows = &mut self.tokens.windows(sequence.len());
        windows.any(|window| window.iter().zip(sequence).all(|(a, b)| a == b))
    }

    /// The crate's modules that the file names.
    pub(crate) fn crate_modules(&self) -> BTreeSet<&str> {
        let imported = self.imports.iter().map(|import| &import.path);
        let all = self.paths.iter().chain(imported);
        let of_crate = all.filter_map(|path| match &path[..] {
            [first, module, ..] if first == "crate" => Some(module.as_str()),
            _ => None,
        });
        // A name with a capital is re-exported by or defined in lib.rs, and is not a module.
        of_crate
            .filter(|name| name.starts_with(char::is_lowercase))
            .collect()
    }

    /// The files of the modules that this one declares for its tests.
    fn test_files(&self) -> Vec<PathBuf> {
        let folder = match self.path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib") => self.path.with_file_name(""),
            _ => self.path.with_extension(""),
        };
        let names = self.test_modules.iter();
        names
            .map(|name| folder.join(name).with_extension("rs"))
            .collect()
    }

    fn read_use(&mut self, tree: &UseTree, before: &mut Vec<String>, is_public: bool) {
        let mut import = |path: &[String], last: Option<String>, name: Option<String>| {
            let path = path.iter().cloned().chain(last).collect();
            self.imports.push(Import {
                path,
                name,
                is_public,
            });
        };
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.read_use(&path.tree, before, is_public);
                before.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, before, is_public);
                }
            }
            UseTree::Name(name) if name.ident == "self" => {
                import(before, None, before.last().cloned());
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                import(before, Some(name.clone()), Some(name));
            }
            UseTree::Rename(renamed) => {
                import(
                    before,
                    Some(renamed.ident.to_string()),
                    Some(renamed.rename.to_string()),
                );
            }
            UseTree::Glob(_) => import(before, None, None),
        }
    }

    /// Keeps what is code, and the paths in it, those of macros' contents and of `use` inside functions included.
    fn read_tokens(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut path: Vec<String> = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(name) => {
                    if !ends_with_colons(&tokens[..i]) {
                        self.end_path(&mut path);
                    }
                    path.push(name.to_string());
                    self.tokens.push(name.to_string());
                }
                TokenTree::Punct(mark) => self.tokens.push(mark.as_char().to_string()),
                TokenTree::Literal(literal) => self.strings.push(literal.to_string()),
                TokenTree::Group(group) if !is_prose(&tokens[..i], group.stream()) => {
                    let (open, close) = brackets(group.delimiter());
                    self.tokens.push(open.to_owned());
                    if !ends_with_colons(&tokens[..i]) {
                        self.end_path(&mut path);
                    }
                    self.read_tokens(group.stream());
                    self.tokens.push(close.to_owned());
                }
                TokenTree::Group(_) => {}
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        if path.len() > 1 {
            self.paths.push(std::mem::take(path));
        }
        path.clear();
    }

    fn keep_function(&mut self, signature: &Signature, block: &Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.functions.push(Function {
            name: signature.ident.to_string(),
            n_lines: last + 1 - first,
        });
    }
}

impl<'a> Visit<'a> for Source {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.keep_function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.keep_function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.keep_function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Structs, enums, traits and aliases, inside functions and modules as well.
fn types(file: &File) -> Vec<String> {
    struct Types(Vec<String>);
    impl<'a> Visit<'a> for Types {
        fn visit_item(&mut self, item: &'a Item) {
            self.0.extend(match item {
                Item::Enum(item) => Some(item.ident.to_string()),
                Item::Struct(item) => Some(item.ident.to_string()),
                Item::Trait(item) => Some(item.ident.to_string()),
                Item::Type(item) => Some(item.ident.to_string()),
                Item::Union(item) => Some(item.ident.to_string()),
                _ => None,
            });
            visit::visit_item(self, item);
        }
    }
    let mut found = Types(Vec::new());
    found.visit_file(file);
    found.0
}

fn ends_with_colons(tokens: &[TokenTree]) -> bool {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    tokens.len() > 1 && tokens[tokens.len() - 2..].iter().all(is_colon)
}

/// Whether a group names no code: the inside of `#[doc = …]`, and that of `pub(in …)`.
fn is_prose(before: &[TokenTree], inside: TokenStream) -> bool {
    let first = inside.into_iter().next().map(|first| first.to_string());
    match before.last() {
        Some(TokenTree::Punct(mark)) if matches!(mark.as_char(), '#' | '!') => {
            first.as_deref() == Some("doc")
        }
        Some(TokenTree::Ident(name)) => name == "pub" && first.as_deref() == Some("in"),
        _ => false,
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// The line on which a module of tests begins.
fn start_of_tests(item: &Item) -> Option<usize> {
    let Item::Mod(module) = item else { return None };
    let has_content = module.content.is_some() && is_for_tests(&module.attrs);
    has_content.then(|| item.span().start().line)
}

fn test_modules(file: &File) -> Vec<String> {
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module),
        _ => None,
    });
    let for_tests = modules.filter(|module| is_for_tests(&module.attrs));
    for_tests.map(|module| module.ident.to_string()).collect()
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && condition.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Which file uses which, within each module of the crate.
pub(crate) struct Uses<'a> {
    files: BTreeMap<Vec<String>, &'a Source>,
}

impl<'a> Uses<'a> {
    pub(crate) fn of(sources: &'a [Source]) -> Self {
        let files = sources.iter().map(|source| (source.module_path(), source));
        Self {
            files: files.collect(),
        }
    }

    /// Groups of files of one module that use each other in a circle.
    pub(crate) fn cycles(&self) -> BTreeSet<BTreeSet<String>> {
        let edges: BTreeMap<_, _> = self
            .files
            .keys()
            .map(|file| (file, self.used_by(file)))
            .collect();
        let reached = |from: &Vec<String>| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(file) = next.pop() {
                next.extend(
                    edges[&file]
                        .iter()
                        .filter(|used| seen.insert((*used).clone()))
                        .cloned(),
                );
            }
            seen
        };
        let reach: BTreeMap<_, _> = self
            .files
            .keys()
            .map(|file| (file, reached(file)))
            .collect();
        let circle = |file: &Vec<String>| {
            let others = reach[file]
                .iter()
                .filter(|other| reach[*other].contains(file));
            others.map(|file| file.join("::")).collect::<BTreeSet<_>>()
        };
        let circles = self.files.keys().map(circle);
        circles.filter(|circle| !circle.is_empty()).collect()
    }

    /// The other files of its module that a file names.
    fn used_by(&self, file: &[String]) -> BTreeSet<Vec<String>> {
        let source = self.files[file];
        // A module that re-exports its own items does not use itself.
        let is_reexport = |import: &&Import| {
            import.is_public
                && self
                    .resolve(file, &import.path, 0)
                    .is_some_and(|used| used.starts_with(file))
        };
        let imports = source.imports.iter().filter(|import| !is_reexport(import));
        let named = imports.map(|import| &import.path).chain(&source.paths);
        let used = named.filter_map(|path| self.resolve(file, path, 0));
        used.filter(|used| used[..] != *file && used.first() == file.first())
            .collect()
    }

    /// The file that defines what a path in a file names, through the re-exports on the way.
    fn resolve(&self, file: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (file.to_vec(), &path[1..]),
            "super" => (file[..file.len().checked_sub(1)?].to_vec(), &path[1..]),
            child
                if self
                    .files
                    .contains_key(&[file, &[child.to_owned()]].concat()) =>
            {
                (file.to_vec(), path)
            }
            _ => return None,
        };
        while let Some((name, after)) = rest.split_first() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if name == "super" {
                at.pop()?;
            } else if self.files.contains_key(&child) {
                at = child;
            } else {
                return self.exported(&at, name, depth).or(Some(at));
            }
            rest = after;
        }
        Some(at)
    }

    /// The file that defines a name which a module imports.
    fn exported(&self, module: &[String], name: &str, depth: usize) -> Option<Vec<String>> {
        // Two modules may import everything from each other.
        const MAX_DEPTH: usize = 8;
        let source = self.files.get(module).filter(|_| depth < MAX_DEPTH)?;
        let import = source
            .imports
            .iter()
            .find(|import| import.name.as_deref() == Some(name))?;
        self.resolve(module, &import.path, depth + 1)
    }
}
