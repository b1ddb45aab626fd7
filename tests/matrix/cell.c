/* SPDX-License-Identifier: MIT */
/*
 * One cell of the matrix: a program that samples itself in one way, with threads that
 * begin and end, a child that ends, and an exec that fails.
 *
 * usage: cell BACKEND WAY CHAINS END
 *
 * WAY:    array or callback, of the helper thread; file, written by it; fd, a file and a
 *         callback that get samples when the program flushes
 * CHAINS: chains or none
 * END:    close; of ways with a file also exit, or exec of another program
 *
 * Ends with 0 when each sum of the account is right, with 77 and a reason where the
 * backend cannot be used. What was measured is printed.
 */
#include <portprof.h>
#include <portprof/tool.h>

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { PCS = 100000, THREADS = 4, PART_MS = 30, SKIPPED = 77 };

static struct cell {
	const char *backend, *way, *chains, *end, *program;
	char path[64];
	uint64_t pcs[PCS];
	uint64_t samples, weight, chained, whole; /* of the callback */
	portprof_session *session;
	int fd;
} cell = { .fd = -1 };

static bool is(const char *word, const char *wanted)
{
	return strcmp(word, wanted) == 0;
}

static bool has_file(void)
{
	return is(cell.way, "file") || is(cell.way, "fd");
}

static void fail(const char *words, ...)
{
	va_list values;

	printf("%s %s %s %s: ", cell.backend, cell.way, cell.chains, cell.end);
	va_start(values, words);
	vprintf(words, values);
	va_end(values);
	puts("");
	fflush(stdout);
	_exit(1);
}

#define MUST(what)                                                         \
	do {                                                               \
		if (!(what))                                               \
			fail("line %d: %s (%s)", __LINE__, #what,          \
			     portprof_last_diag()->words);                 \
	} while (0)

/* ---- work ---- */

static void burn(unsigned ms)
{
	struct timespec now;
	uint64_t until = 0, at;

	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		at = (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
		until = until ? until : at + ms * MS;
	} while (at < until);
}

static void *thread(void *unused)
{
	burn(PART_MS);
	return unused;
}

static void burn_in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, thread, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* The session is the parent's: the child's exit and work are none of it. */
static void have_child(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		burn(PART_MS);
		exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void exec_in_vain(void)
{
	portprof_exec_begin();
	execl("/no/such/program", "program", (char *)NULL);
	portprof_exec_failed();
}

static void come_for_samples(void)
{
	struct pollfd polled = { .fd = cell.fd, .events = POLLIN };

	if (cell.fd >= 0 && poll(&polled, 1, 300) > 0)
		MUST(portprof_session_flush(cell.session) == PORTPROF_OK);
}

enum { WORK_MS = (3 + THREADS) * PART_MS };

static void work(void)
{
	burn(PART_MS);
	come_for_samples();
	burn_in_threads();
	have_child();
	burn(PART_MS);
	exec_in_vain();
	burn(PART_MS);
	come_for_samples();
}

/* ---- the session ---- */

static void take(const portprof_batch *batch, void *unused)
{
	(void)unused;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		size_t depth = 0;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		cell.samples += record->samples;
		cell.weight += record->weight;
		if (portprof_batch_chain(batch, record, &depth) && depth > 0)
			cell.chained += record->weight;
		if (record->chain_end == PORTPROF_CHAIN_WHOLE)
			cell.whole += record->weight;
	}
}

static void open_session(void)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	MUST(!portprof_config_set_backend(config, cell.backend));
	MUST(!portprof_config_set_frequency(config, 997));
	if (is(cell.chains, "chains"))
		MUST(!portprof_config_set_number(config, "callchain", 64));
	if (is(cell.way, "array"))
		MUST(!portprof_config_add_array(config, cell.pcs, PCS));
	if (is(cell.way, "callback") || is(cell.way, "fd"))
		MUST(!portprof_config_add_callback(config, take, NULL));
	if (has_file())
		MUST(!portprof_config_write_to(config, cell.path));
	status = portprof_session_open(config, &cell.session);
	portprof_config_free(config);
	if (status != PORTPROF_OK) {
		printf("%s\n", portprof_last_diag()->words);
		fflush(stdout);
		_exit(SKIPPED);
	}
	if (is(cell.way, "fd"))
		MUST(!portprof_session_fd(cell.session, &cell.fd));
}

