/* SPDX-License-Identifier: MIT */
/*
 * What threads do when they do not run: the events ready-time and blocked-time, of
 * any target, from what /proc tells everybody of his own processes. Nothing is
 * stopped and no signal is sent. It measures alone, or beside the backend of the
 * session's other events, which it then passes everything on to.
 *
 *   waits_watch.c   looks at threads, and when
 *   waits_settle.c  what a look found is laid on waits
 *   waits_scan.c    whose threads
 *   waits_numbers.c what is counted of them
 *   waits_place.c   where a thread is, and for what it waits there
 *   waits_files.c   the descriptors and paths for which it does
 *   waits_frames.c  where it is in the kernel
 *   waits_sockets.c the other ends of sockets
 *   waits_labels.c  in which sets of labels
 *   waits_wakers.c  who woke it
 *   waits_tell.c    records
 *   waits_charges.c where the system shows sums, and no places
 *
 * The system calls are in waits_kernel_real.c and waits_charges_kernel_real.c.
 */
#include "backends/waits/waits.h"

#include "backends/common/cpu_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITS_CAPS                                                       \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_EVENTS |                     \
	 PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE |              \
	 PORTPROF_CAP_CHAIN | PORTPROF_CAP_PID_TID | PORTPROF_CAP_TIME | \
	 PORTPROF_CAP_PROCESS | PORTPROF_CAP_THREAD |                    \
	 PORTPROF_CAP_ATTACH | PORTPROF_CAP_CHILDREN |                   \
	 PORTPROF_CAP_FAIR | PORTPROF_CAP_LOST_EXACT |                   \
	 PORTPROF_CAP_MODULES | PORTPROF_CAP_SYSTEM |                    \
	 PORTPROF_CAP_EXEC_SAFE | PORTPROF_CAP_COMMAND |                 \
	 PORTPROF_CAP_UNWIND | PORTPROF_CAP_WAITS)

#define CHARGES_CAPS                                                   \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_EVENTS |                   \
	 PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE |            \
	 PORTPROF_CAP_PID_TID | PORTPROF_CAP_TIME |                    \
	 PORTPROF_CAP_PROCESS | PORTPROF_CAP_THREAD |                  \
	 PORTPROF_CAP_ATTACH | PORTPROF_CAP_COMMAND |                  \
	 PORTPROF_CAP_FAIR | PORTPROF_CAP_LOST_EXACT | PORTPROF_CAP_WAITS)

/* The other backend, and which events are its. */
struct beside {
	struct ppi_backend_session session;
	struct ppi_plan plan;
	struct ppi_event *events;
	size_t *numbers; /* of its events in the session */
	bool has_dummy;  /* which is none of the session's */
	size_t waking;   /* its event that says who wakes whom; SIZE_MAX none, */
	uint32_t woken, flags; /* and which of its fields say whom, and when */
};

#define WAKING "sched:sched_waking"

struct waits_state {
	struct waits_watch watch;
	struct beside *beside; /* NULL: alone */
};

static struct waits_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* ---- the backend beside ---- */

/* What the core keeps in a session, and what it reads there. */
static struct ppi_backend_session *
enter_beside(const struct ppi_backend_session *bs)
{
	struct ppi_backend_session *inner = &state_of(bs)->beside->session;

	inner->note_count = bs->note_count;
	inner->helper_tid = bs->helper_tid;
	inner->resets = bs->resets;
	inner->ticks_end = bs->ticks_end;
	inner->wants_longer_stacks = bs->wants_longer_stacks;
	return inner;
}

static void leave_beside(struct ppi_backend_session *bs)
{
	const struct ppi_backend_session *inner =
		&state_of(bs)->beside->session;

	bs->note_count = inner->note_count;
	bs->ticks = inner->ticks;
}

/* Until one of them has something to do. */
static void plan_drain(struct ppi_backend_session *bs)
{
	const struct waits_state *state = state_of(bs);
	unsigned ms = state->watch.charges
	                      ? ppi_waits_charges_nap_ms(&state->watch)
	                      : ppi_waits_watch_nap_ms(&state->watch);

	if (state->beside && state->beside->session.drain_every_ms < ms)
		ms = state->beside->session.drain_every_ms;
	bs->drain_every_ms = ms;
}

