/* SPDX-License-Identifier: MIT */
/*
 * All that a process inherits, a line for each thing:
 *   inherited FILE           writes it to FILE
 *   inherited -- COMMAND...  sets what is unusual, and executes COMMAND
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#if defined(__linux__)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static FILE *out;

static void put_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			fprintf(out, "limit %d %llu %llu\n", i,
			        (unsigned long long)limit.rlim_cur,
			        (unsigned long long)limit.rlim_max);
	}
}

static void put_signals(void)
{
	sigset_t blocked, pending;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigpending(&pending);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (sigaction(i, NULL, &action) != 0)
			continue;
		fprintf(out, "signal %d %s%s%s\n", i,
		        action.sa_handler == SIG_DFL   ? "default"
		        : action.sa_handler == SIG_IGN ? "ignored"
		                                       : "handled",
		        sigismember(&blocked, i) == 1 ? " blocked" : "",
		        sigismember(&pending, i) == 1 ? " pending" : "");
	}
}

/* A thread of the measuring object reads files of /proc now and then: a descriptor
 * that comes and goes is not inherited. */
static bool stays(int fd, const struct stat *first)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < 20; i++) {
		struct stat now;

		if (fstat(fd, &now) != 0 || now.st_dev != first->st_dev ||
		    now.st_ino != first->st_ino)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void put_descriptors(void)
{
	for (int fd = 0; fd < 256; fd++) {
		struct stat at;

		if (fd == fileno(out) || fstat(fd, &at) != 0 ||
		    (fd > 2 && !stays(fd, &at)))
			continue;
		fprintf(out, "descriptor %d %#o %llu:%llu flags %#x %#x\n", fd,
		        (unsigned)at.st_mode, (unsigned long long)at.st_dev,
		        (unsigned long long)at.st_ino, fcntl(fd, F_GETFD),
		        fcntl(fd, F_GETFL));
	}
}

/* The lines of a file that begin so. */
static void put_file(const char *path, const char *begin)
{
	FILE *file = fopen(path, "re");
	char line[4096];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, begin, strlen(begin)) == 0)
			fprintf(out, "%s %s\n", path, line);
	}
	if (file)
		fclose(file);
}

static void put_files(void)
{
	static const char *const status[] = {
		"Cap", "Cpus_allowed:", "Gid:", "Groups:", "Mems_allowed:",
		"NStgid:\t1\t", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:",
		"Speculation", "THP_enabled:", "TracerPid:", "Uid:", "Umask:",
	};

	for (size_t i = 0; i < sizeof(status) / sizeof(status[0]); i++)
		put_file("/proc/self/status", status[i]);
	put_file("/proc/self/cgroup", "");
	put_file("/proc/self/coredump_filter", "");
	put_file("/proc/self/oom_score_adj", "");
	put_file("/proc/self/personality", "");
	put_file("/proc/self/sessionid", "");
	put_file("/proc/self/timerslack_ns", "");
	put_file("/proc/self/timers", "");
}

static void put_namespaces(void)
{
	DIR *folder = opendir("/proc/self/ns");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char path[512], to[128];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/ns/%s", entry->d_name);
		length = readlink(path, to, sizeof(to) - 1);
		if (length > 0)
			fprintf(out, "namespace %s %.*s\n", entry->d_name,
			        (int)length, to);
	}
	if (folder)
		closedir(folder);
}

static void put_attributes(void)
{
	struct sched_param param = { 0 };
	char folder[4096];
	int signal_number = 0, is_reaper = 0;
	stack_t stack;

	sched_getparam(0, &param);
	prctl(PR_GET_PDEATHSIG, &signal_number);
	prctl(PR_GET_CHILD_SUBREAPER, &is_reaper);
	sigaltstack(NULL, &stack);
	fprintf(out, "niceness %d\n", getpriority(PRIO_PROCESS, 0));
	fprintf(out, "scheduling %d %d\n", sched_getscheduler(0),
	        param.sched_priority);
	fprintf(out, "io priority %ld\n", syscall(SYS_ioprio_get, 1, 0));
	fprintf(out, "personality %d\n", personality(0xffffffff));
	fprintf(out, "folder %s\n",
	        getcwd(folder, sizeof(folder)) ? folder : "?");
	fprintf(out, "parent's group %d session %d\n",
	        getpgrp() == getpgid(getppid()),
	        getsid(0) == getsid(getppid()));
	fprintf(out, "death signal %d reaper %d dumpable %d securebits %d\n",
	        signal_number, is_reaper, prctl(PR_GET_DUMPABLE),
	        prctl(PR_GET_SECUREBITS));
	fprintf(out, "signal stack flags %d\n", stack.ss_flags);
	for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
		struct itimerval timer;

		getitimer((__itimer_which_t)i, &timer);
		fprintf(out, "interval timer %d %s\n", i,
		        timer.it_value.tv_sec || timer.it_value.tv_usec
		                ? "set" : "not set");
	}
}

static int put_all(const char *path, char **argv)
{
	out = fopen(path, "we");
	if (!out)
		return 1;
	put_signals(); /* before anything changes them */
	put_limits();
	put_descriptors();
	put_files();
	put_namespaces();
	put_attributes();
	for (char **text = environ; *text; text++)
		fprintf(out, "environment %s\n", *text);
	for (char **text = argv; *text; text++)
		fprintf(out, "argument %s\n", *text);
	return fclose(out) != 0;
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* where it cannot be set it is the usual, which is compared too */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

static void limit(int resource, rlim_t soft)
{
	struct rlimit now;

	getrlimit((__rlimit_resource_t)resource, &now);
	now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &now);
}

/* What a program before us may have set. RLIMIT_DATA stays as it is, which is
 * more than our own bound. */
static void make_unusual(void)
{
	struct sched_param param = { 0 };
	sigset_t blocked;
	int folder;

	limit(RLIMIT_CORE, 12345);
	limit(RLIMIT_NOFILE, 200);
	limit(RLIMIT_STACK, 7 << 20);
	signal(SIGALRM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sched_setscheduler(0, SCHED_BATCH, &param);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);
	syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6);
	umask(027);
	personality(ADDR_NO_RANDOMIZE);
	prctl(PR_SET_TIMERSLACK, 77777);
	write_to("/proc/self/coredump_filter", "0x21");
	write_to("/proc/self/oom_score_adj", "7");
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
	setenv("COLUMNS", "77", 1);
	folder = open("/", O_RDONLY);
	dup2(folder, 77);
	close(folder);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return put_all(argv[1], argv);
	if (argc < 3)
		return 2;
	make_unusual();
	execvp(argv[2], argv + 2);
	return 127;
}

#else
int main(void)
{
	fprintf(stderr, "what is inherited is known on Linux alone\n");
	return 77;
}
#endif
