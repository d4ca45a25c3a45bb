//! Pause, resume and cancel: told to a load at once, although the engine answers one request at a time.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::error::{Error, Result};

/// What the visitor wants of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wish {
    /// That it goes on.
    #[default]
    GoOn,
    /// That it waits; what has arrived is kept.
    Pause,
    /// That it ends; what has arrived is kept.
    Cancel,
}

/// The visitor's wish; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Control {
    shared: Rc<RefCell<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    wish: Wish,
    waker: Option<Waker>,
}

impl Control {
    /// Changes the wish and wakes the load that waits for it.
    pub fn tell(&self, wish: Wish) {
        let mut shared = self.shared.borrow_mut();
        shared.wish = wish;
        if let Some(waker) = shared.waker.take() {
            waker.wake();
        }
    }

    /// Whether nobody wants the load to wait or end.
    #[must_use]
    pub fn may_go_on(&self) -> bool {
        self.shared.borrow().wish == Wish::GoOn
    }

    /// Waits while the load is paused.
    ///
    /// # Errors
    ///
    /// The load was cancelled.
    pub async fn go_on(&self) -> Result<()> {
        poll_fn(|context| {
            let mut shared = self.shared.borrow_mut();
            match shared.wish {
                Wish::GoOn => Poll::Ready(Ok(())),
                Wish::Cancel => Poll::Ready(Err(Error::Cancelled)),
                Wish::Pause => {
                    shared.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
