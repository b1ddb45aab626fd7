/* SPDX-License-Identifier: MIT */
/*
 * Programs that filter their system calls, seccomp(2): those that portprof-backends(7)
 * lists for the phases to come are enough, and one that is refused is not taken for
 * something else.
 */
#include "config.h"

#include <portprof.h>
#include <portprof/tool.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SKIPPED = 77, CANNOT_FILTER = 78, TRAPPED = 79, CALLS_MAX = 128 };

#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBC__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <gnu/libc-version.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NAMES(X)                                                           \
	X(access) X(brk) X(clock_gettime) X(clone3) X(close) X(exit)       \
	X(fchmod) X(fcntl) X(futex) X(getcwd) X(getdents64) X(getitimer)   \
	X(getpid) X(getrusage) X(gettid) X(ioctl) X(linkat) X(lseek)       \
	X(madvise) X(mmap) X(mprotect) X(munmap) X(newfstatat) X(openat)   \
	X(perf_event_open) X(prctl) X(pread64) X(prlimit64) X(read)        \
	X(readlink) X(rename) X(rseq) X(rt_sigaction) X(rt_sigprocmask)    \
	X(rt_sigreturn) X(set_robust_list) X(setitimer) X(timer_create)    \
	X(timer_delete) X(timer_gettime) X(timer_settime) X(uname) X(write)
#define NAME(name) { #name, SYS_##name },

static const struct {
	const char *name;
	unsigned number;
} calls[] = { NAMES(NAME) };

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* ---- the table ---- */

static const char *const phases[] = { "open", "start", "run", "close" };
enum phase { OPEN, START, RUN, CLOSE, PHASES };

/* What is allowed, as a filter. */
struct allowed {
	struct sock_filter program[2 * CALLS_MAX];
	unsigned short count;
};

static void allow(struct allowed *allowed, unsigned number)
{
	struct sock_filter *at = &allowed->program[allowed->count];

	at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number,
	                                     0, 1);
	at[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	                                     SECCOMP_RET_ALLOW);
	allowed->count += 2;
}

static void allow_by_name(struct allowed *allowed, const char *name)
{
	/* where another filter says that there is none, glibc calls clone(2) */
	if (strcmp(name, "clone3") == 0 &&
	    syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS)
		allow(allowed, SYS_clone);
	for (size_t i = 0; i < CALLS; i++)
		if (strcmp(calls[i].name, name) == 0) {
			allow(allowed, calls[i].number);
			return;
		}
	fail_msg("no system call '%s'", name);
}

static bool is_later(const char *phase, enum phase from)
{
	bool is_found = strcmp(phase, "all") == 0;

	for (enum phase i = from; i < PHASES; i++)
		is_found |= strcmp(phases[i], phase) == 0;
	return is_found;
}

/* The rows of `who`, words between blanks, from a phase on. */
static void read_table(struct allowed *allowed, const char *who,
                       enum phase from)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], line[256], whole[64], *rest, *word, *phase;
	FILE *page;
	bool is_there = false;

	snprintf(path, sizeof(path), "%s/doc/man/portprof-backends.7",
	         srcdir ? srcdir : ".");
	page = fopen(path, "r");
	if (!page)
		skip();
	while (fgets(line, sizeof(line), page)) {
		is_there |= strcmp(line, ".Ss System calls\n") == 0;
		is_there &= strcmp(line, ".Ed\n") != 0;
		word = strtok_r(line, " \n", &rest);
		snprintf(whole, sizeof(whole), " %s ", word ? word : "");
		if (!is_there || !word || !strstr(who, whole) ||
		    !(phase = strtok_r(NULL, " \n", &rest)) ||
		    !is_later(phase, from))
			continue;
		while ((word = strtok_r(NULL, " \n", &rest)) != NULL)
			allow_by_name(allowed, word);
	}
	fclose(page);
}

