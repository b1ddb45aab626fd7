/* SPDX-License-Identifier: MIT */
/* Odd habits with processes: forks, execs, namespaces, rights, descriptors. */
#include "config.h"

#include "tests/odd/odd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/seccomp.h>

extern char **environ;

static void says_hello(void)
{
	odd_burn(20);
	odd_say("hello", (long)(getenv("HOME") != NULL));
}

/* ---- children ---- */

static void vforks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = vfork();

		if (child == 0) {
			signal(SIGPROF, SIG_DFL);
			signal(SIGRTMAX, SIG_DFL);
			execl("/bin/true", "true", (char *)NULL);
			_exit(9);
		}
		odd_burn(5);
		odd_say("child", odd_wait(child));
	}
}

static void spawns(void)
{
	char *arguments[] = { (char *)"sh", (char *)"-c", (char *)"exit 7",
		              NULL };
	pid_t child;

	for (int i = 0; i < 10; i++) {
		odd_burn(5);
		if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments,
		                environ) != 0)
			child = -1;
		odd_say("child", odd_wait(child));
	}
	odd_say("system", WEXITSTATUS(system("exit 3")));
}

/* fork(2) as the kernel has it, without the C library's handlers. */
static void forks_in_the_kernel(void)
{
	for (int i = 0; i < 5; i++) {
		long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child == 0) {
			signal(SIGPROF, SIG_IGN);
			raise(SIGPROF);
			odd_burn(10);
			_exit(i);
		}
		odd_burn(5);
		odd_say("child", odd_wait(child));
	}
}

static void becomes_a_daemon(void)
{
	odd_burn(20);
	if (daemon(1, 1) != 0)
		odd_say("no daemon", errno);
	odd_burn(50);
	odd_say("daemon in a session of its own", getsid(0) != getppid());
}

static void has_grandchildren(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0) {
			odd_burn(5);
			child = fork();
			if (child == 0) {
				odd_burn(5);
				exit(4);
			}
			exit((int)odd_wait(child) + 1);
		}
		odd_say("child", odd_wait(child));
	}
}

/* ---- exec ---- */

static void execs_without_environment(void)
{
	odd_burn(20);
	clearenv();
	odd_exec("_says_hello");
}

static void execs_in_vain(void)
{
	odd_burn(20);
	odd_say("exec", execl("/nonexistent", "x", (char *)NULL));
	odd_say("because", errno == ENOENT);
	odd_burn(20);
}

/* ---- namespaces and rights ---- */

static void unshares(void)
{
	odd_burn(10);
	odd_say("files", unshare(CLONE_FILES));
	odd_say("working folder", unshare(CLONE_FS));
	odd_burn(10);
	odd_say("users", unshare(CLONE_NEWUSER));
	odd_burn(10);
	odd_say("mounts", unshare(CLONE_NEWNS));
	odd_burn(10);
}

static void unshares_by_raw_call(void)
{
	odd_burn(10);
	odd_say("users", syscall(SYS_unshare, CLONE_NEWUSER));
	odd_burn(10);
}

/* Its children will be in another PID namespace, and threads cannot be created
 * any more (clone(2)). */
static void unshares_processes(void)
{
	pid_t child;

	odd_burn(10);
	odd_say("processes", unshare(CLONE_NEWUSER | CLONE_NEWPID));
	odd_burn(30);
	child = fork();
	if (child == 0) {
		odd_burn(10);
		odd_say("first", getpid() == 1);
		exit(3);
	}
	odd_say("child", odd_wait(child));
	odd_burn(10);
}

/* Rights of one thread alone: what the setuid family answers depends on the
 * thread that asks. */
static void drops_rights_of_a_thread(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	odd_burn(10);
	odd_say("capabilities", syscall(SYS_capset, &head, none));
	odd_say("user", setresuid(65533, 65533, 65533));
	odd_burn(30);
}

