/* SPDX-License-Identifier: MIT */
/*
 * glibc's profil(3) as a profiler to compare with: preloaded into a program
 * that is not position independent, it counts its text and writes one line
 * for each bin that was hit, address and count, to the file PEER_PROFIL names.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BIN_BYTES = 4 }; /* scale 32768: one bin for 4 bytes of text */

static unsigned short *bins;
static size_t bin_count, text_start;

static size_t address_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 16) : 0;
}

static __attribute__((constructor)) void begin(void)
{
	size_t end = address_of("PEER_PROFIL_END");

	text_start = address_of("PEER_PROFIL_START");
	if (!text_start || end <= text_start)
		return;
	bin_count = (end - text_start) / BIN_BYTES + 1;
	bins = calloc(bin_count, sizeof(*bins));
	if (bins)
		profil(bins, bin_count * sizeof(*bins), text_start, 32768);
}

static __attribute__((destructor)) void end(void)
{
	const char *path = getenv("PEER_PROFIL");
	FILE *out = bins && path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	/* glibc stops for a null buffer, which its declaration forbids */
	((int (*)(unsigned short *, size_t, size_t, unsigned))profil)(NULL, 0,
	                                                              0, 0);
	for (size_t i = 0; i < bin_count; i++)
		if (bins[i])
			fprintf(out, "%zx %u\n", text_start + i * BIN_BYTES,
			        (unsigned)bins[i]);
	fclose(out);
}
