/* SPDX-License-Identifier: MIT */
/* The code that the kernel maps into every process, found in this one. */
#include "config.h"

#include "tools/symbols/symbols_vdso.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

char *ppi_vdso_image(size_t *bytes)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	char *image = NULL;

	if (!maps)
		return NULL;
	while (!image && fgets(line, sizeof(line), maps)) {
		uintptr_t start, end;

		if (!strstr(line, "[vdso]") ||
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2)
			continue;
		image = (char *)start;
		*bytes = end - start;
	}
	fclose(maps);
	return image;
}
