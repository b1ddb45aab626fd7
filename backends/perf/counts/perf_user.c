/* SPDX-License-Identifier: MIT */
/*
 * Reading a counter without the kernel: the protocol that linux/perf_event.h
 * describes at struct perf_event_mmap_page, and when it may be used.
 */
#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/counts/perf_user_cpu.h"
#include "backends/perf/events/perf_sysfs.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the page's capabilities, and fields that are newer than the oldest
 * header we build with: linux/perf_event.h of 5.9. */
enum {
	CAP_USER_RDPMC = 1u << 2,
	CAP_USER_TIME = 1u << 3,
	CAP_USER_TIME_SHORT = 1u << 5,
	TIME_CYCLES_AT = 80,
	TIME_MASK_AT = 88
};

static uint64_t word_at(const volatile struct perf_event_mmap_page *page,
                        size_t offset)
{
	return *(const volatile uint64_t *)(const volatile void *)
	       ((const volatile unsigned char *)page + offset);
}

/* Since the kernel last wrote the times. */
PERF_USER_SELDOM static uint64_t time_since(const volatile struct perf_event_mmap_page *page)
{
	uint64_t cycles = perf_user_clock();
	uint64_t mult = page->time_mult, whole, rest;
	unsigned shift = page->time_shift;

	if (page->capabilities & CAP_USER_TIME_SHORT) {
		uint64_t then = word_at(page, TIME_CYCLES_AT);

		cycles = then + ((cycles - then) & word_at(page, TIME_MASK_AT));
	}
	whole = cycles >> shift;
	rest = cycles & ((UINT64_C(1) << shift) - 1);
	return page->time_offset + whole * mult + ((rest * mult) >> shift);
}

/* The counter has `width` bits and counts on from the page's offset; the
 * kernel starts it below zero, so that it overflows in time. */
static uint64_t extend(uint64_t pmc, unsigned width)
{
	unsigned unused = (64 - width) & 63;

	return (uint64_t)((int64_t)(pmc << unused) >> unused);
}

/*
 * A page that changed meanwhile is not tried again: read(2) is right then too,
 * and a reader never waits for a writer.
 */
PERF_USER_INLINE enum perf_user_verdict
read_page(const volatile struct perf_event_mmap_page *page,
          bool takes_shared, struct perf_user_value *out)
{
	uint32_t sequence = page->lock, index;
	uint64_t enabled, running, capabilities, offset, since = 0;
	unsigned width;

	perf_user_barrier();
	enabled = page->time_enabled;
	running = page->time_running;
	capabilities = page->capabilities;
	index = page->index;
	/* 0: not on the PMU now. */
	if (index == 0 || !(capabilities & CAP_USER_RDPMC))
		return PERF_USER_NOT;
	if (enabled != running) {
		if (!takes_shared || !(capabilities & CAP_USER_TIME))
			return PERF_USER_NOT;
		since = time_since(page);
	}
	offset = (uint64_t)page->offset;
	width = *(const uint16_t *)(size_t)&page->pmc_width;
	out->raw = offset + extend(perf_user_pmc(index - 1), width);
	perf_user_barrier();
	if (page->lock != sequence || sequence & 1)
		return PERF_USER_NOT;
	out->enabled_ns = enabled + since;
	out->running_ns = running + since;
	return enabled == running ? PERF_USER_OK : PERF_USER_SHARED;
}

enum perf_user_verdict
ppi_perf_user_read(const volatile struct perf_event_mmap_page *page,
                   struct perf_user_value *out)
{
	return read_page(page, true, out);
}

/* ---- taking and giving back ---- */

/* Only a thread's own, not inherited counters are in its CPU's registers. */
static bool can_be_of_use(const struct ppi_backend_session *bs)
{
	const struct ppi_target *target = &bs->plan->target;

	return PERF_USER_READS && target->kind == PPI_TARGET_TID &&
	       target->is_self && !bs->plan->follow_children &&
	       perf_state_of(bs)->core_count == 0;
}

