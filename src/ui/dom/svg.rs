//! The open view as one SVG: drawings keep their shapes, and words stay text that drawing programs can edit.
//!
//! The page's charts are tables whose cells hold drawings. Each element is written where the browser has laid it out,
//! in the style that the browser has computed for it. (`foreignObject` would be shorter, but only browsers draw it.)

use std::fmt::Write as _;

use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::{
    CssStyleDeclaration, Document, DomRect, Element, HtmlElement, HtmlInputElement,
    HtmlSelectElement, HtmlTextAreaElement, Node, Range, Window,
};

use crate::explorer::escaped;
use crate::ui::dom::{browser, canvas};

/// Properties of a drawing's parts that are written out.
const DRAWN: [&str; 17] = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "opacity",
    "transform",
    "transform-origin",
    "stop-color",
    "stop-opacity",
    "overflow",
    "paint-order",
    "text-anchor",
    "font-size",
    "font-family",
    "font-weight",
    "font-variant-numeric",
];
/// Properties of text that are written out; its colour has another name in SVG.
const WRITTEN: [&str; 4] = ["font-style", "font-weight", "font-size", "font-family"];
/// Properties that make another element break lines as a field does.
const FIELD: [&str; 9] = [
    "font",
    "color",
    "padding",
    "border-width",
    "border-style",
    "box-sizing",
    "line-height",
    "text-align",
    "letter-spacing",
];
/// Selector of elements that serve to change the page, and are not part of its picture.
const CHROME: &str = "button:not(.frame, .small-frame, .words), details:not([open]), summary, .controls, .choices, \
    .view-controls, .captions, .prose, .gallery, .export, .twin, .add-pictures, .tools, .changes, .new-caption, \
    .check, .rung-tools";
/// Width of a letter of the title and the notes, as a share of its size.
const WIDTH_OF_A_LETTER: f64 = 0.55;
/// Pixels around the view.
const MARGIN: f64 = 16.0;
/// Share of a line's height above its base line, of the fonts that the style sheets name.
const ASCENT: f64 = 0.79;
/// Pixels by which the tops of words on one line differ at most.
const SAME_LINE: f64 = 3.0;

/// An element of the page as SVG text below its title and above notes, with its width and height in pixels.
pub(crate) fn draw(of: &Element, title: &str, notes: &str) -> Option<(String, [f64; 2])> {
    let window = browser::window()?;
    let document = window.document()?;
    let frame = of.get_bounding_client_rect();
    let width = frame.width() + 2.0 * MARGIN;
    let body = document.body()?;
    let [ground, ink] =
        ["background-color", "color"].map(|name| property(&window, body.as_ref(), name));
    let mut sheet = SvgSheet {
        origin: [frame.left() - MARGIN, frame.top() - MARGIN],
        ink: ink?,
        bottom: 0.0,
        window,
        document,
        svg: String::new(),
    };
    sheet.shared_gradients();
    let head = sheet.written(title, 20.0, width, 0.0);
    sheet.origin[1] -= head;
    sheet.element(of);
    let height = sheet.written(notes, 11.0, width, sheet.bottom) + MARGIN;
    let (svg, ground) = (sheet.svg, ground?);
    let svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}"
        viewBox="0 0 {width:.0} {height:.0}"><rect width="100%" height="100%" fill="{ground}"/>{svg}</svg>"#
    );
    Some((svg, [width, height]))
}

/// A drawing in the making: what was copied of the page, and its extent.
struct SvgSheet {
    window: Window,
    document: Document,
    origin: [f64; 2],
    /// Colour of the title and the notes.
    ink: String,
    /// The lowest edge of what is drawn.
    bottom: f64,
    svg: String,
}

impl SvgSheet {
    /// Lines of text of a size below an edge, broken where they are too long; returns their own lower edge.
    fn written(&mut self, text: &str, size: f64, width: f64, mut edge: f64) -> f64 {
        let mut line = String::new();
        let most = (width - 2.0 * MARGIN) / size;
        for c in text.chars().chain(['\n']) {
            let is_full = WIDTH_OF_A_LETTER * line.chars().count() as f64 > most;
            if c == '\n' || is_full {
                edge += 1.5 * size;
                let (line, ink) = (escaped(&std::mem::take(&mut line)), &self.ink);
                // Writing to a string cannot fail.
                write!(
                    self.svg,
                    r#"<text x="{MARGIN}" y="{edge:.1}" font-size="{size}" font-family="sans-serif"
                        fill="{ink}">{line}</text>"#
                )
                .ok();
            }
            if c != '\n' {
                line.push(c);
            }
        }
        edge
    }

    /// The gradients that drawings all over the page refer to.
    fn shared_gradients(&mut self) {
        self.svg.push_str("<defs>");
        for id in ["mist", "glow"] {
            if let Some(gradient) = self.document.get_element_by_id(id) {
                self.part(&gradient);
            }
        }
        self.svg.push_str("</defs>");
    }

