/* SPDX-License-Identifier: MIT */
/* Tables of cases in tests/data: one line a case, fields parted by tabs. */
#ifndef TEST_TABLE_H
#define TEST_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_FIELDS = 4, TABLE_LINE = 4096 };

struct table {
	FILE *file;
	char path[512];
	unsigned line;
	char text[TABLE_LINE];
	char *field[TABLE_FIELDS]; /* missing ones are "" */
};

static inline FILE *table_file(const char *name, char path[512])
{
	const char *srcdir = getenv("srcdir");

	snprintf(path, 512, "%s/tests/data/%s", srcdir ? srcdir : ".", name);
	return fopen(path, "r");
}

/* 0 when the file is there. */
static inline int table_open(struct table *table, const char *name)
{
	memset(table, 0, sizeof(*table));
	table->file = table_file(name, table->path);
	if (!table->file)
		fprintf(stderr, "%s: cannot be read\n", table->path);
	return table->file ? 0 : -1;
}

/* \t \n \r \\ \xHH, in place. */
static inline void table_unescape(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		unsigned byte;

		if (*from != '\\' || !from[1]) {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from == 'x' && sscanf(from + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			from += 2;
		} else {
			*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' :
			        *from == 'r' ? '\r' : *from;
		}
	}
	*to = '\0';
}

/* The next case: 1, or 0 at the end. Lines that begin with # are comments,
 * empty ones are skipped. */
static inline int table_next(struct table *table)
{
	while (fgets(table->text, sizeof(table->text), table->file)) {
		char *rest = table->text;

		table->line++;
		rest[strcspn(rest, "\n")] = '\0';
		if (*rest == '#' || *rest == '\0')
			continue;
		for (int i = 0; i < TABLE_FIELDS; i++) {
			size_t length = strcspn(rest, "\t");
			char *end = rest + length;

			table->field[i] = rest;
			rest = end + (*end == '\t');
			*end = '\0';
		}
		for (int i = 0; i < TABLE_FIELDS; i++)
			table_unescape(table->field[i]);
		return 1;
	}
	fclose(table->file);
	table->file = NULL;
	return 0;
}

/* A failure that says which line it was; cmocka then stops the case. */
#define table_check(table, condition, ...)                                     \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("# %s:%u: ", (table)->path, (table)->line);     \
			printf(__VA_ARGS__);                                   \
			printf("\n");                                          \
			fail();                                                \
		}                                                              \
	} while (0)

#endif
