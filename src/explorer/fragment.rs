//! The page's state as the fragment of its address, and back.
//!
//! A fragment never reaches a server. Unknown parts are passed over, so that old links keep working in newer pages and
//! new links do what they can in older ones.

use std::fmt::Write as _;

use super::state::{Beside, ExplorerState};
use crate::numerics::Family;

/// Starts the names of the visitor's own pictures, which stay on the machine and so in no link.
pub const OWN: &str = "own-";

/// The fragment that restores this state, without `#`.
pub fn encode(state: &ExplorerState) -> String {
    let mut parts = vec!["v=1".to_owned()];
    parts.extend(
        state
            .captions
            .iter()
            .map(|caption| format!("c={}", escape(&caption.text))),
    );
    let shared = || state.pictures.iter().filter(|id| !id.starts_with(OWN));
    parts.extend(shared().map(|id| format!("g={}", escape(id))));
    let n_own = state.pictures.len() - shared().count();
    if n_own > 0 {
        parts.push(format!("own={n_own}"));
    }
    if state.family == Family::PowerSpherical {
        parts.push("law=power-spherical".into());
    }
    match state.beside {
        Beside::Posterior => {}
        Beside::Cosine => parts.push("beside=cosine".into()),
        Beside::LogDensity => parts.push("beside=log-density".into()),
    }
    if let Some(id) = state.picture.as_ref().filter(|id| !id.starts_with(OWN)) {
        parts.push(format!("p={}", escape(id)));
    }
    let row = state
        .captions
        .iter()
        .position(|caption| Some(caption.key) == state.caption);
    parts.extend(row.map(|row| format!("r={row}")));
    parts.join("&")
}

/// The state that a fragment holds and the number of own pictures its sender had; `None` for a fragment that holds none.
pub fn decode(fragment: &str) -> Option<(ExplorerState, usize)> {
    let mut state = ExplorerState::new([], []);
    let (mut known, mut n_own, mut row) = (false, 0, None);
    for part in fragment.trim_start_matches('#').split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = unescape(value);
        match (name, value.as_str()) {
            ("v", _) => known = true,
            ("c", text) => {
                state.add_caption(text);
            }
            ("g", id) => {
                state.add_picture(id);
            }
            ("own", n) => n_own = n.parse().unwrap_or(0),
            ("law", "power-spherical") => state.family = Family::PowerSpherical,
            ("beside", "cosine") => state.beside = Beside::Cosine,
            ("beside", "log-density") => state.beside = Beside::LogDensity,
            ("p", id) if state.pictures.iter().any(|known| known == id) => {
                state.picture = Some(id.to_owned());
            }
            ("r", n) => row = n.parse::<usize>().ok(),
            _ => {}
        }
    }
    state.caption = row.and_then(|row| Some(state.captions.get(row)?.key));
    known.then_some((state, n_own))
}

fn escape(text: &str) -> String {
    text.bytes()
        .fold(String::with_capacity(text.len()), |mut escaped, byte| {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    escaped.push(char::from(byte));
                }
                _ => drop(write!(escaped, "%{byte:02X}")),
            }
            escaped
        })
}

/// Reverses [`escape`]; a broken escape stands for itself, and broken UTF-8 becomes the replacement character.
fn unescape(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let byte = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_state_comes_back_from_its_link(
            captions in prop::collection::vec(".*", 0..8),
            pictures in prop::collection::btree_set("[a-z]{1,8}-?[0-9]{0,3}", 0..8),
            power_spherical: bool,
            beside in prop::sample::select(vec![Beside::Posterior, Beside::Cosine, Beside::LogDensity]),
            row in 0..8_usize,
        ) {
            let pictures: Vec<_> = pictures.iter().map(String::as_str).filter(|id| !id.starts_with(OWN)).collect();
            let mut state = ExplorerState::new(captions.iter().map(String::as_str), pictures.iter().copied());
            state.family = if power_spherical { Family::PowerSpherical } else { Family::VonMisesFisher };
            state.beside = beside;
            state.picture = pictures.last().map(|&id| id.to_owned());
            state.caption = state.captions.get(row).map(|caption| caption.key);
            let link = encode(&state);
            prop_assert!(link.is_ascii(), "a link is plain text: {link}");
            prop_assert_eq!(decode(&link), Some((state, 0)), "through {}", link);
        }

        #[test]
        fn no_fragment_stops_the_page(fragment in ".*") {
            decode(&fragment);
        }
    }

    #[test]
    fn own_pictures_are_counted_and_not_named() {
        let state = ExplorerState::new(["a"], ["own-1-holiday", "star"]);
        let link = encode(&state);
        assert!(
            !link.contains("holiday"),
            "a visitor's file stays private: {link}"
        );
        let (restored, n_own) = decode(&link).expect("it is a link of ours");
        assert_eq!(
            (restored.pictures, n_own),
            (vec!["star".to_owned()], 1),
            "from {link}"
        );
    }

    #[test]
    fn a_foreign_fragment_is_no_state() {
        for fragment in ["", "#", "#top", "a=b"] {
            assert_eq!(decode(fragment), None, "the fragment {fragment:?}");
        }
    }

    #[test]
    fn a_broken_escape_stands_for_itself() {
        assert_eq!(
            unescape("100%25 %zz %4"),
            "100% %zz %4",
            "broken escapes are kept"
        );
    }
}
