/* SPDX-License-Identifier: MIT */
/*
 * portprof-backends(7) names every backend and capability, and
 * no other; each backend has exactly the capabilities that it can ever have.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

#include "backends/backend.h"

enum { LINE = 512 };

struct page {
	FILE *file;
	char part[64]; /* of .Sh or .Ss */
	char text[LINE];
};

static void open_page(struct page *page)
{
	const char *srcdir = getenv("srcdir");
	char path[512];

	memset(page, 0, sizeof(*page));
	snprintf(path, sizeof(path), "%s/doc/man/portprof-backends.7",
	         srcdir ? srcdir : ".");
	page->file = fopen(path, "r");
	if (!page->file)
		fail_msg("%s cannot be read", path);
}

static bool next_line(struct page *page)
{
	if (!fgets(page->text, sizeof(page->text), page->file)) {
		fclose(page->file);
		return false;
	}
	page->text[strcspn(page->text, "\n")] = '\0';
	if (strncmp(page->text, ".S", 2) == 0)
		snprintf(page->part, sizeof(page->part), "%.60s",
		         page->text + 4);
	return true;
}

/* What follows the macro, if the line has it and stands in that part. */
static char *after(struct page *page, const char *part, const char *macro)
{
	size_t length = strlen(macro);

	return strcmp(page->part, part) == 0 &&
	                       strncmp(page->text, macro, length) == 0 ?
	               page->text + length :
	               NULL;
}

/* The bits of the words in a list; a word that is none fails the test. */
static uint64_t caps_of(char *list)
{
	uint64_t caps = 0;

	for (char *word = strtok(list, " ,"); word; word = strtok(NULL, " ,")) {
		uint64_t cap = 0;

		for (unsigned bit = 0; bit < 64 && !cap; bit++) {
			const char *name = portprof_cap_name((uint64_t)1 << bit);

			if (name && strcmp(name, word) == 0)
				cap = (uint64_t)1 << bit;
		}
		if (!cap)
			fail_msg("'%s' is no capability", word);
		caps |= cap;
	}
	return caps;
}

static void every_capability_is_explained(void **state)
{
	struct page page;
	uint64_t told = 0;
	char *list;

	(void)state;
	open_page(&page);
	while (next_line(&page)) {
		list = after(&page, "Capabilities", ".It Li ");
		if (list)
			told |= caps_of(list);
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = portprof_cap_name((uint64_t)1 << bit);

		if (name && !(told & (uint64_t)1 << bit))
			fail_msg("the page does not explain '%s'", name);
	}
}

/* What the page gives to a backend; false when it leaves it out. */
static bool told_caps(const char *backend, uint64_t *caps)
{
	struct page page;
	bool is_told = false, is_here = false;
	char *text;

	*caps = 0;
	open_page(&page);
	while (next_line(&page)) {
		text = after(&page, "Capabilities of each backend", ".It Cm ");
		if (text) {
			is_here = strcmp(text, backend) == 0;
			is_told |= is_here;
		}
		text = after(&page, "Capabilities of each backend", ".El");
		if (text)
			is_here = false;
		text = after(&page, "Capabilities of each backend", ".Li ");
		if (text && is_here)
			*caps |= caps_of(text);
	}
	return is_told;
}

static void every_backend_has_what_is_told(void **state)
{
	const struct ppi_backend_ops *ops;
	uint64_t caps;
	size_t i;

	(void)state;
	for (i = 0; (ops = ppi_backend_at(i)); i++) {
		if (!told_caps(ops->name, &caps))
			fail_msg("portprof-backends.7 gives nothing to '%s' under "
			         "'Capabilities of each backend'", ops->name);
		if (caps != ops->caps)
			fail_msg("portprof-backends.7 gives 0x%llx to '%s', "
			         "which has 0x%llx", (unsigned long long)caps,
			         ops->name, (unsigned long long)ops->caps);
	}
	assert_true(i >= 3);
}

/* The list by which auto chooses is the page's, as far as this build goes. */
static void backends_are_told_in_their_order(void **state)
{
	const struct ppi_backend_ops *ops = ppi_backend_at(0);
	struct page page;
	size_t next = 0;
	char *name;

	(void)state;
	open_page(&page);
	while (next_line(&page)) {
		name = after(&page, "DESCRIPTION", ".It Cm ");
		if (name && ops && strcmp(name, ops->name) == 0)
			ops = ppi_backend_at(++next);
	}
	if (ops)
		fail_msg("'%s' is missing in the list that portprof-backends.7 "
		         "begins with, or not in the order of ranks", ops->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_capability_is_explained),
		cmocka_unit_test(every_backend_has_what_is_told),
		cmocka_unit_test(backends_are_told_in_their_order),
	};

	return cmocka_run_group_tests_name("man_backends", tests, NULL, NULL);
}
