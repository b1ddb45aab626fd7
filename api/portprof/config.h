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
 * A setter that is given a bad value returns E_INVALID, explains it, and
 * leaves the config as it was.
 */
typedef struct portprof_config portprof_config;

/* A config with the defaults: cpu time of the whole process at 100 Hz, best
 * backend. NULL when out of memory. Free with portprof_config_free; freeing
 * NULL does nothing. */
PORTPROF_API portprof_config *portprof_config_new(void);
PORTPROF_API void portprof_config_free(portprof_config *config);

/*
 * Measure these events too: one, or an event list as portprof/event.h has it. The
 * first call replaces the default event. The form is checked here, and all of the
 * list is added or none of it; the names are looked up when a session is opened.
 * "{cycles,instructions}:u" is one group. A group of counters whose config has no
 * braces at all is one group of all its events; a session samples each event by
 * itself, unless it is to tell the values of groups.
 */
PORTPROF_API portprof_status portprof_config_add_event(
	portprof_config *config, const char *events);

/* The number of events and groups in braces that were added, and the index-th as
 * it was written; NULL if out of range. The string belongs to the config. */
PORTPROF_API size_t
portprof_config_event_count(const portprof_config *config);
PORTPROF_API const char *
portprof_config_event(const portprof_config *config, size_t index);

/* "auto" (default), or the name of the one backend to use or be refused. */
PORTPROF_API portprof_status portprof_config_set_backend(
	portprof_config *config, const char *name);

/* Capabilities (PORTPROF_CAP_ bits) that the backend must have. */
PORTPROF_API portprof_status portprof_config_require(portprof_config *config,
                                                     uint64_t caps);

/*
 * Sampling rate per second of the event's own time, or period in the event's
 * own unit (nanoseconds or counts), of events whose string names neither. The
 * last call wins. Range: 1..1000000 Hz, 1..2^63-1. Without a call: 100 Hz, but
 * of events that the kernel counts (page faults, switches, tracepoints) each is
 * a sample. A clock whose samples would take more than a quarter of a CPU is
 * granted a lower rate or a longer period (SAMPLE-15): portprof_stats has it,
 * and a note of the session says why.
 */
PORTPROF_API portprof_status portprof_config_set_frequency(
	portprof_config *config, uint64_t hz);
PORTPROF_API portprof_status portprof_config_set_period(
	portprof_config *config, uint64_t period);

/* What portprof_config_set_target measures. */
typedef enum portprof_target {
	PORTPROF_TARGET_PROCESS = 0, /* this process: all threads, later ones
				      * too (default); id 0 */
	PORTPROF_TARGET_THREAD = 1,  /* the thread that opens; id 0 */
	PORTPROF_TARGET_TID = 2,     /* that thread, of any process */
	PORTPROF_TARGET_PID = 3,     /* that process, all its threads */
	PORTPROF_TARGET_COMMAND = 4, /* that process, a child that will exec:
				      * measured from its exec on */
	PORTPROF_TARGET_ALSO_PID = 5 /* that process beside those before: after
				      * PID or another ALSO_PID */
} portprof_target;

/*
 * The target, with the id of its thread or process. The last call of this and
 * of portprof_config_set_target_system wins, except that ALSO_PID adds to the
 * target. The id is looked up when a session is opened. Of several processes
 * those that have ended by then, or that this user may not measure, are left
 * out, as long as one remains; a note of the session counts the latter.
 * Capabilities: PROCESS, THREAD, ATTACH.
 *   E_INVALID  no such target, an id below 1, or one where none is needed;
 *              ALSO_PID without a PID before it. Opening is refused with it
 *              when one of several processes is this one
 *   E_NOMEM    ALSO_PID alone
 */
PORTPROF_API portprof_status portprof_config_set_target(portprof_config *config,
							portprof_target target,
							int64_t id);

/*
 * The target is whatever runs on the CPUs `cpus` ("0,2-3"; NULL = all), except
 * idle time; with `cgroup`, what runs there in that control group of Linux and
 * those inside it. The name is what stands after the last colon in
 * /proc/PID/cgroup, or the folder below /sys/fs/cgroup; NULL = any. Capability:
 * SYSTEM. The cgroup is looked up when a session is opened, which is refused
 * with E_NOTFOUND or E_DENIED then.
 *   E_INVALID  not a list of CPUs, or not the name of a cgroup
 */
PORTPROF_API portprof_status portprof_config_set_target_system(
	portprof_config *config, const char *cgroup, const char *cpus);

