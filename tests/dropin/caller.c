/* SPDX-License-Identifier: MIT */
/*
 * A program as it was written before portprof, linked with the system's C
 * library alone: calls one of the profiling functions, spends CPU time in
 * known functions, and prints what came out, a NAME=VALUE a line.
 *
 * usage: caller WHAT MILLISECONDS [THREADS]
 */
#include "../fixtures/spent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <sys/profil.h>

enum { HOT_BYTES = 4096, BINS = 1 << 16 };

/* illumos has it; elsewhere only what is preloaded. */
extern long pcsample(uintptr_t *samples, long count) __attribute__((weak));

static uint64_t thread_ns(void)
{
	static _Thread_local struct spent spent;

	return spent_thread_ns(&spent);
}

/* Far apart and long enough that none is in the other's bins. */
#define HOT(name)                                                            \
	__attribute__((noinline, aligned(HOT_BYTES))) static void name(      \
		unsigned turns)                                              \
	{                                                                    \
		for (volatile unsigned left = turns; left > 0; left--)       \
			;                                                    \
	}
HOT(hot_a)
HOT(hot_b)
HOT(cold)

static volatile uint64_t spent_ns[64];
static unsigned run_ms;

static void spend(unsigned thread, unsigned ms, void (*function)(unsigned))
{
	uint64_t begun = thread_ns(), now;

	do {
		function(200000);
		now = thread_ns();
	} while (now - begun < (uint64_t)ms * 1000000u);
	spent_ns[thread] += now - begun;
}

static void *spend_in_thread(void *number)
{
	spend((unsigned)(uintptr_t)number, run_ms, hot_a);
	return NULL;
}

static void spend_in_threads(unsigned threads)
{
	pthread_t ids[64];

	for (unsigned i = 1; i < threads; i++)
		pthread_create(&ids[i], NULL, spend_in_thread,
		               (void *)(uintptr_t)i);
	spend(0, run_ms, hot_a);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
}

/* What the kernel charged this process on the clock of ITIMER_PROF, whose ticks
 * glibc counts: the thread that runs when the kernel's own clock ticks has that tick.
 * [v6.18 include/linux/posix-timers_types.h CPUCLOCK_PROF] */
static unsigned long long charged_ms(void)
{
	struct timespec now = { 0, 0 };

#ifdef __linux__
	clock_gettime((clockid_t)-8, &now);
#endif
	return (unsigned long long)now.tv_sec * 1000 +
	       (unsigned long long)now.tv_nsec / 1000000;
}

static void print_spent(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 64; i++)
		sum += spent_ns[i];
	printf("spent_ms=%llu\n", (unsigned long long)(sum / 1000000u));
}

/* ---- profil ---- */

static unsigned short bins[BINS];

static size_t text(void)
{
	size_t a = (size_t)hot_a, b = (size_t)hot_b, c = (size_t)cold;

	a = b < a ? b : a;
	return (c < a ? c : a) & ~(size_t)4095;
}

static unsigned in_function(void (*function)(unsigned))
{
	size_t first = ((size_t)function - text()) / 2;
	unsigned sum = 0;

	for (size_t i = first; i < first + 64 && i < BINS; i++)
		sum += bins[i];
	return sum;
}

static unsigned in_all(void)
{
	unsigned sum = 0;

	for (size_t i = 0; i < BINS; i++)
		sum += bins[i];
	return sum;
}

static void print_bins(void)
{
	printf("ticks=%u\n", in_all());
	printf("hot_a=%u\n", in_function(hot_a));
	printf("hot_b=%u\n", in_function(hot_b));
	printf("cold=%u\n", in_function(cold));
}

static int off(void)
{
	unsigned short *volatile none = NULL; /* declared as never NULL */

	return profil(none, 0, 0, 0);
}

static int call_profil(unsigned threads)
{
	unsigned long long charged = charged_ms();

	printf("on=%d\n", profil(bins, sizeof(bins), text(), 65536));
	spend_in_threads(threads);
	printf("off=%d\n", off());
	printf("charged_ms=%llu\n", charged_ms() - charged);
	print_spent();
	print_bins();
	/* nothing is written any more */
	memset(bins, 0, sizeof(bins));
	spend(63, 100, hot_b);
	printf("late=%u\n", in_all());
	return 0;
}