    fn element(&mut self, element: &Element) {
        let frame = element.get_bounding_client_rect();
        let is_seen = frame.width() > 1.0 && frame.height() > 1.0;
        let display = property(&self.window, element, "display").unwrap_or_default();
        let is = |name: &str, value: &str| {
            property(&self.window, element, name).as_deref() == Some(value)
        };
        let is_clear = is("opacity", "0") || is("visibility", "hidden");
        let is_chrome = element.matches(CHROME).unwrap_or(false);
        if display == "none" || is_chrome || is_clear || (!is_seen && display != "contents") {
            return;
        }
        match element.tag_name().to_lowercase().as_str() {
            "svg" => self.drawing(element, &frame),
            "img" | "canvas" => self.picture(element, &frame),
            "textarea" | "input" | "select" => self.field(element, &frame),
            _ => {
                self.lines(element, &frame);
                self.children(element);
            }
        }
    }

    fn children(&mut self, element: &Element) {
        for node in nodes(element) {
            match node.dyn_ref::<Element>() {
                Some(child) => self.element(child),
                None => self.text(element, &node),
            }
        }
    }

    fn place(&mut self, frame: &DomRect) -> [f64; 2] {
        self.bottom = self.bottom.max(frame.bottom() - self.origin[1]);
        [frame.left() - self.origin[0], frame.top() - self.origin[1]]
    }

    /// The lines above and below an element.
    fn lines(&mut self, element: &Element, frame: &DomRect) {
        for (side, below) in [("top", 0.0), ("bottom", frame.height())] {
            let read =
                |what: &str| property(&self.window, element, &format!("border-{side}-{what}"));
            let width = read("width").unwrap_or_default();
            let is_drawn = read("style").is_some_and(|style| style != "none") && width != "0px";
            if is_drawn {
                let colour = read("color").unwrap_or_default();
                let [x, y] = self.place(frame);
                let (y, end) = (y + below, x + frame.width());
                write!(
                    self.svg,
                    r#"<line x1="{x:.1}" x2="{end:.1}" y1="{y:.1}" y2="{y:.1}"
                    stroke="{colour}" stroke-width="{width}"/>"#
                )
                .ok();
            }
        }
    }

    /// A drawing at its place, its styles written into it.
    fn drawing(&mut self, drawing: &Element, frame: &DomRect) {
        let [x, y] = self.place(frame);
        let (width, height) = (frame.width(), frame.height());
        let rest = attributes(drawing, &["x", "y", "width", "height", "class", "style"]);
        write!(
            self.svg,
            r#"<svg x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"{rest} style="overflow:{}">"#,
            property(&self.window, drawing, "overflow").unwrap_or_default()
        )
        .ok();
        self.parts(drawing);
        self.svg.push_str("</svg>");
    }

    fn parts(&mut self, element: &Element) {
        for node in nodes(element) {
            match node.dyn_ref::<Element>() {
                Some(part) => self.part(part),
                None => self
                    .svg
                    .push_str(&escaped(&node.text_content().unwrap_or_default())),
            }
        }
    }

