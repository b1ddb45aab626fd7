/* SPDX-License-Identifier: MIT */
/* Events that the system itself names: PMUs in sysfs, tracepoints. */
#ifndef PERF_SYSFS_H
#define PERF_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/kernel/perf_kernel.h"

#define PERF_SYSFS_PMUS "/sys/bus/event_source/devices"

/*
 * What "PMU::EVENT", "PMU::EVENT:TERM=VALUE" or "PMU::raw:TERM=VALUE" means
 * by the files of the PMU, or "GROUP:EVENT" by those of the tracepoints.
 *   E_NOTFOUND     no such PMU, tracepoint, event or term; *is_there tells
 *                  whether the PMU or group is
 *   E_INVALID      a value out of its range
 *   E_DENIED       tracepoints may not be looked up
 *   E_UNSUPPORTED  it counts for packages, and is to be sampled or of one mode
 */
portprof_status ppi_perf_sysfs_resolve(const struct perf_kernel *kernel,
                                       const struct perf_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       bool *is_there, struct ppi_diag *why);

/* The names in a folder, sorted, each ended by a zero and all by another; to
 * be freed. NULL: none. */
char *ppi_perf_sysfs_names(const struct perf_kernel *kernel,
                           const char *folder);

/* A small file below PERF_SYSFS_PMUS, without its newline. */
bool ppi_perf_sysfs_text(const struct perf_kernel *kernel, const char *pmu,
                         const char *folder, const char *name, char *out,
                         size_t room);

/* Of a PMU that counts for whole packages: the first of the CPUs that it counts
 * on (-1: unknown), and whether this is one of them. */
int ppi_perf_package_cpu(const struct perf_kernel *kernel, const char *pmu);
bool ppi_perf_is_package_cpu(const struct perf_kernel *kernel, const char *pmu,
                             int cpu);

/* Whether some PMU tells how precise its samples can be. Where none does the
 * kernel may take every level and ignore it (drivers/perf/arm_pmu.c). */
bool ppi_perf_sysfs_tells_precision(const struct perf_kernel *kernel);

/* ---- tracepoints ---- */

/* Whether a name may be one: "GROUP:EVENT", both words of a C program, and a
 * filter "/FIELD==VALUE/" behind it or none. */
bool ppi_perf_tracepoint_is_name(const char *name);

/* As ppi_perf_sysfs_resolve, of such a name. */
portprof_status ppi_perf_tracepoint_resolve(
	const struct perf_kernel *kernel,
	const struct perf_request *request, enum ppi_mode mode,
	struct ppi_event *event, bool *is_there, struct ppi_diag *why);

/* Whether the kernel takes the filter of an event that can be opened; of another,
 * too. E_INVALID names the fields there are. */
portprof_status
ppi_perf_tracepoint_check_filter(const struct perf_kernel *kernel,
                                 const struct ppi_event *event,
                                 struct ppi_diag *why);

/* Where the fields lie that a tracepoint's string asks for, in their order;
 * refused by name if there is none such. */
struct perf_raw_field;
portprof_status ppi_perf_tracepoint_fields(const struct perf_kernel *kernel,
                                           const struct ppi_event *event,
                                           struct perf_raw_field *out,
                                           struct ppi_diag *why);

/* ---- terms ---- */

/*
 * The words in which the kernel describes the events of a PMU, as files in
 * format/ and events/ of /sys/bus/event_source/devices/PMU: Linux
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events.
 */

enum { PERF_FIELD_PARTS = 16, PERF_FORMAT_CONFIGS = 3 };

/* Which bits of config, config1 or config2 hold a term's value, lowest bits
 * of the value first. */
struct perf_field {
	unsigned config; /* 0, 1, 2 */
	size_t count;
	struct {
		unsigned char first, last;
	} parts[PERF_FIELD_PARTS];
};

/* "config:0-7,32-35"; false when it is written otherwise. */
bool ppi_perf_format_parse(const char *text, struct perf_field *field);

/* Put a value there; false when it has more bits than there are. */
bool ppi_perf_format_put(const struct perf_field *field, uint64_t value,
                         uint64_t config[PERF_FORMAT_CONFIGS]);

/* The largest value that fits. */
uint64_t ppi_perf_format_most(const struct perf_field *field);

/*
 * Take "name=value" or "name" (value 1) off the front of "event=0x3c,inv";
 * *text moves behind the comma. False at the end, or when it is malformed:
 * then **text is not zero.
 */
bool ppi_perf_format_next(const char **text, char *name, size_t name_bytes,
                          uint64_t *value);

#endif
