// SPDX-License-Identifier: MIT
//! Prints a C program that compiles if the headers have each struct and number as they
//! are here.
use portprof_sys::*;
use std::mem::{size_of, size_of_val, MaybeUninit};
use std::ptr::addr_of;

macro_rules! layout {
    ($name:ident: $($field:ident),*) => {{
        let room = MaybeUninit::<$name>::zeroed();
        let at = room.as_ptr();
        println!(
            "_Static_assert(sizeof({0}) == {1}, \"{0}\");",
            stringify!($name),
            size_of::<$name>()
        );
        $(
            // SAFETY: all of it is numbers and pointers, which may be 0.
            let (offset, size) = unsafe {
                (
                    addr_of!((*at).$field) as usize - at as usize,
                    size_of_val(&(*at).$field),
                )
            };
            println!(
                "_Static_assert(offsetof({0}, {1}) == {2} && \
                 sizeof((({0} *)0)->{1}) == {3}, \"{0}.{1}\");",
                stringify!($name),
                stringify!($field),
                offset,
                size
            );
        )*
    }};
}

macro_rules! numbers {
    ($($name:ident),*) => {$(
        println!("_Static_assert({0} == {1}, \"{0}\");", stringify!($name), $name);
    )*};
}

fn main() {
    println!("#include <portprof.h>\n#include <stddef.h>");
    layout!(portprof_diag: status, os_errno, step, words, reason, place, line, column,
            suggestions);
    layout!(portprof_stats: size, delivered_samples, kept_samples, outside_samples,
            lost_samples, total_weight, kept_weight, outside_weight,
            unattributed_weight, not_attached_weight, throttled, cpu_time_ns,
            own_cost_ns, lost_certainty, unattributed_certainty, requested_hz,
            granted_hz, achieved_hz, requested_period, granted_period, excess_weight,
            standard_error, idle_time_ns);
    layout!(portprof_count: raw, scaled, enabled_ns, running_ns, status, taken_ns);
    layout!(portprof_batch: records, count, words, word_count, record_bytes);
    layout!(portprof_event_field: index, text_bytes, number);
    layout!(portprof_record: kind, valid, event, cpu, pid, tid, time_ns, address, span,
            weight, samples, user_address, payload, payload_words, data_address, latency,
            branches, branch_count, values, value_count, chain_end, data_source,
            instruction_latency, transaction, physical_address, data_page_bytes,
            code_page_bytes, event_fields, event_field_words, label_set);
    layout!(portprof_region_info: size, name, calls, threads, tid, counts, count);
    numbers!(PORTPROF_END, PORTPROF_OK, PORTPROF_E_INVALID, PORTPROF_E_UNSUPPORTED,
             PORTPROF_E_DENIED, PORTPROF_E_BUSY, PORTPROF_E_NOMEM, PORTPROF_E_NOTFOUND,
             PORTPROF_E_LIMIT, PORTPROF_E_STATE, PORTPROF_E_FORKED, PORTPROF_E_SYSTEM,
             PORTPROF_E_FORMAT, PORTPROF_TARGET_PROCESS, PORTPROF_TARGET_THREAD,
             PORTPROF_TARGET_PID, PORTPROF_RECORD_SAMPLE, PORTPROF_FIELD_TID,
             PORTPROF_FIELD_TIME, PORTPROF_FIELD_KERNEL, PORTPROF_FIELD_EVENT_FIELDS,
             PORTPROF_REASON_NONE, PORTPROF_REASON_ARGUMENT, PORTPROF_REASON_SYNTAX,
             PORTPROF_REASON_PART,
             PORTPROF_REASON_UNKNOWN_NAME, PORTPROF_REASON_NO_BACKEND,
             PORTPROF_REASON_BACKEND_LIMIT, PORTPROF_REASON_NOT_ON_CPU,
             PORTPROF_REASON_NEEDS_RIGHT, PORTPROF_REASON_NEEDS_TRACING,
             PORTPROF_REASON_NEEDS_MOUNT, PORTPROF_REASON_LIMIT, PORTPROF_REASON_IN_USE,
             PORTPROF_REASON_NO_MEMORY, PORTPROF_REASON_TARGET_GONE,
             PORTPROF_REASON_OUTPUT, PORTPROF_REASON_FORMAT, PORTPROF_REASON_STATE,
             PORTPROF_REASON_FORKED, PORTPROF_REASON_SYSTEM,
             PORTPROF_REASON_NOT_SUPPORTED);
}
