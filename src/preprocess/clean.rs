//! Captions are cleaned as CLIP's own program cleans them: `ftfy.fix_text`, HTML entities, white space, lower case.
//!
//! Of ftfy 6 this does what acts on single characters: C1 controls as Windows-1252, Latin ligatures, full- and
//! half-width forms, straight quotes, control characters, NFC. It leaves out the repair of text that was decoded with
//! the wrong encoding ("cafÃ©") and the removal of terminal escape sequences.

use crate::unicode::NormalForm;

/// The token before every caption.
pub const START_TOKEN: &str = "<|startoftext|>";
/// The token after every caption, at which the text tower is read.
pub const END_TOKEN: &str = "<|endoftext|>";

/// Repairs of one caption at most: each takes off one layer of `&amp;amp;…`, and a caption may be nothing but layers.
const MAX_REPAIRS: usize = 16;

/// Characters of Windows-1252 at 0x80–0x9F; its five gaps stay as they are.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The caption as the tokenizer shall see it.
///
/// A start or end token that was typed literally becomes a space: it would end the caption early.
pub(super) fn clean(caption: &str) -> String {
    let text = unescape_twice(&fix_text(caption));
    let words = text.split(is_space).filter(|word| !word.is_empty());
    let text = words.collect::<Vec<_>>().join(" ").to_lowercase();
    if !text.contains("<|") {
        return text;
    }
    let text = text.replace(START_TOKEN, " ").replace(END_TOKEN, " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The caption as `SigLIP`'s tokenizer shall see it (`canonicalize_text` of `big_vision`): lower case, without ASCII
/// punctuation, white space collapsed. `SentencePiece`'s own mark for a space is a space.
pub(super) fn canonicalize(caption: &str) -> String {
    let text: String = caption.replace('\u{2581}', " ").to_lowercase();
    let text = text.replace(|c: char| c.is_ascii_punctuation(), "");
    let words = text.split(is_space).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// White space as Python's `str.split` sees it.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

fn unescape_twice(text: &str) -> String {
    let once = htmlize::unescape(text);
    htmlize::unescape(once.as_ref()).into_owned()
}

/// ftfy's repairs of single characters, repeated until nothing changes, as ftfy does, but no more than
/// [`MAX_REPAIRS`] times, so that the time grows with the caption's length alone.
fn fix_text(caption: &str) -> String {
    // ftfy takes text with a "<" for HTML source, whose entities are meant.
    let has_entities = !caption.contains('<');
    let mut text = caption.to_owned();
    for _ in 0..MAX_REPAIRS {
        let source = text.as_str();
        let unescaped = if has_entities {
            htmlize::unescape(source)
        } else {
            source.into()
        };
        let fixed = unescaped.chars().fold(String::new(), push_fixed);
        let fixed = NormalForm::Nfc.of(&fixed);
        if fixed == text {
            break;
        }
        text = fixed;
    }
    text
}

/// Appends ftfy's replacement of one character.
fn push_fixed(mut text: String, character: char) -> String {
    match character {
        '\u{80}'..='\u{9f}' => return push_fixed_c1(text, character),
        '\u{3000}' => text.push(' '),
        '\u{ff01}'..='\u{ffef}' => {
            text.push_str(&NormalForm::Nfkc.of(character.encode_utf8(&mut [0; 4])));
        }
        '\u{2bc}' | '\u{2018}'..='\u{201b}' => text.push('\''),
        '\u{201c}'..='\u{201f}' => text.push('"'),
        _ if is_control(character) => {}
        _ => match ligature(character) {
            Some(letters) => text.push_str(letters),
            None => text.push(character),
        },
    }
    text
}

fn push_fixed_c1(mut text: String, character: char) -> String {
    let meant = WINDOWS_1252[character as usize - 0x80];
    if meant == character {
        text.push(character);
        return text;
    }
    push_fixed(text, meant)
}

/// The control characters that ftfy removes.
fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\x08' | '\x0b' | '\x0e'..='\x1f' | '\x7f' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}')
}

fn ligature(character: char) -> Option<&'static str> {
    Some(match character {
        'Ĳ' => "IJ",
        'ĳ' => "ij",
        'ŉ' => "'n",
        'Ǳ' => "DZ",
        'ǲ' => "Dz",
        'ǳ' => "dz",
        'Ǆ' => "DŽ",
        'ǅ' => "Dž",
        'ǆ' => "dž",
        'Ǉ' => "LJ",
        'ǈ' => "Lj",
        'ǉ' => "lj",
        'Ǌ' => "NJ",
        'ǋ' => "Nj",
        'ǌ' => "nj",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' => "ſt",
        'ﬆ' => "st",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_collapses_and_letters_are_lowered() {
        let found = clean("  A\tRed \r\n\u{a0}\u{3000}STAR  ");
        assert_eq!(found, "a red star", "one space between words");
    }

    #[test]
    fn typed_special_tokens_become_a_space() {
        for (caption, expected, what) in [
            (
                "a cat<|endoftext|>dog <|STARTOFTEXT|>",
                "a cat dog",
                "in any case",
            ),
            ("a &lt;|endoftext|&gt; b", "a b", "also behind entities"),
            (
                "<|endof<|endoftext|>text|>",
                "<|endof text|>",
                "none can be assembled",
            ),
        ] {
            assert_eq!(clean(caption), expected, "{what}");
        }
    }

    #[test]
    fn entities_are_unescaped_until_they_are_text() {
        let found = clean("Tom &amp;amp; Jerry &#39;s &hearts;");
        assert_eq!(found, "tom & jerry 's ♥", "named and numeric");
    }

    #[test]
    fn layers_of_entities_are_taken_off_only_so_often() {
        let layers = |n: usize| format!("&{}", "amp;".repeat(n));
        let few = clean(&layers(MAX_REPAIRS));
        assert_eq!(few, "&", "all layers of a caption that people make");
        let n_layers = 16_000;
        let many = clean(&layers(n_layers));
        // The two steps after ftfy's repairs take off one layer each.
        let left = layers(n_layers - MAX_REPAIRS - 2);
        assert_eq!(
            many.len(),
            left.len(),
            "64 kB of layers are left as they are"
        );
    }

    #[test]
    fn typographic_forms_become_plain() {
        let found = clean("it’s “ﬁne”, ＯＫ\u{85}");
        assert_eq!(found, "it's \"fine\", ok…", "quotes, ligature, width, C1");
    }
}
