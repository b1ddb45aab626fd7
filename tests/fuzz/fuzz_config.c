/* SPDX-License-Identifier: MIT */
/* Configuration files, and what each setting becomes. */
#include "tests/fuzz/fuzz.h"

#include <portprof.h>
#include <portprof/tool.h>

#include <stdlib.h>
#include <string.h>

static void get_all(const portprof_config *config)
{
	const char *key;
	char value[512];

	for (size_t k = 0; (key = portprof_config_key(k)); k++)
		for (size_t i = 0; portprof_config_get(config, key, i, value,
		                                       sizeof(value)) ==
		                   PORTPROF_OK;
		     i++)
			if (strlen(value) >= sizeof(value) ||
			    !portprof_config_origin(config, key, 0))
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static const char *const sets[] = { NULL, "hot", "a" };
	const char *path = fuzz_file(bytes, count);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		portprof_config *config = portprof_config_new();

		if (!config)
			return 0;
		portprof_config_load(config, path, sets[i]);
		get_all(config);
		portprof_config_free(config);
	}
	return 0;
}