static bool is_of_pmu(const struct ppi_event *event)
{
	return perf_own(event)->type != PERF_TYPE_SOFTWARE &&
	       !perf_is_of_place(event);
}

/* Whether this PMU measures events of that type: its own, or those that the
 * kernel gives to whichever PMU is the core's. */
static bool takes_type(const struct perf_kernel *kernel, const char *pmu,
                       uint32_t type)
{
	char text[32];

	if (type < PERF_TYPE_MAX)
		return true;
	return ppi_perf_sysfs_text(kernel, pmu, "type", "", text,
	                           sizeof(text)) &&
	       strtoul(text, NULL, 10) == type;
}

/* arm64 counts for user space what asked for it when it was opened, by a bit
 * that the PMU's format names (drivers/perf/arm_pmuv3.c); x86 asks nothing. */
uint64_t ppi_perf_user_request(const struct ppi_backend_session *bs,
                               const struct ppi_event *event)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t config[PERF_FORMAT_CONFIGS] = { 0 };
	struct perf_field field;
	char text[64], *pmus;

	if (!can_be_of_use(bs) || !is_of_pmu(event))
		return 0;
	pmus = ppi_perf_sysfs_names(kernel, PERF_SYSFS_PMUS);
	for (const char *at = pmus; at && *at; at += strlen(at) + 1)
		if (ppi_perf_sysfs_text(kernel, at, "format", "rdpmc", text,
		                        sizeof(text)) &&
		    takes_type(kernel, at, perf_own(event)->type) &&
		    ppi_perf_format_parse(text, &field) && field.config == 1 &&
		    ppi_perf_format_put(&field, 1, config))
			break;
	free(pmus);
	return config[1];
}

void ppi_perf_user_map(struct ppi_backend_session *bs,
                       struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	size_t bytes = kernel->get_page_bytes(kernel->self);

	source->user_page = NULL;
	if (can_be_of_use(bs) && is_of_pmu(&bs->plan->events[source->event]) &&
	    kernel->map(kernel->self, source->fd, bytes,
	                &source->user_page) < 0)
		source->user_page = NULL;
}

void ppi_perf_user_unmap(struct ppi_backend_session *bs,
                         const struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	if (source->user_page)
		kernel->unmap(kernel->self, source->user_page,
		              kernel->get_page_bytes(kernel->self));
}

/* ---- reading one event ---- */

/* The page of an event that the calling thread may read, or NULL. Only the
 * thread that is counted ever finds its own name there; other threads may look
 * meanwhile. */
PERF_USER_INLINE const volatile struct perf_event_mmap_page *
own_page(const struct perf_state *state, size_t event)
{
	const volatile struct perf_event_mmap_page *page =
		__atomic_load_n(&state->counting->user_pages[event],
		                __ATOMIC_RELAXED);

	return page && __atomic_load_n(&state->counting->user_thread,
	                               __ATOMIC_RELAXED) == perf_user_thread()
	       ? page : NULL;
}

static struct perf_source *source_of_event(const struct perf_state *state,
                                           size_t event)
{
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event == event)
			return &state->sources[i];
	return NULL;
}

/* Whether both ways tell the same, once: what a virtual machine shows is not
 * always so. Only the thread itself can ask. */
static void compare_ways(struct ppi_backend_session *bs, size_t event,
                         struct perf_source *source)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_state *state = perf_state_of(bs);
	const volatile struct perf_event_mmap_page *page = source->user_page;
	struct perf_user_value value;
	portprof_count before, after;

	if (page->index == 0 ||
	    kernel->get_tid(kernel->self) != source->tid ||
	    ppi_perf_read_counts(bs, event, &before, 1) != PORTPROF_OK ||
	    ppi_perf_user_read(page, &value) == PERF_USER_NOT ||
	    ppi_perf_read_counts(bs, event, &after, 1) != PORTPROF_OK)
		return;
	if (value.raw < before.raw || value.raw > after.raw) {
		source->rdpmc_unreliable = true;
		return;
	}
	__atomic_store_n(&state->counting->user_thread, perf_user_thread(),
	                 __ATOMIC_RELAXED);
	__atomic_store_n(&state->counting->user_pages[event], page,
	                 __ATOMIC_RELAXED);
}

