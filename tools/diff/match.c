/* SPDX-License-Identifier: MIT */
/* Finds the same program, libraries and functions in two builds. */
#include "config.h"

#include "tools/diff/match.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* ---- functions, by the names that their source has ---- */

/* A function of one side, or a text that is kept. */
struct entry {
	UT_hash_handle hh;
	bool is_on[2];    /* which side has it */
	bool has_bare[2]; /* or has it without its numbers */
	char key[];
};

struct match_names {
	struct entry *functions; /* by module and name */
	struct entry *texts;
};

/* ---- what changes from build to build ---- */

/* The length of a suffix at `at`, as compilers add them: GCC's clones and
 * parts, LLVM's ThinLTO and unique names. */
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

/* Off the end: " [clone .isra.0]" and "(.llvm.1)" of demangled names,
 * ".cold". */
static bool cut_suffix(char *name)
{
	size_t length = strlen(name);

	for (char *at = name + 1; at < name + length; at++) {
		bool is_clone, is_words;
		const char *end;
		size_t part;

		if (*at != ' ' && *at != '.')
			continue;
		is_clone = strncmp(at, " [clone ", 8) == 0;
		is_words = strncmp(at, " (.", 3) == 0;
		end = at + (is_clone ? 8 : is_words ? 2 : 0);
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

/* "L$$Lambda$1/0x00007f6c8c000a08.run", "LambdaForm$MH/1234567.invoke": where
 * Java's virtual machine has a class that it made. */
static void cut_class(char *name)
{
	char *to = strchr(name, '/');

	for (; to; to = strchr(to + 1, '/')) {
		bool is_address = strncmp(to, "/0x", 3) == 0;
		char *end = to + (is_address ? 3 : 1);
		size_t digits = strspn(end, is_address ? "0123456789abcdef"
		                                       : "0123456789");

		end += digits;
		if (to > name && digits >= 5 && strchr(".:", *end))
			memmove(to, end, strlen(end) + 1);
	}
}

/* Whether a number begins at `at` that counts what is alike. */
static bool is_count(const char *name, const char *at)
{
	static const char *const before[] = { "lambda", "$", "Accessor",
		                              "$Proxy", ".func" };

	if (*at == '#' || strncmp(at, "$_", 2) == 0)
		return isdigit((unsigned char)at[*at == '#' ? 1 : 2]);
	for (size_t i = 0; isdigit((unsigned char)*at) &&
	                   i < sizeof(before) / sizeof(before[0]); i++) {
		size_t length = strlen(before[i]);

		if ((size_t)(at - name) >= length &&
		    strncmp(at - length, before[i], length) == 0)
			return true;
	}
	return false;
}

/* "{lambda(int)#2}", "{closure#0}", "$_1", "'lambda3'", of Java "App$1.run",
 * "lambda$main$2", "GeneratedMethodAccessor3", of Go "main.work.func2": the numbers
 * of what has no name. */
static void cut_numbers(char *name)
{
	char *to = name;

	for (const char *at = name; *at;) {
		if (!is_count(name, at)) {
			*to++ = *at++;
			continue;
		}
		/* "$$Lambda$1" of Java 17 is "$$Lambda" of 21 */
		if (to - name >= 7 && strncmp(to - 7, "Lambda$", 7) == 0)
			to--;
		at += *at == '#' ? 1 : *at == '$' ? 2 : 0;
		at += strspn(at, "0123456789");
	}
	*to = '\0';
}

/* The length of the name without ":12", which it ends with in `length`; 0 when it
 * does not. */
static size_t before_number(const char *name, size_t length)
{
	size_t at = length;

	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	return at > 1 && at < length && name[at - 1] == ':' ? at - 1 : 0;
}

/* "JS:*work /a/app.js:12:3" of node and "py::work:/a/app.py" of Python: where the
 * file lies, and the line. */
static void cut_place(char *name)
{
	size_t length = before_number(name, strlen(name));
	char *path = strrchr(name, ' '), *slash;

	length = before_number(name, length);
	if (strncmp(name, "py::", 4) == 0)
		path = strstr(name, ":/");
	else if (path && length)
		name[length] = '\0';
	else
		return;
	slash = path ? strrchr(path, '/') : NULL;
	if (slash)
		memmove(path + 1, slash + 1, strlen(slash + 1) + 1);
}

/* To be freed. */
static char *bare_name(const char *name, bool has_numbers)
{
	char *bare = strdup(name);

	while (bare && cut_suffix(bare))
		;
	if (bare) {
		cut_hash(bare);
		cut_class(bare);
	}
	if (bare && !has_numbers) {
		cut_numbers(bare);
		cut_place(bare);
	}
	return bare;
}

/* ---- all functions ---- */

static struct match_names *names_new(void)
{
	return calloc(1, sizeof(struct match_names));
}

static void free_all(struct entry **all)
{
	struct entry *one, *next;

	HASH_ITER(hh, *all, one, next) {
		HASH_DEL(*all, one);
		free(one);
	}
}

static void names_free(struct match_names *names)
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
static const char *keep(struct match_names *names, char *text)
{
	struct entry *entry =
		text ? enter(&names->texts, text, strlen(text)) : NULL;

	free(text);
	return entry ? entry->key : NULL;
}

/* What is called after its module and address, of another module. False when
 * out of memory, as below. */
static bool names_move(struct match_names *names,
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

static struct entry *function_entry(struct match_names *names,
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

typedef bool name_fn(struct match_names *names, int side,
                     struct ppi_symbols_name *name);

static bool for_all(struct match_names *names,
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

static bool strip(struct match_names *names, int side,
                  struct ppi_symbols_name *name)
{
	struct entry *entry;

	name->function = keep(names, bare_name(name->function, true));
	entry = name->function ? function_entry(names, name) : NULL;
	if (entry)
		entry->is_on[side] = true;
	return entry != NULL;
}

/* Without its numbers, of what is on one side alone; *entry is NULL where it is on
 * both. False when out of memory. */
static bool find_bare(struct match_names *names, int side,
                      const struct ppi_symbols_name *name,
                      struct ppi_symbols_name *bare, struct entry **entry)
{
	struct entry *whole = function_entry(names, name);

	*entry = NULL;
	if (!whole || whole->is_on[!side])
		return whole != NULL;
	*bare = *name;
	bare->function = keep(names, bare_name(name->function, false));
	*entry = bare->function ? function_entry(names, bare) : NULL;
	return *entry != NULL;
}

/* What is on one side alone may be on both without its numbers. */
static bool strip_numbers(struct match_names *names, int side,
                          struct ppi_symbols_name *name)
{
	struct ppi_symbols_name bare;
	struct entry *entry;
	bool is_good = find_bare(names, side, name, &bare, &entry);

	if (entry)
		entry->has_bare[side] = true;
	return is_good;
}

/* Then it has none; others keep theirs, and their place. */
static bool take_bare(struct match_names *names, int side,
                      struct ppi_symbols_name *name)
{
	struct ppi_symbols_name bare;
	struct entry *entry;
	bool is_good = find_bare(names, side, name, &bare, &entry);

	if (entry && (entry->has_bare[!side] || entry->is_on[!side]))
		name->function = bare.function;
	return is_good;
}

/* Once modules are the same. */
static bool names_unify(struct match_names *names,
                        const struct ppi_match_side sides[2])
{
	return for_all(names, sides, strip) &&
	       for_all(names, sides, strip_numbers) &&
	       for_all(names, sides, take_bare);
}

/* ---- modules ---- */

/* A file of one side. */
struct module {
	const char *path, *name;
	size_t mapping;        /* SIZE_MAX: none */
	const char *soname;    /* "" none, or not looked for */
	uint64_t weight;       /* of its own samples */
	const struct module *other; /* the same on the other side */
	const char *why;
};

struct ppi_match {
	struct module *modules[2];
	size_t counts[2];
	struct match_names *names;
};

static struct module *find_module(struct ppi_match *match, int side,
                                  const char *name)
{
	for (size_t i = 0; i < match->counts[side]; i++)
		if (strcmp(match->modules[side][i].name, name) == 0)
			return &match->modules[side][i];
	return NULL;
}

static bool collect(struct ppi_match *match, int side,
                    const struct ppi_match_side *from)
{
	size_t count = portprof_profile_location_count(from->profile);
	const portprof_profile_sample *sample;
	struct module *module;

	match->modules[side] = calloc(count + 1, sizeof(*module));
	if (!match->modules[side])
		return false;
	for (size_t i = 0; i < count; i++)
		if (!find_module(match, side, from->names[i].module))
			match->modules[side][match->counts[side]++] =
				(struct module){
					.path = from->names[i].path,
					.name = from->names[i].module,
					.mapping = portprof_profile_location_get(
						from->profile, i)->mapping,
					.soname = "",
				};
	for (size_t i = 0; (sample = portprof_profile_sample_get(
				    from->profile, i)) != NULL; i++) {
		if (sample->depth == 0)
			continue;
		module = find_module(
			match, side,
			from->names[sample->locations[0]].module);
		module->weight += ppi_view_weight(from->view, i, sample);
	}
	return true;
}

static void pair_up(struct module *before, struct module *after,
                    const char *why)
{
	if (!before || !after || before->other || after->other)
		return;
	before->other = after;
	after->other = before;
	before->why = after->why = why;
}

/* The first mapping of what portprof recorded of one command. */
static struct module *find_main(struct ppi_match *match, int side,
                                const portprof_profile *profile)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, 0);
	const char *slash;

	if (!portprof_profile_origin_get(profile)->command[0] || !mapping)
		return NULL;
	slash = strrchr(mapping->path, '/');
	return find_module(match, side, slash ? slash + 1 : mapping->path);
}

/* The length of a name without the version of a library: "libz.so.1.2" and
 * "libfoo-1.2.so" have that of "libz.so" and "libfoo". */
static size_t bare_length(const char *name)
{
	const char *so = strstr(name, ".so");
	size_t length;

	if (!so || (so[3] != '\0' && so[3] != '.'))
		return strlen(name);
	length = (size_t)(so - name);
	while (length && (isdigit((unsigned char)name[length - 1]) ||
	                  name[length - 1] == '.'))
		length--;
	return length && name[length - 1] == '-' ? length - 1
	                                         : (size_t)(so - name);
}

static bool is_same_library(const char *one, const char *other)
{
	size_t length = bare_length(one);

	return strstr(one, ".so") && strstr(other, ".so") &&
	       bare_length(other) == length &&
	       strncmp(one, other, length) == 0;
}

/* Of what its name has not matched: the file has to be opened. */
static void find_sonames(struct ppi_match *match, int side,
                         const struct ppi_match_side *on)
{
	for (size_t i = 0; i < match->counts[side]; i++) {
		struct module *module = &match->modules[side][i];
		const portprof_profile_mapping *mapping =
			portprof_profile_mapping_get(on->profile,
			                             module->mapping);

		if (!module->other && mapping)
			module->soname = ppi_symbols_soname(
				on->symbols,
				&(struct ppi_symbols_place){
					.has_mapping = true,
					.path = mapping->path,
					.build_id = mapping->build_id,
				});
	}
}

/* False when out of memory. */
static bool pair_by_soname(struct ppi_match *match)
{
	char why[200];

	for (size_t i = 0; i < match->counts[0]; i++)
		for (size_t k = 0; k < match->counts[1]; k++) {
			struct module *before = &match->modules[0][i];
			struct module *after = &match->modules[1][k];
			const char *kept;

			if (!before->soname[0] || before->other ||
			    after->other ||
			    strcmp(before->soname, after->soname) != 0)
				continue;
			snprintf(why, sizeof(why), "both are %.150s",
			         before->soname);
			kept = keep(match->names, strdup(why));
			if (!kept)
				return false;
			pair_up(before, after, kept);
		}
	return true;
}

static void pair_alike(struct ppi_match *match,
                       bool (*is_same)(const char *, const char *),
                       const char *why)
{
	for (size_t i = 0; i < match->counts[0]; i++)
		for (size_t k = 0; k < match->counts[1]; k++)
			if (is_same(match->modules[0][i].name,
			            match->modules[1][k].name))
				pair_up(&match->modules[0][i],
				        &match->modules[1][k], why);
}

static bool is_equal(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

/* Generated code may be asked for by the file that names it, too. */
static struct module *find_asked(struct ppi_match *match, int side,
                                 const char *name)
{
	return find_module(match, side,
	                   ppi_is_generated(name) ? PPI_GENERATED : name);
}

/* False, with *unused, where one of the names is not there. */
static void pair_asked(struct ppi_match *match,
                       const struct ppi_match_pairs *asked,
                       const char **unused)
{
	for (size_t i = 0; i < asked->count; i++) {
		const char *equal = strchr(asked->pairs[i], '=');
		char *name = equal ? strndup(asked->pairs[i],
		                             (size_t)(equal - asked->pairs[i]))
		                   : NULL;
		struct module *before =
			name ? find_asked(match, 0, name) : NULL;
		struct module *after =
			equal ? find_asked(match, 1, equal + 1) : NULL;

		if (!before || !after)
			*unused = asked->pairs[i];
		pair_up(before, after,
		        before && after && is_equal(before->name, after->name)
		                ? NULL
		                : "--match");
		free(name);
	}
}

/* ---- both ---- */

/* Generated code without names is one function: neither its address nor its
 * process comes again. */
static const char nameless[] = "(code made while running)";

static bool rename_modules(struct ppi_match *match, int side,
                           const struct ppi_match_side *on)
{
	size_t count = portprof_profile_location_count(on->profile);

	for (size_t i = 0; i < count; i++)
		for (struct ppi_symbols_name *name = &on->names[i]; name;
		     name = (struct ppi_symbols_name *)name->caller) {
			const struct module *module =
				find_module(match, side, name->module);
			const char *wanted =
				module && module->other && side == 0
					? module->other->name
					: name->module;

			if (name->by_address)
				name->function = name->by_address = nameless;
			if (module && module->other && side == 0) {
				if (!names_move(match->names, name,
				                wanted))
					return false;
				name->module = wanted;
				name->path = module->other->path;
			}
		}
	return true;
}

struct ppi_match *ppi_match_find(const struct ppi_match_side sides[2],
                                 const struct ppi_match_pairs *asked,
                                 const char **unused)
{
	struct ppi_match *match = calloc(1, sizeof(*match));

	*unused = NULL;
	if (!match)
		return NULL;
	match->names = names_new();
	if (!match->names || !collect(match, 0, &sides[0]) ||
	    !collect(match, 1, &sides[1]))
		goto failed;
	pair_asked(match, asked, unused);
	pair_alike(match, is_equal, NULL);
	pair_up(find_main(match, 0, sides[0].profile),
	        find_main(match, 1, sides[1].profile), "the programs");
	find_sonames(match, 0, &sides[0]);
	find_sonames(match, 1, &sides[1]);
	if (!pair_by_soname(match))
		goto failed;
	pair_alike(match, is_same_library, "libraries by name");
	if (rename_modules(match, 0, &sides[0]) &&
	    rename_modules(match, 1, &sides[1]) &&
	    names_unify(match->names, sides))
		return match;
failed:
	ppi_match_free(match);
	return NULL;
}

void ppi_match_free(struct ppi_match *match)
{
	if (!match)
		return;
	free(match->modules[0]);
	free(match->modules[1]);
	names_free(match->names);
	free(match);
}

bool ppi_match_pair(const struct ppi_match *match, size_t index,
                    const char **before, const char **after,
                    const char **why)
{
	for (size_t i = 0; i < match->counts[0]; i++) {
		const struct module *one = &match->modules[0][i];

		if (!one->other || !one->why || index--)
			continue;
		*before = one->name;
		*after = one->other->name;
		*why = one->why;
		return true;
	}
	return false;
}

const char *ppi_match_alone(const struct ppi_match *match, int side,
                            uint64_t *weight)
{
	const struct module *most = NULL;

	*weight = 0;
	for (size_t i = 0; i < match->counts[side]; i++) {
		const struct module *one = &match->modules[side][i];

		if (one->other || !one->weight ||
		    strcmp(one->name, PPI_GENERATED) == 0)
			continue;
		*weight += one->weight;
		if (!most || one->weight > most->weight)
			most = one;
	}
	return most ? most->name : NULL;
}
