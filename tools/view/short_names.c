/* SPDX-License-Identifier: MIT */
/* Names of functions as people read and type them: shortened, cut to a column
 * so that the last part stays, and recognized by that part alone. */
#include "config.h"

#include "tools/view/short_names.h"

#include "base/text.h"
#include "tools/view/view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- short names ---- */

/* tools/page/words.js shortens names of C++ and Rust likewise, and
 * tests/data/short-names.txt holds the two together. */

/* Behind what an operator is called by, which is no bracket; 0: it is none. */
static size_t operator_length(const char *at)
{
	static const char *const names[] = {
		"operator()", "operator<<=", "operator>>=", "operator<=>",
		"operator->*", "operator<<", "operator>>", "operator->",
		"operator<=", "operator>=", "operator<", "operator>",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(at, names[i], strlen(names[i])) == 0)
			return strlen(names[i]);
	return 0;
}

/* Behind the bracket that closes the one at `at`; NULL: none does. */
static const char *behind(const char *at)
{
	size_t depth = 0;

	for (; *at; at++) {
		size_t skip = operator_length(at);

		if (skip) {
			at += skip - 1;
			continue;
		}
		if (*at == '(' || *at == '<' || *at == '{' || *at == '[')
			depth++;
		else if (*at == ')' || *at == '}' || *at == ']' ||
		         (*at == '>' && at[-1] != '-'))
			depth--;
		if (depth == 0)
			return at + 1;
	}
	return NULL;
}

struct text {
	char *out;
	size_t used, room;
};

static bool put(struct text *text, const char *from, size_t bytes)
{
	if (bytes >= text->room - text->used)
		return false;
	memcpy(text->out + text->used, from, bytes);
	text->used += bytes;
	text->out[text->used] = '\0';
	return true;
}

/* Whether a bracket stands for a scope or is part of a word: "(anonymous
 * namespace)", "{lambda(int)#1}", "<impl Trait for T>" at the beginning, Go's
 * "pkg.(*Type).Method". */
static bool is_scope(const char *name, const char *at)
{
	return (at > name && at[-1] == '.' && *at == '(') ||
	       strncmp(at, "(anonymous namespace)", 21) == 0 || *at == '{' ||
	       *at == '[' || (*at == '<' && at == name);
}

/* "<12>": it takes no room, and may be all that one row has and the next has not. */
static bool is_number(const char *at, const char *end)
{
	size_t digits = strspn(at + 1, "0123456789");

	return digits > 0 && digits <= 6 && at + digits + 2 == end;
}

const char *ppi_short_name(const char *name, char *out, size_t bytes)
{
	struct text text = { .out = out, .room = bytes };
	const char *at = name;
	bool is_shorter = false;

	/* "module+0x10", "_start", names of C: nothing to leave out; in
	 * "py::<module>:/srv/app.py" the brackets are the name */
	if (bytes == 0 || !strpbrk(name, "(<") || name[0] == '(' ||
	    strncmp(name, "py::", 4) == 0)
		return name;
	out[0] = '\0';
	while (*at) {
		size_t skip = operator_length(at);
		const char *end;

		if (skip) {
			if (!put(&text, at, skip))
				return name;
			at += skip;
			continue;
		}
		if (*at == ' ' && at[1] != '\0') {
			/* what stood before was the type that is returned;
			 * but "operator new" and "f(int) const" are no such
			 * thing */
			is_shorter = true;
			if (text.used >= 8 &&
			    strcmp(out + text.used - 8, "operator") == 0) {
				if (!put(&text, at, 1))
					return name;
			} else if (at[1] != '<') { /* "operator<< <char>" */
				text.used = 0;
				out[0] = '\0';
			}
			at++;
			continue;
		}
		if (!strchr("(<{[", *at)) {
			if (!put(&text, at++, 1))
				return name;
			continue;
		}
		end = behind(at);
		if (!end)
			return name;
		if (is_scope(name, at) || (*at == '<' && is_number(at, end))) {
			if (!put(&text, at, (size_t)(end - at)))
				return name;
		} else if (*at == '<') {
			is_shorter = true;
			if (!put(&text, "<>", 2))
				return name;
		} else {
			is_shorter = true;
			/* the arguments: what follows, but for a name within
			 * the function, is "const" and the like */
			if (strncmp(end, "::", 2) != 0)
				break;
		}
		at = end;
	}
	return is_shorter && text.used ? out : name;
}

/* ---- the parts of a name ---- */

/* What gcc and clang put behind the name of a copy of a function is no part of
 * a scope: "f.constprop.0", "f.part.0.cold". */
static bool is_copy_mark(const char *text)
{
	static const char *const marks[] = {
		"constprop", "isra",       "part",  "cold",
		"lto_priv",  "localalias", "clone", "llvm",
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t length = strlen(marks[i]);

		if (strncmp(text, marks[i], length) == 0 &&
		    !isalnum((unsigned char)text[length]))
			return true;
	}
	return false;
}

/* Behind the separator at `at`, if it ends a part: "::", and, in names without
 * it, the "/" and "." of Go and Java; else NULL. */
static const char *part_behind(const char *at, bool has_scopes)
{
	if (has_scopes)
		return strncmp(at, "::", 2) == 0 && at[2] ? at + 2 : NULL;
	if ((*at != '.' && *at != '/') || is_copy_mark(at + 1))
		return NULL;
	return isalpha((unsigned char)at[1]) || at[1] == '_' || at[1] == '('
	               ? at + 1 : NULL;
}

