/* SPDX-License-Identifier: MIT */
/* portprof push: sends profiles to an engine that a fleet has. */
#include "config.h"

#include "base/foreign_file.h"
#include "base/hash.h"
#include "tools/fleet/fleet.h"
#include "tools/input.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/symbols/symbols_download.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct push {
	struct ppi_fleet fleet;
	const char *body, *spool;
	uint64_t keep_ms, spool_bytes, tries;
	uint64_t time_s; /* of profiles that have none; 0: unknown */
	bool is_quiet;
};

#define AT(member) offsetof(struct push, member)

static int take_time(const struct ppi_given *given, void *seconds);

static const struct ppi_option table[] = {
	{ 0, "to", "URL",
	  "send there: pyroscope+http://HOST:4040, parca+http://HOST:7070, "
	  "otlp+http://HOST:4318, clickhouse+http://HOST:8123/DATABASE, "
	  "http://HOST/PATH; or +https",
	  .take = ppi_take_text, .place = AT(fleet.to) },
	{ .help = "What is sent" },
	{ 0, "time", "WHEN",
	  "when profiles that do not say so began: 2026-11-30T08:15, of UTC, or "
	  "seconds since 1970",
	  .take = take_time, .place = AT(time_s) },
	PPI_SENT_OPTIONS(AT(fleet)),
	{ 0, "no-symbols", NULL, "send code without names",
	  .take = ppi_take_flag, .place = AT(fleet.is_nameless) },
	{ 0, "no-arguments", NULL, "leave the command's arguments out",
	  .take = ppi_take_flag, .place = AT(fleet.hides_arguments) },
	PPI_HIDE_OPTIONS(AT(fleet.hidden)),
	{ 0, "body", "FILE", "write what would be sent there, and send nothing",
	  .take = ppi_take_text, .place = AT(body) },
	{ .help = "The connection" },
	PPI_CONNECTION_OPTIONS(AT(fleet)),
	{ 0, "tries", "N", "try N times while the server is not ready (5)",
	  .take = ppi_take_number, .place = AT(tries), .least = 1,
	  .most = 1000, .what = "a number of tries" },
	{ .help = "A spool" },
	{ 0, "spool", "DIR",
	  "keep profiles in DIR until they are sent; without FILE send what "
	  "is there",
	  .take = ppi_take_text, .place = AT(spool) },
	{ 0, "keep", "TIME", "drop what is older (7d)",
	  .take = ppi_take_age, .place = AT(keep_ms) },
	{ 0, "spool-size", "SIZE", "drop the oldest above SIZE (256M)",
	  .take = ppi_take_memory, .place = AT(spool_bytes) },
	PPI_MEMORY_OPTION(AT(fleet.memory_max)),
	{ 'q', "quiet", NULL, "print no summary",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
};

static const struct ppi_line line = {
	.verb = "push",
	.usage = "--to URL [OPTION...] FILE...\n"
	         "--to URL --spool DIR [OPTION...] [FILE...]",
	.notes = "Secrets are in the environment (PORTPROF_PUSH_TOKEN, "
	         "PORTPROF_PUSH_USER=NAME:PASSWORD), in ~/.netrc, or in the "
	         "file of --headers.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

/* ---- when it was ---- */

/* Of the Gregorian calendar. */
static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
		                    31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Since 1970-01-01. */
static uint64_t days_until(int year, int month, int day)
{
	int days = day - 1;

	for (int past = 1970; past < year; past++)
		days += 365 + is_leap(past);
	for (int past = 1; past < month; past++)
		days += days_in(year, past);
	return (uint64_t)days;
}

/* Past a mark, if there is to be one, and so many digits: of fewer it may be
 * something else that was meant. */
static bool read_digits(const char **text, char mark, int count, int *number)
{
	const char *at = *text + (mark != 0);

	if (mark && **text != mark)
		return false;
	for (*number = 0; count > 0 && *at >= '0' && *at <= '9'; count--)
		*number = *number * 10 + *at++ - '0';
	*text = at;
	return count == 0;
}

/* False: it is no time from 1970 to 2105, which ClickHouse's DateTime ends with. */
static bool read_time(const char *text, uint64_t *seconds)
{
	int year, month, day, hour = 0, minute = 0, second = 0;

	if (text[strspn(text, "0123456789")] == '\0')
		return ppi_read_number(text, 1, UINT32_MAX, seconds);
	if (!read_digits(&text, 0, 4, &year) ||
	    !read_digits(&text, '-', 2, &month) ||
	    !read_digits(&text, '-', 2, &day))
		return false;
	if (*text == 'T' && (!read_digits(&text, 'T', 2, &hour) ||
	                     !read_digits(&text, ':', 2, &minute) ||
	                     (*text == ':' &&
	                      !read_digits(&text, ':', 2, &second))))
		return false;
	text += *text == 'Z';
	if (*text || year < 1970 || year > 2105 || month < 1 || month > 12 ||
	    day < 1 || day > days_in(year, month) || hour > 23 ||
	    minute > 59 || second > 60)
		return false;
	*seconds = days_until(year, month, day) * 86400 +
	           (uint64_t)(hour * 3600 + minute * 60 + second);
	return *seconds > 0;
}

static int take_time(const struct ppi_given *given, void *seconds)
{
	return read_time(given->value, seconds)
	       ? PPI_EXIT_OK
	       : ppi_given_refuse(given, "a time with all its digits, such as "
	                                 "2026-01-05T08:15, or seconds since "
	                                 "1970");
}

/* When the file was written, which is what it was measured before. */
static void say_no_time(const struct push *push, const char *path)
{
	char when[64] = "WHEN";
	struct stat at;
	struct tm utc;

	if (stat(path, &at) == 0 && S_ISREG(at.st_mode) &&
	    gmtime_r(&at.st_mtime, &utc))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
	ppi_say("'%s' does not say when it was measured, and %s keeps profiles "
	        "by their time: say it with --time %s, which is when its file "
	        "was written%s", path, push->fleet.url.engine->shown, when,
	        push->spool ? ", and without --spool" : "");
}

/* False, with words, before anything is sent or written. */
static bool find_time(const struct push *push, struct ppi_batch *batch)
{
	if (!batch->start_ns)
		batch->start_ns = push->time_s * UINT64_C(1000000000);
	if (batch->start_ns || !push->fleet.url.engine->is_by_time)
		return true;
	say_no_time(push, batch->path);
	return false;
}

/* ---- without sending ---- */

static bool put_body(void *context, FILE *out)
{
	const struct ppi_wire *body = context;

	if (body->bytes.count)
		fwrite(body->bytes.data, 1, body->bytes.count, out);
	return true;
}

/* In single quotes, as a shell reads it back. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	putchar('\'');
}

/* What curl(1) would have to be told. */
static void print_curl(const struct push *push,
                       const struct ppi_request *request, const char *file)
{
	printf("curl --fail -X %s -H 'Content-Type: %s'%s", request->method,
	       request->type, request->is_packed
	       ? " -H 'Content-Encoding: gzip'" : "");
	if (push->fleet.tenant) {
		printf(" -H ");
		printf("'X-Scope-OrgID: %s'", push->fleet.tenant);
	}
	if (push->fleet.headers) {
		printf(" -H @");
		print_quoted(push->fleet.headers);
	}
	printf(" --data-binary @");
	print_quoted(file);
	putchar(' ');
	print_quoted(request->url);
	putchar('\n');
}

/* BODY, BODY.2, BODY.3: one for each request. */
static bool write_bodies(const struct push *push, struct ppi_batch *batch,
                         bool prints)
{
	struct ppi_requests requests = { 0 };
	bool is_good = batch->fleet->url.engine->encode(batch, &requests);
	char name[4096];

	for (size_t i = 0; is_good && i < requests.list.count; i++) {
		struct ppi_request *request =
			&PPI_AT(&requests.list, struct ppi_request)[i];

		snprintf(name, sizeof(name), i ? "%s.%zu" : "%s", push->body,
		         i + 1);
		is_good = ppi_out_write(name, put_body, &request->body);
		if (is_good && prints)
			print_curl(push, request, name);
	}
	ppi_requests_free(&requests);
	return is_good;
}

/* ---- sending ---- */

static void nap(uint64_t ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000),
		                 .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

static enum ppi_sent try_often(const struct push *push, struct ppi_http *http,
                               struct ppi_batch *batch, struct ppi_answer *why)
{
	enum ppi_sent sent;

	batch->asks = true;
	sent = ppi_send(http, batch, why);

	for (unsigned tried = 1; sent == PPI_LATER && tried < push->tries;
	     tried++) {
		uint64_t ms = ppi_back_off_ms(tried, why->wait_ms);

		/* what is wrong with the place does not mend itself soon */
		if (why->status >= 300 && why->status < 500 &&
		    why->status != 408 && why->status != 425 &&
		    why->status != 429)
			break;
		if (!push->is_quiet)
			ppi_say("%s: %s; again in %.1f s",
			        ppi_fleet_shown(&push->fleet), why->words,
			        (double)ms / 1000);
		nap(ms);
		ppi_wire_free(&why->body);
		batch->is_again = true;
		sent = ppi_send(http, batch, why);
	}
	return sent;
}

static bool send_batch(const struct push *push, struct ppi_http *http,
                       struct ppi_batch *batch)
{
	struct ppi_answer why;
	enum ppi_sent sent = try_often(push, http, batch, &why);

	if (sent != PPI_SENT)
		ppi_say("'%s' was not sent to %s: %s", batch->path,
		        ppi_fleet_shown(&push->fleet), why.words);
	else if (!push->is_quiet)
		ppi_say("%s is sent to %s", batch->path,
		        ppi_fleet_shown(&push->fleet));
	ppi_wire_free(&why.body);
	return sent == PPI_SENT;
}

/* The same file has the same name there, so sending it twice is harmless where the
 * engine looks at names. */
static bool name_batch(struct ppi_batch *batch, const char *path)
{
	uint64_t hash = PPI_HASH_BEGIN;
	char step[65536];
	FILE *file = ppi_foreign_stream(path, PPI_FOREIGN_TYPED);
	size_t got;

	while (file && (got = fread(step, 1, sizeof(step), file)) > 0)
		hash = ppi_hash_add(hash, step, got);
	if (file)
		fclose(file);
	snprintf(batch->id, sizeof(batch->id), "%016" PRIx64 "-%016" PRIx64,
	         batch->start_ns, ppi_hash_end(hash));
	return true;
}

static bool push_one(const struct push *push, struct ppi_http *http,
                     const char *path)
{
	struct ppi_batch batch = { 0 };
	bool is_good = ppi_batch_open(&batch, &push->fleet, path, NULL, false) &&
	               find_time(push, &batch) && name_batch(&batch, path);

	if (is_good && push->body)
		is_good = write_bodies(push, &batch, true);
	else if (is_good)
		is_good = send_batch(push, http, &batch);
	ppi_batch_close(&batch);
	return is_good;
}

/* ---- by a spool ---- */

static bool copy_in(const struct push *push, struct ppi_outbox *outbox,
                    const char *path)
{
	static const struct ppi_named_sources usual;
	const struct ppi_fleet *fleet = &push->fleet;
	portprof_profile *profile = ppi_profile_open(path, NULL, 0);
	const char *draft;
	bool is_good = profile != NULL;
	uint64_t samples = 0;

	if (!is_good)
		return false;
	if (!portprof_profile_origin_get(profile)->start_ns &&
	    fleet->url.engine->is_by_time) {
		say_no_time(push, path);
		portprof_profile_free(profile);
		return false;
	}
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		samples += portprof_profile_sample_get(profile, i)->samples[0];
	draft = ppi_outbox_draft(
		outbox, portprof_profile_origin_get(profile)->start_ns);
	is_good = (fleet->is_nameless ||
	           ppi_names_give(profile, &usual, NULL, NULL)) &&
	          ppi_hide(&fleet->hidden, profile) &&
	          (!fleet->hides_arguments ||
	           portprof_profile_hide(profile, PORTPROF_HIDE_ARGUMENTS) ==
	                   PORTPROF_OK);
	if (is_good && portprof_profile_write(profile, draft) != PORTPROF_OK) {
		ppi_say_failure(NULL);
		is_good = false;
	}
	is_good = is_good && ppi_outbox_add(outbox, draft, NULL, samples);
	portprof_profile_free(profile);
	return is_good;
}

static void say_counts(const struct ppi_outbox_counts *before,
                       const struct ppi_outbox_counts *after)
{
	ppi_say("%" PRIu64 " sent, %" PRIu64 " refused, %" PRIu64
	        " dropped, %" PRIu64 " waiting", after->sent - before->sent,
	        after->refused - before->refused,
	        after->dropped - before->dropped, after->waiting);
}

static bool push_spool(const struct push *push, struct ppi_http *http,
                       char **files, size_t count)
{
	const struct ppi_outbox_limits limits = {
		push->spool_bytes, push->keep_ms,
	};
	struct ppi_outbox *outbox =
		ppi_outbox_open(push->spool, &limits, &push->fleet);
	struct ppi_outbox_counts before, after;
	bool is_good = outbox != NULL;
	uint64_t wait_ms = 1;

	if (!outbox)
		return false;
	ppi_outbox_count(outbox, &before);
	ppi_outbox_rescue(outbox);
	for (size_t i = 0; i < count; i++)
		is_good &= copy_in(push, outbox, files[i]);
	for (unsigned tried = 0; wait_ms && tried < push->tries; tried++) {
		if (tried)
			nap(wait_ms);
		wait_ms = ppi_outbox_send(outbox, http, NULL);
	}
	ppi_outbox_count(outbox, &after);
	if (!push->is_quiet)
		say_counts(&before, &after);
	ppi_outbox_close(outbox);
	return is_good && after.waiting == 0 && after.refused == before.refused;
}

/* ---- the verb ---- */

static int complete(struct push *push, int argc)
{
	if (!push->fleet.to)
		return ppi_line_wrong(&line, "no place given: --to URL");
	if (optind == argc && !push->spool)
		return ppi_line_wrong(&line, "no profile given: portprof push "
		                             "--to URL FILE...");
	if (push->body && (push->spool || argc - optind > 1))
		return ppi_line_wrong(&line, "--body takes one FILE, and no "
		                             "--spool");
	if (push->time_s && push->spool)
		return ppi_line_wrong(&line, "--time takes no --spool, whose "
		                             "profiles say when they were "
		                             "measured");
	if (!push->tries)
		push->tries = 5;
	if (!push->keep_ms)
		push->keep_ms = UINT64_C(7) * 86400000;
	if (!push->spool_bytes)
		push->spool_bytes = UINT64_C(256) << 20;
	return PPI_LINE_READ;
}

/* Nothing can be sent: say what would. */
static void say_by_hand(const struct push *push, const char *file)
{
	char words[256];

	ppi_http_can(words);
	ppi_say("%s", words);
	ppi_say("with curl(1): portprof push --to '%s' --body BODY '%s' writes "
	        "what is to be sent, and prints the command", push->fleet.to,
	        file);
}

static bool push_all(const struct push *push, char **files, size_t count)
{
	struct ppi_http *http;
	bool is_good = true;
	char words[256];

	if (push->body)
		return push_one(push, NULL, files[0]);
	if (!ppi_http_can(words)) {
		say_by_hand(push, count ? files[0] : "FILE");
		return false;
	}
	http = ppi_http_open(&push->fleet);
	if (!http)
		return false;
	if (push->spool)
		is_good = push_spool(push, http, files, count);
	else
		for (size_t i = 0; i < count; i++)
			is_good &= push_one(push, http, files[i]);
	ppi_http_close(http);
	return is_good;
}

int ppi_push_main(int argc, char **argv)
{
	struct push push = { 0 };
	int status = ppi_line_read(&line, argc, argv, &push);

	if (status == PPI_LINE_READ)
		status = complete(&push, argc);
	if (status != PPI_LINE_READ)
		return status;
	ppi_download_never();
	ppi_memory_limit(push.fleet.memory_max);
	for (int i = optind; i < argc; i++) {
		argv[i] = (char *)ppi_input_name(argv[i]);
		if (!argv[i])
			return PPI_EXIT_FAILED;
	}
	status = PPI_EXIT_USAGE;
	if (ppi_fleet_begin(&push.fleet, "to"))
		status = push_all(&push, argv + optind,
		                  (size_t)(argc - optind))
		         ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	ppi_fleet_end(&push.fleet);
	return status;
}
