//! Formulas of a line of text as `MathML`.

use std::iter::Peekable;
use std::str::Chars;

use crate::explorer::markup::escaped;

/// Sign between the name of a function and its argument: not seen, but spaced as such.
const OF: char = '\u{2061}';

/// `MathML` of a formula: names, numbers, signs, parentheses, and `^` or raised digits for what stands above its
/// factor.
///
/// `nats = κ · t`, `(1 − t²)^((d − 3)/2)`, `1,240 · 10⁻⁵`. A name is one letter or a word; ln and exp are functions.
/// What stands above is a name, a number, or all of a pair of parentheses, which are not drawn.
pub fn formula_markup(formula: &str) -> String {
    let row = sequence(&mut formula.chars().peekable());
    format!("<math>{row}</math>")
}

/// `MathML` up to the parenthesis that ends this part, which is taken, or to the end.
fn sequence(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut row = String::new();
    while let Some(&next) = rest.peek() {
        match next {
            ' ' => _ = rest.next(),
            ')' => {
                rest.next();
                break;
            }
            _ => row.push_str(&factor(rest)),
        }
    }
    row
}

/// A part with what stands above it.
fn factor(rest: &mut Peekable<Chars<'_>>) -> String {
    let base = part(rest, true);
    let mut raised = String::new();
    while let Some(plain) = rest.peek().and_then(|letter| lowered(*letter)) {
        rest.next();
        raised.push(plain);
    }
    let above = match rest.peek() {
        _ if !raised.is_empty() => format!("<mn>{raised}</mn>"),
        Some('^') => {
            rest.next();
            part(rest, false)
        }
        _ => return base,
    };
    format!("<msup>{base}{above}</msup>")
}

/// The digit or the sign that a raised one stands for.
fn lowered(letter: char) -> Option<char> {
    let mut all = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip("−0123456789".chars());
    all.find(|(raised, _)| *raised == letter)
        .map(|(_, plain)| plain)
}

/// One element: a name, a number, a sign or all between a pair of parentheses.
fn part(rest: &mut Peekable<Chars<'_>>, with_parentheses: bool) -> String {
    let Some(first) = rest.next() else {
        return "<mrow></mrow>".into();
    };
    match first {
        '(' if with_parentheses => {
            format!("<mrow><mo>(</mo>{}<mo>)</mo></mrow>", sequence(rest))
        }
        '(' => format!("<mrow>{}</mrow>", sequence(rest)),
        _ if first.is_ascii_digit() => format!("<mn>{}</mn>", number(first, rest)),
        _ if first.is_alphabetic() => {
            let name = run(first, rest, char::is_alphabetic);
            let of = match name.as_str() {
                "ln" | "exp" => format!("<mo>{OF}</mo>"),
                _ => String::new(),
            };
            format!("<mi>{name}</mi>{of}")
        }
        _ => format!("<mo>{}</mo>", escaped(&first.to_string())),
    }
}

/// The digits from the first on, with a point and with commas before three figures.
fn number(first: char, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut digits = String::from(first);
    while let Some(&letter) = rest.peek() {
        let figures = rest.clone().skip(1).take(3);
        let goes_on = match letter {
            ',' => figures.filter(char::is_ascii_digit).count() == 3,
            _ => letter.is_ascii_digit() || letter == '.',
        };
        if !goes_on {
            break;
        }
        digits.extend(rest.next());
    }
    digits
}

/// The letters from the first on, as long as they go on.
fn run(first: char, rest: &mut Peekable<Chars<'_>>, goes_on: impl Fn(char) -> bool) -> String {
    let mut letters = String::from(first);
    while let Some(letter) = rest.next_if(|&letter| goes_on(letter)) {
        letters.push(letter);
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(formula: &str) -> String {
        let markup = formula_markup(formula);
        let row = markup
            .strip_prefix("<math>")
            .and_then(|row| row.strip_suffix("</math>"));
        row.expect("one formula").to_owned()
    }

    #[test]
    fn names_numbers_and_signs_are_told_apart() {
        assert_eq!(
            row("nats = 5.4 · t"),
            "<mi>nats</mi><mo>=</mo><mn>5.4</mn><mo>·</mo><mi>t</mi>"
        );
        assert_eq!(row("a < b"), "<mi>a</mi><mo>&lt;</mo><mi>b</mi>");
        let of = row("ln C");
        assert_eq!(of, format!("<mi>ln</mi><mo>{OF}</mo><mi>C</mi>"));
    }

    #[test]
    fn thousands_and_powers_of_ten_are_one_number() {
        assert_eq!(
            row("−1,240 + 12,345,678.5"),
            "<mo>−</mo><mn>1,240</mn><mo>+</mo><mn>12,345,678.5</mn>"
        );
        let power = "<msup><mn>10</mn><mn>−5</mn></msup>";
        assert_eq!(
            row("3.10 × 10⁻⁵"),
            format!("<mn>3.10</mn><mo>×</mo>{power}")
        );
        assert_eq!(row("10¹²"), "<msup><mn>10</mn><mn>12</mn></msup>");
        let list = "<mn>1</mn><mo>,</mo><mn>24</mn>";
        assert_eq!(row("1,24"), list, "no thousands");
    }

    #[test]
    fn what_stands_above_belongs_to_one_factor() {
        let square = "<msup><mi>t</mi><mn>2</mn></msup>";
        let group = format!("<mrow><mo>(</mo><mn>1</mn><mo>−</mo>{square}<mo>)</mo></mrow>");
        let half = "<mrow><mrow><mo>(</mo><mi>d</mi><mo>−</mo><mn>3</mn><mo>)</mo></mrow><mo>/</mo><mn>2</mn></mrow>";
        assert_eq!(
            row("(1 − t²)^((d − 3)/2)"),
            format!("<msup>{group}{half}</msup>")
        );
        assert_eq!(row("x^62.5"), "<msup><mi>x</mi><mn>62.5</mn></msup>");
    }

    #[test]
    fn any_text_ends_with_as_many_elements_as_it_begins() {
        for formula in [
            "",
            "((",
            "))",
            "x^",
            "²",
            "1,",
            "10⁻",
            "^^",
            "(1 + t)^κ · (1 − t²)^((d − 3)/2)",
        ] {
            let markup = formula_markup(formula);
            let [begun, ended] = ["<m", "</m"].map(|tag| markup.matches(tag).count());
            assert_eq!(begun, ended, "{markup}");
        }
    }
}
