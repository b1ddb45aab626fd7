/* SPDX-License-Identifier: MIT */
/* Dumps of code made at run time, with times. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "tools/symbols/symbols_jit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At every address and time that the input has anywhere. */
static void find_all(const struct ppi_jitdump *dump, const uint8_t *bytes,
                     size_t count)
{
	struct ppi_jitdump_code code, then;
	uint64_t address, time_ns;

	for (size_t i = 0; i + 16 <= count && i < 4096; i++) {
		memcpy(&address, bytes + i, sizeof(address));
		memcpy(&time_ns, bytes + i + 8, sizeof(time_ns));
		if (!ppi_jitdump_find(dump, address, time_ns, &code))
			continue;
		/* what has a name once has one always */
		if (!ppi_jitdump_find(dump, address, 0, &then) ||
		    !ppi_jitdump_find(dump, address, UINT64_MAX, &then) ||
		    strlen(code.function) > 1 << 16 || !code.source_file)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct ppi_jit_owner owner = { (uint32_t)getpid(), -1, 0, 0 };
	struct ppi_jitdump *dump;
	char why[200];

	dump = ppi_jitdump_read(fuzz_file(bytes, count), &owner, why,
	                        sizeof(why));
	if (dump)
		find_all(dump, bytes, count);
	ppi_jitdump_free(dump);
	return 0;
}
