/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/unit/waits_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct waits_run run;

portprof_status waits_run_open(const void *kernel, const struct ppi_plan *plan,
                               int64_t helper_tid)
{
	static const char *const events[RUN_EVENTS] = {
		[RUN_READY] = "ready-time", [RUN_BLOCKED] = "blocked-time"
	};
	portprof_status status;
	struct ppi_diag why;

	memset(&run, 0, sizeof(run));
	for (size_t i = 0; i < RUN_EVENTS; i++) {
		struct ppi_event_request request = { .rate_hz = 100 };

		snprintf(request.text, sizeof(request.text), "%s", events[i]);
		snprintf(request.name, sizeof(request.name), "%s", events[i]);
		assert_int_equal(ppi_backend_waits.resolve(
					 kernel, &request, PPI_SAMPLE,
					 &run.events[i], &why), PORTPROF_OK);
	}
	run.plan = *plan;
	run.plan.events = run.events;
	run.plan.event_count = RUN_EVENTS;
	run.bs = (struct ppi_backend_session){
		.ops = &ppi_backend_waits, .plan = &run.plan,
		.helper_tid = helper_tid,
		.notes = run.notes, .note_room = 8,
		.state = calloc(1, ppi_backend_waits.state_size),
	};
	status = ppi_backend_waits.open(&run.bs, &why);
	if (status)
		free(run.bs.state);
	return status;
}

void waits_run_close(void)
{
	ppi_backend_waits.close(&run.bs);
	free(run.bs.state);
}

void waits_run_drain(size_t records,
                     void (*take)(const portprof_batch *batch,
                                  const portprof_record *record))
{
	portprof_record some[16];
	uint64_t words[PPI_WORDS_MIN];

	for (;;) {
		struct ppi_room room = { .records = some,
			                 .record_room = records,
			                 .words = words,
			                 .word_room = PPI_WORDS_MIN };
		portprof_batch batch;

		assert_int_equal(ppi_backend_waits.drain(&run.bs, &room),
		                 PORTPROF_OK);
		batch = ppi_room_batch(&room);
		for (size_t i = 0; i < room.record_count; i++)
			take(&batch, &some[i]);
		if (!room.record_count)
			return;
	}
}

const char *waits_run_label(const portprof_batch *batch,
                            const portprof_record *record, uint32_t index)
{
	const portprof_event_field *field = NULL;

	while ((field = portprof_batch_event_field(batch, record, field)))
		if (field->index == index)
			return (const char *)(field + 1);
	return "";
}

int waits_run_put(char *text, size_t room, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(text, room, format, values);
	va_end(values);
	return length < (int)room ? length : (int)room - 1;
}

void waits_run_each_code(void *self, int64_t pid,
                         void (*take)(void *context, uint64_t start,
                                      uint64_t limit, uint64_t offset,
                                      const char *path),
                         void *context)
{
	(void)self;
	(void)pid;
	take(context, 0x1000, 0x2000, 0, "/bin/app");
}

void waits_run_no_symbol(void *self,
                         void (*take)(void *context, uint64_t address, char type,
                                      const char *name),
                         void *context)
{
	(void)self;
	(void)take;
	(void)context;
}
