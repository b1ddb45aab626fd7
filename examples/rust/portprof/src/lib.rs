// SPDX-License-Identifier: MIT
#![doc = include_str!("../../README.md")]
#![warn(unsafe_op_in_unsafe_fn)]
use portprof_sys as sys;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::RawFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fmt, mem, ptr, slice};

pub use sys::portprof_stats as Stats;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// A mistake of the caller, found before it had any effect.
    Invalid,
    /// Not by this backend or system.
    Unsupported,
    /// It needs more permissions.
    Denied,
    /// A resource is in use; it may succeed later.
    Busy,
    NoMemory,
    /// Nothing has that name or number.
    NotFound,
    /// A limit of the system or of the user.
    Limit,
    /// Not now, such as a start of what has started.
    State,
    /// It belongs to the parent of this forked process.
    Forked,
    /// A call to the system failed.
    System,
    /// A file has contents that it cannot have.
    Format,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $number:ident,)*) => {
        /// What stands behind a failure. Later libraries may have more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            fn of(number: c_int) -> Reason {
                match number {
                    $(sys::$number => Reason::$name,)*
                    _ => Reason::None,
                }
            }
        }
    };
}
reasons! {
    /// The status says all.
    None = PORTPROF_REASON_NONE,
    /// An argument that cannot be.
    Argument = PORTPROF_REASON_ARGUMENT,
    /// A text breaks its rules.
    Syntax = PORTPROF_REASON_SYNTAX,
    /// A part of an event string has to be dropped or changed.
    Part = PORTPROF_REASON_PART,
    /// Nothing is named so: [`Error::suggestions`].
    UnknownName = PORTPROF_REASON_UNKNOWN_NAME,
    /// No backend has what is asked for.
    NoBackend = PORTPROF_REASON_NO_BACKEND,
    /// The backend that has it lacks it here.
    BackendLimit = PORTPROF_REASON_BACKEND_LIMIT,
    /// This processor has no such counter or precision.
    NotOnCpu = PORTPROF_REASON_NOT_ON_CPU,
    /// This user may not.
    NeedsRight = PORTPROF_REASON_NEEDS_RIGHT,
    /// This user may not use tracepoints.
    NeedsTracing = PORTPROF_REASON_NEEDS_TRACING,
    /// A file system is not mounted.
    NeedsMount = PORTPROF_REASON_NEEDS_MOUNT,
    /// Of the system, or of the user.
    Limit = PORTPROF_REASON_LIMIT,
    /// Somebody else has it.
    InUse = PORTPROF_REASON_IN_USE,
    NoMemory = PORTPROF_REASON_NO_MEMORY,
    /// No such process, thread or cgroup.
    TargetGone = PORTPROF_REASON_TARGET_GONE,
    /// The file cannot be written there.
    Output = PORTPROF_REASON_OUTPUT,
    /// A file has contents that it cannot have.
    Format = PORTPROF_REASON_FORMAT,
    /// Not now, or not any more.
    State = PORTPROF_REASON_STATE,
    /// It belongs to the parent process.
    Forked = PORTPROF_REASON_FORKED,
    /// The system failed: the text says how.
    System = PORTPROF_REASON_SYSTEM,
    /// Not by this backend or system.
    NotSupported = PORTPROF_REASON_NOT_SUPPORTED,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Error {
    status: Status,
    reason: Reason,
    words: String,
    suggestions: Vec<String>,
}

impl Error {
    pub fn status(&self) -> Status {
        self.status
    }

    /// Which of the causes that a status can have.
    pub fn reason(&self) -> Reason {
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
            reason: Reason::of(if is_its { diag.reason } else { 0 }),
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
        reason: Reason::Argument,
        words: "a string with a zero byte in it is no argument of libportprof".into(),
        suggestions: Vec::new(),
    })
}

/// The version of the library that the program runs with.
pub fn version() -> String {
    // SAFETY: a static string.
    text(unsafe { sys::portprof_version() })
}

