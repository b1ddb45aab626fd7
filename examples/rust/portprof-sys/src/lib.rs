// SPDX-License-Identifier: MIT
//! The C functions of libportprof, by hand: those of config, session, record, group,
//! region, label and status. Programs use the crate `portprof`, which is safe and says
//! what each does; the example `layout` compares the structs with the headers.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_int, c_uint, c_void};

macro_rules! opaque {
    ($($name:ident),*) => {
        $(#[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        })*
    };
}
opaque!(
    portprof_config,
    portprof_session,
    portprof_group,
    portprof_regions,
    portprof_label_set
);

pub const PORTPROF_END: c_int = 1;
pub const PORTPROF_OK: c_int = 0;
pub const PORTPROF_E_INVALID: c_int = -1;
pub const PORTPROF_E_UNSUPPORTED: c_int = -2;
pub const PORTPROF_E_DENIED: c_int = -3;
pub const PORTPROF_E_BUSY: c_int = -4;
pub const PORTPROF_E_NOMEM: c_int = -5;
pub const PORTPROF_E_NOTFOUND: c_int = -6;
pub const PORTPROF_E_LIMIT: c_int = -7;
pub const PORTPROF_E_STATE: c_int = -8;
pub const PORTPROF_E_FORKED: c_int = -9;
pub const PORTPROF_E_SYSTEM: c_int = -10;
pub const PORTPROF_E_FORMAT: c_int = -11;

pub const PORTPROF_REASON_NONE: c_int = 0;
pub const PORTPROF_REASON_ARGUMENT: c_int = 1;
pub const PORTPROF_REASON_SYNTAX: c_int = 2;
pub const PORTPROF_REASON_PART: c_int = 3;
pub const PORTPROF_REASON_UNKNOWN_NAME: c_int = 4;
pub const PORTPROF_REASON_NO_BACKEND: c_int = 5;
pub const PORTPROF_REASON_BACKEND_LIMIT: c_int = 6;
pub const PORTPROF_REASON_NOT_ON_CPU: c_int = 7;
pub const PORTPROF_REASON_NEEDS_RIGHT: c_int = 8;
pub const PORTPROF_REASON_NEEDS_TRACING: c_int = 9;
pub const PORTPROF_REASON_NEEDS_MOUNT: c_int = 10;
pub const PORTPROF_REASON_LIMIT: c_int = 11;
pub const PORTPROF_REASON_IN_USE: c_int = 12;
pub const PORTPROF_REASON_NO_MEMORY: c_int = 13;
pub const PORTPROF_REASON_TARGET_GONE: c_int = 14;
pub const PORTPROF_REASON_OUTPUT: c_int = 15;
pub const PORTPROF_REASON_FORMAT: c_int = 16;
pub const PORTPROF_REASON_STATE: c_int = 17;
pub const PORTPROF_REASON_FORKED: c_int = 18;
pub const PORTPROF_REASON_SYSTEM: c_int = 19;
pub const PORTPROF_REASON_NOT_SUPPORTED: c_int = 20;

pub const PORTPROF_TARGET_PROCESS: c_int = 0;
pub const PORTPROF_TARGET_THREAD: c_int = 1;
pub const PORTPROF_TARGET_PID: c_int = 3;

pub const PORTPROF_RECORD_SAMPLE: u32 = 1;
pub const PORTPROF_FIELD_TID: u32 = 1 << 1;
pub const PORTPROF_FIELD_TIME: u32 = 1 << 3;
pub const PORTPROF_FIELD_KERNEL: u32 = 1 << 5;
pub const PORTPROF_FIELD_EVENT_FIELDS: u32 = 1 << 18;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct portprof_diag {
    pub status: c_int,
    pub os_errno: c_int,
    pub step: [c_char; 64],
    pub words: [c_char; 960],
    pub reason: c_int,
    pub place: [c_char; 256],
    pub line: c_uint,
    pub column: c_uint,
    pub suggestions: [[c_char; 96]; 3],
}

/// The account of an event. Weights are in its unit, nanoseconds for clocks:
/// total + excess = kept + outside + unattributed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct portprof_stats {
    pub size: usize,
    pub delivered_samples: u64,
    /// What went to at least one destination.
    pub kept_samples: u64,
    /// What was in no range, or filtered.
    pub outside_samples: u64,
    /// Dropped by the kernel or by a full buffer.
    pub lost_samples: u64,
    /// What the event itself counted.
    pub total_weight: u64,
    pub kept_weight: u64,
    pub outside_weight: u64,
    /// Without a sample: ends of threads, and the following.
    pub unattributed_weight: u64,
    /// Part of it: threads that could not be attached to.
    pub not_attached_weight: u64,
    /// How often the kernel held back samples.
    pub throttled: u64,
    /// Of the target while it was measured.
    pub cpu_time_ns: u64,
    /// CPU time of the library's own thread.
    pub own_cost_ns: u64,
    /// 1: `lost_samples` is exact; 0: it is a lower bound. So in the next.
    pub lost_certainty: u32,
    pub unattributed_certainty: u32,
    /// 0 if a period was asked for.
    pub requested_hz: f64,
    /// By the kernel; 0: unknown.
    pub granted_hz: f64,
    /// Samples for each second of CPU time.
    pub achieved_hz: f64,
    /// In the event's unit; 0 if a rate was asked for.
    pub requested_period: u64,
    /// 0: unknown, or varying.
    pub granted_period: u64,
    /// What samples weigh above the total.
    pub excess_weight: u64,
    /// Of all weights together; of a part with the share s this times the root of s.
    pub standard_error: u64,
    /// Of the CPUs, when all that runs is measured; in no total.
    pub idle_time_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct portprof_count {
    pub raw: u64,
    pub scaled: u64,
    pub enabled_ns: u64,
    pub running_ns: u64,
    pub status: u64,
    pub taken_ns: u64,
}

/// What a callback gets, valid during the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct portprof_batch {
    pub records: *const c_void,
    pub count: usize,
    pub words: *const u64,
    pub word_count: usize,
    pub record_bytes: usize,
}

