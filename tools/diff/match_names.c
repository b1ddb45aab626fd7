/* SPDX-License-Identifier: MIT */
/* Functions of two builds by the names that their source has. */
#include "config.h"

#include "tools/diff/match_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* A function of one side, or a text that is kept. */
struct entry {
	UT_hash_handle hh;
	bool is_on[2]; /* which side has it */
	char key[];
};

struct ppi_match_names {
	struct entry *functions; /* by module and name */
	struct entry *texts;
};

/* ---- what changes from build to build ---- */

/* The length of a suffix at `at`, as compilers add them: GCC's clones and parts,
 * LLVM's ThinLTO and unique names. */
static size_t suffix_length(const char *at)
{
	static const char *const suffixes[] = {
		".llvm.", ".__uniq.", ".isra.", ".constprop.", ".part.",
		".cold.", ".lto_priv.", ".localalias.",
	};
	static const char *const plain[] = { ".cold", ".localalias" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t length = strlen(suffixes[i]);

		if (strncmp(at, suffixes[i], length) == 0 &&
		    isdigit((unsigned char)at[length]))
			return length + strspn(at + length, "0123456789");
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strncmp(at, plain[i], strlen(plain[i])) == 0)
			return strlen(plain[i]);
	return 0;
}

/* Off the end: " [clone .isra.0]" and "(.llvm.1)" of demangled names, ".cold". */
static bool cut_suffix(char *name)
{
	size_t length = strlen(name);

	for (char *at = name + 1; at < name + length; at++) {
		bool is_clone = strncmp(at, " [clone ", 8) == 0;
		bool is_words = strncmp(at, " (.", 3) == 0;
		const char *end = at + (is_clone ? 8 : is_words ? 2 : 0);
		size_t part;

		while ((part = suffix_length(end)) > 0)
			end += part;
		end += (is_clone && *end == ']') || (is_words && *end == ')');
		if (end > at + (is_clone ? 8 : is_words ? 2 : 0) && !*end) {
			*at = '\0';
			return true;
		}
	}
	return false;
}

/* "::h" and 16 digits, of Rust. */
static void cut_hash(char *name)
{
	size_t length = strlen(name);
	char *at = length > 19 ? name + length - 19 : NULL;

	if (at && strncmp(at, "::h", 3) == 0 &&
	    strspn(at + 3, "0123456789abcdef") == 16)
		*at = '\0';
}

/* "{lambda(int)#2}", "{closure#0}", "$_1", "'lambda3'": the numbers of what has
 * no name. */
static void cut_numbers(char *name)
{
	char *to = name;

	for (const char *at = name; *at;) {
		bool is_number = (at[0] == '#' || strncmp(at, "$_", 2) == 0) &&
		                 isdigit((unsigned char)at[*at == '#' ? 1 : 2]);

		if (at > name + 6 && isdigit((unsigned char)*at) &&
		    strncmp(at - 6, "lambda", 6) == 0)
			is_number = true;
		if (!is_number) {
			*to++ = *at++;
			continue;
		}
		at += *at == '#' ? 1 : *at == '$' ? 2 : 0;
		at += strspn(at, "0123456789");
	}
	*to = '\0';
}

/* To be freed. */
static char *bare_name(const char *name, bool has_numbers)
{
	char *bare = strdup(name);

	while (bare && cut_suffix(bare))
		;
	if (bare)
		cut_hash(bare);
	if (bare && !has_numbers)
		cut_numbers(bare);
	return bare;
}

/* ---- all functions ---- */

struct ppi_match_names *ppi_match_names_new(void)
{
	return calloc(1, sizeof(struct ppi_match_names));
}

static void free_all(struct entry **all)
{
	struct entry *one, *next;

	HASH_ITER(hh, *all, one, next) {
		HASH_DEL(*all, one);
		free(one);
	}
}

void ppi_match_names_free(struct ppi_match_names *names)
{
	if (!names)
		return;
	free_all(&names->functions);
	free_all(&names->texts);
	free(names);
}

/* The entry of a text, added when it is new; NULL when out of memory. */
static struct entry *enter(struct entry **all, const char *text, size_t bytes)
{
	struct entry *found;

	HASH_FIND(hh, *all, text, bytes, found);
	if (found)
		return found;
	found = calloc(1, sizeof(*found) + bytes + 1);
	if (!found)
		return NULL;
	memcpy(found->key, text, bytes);
	HASH_ADD_KEYPTR(hh, *all, found->key, bytes, found);
	return found;
}

/* Takes `text`, which may be NULL: then NULL. */
static const char *keep(struct ppi_match_names *names, char *text)
{
	struct entry *entry =
		text ? enter(&names->texts, text, strlen(text)) : NULL;

	free(text);
	return entry ? entry->key : NULL;
}

bool ppi_match_names_move(struct ppi_match_names *names,
                          struct ppi_symbols_name *name, const char *module)
{
	size_t length = strlen(name->module);
	size_t bytes = strlen(name->function) + strlen(module) + 1;
	char *moved;

	if (name->is_named ||
	    strncmp(name->function, name->module, length) != 0 ||
	    strncmp(name->function + length, "+0x", 3) != 0)
		return true;
	moved = malloc(bytes);
	if (moved)
		snprintf(moved, bytes, "%s%s", module, name->function + length);
	name->function = keep(names, moved);
	return name->function != NULL;
}

static struct entry *function_entry(struct ppi_match_names *names,
                                    const struct ppi_symbols_name *name)
{
	size_t module = strlen(name->module) + 1;
	size_t bytes = module + strlen(name->function);
	char *key = malloc(bytes);
	struct entry *entry = NULL;

	if (key) {
		memcpy(key, name->module, module);
		memcpy(key + module, name->function, bytes - module);
		entry = enter(&names->functions, key, bytes);
	}
	free(key);
	return entry;
}

typedef bool name_fn(struct ppi_match_names *names, int side,
                     struct ppi_symbols_name *name);

static bool for_all(struct ppi_match_names *names,
                    const struct ppi_match_side sides[2], name_fn *act)
{
	for (int side = 0; side < 2; side++) {
		size_t count =
			portprof_profile_location_count(sides[side].profile);

		for (size_t i = 0; i < count; i++)
			for (struct ppi_symbols_name *name =
				     &sides[side].names[i];
			     name;
			     name = (struct ppi_symbols_name *)name->caller)
				if (!act(names, side, name))
					return false;
	}
	return true;
}

static bool strip(struct ppi_match_names *names, int side,
                  struct ppi_symbols_name *name)
{
	struct entry *entry;

	name->function = keep(names, bare_name(name->function, true));
	entry = name->function ? function_entry(names, name) : NULL;
	if (entry)
		entry->is_on[side] = true;
	return entry != NULL;
}

/* Numbers stay where both sides have the same. */
static bool strip_numbers(struct ppi_match_names *names, int side,
                          struct ppi_symbols_name *name)
{
	struct entry *entry = function_entry(names, name);

	if (!entry || entry->is_on[!side])
		return entry != NULL;
	name->function = keep(names, bare_name(name->function, false));
	return name->function != NULL;
}

bool ppi_match_names_unify(struct ppi_match_names *names,
                           const struct ppi_match_side sides[2])
{
	return for_all(names, sides, strip) &&
	       for_all(names, sides, strip_numbers);
}
