//! Pause, resume and cancel, which reach a load at once, although the engine answers one request at a time.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::error::{Error, Result, refuse};

/// Wish of the visitor about a load under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wish {
    /// The load goes on.
    #[default]
    GoOn,
    /// The load pauses; the bytes that have arrived are kept.
    Pause,
    /// The load ends; the bytes that have arrived are kept.
    Cancel,
}

/// Current wish of the visitor; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Control {
    shared: Rc<RefCell<SharedWish>>,
}

#[derive(Debug, Default)]
struct SharedWish {
    wish: Wish,
    fetches_nothing: bool,
    waker: Option<Waker>,
}

impl Control {
    /// Sets the wish, and wakes a paused load.
    pub fn tell(&self, wish: Wish) {
        let mut shared = self.shared.borrow_mut();
        shared.wish = wish;
        if let Some(waker) = shared.waker.take() {
            waker.wake();
        }
    }

    /// Allows loads to fetch what is not kept, or forbids it.
    pub fn set_fetches_nothing(&self, fetches_nothing: bool) {
        self.shared.borrow_mut().fetches_nothing = fetches_nothing;
    }

    /// Whether the load is neither paused nor cancelled.
    #[must_use]
    pub fn may_go_on(&self) -> bool {
        self.shared.borrow().wish == Wish::GoOn
    }

    /// Waits until something may be fetched.
    ///
    /// # Errors
    ///
    /// The load was cancelled, or nothing may be fetched.
    pub async fn may_fetch(&self) -> Result<()> {
        if self.shared.borrow().fetches_nothing {
            refuse!("this browser does not keep all of it, and without a click nothing is fetched");
        }
        self.go_on().await
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
