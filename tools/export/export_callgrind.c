/* SPDX-License-Identifier: MIT */
/*
 * Functions, their lines and who called them with how much, as callgrind
 * writes it: "Callgrind Format Specification" of valgrind's manual.
 */
#include "config.h"

#include "tools/export/export.h"

#include "tools/output.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Names are kept once each, so their addresses distinguish them. */
struct function {
	UT_hash_handle hh;
	struct {
		const char *function, *path;
	} key;
	const char *module, *file;
	uint32_t number;
	bool is_written;
};

enum { NOBODY = UINT32_MAX };

/* What a function took itself on a line, or a callee for it. */
struct cost {
	UT_hash_handle hh;
	struct {
		uint32_t function, callee; /* NOBODY: itself */
		uint64_t line;
	} key;
	uint64_t weight, samples;
	size_t last; /* the sample that it was added for, plus 1 */
};

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	struct function *functions, **by_number;
	struct cost *costs;
	uint32_t count;
	uint64_t total;
};

static struct function *function_of(struct writing *writing,
                                    const struct ppi_symbols_name *name)
{
	struct function key = { .key = { name->function, name->path } };
	struct function *function;

	HASH_FIND(hh, writing->functions, &key.key, sizeof(key.key), function);
	if (function)
		return function;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->key = key.key;
	function->module = name->path[0] ? name->path : name->module;
	function->file = name->source_file;
	function->number = writing->count++;
	HASH_ADD(hh, writing->functions, key, sizeof(function->key), function);
	return function;
}

/* A function that calls itself in one sample has the weight once. */
static bool add(struct writing *writing, const struct function *function,
                const struct function *callee, uint64_t line,
                const portprof_profile_sample *sample, size_t index)
{
	struct cost key, *cost;

	memset(&key, 0, sizeof(key)); /* padding is compared too */
	key.key.function = function->number;
	key.key.callee = callee ? callee->number : NOBODY;
	key.key.line = line;
	HASH_FIND(hh, writing->costs, &key.key, sizeof(key.key), cost);
	if (!cost) {
		cost = calloc(1, sizeof(*cost));
		if (!cost)
			return false;
		memcpy(&cost->key, &key.key, sizeof(key.key));
		HASH_ADD(hh, writing->costs, key, sizeof(cost->key), cost);
	}
	if (cost->last == index + 1)
		return true;
	cost->last = index + 1;
	cost->weight += ppi_export_weight(writing->export, index, sample);
	cost->samples += ppi_export_samples(writing->export, index, sample);
	return true;
}

/* Lines of other files, where code is inlined, stand at line 0. */
static uint64_t line_in(const struct function *function,
                        const struct ppi_symbols_name *name)
{
	return function->file && name->source_file &&
	                       strcmp(function->file, name->source_file) == 0
	               ? name->line
	               : 0;
}

static bool add_sample(struct writing *writing,
                       const portprof_profile_sample *sample, size_t index)
{
	static const struct ppi_symbols_name unknown = {
		.function = "[unknown]", .module = "[unknown]", .path = "",
		.source_file = "",
	};
	const struct function *callee = NULL;

	for (size_t i = 0; i < sample->depth || i == 0; i++) {
		const struct ppi_symbols_name *name =
			sample->depth ? &writing->names[sample->locations[i]]
			              : &unknown;
		const struct function *function = function_of(writing, name);

		if (!function ||
		    !add(writing, function, callee, line_in(function, name),
		         sample, index))
			return false;
		callee = function;
	}
	writing->total += ppi_export_weight(writing->export, index, sample);
	return true;
}

static bool collect(struct writing *writing)
{
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		if (ppi_export_weight(writing->export, i, sample) &&
		    !add_sample(writing, sample, i))
			return false;
	writing->by_number = calloc(writing->count + 1u,
	                            sizeof(struct function *));
	if (!writing->by_number)
		return false;
	for (struct function *at = writing->functions; at; at = at->hh.next)
		writing->by_number[at->number] = at;
	return true;
}

/* ---- writing ---- */

static int compare(const struct cost *a, const struct cost *b)
{
	if (a->key.function != b->key.function)
		return a->key.function < b->key.function ? -1 : 1;
	/* its own first */
	if (a->key.callee != b->key.callee)
		return a->key.callee + 1 < b->key.callee + 1 ? -1 : 1;
	return a->key.line < b->key.line ? -1 : a->key.line > b->key.line;
}

static void put_text(const char *text, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0)
		fwrite(piece, 1, length, out);
}

static void put_name(const char *key, const char *name, FILE *out)
{
	fprintf(out, "%s=", key);
	put_text(name, out);
	fputc('\n', out);
}

/* "(1) name" the first time, "(1)" from then on. */
static void put_function(const char *ob, const char *fl, const char *fn,
                         struct function *function, FILE *out)
{
	const char *file = function->file && function->file[0]
	                           ? function->file : "???";

	put_name(ob, function->module, out);
	put_name(fl, file, out);
	fprintf(out, "%s=(%" PRIu32 ")", fn, function->number + 1);
	if (!function->is_written) {
		fputc(' ', out);
		put_text(function->key.function, out);
	}
	function->is_written = true;
	fputc('\n', out);
}

static bool put_profile(void *context, FILE *out)
{
	struct writing *writing = context;
	const struct ppi_export *export = writing->export;
	const portprof_profile_event *event = ppi_export_event(export);
	uint32_t last = NOBODY;

	HASH_SRT(hh, writing->costs, compare);
	fputs("# callgrind format\nversion: 1\n"
	      "creator: portprof " PORTPROF_VERSION_STRING "\n", out);
	fputs("cmd: ", out);
	put_text(portprof_profile_origin_get(export->profile)->command, out);
	fputc('\n', out);
	fprintf(out, "positions: line\nevents: %s\nsummary: %" PRIu64 "\n",
	        event->unit == PORTPROF_UNIT_NANOSECONDS ? "ns" : "count",
	        writing->total);
	for (struct cost *at = writing->costs; at; at = at->hh.next) {
		if (at->key.function != last) {
			fputc('\n', out);
			put_function("ob", "fl", "fn",
			             writing->by_number[at->key.function], out);
		}
		last = at->key.function;
		if (at->key.callee != NOBODY) {
			put_function("cob", "cfi", "cfn",
			             writing->by_number[at->key.callee], out);
			fprintf(out, "calls=%" PRIu64 " 0\n",
			        at->samples ? at->samples : 1);
		}
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", at->key.line,
		        at->weight);
	}
	fprintf(out, "\ntotals: %" PRIu64 "\n", writing->total);
	return true;
}

static void free_writing(struct writing *writing)
{
	struct function *function, *next_function;
	struct cost *cost, *next_cost;

	HASH_ITER (hh, writing->functions, function, next_function) {
		HASH_DEL(writing->functions, function);
		free(function);
	}
	HASH_ITER (hh, writing->costs, cost, next_cost) {
		HASH_DEL(writing->costs, cost);
		free(cost);
	}
	free(writing->by_number);
}

static bool put_all(void *context, FILE *out)
{
	return collect(context) && put_profile(context, out);
}

bool ppi_export_callgrind(const struct ppi_export *export)
{
	struct writing writing = { .export = export };
	struct ppi_named names;
	bool is_good;

	if (!ppi_export_name(export, true, false, &names))
		return false;
	writing.names = names.names;
	is_good = ppi_out_write(export->output, put_all, &writing);
	free_writing(&writing);
	ppi_named_free(&names);
	return is_good;
}
