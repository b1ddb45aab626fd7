/* SPDX-License-Identifier: MIT */
/* gmon.out of both formats, with the program that the input may be. */
#include "tests/fuzz/fuzz.h"

#include <portprof.h>

enum { MEMORY_MAX = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const char *path = fuzz_file(bytes, count);
	portprof_profile *profile;

	portprof_gmon_is(path);
	if (portprof_gmon_read(path, NULL, MEMORY_MAX, &profile) == PORTPROF_OK)
		portprof_profile_free(profile);
	if (portprof_gmon_read(path, path, MEMORY_MAX, &profile) == PORTPROF_OK)
		portprof_profile_free(profile);
	return 0;
}
