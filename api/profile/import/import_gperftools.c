/* SPDX-License-Identifier: MIT */
/*
 * The CPU profile of gperftools, by its docs/cpuprofile-fileformat.html: words
 * of the machine that wrote it, a header, call chains with their numbers of
 * samples, a trailer, and the mappings as in /proc/PID/maps.
 */
#include "config.h"

#include "api/profile/import/import.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEPTH_MAX = 65536, HEADER_WORDS_MAX = 1024, MAPPINGS_MAX = 16384 };

/* The words of a file, and where its text begins. */
struct words {
	const unsigned char *bytes;
	size_t count, word; /* bytes */
	bool is_big;
	size_t first; /* byte behind the header */
	uint64_t period_us;
};

static uint64_t word_at(const struct words *words, size_t at)
{
	uint64_t number = 0;

	for (size_t i = 0; i < words->word; i++)
		number = number << 8 |
		         words->bytes[at + (words->is_big
		                                    ? i
		                                    : words->word - 1 - i)];
	return number;
}

/* By the words of the header, which have few bits. */
static bool find_layout(struct words *words)
{
	for (int way = 0; way < 4; way++) {
		uint64_t more;

		words->word = way & 1 ? 4 : 8;
		words->is_big = way & 2;
		if (words->count < 5 * words->word)
			continue;
		more = word_at(words, words->word);
		words->period_us = word_at(words, 3 * words->word);
		words->first = (size_t)(2 + more) * words->word;
		if (word_at(words, 0) == 0 && more >= 3 &&
		    more <= HEADER_WORDS_MAX &&
		    word_at(words, 2 * words->word) == 0 &&
		    words->period_us > 0 && words->period_us < UINT32_MAX)
			return true;
	}
	return false;
}

bool ppi_import_is_gperftools(const unsigned char *bytes, size_t count)
{
	struct words words = { .bytes = bytes, .count = count };

	return find_layout(&words);
}

static portprof_status refuse(const struct ppi_import *import, size_t at,
                              const char *what)
{
	return ppi_fail(import->why, PORTPROF_E_FORMAT, 0, "read profile",
	                "%s: byte %zu: %s: a program that ends by itself, or "
	                "calls ProfilerStop, writes a complete file",
	                import->path, at, what);
}

/* One chain, at *at, which moves behind it; *is_end at the trailer. */
static portprof_status look_at_chain(const struct ppi_import *import,
                                     const struct words *words, size_t *at,
                                     uint64_t *depth, bool *is_end)
{
	size_t left = words->count - *at;

	if (words->count < *at || left < 3 * words->word)
		return refuse(import, *at, "the file ends without its trailer");
	*depth = word_at(words, *at + words->word);
	if (*depth == 0 || *depth > DEPTH_MAX)
		return refuse(import, *at, "no call chain can be so deep");
	if (*depth + 2 > left / words->word)
		return refuse(import, *at, "the file ends within a call chain");
	*is_end = word_at(words, *at) == 0 && *depth == 1 &&
	          word_at(words, *at + 2 * words->word) == 0;
	*at += (size_t)(*depth + 2) * words->word;
	return PORTPROF_OK;
}

/* The mapping of an address, PPI_NONE in none. */
static uint32_t mapping_at(const portprof_profile *profile, uint64_t address)
{
	const portprof_profile_mapping *mapping;

	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(profile, i)) != NULL; i++)
		if (address >= mapping->start && address < mapping->limit)
			return (uint32_t)i;
	return PPI_NONE;
}

static portprof_status take_chain(struct ppi_import *import,
                                  const struct words *words, size_t at,
                                  uint64_t depth)
{
	uint64_t samples = word_at(words, at), weight;
	portprof_status status = PORTPROF_OK;

	for (uint64_t i = 0; i < depth && status == PORTPROF_OK; i++) {
		uint64_t address =
			word_at(words, at + (size_t)(2 + i) * words->word);

		/* callers are return addresses */
		if (i && address)
			address--;
		status = ppi_import_frame(import,
		                          mapping_at(import->profile, address),
		                          address, "");
	}
	if (status != PORTPROF_OK)
		return status;
	weight = samples > UINT64_MAX / 1000 / words->period_us
	                 ? UINT64_MAX
	                 : samples * words->period_us * 1000;
	return ppi_import_sample(import, 0, 0, NULL, 0, samples, weight);
}

/* "START-LIMIT PERMISSIONS OFFSET DEVICE INODE PATH"; what is none says no
 * more than that. */
static bool take_mapping(struct ppi_import *import, const char *text)
{
	uint64_t start, limit, offset;
	char permissions[5];
	int path = 0;
	struct ppi_mapping mapping = { 0 };

	if (sscanf(text,
	           "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start,
	           &limit, permissions, &offset, &path) < 4 ||
	    path == 0 || !strchr(permissions, 'x') || !text[path] ||
	    limit <= start || import->profile->mappings.count == MAPPINGS_MAX)
		return true;
	mapping.shown = (portprof_profile_mapping){ .start = start,
		                                    .limit = limit,
		                                    .file_offset = offset,
		                                    .path = text + path,
		                                    .build_id = "" };
	import->profile->has_main = true;
	return ppi_profile_mapping(import->profile, &mapping, false) !=
	       PPI_NONE;
}

static bool take_mappings(struct ppi_import *import,
                          const struct words *words, size_t at)
{
	char *text, *line, *end;
	bool is_good = true;

	text = strndup((const char *)words->bytes + at, words->count - at);
	for (line = text; is_good && line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		is_good = take_mapping(import, line);
	}
	free(text);
	return text && is_good;
}

static portprof_status convert(struct ppi_import *import,
                               const struct words *words)
{
	bool is_end = false;
	size_t at = words->first, from;
	portprof_status status = PORTPROF_OK;
	uint64_t depth;

	while (status == PORTPROF_OK && !is_end)
		status = look_at_chain(import, words, &at, &depth, &is_end);
	if (status != PORTPROF_OK)
		return status;
	if (!take_mappings(import, words, at))
		return ppi_import_memory(import);
	for (at = words->first, is_end = false; !is_end;) {
		from = at;
		status = look_at_chain(import, words, &at, &depth, &is_end);
		if (status == PORTPROF_OK && !is_end && word_at(words, from))
			status = take_chain(import, words, from, depth);
		if (status != PORTPROF_OK)
			return status;
	}
	return PORTPROF_OK;
}

portprof_status ppi_import_gperftools(struct ppi_import *import)
{
	struct ppi_vector bytes = { 0 };
	struct words words;
	portprof_status status =
		ppi_bounds_load(&import->bounds, import->path, &bytes,
		                import->why);

	if (status != PORTPROF_OK) {
		ppi_vector_free(&bytes);
		return status;
	}
	words = (struct words){ .bytes = bytes.data, .count = bytes.count };
	if (!find_layout(&words))
		status = refuse(import, 0, "the header has changed");
	else if (!ppi_profile_add_event(import->profile, "cpu",
	                                "CPU time, by gperftools' profiler",
	                                PORTPROF_UNIT_NANOSECONDS, true) ||
	         !ppi_profile_add_types(import->profile) ||
	         !ppi_profile_note(import->profile,
	                           "gperftools' CPU profile has no build ids, "
	                           "threads, command or lost samples"))
		status = ppi_import_memory(import);
	else
		status = convert(import, &words);
	ppi_vector_free(&bytes);
	return status;
}