/* The next part of a name behind the one that begins at `at`; NULL: that is the
 * last. Brackets hold no separators. */
static const char *next_part(const char *at, bool has_scopes)
{
	while (*at) {
		size_t skip = operator_length(at);
		const char *next = NULL;

		if (skip) {
			at += skip;
			continue;
		}
		if (strchr("(<{[", *at))
			next = behind(at);
		if (next) {
			at = next;
			continue;
		}
		next = part_behind(at, has_scopes);
		if (next)
			return next;
		at++;
	}
	return NULL;
}

/* Addresses and paths are no names of functions. */
static bool has_parts(const char *name)
{
	return !strstr(name, "+0x") && name[0] != '/' && name[0] != '[';
}

/* ---- cut to a column ---- */

static const char *fit_end(const char *name, size_t columns,
                           char room[PPI_SHOWN_BYTES])
{
	size_t bytes = ppi_text_fit(name, columns < 4 ? columns : columns - 3);

	if (bytes > PPI_SHOWN_BYTES - 4)
		bytes = PPI_SHOWN_BYTES - 4;
	memmove(room, name, bytes);
	snprintf(room + bytes, 4, "%s", columns < 4 ? "" : "...");
	return room;
}

const char *ppi_fit_name(const char *name, size_t columns,
                         char room[PPI_SHOWN_BYTES])
{
	char shorter[PPI_SHOWN_BYTES];
	const char *part, *next;
	bool has_scopes;

	if (ppi_text_width(name) <= columns)
		return name;
	part = ppi_short_name(name, shorter, sizeof(shorter));
	has_scopes = strstr(part, "::") != NULL;
	for (next = part; next && has_parts(part);
	     next = next_part(next, has_scopes)) {
		size_t dots = next == part ? 0 : 3;

		if (dots + ppi_text_width(next) <= columns) {
			snprintf(room, PPI_SHOWN_BYTES, "%s%s",
			         dots ? "..." : "", next);
			return room;
		}
		if (!next_part(next, has_scopes))
			return fit_end(next, columns, room);
	}
	return fit_end(part, columns, room);
}

/* ---- what people type ---- */

/* Take what stands for arguments of templates out, in place. */
static void drop_templates(char *name)
{
	char *to = name;

	for (const char *at = name; *at;) {
		size_t skip = operator_length(at);

		if (!skip && strncmp(at, "<>", 2) == 0) {
			at += 2;
			continue;
		}
		for (skip = skip ? skip : 1; skip; skip--)
			*to++ = *at++;
	}
	*to = '\0';
}

static bool ends_in(const char *name, const char *wanted)
{
	bool has_scopes = strstr(name, "::") != NULL;

	for (const char *part = name; part;
	     part = next_part(part, has_scopes))
		if (strcmp(part, wanted) == 0)
			return true;
	return false;
}

bool ppi_is_function_part(const char *wanted, const char *function)
{
	char room[PPI_SHOWN_BYTES], plain[PPI_SHOWN_BYTES];
	const char *name;

	if (!wanted[0] || !has_parts(function))
		return false;
	name = ppi_short_name(function, room, sizeof(room));
	if (ends_in(name, wanted))
		return true;
	snprintf(plain, sizeof(plain), "%s", name);
	drop_templates(plain);
	return ends_in(plain, wanted);
}

void ppi_functions_meant(const char *wanted, size_t count,
                         ppi_function_at function_at, const void *things,
                         bool *is_meant)
{
	bool is_any = false;

	for (size_t i = 0; i < count; i++) {
		const char *name = function_at(things, i);

		is_meant[i] = name && ppi_is_function(wanted, name);
		is_any |= is_meant[i];
	}
	for (size_t i = 0; !is_any && i < count; i++) {
		const char *name = function_at(things, i);

		is_meant[i] = name && ppi_is_function_part(wanted, name);
	}
}

static size_t count_parts(const char *name)
{
	bool has_scopes = strstr(name, "::") != NULL;
	size_t count = 0;

	for (; name; name = next_part(name, has_scopes))
		count++;
	return count;
}

/* What is enough to type: without arguments and templates, and no more parts
 * than the word has. NULL when out of memory. */
static char *typed_name(const char *name, size_t wanted)
{
	char room[PPI_SHOWN_BYTES], plain[PPI_SHOWN_BYTES];
	const char *part = plain;

	snprintf(plain, sizeof(plain), "%s",
	         ppi_short_name(name, room, sizeof(room)));
	drop_templates(plain);
	if (has_parts(plain))
		for (size_t parts = count_parts(plain); parts > wanted;
		     parts--)
			part = next_part(part, strstr(plain, "::") != NULL);
	return strdup(part);
}

const char *ppi_functions_like(const char *wanted, size_t count,
                               ppi_function_at function_at,
                               const void *things, char *out, size_t bytes)
{
	struct ppi_guess guess = { .wanted = wanted };
	char **names = calloc(count + 1, sizeof(*names));
	size_t parts = count_parts(wanted);

	for (size_t i = 0; names && i < count; i++) {
		const char *name = function_at(things, i);

		names[i] = name ? typed_name(name, parts) : NULL;
		if (names[i])
			ppi_guess_offer(&guess, names[i]);
	}
	ppi_guess_words(&guess, "", out, bytes);
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
	return out;
}
