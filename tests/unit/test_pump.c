/* SPDX-License-Identifier: MIT */
/* The pump: of a system, what files and observers need not be told. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/core/pump.h"
#include "backends/backend.h"

enum { RECORDS_MAX = 16 };

/* What the backend has, in this order, and how many sinks saw of each kind. */
static portprof_record drawn[RECORDS_MAX];
static size_t drawn_count;
static unsigned seen[PORTPROF_RECORD_LABELS + 1];
static uint32_t gone, parent;
static uint64_t born, dead;

static portprof_status drain(struct ppi_backend_session *bs,
                             struct ppi_room *room)
{
	(void)bs;
	for (size_t i = 0; i < drawn_count; i++)
		if (drawn[i].kind == PORTPROF_RECORD_MODULE)
			assert_true(ppi_room_add_module(room, &drawn[i], 0, NULL, 0,
			                                "/bin/true"));
		else if (drawn[i].kind == PORTPROF_RECORD_THREAD)
			assert_true(ppi_room_add_name(room, &drawn[i], "true"));
		else
			assert_true(ppi_room_add(room, &drawn[i], NULL, 0));
	drawn_count = 0;
	return PORTPROF_OK;
}

static void take(struct ppi_sink *sink, const portprof_batch *batch,
                 uint8_t *verdicts)
{
	(void)sink;
	(void)verdicts;
	for (size_t i = 0; i < batch->count; i++)
		seen[portprof_batch_record(batch, i)->kind]++;
}

static portprof_record *add(enum portprof_record_kind kind, uint32_t pid,
                            uint32_t tid)
{
	portprof_record *record = &drawn[drawn_count++];

	*record = (portprof_record){
		.kind = kind, .pid = pid, .tid = tid,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
	};
	if (kind == PORTPROF_RECORD_FORK)
		record->address = parent;
	return record;
}

/* A command that a shell runs. */
static void begin(void)
{
	memset(seen, 0, sizeof(seen));
	drawn_count = 0;
	add(PORTPROF_RECORD_FORK, gone, gone);
	add(PORTPROF_RECORD_THREAD, gone, gone);
	add(PORTPROF_RECORD_MODULE, gone, gone);
	add(PORTPROF_RECORD_MODULE, gone, gone);
}

static void end(void)
{
	add(PORTPROF_RECORD_EXIT, gone, gone);
}

/* How many mappings the sinks see. */
static unsigned modules_of(bool wants_sampled_only)
{
	static const struct ppi_sink_ops sink_ops = { .take = take };
	static const struct ppi_backend_ops ops = { .name = "none",
		                                    .drain = drain };
	struct ppi_backend_session bs = { .ops = &ops };
	struct ppi_sink sink = { .ops = &sink_ops };
	const struct ppi_plan plan = { .event_count = 1 };
	struct ppi_pump pump = { .sinks = &sink };
	struct ppi_diag why;

	assert_int_equal(ppi_pump_init(&pump, &plan, &why), PORTPROF_OK);
	pump.sink_count = 1;
	pump.wants_sampled_only = wants_sampled_only;
	bs.plan = &plan;
	assert_int_equal(ppi_pump_drain(&pump, &bs), PORTPROF_OK);
	born = pump.born;
	dead = pump.dead;
	ppi_pump_free(&pump);
	return seen[PORTPROF_RECORD_MODULE];
}

static void what_leaves_nothing_is_left_out(void **state)
{
	(void)state;
	begin();
	end();
	add(PORTPROF_RECORD_SAMPLE, parent, parent);
	assert_int_equal(modules_of(true), 0);
	assert_int_equal(seen[PORTPROF_RECORD_FORK], 0);
	assert_int_equal(seen[PORTPROF_RECORD_THREAD], 0);
	assert_int_equal(seen[PORTPROF_RECORD_EXIT], 0);
	assert_int_equal(seen[PORTPROF_RECORD_SAMPLE], 1);
	/* for who asks how many children there are */
	assert_int_equal(born, 1);
	assert_int_equal(dead, 1);
	/* the kernel's code is everybody's */
	begin();
	add(PORTPROF_RECORD_MODULE, gone, gone)->valid |= PORTPROF_FIELD_KERNEL;
	end();
	assert_int_equal(modules_of(true), 1);
}

static void others_want_all(void **state)
{
	(void)state;
	begin();
	end();
	assert_int_equal(modules_of(false), 2);
	assert_int_equal(seen[PORTPROF_RECORD_FORK], 1);
	assert_int_equal(seen[PORTPROF_RECORD_EXIT], 1);
}

static void what_may_be_needed_stays(void **state)
{
	(void)state;
	/* it runs on */
	begin();
	assert_int_equal(modules_of(true), 2);
	/* it has a sample, before its end or behind it */
	begin();
	add(PORTPROF_RECORD_SAMPLE, gone, gone);
	end();
	assert_int_equal(modules_of(true), 2);
	begin();
	end();
	add(PORTPROF_RECORD_SAMPLE, gone, gone);
	assert_int_equal(modules_of(true), 2);
	/* another thread of it, which may go on */
	begin();
	add(PORTPROF_RECORD_THREAD, gone, gone + 1);
	end();
	assert_int_equal(modules_of(true), 2);
	/* a child has what it has mapped */
	begin();
	add(PORTPROF_RECORD_FORK, gone + 1, gone + 1)->address = gone;
	end();
	assert_int_equal(modules_of(true), 2);
	/* it was told of before: another one of that number */
	memset(seen, 0, sizeof(seen));
	drawn_count = 0;
	add(PORTPROF_RECORD_MODULE, gone, gone);
	add(PORTPROF_RECORD_EXIT, gone, gone);
	add(PORTPROF_RECORD_FORK, gone, gone);
	add(PORTPROF_RECORD_MODULE, gone, gone);
	end();
	assert_int_equal(modules_of(true), 2);
	/* and behind it one */
	begin();
	end();
	add(PORTPROF_RECORD_FORK, gone, gone);
	assert_int_equal(modules_of(true), 2);
}

/* The kernel may sample the end of a process after it told of it. */
static void what_is_there_still_stays(void **state)
{
	uint32_t known = gone;

	(void)state;
	gone = (uint32_t)getpid();
	begin();
	end();
	assert_int_equal(modules_of(true), 2);
	gone = known;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_leaves_nothing_is_left_out),
		cmocka_unit_test(others_want_all),
		cmocka_unit_test(what_may_be_needed_stays),
		cmocka_unit_test(what_is_there_still_stays),
	};
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return 99;
	gone = (uint32_t)child;
	parent = (uint32_t)getpid();
	return cmocka_run_group_tests_name("pump", tests, NULL, NULL);
}
