//! Text that becomes part of a document.

/// A text as the content of an element or the value of an attribute in HTML and SVG.
#[must_use]
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_open_or_close_anything() {
        let found = escaped(r#"<b title="a">&"#);
        assert_eq!(found, "&lt;b title=&quot;a&quot;&gt;&amp;");
    }
}
