/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/kernel_symbols.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char *read_hex(char *at, uint64_t *number)
{
	*number = 0;
	for (;; at++) {
		unsigned char digit = (unsigned char)*at;

		if (digit >= '0' && digit <= '9')
			digit = (unsigned char)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			digit = (unsigned char)(digit - 'a' + 10);
		else
			return at;
		*number = *number << 4 | digit;
	}
}

/*
 * One line: address, type, name and, of a module's, a tab and "[module]". Two
 * hundred thousand of them are read at once, so by hand.
 */
static void take_line(char *line,
                      void (*take)(void *context, uint64_t address, char type,
                                   const char *name),
                      void *context)
{
	char *at, *tab;
	uint64_t address;

	at = read_hex(line, &address);
	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3] ||
	    address == 0)
		return;
	tab = strchr(at, '\n');
	if (tab)
		*tab = '\0';
	tab = strchr(at, '\t');
	if (tab)
		*tab = ' ';
	take(context, address, at[1], at + 3);
}

int ppi_kernel_symbols_each(const char *path,
                            void (*take)(void *context, uint64_t address,
                                         char type, const char *name),
                            void *context)
{
	FILE *file = fopen(path, "re");
	char line[512];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		take_line(line, take, context);
	fclose(file);
	return 0;
}