/* The second call replaces the first; both count up what is there. */
static int replace_profil(void)
{
	static unsigned short other[BINS];
	unsigned first;

	profil(bins, sizeof(bins), text(), 65536);
	spend(0, run_ms, hot_a);
	first = 0;
	profil(other, sizeof(other), text(), 32768);
	first = in_all();
	spend(1, run_ms, hot_b);
	off();
	printf("first=%u\nfirst_later=%u\n", first, in_all());
	memcpy(bins, other, sizeof(bins));
	printf("second=%u\n", in_all());
	printf("second_at=%u\n",
	       (unsigned)(other[((size_t)hot_b - text()) / 4] +
	                  other[((size_t)hot_b - text()) / 4 + 1] +
	                  other[((size_t)hot_b - text()) / 4 + 2] +
	                  other[((size_t)hot_b - text()) / 4 + 3] +
	                  other[((size_t)hot_b - text()) / 4 + 4] +
	                  other[((size_t)hot_b - text()) / 4 + 5] +
	                  other[((size_t)hot_b - text()) / 4 + 6] +
	                  other[((size_t)hot_b - text()) / 4 + 7]));
	return 0;
}

/* What a scale is good for; errno or 0. */
static int try_scale(unsigned scale)
{
	int result;

	errno = 0;
	result = profil(bins, sizeof(bins), text(), scale);
	printf("result=%d\nerrno=%d\n", result, errno);
	spend(0, run_ms, hot_a);
	off();
	printf("ticks=%u\nbin_0=%u\n", in_all(), bins[0]);
	return 0;
}

static int try_bad_buffer(void)
{
	printf("result=%d\n",
	       profil((unsigned short *)4096, 1 << 20, text(), 65536));
	fflush(stdout);
	spend(0, run_ms, hot_a);
	printf("alive=1\n");
	return 0;
}

/* Many short stretches; what they sum to. */
static int churn(void)
{
	for (unsigned i = 0; i < run_ms / 2; i++) {
		profil(bins, sizeof(bins), text(), 65536);
		spend(0, 2, hot_a);
		off();
	}
	print_spent();
	print_bins();
	return 0;
}

/* ---- processes ---- */

static int fork_child(void)
{
	pid_t child;
	int status = -1;

	profil(bins, sizeof(bins), text(), 65536);
	spend(0, run_ms, hot_a);
	child = fork();
	if (child == 0) {
		memset(bins, 0, sizeof(bins));
		spend(0, run_ms, hot_b);
		off();
		printf("child=%u\n", in_all());
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	spend(1, run_ms, hot_a);
	off();
	printf("status=%d\nparent=%u\n", status, in_all());
	return 0;
}

static int exec_survivor(char *program)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", run_ms);
	profil(bins, sizeof(bins), text(), 65536);
	spend(0, run_ms, hot_a);
	execl(program, program, "spend", number, (char *)NULL);
	return 1;
}

static int storm(char *program)
{
	int bad = 0;

	profil(bins, sizeof(bins), text(), 65536);
	for (unsigned i = 0; i < 40; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0 && i % 2)
			_exit(0);
		if (child == 0)
			execl(program, program, "spend", "5", (char *)NULL);
		spend(0, run_ms / 40, hot_a);
		if (child < 0 || waitpid(child, &status, 0) < 0 || status)
			bad++;
	}
	off();
	printf("bad=%d\n", bad);
	print_spent();
	print_bins();
	return 0;
}

/* ---- sprofil ---- */

static void region(struct prof *prof, void *base, size_t size, size_t offset)
{
	*prof = (struct prof){ base, size, offset, 65536 };
}

/* Alternating between two regions, with a third for what is below. */
static int call_sprofil(unsigned flags)
{
	static unsigned wide[3][BINS];
	struct prof regions[3];
	struct timeval period = { 0, 0 };
	unsigned ticks[3] = { 0, 0, 0 };
	size_t width = flags & PROF_UINT ? 4 : 2;

	region(&regions[0], wide[0], 256 * width, (size_t)hot_a);
	region(&regions[1], wide[1], 256 * width, (size_t)hot_b);
	region(&regions[2], wide[2], width, 0);
	regions[2].pr_scale = 2;
	printf("on=%d\n", sprofil(regions, 3, &period, flags));
	printf("period_us=%ld\n", (long)period.tv_sec * 1000000 +
	                                  (long)period.tv_usec);
	/* Kernels look at timers of CPU time each 4 or 10 ms: turns of 12 ms
	 * would meet them in the same function again and again. */
	for (unsigned i = 0; i < run_ms / 21; i++) {
		spend(0, 7, hot_a);
		spend(1, 7, hot_b);
		spend(2, 7, cold);
	}
	printf("off=%d\n", sprofil(NULL, 0, NULL, flags));
	for (unsigned r = 0; r < 3; r++)
		for (size_t i = 0; i < 256 && (r < 2 || i < 1); i++)
			ticks[r] += width == 4 ? wide[r][i] :
			                         ((unsigned short *)wide[r])[i];
	printf("hot_a=%u\nhot_b=%u\nrest=%u\n", ticks[0], ticks[1], ticks[2]);
	for (unsigned i = 0; i < 3; i++)
		printf("spent_%u_ms=%llu\n", i,
		       (unsigned long long)(spent_ns[i] / 1000000u));
	return 0;
}

