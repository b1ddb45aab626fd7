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
 * Measure this event too; the first call replaces the default event. The form
 * is checked here, the name when a session is opened. "{cycles,instructions}:u"
 * adds several that are one group, with the modifiers behind the brace for each;
 * it is one string for the functions below. Where no braces are, a group's events
 * are all one group.
 */
PORTPROF_API portprof_status portprof_config_add_event(
	portprof_config *config, const char *event_string);

/* The number of events added, and the index-th as it was given; NULL if out
 * of range. The string belongs to the config. */
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
 * a sample.
 */
PORTPROF_API portprof_status portprof_config_set_frequency(
	portprof_config *config, uint64_t hz);
PORTPROF_API portprof_status portprof_config_set_period(
	portprof_config *config, uint64_t period);

/*
 * The target; the last call wins.
 *   process  this process, all threads, also those created later (default)
 *   thread   the thread that opens the session
 *   tid      that thread, of this process or another
 *   pid      that process, all its threads
 *   command  that process, a child about to exec: measured from its exec on
 *   system   all processes, on these CPUs ("0,2-3"; NULL = on all), but for
 *            idle time; needs PORTPROF_CAP_SYSTEM
 *   cgroup   what runs in that control group of Linux and those inside it, on
 *            these CPUs; the same capability. The name is what stands after
 *            the last colon in /proc/PID/cgroup, or the folder below
 *            /sys/fs/cgroup. It is looked for when a session is opened:
 *            E_NOTFOUND, E_DENIED then
 */
PORTPROF_API portprof_status
portprof_config_target_process(portprof_config *config);
PORTPROF_API portprof_status
portprof_config_target_thread(portprof_config *config);
PORTPROF_API portprof_status
portprof_config_target_tid(portprof_config *config, int64_t tid);
PORTPROF_API portprof_status
portprof_config_target_pid(portprof_config *config, int64_t pid);
PORTPROF_API portprof_status
portprof_config_target_command(portprof_config *config, int64_t pid);
PORTPROF_API portprof_status
portprof_config_target_system(portprof_config *config, const char *cpus);
PORTPROF_API portprof_status
portprof_config_target_cgroup(portprof_config *config, const char *name,
                              const char *cpus);

/* Whether processes that the target creates are measured too (default 0). */
PORTPROF_API portprof_status portprof_config_set_children(
	portprof_config *config, int follow);

/* Depth of the call chain with each sample; 0 = none (default). */
PORTPROF_API portprof_status portprof_config_set_chain_depth(
	portprof_config *config, unsigned depth);

/*
 * Sampling only: what the hardware tells with each sample besides, as
 * PORTPROF_FIELD_ bits: DATA_ADDRESS, LATENCY, BRANCHES, GROUP_VALUES; 0 = nothing
 * (default).
 * Needs the capability EVENTS. A sample says by its `valid` bits what it has:
 * addresses and latencies come with events of memory accesses (and page-faults, of
 * which the kernel tells the address). With GROUP_VALUES, which needs the capability
 * GROUP too, the first event of each group is sampled and the others are counted
 * along; not with children or a command. Files keep none of them. When a session is
 * opened: E_UNSUPPORTED where the kernel or the PMU has no such field.
 */
PORTPROF_API portprof_status portprof_config_set_sample_fields(
	portprof_config *config, uint32_t fields);

/*
 * Sampling only: 1 = events that say no precise level themselves get the highest
 * that this machine grants, tried from 3 down to 0; the event's `precise` and
 * description of portprof_session_event say which. 0 (default) = none.
 */
PORTPROF_API portprof_status portprof_config_set_most_precise(
	portprof_config *config, int wanted);

/* Size of each kernel buffer in bytes; 0 = chosen by rate (default). */
PORTPROF_API portprof_status portprof_config_set_ring_bytes(
	portprof_config *config, size_t bytes);

/*
 * Sampling only. delay: how long after portprof_session_start measuring
 * begins. duration: how long it then goes on; 0 = until stop. Both hold for
 * every start. Both by CLOCK_MONOTONIC, in milliseconds; the defaults are 0. Of
 * another process or a command what it maps and whom it creates meanwhile is
 * known when measuring begins. Up to a hundred years.
 */
PORTPROF_API portprof_status portprof_config_set_delay(
	portprof_config *config, uint64_t ms);
PORTPROF_API portprof_status portprof_config_set_duration(
	portprof_config *config, uint64_t ms);

/*
 * Sampling only: files keep when samples fell, to within so many milliseconds
 * (default 0: only what fell, which is smaller). portprof report --time then
 * shows a part. Needs the capability TIME. Up to a hundred years.
 */
PORTPROF_API portprof_status portprof_config_set_timeline(
	portprof_config *config, uint64_t ms);

/*
 * Counting only: open a group although some of its events are refused; they
 * report PORTPROF_COUNT_REFUSED (default 0: the group is refused).
 */
PORTPROF_API portprof_status portprof_config_set_partial(
	portprof_config *config, int allow);

/*
 * One setting by name, as in a configuration file: event, backend, frequency,
 * period, output, callchain, children, ring, delay, duration, timeline,
 * require. portprof.conf(5) tells of their values. event and require add to
 * what was given before; output takes the place of an earlier output given by
 * name, while portprof_config_write_to adds a file.
 *   E_INVALID  no such setting (the words have the nearest), or a bad value;
 *              also a backend that this build does not have
 */
PORTPROF_API portprof_status portprof_config_set(portprof_config *config,
                                                 const char *key,
                                                 const char *value);

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
 * The names of all settings, in the order of portprof.conf(5); NULL past the
 * last. Static. Any thread. Since 0.1.
 */
PORTPROF_API const char *portprof_config_key(size_t index);

/*
 * Where a setting in force came from: "FILE:LINE", "default", or "the
 * program", which is a function of this header. `index` counts events. NULL:
 * no such setting. The string lasts until the config is changed. Since 0.1.
 */
PORTPROF_API const char *portprof_config_origin(const portprof_config *config,
                                                const char *key, size_t index);

/* The file that was loaded last, or the name that stood for a text; NULL when
 * none was. Since 0.1. */
PORTPROF_API const char *portprof_config_file(const portprof_config *config);

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