/* ---- the account ---- */

static void check_sums(const portprof_stats *stats)
{
	printf("%s %s %s %s: total %.1f kept %.1f unattributed %.1f ms, lost "
	       "%llu\n", cell.backend, cell.way, cell.chains, cell.end,
	       (double)stats->total_weight / 1e6,
	       (double)stats->kept_weight / 1e6,
	       (double)stats->unattributed_weight / 1e6,
	       (unsigned long long)stats->lost_samples);
	MUST(stats->delivered_samples == stats->kept_samples +
	     stats->outside_samples + stats->lost_samples);
	MUST(stats->total_weight == stats->kept_weight +
	     stats->outside_weight + stats->unattributed_weight);
	MUST(stats->lost_samples == 0);
	MUST(stats->total_weight >= WORK_MS * MS / 10 * 9);
	/* of a thread that ends soon nothing may have been sampled (LOSS-5) */
	MUST(stats->kept_weight >= 2 * PART_MS * MS);
}

static void check_sink(const portprof_stats *stats)
{
	portprof_sink_stats sink = { .size = sizeof(sink) };

	MUST(!portprof_session_sink_stats(cell.session, 0, &sink));
	MUST(sink.kept_weight == stats->kept_weight);
	MUST(sink.kept_samples == stats->kept_samples);
	if (is(cell.way, "file"))
		return;
	if (is(cell.way, "array")) {
		MUST(cell.pcs[sink.kept_samples - 1] != 0);
		MUST(cell.pcs[sink.kept_samples] == 0);
		return;
	}
	MUST(cell.samples == stats->kept_samples);
	MUST(cell.weight == stats->kept_weight);
	if (is(cell.chains, "none"))
		return;
	MUST(cell.chained == cell.weight);
	if (!portprof_unwind_missing())
		MUST(cell.whole >= cell.weight / 10 * 9);
}

static int measure(void)
{
	portprof_stats stats = { .size = sizeof(stats) };

	open_session();
	MUST(!portprof_session_start(cell.session));
	work();
	if (is(cell.end, "exit"))
		exit(0);
	if (is(cell.end, "exec")) {
		portprof_exec_begin();
		execl(cell.program, cell.program, (char *)NULL);
		_exit(1);
	}
	MUST(!portprof_session_stop(cell.session));
	MUST(!portprof_session_stats(cell.session, 0, &stats));
	check_sums(&stats);
	check_sink(&stats);
	for (size_t i = 0; portprof_session_note(cell.session, i); i++)
		printf("note: %s\n", portprof_session_note(cell.session, i));
	MUST(!portprof_session_close(cell.session));
	exit(0);
}

/* What the process left. */
static void check_file(void)
{
	portprof_profile *profile = NULL;
	const portprof_stats *stats;
	uint64_t weight = 0, samples = 0;

	MUST(!portprof_profile_read(cell.path, 0, &profile));
	stats = &portprof_profile_event_get(profile, 0)->stats;
	check_sums(stats);
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++) {
		weight += portprof_profile_sample_get(profile, i)->weights[0];
		samples += portprof_profile_sample_get(profile, i)->samples[0];
	}
	MUST(weight == stats->kept_weight);
	MUST(samples == stats->kept_samples);
	MUST(portprof_profile_origin_get(profile)->is_complete ==
	     !is(cell.end, "exec"));
	portprof_profile_free(profile);
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child;

	if (argc == 1)
		return 0; /* after exec */
	if (argc != 5)
		return 2;
	cell.program = argv[0];
	cell.backend = argv[1];
	cell.way = argv[2];
	cell.chains = argv[3];
	cell.end = argv[4];
	snprintf(cell.path, sizeof(cell.path), "cell-%ld.pb.gz",
	         (long)getpid());
	child = fork();
	if (child == 0)
		return measure();
	MUST(waitpid(child, &status, 0) == child);
	if (status == 0 && has_file())
		check_file();
	unlink(cell.path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
