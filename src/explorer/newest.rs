//! One question at a time, and only the newest one counts.

/// A line in which at most one question is out and at most one, the newest, waits.
#[derive(Debug)]
pub struct Newest<Q> {
    last_id: u64,
    out: Option<(u64, Q)>,
    waiting: Option<Q>,
    replays: u8,
}

/// What to do when an answer arrives.
#[derive(Debug, PartialEq)]
pub enum Arrival<Q> {
    /// It answers the newest question, which is given back.
    Newest(Q),
    /// A newer question waits: drop the answer and send that one.
    Stale,
    /// Nobody asked.
    Unasked,
}

impl<Q> Default for Newest<Q> {
    fn default() -> Self {
        Self {
            last_id: 0,
            out: None,
            waiting: None,
            replays: 0,
        }
    }
}

impl<Q: Clone> Newest<Q> {
    /// Puts a question in line; it replaces one that waits.
    pub fn ask(&mut self, question: Q) {
        self.waiting = Some(question);
    }

    /// The question to send now, with its id; `None` while one is out or none waits.
    pub fn to_send(&mut self) -> Option<(u64, Q)> {
        if self.out.is_some() {
            return None;
        }
        let question = self.waiting.take()?;
        self.last_id += 1;
        self.out = Some((self.last_id, question.clone()));
        Some((self.last_id, question))
    }

    /// Takes note of an answer or a failure.
    pub fn arrived(&mut self, id: u64) -> Arrival<Q> {
        let Some((_, question)) = self.out.take_if(|(out, _)| *out == id) else {
            return Arrival::Unasked;
        };
        self.replays = 0;
        if self.waiting.is_some() {
            Arrival::Stale
        } else {
            Arrival::Newest(question)
        }
    }

    /// Takes note that the answering side is gone: the question that was out waits again, once, unless a newer one does.
    ///
    /// Returns whether a question was given up.
    pub fn lost(&mut self) -> bool {
        let Some((_, question)) = self.out.take() else {
            return false;
        };
        if self.waiting.is_some() {
            return false;
        }
        self.replays += 1;
        let again = self.replays <= 1;
        if again {
            self.waiting = Some(question);
        } else {
            self.replays = 0;
        }
        !again
    }

    /// Whether nothing is out and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.out.is_none() && self.waiting.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_many_questions_is_sent() {
        let mut line = Newest::default();
        line.ask("a");
        assert_eq!(line.to_send(), Some((1, "a")), "the first goes out at once");
        line.ask("b");
        line.ask("c");
        assert_eq!(line.to_send(), None, "one question is out at a time");
        assert_eq!(line.arrived(1), Arrival::Stale, "a newer question waits");
        assert_eq!(line.to_send(), Some((2, "c")), "b was overtaken");
        assert_eq!(line.arrived(2), Arrival::Newest("c"), "c is the newest");
        assert!(line.is_idle(), "nothing is left");
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_not_counted() {
        let mut line = Newest::default();
        line.ask("a");
        line.to_send();
        assert_eq!(line.arrived(7), Arrival::Unasked, "7 was never sent");
        assert_eq!(
            line.arrived(1),
            Arrival::Newest("a"),
            "the true answer still counts"
        );
    }

    #[test]
    fn a_lost_question_is_asked_once_more_and_then_given_up() {
        let mut line = Newest::default();
        line.ask("a");
        line.to_send();
        assert!(!line.lost(), "it is kept");
        assert_eq!(line.to_send(), Some((2, "a")), "and asked again");
        assert!(line.lost(), "twice is enough");
        assert_eq!(line.to_send(), None, "it is not asked a third time");
    }

    #[test]
    fn a_newer_question_takes_the_place_of_a_lost_one() {
        let mut line = Newest::default();
        line.ask("a");
        line.to_send();
        line.ask("b");
        assert!(!line.lost(), "nothing that mattered was given up");
        assert_eq!(line.to_send(), Some((2, "b")), "only the newest is asked");
    }
}
