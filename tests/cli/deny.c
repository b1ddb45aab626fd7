/* SPDX-License-Identifier: MIT */
/*
 * Runs a command as a container would whose filter forbids perf_event_open.
 *
 * usage: deny ERRNO COMMAND [ARGUMENT...]     ERRNO: EPERM, EACCES, ENOSYS
 *
 * Ends with 77 where there is no such filter.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int forbid(unsigned number)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#else
static int forbid(unsigned number)
{
	(void)number;
	return -1;
}
#endif

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned number;
	} errors[] = {
		{ "EPERM", EPERM }, { "EACCES", EACCES }, { "ENOSYS", ENOSYS },
	};

	for (size_t i = 0; argc > 2 && i < 3; i++) {
		if (strcmp(errors[i].name, argv[1]) != 0)
			continue;
		if (forbid(errors[i].number) != 0) {
			fprintf(stderr, "skip: no system call filter: %s\n",
			        strerror(errno));
			return 77;
		}
		execvp(argv[2], argv + 2);
		return 127;
	}
	return 2;
}
