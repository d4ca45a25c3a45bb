//! A card of one caption to show elsewhere: its words on their halo, how many pictures they fit, and the way here.

use std::fmt::Write as _;

use super::halo::{HaloMark, HaloShape, halo_density};
use super::markup::escaped;

/// Width and height of the card in pixels, as sites show pictures of links.
pub const CARD_SIZE: [u32; 2] = [1200, 630];
/// Letters of a caption in a line at most, lines, and pixels from line to line.
const LINE: (usize, usize, usize) = (21, 4, 50);
/// Half height of the halo in pixels, and its half width in half heights.
const HALO: (f64, f64) = (110.0, 3.0);
/// Width of the wall in pixels.
const WALL: f64 = 500.0;
/// Opacity of a picture that the caption could not mean.
const DARK: f64 = 0.13;

/// Content of a card: a caption with its halo, its wall of pictures and its link.
#[derive(Debug, Clone, Default)]
pub struct ShareCard {
    /// The caption that the card shows, in large type.
    pub caption: String,
    /// Halo of the caption; none while its numbers are unknown.
    pub mark: Option<HaloMark>,
    /// Share of pictures that it fits, such as `about 1 in 19`, and of which.
    pub fits: [String; 2],
    /// Pictures of the wall as addresses that hold them, each with whether it is lit.
    pub pictures: Vec<(String, bool)>,
    /// Pictures in a row of the wall.
    pub columns: usize,
    /// Name of the model.
    pub model: String,
    /// Path of the link's code and the side of the square that it is drawn in; none for a link that is too long.
    pub code: Option<(String, usize)>,
    /// Colours of the ground, of words, of what stands beside them, of the halo's mist and of its core.
    pub colours: [String; 5],
    /// Fonts of the words.
    pub fonts: String,
}

impl ShareCard {
    /// The card as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let [ground, ink, soft, ..] = &self.colours;
        let [width, height] = CARD_SIZE;
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"
                font-family="{}"><rect width="100%" height="100%" fill="{ground}"/>"#,
            escaped(&self.fonts)
        );
        self.draw_halo(&mut svg);
        let lines = lines(&self.caption);
        let first = 170 - LINE.2 * lines.len() / 2;
        let written = |x: usize, y: usize, size: usize, fill: &str, text: &str| {
            let text = escaped(text);
            format!(r#"<text x="{x}" y="{y}" font-size="{size}" fill="{fill}">{text}</text>"#)
        };
        for (i, line) in lines.iter().enumerate() {
            svg += &written(172, first + LINE.2 * i + 40, 42, ink, line);
        }
        let [fits, of] = &self.fits;
        svg += &written(172, 336, 26, soft, "could mean");
        svg += &written(172, 382, 40, ink, fits);
        svg += &written(172, 420, 26, soft, of);
        svg += &written(
            64,
            540,
            28,
            ink,
            "How many pictures could these words mean?",
        );
        svg += &written(64, 578, 22, soft, &format!("Kappascope · {}", self.model));
        self.draw_wall(&mut svg);
        if let Some((path, side)) = &self.code {
            // Phones read dark dots on a light ground.
            write!(
                svg,
                r##"<svg x="1000" y="444" width="136" height="136" viewBox="0 0 {side} {side}">
                    <rect width="100%" height="100%" fill="#fff"/><path d="{path}" fill="#000"/></svg>"##
            )
            .ok();
        }
        svg + "</svg>"
    }

    fn draw_halo(&self, svg: &mut String) {
        let [.., mist, core] = &self.colours;
        let Some(HaloMark::At(percentile)) = self.mark else {
            return;
        };
        let shape = HaloShape::at(percentile, HALO.1);
        for (name, colour) in [("mist", mist), ("glow", core)] {
            // Writing to a string cannot fail.
            write!(svg, r#"<radialGradient id="{name}">"#).ok();
            for i in 0..=12 {
                let at = f64::from(i) / 12.0;
                let density = halo_density(at);
                write!(
                    svg,
                    r#"<stop offset="{at:.3}" stop-color="{colour}" stop-opacity="{density:.4}"/>"#
                )
                .ok();
            }
            *svg += "</radialGradient>";
        }
        let mut ellipse = |size: [f64; 2], fill: &str, strength: f64| {
            let [rx, ry] = size.map(|part| part * HALO.0);
            write!(
                svg,
                r#"<ellipse cx="110" cy="170" rx="{rx:.1}" ry="{ry:.1}" fill="{fill}" opacity="{strength:.3}"/>"#
            )
            .ok();
        };
        ellipse(shape.mist, "url(#mist)", shape.mist_strength);
        ellipse([shape.glow; 2], "url(#glow)", shape.glow_strength);
        ellipse([shape.core; 2], core, shape.core_strength);
    }

    fn draw_wall(&self, svg: &mut String) {
        let columns = self.columns.max(1);
        let step = WALL / columns as f64;
        for (i, (address, is_lit)) in self.pictures.iter().enumerate() {
            let [x, y] = [i % columns, i / columns].map(|place| place as f64 * step);
            let opacity = if *is_lit { 1.0 } else { DARK };
            write!(
                svg,
                r#"<image x="{:.1}" y="{:.1}" width="{side:.1}" height="{side:.1}" opacity="{opacity}" href="{address}"/>"#,
                x + 636.0,
                y + 64.0,
                side = step - 2.0
            )
            .ok();
        }
    }
}

