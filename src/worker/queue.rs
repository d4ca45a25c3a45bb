//! Requests that wait for the engine: in order, except that only the newest score is worth answering.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::protocol::Request;

/// A queue whose clones share their content.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    shared: Rc<RefCell<WaitingRequests>>,
}

#[derive(Debug, Default)]
struct WaitingRequests {
    requests: VecDeque<Request>,
    waker: Option<Waker>,
}

impl Queue {
    /// Appends a request and wakes whoever awaits [`Queue::next`].
    pub fn push(&self, request: Request) {
        let mut waiting = self.shared.borrow_mut();
        waiting.requests.push_back(request);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }

    /// Puts requests before all others, in their order.
    pub fn put_first(&self, requests: Vec<Request>) {
        let mut waiting = self.shared.borrow_mut();
        for request in requests.into_iter().rev() {
            waiting.requests.push_front(request);
        }
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }

    /// The next request, when there is one.
    pub async fn next(&self) -> Request {
        poll_fn(|context| {
            let mut waiting = self.shared.borrow_mut();
            match waiting.take() {
                Some(request) => Poll::Ready(request),
                None => {
                    waiting.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl WaitingRequests {
    /// The first request that no later one makes useless.
    fn take(&mut self) -> Option<Request> {
        loop {
            let request = self.requests.pop_front()?;
            let is_score = |request: &Request| matches!(request, Request::Score { .. });
            if !is_score(&request) || !self.requests.iter().any(is_score) {
                return Some(request);
            }
        }
    }
}
