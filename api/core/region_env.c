/* SPDX-License-Identifier: MIT */
/*
 * Regions without code around them: PORTPROF=regions opens them at the first
 * portprof_region_begin of a program that opens none, and at its exit their
 * table goes to a file.
 *
 *   $PORTPROF --> ppi_regions_wanted() --> portprof_regions_open()
 *   exit, portprof_regions_close() --> region_table.c --> atomic_file.c
 *
 * A forked child has nothing of its parent's, and a table of its own once it
 * begins a region.
 */
#include "config.h"

#include "api/core/region.h"

#include "api/profile/atomic_file.h"
#include "api/core/diag.h"
#include "api/core/region_table.h"
#include "base/environment.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	atomic_bool is_read;       /* there is nothing more to ask for */
	_Atomic(struct portprof_regions *) open;
	struct portprof_regions *stale; /* the parent's, in a forked child */
	struct ppi_region_origin origin;
	bool is_child, is_text;
	char *output;              /* pattern; NULL: the usual */
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* The library is silent, but nobody else can say this (OLD-8). */
static void complain(const char *words, ...)
	__attribute__((format(printf, 1, 2)));

static void complain(const char *words, ...)
{
	char line[1200] = "portprof: PORTPROF=regions: ";
	size_t begun = strlen(line);
	va_list list;

	va_start(list, words);
	vsnprintf(line + begun, sizeof(line) - begun - 1, words, list);
	va_end(list);
	begun = strlen(line);
	line[begun++] = '\n';
	/* nobody is left to hear that standard error is closed */
	if (write(2, line, begun) < 0)
		return;
}

/* ---- what is asked for ---- */

static bool is_key(const char *part, size_t length, const char *key)
{
	return length == strlen(key) && strncmp(part, key, length) == 0;
}

/* Parts of $PORTPROF, "KEY=VALUE" with semicolons between them, as the
 * preloaded object takes them apart: settings of the library go to `lines`.
 * False when out of memory. */
static bool take_part(const char *part, size_t length, char *lines,
                      const char **format, size_t *format_length)
{
	const char *equals = memchr(part, '=', length);
	size_t key = equals ? (size_t)(equals - part) : length;
	size_t used = strlen(lines);

	if (is_key(part, key, "regions")) {
		*format = equals ? equals + 1 : "json";
		*format_length = equals ? length - key - 1 : 4;
	} else if (equals && is_key(part, key, "output")) {
		free(asked.output);
		asked.output = strndup(equals + 1, length - key - 1);
		return asked.output != NULL;
	} else if (!is_key(part, key, "since")) {
		memcpy(lines + used, part, length);
		memcpy(lines + used + length, "\n", 2);
	}
	return true;
}

/* The settings, to be freed; NULL when no regions are asked for, or the
 * asking is wrong. */
static char *read_settings(const char *text)
{
	char *lines = calloc(1, strlen(text) + 2);
	const char *format = NULL;
	size_t format_length = 0, length;
	bool is_good = lines != NULL;

	for (; is_good && *text; text += length, text += *text != '\0') {
		length = strcspn(text, ";\n");
		is_good = take_part(text, length, lines, &format,
		                    &format_length);
	}
	if (!is_good) {
		complain("out of memory");
	} else if (format) {
		asked.is_text = is_key(format, format_length, "text");
		is_good = asked.is_text ||
		          is_key(format, format_length, "json");
		if (!is_good)
			complain("'%.*s' is not a format of tables: write "
			         "regions=json or regions=text",
			         (int)format_length, format);
	}
	if (is_good && format)
		return lines;
	free(lines);
	return NULL;
}

static void open_asked(const char *lines)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = PORTPROF_E_NOMEM;

	if (config)
		status = portprof_config_load_text(config, "PORTPROF", lines,
		                                   NULL);
	if (status == PORTPROF_OK)
		status = portprof_regions_open(config, NULL);
	if (status == PORTPROF_OK) {
		ppi_region_origin(&asked.origin);
		atomic_store(&asked.open, ppi_regions_now());
	} else {
		complain("nothing is counted: %s",
		         config ? portprof_last_diag()->words
		                : "out of memory");
	}
	portprof_config_free(config);
}

