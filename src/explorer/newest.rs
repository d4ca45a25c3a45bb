//! One question at a time, and only the newest one counts.

/// A line in which at most one question is out and at most one of each lane, the newest, waits.
#[derive(Debug)]
pub struct Newest<Q> {
    last_id: u64,
    out: Option<(u64, Lane, Q)>,
    waiting: Option<Q>,
    aside: Option<Q>,
    made: Option<Q>,
    replays: u8,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The matrix, which goes first.
    Main,
    /// A view that asks about captions of its own.
    Aside,
    /// A view that asks about pictures it has made.
    Made,
}

/// What to do when an answer arrives.
#[derive(Debug, PartialEq)]
pub enum Arrival<Q> {
    /// It answers the newest question, which is given back.
    Newest(Q),
    /// It answers a question asked aside, which is given back; its answer holds whatever is asked meanwhile.
    Aside(Q),
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
            aside: None,
            made: None,
            replays: 0,
        }
    }
}

impl<Q: Clone> Newest<Q> {
    /// Puts a question in line; it replaces one that waits.
    pub fn ask(&mut self, question: Q) {
        self.waiting = Some(question);
    }

    /// Puts a question aside in line; it replaces one that waits there.
    pub fn ask_aside(&mut self, question: Q) {
        self.aside = Some(question);
    }

    /// Puts a question about made pictures in line; it replaces one that waits there.
    pub fn ask_made(&mut self, question: Q) {
        self.made = Some(question);
    }

    /// The question to send now, with its id; `None` while one is out or none waits.
    pub fn to_send(&mut self) -> Option<(u64, Q)> {
        if self.out.is_some() {
            return None;
        }
        let lanes = [
            (Lane::Main, &mut self.waiting),
            (Lane::Aside, &mut self.aside),
            (Lane::Made, &mut self.made),
        ];
        let mut questions = lanes
            .into_iter()
            .filter_map(|(lane, waiting)| Some((lane, waiting.take()?)));
        let (lane, question) = questions.next()?;
        self.last_id += 1;
        self.out = Some((self.last_id, lane, question.clone()));
        Some((self.last_id, question))
    }

    /// Takes note of an answer or a failure.
    pub fn arrived(&mut self, id: u64) -> Arrival<Q> {
        let Some((_, lane, question)) = self.out.take_if(|(out, ..)| *out == id) else {
            return Arrival::Unasked;
        };
        self.replays = 0;
        match lane {
            Lane::Aside | Lane::Made => Arrival::Aside(question),
            Lane::Main if self.waiting.is_some() => Arrival::Stale,
            Lane::Main => Arrival::Newest(question),
        }
    }

    /// Takes note that the answering side is gone: the question that was out waits again, once, unless a newer one does.
    ///
    /// Returns the lane of a question that was given up.
    pub fn lost(&mut self) -> Option<Lane> {
        let (_, lane, question) = self.out.take()?;
        let waiting = match lane {
            Lane::Main => &mut self.waiting,
            Lane::Aside => &mut self.aside,
            Lane::Made => &mut self.made,
        };
        if waiting.is_some() {
            return None;
        }
        self.replays += 1;
        if self.replays <= 1 {
            *waiting = Some(question);
            return None;
        }
        self.replays = 0;
        Some(lane)
    }

    /// Whether nothing is out and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.out.is_none() && self.waiting.is_none() && self.aside.is_none() && self.made.is_none()
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
        assert_eq!(line.lost(), None, "it is kept");
        assert_eq!(line.to_send(), Some((2, "a")), "and asked again");
        assert_eq!(line.lost(), Some(Lane::Main), "twice is enough");
        assert_eq!(line.to_send(), None, "it is not asked a third time");
    }

    #[test]
    fn a_question_aside_waits_for_the_matrix_and_is_never_stale() {
        let mut line = Newest::default();
        line.ask_aside("aside");
        line.ask("a");
        assert_eq!(line.to_send(), Some((1, "a")), "the matrix goes first");
        assert_eq!(line.arrived(1), Arrival::Newest("a"), "and is answered");
        assert_eq!(line.to_send(), Some((2, "aside")), "then the other");
        line.ask_aside("newer");
        line.ask("b");
        assert_eq!(
            line.arrived(2),
            Arrival::Aside("aside"),
            "what was found still holds"
        );
        assert_eq!(line.to_send(), Some((3, "b")), "the matrix again");
        assert_eq!(line.arrived(3), Arrival::Newest("b"), "is answered");
        assert_eq!(line.to_send(), Some((4, "newer")), "and the last aside");
    }

    #[test]
    fn captions_and_made_pictures_do_not_overtake_each_other() {
        let mut line = Newest::default();
        line.ask_made("pictures");
        line.ask_aside("captions");
        assert_eq!(line.to_send(), Some((1, "captions")), "both wait");
        assert_eq!(line.arrived(1), Arrival::Aside("captions"), "one by one");
        assert_eq!(line.to_send(), Some((2, "pictures")), "and both are sent");
        assert_eq!(line.arrived(2), Arrival::Aside("pictures"), "and answered");
        assert!(line.is_idle(), "nothing is left");
    }

    #[test]
    fn a_lost_question_aside_waits_aside() {
        let mut line = Newest::default();
        line.ask_aside("aside");
        line.to_send();
        assert_eq!(line.lost(), None, "it is kept");
        line.ask("a");
        assert_eq!(line.to_send(), Some((2, "a")), "behind the matrix");
        assert_eq!(line.arrived(2), Arrival::Newest("a"), "which is answered");
        line.to_send();
        line.lost();
        line.to_send();
        assert_eq!(line.lost(), Some(Lane::Aside), "at last it is given up");
    }

    #[test]
    fn a_newer_question_takes_the_place_of_a_lost_one() {
        let mut line = Newest::default();
        line.ask("a");
        line.to_send();
        line.ask("b");
        assert_eq!(line.lost(), None, "nothing that mattered was given up");
        assert_eq!(line.to_send(), Some((2, "b")), "only the newest is asked");
    }
}
