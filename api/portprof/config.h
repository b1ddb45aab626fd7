/* SPDX-License-Identifier: MIT */
/* What to measure, where and how: the options of a session or a group. */
#ifndef PORTPROF_CONFIG_H
#define PORTPROF_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A list of settings. Opening a session or group copies what it needs, so a
 * config may be changed, reused or freed afterwards. One thread at a time may
 * use one config; not for signal handlers. Strings are copied. All since 0.1.
 *
 * A setter that refuses a value returns E_INVALID with the reason, and leaves
 * the config unchanged.
 */
typedef struct portprof_config portprof_config;

/* A config with the defaults: CPU time of the whole process at 100 Hz, best
 * backend. NULL if out of memory. Free it with portprof_config_free; freeing
 * NULL does nothing. */
PORTPROF_API portprof_config *portprof_config_new(void);
PORTPROF_API void portprof_config_free(portprof_config *config);

/*
 * Add an event, or all events of an event list (portprof/event.h). The first
 * call replaces the default event. The syntax is checked here, and all of the
 * list is added or nothing; names are looked up when a session is opened.
 * "{cycles,instructions}:u" is one group. When counting, a config without braces
 * is one group of all its events. A session samples each event separately, except
 * with the field GROUP_VALUES.
 */
PORTPROF_API portprof_status portprof_config_add_event(
	portprof_config *config, const char *events);

/* The number of added events and groups in braces, and the string of the
 * index-th; NULL if out of range. The string belongs to the config. */
PORTPROF_API size_t
portprof_config_event_count(const portprof_config *config);
PORTPROF_API const char *
portprof_config_event(const portprof_config *config, size_t index);

/* "auto" (default), or the name of the only backend to use. */
PORTPROF_API portprof_status portprof_config_set_backend(
	portprof_config *config, const char *name);

/* Capabilities (PORTPROF_CAP_ bits) that the backend must have. */
PORTPROF_API portprof_status portprof_config_require(portprof_config *config,
                                                     uint64_t caps);

/*
 * Sampling rate per second of the event's own clock, or period in the event's
 * own unit (nanoseconds or counts), for events whose string names neither. The
 * last call wins. Range: 1..1000000 Hz, 1..2^63-1. Default: 100 Hz; each
 * occurrence of an event that the kernel counts (page faults, switches,
 * tracepoints). If the samples of a clock would take more than a quarter of a
 * CPU, a lower rate or longer period is granted (SAMPLE-15): portprof_stats has
 * it, and a note of the session says why. By perf a rate that is in step with the
 * scheduler's tick is granted 0.8 % higher.
 */
PORTPROF_API portprof_status portprof_config_set_frequency(
	portprof_config *config, uint64_t hz);
PORTPROF_API portprof_status portprof_config_set_period(
	portprof_config *config, uint64_t period);

/* What portprof_config_set_target measures. */
typedef enum portprof_target {
	PORTPROF_TARGET_PROCESS = 0, /* this process: all present and future
				      * threads (default); id 0 */
	PORTPROF_TARGET_THREAD = 1,  /* the thread that opens; id 0 */
	PORTPROF_TARGET_TID = 2,     /* a thread of any process */
	PORTPROF_TARGET_PID = 3,     /* a process, all its threads */
	PORTPROF_TARGET_COMMAND = 4, /* a child that will exec: measured from
				      * its exec on */
	PORTPROF_TARGET_ALSO_PID = 5 /* another process, after PID or ALSO_PID */
} portprof_target;

/*
 * Set the target, with the id of its thread or process. The last call of this
 * and of portprof_config_set_target_system wins, except that ALSO_PID adds to
 * the target. The id is looked up when a session is opened. Of several
 * processes, those that have ended by then, or that this user may not measure,
 * are left out, if at least one remains; a note of the session counts the
 * latter. Capabilities: PROCESS, THREAD, ATTACH.
 *   E_INVALID  no such target, an id below 1, an id where none is needed, or
 *              ALSO_PID without a PID before it. Opening returns it if one of
 *              several processes is this one
 *   E_NOMEM    only ALSO_PID
 */
PORTPROF_API portprof_status portprof_config_set_target(portprof_config *config,
							portprof_target target,
							int64_t id);

/*
 * Measure everything that runs on the CPUs `cpus` ("0,2-3"; NULL = all), except
 * idle time; with `cgroup`, only that Linux control group and the groups inside
 * it. The name is the part after the last colon in /proc/PID/cgroup, or the
 * directory below /sys/fs/cgroup; NULL = any. Capability: SYSTEM. The cgroup is
 * looked up when a session is opened, which may return E_NOTFOUND or E_DENIED.
 *   E_INVALID  not a list of CPUs, or not the name of a cgroup
 */
PORTPROF_API portprof_status portprof_config_set_target_system(
	portprof_config *config, const char *cgroup, const char *cpus);

/*
 * One setting by name, with its value as in a configuration file: event,
 * backend, frequency, period, output, callchain, children, ring, delay,
 * duration, timeline, require, fields, labels, branches, precise, partial,
 * command, unwind, stack, labelsets.
 * portprof.conf(5) describes the values. event and require add to previous
 * values; output replaces an earlier output that was set by name, while
 * portprof_config_write_to adds a file.
 *   E_INVALID  no such setting (the words have the nearest), or a bad value;
 *              also a backend that this build does not have
 */
PORTPROF_API portprof_status portprof_config_set(portprof_config *config,
                                                 const char *key,
                                                 const char *value);