/// The words of a caption in lines; what does not fit is left out at the end.
fn lines(caption: &str) -> Vec<String> {
    let (letters, n_lines, _) = LINE;
    let mut lines: Vec<String> = Vec::new();
    for word in caption.split_whitespace() {
        let fits = |line: &&mut String| line.chars().count() + word.chars().count() < letters;
        match lines.last_mut().filter(fits) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.chars().take(letters).collect()),
        }
    }
    if lines.len() > n_lines {
        lines.truncate(n_lines);
        if let Some(last) = lines.last_mut() {
            *last += " …";
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(caption: &str) -> ShareCard {
        ShareCard {
            caption: caption.to_owned(),
            mark: Some(HaloMark::At(30.0)),
            fits: ["about 1 in 19", "of all drawings"].map(str::to_owned),
            pictures: vec![("data:a".to_owned(), true), ("data:b".to_owned(), false)],
            columns: 8,
            code: Some(("M0 0h1v1h-1z".to_owned(), 29)),
            ..ShareCard::default()
        }
    }

    #[test]
    fn a_card_says_the_caption_how_much_it_fits_and_which_pictures() {
        let svg = card("a red star").svg();
        for part in [
            ">a red star<",
            ">about 1 in 19<",
            "of all drawings",
            r#"opacity="1" href="data:a""#,
            r#"opacity="0.13" href="data:b""#,
            r#"viewBox="0 0 29 29""#,
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
    }

    #[test]
    fn what_is_typed_stays_text() {
        let svg = card("<script>\"&").svg();
        assert!(svg.contains("&lt;script&gt;&quot;&amp;"), "{svg}");
    }

    #[test]
    fn a_long_caption_is_broken_into_lines_and_cut() {
        assert_eq!(
            lines("a small red star above a large circle"),
            ["a small red star", "above a large circle"]
        );
        let long = "a very long caption that goes on and on and says more and more ".repeat(3);
        let lines = lines(&long);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[3].ends_with('…'), "{lines:?}");
        assert!(
            lines.iter().all(|line| line.chars().count() <= 24),
            "{lines:?}"
        );
    }

    #[test]
    fn without_numbers_a_card_has_no_halo() {
        let mut card = card("a zebra");
        card.mark = Some(HaloMark::Unread);
        assert!(!card.svg().contains("<ellipse"), "it was not read");
    }
}
