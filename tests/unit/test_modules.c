/* SPDX-License-Identifier: MIT */
/* In which order code came and went, by lists of a loader that is made up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"

#include "api/unwind/modules.h"
#include "base/elf.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the loader ---- */

enum { PAGE_BYTES = 0x1000, LIBRARIES_MAX = 4 };

static const ElfW(Phdr) code_segment = { .p_type = PT_LOAD, .p_flags = PF_X,
	                                 .p_memsz = PAGE_BYTES };

struct library {
	const char *name; /* NULL: none */
	uint64_t at;
};

static struct {
	bool is_on;
	struct library libraries[LIBRARIES_MAX];
	unsigned long long adds, subs;
} loader;

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *),
                    void *context)
{
	int result = 0;

	if (!loader.is_on) {
		void *found = dlsym(RTLD_NEXT, "dl_iterate_phdr");
		int (*real)(int (*)(struct dl_phdr_info *, size_t, void *),
		            void *);

		memcpy(&real, &found, sizeof(real));
		return real(visit, context);
	}
	for (size_t i = 0; i < LIBRARIES_MAX && !result; i++) {
		struct dl_phdr_info info = {
			.dlpi_addr = loader.libraries[i].at,
			.dlpi_name = loader.libraries[i].name,
			.dlpi_phdr = &code_segment, .dlpi_phnum = 1,
			.dlpi_adds = loader.adds, .dlpi_subs = loader.subs,
		};

		if (info.dlpi_name)
			result = visit(&info, sizeof(info), context);
	}
	return result;
}

static void load(size_t slot, const char *name, uint64_t at)
{
	loader.libraries[slot] = (struct library){ name, at };
	loader.adds++;
}

static void unload(size_t slot)
{
	loader.libraries[slot].name = NULL;
	loader.subs++;
}

/* ---- what is told ---- */

static struct ppi_modules modules;

static int set_up(void **state)
{
	(void)state;
	memset(&loader, 0, sizeof(loader));
	loader.is_on = true;
	load(0, "program", 0x10000);
	ppi_modules_init(&modules);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ppi_modules_free(&modules);
	loader.is_on = false;
	return 0;
}

/* "NAME@PLACE ..." of all that is untold, in order. */
static const char *told(void)
{
	static char words[400];
	uint64_t place;
	size_t used = 0;

	words[0] = '\0';
	while (ppi_modules_next(&modules, &place)) {
		portprof_record records[8];
		uint64_t memory[PPI_WORDS_MIN];
		struct ppi_room room = { .records = records, .record_room = 8,
			                 .words = memory,
			                 .word_room = PPI_WORDS_MIN };
		portprof_batch batch = { records, 0, memory, 0,
			                 sizeof(portprof_record) };

		assert_true(ppi_modules_tell(&modules, place, &room));
		batch.count = room.record_count;
		batch.word_count = room.word_count;
		assert_true(room.record_count > 0);
		for (size_t i = 0; i < room.record_count; i++)
			used += (size_t)snprintf(
				words + used, sizeof(words) - used, "%s%s@%u",
				used ? " " : "",
				portprof_batch_module(&batch, &records[i])->path,
				(unsigned)place);
	}
	return words;
}

static void what_is_loaded_later_is_valid_since_the_last_look(void **state)
{
	(void)state;
	assert_true(ppi_modules_scan(&modules, 5));
	assert_string_equal(told(), "program@0");
	load(1, "first", 0x20000);
	assert_true(ppi_modules_scan(&modules, 9));
	assert_string_equal(told(), "first@5");
	assert_true(ppi_modules_scan(&modules, 12));
	assert_string_equal(told(), "");
}

/* Each since the one before it was unmapped, its destructors included. */
static void libraries_that_are_announced_follow_one_another(void **state)
{
	static const char *const names[] = { "first", "second", "third" };

	(void)state;
	ppi_modules_scan(&modules, 1);
	for (unsigned i = 0; i < 3; i++) {
		load(1, names[i], 0x20000);
		ppi_modules_expect(&modules, 10 * i + 10);
		unload(1);
		ppi_modules_unloaded(&modules, 10 * i + 15);
	}
	assert_true(ppi_modules_scan(&modules, 50));
	assert_string_equal(told(), "program@0 first@1 second@15 third@25");
}

/* While one thread unloads another may load: then the place of before counts. */
static void what_comes_before_the_end_of_an_unloading_is_seen(void **state)
{
	(void)state;
	load(1, "first", 0x20000);
	ppi_modules_scan(&modules, 1);
	ppi_modules_expect(&modules, 10);
	unload(1);
	load(1, "second", 0x20000);
	assert_true(ppi_modules_scan(&modules, 12));
	ppi_modules_unloaded(&modules, 15);
	assert_string_equal(told(), "program@0 first@0 second@10");
}

static void nobody_knows_which_of_two_unannounced_it_was(void **state)
{
	(void)state;
	load(1, "first", 0x20000);
	assert_true(ppi_modules_scan(&modules, 1));
	told();
	unload(1);
	load(1, "second", 0x20000);
	load(2, "aside", 0x30000);
	assert_false(ppi_modules_scan(&modules, 20));
	assert_string_equal(told(), "[unloaded]@1 aside@1 second@20");
}

static void what_had_gone_at_the_last_look_is_in_nobodys_way(void **state)
{
	(void)state;
	load(1, "first", 0x20000);
	ppi_modules_scan(&modules, 1);
	told();
	unload(1);
	assert_true(ppi_modules_scan(&modules, 7));
	load(1, "second", 0x20000);
	assert_true(ppi_modules_scan(&modules, 20));
	assert_string_equal(told(), "second@7");
}

static void a_program_that_loads_for_ever_takes_no_memory_for_it(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		load(1, i % 2 ? "first" : "second", 0x20000);
		ppi_modules_expect(&modules, i);
		unload(1);
		ppi_modules_unloaded(&modules, i);
		told();
	}
	assert_true(modules.seen.count < 10);
}

#define CASE(function) \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_loaded_later_is_valid_since_the_last_look),
		CASE(libraries_that_are_announced_follow_one_another),
		CASE(what_comes_before_the_end_of_an_unloading_is_seen),
		CASE(nobody_knows_which_of_two_unannounced_it_was),
		CASE(what_had_gone_at_the_last_look_is_in_nobodys_way),
		CASE(a_program_that_loads_for_ever_takes_no_memory_for_it),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