/*
 * One setting by name, of those that are numbers:
 *   frequency  samples per second: as portprof_config_set_frequency
 *   period     units between samples: as portprof_config_set_period
 *   callchain  maximum addresses of a call chain, up to 1024; 0 = none (default)
 *   children   also measure processes that the target creates: 0 (default), 1,
 *              or PORTPROF_CHILDREN_EXACT; of another process also its present
 *              descendants. With 1, where this user may sample CPUs, the CPU
 *              time of another process, and of processes of a command that are
 *              shorter than a period, is estimated by sampling CPUs (LOSS-12).
 *              Otherwise the latter are in no sample
 *   unwind     how the user part of a chain is found: PORTPROF_UNWIND_AUTO
 *              (default), _DWARF or _FP. Capability: UNWIND for _DWARF, which
 *              returns E_UNSUPPORTED without elfutils; _AUTO then follows frame
 *              pointers, and a note says so
 *   stack      bytes of the stack to copy with each sample, 1024 to 64512. The
 *              default is up to 64512: the perf backend starts at 8192 and
 *              copies more once chains are truncated; timer and itimer copy no
 *              more than is in use. A user whose locked memory is limited may
 *              get fewer; a note says so
 *   ring       size in bytes of each kernel buffer for samples, up to 1 GiB;
 *              0 = depends on the rate (default). Records of mappings, threads
 *              and names have separate buffers
 *   delay      milliseconds from portprof_session_start until measuring begins
 *   duration   milliseconds of measuring; 0 = until stop (default)
 *   timeline   files keep the times of samples, rounded to this number of
 *              milliseconds; 0 = no times (default). Capability: TIME
 *   fields     what the hardware reports with each sample, PORTPROF_FIELD_
 *              bits: DATA_ADDRESS, LATENCY, BRANCHES, GROUP_VALUES,
 *              DATA_SOURCE, INSTRUCTION_LATENCY, TRANSACTION,
 *              PHYSICAL_ADDRESS (needs permission to measure the kernel),
 *              PAGE_SIZES. Capability: EVENTS, and GROUP for GROUP_VALUES,
 *              which samples the events of a group whose strings have a period
 *              or rate, or its first, and counts the others. A sample's `valid`
 *              bits say what it has. Files keep only those of `labels`. Opening
 *              returns E_UNSUPPORTED if the kernel or the PMU has no such
 *              field, or no sampled event can have it
 *   labels     the bits of `fields` that files keep as labels of samples,
 *              except GROUP_VALUES; they imply the field
 *   branches   the branches in the field BRANCHES, PORTPROF_BRANCHES_ bits;
 *              0 = all (default); other values imply the field
 *   precise    1 = events that name no precise level get the highest that this
 *              machine grants, tried from 3 down to 0
 *   partial    1 = a group of counters is opened even if some of its events are
 *              refused, which report PORTPROF_COUNT_REFUSED; 0 = the group is
 *              refused (default)
 *   labelsets  sets of the program's own labels (<portprof/label.h>) that files
 *              keep apart; samples of further sets have the value "(other)";
 *              0 = 4096 (default)
 * Times are by CLOCK_MONOTONIC, up to a hundred years; delay and duration apply
 * to every start. All except children and partial apply only to sampling.
 *   E_INVALID  no such setting, not a number, or out of range
 */
enum { PORTPROF_CHILDREN_EXACT = 2 }; /* nothing is estimated */
enum {
	PORTPROF_UNWIND_FP = 0,    /* by frame pointers */
	PORTPROF_UNWIND_DWARF = 1, /* by frame tables (.eh_frame), and by frame
	                            * pointers through code that has none */
	PORTPROF_UNWIND_AUTO = 2   /* as DWARF where that works, else as FP */
};
enum {
	PORTPROF_BRANCHES_CALLS = 1u << 0,
	PORTPROF_BRANCHES_RETURNS = 1u << 1,
	PORTPROF_BRANCHES_CONDITIONAL = 1u << 2,
	PORTPROF_BRANCHES_INDIRECT = 1u << 3 /* calls and jumps */
};
PORTPROF_API portprof_status portprof_config_set_number(portprof_config *config,
							const char *key,
							uint64_t number);

/*
 * A setting as text, to show it or to pass it to another process. `index`
 * counts the values of event and output; the others have one. E_NOTFOUND: not
 * set, or 0 where that is no word of its own (children, unwind), or no such key or
 * index. E_LIMIT: it does not fit.
 */
PORTPROF_API portprof_status portprof_config_get(const portprof_config *config,
                                                 const char *key, size_t index,
                                                 char *value,
                                                 size_t value_bytes);

/*
 * Settings from a configuration file: those before the first section, then
 * those of section [set]; set NULL or "" reads only the first part. `path`
 * NULL searches $PORTPROF_CONFIG, $XDG_CONFIG_HOME/portprof/portprof.conf
 * (~/.config if unset), SYSCONFDIR/portprof.conf; programs that run with
 * more rights than their user read only the last one. _load_text reads the
 * text itself; `name` replaces the file name in messages.
 *
 * Mistakes anywhere in the file are reported as FILE:LINE:COLUMN (of bytes, from
 * 1), with the nearest known key; the config is then unchanged.
 *   E_NOTFOUND  no file was found, or `path` does not exist
 *   E_INVALID   a mistake in the file, no such set, or $PORTPROF_CONFIG names
 *               a file that does not exist
 *   E_DENIED    the file may not be read; the search skips a directory that may
 *               not be entered
 *   E_LIMIT     longer than a megabyte: not a configuration file
 */
PORTPROF_API portprof_status portprof_config_load(portprof_config *config,
                                                  const char *path,
                                                  const char *set);
PORTPROF_API portprof_status portprof_config_load_text(
	portprof_config *config, const char *name, const char *text,
	const char *set);

#ifdef __cplusplus
}
#endif
#endif
