//! The system calls by which a store reaches the disk, seen by the test.
//!
//! The functions of the C library are defined here, so every library in this program calls them. Each asks
//! the program's observer, set once, before and after the real call.
#![allow(
    unsafe_code,
    reason = "the test stands between the store and the C library"
)]

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::OnceLock;

/// A call that is about to be made, or was made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call<'a> {
    /// Bytes go to a place in a file.
    Write {
        fd: c_int,
        offset: Option<u64>,
        bytes: &'a [u8],
    },
    /// What was written is made durable.
    Sync { fd: c_int },
    /// A file gets another length.
    Truncate { fd: c_int, length: u64 },
    /// A file or directory gets another name.
    Rename { from: &'a CStr, to: &'a CStr },
    /// A directory changes otherwise.
    Entry,
}

/// What is done about calls.
pub(crate) trait Observer: Send + Sync {
    /// Before a call. `Some` is what it returns instead of being made.
    fn before(&self, call: Call<'_>) -> Option<isize> {
        let _ = call;
        None
    }

    /// After a call that went well.
    fn after(&self, call: Call<'_>) {
        let _ = call;
    }
}

static OBSERVER: OnceLock<Box<dyn Observer>> = OnceLock::new();

/// From now on this observer is asked.
pub(crate) fn observe(observer: impl Observer + 'static) {
    assert!(
        OBSERVER.set(Box::new(observer)).is_ok(),
        "there is one already"
    );
}

fn around(call: Call<'_>, make: impl FnOnce() -> c_long) -> c_long {
    let Some(observer) = OBSERVER.get() else {
        return make();
    };
    if let Some(instead) = observer.before(call) {
        return instead as c_long;
    }
    let result = make();
    if result >= 0 {
        // What observers do must not show in the caller's errno.
        let errno = unsafe { *libc::__errno_location() };
        observer.after(call);
        unsafe { *libc::__errno_location() = errno };
    }
    result
}

/// Whether a disk is behind it: no terminal, pipe or event counter.
fn is_file(fd: c_int) -> bool {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // `stat` is read only if the call says that it has filled it.
    unsafe {
        libc::fstat(fd, stat.as_mut_ptr()) == 0
            && stat.assume_init().st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// Writes as the real call does, past the observer.
pub(crate) fn write_unseen(fd: c_int, bytes: &[u8], offset: Option<u64>) -> isize {
    let (start, length) = (bytes.as_ptr(), bytes.len());
    (match offset {
        Some(offset) => unsafe { libc::syscall(libc::SYS_pwrite64, fd, start, length, offset) },
        None => unsafe { libc::syscall(libc::SYS_write, fd, start, length) },
    }) as isize
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(
    fd: c_int,
    start: *const c_void,
    length: usize,
    offset: i64,
) -> isize {
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    let offset = Some(offset as u64);
    around(Call::Write { fd, offset, bytes }, || {
        write_unseen(fd, bytes, offset) as c_long
    }) as isize
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, start: *const c_void, length: usize) -> isize {
    // The runtime's own wake-ups are writes too, and no disk is asked for them.
    if !is_file(fd) {
        return unsafe { libc::syscall(libc::SYS_write, fd, start, length) } as isize;
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    let call = Call::Write {
        fd,
        offset: None,
        bytes,
    };
    around(call, || write_unseen(fd, bytes, None) as c_long) as isize
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(fd: c_int) -> c_int {
    around(Call::Sync { fd }, || unsafe {
        libc::syscall(libc::SYS_fdatasync, fd)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn fsync(fd: c_int) -> c_int {
    around(Call::Sync { fd }, || unsafe {
        libc::syscall(libc::SYS_fsync, fd)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate64(fd: c_int, length: i64) -> c_int {
    let call = Call::Truncate {
        fd,
        length: length as u64,
    };
    around(call, || unsafe {
        libc::syscall(libc::SYS_ftruncate, fd, length)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let call = unsafe {
        Call::Rename {
            from: CStr::from_ptr(from),
            to: CStr::from_ptr(to),
        }
    };
    around(call, || unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from,
            libc::AT_FDCWD,
            to,
            0,
        )
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    around(Call::Entry, || unsafe {
        libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    around(Call::Entry, || unsafe {
        libc::syscall(libc::SYS_unlinkat, directory, path, flags)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: c_uint) -> c_int {
    around(Call::Entry, || unsafe {
        libc::syscall(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode)
    }) as c_int
}
