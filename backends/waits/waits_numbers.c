/* SPDX-License-Identifier: MIT */
/* What /proc counts of a thread: its sums, its switches, when it last ran. */
#include "backends/waits/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_MOST = 200, PATH_ROOM = 96 };

int ppi_waits_read(const struct waits_watch *watch,
                   const struct waits_thread *thread, const char *name,
                   char *text, size_t room)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/%s",
	         thread->process->pid, thread->tid, name);
	return watch->kernel->read(watch->kernel->self, path, text, room);
}

char *ppi_waits_read_list(const struct waits_watch *watch, const char *path)
{
	enum { FIRST = 1 << 14, LAST = 1 << 24 };
	const struct waits_kernel *kernel = watch->kernel;

	for (int room = FIRST;; room *= 4) {
		char *text = malloc((size_t)room);
		int got = text ? kernel->read(kernel->self, path, text,
		                              (size_t)room) : -1;

		if (got > 0 && (got < room - 1 || room == LAST))
			return text;
		free(text);
		if (got <= 0)
			return NULL;
	}
}

/* ---- sums ---- */

static int parse_sums(const char *text, struct waits_sums *sums)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64,
	              &sums->running_ns, &sums->ready_ns, &sums->turns) == 3
	       ? 0 : -EINVAL;
}

int ppi_waits_read_sums(struct waits_watch *watch, struct waits_thread *thread,
                        struct waits_sums *sums)
{
	const struct waits_kernel *kernel = watch->kernel;
	char path[PATH_ROOM], text[96];
	int got;

	snprintf(path, sizeof(path),
	         "/proc/%" PRId64 "/task/%" PRId64 "/schedstat",
	         thread->process->pid, thread->tid);
	if (thread->held == -1 && watch->held_count < HELD_MOST) {
		thread->held = kernel->hold(kernel->self, path);
		if (thread->held < 0)
			thread->held = -2;
		else
			watch->held_count++;
	}
	got = thread->held >= 0
		? kernel->read_held(kernel->self, thread->held, text,
	                            sizeof(text))
		: kernel->read(kernel->self, path, text, sizeof(text));
	if (got == 0)
		return -ESRCH;
	return got < 0 ? got : parse_sums(text, sums);
}

/* ---- switches: how often it waited, and since when it does ---- */

/* "key   :    123.456789", milliseconds in ns. 0: it is not there. */
static uint64_t find_ms(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	char *end;
	uint64_t ns, part = 0, unit = 100000;

	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return 0;
	ns = strtoull(at + 1, &end, 10) * 1000000;
	for (end += *end == '.'; *end >= '0' && *end <= '9' && unit; end++) {
		part += (uint64_t)(*end - '0') * unit;
		unit /= 10;
	}
	return ns + part;
}

static uint64_t find_count(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	at = at ? strchr(at, ':') : NULL;
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

void ppi_waits_read_switches(const struct waits_watch *watch,
                             const struct waits_thread *thread,
                             struct waits_switches *out)
{
	char text[4096];

	memset(out, 0, sizeof(*out));
	if (ppi_waits_read(watch, thread, "sched", text, sizeof(text)) > 0) {
		out->waits = find_count(text, "nr_voluntary_switches");
		out->ran_ns = find_ms(text, "se.exec_start");
	} else if (ppi_waits_read(watch, thread, "status", text, sizeof(text)) > 0) {
		out->waits = find_count(text, "\nvoluntary_ctxt_switches");
	}
}

/* The nth field of a thread's stat, counted from 1 as in proc_pid_stat(5). */
static bool read_field(const struct waits_watch *watch,
                       const struct waits_thread *thread, int wanted,
                       uint64_t *number)
{
	char text[640];
	const char *at;

	if (ppi_waits_read(watch, thread, "stat", text, sizeof(text)) <= 0)
		return false;
	at = strrchr(text, ')');
	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	if (at)
		*number = strtoull(at, NULL, 10);
	return at != NULL;
}

/* ---- clocks of CPUs: when a thread last ran is told by them ---- */

/* They stand still while interrupts and a hypervisor have the CPU, so that each is
 * as far behind as it is; a bound is good for so long. */
#define CLOCK_GOOD_NS  UINT64_C(500000000)
#define CLOCK_FRESH_NS UINT64_C(100000000)

static void set_clock(struct waits_watch *watch, uint64_t cpu, uint64_t now,
                      uint64_t ran_ns)
{
	struct waits_clock *clock;

	if (!ran_ns || ran_ns > now + CLOCK_GOOD_NS || cpu >= WAITS_CPUS)
		return;
	clock = &watch->times.clocks[cpu];
	if (!clock->at_ns || now > clock->at_ns + CLOCK_GOOD_NS ||
	    (int64_t)(now - ran_ns) <= clock->behind_ns) {
		clock->behind_ns = (int64_t)(now - ran_ns);
		clock->at_ns = now;
	}
}

/* By the own thread, which has just begun to run. */
void ppi_waits_read_clock(struct waits_watch *watch)
{
	const struct waits_kernel *kernel = watch->kernel;
	int before = kernel->cpu(kernel->self);
	char text[4096];

	if (before >= 0 && before < WAITS_CPUS &&
	    watch->times.clocks[before].at_ns + CLOCK_FRESH_NS > watch->now_ns)
		return;
	if (before < 0 || kernel->read(kernel->self, "/proc/thread-self/sched",
	                               text, sizeof(text)) <= 0 ||
	    kernel->cpu(kernel->self) != before)
		return;
	set_clock(watch, (uint64_t)before, kernel->now_ns(kernel->self),
	          find_ms(text, "se.exec_start"));
}

bool ppi_waits_blocked_since(const struct waits_watch *watch,
                             const struct waits_thread *thread,
                             const struct waits_switches *switches,
                             uint64_t *since_ns)
{
	const struct waits_clock *clock;
	uint64_t cpu;

	if (!switches->ran_ns || !read_field(watch, thread, 39, &cpu) ||
	    cpu >= WAITS_CPUS)
		return false;
	clock = &watch->times.clocks[cpu];
	if (!clock->at_ns || watch->now_ns > clock->at_ns + CLOCK_GOOD_NS)
		return false;
	*since_ns = switches->ran_ns + (uint64_t)clock->behind_ns;
	return true;
}

/* ---- when it began ---- */

/* When it began, CLOCK_MONOTONIC; 0 unknown. Field 22 of stat. */
uint64_t ppi_waits_began_ns(const struct waits_watch *watch,
                            const struct waits_thread *thread)
{
	const struct waits_kernel *kernel = watch->kernel;
	uint64_t now = kernel->now_ns(kernel->self);
	uint64_t ticks, ahead = kernel->boot_ns(kernel->self) - now;

	if (!read_field(watch, thread, 22, &ticks))
		return 0;
	ticks *= 1000000000u / kernel->ticks_per_s;
	return ticks > ahead ? ticks - ahead : 0;
}