PERF_USER_SELDOM static portprof_status
count_slowly(struct ppi_backend_session *bs, size_t event,
             portprof_count *out)
{
	struct perf_state *state = perf_state_of(bs);
	const volatile struct perf_event_mmap_page *page =
		own_page(state, event);
	struct perf_source *source = NULL;
	struct perf_user_value value;
	uint64_t words[PERF_READ_ROOM];
	portprof_count count;
	portprof_status status;

	if (page && ppi_perf_user_read(page, &value) == PERF_USER_SHARED) {
		count = (portprof_count){ .raw = value.raw,
			                  .enabled_ns = value.enabled_ns,
			                  .running_ns = value.running_ns };
		ppi_perf_judge(bs, event, &count);
		*out = count;
		return PORTPROF_OK;
	}
	if (!__atomic_load_n(&state->counting->user_pages[event],
	                     __ATOMIC_RELAXED))
		source = source_of_event(state, event);
	if (source && source->user_page && !source->rdpmc_unreliable)
		compare_ways(bs, event, source);
	if (ppi_perf_read_plainly(bs, words)) {
		*out = (portprof_count){ .raw = perf_plain_value(words, event),
			                 .scaled = perf_plain_value(words,
			                                            event),
			                 .enabled_ns = words[1],
			                 .running_ns = words[2],
			                 .status = PORTPROF_COUNT_OK };
		return PORTPROF_OK;
	}
	status = ppi_perf_read_counts(bs, event, &count, 1);
	if (status)
		return ppi_perf_count_failed(bs, status);
	*out = count;
	return PORTPROF_OK;
}

/* Hot: some fifty instructions where the CPU answers. */
static portprof_status count_one(struct ppi_backend_session *bs, size_t event,
                                 portprof_count *out)
{
	const volatile struct perf_event_mmap_page *page =
		own_page(perf_state_of(bs), event);
	struct perf_user_value value;

	if (!page || read_page(page, false, &value) != PERF_USER_OK)
		return count_slowly(bs, event, out);
	out->raw = value.raw;
	out->scaled = value.raw;
	out->enabled_ns = value.enabled_ns;
	out->running_ns = value.running_ns;
	out->status = PORTPROF_COUNT_OK;
	out->taken_ns = 0;
	return PORTPROF_OK;
}

static const char *count_how(struct ppi_backend_session *bs, size_t event)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_source *source = source_of_event(state, event);

	if (perf_is_refused(bs, event))
		return "not at all: the event was refused";
	if (!PERF_USER_READS)
		return "by read(2): this machine's counters cannot be read in "
		       "user space";
	if (state->core_count > 0)
		return "by read(2): the CPUs are of several types, and what "
		       "each counts is added up";
	if (!can_be_of_use(bs))
		return "by read(2): user-space reads are of a thread's own "
		       "counters; open the group on one thread";
	if (!is_of_pmu(&bs->plan->events[event]))
		return "by read(2): the kernel counts this event, not a PMU";
	if (!source || !source->user_page)
		return "by read(2): the event's page could not be mapped";
	if (source->rdpmc_unreliable)
		return "by read(2): the counter's register and the kernel's "
		       "count differ";
	if (__atomic_load_n(&state->counting->user_pages[event],
	                    __ATOMIC_RELAXED))
		return "in user space, by the thread that it counts, while it "
		       "is on the PMU";
	return "by read(2) so far: the kernel has not offered the counter's "
	       "register (" PERF_USER_SWITCH ")";
}

const struct ppi_count_ways ppi_perf_count_ways = {
	.all = ppi_perf_count_all,
	.one = count_one,
	.how = count_how,
};

const struct ppi_count_parts ppi_perf_count_parts = {
	.part = ppi_perf_count_part,
};
