/* SPDX-License-Identifier: MIT */
/*
 * monstartup(), moncontrol(), _mcleanup(): ticks of the program's text, and
 * its calls, into a gmon.out that gprof reads.
 */
#include "config.h"

#include "compat/drop-in/monitor.h"

#include "base/environment.h"
#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- who called whom how often ---- */

/*
 * A table of arcs that threads fill without a lock.
 *
 * A slot is taken by the first that puts a `from` into it, and its `self` is
 * there a moment later; who looks in between waits for that moment, which is
 * one store long.
 */

/* As many as a call in every 16 bytes of text would make, within bounds. */
enum { TEXT_OF_AN_ARC = 16, LEAST_SLOTS = 1 << 12, MOST_SLOTS = 1 << 20 };

struct slot {
	atomic_uintptr_t from, self;
	atomic_size_t count; /* a file holds 32 bits of it */
};

static struct {
	struct slot *slots;
	size_t mask;
	atomic_bool is_on;
	atomic_size_t lost;
} table;

#if defined(__x86_64__) && defined(__GNUC__)
#define ONLY_GENERAL __attribute__((target("general-regs-only")))
#else
#define ONLY_GENERAL
#endif

bool ppi_arcs_begin(uint64_t text_bytes)
{
	size_t slots = LEAST_SLOTS;

	ppi_arcs_set(false);
	while (slots < text_bytes / TEXT_OF_AN_ARC && slots < MOST_SLOTS)
		slots *= 2;
	/* never freed while a thread may be counting: made once, cleared
	 * from then on */
	if (!table.slots) {
		table.slots = calloc(slots, sizeof(*table.slots));
		table.mask = slots - 1;
	} else {
		memset(table.slots, 0,
		       (table.mask + 1) * sizeof(*table.slots));
	}
	atomic_store(&table.lost, 0);
	return table.slots != NULL;
}

void ppi_arcs_set(bool on)
{
	atomic_store(&table.is_on, on && table.slots);
}

ONLY_GENERAL static inline size_t place_of(uintptr_t from, uintptr_t self)
{
	uint64_t mixed = (uint64_t)from * UINT64_C(0x9e3779b97f4a7c15) ^
	                 (uint64_t)self * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (size_t)(mixed >> 24);
}

/* Whether the slot is, or becomes, this arc's. */
ONLY_GENERAL static inline bool is_slot_of(struct slot *slot, uintptr_t from,
                                           uintptr_t self)
{
	uintptr_t there = atomic_load_explicit(&slot->from,
	                                       memory_order_acquire);

	if (there == 0 &&
	    atomic_compare_exchange_strong(&slot->from, &there, from)) {
		atomic_store_explicit(&slot->self, self, memory_order_release);
		return true;
	}
	if (there != from)
		return false;
	while ((there = atomic_load_explicit(&slot->self,
	                                     memory_order_acquire)) == 0)
		;
	return there == self;
}

ONLY_GENERAL void ppi_arcs_count(uintptr_t from, uintptr_t self)
{
	size_t place;

	if (!atomic_load_explicit(&table.is_on, memory_order_acquire))
		return;
	place = place_of(from, self);
	for (size_t i = 0; i <= table.mask && i < 64; i++) {
		struct slot *slot = &table.slots[(place + i) & table.mask];

		if (!is_slot_of(slot, from, self))
			continue;
		atomic_fetch_add_explicit(&slot->count, 1,
		                          memory_order_relaxed);
		return;
	}
	atomic_fetch_add_explicit(&table.lost, 1, memory_order_relaxed);
}

size_t ppi_arcs_take(struct ppi_gmon_arc **arcs, uint64_t *lost)
{
	size_t count = 0, used = 0;

	*arcs = NULL;
	*lost = atomic_load(&table.lost);
	for (size_t i = 0; table.slots && i <= table.mask; i++)
		count += atomic_load(&table.slots[i].count) > 0;
	if (count)
		*arcs = calloc(count, sizeof(**arcs));
	for (size_t i = 0; *arcs && i <= table.mask && used < count; i++) {
		struct slot *slot = &table.slots[i];

		if (atomic_load(&slot->count))
			(*arcs)[used++] = (struct ppi_gmon_arc){
				atomic_load(&slot->from),
				atomic_load(&slot->self),
				atomic_load(&slot->count),
			};
	}
	return used;
}

/* Bytes of text to a bin, as the compilers' own start-up functions have. */
enum { BIN_BYTES = 4, PATH_BYTES = 4096 };

/* More than any program has, and less than memory. */
static const uint64_t most_text = (uint64_t)1 << 34;

static struct monitor {
	struct ppi_client client; /* first: a client is this */
	const struct ppi_rules *rules;
	struct ppi_span span;
	uint32_t *bins;
	size_t bin_count;
	pid_t owner;
} self;

