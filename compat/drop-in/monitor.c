/* SPDX-License-Identifier: MIT */
/*
 * monstartup(), moncontrol(), _mcleanup(): ticks of the program's text, and
 * its calls, into a gmon.out that gprof reads.
 */
#include "config.h"

#include "compat/drop-in/monitor.h"

#include "compat/drop-in/arcs.h"
#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"
#include "compat/drop-in/spans.h"
#include "base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A child that goes on being profiled has a file of its own. */
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