static void free_beside(struct beside *beside)
{
	if (!beside)
		return;
	free(beside->events);
	free(beside->numbers);
	free(beside);
}

/* Of waits alone the other backend tells who begins and ends, and what code they
 * have: by an event that never happens. */
static bool add_dummy(const struct ppi_backend_session *bs,
                      struct ppi_event *event)
{
	struct ppi_event_request request = {
		.text = "dummy", .name = "dummy", .name_column = 1,
		.user = true, .kernel = true, .period = 1,
		.pid = bs->plan->target.pid ? bs->plan->target.pid : -1,
	};

	return bs->ops->resolve(bs->kernel, &request, PPI_SAMPLE, event,
	                        NULL) == PORTPROF_OK;
}

/* The place of a word among others with blanks between; UINT32_MAX: it is none. */
static uint32_t place_of(const char *word, const char *words)
{
	size_t length = strlen(word);

	for (uint32_t place = 0; *words; place++) {
		size_t bytes = strcspn(words, " ");

		if (bytes == length && strncmp(words, word, length) == 0)
			return place;
		words += bytes + (words[bytes] == ' ');
	}
	return UINT32_MAX;
}

/* Whether one of its events is that one, and says whom it wakes. */
static void find_waking(struct beside *beside)
{
	beside->waking = SIZE_MAX;
	for (size_t i = 0; i < beside->plan.event_count; i++) {
		const struct ppi_event *event = &beside->events[i];

		if (strcmp(event->request.name, WAKING) != 0)
			continue;
		beside->woken = place_of("pid", event->fields);
		beside->flags = place_of("common_flags", event->fields);
		if (beside->woken != UINT32_MAX)
			beside->waking = i;
	}
}

/* Its events in its own numbers, and all else of the plan. */
static struct beside *make_beside(const struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;
	struct beside *beside = calloc(1, sizeof(*beside));
	size_t count = 0;

	if (!beside)
		return NULL;
	beside->events = calloc(plan->event_count, sizeof(*beside->events));
	beside->numbers = calloc(plan->event_count, sizeof(*beside->numbers));
	if (!beside->events || !beside->numbers) {
		free_beside(beside);
		return NULL;
	}
	for (size_t i = 0; i < plan->event_count; i++) {
		if (ppi_waits_has(&plan->events[i].request))
			continue;
		beside->events[count] = plan->events[i];
		beside->numbers[count++] = i;
	}
	if (!count && add_dummy(bs, &beside->events[0])) {
		beside->has_dummy = true;
		beside->numbers[count++] = SIZE_MAX;
	}
	beside->plan = *plan;
	beside->plan.events = beside->events;
	beside->plan.event_count = count;
	if (beside->has_dummy) {
		/* it has no samples */
		beside->plan.chain_depth = 0;
		beside->plan.stack_bytes = 0;
		beside->plan.uses_tables = false;
	}
	beside->session = *bs;
	beside->session.plan = &beside->plan;
	find_waking(beside);
	return beside;
}

/* ---- what the other one tells ---- */

/* Of an interrupt or of what follows it: bits of common_flags
 * (include/linux/trace_events.h, TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ). */
enum { FLAGS_INTERRUPT = 0x08 | 0x10 };

static void see_waking(struct waits_state *state, const portprof_batch *batch,
                       const portprof_record *record)
{
	const portprof_event_field *field = NULL;
	int64_t woken = 0, flags = 0;

	while ((field = portprof_batch_event_field(batch, record, field))) {
		if (field->index == state->beside->woken)
			woken = field->number;
		else if (field->index == state->beside->flags)
			flags = field->number;
	}
	ppi_waits_take_waking(&state->watch, record, woken,
	                      flags & FLAGS_INTERRUPT);
}

/* Where a thread ran is where it waits for a CPU, when it was taken from it. Of
 * several events the first one's samples say so, if it is no waking. */
static void note_sample(const struct waits_state *state,
                        portprof_record *record)
{
	if (record->event == 0 && state->beside->waking != 0 &&
	    record->valid & PORTPROF_FIELD_TID &&
	    record->valid & PORTPROF_FIELD_PID)
		record->valid |= PPI_FIELD_KEEP | PPI_FIELD_RAN;
	record->event = (uint32_t)state->beside->numbers[record->event];
}

