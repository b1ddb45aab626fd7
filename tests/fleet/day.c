/* SPDX-License-Identifier: MIT */
/*
 * A day of an agent, in two minutes at most: a session of so many windows, threads
 * that come and go, and code that is mapped under new names. Prints as TAP whether
 * the windows add up to the session's own account, each begins where the one
 * before it ended, and memory and descriptors stay as they were after a tenth. Half
 * way the clock is set, and what comes then has the time of then.
 *
 * usage: day BACKEND WINDOWS FOLDER
 */
#include <portprof.h>
#include <portprof/tool.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY_KIB = 4096 };

/* The time is what the system says, and this; the library asks here, too. */
enum { SET_S = 8 * 3600 };
static atomic_long set_s;

#if defined(__linux__) && defined(SYS_clock_gettime) && LONG_MAX > INT32_MAX
#define SETS_CLOCK 1
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int status = (int)syscall(SYS_clock_gettime, clock, now);

	if (status == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += atomic_load(&set_s);
	return status;
}
#else
#define SETS_CLOCK 0
#endif

static volatile unsigned long spun;
static unsigned cases, failed;

static void check(bool holds, const char *words)
{
	printf("%sok %u - %s\n", holds ? "" : "not ", ++cases, words);
	failed += !holds;
}

static void must(portprof_status status, const char *what)
{
	if (status == PORTPROF_OK)
		return;
	printf("# %s: %s\n", what, portprof_last_diag()->words);
	exit(status == PORTPROF_E_DENIED || status == PORTPROF_E_UNSUPPORTED
	     ? 77 : 1);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *spin(void *nothing)
{
	for (uint64_t until = cpu_ns() + 2000000; cpu_ns() < until;)
		for (int i = 0; i < 1000; i++)
			spun += (unsigned long)i;
	return nothing;
}

static void spin_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin, NULL) == 0)
		pthread_join(thread, NULL);
}

/* Code of a file that nobody has seen before. */
static void map_news(const char *folder, unsigned number)
{
	char path[4096];
	void *code;
	int fd;

	snprintf(path, sizeof(path), "%s/code-%u", folder, number);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code != MAP_FAILED)
		munmap(code, 4096);
	close(fd);
	unlink(path);
}

static uint64_t memory_kib(void)
{
	char line[256];
	uint64_t kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static unsigned descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

struct sums {
	uint64_t samples, weight, total, kept, delivered, lost, ends_ns;
	int64_t open; /* unattributed less excess */
	unsigned windows, gaps, steps;
};

/* Until a tick later the time is the one that was set. */
static bool is_step(uint64_t ended_ns, uint64_t began_ns)
{
	const uint64_t set_ns = SET_S * UINT64_C(1000000000);

	return began_ns - ended_ns > set_ns - set_ns / 100 &&
	       began_ns - ended_ns < set_ns + set_ns / 100;
}

static void add(const char *path, struct sums *sums)
{
	const portprof_profile_origin *origin;
	const portprof_stats *stats;
	portprof_profile *profile;

	must(portprof_profile_read(path, 0, &profile), "read a window");
	origin = portprof_profile_origin_get(profile);
	stats = &portprof_profile_event_get(profile, 0)->stats;
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(profile, i);

		sums->samples += sample->samples[0];
		sums->weight += sample->weights[0];
	}
	sums->total += stats->total_weight;
	sums->kept += stats->kept_samples;
	sums->delivered += stats->delivered_samples;
	sums->lost += stats->lost_samples;
	sums->open += (int64_t)(stats->unattributed_weight -
	                        stats->excess_weight);
	if (sums->ends_ns && is_step(sums->ends_ns, origin->start_ns))
		sums->steps++;
	else
		sums->gaps += sums->ends_ns && sums->ends_ns != origin->start_ns;
	sums->gaps += !origin->is_complete;
	sums->ends_ns = origin->start_ns + origin->duration_ns;
	sums->windows++;
	portprof_profile_free(profile);
	unlink(path);
}

static void compare(const struct sums *sums, const portprof_stats *stats,
                    unsigned windows)
{
	printf("# %" PRIu64 " samples in %u windows, %" PRIu64 " lost\n",
	       sums->samples, sums->windows, sums->lost);
	check(sums->windows == windows, "each window is there");
	check(sums->gaps == 0, "each is whole and begins where one ended");
	check(sums->steps == SETS_CLOCK, "or when the clock was set");
	check(sums->samples > 0 && sums->samples == stats->kept_samples,
	      "samples are the session's");
	check(sums->kept == stats->kept_samples &&
	      sums->delivered == stats->delivered_samples &&
	      sums->lost == stats->lost_samples,
	      "so are those of the accounts");
	check(sums->weight == stats->kept_weight, "so are their weights");
	check(sums->total == stats->total_weight, "so is the total");
	check(sums->open == (int64_t)(stats->unattributed_weight -
	                              stats->excess_weight),
	      "so is what no sample has");
}

int main(int argc, char **argv)
{
	portprof_config *config = portprof_config_new();
	portprof_stats stats = { .size = sizeof(stats) };
	uint64_t memory = 0, least = 0;
	portprof_session *session;
	struct sums sums = { 0 };
	char path[2][4096];
	unsigned windows, open_before = 0, open_after;

	if (argc != 4 || !config)
		return 2;
	windows = (unsigned)strtoul(argv[2], NULL, 10);
	snprintf(path[0], sizeof(path[0]), "%s/window-0", argv[3]);
	must(portprof_config_set(config, "backend", argv[1]), "backend");
	must(portprof_config_set(config, "frequency", "2000"), "frequency");
	must(portprof_config_write_to(config, path[0]), "file");
	must(portprof_session_open(config, &session), "open");
	must(portprof_session_start(session), "start");
	for (unsigned i = 1; i <= windows; i++) {
		const char *now = path[(i - 1) % 2];

		spin(NULL);
		if (i % 4 == 0)
			spin_in_thread();
		map_news(argv[3], i);
		if (i == windows / 2)
			atomic_store(&set_s, SET_S);
		snprintf(path[i % 2], sizeof(path[0]), "%s/window-%u", argv[3],
		         i);
		if (i < windows) {
			must(portprof_session_turn(session, path[i % 2]),
			     "turn");
		} else {
			must(portprof_session_stop(session), "stop");
			must(portprof_session_stats(session, 0, &stats),
			     "stats");
			must(portprof_session_close(session), "close");
		}
		add(now, &sums);
		if (i == windows / 10 + 1) {
			least = memory_kib();
			open_before = descriptors();
		}
		if (i == windows - 1)
			memory = memory_kib();
	}
	open_after = descriptors();
	compare(&sums, &stats, windows);
	printf("# %" PRIu64 " KiB after a tenth, %" PRIu64 " KiB at the end\n",
	       least, memory);
	check(memory <= least + MEMORY_KIB, "memory stays");
	check(open_after <= open_before, "descriptors stay");
	portprof_config_free(config);
	printf("1..%u\n", cases);
	return failed > 0;
}
