/* SPDX-License-Identifier: MIT */
/*
 * gmon.out files made byte by byte from their description in
 * doc/file-format.md, sharing nothing with api/profile/gmon.
 */
#ifndef PPI_GMON_MAKE_H
#define PPI_GMON_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmon_bytes {
	bool is_big;
	unsigned pointer;
	size_t count;
	unsigned char bytes[1 << 16];
};

void gmon_put(struct gmon_bytes *out, uint64_t number, unsigned bytes);
void gmon_put_text(struct gmon_bytes *out, const char *text, size_t bytes);

/* glibc's: the header, then records. */
void gmon_begin(struct gmon_bytes *out, bool is_big, unsigned pointer);
void gmon_histogram(struct gmon_bytes *out, uint64_t low, uint64_t high,
                    uint32_t bin_count, uint32_t rate, const char *dimension,
                    const uint16_t *bins);
void gmon_arc(struct gmon_bytes *out, uint64_t from, uint64_t self,
              uint32_t count);
/* `wide`: as glibc writes it, which gprof does not read. */
void gmon_blocks(struct gmon_bytes *out, uint32_t count, bool wide);

/* 4.4BSD's: header and bins, of `bits` as FreeBSD says it; then arcs. */
void gmon_bsd(struct gmon_bytes *out, bool is_big, unsigned pointer,
              uint64_t low, uint64_t high, uint32_t bin_count, uint32_t rate,
              int32_t bits, const uint64_t *bins);
void gmon_bsd_arc(struct gmon_bytes *out, uint64_t from, uint64_t self,
                  uint64_t count);

#endif
