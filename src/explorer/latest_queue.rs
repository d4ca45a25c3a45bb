//! Requests to an engine: one is under way at a time, and of each priority only the latest waits.

/// A queue in which at most one request is under way and at most one of each priority waits.
#[derive(Debug, Clone)]
pub struct LatestQueue<R> {
    last_id: u64,
    sent: Option<SentRequest<R>>,
    waiting: [Option<WaitingRequest<R>>; Priority::ALL.len()],
}

/// The request that was sent and has no answer yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SentRequest<R> {
    /// Number of the request, which its answer repeats.
    pub id: u64,
    /// Part of the page that asked.
    pub priority: Priority,
    /// The request as it was asked, kept to be sent once more.
    pub request: R,
    n_replays: u8,
}

/// A request that has not been sent, or is to be sent again.
#[derive(Debug, Clone)]
struct WaitingRequest<R> {
    request: R,
    n_replays: u8,
}

/// Part of the page that asks; requests of an earlier one go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The matrix, about its captions and pictures.
    Matrix,
    /// A view, about captions of its own.
    Captions,
    /// A view, about pictures that it has generated.
    GeneratedPictures,
}

impl Priority {
    /// All of them, the first one first.
    pub const ALL: [Self; 3] = [Self::Matrix, Self::Captions, Self::GeneratedPictures];
}

/// A request that gets no answer is sent once more.
const MAX_REPLAYS: u8 = 1;

impl<R> Default for LatestQueue<R> {
    fn default() -> Self {
        Self {
            last_id: 0,
            sent: None,
            waiting: [const { None }; Priority::ALL.len()],
        }
    }
}

impl<R: Clone + PartialEq> LatestQueue<R> {
    /// Queues a request; it replaces one of the same priority that is waiting.
    pub fn ask(&mut self, priority: Priority, request: R) {
        let waiting = &mut self.waiting[priority as usize];
        if waiting
            .as_ref()
            .is_none_or(|waiting| waiting.request != request)
        {
            *waiting = Some(WaitingRequest {
                request,
                n_replays: 0,
            });
        }
    }

    /// The request that is under way.
    #[must_use]
    pub fn sent(&self) -> Option<&SentRequest<R>> {
        self.sent.as_ref()
    }

    /// The request to send next.
    #[must_use]
    pub fn next(&self) -> Option<&R> {
        let next = self.waiting.iter().flatten().next()?;
        Some(&next.request)
    }

    /// Takes the next request out of the queue; `None` while one is under way or none waits.
    pub fn send(&mut self) -> Option<&SentRequest<R>> {
        if self.sent.is_some() {
            return None;
        }
        let waiting = Priority::ALL.into_iter().zip(&mut self.waiting);
        let mut requests =
            waiting.filter_map(|(priority, waiting)| Some((priority, waiting.take()?)));
        let (priority, WaitingRequest { request, n_replays }) = requests.next()?;
        self.last_id += 1;
        self.sent = Some(SentRequest {
            id: self.last_id,
            priority,
            request,
            n_replays,
        });
        self.sent.as_ref()
    }

    /// The request that this answers; `None` where nobody asked.
    pub fn arrived(&mut self, id: u64) -> Option<SentRequest<R>> {
        self.sent.take_if(|sent| sent.id == id)
    }

    /// Whether a later request than this one waits, so that its answer is of no use. Those of views hold whatever is
    /// asked meanwhile.
    #[must_use]
    pub fn is_outdated(&self, sent: &SentRequest<R>) -> bool {
        sent.priority == Priority::Matrix && self.waiting[Priority::Matrix as usize].is_some()
    }

    /// Puts the request that is under way back into the queue, unless a later one of its priority is waiting.
    pub fn put_back(&mut self) {
        if let Some(SentRequest {
            priority,
            request,
            n_replays,
            ..
        }) = self.sent.take()
        {
            self.waiting[priority as usize].get_or_insert(WaitingRequest { request, n_replays });
        }
    }

    /// Puts the request that is under way back into the queue once; the second time it is given up and returned.
    pub fn put_back_once(&mut self) -> Option<SentRequest<R>> {
        let sent = self.sent.as_mut()?;
        sent.n_replays += 1;
        if sent.n_replays <= MAX_REPLAYS {
            self.put_back();
            return None;
        }
        let sent = self.sent.take()?;
        self.waiting[sent.priority as usize]
            .is_none()
            .then_some(sent)
    }

