/* SPDX-License-Identifier: MIT */
/*
 * The exec functions, wrapped: execve(2) keeps ITIMER_PROF, and the new program
 * would die of its first SIGPROF. Before the real call all sessions pause, and
 * resume if it fails.
 *
 * Only in shared objects, which stand between the program and the C library: in
 * a static archive this file is empty, because it has no next definition to
 * call. The raw system call is not wrapped. posix_spawn and system need nothing,
 * because a new process inherits no timer.
 *
 * Nothing here allocates or locks, since exec is async-signal-safe by POSIX: the
 * real functions are looked up when the object is loaded. (portprof_exec_begin
 * locks and writes, but only in the process that has running sessions.)
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#if defined(__linux__) && !defined(PIC)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <portprof/exec.h>

/* libtool compiles with PIC for shared objects; tests ask by the other name. */
#if defined(PIC) || defined(PPI_WRAP_EXEC)

#define WRAPPER __attribute__((visibility("default")))

extern char **environ;

static struct {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execvp)(const char *, char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fexecve)(int, char *const[], char *const[]);
	int (*execveat)(int, const char *, char *const[], char *const[], int);
} real;

/* POSIX lets a pointer to data hold one to a function; C does not. */
static void look_up(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

static void look_up_all(void)
{
	look_up("execve", &real.execve);
	look_up("execvp", &real.execvp);
	look_up("execvpe", &real.execvpe);
	look_up("fexecve", &real.fexecve);
	look_up("execveat", &real.execveat);
}

/* In an object that dlopen loaded later, wrappers see no call of the program. */
static int is_before_libc(void)
{
	int (*first)(const char *, char *const[], char *const[]) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "execve");

	memcpy(&first, &found, sizeof(first));
	return real.execve && first != real.execve;
}

__attribute__((constructor)) static void begin(void)
{
	look_up_all();
	if (is_before_libc())
		portprof_exec_guard();
}

/* Another object's constructor may exec before ours has run. */
static void before(void)
{
	if (!real.execve)
		look_up_all();
	portprof_exec_begin();
}

static int after(int result)
{
	portprof_exec_failed();
	return result;
}

static int is_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* A static program has no next one: tests hold these wrappers, too. */
static int call_system(const char *path, char *const argv[],
                       char *const envp[])
{
#if defined(__linux__) && !defined(PIC)
	return (int)syscall(SYS_execve, path, argv, envp);
#else
	(void)path;
	(void)argv;
	(void)envp;
	return is_missing();
#endif
}

WRAPPER int execve(const char *path, char *const argv[], char *const envp[])
{
	before();
	return after(real.execve ? real.execve(path, argv, envp) :
	                           call_system(path, argv, envp));
}

WRAPPER int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

WRAPPER int execvp(const char *file, char *const argv[])
{
	before();
	return after(real.execvp ? real.execvp(file, argv) : is_missing());
}

#ifdef HAVE_EXECVPE
WRAPPER int execvpe(const char *file, char *const argv[], char *const envp[])
{
	before();
	return after(real.execvpe ? real.execvpe(file, argv, envp) :
	                            is_missing());
}
#endif

#ifdef HAVE_FEXECVE
WRAPPER int fexecve(int fd, char *const argv[], char *const envp[])
{
	before();
	return after(real.fexecve ? real.fexecve(fd, argv, envp) :
	                            is_missing());
}
#endif

#ifdef HAVE_EXECVEAT
WRAPPER int execveat(int dir, const char *path, char *const argv[],
                     char *const envp[], int flags)
{
	before();
	return after(real.execveat ?
	                     real.execveat(dir, path, argv, envp, flags) :
	                     is_missing());
}
#endif

/* ---- argument lists ---- */

static size_t count_arguments(va_list *list)
{
	size_t count = 1;

	while (va_arg(*list, char *))
		count++;
	return count;
}

/* All of them with the NULL that ends them; argv has room for count + 1. */
static void copy_arguments(char **argv, const char *first, size_t count,
                           va_list *list)
{
	memcpy(argv, &first, sizeof(*argv));
	for (size_t i = 1; i <= count; i++)
		argv[i] = va_arg(*list, char *);
}

/* The vector lies on the stack, as memory must not be allocated here. */
#define LIST_TO_VECTOR(argv, first, list)                                    \
	do {                                                                 \
		size_t count;                                                \
                                                                             \
		va_start(list, first);                                       \
		count = count_arguments(&list);                              \
		va_end(list);                                                \
		argv = __builtin_alloca((count + 1) * sizeof(char *));       \
		va_start(list, first);                                       \
		copy_arguments(argv, first, count, &list);                   \
	} while (0)

WRAPPER int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list list;

	LIST_TO_VECTOR(argv, arg, list);
	va_end(list);
	return execve(path, argv, environ);
}

WRAPPER int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list list;

	LIST_TO_VECTOR(argv, arg, list);
	va_end(list);
	return execvp(file, argv);
}

WRAPPER int execle(const char *path, const char *arg, ...)
{
	char **argv, **envp;
	va_list list;

	LIST_TO_VECTOR(argv, arg, list);
	envp = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, envp);
}

#else

/* An empty translation unit is none. */
extern int ppi_no_exec_wrappers_in_archives;

#endif
