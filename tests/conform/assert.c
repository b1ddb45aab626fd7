/* SPDX-License-Identifier: MIT */
/* Assertions of the conformance suite, and how one case is run. */
#include "tests/conform/assert.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

enum { FAILED = 1, SKIPPED = 2 };

/* Of the case that runs; a child that it forked is no case. */
static struct {
	jmp_buf leave;
	pid_t owner;
	char words[1024];
} running;

_Noreturn static void leave(int how)
{
	if (getpid() != running.owner) {
		printf("# in a child: %s\n", running.words);
		fflush(stdout);
		_exit(FAILED);
	}
	longjmp(running.leave, how);
}

void cf_fail(const char *file, int line, const char *words, ...)
{
	size_t used = (size_t)snprintf(running.words, sizeof(running.words),
	                               "%s:%d: ", file, line);
	va_list values;

	va_start(values, words);
	if (used < sizeof(running.words))
		vsnprintf(running.words + used, sizeof(running.words) - used,
		          words, values);
	va_end(values);
	leave(FAILED);
}

void cf_end_skipped(void)
{
	leave(SKIPPED);
}

void cf_assert_number(const char *file, int line, const char *claim, bool holds,
                      uintmax_t value, uintmax_t other)
{
	if (!holds)
		cf_fail(file, line, "%s: %" PRIdMAX " and %" PRIdMAX, claim,
		        (intmax_t)value, (intmax_t)other);
}

void cf_assert_string(const char *file, int line, const char *value,
                      const char *other)
{
	if (!value || !other || strcmp(value, other) != 0)
		cf_fail(file, line, "\"%s\" is not \"%s\"",
		        value ? value : "(null)", other ? other : "(null)");
}

bool cf_run_case(size_t number, const char *name, void (*run)(const void *one),
            void (*clean_up)(void), const void *one)
{
	int how;

	running.owner = getpid();
	running.words[0] = '\0';
	how = setjmp(running.leave);
	if (how == 0)
		run(one);
	if (how == SKIPPED)
		printf("ok %zu # SKIP %s\n", number, name);
	else
		printf("%sok %zu - %s\n", how ? "not " : "", number, name);
	/* one line of words is one line of TAP */
	for (char *line = strtok(running.words, "\n"); how == FAILED && line;
	     line = strtok(NULL, "\n"))
		printf("# %s\n", line);
	clean_up();
	return how != FAILED;
}
