/* SPDX-License-Identifier: MIT */
/*
 * What process this is, as OpenTelemetry's process context says it: a mapping that
 * any reader finds in /proc/PID/maps, with the attributes of the service in it
 * (OTEP 4719, "Process Context: Sharing Resource Attributes with External Readers").
 * Here it is read, of any process, and written, for the keys of our labels.
 */
#ifndef PPI_OTEL_CONTEXT_H
#define PPI_OTEL_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A payload of more is refused, and a text of more is no name. */
enum { PPI_OTEL_PAYLOAD_MAX = 65536, PPI_OTEL_TEXT_MAX = 200 };

/* What names a process; "" unknown. */
struct ppi_otel_resource {
	char name[PPI_OTEL_TEXT_MAX + 1];        /* service.name */
	char version[PPI_OTEL_TEXT_MAX + 1];     /* service.version */
	char instance[PPI_OTEL_TEXT_MAX + 1];    /* service.instance.id */
	char environment[PPI_OTEL_TEXT_MAX + 1]; /* deployment.environment.name */
};

/* Of a process that publishes one. False where it does not, where it cannot be read,
 * and where what is there is no such context, or was changed meanwhile. */
bool ppi_otel_read(uint32_t pid, struct ppi_otel_resource *resource);

/* The names of the keys of its threads' contexts, by their numbers; it only grows.
 * Names are written before the count, for readers in signal handlers. */
enum { PPI_OTEL_KEYS = 256, PPI_OTEL_KEY_BYTES = 64 };
struct ppi_otel_keys {
	_Atomic uint32_t count;
	char names[PPI_OTEL_KEYS][PPI_OTEL_KEY_BYTES]; /* "": too long */
};
bool ppi_otel_read_keys(uint32_t pid, struct ppi_otel_keys *keys);

/* From a payload, of any bytes. False when it is none. */
bool ppi_otel_parse(const void *payload, size_t bytes,
                    struct ppi_otel_resource *resource);

#endif
