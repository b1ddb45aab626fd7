/* SPDX-License-Identifier: MIT */
/* Folded stacks, the text of perf script and CPU profiles of gperftools. */
#include "tests/fuzz/fuzz.h"

#include <portprof.h>
#include <portprof/tool.h>

enum { MEMORY_MAX = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const char *path = fuzz_file(bytes, count);
	portprof_profile *profile;

	portprof_import_is(path);
	if (portprof_import_read(path, MEMORY_MAX, &profile) == PORTPROF_OK)
		portprof_profile_free(profile);
	return 0;
}
