/* SPDX-License-Identifier: MIT */
/* Names of code without a file, for each process that ran it. */
#include "config.h"

#include "tools/symbols/symbols_state.h"

#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What one process says of its code. */
struct ppi_symbols_process {
	UT_hash_handle hh;
	uint32_t pid;
	bool is_read, has_names;
	int64_t user;      /* -1 unknown */
	uint64_t began_ns; /* 0 unknown */
	const char *path;
	struct ppi_symbol_table table;
};

/* A map that was finished before may be of an earlier process of that number:
 * nobody takes them away. Whose it is cannot be seen, so people are told. */
static void note_old_map(struct ppi_symbols *symbols, const char *path)
{
	struct stat at;
	char words[300];

	if (symbols->recorded_ns == 0 || stat(path, &at) != 0 ||
	    (uint64_t)at.st_mtime >= symbols->recorded_ns / 1000000000u)
		return;
	snprintf(words, sizeof(words),
	         "%s was written before the measurement: its names are right "
	         "only if the process had made all its code by then",
	         path);
	ppi_symbols_add_note(symbols, words);
}

static struct ppi_symbols_process *get_process(struct ppi_symbols *symbols,
                                               uint32_t pid)
{
	struct ppi_symbols_process *process;

	HASH_FIND(hh, symbols->processes, &pid, sizeof(pid), process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->user = -1;
	HASH_ADD(hh, symbols->processes, pid, sizeof(process->pid), process);
	return process;
}

void ppi_symbols_know_process(struct ppi_symbols *symbols, uint32_t pid,
                              int64_t user, uint64_t began_ns)
{
	struct ppi_symbols_process *process = get_process(symbols, pid);

	if (!process)
		return;
	process->user = user;
	process->began_ns = began_ns;
}

static void read_map(struct ppi_symbols *symbols,
                     struct ppi_symbols_process *process)
{
	const struct ppi_jit_owner owner = { process->pid, process->user,
		                             process->began_ns,
		                             symbols->ended_ns };
	char path[64], held[PPI_HELD_NAME_ROOM], why[200], words[300];

	process->is_read = true;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", process->pid);
	process->path = ppi_symbols_keep(symbols, path);
	process->has_names =
		(ppi_held_map(symbols->held, process->pid, held) &&
	         ppi_jit_read(held, &owner, &process->table, why,
	                      sizeof(why))) ||
		ppi_jit_read(path, &owner, &process->table, why, sizeof(why));
	if (process->has_names) {
		if (!process->began_ns)
			note_old_map(symbols, path);
		if (why[0]) {
			snprintf(words, sizeof(words), "%s %s", path, why);
			ppi_symbols_add_note(symbols, words);
		}
	} else if (why[0]) {
		snprintf(words, sizeof(words), "%s %s; its code is not named",
		         path, why);
		ppi_symbols_add_note(symbols, words);
	}
}

static const struct ppi_symbols_process *process_of(struct ppi_symbols *symbols,
                                                    uint32_t pid)
{
	struct ppi_symbols_process *process = get_process(symbols, pid);

	if (process && !process->is_read)
		read_map(symbols, process);
	return process;
}

static void note_quarrel(struct ppi_symbols *symbols)
{
	if (symbols->has_quarrel)
		return;
	symbols->has_quarrel = true;
	ppi_symbols_add_note(symbols,
	                     "processes call the same address by different "
	                     "names; such code is not named");
}

bool ppi_symbols_in_processes(struct ppi_symbols *symbols,
                              const struct ppi_symbols_place *place,
                              struct ppi_symbols_name *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < place->pid_count; i++) {
		const struct ppi_symbols_process *process =
			process_of(symbols, place->pids[i]);
		const struct ppi_symbol *symbol = NULL;
		const char *text;

		if (process && process->has_names)
			symbol = ppi_symbol_table_find(&process->table,
			                               place->address);
		if (!symbol)
			continue;
		text = ppi_symbols_keep(
			symbols, ppi_symbol_name(&process->table, symbol));
		if (found && text != found) {
			note_quarrel(symbols);
			return false;
		}
		if (!found) {
			name->path = process->path;
			name->module = process->path + strlen("/tmp/");
		}
		found = text;
	}
	if (!found)
		return false;
	name->function = found;
	name->is_named = true;
	return true;
}

void ppi_symbols_gather(struct ppi_symbols *symbols,
                        const struct ppi_symbols_place *place,
                        struct ppi_symbols_name *name)
{
	char function[80] = "(code made while running)";

	name->module = "[anonymous]";
	name->path = "//anon";
	ppi_symbols_by_address(symbols, place->address, name);
	name->by_address = name->function;
	/* what was forked lies at the same addresses */
	if (place->pid_count > 1)
		snprintf(function, sizeof(function),
		         "(code made while running, several processes)");
	else if (place->pid_count)
		snprintf(function, sizeof(function),
		         "(code made while running, PID %" PRIu32 ")",
		         place->pids[0]);
	name->function = ppi_symbols_keep(symbols, function);
}

void ppi_symbols_free_processes(struct ppi_symbols *symbols)
{
	struct ppi_symbols_process *process, *next;

	HASH_ITER (hh, symbols->processes, process, next) {
		HASH_DEL(symbols->processes, process);
		ppi_symbol_table_free(&process->table);
		free(process);
	}
}