/* Its records under the session's numbers. */
static portprof_status drain_beside(struct ppi_backend_session *bs,
                                    struct ppi_room *room)
{
	struct waits_state *state = state_of(bs);
	struct ppi_backend_session *inner = enter_beside(bs);
	size_t first = room->record_count;
	portprof_status status = inner->ops->drain(inner, room);
	portprof_batch batch;

	leave_beside(bs);
	batch = ppi_room_batch(room);
	for (size_t i = first; i < room->record_count; i++) {
		portprof_record *record = &room->records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE) {
			if (!state->watch.charges)
				ppi_waits_watch_see(&state->watch, record);
			continue;
		}
		if (record->event >= state->beside->plan.event_count)
			continue;
		if (record->event == state->beside->waking)
			see_waking(state, &batch, record);
		note_sample(state, record);
	}
	return status;
}

/* During a look, in front of what it tells. */
static void read_wakings(struct waits_watch *watch)
{
	drain_beside(watch->bs, watch->wakers.room);
}

bool ppi_waits_has(const struct ppi_event_request *request)
{
	return ppi_event_name_is(request->name, "ready-time") ||
	       ppi_event_name_is(request->name, "blocked-time");
}

/* ---- the nine functions ---- */

static void waits_probe(const void *kernel, struct ppi_probe *out)
{
	(void)kernel;
	out->is_usable = true;
	out->caps = ppi_waits_charges() ? CHARGES_CAPS : WAITS_CAPS;
}

static portprof_status waits_resolve(const void *kernel,
                                     const struct ppi_event_request *request,
                                     enum ppi_mode mode,
                                     struct ppi_event *event,
                                     struct ppi_diag *why)
{
	bool is_ready = ppi_event_name_is(request->name, "ready-time");

	if (!kernel)
		return ppi_because(
			why, PORTPROF_REASON_BACKEND_LIMIT,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "resolve event", "'%s': this system shows "
		                 "nobody where threads wait; leave the event "
		                 "out", request->text));
	if (mode == PPI_COUNT)
		return ppi_because(
			why, PORTPROF_REASON_BACKEND_LIMIT,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "resolve event", "'%s' is for sessions, not for "
		                 "groups of counters: use portprof record",
		                 request->text));
	if (request->part_count)
		return ppi_event_refuse_part(request, &request->parts[0],
		                             PORTPROF_E_UNSUPPORTED, why,
		                             "waits have no such thing");
	if (request->has_modes || request->is_rate_own)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
		                "'%s': all time that threads wait is measured: "
		                "leave u, k, h and periods out",
		                request->text);
	memset(event, 0, sizeof(*event));
	event->request = *request;
	event->request.rate_hz = event->request.period = 0;
	event->unit = PORTPROF_UNIT_NANOSECONDS;
	event->counts_user = event->counts_kernel = true;
	snprintf(event->canonical, sizeof(event->canonical), "%s",
	         is_ready ? "ready-time" : "blocked-time");
	snprintf(event->description, sizeof(event->description), "%s",
	         is_ready ? "time for which threads were ready and had no CPU"
	                  : "time for which threads were blocked");
	snprintf(event->fields, sizeof(event->fields),
	         "state wait on holder estimate holds waker");
	return PORTPROF_OK;
}

static void start_watch(struct waits_watch *watch)
{
	if (watch->charges)
		ppi_waits_charges_start(watch);
	else
		ppi_waits_watch_start(watch);
}

static void close_watch(struct waits_watch *watch)
{
	if (watch->charges)
		ppi_waits_charges_close(watch);
	else
		ppi_waits_watch_close(watch);
}