static void begin(struct allowed *allowed)
{
	*allowed = (struct allowed){ .count = 0 };
	allowed->program[allowed->count++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	allow(allowed, SYS_exit_group);
}

/* For all threads that there are. */
static void filter(struct allowed *allowed, unsigned otherwise)
{
	struct sock_fprog program = { allowed->count + 1, allowed->program };

	allowed->program[allowed->count] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	            SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		_exit(CANNOT_FILTER);
}

/* ---- lives ---- */

struct life {
	const char *backend;
	bool counts, is_rich; /* a file and call chains */
	struct allowed allowed;
	enum phase from;
	unsigned otherwise;
};

static char path[64];

static void come_to(struct life *life, enum phase phase)
{
	if (phase == life->from)
		filter(&life->allowed, life->otherwise);
}

#define MUST(what)                       \
	do {                             \
		if ((what) != PORTPROF_OK) \
			_exit(1);        \
	} while (0)

static void spin(void)
{
	for (volatile long i = 0; i < 25000000; i++)
		;
}

static void take(const portprof_batch *batch, void *context)
{
	(void)batch;
	(void)context;
}

static portprof_config *make_config(const struct life *life)
{
	portprof_config *config = portprof_config_new();

	MUST(portprof_config_set_backend(config, life->backend));
	if (life->counts) {
		MUST(portprof_config_add_event(config,
		                               "task-clock,page-faults"));
		return config;
	}
	MUST(portprof_config_set_frequency(config, 499));
	MUST(portprof_config_add_callback(config, take, NULL));
	if (life->is_rich) {
		MUST(portprof_config_set_number(config, "callchain", 32));
		MUST(portprof_config_write_to(config, path));
	}
	return config;
}

static void sample(struct life *life, const portprof_config *config)
{
	portprof_session *session;

	come_to(life, OPEN);
	if (portprof_session_open(config, &session) != PORTPROF_OK)
		_exit(SKIPPED);
	come_to(life, START);
	MUST(portprof_session_start(session));
	come_to(life, RUN);
	spin();
	MUST(portprof_session_flush(session));
	spin();
	MUST(portprof_session_stop(session));
	come_to(life, CLOSE);
	MUST(portprof_session_close(session));
}

static void count(struct life *life, const portprof_config *config)
{
	portprof_group *group;
	portprof_count counts[2];

	come_to(life, OPEN);
	if (portprof_group_open_config(config, &group) != PORTPROF_OK)
		_exit(SKIPPED);
	come_to(life, START);
	MUST(portprof_group_stop(group));
	MUST(portprof_group_start(group));
	come_to(life, RUN);
	spin();
	MUST(portprof_group_read(group, counts, 2));
	MUST(portprof_group_stop(group));
	come_to(life, CLOSE);
	portprof_group_close(group);
}

static void say_call(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	/* status is all that can be told */
	_exit(info->si_syscall < 256 && info->si_syscall != SKIPPED
	              ? info->si_syscall : TRAPPED);
}

static int status_of(struct life *life)
{
	struct sigaction action = { .sa_sigaction = say_call,
		                    .sa_flags = SA_SIGINFO };
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		portprof_config *config = make_config(life);

		if (life->otherwise == SECCOMP_RET_TRAP)
			sigaction(SIGSYS, &action, NULL);
		(life->counts ? count : sample)(life, config);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(path);
	return status;
}

/* A later C library may need other calls for its own threads and memory. */
static void judge_killed(struct life *life)
{
	int status;

	life->otherwise = SECCOMP_RET_TRAP;
	status = status_of(life);
	print_message("%s, filter set at %s: killed by system call %d, glibc "
	              "%s\n", life->backend, phases[life->from],
	              WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	              gnu_get_libc_version());
	if (strcmp(gnu_get_libc_version(), "2.36") != 0)
		skip();
	fail();
}

static void live(const char *backend, bool counts, bool is_rich)
{
	snprintf(path, sizeof(path), "filter-%ld.pb.gz", (long)getpid());
	for (enum phase from = OPEN; from < PHASES; from++) {
		struct life life = { backend, counts, is_rich, { .count = 0 },
			             from, SECCOMP_RET_KILL_PROCESS };
		char who[64];
		int status;

		snprintf(who, sizeof(who), " any %s %s", backend,
		         is_rich ? "file chains " : "");
		begin(&life.allowed);
		read_table(&life.allowed, who, from);
		status = status_of(&life);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
			judge_killed(&life);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) >= SKIPPED)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void perf_lives_by_its_table(void **state)
{
	(void)state;
	live("perf", false, false);
	live("perf", false, true);
}

static void perf_counts_by_its_table(void **state)
{
	(void)state;
	live("perf", true, false);
}

static void timer_lives_by_its_table(void **state)
{
	(void)state;
	live("timer", false, false);
	live("timer", false, true);
}

static void itimer_lives_by_its_table(void **state)
{
	(void)state;
	live("itimer", false, false);
	live("itimer", false, true);
}

static void rusage_counts_by_its_table(void **state)
{
	(void)state;
	live("rusage", true, false);
}

/* ---- a question that has no answer ---- */

/* One call, or two. */
static void forbid(unsigned call, unsigned other)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 5, program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	            SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
		_exit(CANNOT_FILTER);
}

