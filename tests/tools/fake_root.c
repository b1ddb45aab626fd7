/* SPDX-License-Identifier: MIT */
#include "tests/tools/fake_root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

void fake_root_put(const char *root, const char *path, const char *text)
{
	char name[512];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *slash = strchr(name + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}