static portprof_status waits_open(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct waits_state *state = state_of(bs);
	struct waits_watch *watch = &state->watch;
	const struct waits_charges_kernel *charges;
	struct ppi_backend_session *inner;
	portprof_status status;

	watch->kernel = ppi_waits_kernel();
	watch->bs = bs;
	watch->tells_code = !state->beside && bs->plan->want_modules &&
	                    !bs->plan->target.is_self;
	watch->has_samplers = bs->pool != NULL;
	watch->hears_births = state->beside && !bs->pool &&
	                      bs->plan->want_modules &&
	                      !bs->plan->target.is_self;
	watch->has_samples = state->beside && !state->beside->has_dummy &&
	                     state->beside->waking != 0;
	if (state->beside && state->beside->waking != SIZE_MAX)
		watch->wakers.read = read_wakings;
	watch->ready_event = watch->blocked_event = SIZE_MAX;
	for (size_t i = bs->plan->event_count; i > 0; i--) {
		const struct ppi_event *event = &bs->plan->events[i - 1];

		if (!ppi_waits_has(&event->request))
			continue;
		if (strcmp(event->canonical, "ready-time") == 0)
			watch->ready_event = i - 1;
		else
			watch->blocked_event = i - 1;
	}
	/* the code of this process is read by the session */
	if (!state->beside && bs->plan->target.is_self)
		bs->caps &= ~(uint64_t)PORTPROF_CAP_MODULES;
	charges = ppi_waits_charges();
	status = charges ? ppi_waits_charges_open(watch, charges, why)
	                 : ppi_waits_watch_open(watch, why);
	if (status || !state->beside) {
		bs->drain_every_ms = 10;
		if (!status && !charges)
			ppi_waits_frames_open(watch);
		if (status && state->beside) {
			free(state->beside->session.state);
			free_beside(state->beside);
		}
		return status;
	}
	inner = enter_beside(bs);
	status = inner->ops->open(inner, why);
	leave_beside(bs);
	bs->caps = inner->caps | PORTPROF_CAP_WAITS;
	bs->drain_every_ms = 10;
	if (status == PORTPROF_OK && !charges)
		ppi_waits_frames_open(watch);
	if (status == PORTPROF_OK)
		return PORTPROF_OK;
	free(inner->state);
	free_beside(state->beside);
	close_watch(watch);
	return status;
}

static portprof_status waits_start(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct waits_state *state = state_of(bs);
	portprof_status status = PORTPROF_OK;

	if (state->beside) {
		struct ppi_backend_session *inner = enter_beside(bs);

		status = inner->ops->start(inner, why);
		leave_beside(bs);
	}
	if (status == PORTPROF_OK)
		start_watch(&state->watch);
	return status;
}

static portprof_status waits_stop(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct waits_state *state = state_of(bs);
	portprof_status status = PORTPROF_OK;

	if (state->watch.charges)
		ppi_waits_charges_stop(&state->watch);
	else
		ppi_waits_watch_stop(&state->watch);
	if (state->beside) {
		struct ppi_backend_session *inner = enter_beside(bs);

		status = inner->ops->stop(inner, why);
		leave_beside(bs);
	}
	return status;
}

/* The other's first: code and names come with them. */
static portprof_status waits_drain(struct ppi_backend_session *bs,
                                   struct ppi_room *room)
{
	struct waits_state *state = state_of(bs);
	size_t before = room->record_count;
	portprof_status status = PORTPROF_OK;

	if (state->beside)
		status = drain_beside(bs, room);
	if (status || room->record_count > before)
		return status;
	if (state->watch.charges)
		ppi_waits_charges_drain(&state->watch, room);
	else
		ppi_waits_watch_drain(&state->watch, room);
	plan_drain(bs);
	return PORTPROF_OK;
}

static portprof_status waits_stats(struct ppi_backend_session *bs,
                                   size_t event, struct ppi_account *out)
{
	struct waits_state *state = state_of(bs);
	struct ppi_account other = { 0 };

	if (state->beside && !state->beside->has_dummy) {
		struct ppi_backend_session *inner = enter_beside(bs);
		size_t number = 0;

		while (number < state->beside->plan.event_count &&
		       state->beside->numbers[number] != event)
			number++;
		if (number < state->beside->plan.event_count)
			return inner->ops->stats(inner, number, out);
		inner->ops->stats(inner, 0, &other);
	}
	out->total_weight = event == state->watch.ready_event
	                            ? state->watch.told.ready
	                            : state->watch.told.blocked;
	out->cpu_time_ns = state->beside && !state->beside->has_dummy
	                           ? other.cpu_time_ns : bs->life.running_ns;
	out->lost_certainty = PORTPROF_EXACT;
	out->total_certainty = PORTPROF_EXACT;
	return PORTPROF_OK;
}

