// SPDX-License-Identifier: MIT
//! Profile and count parts of a program with libportprof.
//!
//! ```no_run
//! # fn work() {}
//! # fn main() -> Result<(), portprof::Error> {
//! let profile = portprof::Config::new()?
//!     .event("task-clock")?
//!     .set("frequency", "1000")?
//!     .write_to("run.pb.gz")?
//!     .open()?;
//! profile.start()?;
//! work();
//! profile.close()?; // completes the file; portprof report shows it
//!
//! let counters = portprof::Counters::open("task-clock,page-faults")?;
//! let before = counters.read()?;
//! work();
//! println!("{} page faults", counters.read()?[1].since(&before[1]));
//! # Ok(())
//! # }
//! ```
//!
//! An event string names what is measured; `portprof list` prints what there is. An
//! [`Error`] says what was tried, what the system answered and what to do. Any thread
//! may use any value. In a forked child they are inert: calls fail with
//! [`Status::Forked`].
use portprof_sys as sys;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int};
use std::path::Path;
use std::{fmt, ptr};

pub use sys::portprof_stats as Stats;

/// What kind of failure it is (portprof_status(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    Invalid,
    Unsupported,
    Denied,
    Busy,
    NoMemory,
    NotFound,
    Limit,
    State,
    Forked,
    System,
    Format,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Error {
    status: Status,
    reason: i32,
    words: String,
    suggestions: Vec<String>,
}

impl Error {
    pub fn status(&self) -> Status {
        self.status
    }

    /// A number of `portprof_reason`, which never changes its meaning.
    pub fn reason(&self) -> i32 {
        self.reason
    }