    /// Changes the requests that wait; those for which this says `false` are removed and returned.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut R) -> bool) -> Vec<(Priority, R)> {
        let waiting = Priority::ALL.into_iter().zip(&mut self.waiting);
        let removed = waiting.filter_map(|(priority, waiting)| {
            let removed = waiting.take_if(|waiting| !keep(&mut waiting.request))?;
            Some((priority, removed.request))
        });
        removed.collect()
    }

    /// Whether no request is under way and none waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sent.is_none() && self.waiting.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::Priority::{Captions, GeneratedPictures, Matrix};
    use super::*;

    fn send(queue: &mut LatestQueue<&'static str>) -> Option<(u64, &'static str)> {
        queue.send().map(|sent| (sent.id, sent.request))
    }

    /// The request that an answer belongs to, and whether the answer is of use.
    fn arrived(
        queue: &mut LatestQueue<&'static str>,
        id: u64,
    ) -> Option<(Priority, &'static str, bool)> {
        let sent = queue.arrived(id)?;
        Some((sent.priority, sent.request, !queue.is_outdated(&sent)))
    }

    #[test]
    fn the_latest_of_many_requests_is_sent() {
        let mut queue = LatestQueue::default();
        queue.ask(Matrix, "a");
        assert_eq!(send(&mut queue), Some((1, "a")), "the first goes at once");
        queue.ask(Matrix, "b");
        queue.ask(Matrix, "c");
        assert_eq!(send(&mut queue), None, "one is under way at a time");
        let outdated = Some((Matrix, "a", false));
        assert_eq!(arrived(&mut queue, 1), outdated, "a later one waits");
        assert_eq!(send(&mut queue), Some((2, "c")), "b was overtaken");
        let useful = Some((Matrix, "c", true));
        assert_eq!(arrived(&mut queue, 2), useful, "c is the latest");
        assert!(queue.is_idle(), "nothing is left");
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_not_counted() {
        let mut queue = LatestQueue::default();
        queue.ask(Matrix, "a");
        queue.send();
        assert_eq!(arrived(&mut queue, 7), None, "7 was never sent");
        let useful = Some((Matrix, "a", true));
        assert_eq!(arrived(&mut queue, 1), useful, "the true answer counts");
    }

    #[test]
    fn a_lost_request_is_sent_once_more_and_then_given_up() {
        for priority in Priority::ALL {
            let mut queue = LatestQueue::default();
            queue.ask(priority, "a");
            queue.send();
            assert_eq!(queue.put_back_once(), None, "it is kept");
            assert_eq!(send(&mut queue), Some((2, "a")), "and sent again");
            let given_up = queue
                .put_back_once()
                .map(|sent| (sent.priority, sent.request));
            assert_eq!(given_up, Some((priority, "a")), "twice is enough");
            assert_eq!(send(&mut queue), None, "it is not sent a third time");
        }
    }

    #[test]
    fn a_later_request_takes_the_place_of_a_lost_one() {
        let mut queue = LatestQueue::default();
        queue.ask(Matrix, "a");
        queue.send();
        queue.ask(Matrix, "b");
        assert_eq!(queue.put_back_once(), None, "nothing of use was given up");
        assert_eq!(send(&mut queue), Some((2, "b")), "the latest is sent");
        assert_eq!(queue.put_back_once(), None, "it has a replay of its own");
    }

    #[test]
    fn views_wait_for_the_matrix_and_their_answers_are_never_outdated() {
        let mut queue = LatestQueue::default();
        queue.ask(GeneratedPictures, "pictures");
        queue.ask(Captions, "captions");
        queue.ask(Matrix, "a");
        assert_eq!(send(&mut queue), Some((1, "a")), "the matrix goes first");
        queue.arrived(1);
        assert_eq!(send(&mut queue), Some((2, "captions")), "then captions");
        queue.ask(Captions, "later");
        queue.ask(Matrix, "b");
        let useful = Some((Captions, "captions", true));
        assert_eq!(arrived(&mut queue, 2), useful, "what was found still holds");
        assert_eq!(send(&mut queue), Some((3, "b")), "the matrix again");
        queue.arrived(3);
        assert_eq!(send(&mut queue), Some((4, "later")), "the last captions");
        queue.arrived(4);
        assert_eq!(send(&mut queue), Some((5, "pictures")), "and pictures");
    }

    #[test]
    fn requests_that_lost_their_captions_are_removed() {
        let mut queue = LatestQueue::default();
        queue.ask(Matrix, "a");
        queue.ask(Captions, "b");
        let removed = queue.retain(|request| *request != "a");
        assert_eq!(removed, [(Matrix, "a")], "one was to go");
        assert_eq!(send(&mut queue), Some((1, "b")), "the other stays");
    }
}
