/* SPDX-License-Identifier: MIT */
/*
 * Every event with every unit mask, every two of them and every modifier, of
 * every machine that this libpfm4 knows: what we resolve is what libpfm4 says of
 * the same string, and our canonical form resolves to the same once more. What
 * libpfm4 cannot encode without the machine (PMUs outside the cores, whose number
 * only that kernel knows) at least passes our parser unchanged.
 */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LIBPFM4
#include <perfmon/pfmlib_perf_event.h>

#include "api/core/event.h"
#include "backends/perf/events/perf_request.h"

/* Some of these a string, in turn, beside the string alone. The second column
 * is libpfm4's way to say it where it is not the same. */
static const char *const endings[][2] = {
	{ ":u", NULL }, { ":k", NULL }, { ":u:k", NULL }, { ":u=1:k=0", NULL },
	{ ":K:u=Y", NULL }, { ":period=100003", NULL }, { ":u:freq=997", NULL },
	{ "@4711", ":period=4711" }, { ":k@0x10", ":k:period=16" },
	{ ":precise=1", NULL }, { ":u:precise=2:period=7", NULL },
	{ ":hw_smpl", NULL }, { ":pinned", NULL }, { ":excl", NULL },
	{ ":pinned=1:u:excl=1", NULL }, { ":mg", NULL }, { ":mh", NULL },
	{ ":mg:mh:u", NULL }, { ":cpu=1", NULL }, { ":h", NULL },
	{ ":u:h", NULL }, { ".u", NULL }, { ":c=1", NULL },
	{ ":c=0x3:i", NULL }, { ":e", NULL }, { ":i=1:c=2:u", NULL }, { ":t=1", NULL },
	{ ":period=9223372036854775807", NULL }, { ":freq=1000000:k", NULL },
};

enum { ENDINGS = sizeof(endings) / sizeof(endings[0]), ENDINGS_A_STRING = 4 };

/* libpfm4's answer and ours, in one form. */
struct meaning {
	uint64_t type, config[3], rate;
	uint32_t user, kernel, hypervisor, guest, host;
	uint32_t precise, is_freq, pinned, exclusive;
	int64_t cpu;
};

static bool ask_libpfm(const char *string, struct meaning *out)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	if (pfm_get_os_event_encoding(string, PFM_PLM0 | PFM_PLM3,
	                              PFM_OS_PERF_EVENT_EXT, &arg) !=
	    PFM_SUCCESS)
		return false;
	memset(out, 0, sizeof(*out));
	out->type = attr.type;
	out->config[0] = attr.config;
	out->config[1] = attr.config1;
	out->config[2] = attr.config2;
	out->rate = attr.sample_period;
	out->is_freq = attr.freq;
	out->user = !attr.exclude_user;
	out->kernel = !attr.exclude_kernel;
	out->hypervisor = !attr.exclude_hv;
	out->guest = !attr.exclude_guest;
	out->host = !attr.exclude_host;
	out->precise = attr.precise_ip;
	out->pinned = attr.pinned;
	out->exclusive = attr.exclusive;
	out->cpu = arg.cpu;
	return true;
}

static portprof_status ask_us(const char *string, struct ppi_event *event,
                              struct meaning *out, struct ppi_diag *why)
{
	struct ppi_event_request request;
	struct perf_request asked;
	const struct perf_own *own = perf_own(event);
	portprof_status status = ppi_event_parse(string, &request, why);

	if (status == PORTPROF_OK)
		status = ppi_perf_request_read(&request, &asked, why);
	if (status == PORTPROF_OK)
		status = ppi_perf_resolve(&asked, PPI_SAMPLE, event, why);
	if (status)
		return status;
	memset(out, 0, sizeof(*out));
	out->type = own->type;
	memcpy(out->config, own->config, sizeof(out->config));
	out->rate = event->rate_hz ? event->rate_hz : event->period;
	out->is_freq = event->rate_hz != 0;
	out->user = event->counts_user;
	out->kernel = event->counts_kernel;
	out->hypervisor = event->counts_hypervisor;
	out->guest = !own->asked.exclude_guest;
	out->host = !own->asked.exclude_host;
	out->precise = own->precise;
	out->pinned = own->asked.pinned;
	out->exclusive = own->asked.exclusive;
	out->cpu = own->asked.cpu;
	return PORTPROF_OK;
}

struct tally {
	unsigned long events; /* with a unit mask or without, that encode */
	unsigned long tried, taken, refused;
};

/* Whatever it may mean, its name is what is in front of our own fields. */
static void check_parsed(const char *string)
{
	struct ppi_event_request request;
	struct ppi_diag why;

	if (ppi_event_parse(string, &request, &why))
		fail_msg("%s: not taken apart: %s", string, why.words);
	if (strncmp(string, request.name, strcspn(request.name, ":")) != 0 ||
	    strcmp(string, request.text) != 0)
		fail_msg("%s: taken apart as %s", string, request.name);
}

/* The hypervisor bit of what the kernel itself counts means nothing; libpfm4
 * sets it as the CPU's PMU would have it. */
static void forget_hypervisor(struct meaning *wanted)
{
	if (wanted->type == PERF_TYPE_SOFTWARE)
		wanted->hypervisor = 0;
}

/* What only a PMU could have, libpfm4 takes for the kernel's events too. */
static bool is_of_a_pmu(const char *string)
{
	return strstr(string, ":h") || strstr(string, ":mg") ||
	       strstr(string, ":precise");
}

