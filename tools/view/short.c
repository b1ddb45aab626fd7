/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust without what makes them long; tools/page/words.js does the
 * same, and tests/data/short-names.txt holds them together. */
#include "config.h"

#include "tools/view/tree.h"

#include <string.h>

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
 * namespace)", "{lambda(int)#1}", "<impl Trait for T>" at the beginning. */
static bool is_scope(const char *name, const char *at)
{
	return strncmp(at, "(anonymous namespace)", 21) == 0 || *at == '{' ||
	       *at == '[' || (*at == '<' && at == name);
}

const char *ppi_short_name(const char *name, char *out, size_t bytes)
{
	struct text text = { .out = out, .room = bytes };
	const char *at = name;
	bool is_shorter = false;

	/* "module+0x10", "_start", names of C: nothing to leave out */
	if (bytes == 0 || !strpbrk(name, "(<") || name[0] == '(')
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
			/* what stood before was the type that is returned; but
			 * "operator new" and "f(int) const" are no such thing */
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
		if (is_scope(name, at)) {
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