static int sample_without_ioctl(const struct life *life)
{
	portprof_config *config = make_config(life);
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_session *session;

	if (portprof_session_open(config, &session) != PORTPROF_OK)
		return SKIPPED;
	MUST(portprof_session_start(session));
	spin();
	forbid(SYS_ioctl, SYS_ioctl);
	spin();
	/* it continues, and that is said */
	if (portprof_session_stop(session) == PORTPROF_OK ||
	    portprof_last_diag()->os_errno != EPERM)
		return 2;
	MUST(portprof_session_stats(session, 0, &stats));
	if (stats.unattributed_certainty != PORTPROF_EXACT || !stats.kept_weight ||
	    stats.total_weight != stats.kept_weight + stats.outside_weight +
	                                  stats.unattributed_weight)
		return 3;
	for (size_t i = 0; portprof_session_note(session, i); i++)
		if (strstr(portprof_session_note(session, i), "closed"))
			return 4;
	portprof_session_close(session);
	return 0;
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int count_without_ioctl(const struct life *life)
{
	portprof_config *config = make_config(life);
	portprof_group *group;
	portprof_count counts[2];
	int before = open_descriptors();

	if (portprof_group_open_config(config, &group) != PORTPROF_OK)
		return SKIPPED;
	forbid(SYS_ioctl, SYS_ioctl);
	MUST(portprof_group_read(group, counts, 2));
	if (portprof_group_stop(group) == PORTPROF_OK ||
	    portprof_last_diag()->os_errno != EPERM ||
	    strstr(portprof_last_diag()->words, "closed"))
		return 2;
	MUST(portprof_group_read(group, counts, 2));
	portprof_group_close(group);
	return open_descriptors() == before ? 0 : 5;
}

static void must_end_well(int (*run)(const struct life *), const struct life *life)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(run(life));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) >= SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void refused_is_not_closed(void **state)
{
	const struct life sampling = { .backend = "perf" };
	const struct life counting = { .backend = "perf", .counts = true };

	(void)state;
	must_end_well(sample_without_ioctl, &sampling);
	must_end_well(count_without_ioctl, &counting);
}

static int sample_without_threads(const struct life *life)
{
	portprof_config *config = make_config(life);
	portprof_session *session;

	forbid(SYS_clone3, SYS_clone);
	if (portprof_session_open(config, &session) != PORTPROF_E_SYSTEM ||
	    portprof_last_diag()->os_errno != EPERM)
		return 2;
	return strstr(portprof_last_diag()->words, "seccomp") &&
	       !strstr(portprof_last_diag()->words, "ulimit") ? 0 : 3;
}

/* To raise a limit would not help. */
static void refused_is_no_limit(void **state)
{
	const struct life sampling = { .backend = "timer" };

	(void)state;
	must_end_well(sample_without_threads, &sampling);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_lives_by_its_table),
		cmocka_unit_test(perf_counts_by_its_table),
		cmocka_unit_test(timer_lives_by_its_table),
		cmocka_unit_test(itimer_lives_by_its_table),
		cmocka_unit_test(rusage_counts_by_its_table),
		cmocka_unit_test(refused_is_not_closed),
		cmocka_unit_test(refused_is_no_limit),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
#else
int main(void)
{
	puts("skip: the table is of Linux on x86-64 with glibc, and without "
	     "sanitizers");
	return SKIPPED;
}
#endif
