//! Checks that a server's answer is the part of a file that was asked for, made before any byte of it is kept.

use std::ops::Range;

use crate::error::Error;

/// Status and headers of an answer, as far as the browser shows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerHead<'a> {
    /// The status, such as 206.
    pub status: u16,
    /// `Content-Range`; another origin may hide it.
    pub content_range: Option<&'a str>,
    /// Bytes that the answer announces; `None` where it is packed, since then they are not those of the file.
    pub content_bytes: Option<u64>,
    /// Value of the header `Content-Type`, where there is one.
    pub content_type: Option<&'a str>,
}

/// Fault of an answer, by whether another try may help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFault {
    /// Fault that may pass with another try, such as an overloaded server.
    Passing(String),
    /// Missing file, by the status 404, as every other try would find.
    Absent(String),
    /// Fault that every other try would meet, such as a web page in place of the file.
    Lasting(String),
}

impl AnswerFault {
    /// Error of the library about the file at this address.
    #[must_use]
    pub fn at(self, address: &str) -> Error {
        let address = address.to_owned();
        match self {
            Self::Absent(reason) => Error::Absent { address, reason },
            Self::Passing(reason) | Self::Lasting(reason) => Error::Io {
                path: address,
                reason,
            },
        }
    }
}

impl AnswerHead<'_> {
    /// Bytes to throw away before the first that was asked for.
    ///
    /// # Errors
    ///
    /// Another status than 200 and 206, a page in place of the file, another part than was asked for, or a file that
    /// ends before it.
    pub fn check_part(&self, asked: &Range<u64>) -> Result<u64, AnswerFault> {
        match self.status {
            200 => {
                self.check_whole()?;
                match self.content_bytes {
                    Some(bytes) if bytes < asked.end => Err(too_short(bytes, asked)),
                    _ => Ok(asked.start),
                }
            }
            206 => {
                self.check_type()?;
                self.check_range(asked)?;
                Ok(0)
            }
            status => Err(refused(status)),
        }
    }

    /// Checks an answer that is to be a whole small file.
    ///
    /// # Errors
    ///
    /// Another status than 200, or a page in place of the file.
    pub fn check_whole(&self) -> Result<(), AnswerFault> {
        match self.status {
            200 => self.check_type(),
            status => Err(refused(status)),
        }
    }

    /// Block screens, log-in pages and pages of errors are HTML; no file of a model is.
    fn check_type(&self) -> Result<(), AnswerFault> {
        let kind = self.content_type.unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let is_page = ["text/html", "application/xhtml+xml"];
        if is_page.iter().any(|page| kind.eq_ignore_ascii_case(page)) {
            return Err(lasting(
                "the server answered with a web page in place of the file",
            ));
        }
        Ok(())
    }

    fn check_range(&self, asked: &Range<u64>) -> Result<(), AnswerFault> {
        let n_asked = asked.end - asked.start;
        let Some(text) = self.content_range else {
            return match self.content_bytes {
                Some(bytes) if bytes > n_asked => Err(lasting(format!(
                    "the server answered with {bytes} bytes, {n_asked} were asked for"
                ))),
                _ => Ok(()),
            };
        };
        let other = || {
            let last = asked.end - 1;
            lasting(format!(
                "the server answered with {text:?}, bytes {}-{last} were asked for",
                asked.start
            ))
        };
        let (part, file_bytes) = parse_content_range(text).ok_or_else(other)?;
        match file_bytes {
            Some(bytes) if bytes < asked.end => return Err(too_short(bytes, asked)),
            _ if part.start != asked.start || part.end > asked.end => return Err(other()),
            _ => {}
        }
        let is_other_length = |bytes| bytes != part.end - part.start;
        if self.content_bytes.is_some_and(is_other_length) {
            return Err(other());
        }
        Ok(())
    }
}

