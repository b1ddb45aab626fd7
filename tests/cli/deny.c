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
 * or CONTAINER: with EPERM, and what the usual filter of containers forbids
 * too: namespaces, mounts, keys, tracing.
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

#define ANSWER(number)                                                       \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)(number))
#define IF_CALL(number, then, otherwise)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, then, otherwise)

static const unsigned none[] = { ~0u },
		      timers[] = { SYS_timer_create, SYS_setitimer, ~0u },
		      container[] = { SYS_unshare, SYS_setns, SYS_mount,
	                              SYS_umount2, SYS_keyctl, SYS_add_key,
	                              SYS_request_key, SYS_ptrace,
	                              SYS_process_vm_readv, SYS_bpf, ~0u };

/* perf_event_open gets the answer, or EINVAL with any of these flags, and the
 * other calls EPERM. */
static int forbid(unsigned answer, unsigned wrong_flags, const unsigned *calls)
{
	struct sock_filter program[32] = { BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	const struct sock_filter perf[] = {
		IF_CALL(SYS_perf_event_open, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, wrong_flags, 0, 1),
		ANSWER(EINVAL),
		ANSWER(answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 1, program };

	for (; *calls != ~0u; calls++) {
		program[filter.len++] =
			(struct sock_filter)IF_CALL(*calls, 0, 1);
		program[filter.len++] = (struct sock_filter)ANSWER(EPERM);
	}
	memcpy(program + filter.len, perf, sizeof(perf));
	filter.len += sizeof(perf) / sizeof(perf[0]);
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
static const unsigned none[1], timers[1], container[1];

static int forbid(unsigned answer, unsigned wrong_flags, const unsigned *calls)
{
	(void)answer;
	(void)wrong_flags;
	(void)calls;
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
		unsigned answer, wrong_flags;
		const unsigned *calls;
	} errors[] = {
		{ "EPERM", EPERM, 0, none },
		{ "EACCES", EACCES, 0, none },
		{ "ENOSYS", ENOSYS, 0, none },
		{ "LOCKED", EACCES, ~0xfu, none },
		{ "TIMERS", EPERM, 0, timers },
		{ "CONTAINER", EPERM, 0, container },
	};

	if (argc == 2 && strcmp(argv[1], "ASK") == 0)
		return !reaches_kernel();
	for (size_t i = 0; argc > 2 && i < 6; i++) {
		if (strcmp(errors[i].name, argv[1]) != 0)
			continue;
		if (forbid(errors[i].answer, errors[i].wrong_flags,
		           errors[i].calls) != 0) {
			fprintf(stderr, "skip: no system call filter: %s\n",
			        strerror(errno));
			return 77;
		}
		execvp(argv[2], argv + 2);
		return 127;
	}
	return 2;
}