/* Its thread alone runs. The locks of others may be held for ever, and closing
 * takes some, so what the parent had is closed later. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&asked.lock, NULL);
	if (!atomic_load(&asked.open))
		return;
	asked.stale = ppi_regions_disown();
	asked.is_child = true;
	atomic_store(&asked.open, NULL);
	atomic_store(&asked.is_read, false);
}

static void set_handlers(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

struct portprof_regions *ppi_regions_wanted(void)
{
	struct portprof_regions *all = ppi_regions_now();
	const char *text;
	char *lines;

	if (all || atomic_load_explicit(&asked.is_read, memory_order_acquire))
		return all;
	pthread_once(&handlers_once, set_handlers);
	pthread_mutex_lock(&asked.lock);
	text = atomic_load(&asked.is_read) ? NULL : ppi_environment("PORTPROF");
	lines = text ? read_settings(text) : NULL;
	if (lines) {
		ppi_regions_free(asked.stale);
		asked.stale = NULL;
		open_asked(lines);
	}
	free(lines);
	atomic_store(&asked.is_read, true);
	pthread_mutex_unlock(&asked.lock);
	return ppi_regions_now();
}

void ppi_regions_want_none(void)
{
	atomic_store(&asked.is_read, true);
}

/* ---- the file ---- */

/* One of a pattern's letters, or false. */
static bool expand(char letter, char *out, size_t bytes)
{
	const struct ppi_region_origin *origin = &asked.origin;

	if (letter == 'h')
		snprintf(out, bytes, "%s", origin->host);
	else if (letter == 'p')
		snprintf(out, bytes, "%lld", (long long)origin->pid);
	else if (letter == 'r')
		snprintf(out, bytes, "%lld",
		         (long long)(origin->rank >= 0 ? origin->rank
		                                       : origin->pid));
	else if (letter == '%')
		snprintf(out, bytes, "%%");
	else
		return false;
	return true;
}

static char *path_of(const char *pattern)
{
	size_t bytes = strlen(pattern) * sizeof(asked.origin.host) + 1;
	char *path = malloc(bytes);
	size_t used = 0;

	for (; path && *pattern; pattern++) {
		if (*pattern == '%' &&
		    expand(pattern[1], path + used, bytes - used)) {
			used += strlen(path + used);
			pattern++;
		} else {
			path[used++] = *pattern;
		}
	}
	if (path)
		path[used] = '\0';
	return path;
}

static bool has_letter(const char *pattern, char letter)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%' || !pattern[1])
			continue;
		pattern++;
		if (*pattern == letter)
			return true;
	}
	return false;
}

/* No two processes of a job, and no child and its parent, write one file. */
static char *find_path(void)
{
	const char *usual = asked.is_text ? "portprof-regions.%h.%p.txt"
	                                  : "portprof-regions.%h.%p.json";
	const char *pattern = asked.output ? asked.output : usual;
	bool has_pid = has_letter(pattern, 'p');
	size_t bytes = strlen(pattern) + sizeof(".%r.%p");
	char *whole = malloc(bytes), *path;

	if (!whole)
		return NULL;
	snprintf(whole, bytes, "%s%s%s", pattern,
	         asked.origin.rank >= 0 && !has_pid &&
	         !has_letter(pattern, 'r') ? ".%r" : "",
	         asked.is_child && !has_pid ? ".%p" : "");
	path = path_of(whole);
	free(whole);
	return path;
}

static void write_table(struct portprof_regions *all)
{
	char *path = find_path(), *text = NULL;
	struct ppi_diag why;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	bool is_whole = path && out &&
	                ppi_region_table_write(all, &asked.origin,
	                                       asked.is_text, out);

	if (out && fclose(out) != 0)
		is_whole = false;
	if (is_whole && ppi_file_put(path, text, bytes, &why))
		complain("no table is written: %s", why.words);
	else if (!is_whole)
		complain("no table is written: out of memory");
	free(text);
	free(path);
}

/* Once, and never by a child that fork handlers did not see. */
void ppi_regions_deliver(void)
{
	struct portprof_regions *all = atomic_exchange(&asked.open, NULL);

	if (!all || ppi_is_forked(&all->guard))
		return;
	ppi_region_end_all();
	write_table(all);
}

__attribute__((destructor)) static void deliver_at_exit(void)
{
	ppi_regions_deliver();
}