/// The part and the size of the file in `bytes 0-7/605157884`; a size of `*` is not known.
fn parse_content_range(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (part, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = part.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let size = match size.trim() {
        "*" => None,
        size => Some(size.parse().ok()?),
    };
    (first <= last).then_some((first..last.checked_add(1)?, size))
}

fn refused(status: u16) -> AnswerFault {
    let reason = format!("the server answered {status}");
    match status {
        404 => AnswerFault::Absent(reason),
        408 | 429 | 500..=599 => AnswerFault::Passing(reason),
        _ => AnswerFault::Lasting(reason),
    }
}

fn too_short(bytes: u64, asked: &Range<u64>) -> AnswerFault {
    let end = asked.end;
    lasting(format!(
        "the file has {bytes} bytes at the server, at least {end} were expected"
    ))
}

fn lasting(reason: impl Into<String>) -> AnswerFault {
    AnswerFault::Lasting(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Range<u64> = 100..200;

    fn part(content_range: &'static str) -> AnswerHead<'static> {
        AnswerHead {
            status: 206,
            content_range: Some(content_range),
            content_bytes: Some(100),
            content_type: Some("application/octet-stream"),
        }
    }

    fn fault(head: &AnswerHead<'_>) -> String {
        match head.check_part(&ASKED).expect_err("not what was asked for") {
            AnswerFault::Absent(reason) | AnswerFault::Lasting(reason) => reason,
            AnswerFault::Passing(reason) => {
                panic!("{reason} passes, another try was expected not to")
            }
        }
    }

    #[test]
    fn the_part_that_was_asked_for_is_taken_whole_or_from_its_beginning() {
        assert_eq!(
            part("bytes 100-199/1000").check_part(&ASKED),
            Ok(0),
            "whole"
        );
        assert_eq!(
            part("bytes 100-199/*").check_part(&ASKED),
            Ok(0),
            "of a file of any size"
        );
        let short = AnswerHead {
            content_bytes: Some(50),
            ..part("bytes 100-149/1000")
        };
        assert_eq!(
            short.check_part(&ASKED),
            Ok(0),
            "the rest is asked for again"
        );
        let hidden = AnswerHead {
            content_range: None,
            ..part("")
        };
        assert_eq!(
            hidden.check_part(&ASKED),
            Ok(0),
            "another origin may hide it"
        );
    }

    #[test]
    fn another_part_than_was_asked_for_is_refused() {
        for other in [
            "bytes 0-99/1000",
            "bytes 101-200/1000",
            "bytes 100-299/1000",
            "bytes 199-100/1000",
            "bytes 100-18446744073709551615/*",
            "bytes */1000",
            "100-199",
            "",
        ] {
            let reason = fault(&part(other));
            assert!(
                reason.contains("bytes 100-199 were asked for"),
                "{other}: {reason}"
            );
        }
        let reason = fault(&part("bytes 100-149/1000"));
        assert!(reason.contains("100-149"), "100 bytes announced: {reason}");
        let reason = fault(&part("bytes 100-149/150"));
        assert!(reason.contains("has 150 bytes"), "{reason}");
    }

    #[test]
    fn a_page_of_a_block_screen_is_no_file() {
        for content_type in [
            "text/html",
            "Text/HTML; charset=utf-8",
            "application/xhtml+xml",
        ] {
            for status in [200, 206] {
                let head = AnswerHead {
                    status,
                    content_type: Some(content_type),
                    ..part("bytes 100-199/1000")
                };
                assert!(fault(&head).contains("web page"), "{status} {content_type}");
            }
            let whole = AnswerHead {
                status: 200,
                content_type: Some(content_type),
                ..AnswerHead::default()
            };
            assert!(
                whole.check_whole().is_err(),
                "nor a small one: {content_type}"
            );
        }
    }

    #[test]
    fn a_whole_file_in_place_of_its_part_must_be_long_enough() {
        let whole = |bytes| AnswerHead {
            status: 200,
            content_bytes: bytes,
            ..AnswerHead::default()
        };
        assert_eq!(
            whole(Some(1000)).check_part(&ASKED),
            Ok(100),
            "100 are thrown away"
        );
        assert_eq!(whole(None).check_part(&ASKED), Ok(100), "it does not say");
        assert!(
            fault(&whole(Some(150))).contains("has 150 bytes"),
            "too short"
        );
    }

    #[test]
    fn only_a_server_in_trouble_is_asked_again() {
        for (status, passes) in [
            (204, false),
            (404, false),
            (416, false),
            (429, true),
            (503, true),
        ] {
            let head = AnswerHead {
                status,
                ..AnswerHead::default()
            };
            let found = head.check_part(&ASKED).expect_err("no part");
            assert_eq!(matches!(found, AnswerFault::Passing(_)), passes, "{status}");
            assert!(head.check_whole().is_err(), "{status} is no file");
        }
    }

    #[test]
    fn a_file_is_absent_by_the_status_and_not_by_words() {
        let error = |status| {
            let head = AnswerHead {
                status,
                ..AnswerHead::default()
            };
            let fault = head.check_whole().expect_err("no file");
            fault.at("config.json")
        };
        for (status, is_absent) in [(403, false), (404, true), (503, false)] {
            let found = matches!(error(status), Error::Absent { .. });
            assert_eq!(found, is_absent, "{status}");
        }
        let words = lasting("the server answered 404").at("config.json");
        assert!(matches!(words, Error::Io { .. }), "{words:?}");
        assert_eq!(words.to_string(), error(404).to_string(), "the same words");
    }
}
