/* SPDX-License-Identifier: MIT */
/* The texts of the namer: names kept once each, notes, and how it names. */
#include "config.h"

#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_state.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- readable names of C++, Rust, D and Ada functions, by libiberty ---- */

#ifdef HAVE_LIBIBERTY

#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

/* D is no part of AUTO; its names begin with _D and are like no others. */
enum { FLAGS = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | DMGL_DLANG };

#ifdef DMGL_NO_RECURSE_LIMIT
/*
 * libiberty refuses names of over 1024 characters, as templates of C++ have them: it
 * calls itself for each part of a name, which may overflow the stack. These have a
 * stack of their own; a longer one stays as it is.
 */
enum { PLAIN_MAX = 1024, LONG_MAX_LENGTH = 32768, LONG_STACK = 128 << 20 };

struct long_name {
	const char *name;
	char *found;
};

static void *demangle_long(void *argument)
{
	struct long_name *it = argument;

	it->found = cplus_demangle(it->name, FLAGS | DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

static char *find_long(const char *name)
{
	struct long_name it = { name, NULL };
	pthread_attr_t attributes;
	pthread_t thread;

	if (strlen(name) > LONG_MAX_LENGTH ||
	    pthread_attr_init(&attributes) != 0)
		return NULL;
	if (pthread_attr_setstacksize(&attributes, LONG_STACK) == 0 &&
	    pthread_create(&thread, &attributes, demangle_long, &it) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	return it.found;
}

char *ppi_demangle(const char *name)
{
	return strlen(name) > PLAIN_MAX ? find_long(name)
	                                : cplus_demangle(name, FLAGS);
}
#else
char *ppi_demangle(const char *name)
{
	return cplus_demangle(name, FLAGS);
}
#endif

/* libiberty puts what is no name of Ada into <>. */
static char *find_ada(const char *name)
{
	char *found = ada_demangle(name, 0);

	if (found && found[0] != '<')
		return found;
	free(found);
	return NULL;
}

#else

char *ppi_demangle(const char *name)
{
	(void)name;
	return NULL;
}

static char *find_ada(const char *name)
{
	return ppi_demangle(name);
}

#endif

/* ---- the texts ---- */

/* A string kept once. */
struct ppi_symbols_word {
	UT_hash_handle hh;
	char text[];
};

/* A function that others were inlined into. */
struct ppi_symbols_inlined {
	struct ppi_symbols_name name;
	struct ppi_symbols_inlined *next; /* for freeing */
};

const char *ppi_symbols_tier_more(const struct ppi_symbols *symbols)
{
	if (strcmp(ppi_symbol_file_tier(), "libdw") != 0)
		return symbols->wants_lines || symbols->wants_inlines
		               ? ", no lines and inlined functions"
		               : "";
	if (symbols->wants_inlines)
		return symbols->wants_lines
		               ? ", lines and inlined functions of DWARF"
		               : ", inlined functions of DWARF";
	return symbols->wants_lines ? ", lines of DWARF" : "";
}

const char *ppi_symbols_tier(void)
{
	const char *tier = ppi_symbol_file_tier();

	if (strcmp(tier, "libdw") == 0)
		return "libdw: symbol tables and separate debug files";
	if (strcmp(tier, "libelf") == 0)
		return "libelf: symbol tables and separate debug files (built "
		       "without libdw)";
	return "module+0xOFFSET only (built without libelf and libdw)";
}

bool ppi_symbols_took_names(const struct ppi_symbols *symbols)
{
	return symbols->took_names;
}

struct note {
	char *words;
	const char *path; /* of the module; NULL: of more than one */
};

/* One file may be mapped as several modules. */
void ppi_symbols_add_note(struct ppi_symbols *symbols, const char *path,
                          const char *words)
{
	struct note note = { .path = path };

	for (size_t i = 0; i < symbols->notes.count; i++)
		if (strcmp(PPI_AT(&symbols->notes, struct note)[i].words,
		           words) == 0)
			return;
	note.words = strdup(words);
	if (note.words &&
	    !ppi_vector_add(&symbols->notes, sizeof(note), &note, 1))
		free(note.words);
}

const char *ppi_symbols_note(const struct ppi_symbols *symbols, size_t index)
{
	return index < symbols->notes.count
	               ? PPI_AT(&symbols->notes, struct note)[index].words
	               : NULL;
}

bool ppi_symbols_note_is_of(const struct ppi_symbols *symbols, size_t index,
                            const char *path)
{
	const struct note *notes = symbols->notes.data;

	return index < symbols->notes.count && notes[index].path &&
	       strcmp(notes[index].path, path) == 0;
}

const char *ppi_symbols_keep(struct ppi_symbols *symbols, const char *text)
{
	size_t length = strlen(text);
	struct ppi_symbols_word *word;

	HASH_FIND(hh, symbols->words, text, length, word);
	if (word)
		return word->text;
	word = malloc(sizeof(*word) + length + 1);
	if (!word)
		return "?";
	memcpy(word->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, symbols->words, word->text, length, word);
	return word->text;
}

/* "memcpy@@GLIBC_2.14" is memcpy to people; "memcpy@plt" is something else. */
static void strip_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name && strcmp(at, "@plt") != 0)
		*at = '\0';
}

/* What is readable of a name, to free; NULL: it is what it was. A linker's
 * "_Znwm@plt" is the call of operator new through a table. */
static char *demangle(char *name)
{
	static const char plt[] = "@plt";
	size_t length = strlen(name), rest = strlen(plt);
	char *words, *joined;

	if (length <= rest || strcmp(name + length - rest, plt) != 0)
		return ppi_demangle(name);
	name[length - rest] = '\0';
	words = ppi_demangle(name);
	name[length - rest] = plt[0];
	if (!words)
		return NULL;
	joined = realloc(words, strlen(words) + sizeof(plt));
	if (!joined) {
		free(words);
		return NULL;
	}
	return strcat(joined, plt);
}

const char *ppi_symbols_readable(struct ppi_symbols *symbols, const char *name,
                                 bool is_ada)
{
	char *copy = strdup(name), *demangled;
	const char *kept;

	if (!copy)
		return "?";
	strip_version(copy);
	demangled = demangle(copy);
	if (!demangled && is_ada)
		demangled = find_ada(copy);
	kept = ppi_symbols_keep(symbols, demangled ? demangled : copy);
	free(demangled);
	free(copy);
	return kept;
}

void ppi_symbols_by_address(struct ppi_symbols *symbols, uint64_t address,
                            struct ppi_symbols_name *name)
{
	char text[512];

	/* a file of another tool may give neither a name nor an address */
	if (address == 0 && strcmp(name->module, "[unknown]") == 0)
		snprintf(text, sizeof(text), "[unknown]");
	else
		snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, name->module,
		         address);
	name->function = ppi_symbols_keep(symbols, text);
	name->is_named = false;
}