/*
 * One setting by name, with its value as in a configuration file: event,
 * backend, frequency, period, output, callchain, children, ring, delay,
 * duration, timeline, require, fields, precise, partial, command, unwind, stack.
 * portprof.conf(5) has the values. event and require add to what was set
 * before; output replaces an earlier output that was set by name, while
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
 *   callchain  callers kept with each sample, up to 1024; 0 = none (default)
 *   children   whether processes that the target creates are measured too: 0
 *              (default), 1, or PORTPROF_CHILDREN_EXACT; of another process
 *              also those that descend from it already. With 1, where this
 *              user may sample CPUs, the CPU time of another process is sampled
 *              so, and of a command what processes shorter than a period use:
 *              estimates (LOSS-12). Without, the latter is in no sample
 *   unwind     how the user's part of a chain is found: PORTPROF_UNWIND_AUTO
 *              (default), _DWARF or _FP. Capability: UNWIND for _DWARF, which
 *              is refused with E_UNSUPPORTED where elfutils is not there;
 *              _AUTO follows frame pointers there, which a note says
 *   stack      bytes of the stack that are copied with a sample to be unwound,
 *              1024 to 64512. Where it is not set, up to 64512: the perf
 *              backend begins with 8192 and copies more once chains are cut.
 *              timer and itimer copy no more than is in use. A user whose
 *              locked memory is limited may get fewer, which a note says
 *   ring       size of each kernel buffer for samples in bytes, up to 1 GiB;
 *              0 = chosen by rate (default). Records of mappings, threads and
 *              names have buffers of their own
 *   delay      milliseconds from portprof_session_start until measuring begins
 *   duration   milliseconds of measuring; 0 = until stop (default)
 *   timeline   files keep when samples fell, to so many milliseconds; 0 = they
 *              do not (default). Capability: TIME
 *   fields     what the hardware reports with each sample, PORTPROF_FIELD_
 *              bits: DATA_ADDRESS, LATENCY, BRANCHES, GROUP_VALUES,
 *              DATA_SOURCE, INSTRUCTION_LATENCY, TRANSACTION,
 *              PHYSICAL_ADDRESS (for who may measure the kernel), PAGE_SIZES.
 *              Capability: EVENTS, and GROUP for GROUP_VALUES, by which the
 *              events of a group whose strings have a period or rate are
 *              sampled, or else its first, and the others are counted
 *              along. A sample's `valid` bits say what it has. No file keeps
 *              them. Opening is refused with E_UNSUPPORTED where the kernel or
 *              the PMU has no such field, or no sampled event can have it
 *   branches   the branches that the field BRANCHES keeps, PORTPROF_BRANCHES_
 *              bits; 0 = all (default). Asking for some asks for the field
 *   precise    1 = events that name no precise level get the highest that this
 *              machine grants, tried from 3 down to 0
 *   partial    1 = a group of counters is opened although some of its events are
 *              refused, and they report PORTPROF_COUNT_REFUSED; 0 = it is refused
 *              (default)
 * Times are by CLOCK_MONOTONIC, up to a hundred years; delay and duration hold
 * for every start. All but children and partial are of sampling alone.
 *   E_INVALID  no such setting, one that is no number, or out of range
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
 * The same as text, to show it or to hand it to another process. `index`
 * counts the values of event and output; the others have one. E_NOTFOUND: it
 * is not set, or 0, or no such key or index. E_LIMIT: does not fit.
 */
PORTPROF_API portprof_status portprof_config_get(const portprof_config *config,
                                                 const char *key, size_t index,
                                                 char *value,
                                                 size_t value_bytes);

/*
 * Settings from a configuration file: those before the first section, then
 * those of section [set]; set NULL or "" takes the first part only. `path`
 * NULL searches: $PORTPROF_CONFIG, $XDG_CONFIG_HOME/portprof/portprof.conf
 * (~/.config when unset), SYSCONFDIR/portprof.conf; programs that run with
 * more rights than their user look at the last one only. _load_text takes the
 * text itself; `name` stands for the file in messages.
 *
 * Mistakes are reported as FILE:LINE:COLUMN (of bytes, from 1), with the
 * nearest known key, wherever in the file they are; the config is as it was
 * then.
 *   E_NOTFOUND  no file was found, or `path` is not there
 *   E_INVALID   a mistake in the file, no such set, or $PORTPROF_CONFIG names
 *               what is not there
 *   E_DENIED    the file may not be read; of a place that is searched only
 *               a file that is seen to be there: a folder that may not be
 *               entered is passed by
 *   E_LIMIT     longer than a megabyte: no configuration file
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
