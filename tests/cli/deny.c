/* SPDX-License-Identifier: MIT */
/*
 * Runs a command as a container would whose filter forbids perf_event_open.
 *
 * usage: deny ERRNO COMMAND [ARGUMENT...]     ERRNO: EPERM, EACCES, ENOSYS
 *
 * or LOCKED: as a distribution's kernel at kernel.perf_event_paranoid 3 and
 * above, which refuses flags that are none with EINVAL, and then everybody
 * with EACCES, before it looks at the attributes.
 *
 * or TIMERS: with EPERM, and timer_create and setitimer are forbidden too.
 *
 * Ends with 77 where there is no such filter. Filters may be nested: the kernel
 * takes the answer of the newest, seccomp(2).
 *
 * usage: deny ASK     whether perf_event_open reaches the kernel: 0, or 1
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The low half of the fifth argument, the flags. */
#define FLAGS                                                                \
	(offsetof(struct seccomp_data, args[4]) +                            \
	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

/* Calls with any of these flags are answered with EINVAL. */
static int forbid(unsigned number, unsigned wrong_flags, bool timers_too)
{
	/* a call that is none, where timers are allowed */
	unsigned create = timers_too ? SYS_timer_create : ~0u;
	unsigned set = timers_too ? SYS_setitimer : ~0u;
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, create, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, set, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, wrong_flags, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 9, program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* The kernel refuses flags that are none before it looks at anything else. */
static bool reaches_kernel(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0ul) != 0 &&
	       errno == EINVAL;
}
#else
static int forbid(unsigned number, unsigned wrong_flags, bool timers_too)
{
	(void)number;
	(void)wrong_flags;
	(void)timers_too;
	return -1;
}

static bool reaches_kernel(void)
{
	return false;
}
#endif

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned number, wrong_flags;
		bool timers_too;
	} errors[] = {
		{ "EPERM", EPERM, 0, false },
		{ "EACCES", EACCES, 0, false },
		{ "ENOSYS", ENOSYS, 0, false },
		{ "LOCKED", EACCES, ~0xfu, false },
		{ "TIMERS", EPERM, 0, true },
	};

	if (argc == 2 && strcmp(argv[1], "ASK") == 0)
		return !reaches_kernel();
	for (size_t i = 0; argc > 2 && i < 5; i++) {
		if (strcmp(errors[i].name, argv[1]) != 0)
			continue;
		if (forbid(errors[i].number, errors[i].wrong_flags,
		           errors[i].timers_too) != 0) {
			fprintf(stderr, "skip: no system call filter: %s\n",
			        strerror(errno));
			return 77;
		}
		execvp(argv[2], argv + 2);
		return 127;
	}
	return 2;
}
