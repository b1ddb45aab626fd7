/* SPDX-License-Identifier: MIT */
/* gmon.out files made byte by byte. */
#include "config.h"

#include "tests/unit/gmon_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void gmon_put(struct gmon_bytes *out, uint64_t number, unsigned bytes)
{
	assert_true(out->count + bytes <= sizeof(out->bytes));
	for (unsigned i = 0; i < bytes; i++) {
		unsigned shift = out->is_big ? bytes - 1 - i : i;

		out->bytes[out->count++] =
			(unsigned char)(number >> (8 * shift));
	}
}

void gmon_put_text(struct gmon_bytes *out, const char *text, size_t bytes)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < bytes; i++)
		gmon_put(out, i < length ? (unsigned char)text[i] : 0, 1);
}

void gmon_begin(struct gmon_bytes *out, bool is_big, unsigned pointer)
{
	out->is_big = is_big;
	out->pointer = pointer;
	out->count = 0;
	gmon_put_text(out, "gmon", 4);
	gmon_put(out, 1, 4);
	gmon_put_text(out, "", 12);
}

void gmon_histogram(struct gmon_bytes *out, uint64_t low, uint64_t high,
                    uint32_t bin_count, uint32_t rate, const char *dimension,
                    const uint16_t *bins)
{
	gmon_put(out, 0, 1);
	gmon_put(out, low, out->pointer);
	gmon_put(out, high, out->pointer);
	gmon_put(out, bin_count, 4);
	gmon_put(out, rate, 4);
	gmon_put_text(out, dimension, 15);
	gmon_put_text(out, dimension, 1);
	for (uint32_t i = 0; i < bin_count; i++)
		gmon_put(out, bins[i], 2);
}

void gmon_arc(struct gmon_bytes *out, uint64_t from, uint64_t self,
              uint32_t count)
{
	gmon_put(out, 1, 1);
	gmon_put(out, from, out->pointer);
	gmon_put(out, self, out->pointer);
	gmon_put(out, count, 4);
}

void gmon_blocks(struct gmon_bytes *out, uint32_t count, bool wide)
{
	gmon_put(out, 2, 1);
	gmon_put(out, count, wide ? out->pointer : 4);
	for (uint32_t i = 0; i < count; i++) {
		gmon_put(out, 0x401000 + i, out->pointer);
		gmon_put(out, 7, out->pointer);
	}
}

void gmon_bsd(struct gmon_bytes *out, bool is_big, unsigned pointer,
              uint64_t low, uint64_t high, uint32_t bin_count, uint32_t rate,
              int32_t bits, const uint64_t *bins)
{
	unsigned bytes = bits ? (unsigned)(bits < 0 ? -bits : bits) / 8 : 2;

	out->is_big = is_big;
	out->pointer = pointer;
	out->count = 0;
	gmon_put(out, low, pointer);
	gmon_put(out, high, pointer);
	gmon_put(out, 2 * pointer + 24 + bytes * bin_count, 4);
	gmon_put(out, 0x00051879, 4);
	gmon_put(out, rate, 4);
	gmon_put(out, (uint32_t)bits, 4);
	gmon_put(out, 0, 4);
	gmon_put(out, 0, 4);
	for (uint32_t i = 0; i < bin_count; i++)
		gmon_put(out, bins[i], bytes);
}

void gmon_bsd_arc(struct gmon_bytes *out, uint64_t from, uint64_t self,
                  uint64_t count)
{
	gmon_put(out, from, out->pointer);
	gmon_put(out, self, out->pointer);
	gmon_put(out, count, out->pointer);
}
