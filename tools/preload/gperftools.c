/* SPDX-License-Identifier: MIT */
/*
 * The variables of gperftools' CPU profiler, for programs that are started
 * with them: https://gperftools.github.io/gperftools/cpuprofile.html
 */
#include "config.h"

#include "tools/preload/preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* Those that ask for another kind of profile. CPUPROFILE_PER_THREAD_TIMERS and
 * CPUPROFILE_TIMER_SIGNAL only say how; every thread is measured anyway. */
static const char *find_ignored(void)
{
	const char *realtime = value_of("CPUPROFILE_REALTIME");

	if (realtime && strchr("1tTyY", realtime[0]))
		return "CPUPROFILE_REALTIME is not supported: time without CPU "
		       "use is not measured";
	return NULL;
}

const char *ppi_preload_signal_variable(bool is_gperftools)
{
	if (value_of("PORTPROF_SIGNAL"))
		return "PORTPROF_SIGNAL";
	return is_gperftools && value_of("CPUPROFILESIGNAL") ? "CPUPROFILESIGNAL"
	                                                     : NULL;
}

char *ppi_preload_from_gperftools(const char **ignored)
{
	const char *file = value_of("CPUPROFILE");
	const char *rate = value_of("CPUPROFILE_FREQUENCY");
	size_t bytes, used;
	char *text;

	*ignored = NULL;
	if (!file || strpbrk(file, ";\n"))
		return NULL;
	bytes = 2 * strlen(file) + (rate ? strlen(rate) : 0) + 64;
	text = malloc(bytes);
	if (!text)
		return NULL;
	*ignored = find_ignored();
	used = (size_t)snprintf(text, bytes, "frequency=%s;output=",
	                        rate ? rate : "100");
	/* our patterns begin with a percent sign, gperftools has none */
	for (; *file; file++) {
		if (*file == '%')
			text[used++] = '%';
		text[used++] = *file;
	}
	text[used] = '\0';
	return text;
}
