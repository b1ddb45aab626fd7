// SPDX-License-Identifier: MIT
//! The C functions of libportprof, by hand: those of config, session, group, region
//! and status. Manual pages describe them, such as portprof_session(3);
//! the example `layout` compares the structs with the headers.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_int, c_uint};

macro_rules! opaque {
    ($($name:ident),*) => {
        $(#[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        })*
    };
}
opaque!(portprof_config, portprof_session, portprof_group, portprof_regions);

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

pub const PORTPROF_TARGET_PROCESS: c_int = 0;
pub const PORTPROF_TARGET_THREAD: c_int = 1;

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

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct portprof_stats {
    pub size: usize,
    pub delivered_samples: u64,
    pub kept_samples: u64,
    pub outside_samples: u64,
    pub lost_samples: u64,
    pub total_weight: u64,
    pub kept_weight: u64,
    pub outside_weight: u64,
    pub unattributed_weight: u64,
    pub not_attached_weight: u64,
    pub throttled: u64,
    pub cpu_time_ns: u64,
    pub own_cost_ns: u64,
    pub lost_certainty: u32,
    pub unattributed_certainty: u32,
    pub requested_hz: f64,
    pub granted_hz: f64,
    pub achieved_hz: f64,
    pub requested_period: u64,
    pub granted_period: u64,
    pub excess_weight: u64,
    pub standard_error: u64,
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
}
