/* SPDX-License-Identifier: MIT */
/* Parses $PORTPROF: key=value;key=value. What gperftools' variables ask for is
 * said in the same form. */
#include "config.h"

#include "base/clock_ns.h"
#include "base/text.h"
#include "tools/preload/preload.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_key(const char *text, size_t length, const char *key)
{
	return length == strlen(key) && strncmp(text, key, length) == 0;
}

static bool is_no(const char *value, size_t length)
{
	return is_key(value, length, "no") || is_key(value, length, "0") ||
	       is_key(value, length, "false") || is_key(value, length, "off");
}

/* Take one "key=value" of `length` bytes; everything that is not meant for
 * the object itself becomes a line for the library, which says what is wrong
 * with it. */
static bool take_part(const char *part, size_t length,
                      struct ppi_preload_settings *out)
{
	const char *equals = memchr(part, '=', length);
	size_t key = equals ? (size_t)(equals - part) : length;
	size_t used = strlen(out->lines);

	if (length == 0)
		return true;
	if (is_key(part, key, "regions")) {
		out->regions = true;
		return true;
	}
	if (equals && is_key(part, key, "output")) {
		free(out->output);
		out->output = strndup(equals + 1, length - key - 1);
		return out->output != NULL;
	}
	if (equals && is_key(part, key, "share")) {
		free(out->share);
		out->share = strndup(equals + 1, length - key - 1);
		return out->share != NULL;
	}
	if (equals && is_key(part, key, "children")) {
		out->children = !is_no(equals + 1, length - key - 1);
		return true;
	}
	if (equals && is_key(part, key, "since")) {
		out->since_ns = strtoull(equals + 1, NULL, 10);
		return true;
	}
	memcpy(out->lines + used, part, length);
	memcpy(out->lines + used + length, "\n", 2);
	return true;
}

bool ppi_preload_parse(const char *text, struct ppi_preload_settings *out)
{
	memset(out, 0, sizeof(*out));
	out->children = true;
	out->lines = calloc(1, strlen(text) + 2);
	if (!out->lines)
		return false;
	while (*text) {
		size_t length = strcspn(text, ";\n");

		if (!take_part(text, length, out)) {
			ppi_preload_settings_free(out);
			return false;
		}
		text += length;
		text += *text != '\0';
	}
	return true;
}

void ppi_preload_settings_free(struct ppi_preload_settings *settings)
{
	free(settings->lines);
	free(settings->output);
	free(settings->share);
	memset(settings, 0, sizeof(*settings));
}

static bool expand(char letter, char *out, size_t bytes, const void *pid)
{
	if (letter == 'p')
		snprintf(out, bytes, "%ld", (long)*(const pid_t *)pid);
	else if (letter == 'n')
		snprintf(out, bytes, "%016llx",
		         (unsigned long long)ppi_monotonic_ns());
	else
		return false;
	return true;
}

char *ppi_preload_path(const char *pattern, pid_t pid)
{
	return ppi_pattern_fill(pattern, expand, &pid);
}

/* ---- gperftools' variables ---- */

/*
 * The variables of gperftools' CPU profiler, for programs that are started
 * with them: https://gperftools.github.io/gperftools/cpuprofile.html
 */

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
	return is_gperftools && value_of("CPUPROFILESIGNAL")
		       ? "CPUPROFILESIGNAL"
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