    /// What may have been meant, nearest first.
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }

    fn last(status: c_int) -> Error {
        // SAFETY: never NULL, and this thread's until its next failure.
        let diag = unsafe { &*sys::portprof_last_diag() };
        let is_its = diag.status == status;
        let words = if is_its && diag.words[0] != 0 {
            text(diag.words.as_ptr())
        } else {
            // SAFETY: a static string for every number.
            text(unsafe { sys::portprof_status_text(status) })
        };
        Error {
            status: match status {
                sys::PORTPROF_E_UNSUPPORTED => Status::Unsupported,
                sys::PORTPROF_E_DENIED => Status::Denied,
                sys::PORTPROF_E_BUSY => Status::Busy,
                sys::PORTPROF_E_NOMEM => Status::NoMemory,
                sys::PORTPROF_E_NOTFOUND => Status::NotFound,
                sys::PORTPROF_E_LIMIT => Status::Limit,
                sys::PORTPROF_E_STATE => Status::State,
                sys::PORTPROF_E_FORKED => Status::Forked,
                sys::PORTPROF_E_SYSTEM => Status::System,
                sys::PORTPROF_E_FORMAT => Status::Format,
                _ => Status::Invalid,
            },
            reason: if is_its { diag.reason } else { 0 },
            words,
            suggestions: diag
                .suggestions
                .iter()
                .filter(|one| is_its && one[0] != 0)
                .map(|one| text(one.as_ptr()))
                .collect(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Error {}

fn check(status: c_int) -> Result<(), Error> {
    if status == sys::PORTPROF_OK {
        Ok(())
    } else {
        Err(Error::last(status))
    }
}

fn text(from: *const c_char) -> String {
    // SAFETY: callers pass strings of the library, which end with a zero.
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

fn c_string(from: &[u8]) -> Result<CString, Error> {
    CString::new(from).map_err(|_| Error {
        status: Status::Invalid,
        reason: 1,
        words: "a string with a zero byte in it is no argument of libportprof".into(),
        suggestions: Vec::new(),
    })
}

/// The version of the library that the program runs with.
pub fn version() -> String {
    // SAFETY: a static string.
    text(unsafe { sys::portprof_version() })
}

/// What to measure, and where samples go (portprof_config(3)).
pub struct Config(*mut sys::portprof_config);

// SAFETY: one thread at a time may use it, and nothing of it belongs to a thread.
unsafe impl Send for Config {}

impl Config {
    /// CPU time of this process at 100 Hz, by the best backend.
    pub fn new() -> Result<Config, Error> {
        // SAFETY: no arguments.
        let config = unsafe { sys::portprof_config_new() };
        if config.is_null() {
            return Err(Error::last(sys::PORTPROF_E_NOMEM));
        }
        Ok(Config(config))
    }

    /// Add the events of a list.
    pub fn event(self, events: &str) -> Result<Config, Error> {
        let events = c_string(events.as_bytes())?;
        // SAFETY: both live, and the string is copied. So in all of these.
        check(unsafe { sys::portprof_config_add_event(self.0, events.as_ptr()) })?;
        Ok(self)
    }

    /// A setting as in a configuration file (portprof.conf(5)).
    pub fn set(self, key: &str, value: &str) -> Result<Config, Error> {
        let (key, value) = (c_string(key.as_bytes())?, c_string(value.as_bytes())?);
        check(unsafe { sys::portprof_config_set(self.0, key.as_ptr(), value.as_ptr()) })?;
        Ok(self)
    }

    /// The calling thread alone.
    pub fn this_thread(self) -> Result<Config, Error> {
        check(unsafe {
            sys::portprof_config_set_target(self.0, sys::PORTPROF_TARGET_THREAD, 0)
        })?;
        Ok(self)
    }

    /// A pprof file; one of that name becomes PATH.old.
    pub fn write_to(self, path: impl AsRef<Path>) -> Result<Config, Error> {
        use std::os::unix::ffi::OsStrExt;
        let path = c_string(path.as_ref().as_os_str().as_bytes())?;
        check(unsafe { sys::portprof_config_write_to(self.0, path.as_ptr()) })?;
        Ok(self)
    }

    /// Acquire all that can fail; nothing is measured yet.
    pub fn open(&self) -> Result<Profile, Error> {
        let mut session = ptr::null_mut();
        check(unsafe { sys::portprof_session_open(self.0, &mut session) })?;
        Ok(Profile(session))
    }

    /// Counters of the events; they count from now on.
    pub fn open_counters(&self) -> Result<Counters, Error> {
        let mut group = ptr::null_mut();
        check(unsafe { sys::portprof_group_open_config(self.0, &mut group) })?;
        Ok(Counters(group))
    }

    /// Count the events in regions of all threads while the result lives.
    pub fn open_regions(&self) -> Result<Regions, Error> {
        check(unsafe { sys::portprof_regions_open(self.0, ptr::null_mut()) })?;
        Ok(Regions(()))
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { sys::portprof_config_free(self.0) }
    }
}

/// A sampling session (portprof_session(3)).
pub struct Profile(*mut sys::portprof_session);

// SAFETY: any thread may call any function of a session; calls are serialised.
unsafe impl Send for Profile {}
unsafe impl Sync for Profile {}

impl Profile {
    pub fn start(&self) -> Result<(), Error> {
        // SAFETY: the session is open as long as self. So in all of these.
        check(unsafe { sys::portprof_session_start(self.0) })
    }

    pub fn stop(&self) -> Result<(), Error> {
        check(unsafe { sys::portprof_session_stop(self.0) })
    }

    /// Write what was sampled so far.
    pub fn flush(&self) -> Result<(), Error> {
        check(unsafe { sys::portprof_session_flush(self.0) })
    }

    /// The account of the event with this index.
    pub fn stats(&self, event: usize) -> Result<Stats, Error> {
        let mut stats = Stats {
            size: std::mem::size_of::<Stats>(),
            ..Stats::default()
        };
        check(unsafe { sys::portprof_session_stats(self.0, event, &mut stats) })?;
        Ok(stats)
    }

    pub fn backend(&self) -> String {
        text(unsafe { sys::portprof_session_backend(self.0) })
    }

    /// What a user should know about the measurement.
    pub fn notes(&self) -> Vec<String> {
        (0..)
            .map(|i| unsafe { sys::portprof_session_note(self.0, i) })
            .take_while(|note| !note.is_null())
            .map(text)
            .collect()
    }

    /// Stop, complete the file, and say whether that succeeded; drop does the same
    /// and says nothing.
    pub fn close(self) -> Result<(), Error> {
        let session = self.0;
        std::mem::forget(self);
        check(unsafe { sys::portprof_session_close(session) })
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // SAFETY: it is closed once. No callback of Rust can be in it.
        unsafe { sys::portprof_session_close(self.0) };
    }
}

/// One reading of a counter.
#[derive(Clone, Copy, Debug)]
pub struct Count(sys::portprof_count);

impl Count {
    /// The number, or an estimate of it where counters were shared; None if it was not
    /// counted.
    pub fn value(&self) -> Option<u64> {
        (self.0.status <= 1).then_some(self.0.scaled)
    }

    /// What was counted from an earlier reading on; 0 if it is not counted.
    pub fn since(&self, earlier: &Count) -> u64 {
        self.value()
            .unwrap_or(0)
            .saturating_sub(earlier.value().unwrap_or(0))
    }
}

/// Counters that are read at one instant (portprof_group(3)).
pub struct Counters(*mut sys::portprof_group);

// SAFETY: any thread may read; nothing here starts, stops or resets.
unsafe impl Send for Counters {}
unsafe impl Sync for Counters {}

impl Counters {
    pub fn open(events: &str) -> Result<Counters, Error> {
        let events = c_string(events.as_bytes())?;
        let mut group = ptr::null_mut();
        // SAFETY: the string lives, and is copied.
        check(unsafe { sys::portprof_group_open(events.as_ptr(), &mut group) })?;
        Ok(Counters(group))
    }

    /// A value for each event, in the order of the list.
    pub fn read(&self) -> Result<Vec<Count>, Error> {
        // SAFETY: the group is open as long as self, and has so many events.
        let count = unsafe { sys::portprof_group_event_count(self.0) };
        let mut counts = vec![sys::portprof_count::default(); count];
        check(unsafe { sys::portprof_group_read(self.0, counts.as_mut_ptr(), count) })?;
        Ok(counts.into_iter().map(Count).collect())
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        // SAFETY: it is closed once.
        unsafe { sys::portprof_group_close(self.0) }
    }
}

/// The process's own regions are counted while it lives (portprof_region(3)).
pub struct Regions(());

impl Drop for Regions {
    fn drop(&mut self) {
        // SAFETY: NULL is the process's own set; closing it twice does nothing.
        unsafe { sys::portprof_regions_close(ptr::null_mut()) }
    }
}

/// A named part of the calling thread's work, until it is dropped. Counted where
/// somebody counts: [`Config::open_regions`], or PORTPROF=regions; otherwise nearly free.
pub struct Region {
    name: CString,
    is_begun: bool,
    of_one_thread: std::marker::PhantomData<*const ()>,
}

impl Region {
    /// It never fails: a region that cannot be counted must not end the program.
    pub fn begin(name: &str) -> Region {
        let name = c_string(name.as_bytes()).unwrap_or_default();
        // SAFETY: NULL is the process's own set; the name is copied.
        let status = unsafe { sys::portprof_region_begin(ptr::null_mut(), name.as_ptr()) };
        Region {
            name,
            is_begun: status == sys::PORTPROF_OK,
            of_one_thread: std::marker::PhantomData,
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.is_begun {
            // SAFETY: as in begin, in the same thread.
            unsafe { sys::portprof_region_end(ptr::null_mut(), self.name.as_ptr()) };
        }
    }
}
