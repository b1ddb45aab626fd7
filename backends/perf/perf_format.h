/* SPDX-License-Identifier: MIT */
/*
 * The words in which the kernel describes the events of a PMU, as files in
 * format/ and events/ of /sys/bus/event_source/devices/PMU: Linux
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events.
 */
#ifndef PERF_FORMAT_H
#define PERF_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool perf_format_parse(const char *text, struct perf_field *field);

/* Put a value there; false when it has more bits than there are. */
bool perf_format_put(const struct perf_field *field, uint64_t value,
                     uint64_t config[PERF_FORMAT_CONFIGS]);

/* The largest value that fits. */
uint64_t perf_format_most(const struct perf_field *field);

/*
 * Take "name=value" or "name" (value 1) off the front of "event=0x3c,inv";
 * *text moves behind the comma. False at the end, or when it is malformed:
 * then **text is not zero.
 */
bool perf_format_next(const char **text, char *name, size_t name_bytes,
                      uint64_t *value);

#endif
