/* SPDX-License-Identifier: MIT */
/*
 * Calls that our helper thread would change, wrapped: it is not there while
 * they run, and a new one is started afterwards.
 *
 * unshare(2) and setns(2) refuse a process of several threads user namespaces
 * and more. The setuid family changes one thread in the kernel; the C library
 * calls it in every thread and aborts when the answers differ (glibc,
 * nptl/nptl_setxid.c), as they do when one thread has set capabilities or
 * securebits for itself: setpriv(1) does.
 *
 * Only where the system has namespaces: elsewhere rights are the process's.
 */
#include "config.h"

#include "api/core/lone_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef CLONE_NEWUSER
#include <grp.h>

#define WRAPPER __attribute__((visibility("default")))

static struct {
	int (*unshare)(int);
	int (*setns)(int, int);
	int (*setuid)(uid_t);
	int (*seteuid)(uid_t);
	int (*setreuid)(uid_t, uid_t);
	int (*setresuid)(uid_t, uid_t, uid_t);
	int (*setgid)(gid_t);
	int (*setegid)(gid_t);
	int (*setregid)(gid_t, gid_t);
	int (*setresgid)(gid_t, gid_t, gid_t);
	int (*setgroups)(size_t, const gid_t *);
	int (*initgroups)(const char *, gid_t);
} real;

/* POSIX lets a pointer to data hold one to a function; C does not. */
static void look_up(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

/* Early, as these may be called where dlsym(3) may not. */
__attribute__((constructor)) static void look_up_all(void)
{
	look_up("unshare", &real.unshare);
	look_up("setns", &real.setns);
	look_up("setuid", &real.setuid);
	look_up("seteuid", &real.seteuid);
	look_up("setreuid", &real.setreuid);
	look_up("setresuid", &real.setresuid);
	look_up("setgid", &real.setgid);
	look_up("setegid", &real.setegid);
	look_up("setregid", &real.setregid);
	look_up("setresgid", &real.setresgid);
	look_up("setgroups", &real.setgroups);
	look_up("initgroups", &real.initgroups);
}

/* Make the call without the helper thread. A C library may lack it. */
#define CALL_ALONE(name, ...)                        \
	do {                                         \
		bool has_ended;                      \
		int result;                          \
                                                     \
		if (!real.unshare)                   \
			look_up_all();               \
		if (!real.name) {                    \
			errno = ENOSYS;              \
			return -1;                   \
		}                                    \
		has_ended = ppi_before_lone_call();  \
		result = real.name(__VA_ARGS__);     \
		if (has_ended)                       \
			ppi_after_lone_call();       \
		return result;                       \
	} while (0)

WRAPPER int unshare(int flags)
{
	CALL_ALONE(unshare, flags);
}

WRAPPER int setns(int fd, int kind)
{
	CALL_ALONE(setns, fd, kind);
}

WRAPPER int setuid(uid_t user)
{
	CALL_ALONE(setuid, user);
}

WRAPPER int seteuid(uid_t user)
{
	CALL_ALONE(seteuid, user);
}

WRAPPER int setreuid(uid_t user, uid_t effective)
{
	CALL_ALONE(setreuid, user, effective);
}

WRAPPER int setresuid(uid_t user, uid_t effective, uid_t saved)
{
	CALL_ALONE(setresuid, user, effective, saved);
}

WRAPPER int setgid(gid_t group)
{
	CALL_ALONE(setgid, group);
}

WRAPPER int setegid(gid_t group)
{
	CALL_ALONE(setegid, group);
}

WRAPPER int setregid(gid_t group, gid_t effective)
{
	CALL_ALONE(setregid, group, effective);
}

WRAPPER int setresgid(gid_t group, gid_t effective, gid_t saved)
{
	CALL_ALONE(setresgid, group, effective, saved);
}

WRAPPER int setgroups(size_t count, const gid_t *groups)
{
	CALL_ALONE(setgroups, count, groups);
}

WRAPPER int initgroups(const char *user, gid_t group)
{
	CALL_ALONE(initgroups, user, group);
}

#else

/* An empty translation unit is none. */
extern int ppi_no_lone_calls;

#endif
