/* SPDX-License-Identifier: MIT */
/* Processes whose samples have labels: what is kept of each, and how long. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "api/core/label_find.h"

/* That are allocated now; 0 where the C library does not count, and of an allocator
 * of its own, as sanitizers have. */
static size_t bytes_taken(void)
{
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#endif
#endif
	return 0;
}

static void see(struct ppi_label_finder *finder, portprof_record record)
{
	const struct ppi_room room = {
		.records = &record, .record_room = 1, .record_count = 1,
	};

	assert_int_equal(ppi_label_finder_see(finder, &room, 0), 1);
}

static void see_process(struct ppi_label_finder *finder, uint32_t pid)
{
	see(finder, (portprof_record){
		.kind = PORTPROF_RECORD_SAMPLE, .pid = pid, .tid = pid,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
	});
}

static void end_process(struct ppi_label_finder *finder, uint32_t pid)
{
	see(finder, (portprof_record){
		.kind = PORTPROF_RECORD_EXIT, .pid = pid, .tid = pid,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
	});
}

/* An agent on a system where processes begin and end for days. */
static void of_processes_that_ended_nothing_is_kept(void **state)
{
	enum { FIRST = 1000000, COUNT = 20000 };
	const struct ppi_plan plan = {
		.target = { .kind = PPI_TARGET_SYSTEM },
	};
	struct ppi_label_finder *finder = ppi_label_finder_new(&plan, false);
	size_t before, lived, left;

	(void)state;
	assert_non_null(finder);
	see_process(finder, FIRST);
	before = bytes_taken();
	for (uint32_t pid = FIRST + 1; pid <= FIRST + COUNT; pid++)
		see_process(finder, pid);
	lived = bytes_taken() - before;
	for (uint32_t pid = FIRST + 1; pid <= FIRST + COUNT; pid++)
		end_process(finder, pid);
	left = bytes_taken() - before;
	/* and the number may come again */
	see_process(finder, FIRST + 1);
	end_process(finder, FIRST + 1);
	ppi_label_finder_free(finder);
	if (lived < COUNT)
		skip();
	assert_true(left < lived / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_processes_that_ended_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("label find", tests, NULL, NULL);
}