static void keeps_rights_over_users(void)
{
	odd_burn(10);
	odd_say("keep", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	odd_say("user", setresuid(65534, 65534, 65534));
	odd_say("group", setresgid(65534, 65534, 65534));
	odd_burn(30);
}

static void changes_root(void)
{
	int result;

	odd_burn(10);
	result = chroot(odd_path(""));
	odd_say("root", result);
	if (result == 0)
		odd_say("folder", chdir("/"));
	odd_burn(30);
}

static void drops_rights(void)
{
	odd_burn(10);
	if (getuid() == 0) {
		odd_say("groups", setgroups(0, NULL));
		odd_say("group", setresgid(65534, 65534, 65534));
		odd_say("user", setresuid(65534, 65534, 65534));
	}
	odd_burn(30);
	odd_say("root", getuid() == 0);
}

static void hides_from_others(void)
{
	odd_say("hidden", prctl(PR_SET_DUMPABLE, 0));
	odd_burn(60);
}

static void has_no_new_rights(void)
{
	odd_say("no new rights", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	odd_burn(20);
	odd_exec("_says_hello");
}

/* In the strict sandbox there are read, write and the exit of a thread. */
static void strict(bool is_raw)
{
	pid_t child = fork();

	if (child == 0) {
		odd_burn(10);
		if (is_raw)
			syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT,
			        0, 0, 0);
		else
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		odd_spin();
		odd_say("in the sandbox", 1);
		syscall(SYS_exit, 5);
	}
	odd_say("child", odd_wait(child));
}

static void sandboxes_itself(void)
{
	strict(false);
	strict(true);
}

/* ---- descriptors ---- */

static void write_own_files(int first)
{
	char name[32], text[32];
	struct stat now;

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "own%d", i);
		int fd = open(odd_path(name), O_CREAT | O_TRUNC | O_RDWR, 0600);

		snprintf(text, sizeof(text), "mine %d\n", i);
		if (fd < first || write(fd, text, strlen(text)) < 0)
			odd_say("not written", i);
	}
	odd_burn(200);
	usleep(900000);
	odd_burn(200);
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "own%d", i);
		if (stat(odd_path(name), &now) != 0 || now.st_size != 7)
			odd_say("not intact", i);
	}
}

/* As closefrom does, which is not in every C library. */
static void close_from(int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	for (int i = first; i < 4096; i++)
		close(i);
}

static void closes_all_it_has_not(void)
{
	close_from(3);
	write_own_files(3);
}

static void closes_standard_streams(void)
{
	int out = dup2(1, 30);

	for (int i = 0; i < 3; i++)
		close(i);
	write_own_files(0);
	dup2(out, 1);
}

static void reads_its_input(void)
{
	char byte;
	long bytes = 0;

	while (read(0, &byte, 1) == 1) {
		bytes++;
		odd_burn(1);
	}
	odd_say("bytes", bytes);
}

/* ---- ends ---- */

static void exits_at_once(void)
{
	odd_burn(20);
	_exit(7);
}

static void exits_quickly(void)
{
	odd_burn(20);
	quick_exit(6);
}

static void aborts(void)
{
	odd_burn(20);
	abort();
}

static void crashes(void)
{
	volatile int *volatile nowhere = NULL;

	odd_burn(20);
	*nowhere = 1;
}

static void kills_itself(void)
{
	odd_burn(20);
	kill(getpid(), SIGKILL);
}

#define HABIT(name) { #name, name }

const struct odd_habit odd_processes[] = {
	{ "_says_hello", says_hello },
	HABIT(vforks),
	HABIT(spawns),
	HABIT(forks_in_the_kernel),
	HABIT(becomes_a_daemon),
	HABIT(has_grandchildren),
	HABIT(execs_without_environment),
	HABIT(execs_in_vain),
	HABIT(unshares),
	HABIT(unshares_by_raw_call),
	HABIT(unshares_processes),
	HABIT(drops_rights_of_a_thread),
	HABIT(keeps_rights_over_users),
	HABIT(changes_root),
	HABIT(drops_rights),
	HABIT(hides_from_others),
	HABIT(has_no_new_rights),
	HABIT(sandboxes_itself),
	HABIT(closes_all_it_has_not),
	HABIT(closes_standard_streams),
	HABIT(reads_its_input),
	HABIT(exits_at_once),
	HABIT(exits_quickly),
	HABIT(aborts),
	HABIT(crashes),
	HABIT(kills_itself),
	{ NULL, NULL },
};
