//! The page's style sheets as one file: a request for each would keep the page from being drawn for longer.

use std::fs;

use super::dist::file::{path_error, paths_in, text};
use super::shell;

/// The sheet that `index.html` links, and trunk names by its content.
const JOINED: &str = "target/style.css";
/// The sheet that names all colours and sizes; those of the views come last.
const FIRST: &str = "tokens.css";

/// Joins the sheets of `style/` and of its folders; trunk does so before each build.
pub(crate) fn join() -> Result<(), String> {
    let to = shell::root().join(JOINED);
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| path_error(folder, &e))?;
    }
    fs::write(&to, joined()?).map_err(|e| path_error(&to, &e))
}

fn joined() -> Result<String, String> {
    let style = shell::root().join("style");
    let mut paths = paths_in(&style)?;
    paths.retain(|path| path.ends_with(".css"));
    paths.sort_by_key(|path| path != FIRST);
    paths.iter().map(|path| text(&style.join(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(path: &str) -> String {
        text(&shell::root().join("style").join(path)).expect("a sheet")
    }

    #[test]
    fn the_sheets_of_views_come_after_those_that_all_views_share() {
        let joined = joined().expect("sheets");
        assert!(joined.starts_with(&style(FIRST)), "the tokens first");
        let at = |path: &str| joined.find(&style(path)).expect(path);
        assert!(at("panels.css") < at("views/explore.css"), "then panels");
        assert!(at("plots.css") < at("views/explore.css"), "then plots");
        let n_sheets = paths_in(&shell::root().join("style")).expect("a folder");
        let n_bytes: usize = n_sheets.iter().map(|path| style(path).len()).sum();
        assert_eq!(joined.len(), n_bytes, "each once");
    }

    #[test]
    fn the_page_links_the_joined_sheet_and_no_other() {
        let page = text(&shell::root().join("index.html")).expect("the page");
        let links = page.matches("rel=\"css\"").count();
        assert_eq!(links, 1, "links of sheets");
        let link = format!("<link data-trunk rel=\"css\" href=\"{JOINED}\">");
        assert!(page.contains(&link), "{link}");
    }
}