static void check_string(const char *ours, const char *theirs,
                         struct tally *tally)
{
	struct meaning wanted, got, again;
	struct ppi_event event, twice;
	struct ppi_diag why;

	tally->tried++;
	check_parsed(ours);
	if (!ask_libpfm(theirs, &wanted)) {
		/* saying what is wrong takes long: not each time */
		if (tally->refused++ % 499 == 0 &&
		    ask_us(ours, &event, &got, &why) == PORTPROF_OK)
			fail_msg("%s: libpfm4 refuses it, we do not", ours);
		return;
	}
	tally->taken++;
	forget_hypervisor(&wanted);
	if (wanted.type == PERF_TYPE_SOFTWARE && is_of_a_pmu(theirs)) {
		assert_int_equal(ask_us(ours, &event, &got, &why),
		                 PORTPROF_E_UNSUPPORTED);
		return;
	}
	if (ask_us(ours, &event, &got, &why))
		fail_msg("%s: libpfm4 takes it, we say: %s", ours, why.words);
	if (memcmp(&wanted, &got, sizeof(got)) != 0)
		fail_msg("%s: not what libpfm4 makes of it", ours);
	/* a backend adds what becomes of it here: that must not be cut off */
	if (strlen(event.description) > sizeof(event.description) - 64)
		fail_msg("%s: no room after: %s", ours, event.description);
	if (ask_us(event.canonical, &twice, &again, &why))
		fail_msg("%s: its canonical form %s: %s", ours,
		         event.canonical, why.words);
	if (memcmp(&got, &again, sizeof(got)) != 0)
		fail_msg("%s: its canonical form %s means something else",
		         ours, event.canonical);
	if (strcmp(event.canonical, twice.canonical) != 0)
		fail_msg("%s: two canonical forms, %s and %s", ours,
		         event.canonical, twice.canonical);
}

/* Endings are tried where libpfm4 can encode the base: tables of PMUs outside
 * the cores need a kernel that has them. */
static void check_with_endings(const char *base, struct tally *tally)
{
	unsigned long taken = tally->taken;
	char ours[320], theirs[320];

	check_string(base, base, tally);
	if (tally->taken == taken)
		return;
	for (unsigned i = 0; i < ENDINGS_A_STRING; i++) {
		unsigned long turn = tally->events * ENDINGS_A_STRING + i;
		const char *const *ending = endings[turn % ENDINGS];

		snprintf(ours, sizeof(ours), "%s%s", base, ending[0]);
		snprintf(theirs, sizeof(theirs), "%s%s", base,
		         ending[1] ? ending[1] : ending[0]);
		check_string(ours, theirs, tally);
	}
	tally->events++;
}

static bool part_of(int event, int index, pfm_event_attr_info_t *part)
{
	memset(part, 0, sizeof(*part));
	part->size = sizeof(*part);
	return pfm_get_event_attr_info(event, index, PFM_OS_PERF_EVENT_EXT,
	                               part) == PFM_SUCCESS;
}

/* A unit mask with the one that follows it, and with each modifier. */
static void check_pairs(const char *base, int event, int mask, int count,
                        struct tally *tally)
{
	pfm_event_attr_info_t part;
	char text[320];

	for (int i = mask + 1; i < count && part_of(event, i, &part); i++) {
		bool is_mask = part.type == PFM_ATTR_UMASK;

		if (is_mask && i > mask + 1)
			continue;
		if (part.type == PFM_ATTR_MOD_INTEGER)
			snprintf(text, sizeof(text), "%s:%s=1", base,
			         part.name);
		else
			snprintf(text, sizeof(text), "%s:%s", base, part.name);
		check_string(text, text, tally);
	}
}

static void check_event(const char *pmu, int index, struct tally *tally)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	unsigned long before = tally->taken;
	char text[256];

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &info) !=
	    PFM_SUCCESS)
		return;
	snprintf(text, sizeof(text), "%s::%s", pmu, info.name);
	check_with_endings(text, tally);
	if (tally->taken > before)
		check_pairs(text, index, -1, info.nattrs, tally);
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t part;

		if (!part_of(index, i, &part) || part.type != PFM_ATTR_UMASK)
			break; /* unit masks come first */
		snprintf(text, sizeof(text), "%s::%s:%s", pmu, info.name,
		         part.name);
		before = tally->taken;
		check_with_endings(text, tally);
		if (tally->taken > before)
			check_pairs(text, index, i, info.nattrs, tally);
	}
}

static void each_pmu(struct tally *tally)
{
	for (int p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info((pfm_pmu_t)p, &pmu) != PFM_SUCCESS)
			continue;
		for (int i = pmu.first_event; i != -1;
		     i = pfm_get_event_next(i))
			check_event(pmu.name, i, tally);
	}
}

static void every_event_means_what_libpfm4_says(void **state)
{
	struct tally tally = { 0 };

	(void)state;
	each_pmu(&tally);
	printf("# %lu events and unit masks, %lu strings, %lu taken\n",
	       tally.events, tally.tried, tally.taken);
	/* 4.13 has 15 thousand on x86, 113 on s390x */
	assert_true(tally.events > 100);
	assert_true(tally.taken > 3 * tally.events);
}

/* Where the kernel lacks a PMU the tables still hold it. */
static int set_up(void **state)
{
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return pfm_initialize() == PFM_SUCCESS ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_means_what_libpfm4_says),
	};

	return cmocka_run_group_tests_name("event_tables", tests, set_up,
	                                   NULL);
}

#else

int main(void)
{
	puts("skip: built without libpfm4");
	return 77;
}
#endif