/* What the name was inlined into, as a copy that lives on. */
struct ppi_symbols_name *ppi_symbols_add_caller(struct ppi_symbols *symbols,
                                                struct ppi_symbols_name *name)
{
	struct ppi_symbols_inlined *inlined = calloc(1, sizeof(*inlined));

	if (!inlined)
		return NULL;
	inlined->next = symbols->inlined;
	symbols->inlined = inlined;
	inlined->name = *name;
	inlined->name.caller = NULL;
	name->caller = &inlined->name;
	return &inlined->name;
}

void ppi_symbols_take_line(struct ppi_symbols *symbols, const char *file,
                           uint64_t line, struct ppi_symbols_name *name)
{
	name->source_file = ppi_symbols_keep(symbols, file);
	name->line = line;
}

void ppi_symbols_free_words(struct ppi_symbols *symbols)
{
	struct ppi_symbols_inlined *outer;
	struct ppi_symbols_word *word, *next_word;

	for (; symbols->inlined; symbols->inlined = outer) {
		outer = symbols->inlined->next;
		free(symbols->inlined);
	}
	HASH_ITER (hh, symbols->words, word, next_word) {
		HASH_DEL(symbols->words, word);
		free(word);
	}
	for (size_t i = 0; i < symbols->notes.count; i++)
		free(PPI_AT(&symbols->notes, struct note)[i].words);
	ppi_vector_free(&symbols->notes);
}
