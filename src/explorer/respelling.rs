//! Words of a caption that were probably meant to be others, asked about in a note.

use crate::protocol::Respelling;

/// Words that are asked about at most.
pub(super) const MAX_ASKED: usize = 2;

/// Question about words that were probably meant to be others, and why of those that the model reads all the same;
/// empty where there are none.
pub(super) fn respelling_note(respellings: &[Respelling], unknown: &[String]) -> String {
    let ask = |Respelling { word, meant }: &Respelling| {
        let reason = match unknown.contains(word) {
            // That the model does not know the word is said before.
            true => String::new(),
            false => format!("The model reads “{word}” in pieces. "),
        };
        format!("{reason}Did you mean “{meant}”? ")
    };
    respellings.iter().take(MAX_ASKED).map(ask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelling(word: &str, meant: &str) -> Respelling {
        Respelling {
            word: word.to_owned(),
            meant: meant.to_owned(),
        }
    }

    #[test]
    fn why_it_is_asked_is_said_once() {
        let typo = [respelling("cirlce", "circle")];
        let unknown = ["cirlce".to_owned()];
        let note = respelling_note(&typo, &unknown);
        assert_eq!(note, "Did you mean “circle”? ", "the rest is said before");
        let note = respelling_note(&typo, &[]);
        let expected = "The model reads “cirlce” in pieces. Did you mean “circle”? ";
        assert_eq!(note, expected, "otherwise it would be taken for unread");
        assert_eq!(respelling_note(&[], &unknown), "", "nothing to ask");
    }
}
