/* SPDX-License-Identifier: MIT */
/* What the user's environment asks of the drop-in functions; read once. */
#include "config.h"

#include "compat/drop-in/dialect.h"

#include "base/environment.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#define HAS_CLOCKRATE 1
#include <sys/param.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

enum { HZ_MAX = 1000000, USUAL_HZ = 100 };

static struct {
	pthread_mutex_t lock;
	bool is_read;
	const struct ppi_rules *plain;
	unsigned hz; /* 0 = the dialect's own */
	bool has_defects;
	const char *backend;
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_flag has_complained = ATOMIC_FLAG_INIT;

void ppi_complain(const char *words, ...)
{
	char line[1200] = "portprof: ";
	size_t begun = strlen(line);
	va_list list;
	int length;

	if (atomic_flag_test_and_set(&has_complained))
		return;
	va_start(list, words);
	length = vsnprintf(line + begun, sizeof(line) - begun - 1, words,
	                   list);
	va_end(list);
	if (length < 0)
		return;
	length = (int)strlen(line);
	line[length++] = '\n';
	/* there is nobody to be told when standard error is closed */
	if (write(2, line, (size_t)length) < 0)
		return;
}

static void list_dialects(char *list, size_t bytes)
{
	const struct ppi_rules *rules;

	list[0] = '\0';
	for (size_t i = 0; (rules = ppi_rules_at(i)); i++)
		snprintf(list + strlen(list), bytes - strlen(list), "%s%s",
		         i ? ", " : "", rules->name);
}

static void read_dialect(void)
{
	const char *name = ppi_environment("PORTPROF_DIALECT");
	char list[256];

	asked.plain = name ? ppi_rules_find(name) : NULL;
	if (name && !asked.plain) {
		list_dialects(list, sizeof(list));
		ppi_complain("PORTPROF_DIALECT=%.64s: no such dialect; using "
		             "%s, that of this system; there are %s", name,
		             ppi_rules_of_host()->name, list);
	}
	if (!asked.plain)
		asked.plain = ppi_rules_of_host();
}

static void read_hz(void)
{
	const char *text = ppi_environment("PORTPROF_HZ");
	char *end;
	unsigned long hz;

	asked.hz = 0;
	if (!text)
		return;
	hz = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && hz >= 1 &&
	    hz <= HZ_MAX)
		asked.hz = (unsigned)hz;
	else
		ppi_complain("PORTPROF_HZ=%.64s: must be a number of ticks a "
		             "second from 1 to %d; using the usual rate",
		             text, HZ_MAX);
}

static void read_environment(void)
{
	const char *defects;

	pthread_mutex_lock(&asked.lock);
	if (!asked.is_read) {
		read_dialect();
		read_hz();
		defects = ppi_environment("PORTPROF_DEFECTS");
		asked.has_defects = defects && strcmp(defects, "0") != 0;
		asked.backend = ppi_environment("PORTPROF_BACKEND");
		asked.is_read = true;
	}
	pthread_mutex_unlock(&asked.lock);
}

void ppi_dialect_forget(void)
{
	asked.is_read = false;
	atomic_flag_clear(&has_complained);
}

const struct ppi_rules *ppi_plain_dialect(void)
{
	read_environment();
	return asked.plain;
}

bool ppi_wants_defects(void)
{
	read_environment();
	return asked.has_defects;
}

const char *ppi_wanted_backend(void)
{
	read_environment();
	return asked.backend;
}

/* What programs of a BSD divide by: gmon.c of their libc asks for profhz, and
 * for hz when there is no such clock. Elsewhere they cannot ask. */
static unsigned bsd_hz(void)
{
#ifdef HAS_CLOCKRATE
	int name[] = { CTL_KERN, KERN_CLOCKRATE };
	struct clockinfo clock;
	size_t bytes = sizeof(clock);

	memset(&clock, 0, sizeof(clock));
	if (sysctl(name, 2, &clock, &bytes, NULL, 0) == 0) {
		if (clock.profhz > 0)
			return (unsigned)clock.profhz;
		if (clock.hz > 0)
			return (unsigned)clock.hz;
	}
#endif
	return USUAL_HZ;
}

unsigned ppi_tick_hz(const struct ppi_rules *rules)
{
	long hz;

	read_environment();
	if (asked.hz)
		return asked.hz;
	if (rules->family == PPI_FAMILY_BSD)
		return bsd_hz();
	hz = sysconf(_SC_CLK_TCK);
	return hz > 0 ? (unsigned)hz : USUAL_HZ;
}
