/* SPDX-License-Identifier: MIT */
/* What the fuzzers share: an input as a file, where a reader wants one. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static void take_away(void)
{
	unlink(path);
}

const char *fuzz_file(const uint8_t *bytes, size_t count)
{
	static int fd = -1;

	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/portprof-fuzz-XXXXXX");
		fd = mkstemp(path);
		atexit(take_away);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 ||
	    pwrite(fd, bytes, count, 0) != (ssize_t)count)
		abort();
	return path;
}