/// In the words of a batch, from `event_fields` of a record on. A text of so many bytes,
/// with its zero, follows, and fills whole words.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct portprof_event_field {
    pub index: u32,
    pub text_bytes: u32,
    pub number: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct portprof_record {
    pub kind: u32,
    pub valid: u32,
    pub event: u32,
    pub cpu: u32,
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    pub address: u64,
    pub span: u64,
    pub weight: u64,
    pub samples: u64,
    pub user_address: u64,
    pub payload: u64,
    pub payload_words: u64,
    pub data_address: u64,
    pub latency: u64,
    pub branches: u64,
    pub branch_count: u64,
    pub values: u64,
    pub value_count: u64,
    pub chain_end: u64,
    pub data_source: u64,
    pub instruction_latency: u64,
    pub transaction: u64,
    pub physical_address: u64,
    pub data_page_bytes: u64,
    pub code_page_bytes: u64,
    pub event_fields: u64,
    pub event_field_words: u64,
    pub label_set: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct portprof_label {
    pub key: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct portprof_region_info {
    pub size: usize,
    pub name: *const c_char,
    pub calls: u64,
    pub threads: u64,
    pub tid: i64,
    pub counts: *const portprof_count,
    pub count: usize,
    pub labels: *const portprof_label,
    pub label_count: usize,
}

pub type portprof_batch_fn =
    unsafe extern "C" fn(batch: *const portprof_batch, context: *mut c_void);
pub type portprof_region_fn =
    unsafe extern "C" fn(region: *const portprof_region_info, context: *mut c_void) -> c_int;

extern "C" {
    pub fn portprof_version() -> *const c_char;
    pub fn portprof_last_diag() -> *const portprof_diag;
    pub fn portprof_status_text(status: c_int) -> *const c_char;

    pub fn portprof_config_new() -> *mut portprof_config;
    pub fn portprof_config_free(config: *mut portprof_config);
    pub fn portprof_config_set(
        config: *mut portprof_config,
        key: *const c_char,
        value: *const c_char,
    ) -> c_int;
    pub fn portprof_config_add_event(
        config: *mut portprof_config,
        events: *const c_char,
    ) -> c_int;
    pub fn portprof_config_write_to(
        config: *mut portprof_config,
        path: *const c_char,
    ) -> c_int;
    pub fn portprof_config_set_target(
        config: *mut portprof_config,
        target: c_int,
        id: i64,
    ) -> c_int;
    pub fn portprof_config_set_number(
        config: *mut portprof_config,
        key: *const c_char,
        number: u64,
    ) -> c_int;
    pub fn portprof_config_add_callback(
        config: *mut portprof_config,
        take: portprof_batch_fn,
        context: *mut c_void,
    ) -> c_int;

    pub fn portprof_batch_chain(
        batch: *const portprof_batch,
        record: *const portprof_record,
        depth: *mut usize,
    ) -> *const u64;

    pub fn portprof_session_open(
        config: *const portprof_config,
        session: *mut *mut portprof_session,
    ) -> c_int;
    pub fn portprof_session_start(session: *mut portprof_session) -> c_int;
    pub fn portprof_session_stop(session: *mut portprof_session) -> c_int;
    pub fn portprof_session_flush(session: *mut portprof_session) -> c_int;
    pub fn portprof_session_close(session: *mut portprof_session) -> c_int;
    pub fn portprof_session_stats(
        session: *mut portprof_session,
        event: usize,
        stats: *mut portprof_stats,
    ) -> c_int;
    pub fn portprof_session_set_number(
        session: *mut portprof_session,
        event: usize,
        key: *const c_char,
        number: u64,
    ) -> c_int;
    pub fn portprof_session_fd(session: *mut portprof_session, fd: *mut c_int) -> c_int;
    pub fn portprof_session_backend(
        session: *const portprof_session,
    ) -> *const c_char;
    pub fn portprof_session_note(
        session: *mut portprof_session,
        index: usize,
    ) -> *const c_char;

    pub fn portprof_group_open(
        events: *const c_char,
        group: *mut *mut portprof_group,
    ) -> c_int;
    pub fn portprof_group_open_config(
        config: *const portprof_config,
        group: *mut *mut portprof_group,
    ) -> c_int;
    pub fn portprof_group_read(
        group: *mut portprof_group,
        counts: *mut portprof_count,
        count: usize,
    ) -> c_int;
    pub fn portprof_group_event_count(group: *const portprof_group) -> usize;
    pub fn portprof_group_close(group: *mut portprof_group);

    pub fn portprof_regions_open(
        config: *const portprof_config,
        regions: *mut *mut portprof_regions,
    ) -> c_int;
    pub fn portprof_regions_close(regions: *mut portprof_regions);
    pub fn portprof_region_begin(
        regions: *mut portprof_regions,
        name: *const c_char,
    ) -> c_int;
    pub fn portprof_region_end(
        regions: *mut portprof_regions,
        name: *const c_char,
    ) -> c_int;
    pub fn portprof_regions_read(
        regions: *mut portprof_regions,
        by: c_int,
        take: portprof_region_fn,
        context: *mut c_void,
    ) -> c_int;

    pub fn portprof_label_push(key: *const c_char, value: *const c_char) -> c_int;
    pub fn portprof_label_current() -> *const portprof_label_set;
    pub fn portprof_label_leave(before: *const portprof_label_set);
}