    fn part(&mut self, part: &Element) {
        let (name, rest) = (part.tag_name(), attributes(part, &["class", "style"]));
        let style = styles(&self.window, part, &DRAWN);
        write!(self.svg, r#"<{name}{rest} style="{style}">"#).ok();
        self.parts(part);
        write!(self.svg, "</{name}>").ok();
    }

    fn picture(&mut self, picture: &Element, frame: &DomRect) {
        let [x, y] = self.place(frame);
        // A picture that the browser does not give away leaves its place empty.
        if let Some(address) = canvas::data_address(picture) {
            write!(
                self.svg,
                r#"<image x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" href="{address}"/>"#,
                frame.width(),
                frame.height()
            )
            .ok();
        }
    }

    /// A field's text, laid out by an element that takes its place for a moment.
    fn field(&mut self, field: &Element, frame: &DomRect) {
        if let Some(twin) = written(field).and_then(|text| self.twin(field, frame, &text)) {
            self.children(&twin);
            twin.remove();
        }
    }

    fn twin(&self, field: &Element, frame: &DomRect, text: &str) -> Option<HtmlElement> {
        let twin: HtmlElement = self.document.create_element("div").ok()?.dyn_into().ok()?;
        twin.set_text_content(Some(text));
        let left = frame.left() + self.window.scroll_x().ok()?;
        let top = frame.top() + self.window.scroll_y().ok()?;
        let place = format!(
            "{};position:absolute;left:{left}px;top:{top}px;width:{}px;white-space:pre-wrap",
            styles(&self.window, field, &FIELD).replace("&quot;", "\""),
            frame.width()
        );
        // Not as an attribute, which the policy of the released page forbids.
        twin.style().set_css_text(&place);
        self.document.body()?.append_child(&twin).ok()?;
        Some(twin)
    }

    /// A stroke through a line of text.
    fn stroke(&mut self, parent: &Element, first: &DomRect, right: f64) {
        let colour = property(&self.window, parent, "text-decoration-color").unwrap_or_default();
        let [x, y] = self.place(first);
        let (y, end) = (y + 0.55 * first.height(), x + right - first.left());
        write!(
            self.svg,
            r#"<line x1="{x:.1}" x2="{end:.1}" y1="{y:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="2"/>"#
        )
        .ok();
    }

    /// Text, line by line.
    fn text(&mut self, parent: &Element, node: &Node) {
        let text = node.text_content().unwrap_or_default();
        let Ok(range) = self.document.create_range() else {
            return;
        };
        let mut lines: Vec<(DomRect, f64, String)> = Vec::new();
        for (from, word) in words(&text) {
            let Some(frame) = frame_of(&range, node, from, word) else {
                continue;
            };
            match lines.last_mut() {
                Some((first, right, line)) if (first.top() - frame.top()).abs() < SAME_LINE => {
                    *right = frame.right();
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push((frame.clone(), frame.right(), word.to_owned())),
            }
        }
        if lines.is_empty() {
            return;
        }
        let style = styles(&self.window, parent, &WRITTEN);
        let colour = property(&self.window, parent, "color").unwrap_or_default();
        let is_struck = property(&self.window, parent, "text-decoration-line");
        let is_struck = is_struck.is_some_and(|line| line == "line-through");
        for (first, right, line) in lines {
            if is_struck {
                self.stroke(parent, &first, right);
            }
            let ([x, y], line) = (self.place(&first), escaped(&line));
            let (y, length) = (y + ASCENT * first.height(), right - first.left());
            write!(
                self.svg,
                r#"<text x="{x:.1}" y="{y:.1}" textLength="{length:.1}"
                lengthAdjust="spacingAndGlyphs" style="{style};fill:{colour}">{line}</text>"#
            )
            .ok();
        }
    }
}

/// The elements and texts within an element, in order.
fn nodes(element: &Element) -> impl Iterator<Item = Node> {
    let all = std::iter::successors(element.first_child(), Node::next_sibling);
    all.filter(|node| matches!(node.node_type(), Node::ELEMENT_NODE | Node::TEXT_NODE))
}

/// The text that a field shows; `None` for a box to tick, a slider and the like.
fn written(field: &Element) -> Option<String> {
    if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        return Some(area.value());
    }
    if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        return (input.type_() == "text").then(|| input.value());
    }
    let chosen = field
        .dyn_ref::<HtmlSelectElement>()?
        .selected_options()
        .item(0);
    chosen?.text_content()
}

/// The words of a text with the places where they begin, counted as JavaScript counts.
fn words(text: &str) -> impl Iterator<Item = (u32, &str)> {
    text.split_whitespace().map(move |word| {
        let before = word.as_ptr() as usize - text.as_ptr() as usize;
        (utf16_length(&text[..before]), word)
    })
}

fn utf16_length(text: &str) -> u32 {
    text.encode_utf16().fold(0, |length, _| length + 1)
}

/// Frame of a word on the page; `None` where it takes no room.
fn frame_of(range: &Range, node: &Node, from: u32, word: &str) -> Option<DomRect> {
    range.set_start(node, from).ok()?;
    range.set_end(node, from + utf16_length(word)).ok()?;
    let frame = range.get_bounding_client_rect();
    (frame.width() > 0.0).then_some(frame)
}

/// An element's attributes but for some.
fn attributes(element: &Element, without: &[&str]) -> String {
    let names = element.get_attribute_names().into_iter();
    let names = names.filter_map(|name| name.as_string());
    let kept = names.filter(|name| !without.contains(&name.as_str()));
    kept.map(|name| {
        let value = element.get_attribute(&name).unwrap_or_default();
        format!(r#" {name}="{}""#, escaped(&value))
    })
    .collect()
}

fn computed(window: &Window, element: &Element) -> Option<CssStyleDeclaration> {
    window.get_computed_style(element).ok().flatten()
}

fn property(window: &Window, element: &Element, name: &str) -> Option<String> {
    computed(window, element)?.get_property_value(name).ok()
}

/// An element's computed values of these properties, as a style attribute.
fn styles(window: &Window, element: &Element, names: &[&str]) -> String {
    let Some(computed) = computed(window, element) else {
        return String::new();
    };
    let known = names.iter().filter_map(|name| {
        let value = computed.get_property_value(name).ok()?;
        (!value.is_empty()).then(|| format!("{name}:{}", escaped(&value)))
    });
    known.collect::<Vec<_>>().join(";")
}
