/* SPDX-License-Identifier: MIT */
/*
 * Leaves out the frames that a file says are of no interest, as
 * profile/prune.go of pprof does: what is called by a function that matches
 * drop_frames, and not keep_frames, goes with it, but what calls it stays.
 */
#include "config.h"

#include "api/profile/prune.h"

#include <regex.h>
#include <stdio.h>

enum { UNKNOWN, STAYS, GOES, GOES_BENEATH };

struct ppi_prune {
	portprof_profile *profile;
	regex_t drop, keep;
	bool has_keep;
	struct ppi_vector kinds;  /* uint8_t, by location */
	struct ppi_vector places; /* uint32_t: what stays of GOES_BENEATH */
};

/* False where it is none; "" is none, too. */
static bool compile(regex_t *expression, const char *text)
{
	size_t bytes = strlen(text) + sizeof("^()$");
	char *whole = text[0] ? malloc(bytes) : NULL;
	bool is_good;

	if (!whole)
		return false;
	snprintf(whole, bytes, "^(%s)$", text);
	is_good = regcomp(expression, whole, REG_EXTENDED | REG_NOSUB) == 0;
	free(whole);
	return is_good;
}

struct ppi_prune *ppi_prune_open(portprof_profile *profile, bool *is_memory)
{
	const char *drop = ppi_profile_string(profile, profile->drop_frames);
	const char *keep = ppi_profile_string(profile, profile->keep_frames);
	struct ppi_prune *prune;

	*is_memory = false;
	if (!drop[0])
		return NULL;
	prune = calloc(1, sizeof(*prune));
	if (prune && compile(&prune->drop, drop)) {
		prune->profile = profile;
		prune->has_keep = compile(&prune->keep, keep);
		return prune;
	}
	*is_memory = !prune ||
	             !ppi_profile_note(profile,
	                               "drop_frames of the file is no regular "
	                               "expression of POSIX: all frames stay");
	free(prune);
	return NULL;
}

void ppi_prune_close(struct ppi_prune *prune)
{
	if (!prune)
		return;
	regfree(&prune->drop);
	if (prune->has_keep)
		regfree(&prune->keep);
	ppi_vector_free(&prune->kinds);
	ppi_vector_free(&prune->places);
	free(prune);
}

/* Where the parameters begin: not at "(anonymous namespace)" and "operator()". */
static size_t bare_length(const char *name)
{
	static const char nameless[] = "(anonymous namespace)";
	const char *at = name;

	while ((at = strchr(at, '(')) != NULL) {
		if (strncmp(at, nameless, sizeof(nameless) - 1) == 0)
			at += sizeof(nameless) - 1;
		else if (at - name >= 8 && strncmp(at - 8, "operator", 8) == 0)
			at += 2;
		else
			return (size_t)(at - name);
	}
	return strlen(name);
}

/* Whether a function goes; *is_good: memory sufficed. */
static bool is_dropped(const struct ppi_prune *prune, uint64_t function,
                       bool *is_good)
{
	const struct ppi_function *known =
		&PPI_AT(&prune->profile->functions,
	                const struct ppi_function)[function];
	const char *name = ppi_profile_string(prune->profile, known->name);
	char *bare;
	bool is_it;

	name += name[0] == '.';
	bare = strndup(name, bare_length(name));
	*is_good = bare != NULL;
	is_it = bare && bare[0] &&
	        regexec(&prune->drop, bare, 0, NULL, 0) == 0 &&
	        !(prune->has_keep &&
	          regexec(&prune->keep, bare, 0, NULL, 0) == 0);
	free(bare);
	return is_it;
}

/* The kind of a location, and in *place what stays of it. */
static bool look(struct ppi_prune *prune, uint32_t location, uint8_t *kind,
                 uint32_t *place)
{
	const struct ppi_location *known =
		&PPI_AT(&prune->profile->locations,
	                const struct ppi_location)[location];
	const struct ppi_line *lines =
		PPI_AT(&prune->profile->lines, const struct ppi_line) +
		known->first_line;
	size_t count = known->line_count, i = count;
	bool is_good = true;

	*kind = STAYS;
	*place = location;
	while (i && is_good && !is_dropped(prune, lines[i - 1].function,
	                                   &is_good))
		i--;
	if (!is_good || i == 0)
		return is_good;
	*kind = i == count ? GOES : GOES_BENEATH;
	/* code with a mapping is one location however often it is read */
	if (i < count && known->shown.mapping == SIZE_MAX) {
		struct ppi_line *rest = malloc((count - i) * sizeof(*rest));

		if (!rest)
			return false;
		memcpy(rest, lines + i, (count - i) * sizeof(*rest));
		*place = ppi_profile_location(
			prune->profile, (uint32_t)known->shown.mapping,
			known->shown.address, rest, count - i,
			known->is_folded);
		free(rest);
	}
	return *place != PPI_NONE;
}

/* The same, once for each. */
static bool find(struct ppi_prune *prune, uint32_t location, uint8_t *kind,
                 uint32_t *place)
{
	size_t known = prune->kinds.count;

	if (location >= known &&
	    (!ppi_vector_add(&prune->kinds, 1, NULL, location + 1 - known) ||
	     !ppi_vector_add(&prune->places, sizeof(*place), NULL,
	                     location + 1 - known)))
		return false;
	*kind = PPI_AT(&prune->kinds, uint8_t)[location];
	*place = PPI_AT(&prune->places, uint32_t)[location];
	if (*kind != UNKNOWN)
		return true;
	if (!look(prune, location, kind, place))
		return false;
	PPI_AT(&prune->kinds, uint8_t)[location] = *kind;
	PPI_AT(&prune->places, uint32_t)[location] = *place;
	return true;
}

bool ppi_prune_chain(struct ppi_prune *prune, uint32_t *locations,
                     size_t *count)
{
	bool has_other = false; /* what goes at the root stays */

	for (size_t i = *count; i-- > 0;) {
		uint8_t kind;
		uint32_t place;
		size_t first = i + 1;

		if (!find(prune, locations[i], &kind, &place))
			return false;
		has_other |= kind == STAYS;
		if (kind == STAYS || !has_other)
			continue;
		if (kind == GOES_BENEATH)
			locations[first = i] = place;
		*count -= first;
		memmove(locations, locations + first,
		        *count * sizeof(*locations));
		return true;
	}
	return true;
}
