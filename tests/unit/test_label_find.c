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

#include <unistd.h>

#include <portprof.h>

#include "api/core/label_find.h"
#include "api/core/label_process.h"
#include "base/label_look.h"

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

/* A file has no key before some set was told: what is unknown until then would be
 * in no set. */
static void what_is_unknown_has_keys(void **state)
{
	const portprof_label label = { "endpoint", "/a" };
	const struct ppi_plan plan = {
		.target = { .is_self = true, .pid = getpid() }
	};
	struct ppi_label_finder *finder = ppi_label_finder_new(&plan, false);
	const struct ppi_label_reader *reader = ppi_label_finder_reader(finder);
	portprof_record sample = {
		.kind = PORTPROF_RECORD_SAMPLE, .pid = (uint32_t)getpid(),
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_LABELS,
		.label_set = PORTPROF_LABEL_SET_UNKNOWN,
	}, set;
	const struct ppi_room room = {
		.records = &sample, .record_room = 1, .record_count = 1,
	};
	uint64_t words[PPI_WORDS_MIN];
	struct ppi_room told = { .records = &set, .record_room = 1,
		                 .words = words, .word_room = PPI_WORDS_MIN };
	struct ppi_label_state now;

	(void)state;
	assert_non_null(finder);
	assert_non_null(portprof_label_set_new(&label, 1));
	reader->read(reader->self, getpid(), getpid(), false, &now);
	assert_int_equal(ppi_label_finder_see(finder, &room, 0), 0);
	ppi_label_finder_tell(finder, &sample, &told);
	assert_int_equal(told.record_count, 1);
	assert_int_equal(set.kind, PORTPROF_RECORD_LABELS);
	assert_string_equal((const char *)(words + set.payload), "endpoint");
	assert_int_equal(ppi_label_finder_see(finder, &room, 0), 1);
	ppi_label_finder_free(finder);
}

/* What the library publishes of itself may be found a moment before its store, as
 * another library's; from then on a thread without a set is in none. */
static void a_context_of_ours_is_no_other_librarys(void **state)
{
	const portprof_label label = { "endpoint", "/b" };
	struct ppi_label_processes *processes = calloc(1, sizeof(*processes));
	struct ppi_label_process *process;
	bool is_found;

	(void)state;
	assert_non_null(processes);
	assert_non_null(portprof_label_set_new(&label, 1));
	process = ppi_label_process_find(processes, (uint32_t)getpid());
	assert_non_null(process);
	process->reach = ppi_otel_reach_new((uint32_t)getpid());
	is_found = process->reach != NULL;
	process->is_due = true;
	if (is_found && ppi_label_process_has_store(processes, process, true))
		assert_null(process->reach);
	else
		is_found = false;
	ppi_label_processes_free(processes, false);
	free(processes);
	if (!is_found)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_processes_that_ended_nothing_is_kept),
		cmocka_unit_test(what_is_unknown_has_keys),
		cmocka_unit_test(a_context_of_ours_is_no_other_librarys),
	};

	return cmocka_run_group_tests_name("label find", tests, NULL, NULL);
}
