/* SPDX-License-Identifier: MIT */
/* From recorded addresses to names: which file, and what to say without one. */
#include "config.h"

#include "tools/symbols.h"

#include "tools/symbols_demangle.h"
#include "tools/symbols_file.h"
#include "tools/symbols_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* A string kept once. */
struct word {
	UT_hash_handle hh;
	char text[];
};

struct module {
	UT_hash_handle hh;
	const char *name, *path;
	struct ppi_symbol_file *file; /* NULL: cannot be used */
	char key[];                   /* path and build-id */
};

/* A function that others were inlined into. */
struct inlined {
	struct ppi_symbols_name name;
	struct inlined *next; /* for freeing */
};

struct ppi_symbols {
	uint64_t recorded_ns;
	bool wants_lines, wants_inlines;
	const char *folder; /* with debug files */
	struct word *words;
	struct module *modules;
	struct inlined *inlined;
	struct ppi_symbol_table kernel;
	bool is_kernel_read, has_kernel;
	char **notes;
	size_t note_count;
};

struct ppi_symbols *ppi_symbols_new(uint64_t recorded_ns)
{
	struct ppi_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols)
		symbols->recorded_ns = recorded_ns;
	return symbols;
}

void ppi_symbols_want(struct ppi_symbols *symbols, bool lines, bool inlines)
{
	symbols->wants_lines = lines;
	symbols->wants_inlines = inlines;
}

void ppi_symbols_look_in(struct ppi_symbols *symbols, const char *folder)
{
	symbols->folder = folder;
}

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
		return "libelf: symbol tables (built without libdw)";
	return "module+0xOFFSET only (built without libelf and libdw)";
}

static void add_note(struct ppi_symbols *symbols, const char *words)
{
	char **grown = realloc(symbols->notes,
	                       (symbols->note_count + 1) * sizeof(*grown));

	if (!grown)
		return;
	symbols->notes = grown;
	grown[symbols->note_count] = strdup(words);
	if (grown[symbols->note_count])
		symbols->note_count++;
}

const char *ppi_symbols_note(const struct ppi_symbols *symbols, size_t index)
{
	return index < symbols->note_count ? symbols->notes[index] : NULL;
}

/* The kept copy of a string; "?" when out of memory. */
static const char *keep(struct ppi_symbols *symbols, const char *text)
{
	size_t length = strlen(text);
	struct word *word;

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

/* "/usr/bin/xz" is "xz" in a table; "//anon" and "[vdso]" stay readable. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (path[0] == '\0')
		return "[unknown]";
	if (strcmp(path, "//anon") == 0)
		return "[anonymous]";
	return slash && slash[1] ? slash + 1 : path;
}

static void note_refusal(struct ppi_symbols *symbols,
                         const struct module *module, const char *why)
{
	char words[1024];

	if (!why[0] || module->path[0] != '/' ||
	    strncmp(module->path, "//", 2) == 0)
		return;
	snprintf(words, sizeof(words), "%s %s; its code is not named",
	         module->path, why);
	add_note(symbols, words);
}

static struct module *open_module(struct ppi_symbols *symbols,
                                  const char *path, const char *build_id,
                                  const char *key)
{
	size_t length = strlen(key);
	struct module *module = calloc(1, sizeof(*module) + length + 1);
	const struct ppi_symbol_wanted wanted = {
		.path = path,
		.build_id = build_id,
		.recorded_ns = symbols->recorded_ns,
		.folder = symbols->folder,
	};
	char why[400] = "";

	if (!module)
		return NULL;
	memcpy(module->key, key, length + 1);
	module->path = keep(symbols, path);
	module->name = keep(symbols, short_name(path));
	if ((path[0] == '/' && strncmp(path, "//", 2) != 0) ||
	    strcmp(path, "[vdso]") == 0)
		module->file = ppi_symbol_file_open(&wanted, why, sizeof(why));
	if (!module->file)
		note_refusal(symbols, module, why);
	HASH_ADD_KEYPTR(hh, symbols->modules, module->key, length, module);
	return module;
}

static struct module *module_of(struct ppi_symbols *symbols,
                                const struct ppi_symbols_place *place)
{
	const char *path = place->has_mapping ? place->path : "";
	const char *build_id = place->has_mapping ? place->build_id : "";
	struct module *module;
	char *key;
	size_t bytes = strlen(path) + strlen(build_id) + 2;

	key = malloc(bytes);
	if (!key)
		return NULL;
	snprintf(key, bytes, "%s %s", build_id, path);
	HASH_FIND(hh, symbols->modules, key, strlen(key), module);
	if (!module)
		module = open_module(symbols, path, build_id, key);
	free(key);
	return module;
}

/* "memcpy@@GLIBC_2.14" is memcpy to people; "memcpy@plt" is something else. */
static void strip_version(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name && strcmp(at, "@plt") != 0)
		*at = '\0';
}