type Take = Mutex<Box<dyn FnMut(&Batch<'_>) + Send>>;

/// What to measure, and where samples go. Each call adds to it; [`Config::open`],
/// [`Config::open_counters`] and [`Config::open_regions`] may be called more than once.
pub struct Config {
    handle: *mut sys::portprof_config,
    kept: Vec<Arc<Take>>, // sessions call them, too
}

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
        Ok(Config {
            handle: config,
            kept: Vec::new(),
        })
    }

    /// Add the events of a list.
    pub fn event(self, events: &str) -> Result<Config, Error> {
        let events = c_string(events.as_bytes())?;
        // SAFETY: both live, and the string is copied. So in all of these.
        check(unsafe { sys::portprof_config_add_event(self.handle, events.as_ptr()) })?;
        Ok(self)
    }

    /// A setting as in a configuration file (portprof.conf(5)).
    pub fn set(self, key: &str, value: &str) -> Result<Config, Error> {
        let (key, value) = (c_string(key.as_bytes())?, c_string(value.as_bytes())?);
        check(unsafe { sys::portprof_config_set(self.handle, key.as_ptr(), value.as_ptr()) })?;
        Ok(self)
    }

    /// A setting that is a number, such as `callchain`.
    pub fn number(self, key: &str, number: u64) -> Result<Config, Error> {
        let key = c_string(key.as_bytes())?;
        check(unsafe { sys::portprof_config_set_number(self.handle, key.as_ptr(), number) })?;
        Ok(self)
    }

    /// Another process, all threads of it.
    pub fn process(self, pid: u32) -> Result<Config, Error> {
        check(unsafe {
            sys::portprof_config_set_target(self.handle, sys::PORTPROF_TARGET_PID, pid.into())
        })?;
        Ok(self)
    }

    /// Call `take` with what was measured: in a thread of the library, or in the one
    /// that stops, flushes or closes. A panic in it ends the program.
    pub fn callback(
        mut self,
        take: impl FnMut(&Batch<'_>) + Send + 'static,
    ) -> Result<Config, Error> {
        let take: Arc<Take> = Arc::new(Mutex::new(Box::new(take)));
        let context = Arc::as_ptr(&take) as *mut c_void;
        // SAFETY: this config and its sessions keep what the context points to.
        check(unsafe { sys::portprof_config_add_callback(self.handle, pass_on, context) })?;
        self.kept.push(take);
        Ok(self)
    }

    /// The calling thread alone.
    pub fn this_thread(self) -> Result<Config, Error> {
        check(unsafe {
            sys::portprof_config_set_target(self.handle, sys::PORTPROF_TARGET_THREAD, 0)
        })?;
        Ok(self)
    }

    /// A pprof file; one of that name becomes PATH.old.
    pub fn write_to(self, path: impl AsRef<Path>) -> Result<Config, Error> {
        use std::os::unix::ffi::OsStrExt;
        let path = c_string(path.as_ref().as_os_str().as_bytes())?;
        check(unsafe { sys::portprof_config_write_to(self.handle, path.as_ptr()) })?;
        Ok(self)
    }

    /// Acquire all that can fail; nothing is measured yet.
    pub fn open(&self) -> Result<Profile, Error> {
        let mut session = ptr::null_mut();
        check(unsafe { sys::portprof_session_open(self.handle, &mut session) })?;
        Ok(Profile {
            handle: session,
            _kept: self.kept.clone(),
        })
    }

    /// Counters of the events; they count from now on.
    pub fn open_counters(&self) -> Result<Counters, Error> {
        let mut group = ptr::null_mut();
        check(unsafe { sys::portprof_group_open_config(self.handle, &mut group) })?;
        Ok(Counters(group))
    }

    /// Count the events in regions of all threads while the result lives.
    pub fn open_regions(&self) -> Result<Regions, Error> {
        check(unsafe { sys::portprof_regions_open(self.handle, ptr::null_mut()) })?;
        Ok(Regions(()))
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { sys::portprof_config_free(self.handle) }
    }
}

unsafe extern "C" fn pass_on(batch: *const sys::portprof_batch, context: *mut c_void) {
    // SAFETY: the session that calls keeps the function, and the batch lives.
    let (take, batch) = unsafe { (&*context.cast::<Take>(), &*batch) };
    if let Ok(mut take) = take.lock() {
        take(&Batch(batch));
    }
}

