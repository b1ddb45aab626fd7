/* SPDX-License-Identifier: MIT */
/*
 * Profiling a part of a program: start and stop around it, and look at where
 * its time went in a histogram of its text and in a list of program counters.
 *
 * usage: 02_range [BACKEND]     such as: 02_range itimer
 *
 * The event is plain CPU time, which every backend measures; "cpu-clock:u"
 * leaves out the kernel's, where the backend can tell it apart.
 */
#include <portprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* Bins of 32 bytes over 4096 bytes of text: 131072 / 32 is the scale. */
enum { BIN_BYTES = 32, BINS = 4096 / BIN_BYTES, ROOM = 4096 };

static uint32_t bins[BINS];
static uint64_t pcs[ROOM];

static void die(const char *doing)
{
	fprintf(stderr, "02_range: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* What is to be measured: the remainders of many divisions. */
APART static uint64_t work(uint64_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= rounds; i++)
		sum += rounds % i;
	return sum;
}

static portprof_config *configure(uint64_t text, const char *backend,
                                  int has_array)
{
	portprof_range range = { 0 };
	portprof_config *config = portprof_config_new();

	range.offset = text;
	range.scale = 131072 / BIN_BYTES;
	range.bin_bits = 32;
	range.bins = bins;
	range.bin_count = BINS;
	if (!config || portprof_config_set_backend(config, backend) ||
	    portprof_config_add_event(config, "cpu-clock") ||
	    portprof_config_set_frequency(config, 1000) ||
	    portprof_config_add_histogram(config, 0, &range, 1,
	                                  PORTPROF_BINS_TICKS) ||
	    (has_array && portprof_config_add_array(config, pcs, ROOM)))
		die("configuring");
	return config;
}

/* profil(2) counts in bins and knows no program counters: there, the histogram
 * is all that there is. */
static portprof_session *open_session(uint64_t text, const char *backend,
                                      int *has_array)
{
	portprof_session *session = NULL;

	for (*has_array = 1; *has_array >= 0; --*has_array) {
		portprof_config *config = configure(text, backend, *has_array);
		portprof_status status =
			portprof_session_open(config, &session);

		portprof_config_free(config);
		if (status == PORTPROF_OK)
			return session;
		if (status != PORTPROF_E_UNSUPPORTED)
			break;
	}
	die("opening");
	return NULL;
}

static void print_result(portprof_session *session, uint64_t text,
                         int has_array)
{
	portprof_stats stats = { 0 };
	portprof_sink_stats in_bins = { 0 }, in_array = { 0 };

	stats.size = sizeof(stats);
	in_bins.size = in_array.size = sizeof(in_bins);
	if (portprof_session_stats(session, 0, &stats) ||
	    portprof_session_sink_stats(session, 0, &in_bins) ||
	    (has_array && portprof_session_sink_stats(session, 1, &in_array)))
		die("asking");
	printf("%s: %" PRIu64 " samples, %" PRIu64 " lost, %.1f ms of %.1f ms "
	       "in samples\n",
	       portprof_session_backend(session), stats.delivered_samples,
	       stats.lost_samples, (double)stats.kept_weight / 1e6,
	       (double)stats.total_weight / 1e6);
	printf("histogram: %" PRIu64 " in the range, %" PRIu64 " outside\n",
	       in_bins.kept_samples, in_bins.outside_samples);
	for (size_t i = 0; i < BINS; i++)
		if (bins[i])
			printf("  0x%" PRIx64 "..%" PRIx64 ": %" PRIu32
			       " ticks\n",
			       text + i * BIN_BYTES,
			       text + (i + 1) * BIN_BYTES - 1, bins[i]);
	if (!has_array)
		return;
	printf("array: %" PRIu64 " program counters, the first 0x%" PRIx64
	       "\n",
	       in_array.kept_samples, pcs[0]);
}

int main(int argc, char **argv)
{
	/* 4096 bytes that hold all of work(). */
	uint64_t text = (uint64_t)(uintptr_t)work & ~UINT64_C(1023);
	int has_array;
	portprof_session *session =
		open_session(text, argc > 1 ? argv[1] : "auto", &has_array);
	uint64_t sum = work(1000); /* not measured */

	if (portprof_session_start(session))
		die("starting");
	sum += work(20000000); /* measured */
	if (portprof_session_stop(session))
		die("stopping");
	sum += work(1000000); /* not measured */
	printf("the sum is %" PRIu64 "\n", sum);
	print_result(session, text, has_array);
	if (portprof_session_close(session))
		die("closing");
	return 0;
}