static const char *readable(struct ppi_symbols *symbols, const char *name)
{
	char *copy = strdup(name), *demangled;
	const char *kept;

	if (!copy)
		return "?";
	strip_version(copy);
	demangled = ppi_demangle(copy);
	kept = keep(symbols, demangled ? demangled : copy);
	free(demangled);
	free(copy);
	return kept;
}

static void name_by_address(struct ppi_symbols *symbols, uint64_t address,
                            struct ppi_symbols_name *name)
{
	char text[512];

	snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, name->module,
	         address);
	name->function = keep(symbols, text);
	name->is_named = false;
}

static void read_kernel(struct ppi_symbols *symbols)
{
	char why[300], words[400];

	symbols->is_kernel_read = true;
	if (ppi_kernel_is_newer(symbols->recorded_ns)) {
		add_note(symbols, "the system was started again after the "
		                  "measurement; kernel code is not named");
		return;
	}
	symbols->has_kernel = ppi_kernel_symbols_read(
		"/proc/kallsyms", &symbols->kernel, why, sizeof(why));
	if (symbols->has_kernel)
		return;
	snprintf(words, sizeof(words), "kernel code is not named: %s", why);
	add_note(symbols, words);
}

static void find_in_kernel(struct ppi_symbols *symbols, uint64_t address,
                           struct ppi_symbols_name *name)
{
	const struct ppi_symbol *symbol = NULL;
	char text[336], *module;

	if (!symbols->is_kernel_read)
		read_kernel(symbols);
	if (symbols->has_kernel)
		symbol = ppi_symbol_table_find(&symbols->kernel, address);
	name->module = name->path = "[kernel]";
	if (!symbols->has_kernel) {
		/* one row, which a note explains, and not one for each address */
		name->function = "[unknown]";
		return;
	}
	if (!symbol) {
		name_by_address(symbols, address, name);
		return;
	}
	snprintf(text, sizeof(text), "%s",
	         ppi_symbol_name(&symbols->kernel, symbol));
	module = strchr(text, ' ');
	if (module) {
		*module++ = '\0';
		name->module = name->path = keep(symbols, module);
	}
	name->function = keep(symbols, text);
	name->is_named = true;
}

/* Every 64-bit Unix keeps its kernel in the upper half of the space. */
static bool is_kernel(const struct ppi_symbols_place *place)
{
	return place->address >> 63 ||
	       (place->has_mapping &&
	        strncmp(place->path, "[kernel", 7) == 0);
}

/* What the name was inlined into, as a copy that lives on. */
static struct ppi_symbols_name *add_caller(struct ppi_symbols *symbols,
                                           struct ppi_symbols_name *name)
{
	struct inlined *inlined = calloc(1, sizeof(*inlined));

	if (!inlined)
		return NULL;
	inlined->next = symbols->inlined;
	symbols->inlined = inlined;
	inlined->name = *name;
	inlined->name.caller = NULL;
	name->caller = &inlined->name;
	return &inlined->name;
}

static void take_line(struct ppi_symbols *symbols, const char *file,
                      uint64_t line, struct ppi_symbols_name *name)
{
	name->source_file = keep(symbols, file);
	name->line = line;
}