/* No region below, no bin for the rest; and once more from the start. */
static int restart_sprofil(void)
{
	struct prof prof;

	for (unsigned i = 0; i < 3; i++) {
		size_t low = (size_t)hot_a > (size_t)hot_b ? (size_t)hot_a :
		                                             (size_t)hot_b;

		memset(bins, 0, sizeof(bins));
		region(&prof, bins, 512, low);
		printf("on_%u=%d\n", i, sprofil(&prof, 1, NULL, 0));
		spend(0, run_ms, low == (size_t)hot_a ? hot_b : hot_a);
		spend(1, run_ms, low == (size_t)hot_a ? hot_a : hot_b);
		printf("off_%u=%d\n", i, sprofil(&prof, 1, NULL, 0));
		printf("ticks_%u=%u\n", i, in_all());
		fflush(stdout);
	}
	return 0;
}

/* Started again after a stop; all text is in one region. */
static int start_sprofil_twice(void)
{
	struct prof prof;

	region(&prof, bins, sizeof(bins), text());
	for (unsigned i = 0; i < 4; i++) {
		printf("call_%u=%d\n", i, sprofil(&prof, 1, NULL, 0));
		fflush(stdout);
		spend(0, run_ms, hot_a);
	}
	print_bins();
	return 0;
}

/* ---- pcsample ---- */

static unsigned count_in(const uintptr_t *pcs, long count,
                         void (*function)(unsigned))
{
	unsigned sum = 0;

	for (long i = 0; i < count; i++)
		sum += pcs[i] - (uintptr_t)function < 256;
	return sum;
}

static int call_pcsample(void)
{
	static uintptr_t pcs[65536];
	long count;

	if (!pcsample)
		return 77;
	printf("first=%ld\n", pcsample(pcs, 65536));
	spend(0, run_ms, hot_a);
	errno = 0;
	count = pcsample(pcs, -1);
	printf("negative=%ld\nerrno=%d\n", count, errno);
	spend(1, run_ms, hot_b);
	count = pcsample(pcs, 5);
	printf("count=%ld\nhot_a=%u\nhot_b=%u\n", count,
	       count_in(pcs, count, hot_a), count_in(pcs, count, hot_b));
	/* of one thread they are in the order of time */
	printf("begins=%d\n", pcs[0] - (uintptr_t)hot_a < 256);
	memset(pcs, 0, sizeof(pcs));
	spend(2, run_ms, hot_a);
	printf("full=%ld\nsixth=%d\n", pcsample(pcs, 0), pcs[5] != 0);
	printf("after=%ld\n", pcsample(pcs, 0));
	print_spent();
	return 0;
}

/* The child has its parent's count, and continues in its own copy. */
static int fork_pcsample(void)
{
	static uintptr_t pcs[65536];
	pid_t child;
	int status;

	if (!pcsample)
		return 77;
	pcsample(pcs, 65536);
	spend(0, run_ms, hot_a);
	child = fork();
	if (child == 0) {
		spend(0, run_ms, hot_b);
		printf("child=%ld\n", pcsample(pcs, 0));
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("parent=%ld\n", pcsample(pcs, 0));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

	/* some of what is called ends the program, as is known */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	run_ms = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	if (strcmp(what, "profil") == 0)
		return call_profil(threads);
	if (strcmp(what, "replace") == 0)
		return replace_profil();
	if (strcmp(what, "scale") == 0)
		return try_scale((unsigned)strtoul(argv[3], NULL, 0));
	if (strcmp(what, "bad-buffer") == 0)
		return try_bad_buffer();
	if (strcmp(what, "churn") == 0)
		return churn();
	if (strcmp(what, "fork") == 0)
		return fork_child();
	if (strcmp(what, "exec") == 0)
		return exec_survivor(argv[0]);
	if (strcmp(what, "storm") == 0)
		return storm(argv[0]);
	if (strcmp(what, "sprofil") == 0)
		return call_sprofil(PROF_USHORT);
	if (strcmp(what, "sprofil-uint") == 0)
		return call_sprofil(PROF_UINT);
	if (strcmp(what, "sprofil-restart") == 0)
		return restart_sprofil();
	if (strcmp(what, "sprofil-twice") == 0)
		return start_sprofil_twice();
	if (strcmp(what, "pcsample") == 0)
		return call_pcsample();
	if (strcmp(what, "pcsample-fork") == 0)
		return fork_pcsample();
	spend(0, run_ms, hot_a);
	return strcmp(what, "spend") ? 2 : 0;
}