/// What a callback gets. It is gone when the callback returns: copy what is to be kept.
pub struct Batch<'a>(&'a sys::portprof_batch);

impl<'a> Batch<'a> {
    pub fn samples(&self) -> impl Iterator<Item = Sample<'a>> + 'a {
        let batch = self.0;
        (0..batch.count)
            .map(move |i| {
                // SAFETY: there are `count`, `record_bytes` apart.
                let record = unsafe {
                    let at = batch.records.cast::<u8>().add(i * batch.record_bytes);
                    &*at.cast::<sys::portprof_record>()
                };
                Sample { batch, record }
            })
            .filter(|sample| sample.record.kind == sys::PORTPROF_RECORD_SAMPLE)
    }
}

/// Weight at a program counter.
pub struct Sample<'a> {
    batch: &'a sys::portprof_batch,
    record: &'a sys::portprof_record,
}

impl<'a> Sample<'a> {
    /// The index of the event.
    pub fn event(&self) -> usize {
        self.record.event as usize
    }

    /// In the event's unit, nanoseconds for clocks.
    pub fn weight(&self) -> u64 {
        self.record.weight
    }

    /// The program counter.
    pub fn address(&self) -> u64 {
        self.record.address
    }

    /// Whether it was in the kernel.
    pub fn is_kernel(&self) -> bool {
        self.has(sys::PORTPROF_FIELD_KERNEL)
    }

    pub fn tid(&self) -> Option<u32> {
        self.has(sys::PORTPROF_FIELD_TID).then_some(self.record.tid)
    }

    /// By CLOCK_MONOTONIC.
    pub fn time_ns(&self) -> Option<u64> {
        self.has(sys::PORTPROF_FIELD_TIME).then_some(self.record.time_ns)
    }

    /// Leaf first; empty if there is none. `.number("callchain", 64)` asks for it.
    pub fn chain(&self) -> &'a [u64] {
        let mut depth = 0;
        // SAFETY: both are of one batch, which lives as long as 'a.
        unsafe {
            let first = sys::portprof_batch_chain(self.batch, self.record, &mut depth);
            if first.is_null() {
                &[]
            } else {
                slice::from_raw_parts(first, depth)
            }
        }
    }

    /// The text of a field that the event has with each sample, empty if there is none:
    /// of `blocked-time` 1 is the kind of wait, 2 the file or the peer, 3 who has the lock.
    pub fn field_text(&self, index: u32) -> String {
        const HEAD: usize = mem::size_of::<sys::portprof_event_field>() / mem::size_of::<u64>();
        let mut at = self.record.event_fields as usize;
        let end = at + self.record.event_field_words as usize;
        while self.has(sys::PORTPROF_FIELD_EVENT_FIELDS) && at < end {
            // SAFETY: a field begins at each of these words, and its text follows it.
            let (field, words) = unsafe {
                let field = self.batch.words.add(at).cast::<sys::portprof_event_field>();
                (&*field, self.batch.words.add(at + HEAD))
            };
            if field.index == index && field.text_bytes > 0 {
                return text(words.cast());
            }
            at += HEAD + (field.text_bytes as usize + 7) / 8;
        }
        String::new()
    }

    fn has(&self, field: u32) -> bool {
        self.record.valid & field != 0
    }
}

/// A sampling session: measures between start and stop, as often as wanted. Any thread
/// may call any of its functions.
pub struct Profile {
    handle: *mut sys::portprof_session,
    _kept: Vec<Arc<Take>>,
}

// SAFETY: any thread may call any function of a session; calls are serialised.
unsafe impl Send for Profile {}
unsafe impl Sync for Profile {}

impl Profile {
    pub fn start(&self) -> Result<(), Error> {
        // SAFETY: the session is open as long as self. So in all of these.
        check(unsafe { sys::portprof_session_start(self.handle) })
    }

    pub fn stop(&self) -> Result<(), Error> {
        check(unsafe { sys::portprof_session_stop(self.handle) })
    }

    /// Write what was sampled so far.
    pub fn flush(&self) -> Result<(), Error> {
        check(unsafe { sys::portprof_session_flush(self.handle) })
    }