static void waits_close(struct ppi_backend_session *bs)
{
	struct waits_state *state = state_of(bs);

	if (state->beside) {
		struct ppi_backend_session *inner = enter_beside(bs);

		inner->ops->close(inner);
		free(inner->state);
		free_beside(state->beside);
	}
	close_watch(&state->watch);
}

/* ---- what of the other can be asked and changed ---- */

static void measure_costs(const struct ppi_backend_session *bs,
                          uint64_t *sample_ns, uint64_t *switch_ns)
{
	const struct ppi_backend_session *inner = enter_beside(bs);

	inner->ops->costs->measure(inner, sample_ns, switch_ns);
}

static const struct ppi_costs_ops costs_beside = {
	.measure = measure_costs,
};

static portprof_status steer_beside(struct ppi_backend_session *bs,
                                    size_t event, enum ppi_steer what,
                                    uint64_t number, struct ppi_diag *why)
{
	struct beside *beside = state_of(bs)->beside;
	struct ppi_backend_session *inner = enter_beside(bs);
	portprof_status status;

	for (size_t i = 0; i < beside->plan.event_count; i++)
		if (beside->numbers[i] == event) {
			status = inner->ops->steering->steer(inner, i, what,
			                                     number, why);
			leave_beside(bs);
			return status;
		}
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "steer",
	                "waits have neither period nor rate, and cannot be "
	                "switched off alone");
}

static const struct ppi_steering steering_beside = {
	.steer = steer_beside,
};

/* ---- the table ---- */

static const void *test_kernel, *test_charges;

const struct waits_kernel *ppi_waits_kernel(void)
{
	if (test_charges)
		return NULL;
	if (test_kernel)
		return test_kernel == ppi_no_kernel ? NULL : test_kernel;
	return ppi_waits_kernel_real;
}

void ppi_waits_set_kernel(const void *kernel)
{
	test_kernel = kernel;
}

const struct waits_charges_kernel *ppi_waits_charges(void)
{
	if (test_charges)
		return test_charges;
	return test_kernel ? NULL : ppi_waits_charges_kernel_real;
}

void ppi_waits_set_charges(const void *kernel)
{
	test_charges = kernel;
}

const void *ppi_waits_kernel_here(void)
{
	const void *charges = ppi_waits_charges();

	return charges ? charges : ppi_waits_kernel();
}

const struct ppi_backend_ops ppi_backend_waits = {
	.name = "waits",
	.summary = "what threads wait for, by /proc",
	.caps = WAITS_CAPS,
	.state_size = sizeof(struct waits_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = NULL,
	.group_modifiers = NULL,
	.copies_stacks = true,
	.reads_labels = true,
	.counts_alone = false,
	.real_kernel = &ppi_waits_kernel_real, /* leads to it, or to none */
	.probe = waits_probe,
	.resolve = waits_resolve,
	.open = waits_open,
	.start = waits_start,
	.stop = waits_stop,
	.drain = waits_drain,
	.count = ppi_no_count,
	.stats = waits_stats,
	.close = waits_close,
};

portprof_status ppi_waits_beside(struct ppi_backend_session *bs,
                                 struct ppi_backend_ops *ops,
                                 struct ppi_diag *why)
{
	struct waits_state *state = calloc(1, sizeof(*state));
	struct ppi_backend_ops own = ppi_backend_waits;

	if (state)
		state->beside = make_beside(bs);
	if (!state || !state->beside || !state->beside->plan.event_count) {
		if (state)
			free_beside(state->beside);
		free(state);
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open waits",
		                "out of memory");
	}
	if (!state->beside->has_dummy) {
		own.name = bs->ops->name;
		own.reads_labels = bs->ops->reads_labels;
	}
	own.costs = bs->ops->costs ? &costs_beside : NULL;
	own.steering = bs->ops->steering ? &steering_beside : NULL;
	*ops = own;
	/* the table of the other may be where ours comes to be */
	bs->ops = ops;
	bs->state = state;
	return PORTPROF_OK;
}
