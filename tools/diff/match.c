/* SPDX-License-Identifier: MIT */
/* Finds the same program and libraries in two builds. */
#include "config.h"

#include "tools/diff/match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A file of one side. */
struct module {
	const char *path, *name;
	uint64_t weight;       /* of its own samples */
	const struct module *other; /* the same on the other side */
	const char *why;
};

struct ppi_match {
	struct module *modules[2];
	size_t counts[2];
	struct ppi_match_names *names;
};

/* ---- modules ---- */

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
				};
	for (size_t i = 0; (sample = portprof_profile_sample_get(
				    from->profile, i)) != NULL; i++) {
		if (sample->depth == 0)
			continue;
		module = find_module(
			match, side,
			from->names[sample->locations[0]].module);
		module->weight += sample->weights[from->event];
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

/* The name that a process's generated code has, with its number. */
static bool is_generated(const char *name)
{
	static const char *const begins[] = { "perf-", "jit-", "jitted-" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		size_t length = strlen(begins[i]), digits;

		if (strncmp(name, begins[i], length) != 0)
			continue;
		digits = strspn(name + length, "0123456789");
		if (digits && (name[length + digits] == '.' ||
		               name[length + digits] == '-'))
			return true;
	}
	return false;
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
			name ? find_module(match, 0, name) : NULL;
		struct module *after =
			equal ? find_module(match, 1, equal + 1) : NULL;

		if (!before || !after)
			*unused = asked->pairs[i];
		pair_up(before, after, "--match");
		free(name);
	}
}

/* ---- both ---- */

/* Generated code of all processes is one module. */
static const char generated[] = "[generated code]";

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

			if (is_generated(wanted)) {
				name->module = name->path = generated;
			} else if (module && module->other && side == 0) {
				if (!ppi_match_names_move(match->names, name,
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
	match->names = ppi_match_names_new();
	if (!match->names || !collect(match, 0, &sides[0]) ||
	    !collect(match, 1, &sides[1]))
		goto failed;
	pair_asked(match, asked, unused);
	pair_alike(match, is_equal, NULL);
	pair_up(find_main(match, 0, sides[0].profile),
	        find_main(match, 1, sides[1].profile), "the programs");
	pair_alike(match, is_same_library, "libraries by name");
	if (rename_modules(match, 0, &sides[0]) &&
	    rename_modules(match, 1, &sides[1]) &&
	    ppi_match_names_unify(match->names, sides))
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
	ppi_match_names_free(match->names);
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

		if (one->other || !one->weight || is_generated(one->name))
			continue;
		*weight += one->weight;
		if (!most || one->weight > most->weight)
			most = one;
	}
	return most ? most->name : NULL;
}
