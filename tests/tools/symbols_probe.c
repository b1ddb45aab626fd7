/* SPDX-License-Identifier: MIT */
/*
 * Names offsets of a file, for check-symbols.sh.
 *
 * usage: symbols_probe FILE [BUILD-ID [RECORDED-SECONDS]] <OFFSETS
 *        symbols_probe "[vdso]"   (offset 0x... as well)
 *        symbols_probe -k KALLSYMS <ADDRESSES
 *        symbols_probe -l [-d FOLDER] [-u FOLDER] FILE [BUILD-ID] <OFFSETS
 *        symbols_probe -p PID[,PID...] PATH <ADDRESSES
 *
 * Prints "function|module|named|stripped" for each line of input, then the
 * notes with "note: " before them. -l prints "function|file:line" instead, and
 * the functions that it was inlined into behind, with " < " between. -u has debug
 * information unpacked in a folder, by a process that has ended before this one names
 * anything, and notes in how many files.
 */
#include "config.h"

#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_kernel.h"
#include "tools/symbols/symbols_unpacked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int probe_kernel(const char *path)
{
	struct ppi_symbol_table table = { 0 };
	char why[300] = "", line[64];

	if (!ppi_kernel_symbols_read(path, &table, why, sizeof(why))) {
		printf("note: %s\n", why);
		return 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		const struct ppi_symbol *symbol =
			ppi_symbol_table_find(&table, strtoull(line, NULL, 16));

		puts(symbol ? ppi_symbol_name(&table, symbol) : "-");
	}
	ppi_symbol_table_free(&table);
	return 0;
}

static void print_lines(const struct ppi_symbols_name *name)
{
	for (; name; name = name->caller)
		printf("%s|%s:%" PRIu64 "%s", name->function, name->source_file,
		       name->line, name->caller ? " < " : "\n");
}

enum { PIDS_MAX = 8 };

static size_t read_pids(char *text, uint32_t pids[PIDS_MAX])
{
	size_t count = 0;

	for (text = strtok(text, ","); text && count < PIDS_MAX;
	     text = strtok(NULL, ","))
		pids[count++] = (uint32_t)strtoul(text, NULL, 10);
	return count;
}

/* The process that unpacks names one address of the file. */
static void unpack(const char *folder, const char *path, const char *build_id,
                   const char *at)
{
	struct ppi_symbols_place place = { .has_mapping = true, .path = path,
		                           .build_id = build_id, .address = 1 };
	struct ppi_symbols_name name;
	struct ppi_symbols *symbols;

	ppi_unpacked_begin(folder);
	if (fork() == 0) {
		symbols = ppi_symbols_new(0);
		ppi_symbols_want(symbols, true, true);
		ppi_symbols_look_in(symbols, at);
		ppi_symbols_find(symbols, &place, &name);
		_exit(0);
	}
	wait(NULL);
}

/* Files without a name that have something in them. */
static unsigned count_unpacked(void)
{
	unsigned count = 0;
	struct stat at;

	for (int fd = 3; fd < 64; fd++)
		count += fstat(fd, &at) == 0 && S_ISREG(at.st_mode) &&
			at.st_nlink == 0 && at.st_size > 0;
	return count;
}

int main(int argc, char **argv)
{
	struct ppi_symbols_place place = { .has_mapping = true };
	struct ppi_symbols *symbols;
	struct ppi_symbols_name name;
	const char *note, *folder = NULL, *unpacked = NULL;
	bool has_lines = false;
	uint32_t pids[PIDS_MAX];
	char line[64];

	if (argc == 3 && strcmp(argv[1], "-k") == 0)
		return probe_kernel(argv[2]);
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		if (strcmp(argv[1], "-l") == 0) {
			has_lines = true;
			continue;
		}
		if (strcmp(argv[1], "-d") == 0)
			folder = argv[2];
		else if (strcmp(argv[1], "-u") == 0)
			unpacked = argv[2];
		else
			place.pid_count = read_pids(argv[2], pids);
		argc--;
		argv++;
	}
	place.pids = pids;
	place.path = argc > 1 ? argv[1] : "";
	place.build_id = argc > 2 ? argv[2] : "";
	if (unpacked) {
		unpack(unpacked, place.path, place.build_id, folder);
		printf("note: unpacked %u\n", count_unpacked());
		fflush(stdout);
	}
	symbols = ppi_symbols_new(
		argc > 3 ? strtoull(argv[3], NULL, 10) * 1000000000u : 0);
	if (!symbols)
		return 1;
	ppi_symbols_want(symbols, has_lines, has_lines);
	ppi_symbols_look_in(symbols, folder);
	while (fgets(line, sizeof(line), stdin)) {
		place.address = strtoull(line, NULL, 16);
		ppi_symbols_find(symbols, &place, &name);
		if (has_lines)
			print_lines(&name);
		else
			printf("%s|%s|%d|%d\n", name.function, name.module,
			       name.is_named, name.is_stripped);
	}
	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		printf("note: %s\n", note);
	ppi_symbols_free(symbols);
	return 0;
}
