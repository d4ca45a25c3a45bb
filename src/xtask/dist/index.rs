//! `index.html` of the release: its policy, its web manifest, and the files that it loads.

use super::file::{Listed, REGISTRATION};
use super::sha256::{base64, sha256};

/// Hosts that requests may go to besides the page's own: the model hub, and the stores to which it redirects.
const HUB: &str = "https://huggingface.co https://*.huggingface.co https://*.hf.co";
/// Files that the release names differently, or that the page accepts with this content only.
const NAMED: [&str; 6] = [
    "engine_cpu.js",
    "engine_cpu_bg.wasm",
    "engine_gpu.js",
    "engine_gpu_bg.wasm",
    "models/photos/manifest.json",
    "models/scenes/manifest.json",
];
/// Element after which the policy is inserted, so that it precedes everything it governs.
const PLACE: &str = "<meta charset=\"utf-8\">";

/// The page's document for the release, where each file of [`NAMED`] is listed by its name in the build.
pub(super) fn released(html: &str, files: &[Listed]) -> Result<String, String> {
    let (before, after) = html
        .split_once(PLACE)
        .ok_or_else(|| format!("index.html: expected {PLACE}"))?;
    let find = |is_it: &dyn Fn(&str) -> bool, what: &str| {
        let found = files.iter().find(|listed| is_it(&listed.built));
        found.ok_or_else(|| format!("dist: expected {what}"))
    };
    let mut head = String::new();
    for name in NAMED {
        let listed = find(&|built| built == name, name)?;
        let (address, hash) = (listed.address(), &listed.hash);
        head += &format!("  <meta name=\"file:{name}\" content=\"{address} sha256-{hash}\">\n");
    }
    let is_script = |built: &str| built.starts_with("app-") && built.ends_with(".js");
    find(&is_script, "app-….js")?;
    let scripts = files.iter().filter(|listed| is_script(&listed.built));
    let scripts =
        scripts.map(|listed| format!("\"./{}\": \"sha256-{}\"", listed.path, listed.hash));
    let scripts: Vec<String> = scripts.collect();
    let scripts = scripts.join(", ");
    let registration = find(&|built| built == REGISTRATION, REGISTRATION)?;
    head += &format!(
        "  <link rel=\"manifest\" href=\"app.webmanifest\">
  <link rel=\"license\" href=\"LICENSES.txt\">
  <script type=\"importmap\">{{\"integrity\": {{{scripts}}}}}</script>
  <script type=\"module\" src=\"{}\" integrity=\"sha256-{}\"></script>",
        registration.path, registration.hash
    );
    let policy = policy(&format!("{head}{html}"))?;
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    Ok(format!("{before}{PLACE}\n  {policy}\n{head}{after}"))
}

/// The policy: what is not named is forbidden. Inline scripts are named by their hashes.
fn policy(html: &str) -> Result<String, String> {
    let scripts: Vec<String> = inline_scripts(html)?
        .into_iter()
        .map(|script| format!("'sha256-{}'", base64(&sha256(script.as_bytes()))))
        .collect();
    let scripts = scripts.join(" ");
    Ok(format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; style-src 'self'; \
         img-src 'self' blob: data:; connect-src 'self' {HUB}; worker-src 'self' blob:; \
         manifest-src 'self'; base-uri 'none'; form-action 'none'"
    ))
}

/// The texts of the scripts that stand in a document; attributes with scripts or styles are refused.
fn inline_scripts(html: &str) -> Result<Vec<&str>, String> {
    for forbidden in [
        "<style",
        " style=",
        " onclick=",
        " onerror=",
        " onload=",
        "javascript:",
    ] {
        if html.contains(forbidden) {
            return Err(format!(
                "index.html: {forbidden} is not allowed by the policy"
            ));
        }
    }
    let mut scripts = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once("<script") {
        let (attributes, after) = after
            .split_once('>')
            .ok_or("index.html: a script without an end")?;
        let (text, after) = after
            .split_once("</script>")
            .ok_or("index.html: a script without an end")?;
        if !attributes.contains(" src=") {
            scripts.push(text);
        }
        rest = after;
    }
    Ok(scripts)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::xtask::{dist::file::text, shell};

    const PAGE: &str = "<html><head>\n<meta charset=\"utf-8\"><script type=\"module\">import 'a'</script></head>\
        <body><script src=\"b.js\"></script><script>\nlet b = 1 > 0;</script></body></html>";

    fn listed() -> Vec<Listed> {
        let names = NAMED
            .into_iter()
            .chain([REGISTRATION, "app-1.js", "app-1_parts.js"]);
        let listed = names.map(|name| Listed {
            built: name.to_owned(),
            path: format!("new-{name}"),
            hash: "HASH".to_owned(),
        });
        listed.collect()
    }

    #[test]
    fn inline_scripts_are_allowed_by_their_hashes_and_no_others() {
        let scripts = inline_scripts(PAGE).expect("a sound page");
        assert_eq!(
            scripts,
            ["import 'a'", "\nlet b = 1 > 0;"],
            "the two inline"
        );
        let policy = policy(PAGE).expect("a sound page");
        for script in scripts {
            let hash = base64(&sha256(script.as_bytes()));
            assert!(policy.contains(&hash), "{policy} allows {script}");
        }
        assert_eq!(policy.matches("sha256-").count(), 2, "{policy}");
        assert!(!policy.contains("unsafe-inline"), "{policy}");
    }

    #[test]
    fn a_page_with_inline_styles_is_refused() {
        for part in ["<style>p {}</style>", "<p style=\"top: 0\">"] {
            let page = PAGE.replace("<body>", part);
            let refused = released(&page, &listed());
            assert!(refused.is_err(), "{part}: {refused:?}");
        }
    }

    #[test]
    fn the_policy_comes_before_what_it_is_about() {
        let page = released(PAGE, &listed()).expect("a sound page");
        let at = |text: &str| {
            page.find(text)
                .unwrap_or_else(|| panic!("{text} in {page}"))
        };
        assert!(at("Content-Security-Policy") < at("<script"), "{page}");
        assert!(at("Content-Security-Policy") < at("<link"), "{page}");
        assert!(at("importmap") < at("type=\"module\""), "{page}");
        let map = "{\"integrity\": {\"./new-app-1.js\": \"sha256-HASH\", \"./new-app-1_parts.js\": \"sha256-HASH\"}}";
        at(map);
        at(&base64(&sha256(map.as_bytes())));
        at("<meta name=\"file:engine_cpu.js\" content=\"new-engine_cpu.js sha256-HASH\">");
    }

    #[cfg(unix)]
    #[test]
    fn the_container_sends_the_policy_that_stands_in_the_page() {
        let recipe = shell::root().join("Containerfile");
        let recipe = text(&recipe).expect("a file of the repository");
        let (_, sed) = recipe.split_once("&& sed ").expect("what reads the page");
        let (sed, _) = sed.split_once(" /srv/index.html").expect("the page");
        let page = released(PAGE, &listed()).expect("a sound page");
        let (_, policy) = page
            .split_once("Content-Security-Policy\" content=\"")
            .expect("a policy");
        let (policy, _) = policy.split_once('"').expect("its end");
        let script = format!("printf '%s' \"$0\" | sed {sed}");
        let found = shell::output_of("sh", &["-c", &script, &page]);
        let expected = format!(
            "header @programs Content-Security-Policy \"{policy}; frame-ancestors 'self'\""
        );
        assert_eq!(found, Some(expected), "the line for the server");
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = released(PAGE, &[]).expect_err("no engine");
        assert!(refused.contains("engine_cpu.js"), "{refused}");
    }
}