/* Source of an address; `name` is the symbol that it lies in. */
static void add_lines(struct ppi_symbols *symbols, const struct module *module,
                      uint64_t vaddr, struct ppi_symbols_name *name)
{
	struct ppi_symbol_line lines[64];
	size_t count = ppi_symbol_file_lines(module->file, vaddr,
	                                     symbols->wants_inlines, lines,
	                                     sizeof(lines) / sizeof(lines[0]));
	const char *symbol = name->function;
	bool is_named = name->is_named;

	for (size_t i = 0; name && i < count; i++) {
		take_line(symbols, lines[i].file, lines[i].line, name);
		name->is_named = lines[i].function || is_named;
		name->function = lines[i].function
		                         ? readable(symbols, lines[i].function)
		                         : symbol;
		if (i + 1 < count)
			name = add_caller(symbols, name);
	}
}

static void find_in_file(struct ppi_symbols *symbols,
                         const struct module *module, uint64_t address,
                         const struct ppi_symbols_place *place,
                         struct ppi_symbols_name *name)
{
	struct ppi_symbol_answer answer = { 0 };
	uint64_t offset = address - place->map_start + place->map_offset;

	ppi_symbol_file_find(module->file, offset, &answer);
	switch (answer.found) {
	case PPI_SYMBOL_NAME:
		name->function = readable(symbols, answer.name);
		name->is_named = true;
		break;
	case PPI_SYMBOL_BOUNDS:
		name_by_address(symbols, answer.start, name);
		break;
	case PPI_SYMBOL_NOTHING:
		name_by_address(symbols, answer.vaddr ? answer.vaddr : offset,
		                name);
		break;
	}
	name->is_stripped = !ppi_symbol_file_is_complete(module->file);
	if ((symbols->wants_lines || symbols->wants_inlines) && answer.vaddr)
		add_lines(symbols, module, answer.vaddr, name);
}

void ppi_symbols_find(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name)
{
	uint64_t address = place->address;
	const struct module *module;

	memset(name, 0, sizeof(*name));
	name->source_file = "";
	if (is_kernel(place)) {
		find_in_kernel(symbols, address, name);
		return;
	}
	module = module_of(symbols, place);
	name->module = module ? module->name : "?";
	name->path = module ? module->path : "?";
	if (module && module->file)
		find_in_file(symbols, module, address, place, name);
	else if (place->has_mapping && place->path[0])
		name_by_address(symbols,
		                address - place->map_start + place->map_offset,
		                name);
	else
		name_by_address(symbols, address, name);
}

void ppi_symbols_take(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      const struct ppi_symbols_given *given, size_t count,
                      struct ppi_symbols_name *name)
{
	const char *path = place->has_mapping ? place->path : "";

	memset(name, 0, sizeof(*name));
	name->module = keep(symbols, short_name(path));
	name->path = keep(symbols, path);
	name->is_named = true;
	for (size_t i = 0; name && i < count; i++) {
		name->function = keep(symbols, given[i].function);
		take_line(symbols, given[i].source_file, given[i].line, name);
		if (i + 1 < count)
			name = add_caller(symbols, name);
	}
}

void ppi_symbols_free(struct ppi_symbols *symbols)
{
	struct module *module, *next_module;
	struct word *word, *next_word;

	if (!symbols)
		return;
	HASH_ITER(hh, symbols->modules, module, next_module) {
		HASH_DEL(symbols->modules, module);
		ppi_symbol_file_close(module->file);
		free(module);
	}
	for (struct inlined *next; symbols->inlined; symbols->inlined = next) {
		next = symbols->inlined->next;
		free(symbols->inlined);
	}
	HASH_ITER(hh, symbols->words, word, next_word) {
		HASH_DEL(symbols->words, word);
		free(word);
	}
	for (size_t i = 0; i < symbols->note_count; i++)
		free(symbols->notes[i]);
	free(symbols->notes);
	ppi_symbol_table_free(&symbols->kernel);
	free(symbols);
}
