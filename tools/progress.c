/* SPDX-License-Identifier: MIT */
/* A progress line on a terminal, if the work takes longer than a second. */
#include "config.h"

#include "tools/progress.h"

#include "tools/color.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { PATIENCE_MS = 1000, RENEW_MS = 200 };

static struct {
	const char *doing; /* NULL: nothing is, or nobody would see it */
	uint64_t begun_ms, next_ms;
	bool is_shown;
} line;

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

void ppi_progress_begin(const char *doing)
{
	ppi_progress_end();
	if (!ppi_is_terminal(stderr))
		return;
	line.doing = doing;
	line.begun_ms = now_ms();
	line.next_ms = line.begun_ms + PATIENCE_MS;
}

void ppi_progress_step(uint64_t done, uint64_t all, const char *unit)
{
	uint64_t now;

	if (!line.doing)
		return;
	now = now_ms();
	if (now < line.next_ms)
		return;
	line.next_ms = now + RENEW_MS;
	line.is_shown = true;
	/* back to the first column, and what was there away */
	fprintf(stderr, "\r\033[K%s: %" PRIu64, line.doing, done);
	if (all)
		fprintf(stderr, " of %" PRIu64, all);
	fprintf(stderr, " %s, %" PRIu64 " s", unit,
	        (now - line.begun_ms) / 1000);
	fflush(stderr);
}

void ppi_progress_hide(void)
{
	if (line.is_shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	line.is_shown = false;
}

void ppi_progress_end(void)
{
	ppi_progress_hide();
	line.doing = NULL;
}
