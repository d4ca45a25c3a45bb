//! Pause, resume and cancel, which reach a load at once, although the engine answers one request at a time.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::error::{Error, Result, refuse};

/// The visitor's command to a load under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoadCommand {
    /// The load runs, or is resumed.
    #[default]
    Run,
    /// The load pauses; the bytes that have arrived are kept.
    Pause,
    /// The load ends; the bytes that have arrived are kept.
    Cancel,
}

/// The visitor's latest command; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Control {
    shared: Rc<RefCell<SharedCommand>>,
}

#[derive(Debug, Default)]
struct SharedCommand {
    command: LoadCommand,
    fetches_nothing: bool,
    waker: Option<Waker>,
}

impl Control {
    /// Sets the command, and wakes a paused load.
    pub fn set(&self, command: LoadCommand) {
        let mut shared = self.shared.borrow_mut();
        shared.command = command;
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
    pub fn is_running(&self) -> bool {
        self.shared.borrow().command == LoadCommand::Run
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
        self.while_paused().await
    }

    /// Waits while the load is paused.
    ///
    /// # Errors
    ///
    /// The load was cancelled.
    pub async fn while_paused(&self) -> Result<()> {
        poll_fn(|context| {
            let mut shared = self.shared.borrow_mut();
            match shared.command {
                LoadCommand::Run => Poll::Ready(Ok(())),
                LoadCommand::Cancel => Poll::Ready(Err(Error::Cancelled)),
                LoadCommand::Pause => {
                    shared.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