/* ---- ticks ---- */

static bool writes_bsd(void)
{
	return self.rules->family == PPI_FAMILY_BSD;
}

static void take(struct ppi_client *client, uint64_t pc, uint64_t weight_ns)
{
	uint64_t ticks;

	if (pc < self.span.start || pc >= self.span.end)
		return;
	ticks = ppi_client_ticks(client, weight_ns);
	/* 4.4BSD's file cannot hold more than its bins do */
	ppi_store_add(&self.bins[(pc - self.span.start) / BIN_BYTES],
	              sizeof(*self.bins), ticks,
	              writes_bsd() ? UINT16_MAX : UINT32_MAX);
}

static bool prepare(uint64_t low, uint64_t high)
{
	free(self.bins);
	self.bins = NULL;
	if (high <= low || high - low > most_text)
		return false;
	self.bin_count = (size_t)ppi_gmon_lay(&low, &high, BIN_BYTES);
	self.bins = calloc(self.bin_count, sizeof(*self.bins));
	self.span = (struct ppi_span){ low, high, BIN_BYTES };
	return self.bins && ppi_arcs_begin(high - low);
}

void ppi_monstartup(const struct ppi_rules *rules, uint64_t low, uint64_t high)
{
	if (!ppi_engine_begin(false))
		return;
	self.client.is_on = prepare(low, high);
	if (!self.client.is_on)
		ppi_complain("monstartup: no memory for the text 0x%llx-0x%llx",
		             (unsigned long long)low,
		             (unsigned long long)high);
	self.rules = rules;
	self.owner = getpid();
	self.client.take = take;
	self.client.spans = &self.span;
	self.client.span_count = 1;
	self.client.goes_on_in_child = rules->child_goes_on;
	ppi_client_set_rate(&self.client, ppi_tick_hz(rules));
	ppi_arcs_set(self.client.is_on);
	ppi_engine_end(&self.client);
}

void ppi_moncontrol(bool on)
{
	if (!ppi_engine_begin(false))
		return;
	self.client.is_on = on && self.bins;
	ppi_arcs_set(self.client.is_on);
	ppi_engine_end(&self.client);
}

/* ---- the file ---- */

/* The program itself comes first; what it was moved by when it was loaded. */
static int take_bias(struct dl_phdr_info *info, size_t bytes, void *bias)
{
	(void)bytes;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

/* A child that continues to be profiled has a file of its own. */
static void name_file(char *path, size_t bytes)
{
	const char *prefix = ppi_environment("GMON_OUT_PREFIX");

	if (prefix)
		snprintf(path, bytes, "%s.%ld", prefix, (long)getpid());
	else if (getpid() != self.owner)
		snprintf(path, bytes, "gmon.out.%ld", (long)getpid());
	else
		snprintf(path, bytes, "gmon.out");
}

static void write_file(const char *path, const struct ppi_gmon *gmon)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct ppi_gmon_why why = { 0 };
	enum ppi_gmon_status status;

	if (fd < 0) {
		ppi_complain("%s cannot be written: %s", path,
		             strerror(errno));
		return;
	}
	status = ppi_gmon_write(gmon, fd, &why);
	if (close(fd) != 0 && status == PPI_GMON_OK) {
		status = PPI_GMON_SYSTEM;
		snprintf(why.words, sizeof(why.words), "%s", strerror(errno));
	}
	if (status != PPI_GMON_OK)
		ppi_complain("%s is not whole: %s", path, why.words);
}

static void write_profile(void)
{
	struct ppi_gmon_histogram histogram = {
		.low = self.span.start, .high = self.span.end,
		.bin_count = self.bin_count,
		.bin_bytes = sizeof(*self.bins), .bins = self.bins,
	};
	struct ppi_gmon gmon = {
		.format = writes_bsd() ? PPI_GMON_BSD : PPI_GMON_TAGGED,
		.rate = self.client.hz,
		.histograms = &histogram, .histogram_count = 1,
	};
	char path[PATH_BYTES];
	uint64_t lost;

	dl_iterate_phdr(take_bias, &gmon.bias);
	gmon.arc_count = ppi_arcs_take(&gmon.arcs, &lost);
	if (lost)
		ppi_complain("%llu calls were not counted, as there are more "
		             "pairs of callers and callees than fit",
		             (unsigned long long)lost);
	name_file(path, sizeof(path));
	write_file(path, &gmon);
	free(gmon.arcs);
}

void ppi_mcleanup(void)
{
	bool is_ours;

	ppi_moncontrol(false);
	/* where a child is not profiled, the file is its parent's */
	is_ours = self.bins && (getpid() == self.owner ||
	                        self.rules->child_goes_on);
	if (is_ours)
		write_profile();
	free(self.bins);
	self.bins = NULL;
}