    /// Change a setting of the event with this index: `frequency`, `period`, `enabled`.
    pub fn set_number(&self, event: usize, key: &str, number: u64) -> Result<(), Error> {
        let key = c_string(key.as_bytes())?;
        check(unsafe {
            sys::portprof_session_set_number(self.handle, event, key.as_ptr(), number)
        })
    }

    /// To poll: readable once samples wait, which [`Profile::flush`] then brings, and
    /// nothing else. It belongs to the profile.
    pub fn descriptor(&self) -> Result<RawFd, Error> {
        let mut fd = -1;
        check(unsafe { sys::portprof_session_fd(self.handle, &mut fd) })?;
        Ok(fd)
    }

    /// The account of the event with this index.
    pub fn stats(&self, event: usize) -> Result<Stats, Error> {
        let mut stats = Stats {
            size: mem::size_of::<Stats>(),
            ..Stats::default()
        };
        check(unsafe { sys::portprof_session_stats(self.handle, event, &mut stats) })?;
        Ok(stats)
    }

    pub fn backend(&self) -> String {
        text(unsafe { sys::portprof_session_backend(self.handle) })
    }

    /// What a user should know about the measurement.
    pub fn notes(&self) -> Vec<String> {
        (0..)
            .map(|i| unsafe { sys::portprof_session_note(self.handle, i) })
            .take_while(|note| !note.is_null())
            .map(text)
            .collect()
    }

    /// Stop, complete the file, and say whether that succeeded; drop does the same
    /// and says nothing.
    pub fn close(mut self) -> Result<(), Error> {
        let session = mem::replace(&mut self.handle, ptr::null_mut());
        check(unsafe { sys::portprof_session_close(session) })
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // SAFETY: it is closed once; NULL, after close(), does nothing. What closing
        // calls is dropped after it.
        unsafe { sys::portprof_session_close(self.handle) };
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

/// Counters that are read at one instant, and count from their opening on, in all
/// threads of the process unless the config names another target.
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

/// What one region counted, in all threads.
#[derive(Clone, Debug)]
pub struct RegionCount {
    pub name: String,
    pub calls: u64,
    pub threads: u64,
    /// One for each event.
    pub counts: Vec<Count>,
}

/// The regions of this process, of any thread, are counted while it lives.
pub struct Regions(());

impl Regions {
    /// Those that have ended at least once, in the order in which they began.
    pub fn read(&self) -> Result<Vec<RegionCount>, Error> {
        unsafe extern "C" fn take(
            info: *const sys::portprof_region_info,
            rows: *mut c_void,
        ) -> c_int {
            // SAFETY: what the library passes lives during the call, and so does `rows`.
            unsafe {
                let info = &*info;
                (*rows.cast::<Vec<RegionCount>>()).push(RegionCount {
                    name: text(info.name),
                    calls: info.calls,
                    threads: info.threads,
                    counts: slice::from_raw_parts(info.counts, info.count)
                        .iter()
                        .map(|count| Count(*count))
                        .collect(),
                });
            }
            0
        }
        let mut rows: Vec<RegionCount> = Vec::new();
        let context = (&mut rows as *mut Vec<RegionCount>).cast();
        check(unsafe { sys::portprof_regions_read(ptr::null_mut(), 0, take, context) })?;
        Ok(rows)
    }
}

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

/// The calling thread's samples have one more label until it is dropped:
/// `portprof report --sort label:KEY` sums by it.
pub struct Label {
    before: Option<*const sys::portprof_label_set>,
}

impl Label {
    /// It never fails: a label that could not be added is not there.
    pub fn push(key: &str, value: &str) -> Label {
        let none = Label { before: None };
        let (key, value) = match (c_string(key.as_bytes()), c_string(value.as_bytes())) {
            (Ok(key), Ok(value)) => (key, value),
            _ => return none,
        };
        // SAFETY: both strings live, and are copied.
        unsafe {
            let before = sys::portprof_label_current();
            if sys::portprof_label_push(key.as_ptr(), value.as_ptr()) != sys::PORTPROF_OK {
                return none;
            }
            Label {
                before: Some(before),
            }
        }
    }
}

impl Drop for Label {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: sets are never freed, and a pointer keeps this in its thread.
            unsafe { sys::portprof_label_leave(before) }
        }
    }
}
