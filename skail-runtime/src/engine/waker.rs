//! The waker that a function is polled with: it tells wakes from inside from wakes from outside.
//!
//! A function waits for steps only, and its driver knows when a step has ended. A wake that comes while
//! the driver polls or delivers, on its thread, is one branch waking another: poll again. Any other wake
//! means that the function awaits something that Skail does not record.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use tokio::sync::Notify;

thread_local! {
    /// The address of the waker whose function this thread is inside of; 0 for none.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct FunctionWaker {
    again: AtomicBool,
    foreign: AtomicBool,
    outside: Notify,
}

impl FunctionWaker {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    /// Runs `work`; wakes from it count as wakes from inside.
    pub(crate) fn inside<R>(self: &Arc<Self>, work: impl FnOnce() -> R) -> R {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                INSIDE.set(self.0);
            }
        }
        let _restore = Restore(INSIDE.replace(Arc::as_ptr(self) as usize));
        work()
    }

    /// Whether a wake from inside came since the last call.
    pub(crate) fn take_again(&self) -> bool {
        self.again.swap(false, Ordering::AcqRel)
    }

    /// Whether a wake from outside ever came.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign.load(Ordering::Acquire)
    }

    /// Resolves at a wake from outside.
    pub(crate) async fn foreign(&self) {
        while !self.is_foreign() {
            self.outside.notified().await;
        }
    }
}

impl Wake for FunctionWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if INSIDE.get() == Arc::as_ptr(self) as usize {
            self.again.store(true, Ordering::Release);
        } else {
            self.foreign.store(true, Ordering::Release);
            self.outside.notify_one();
        }
    }
}
