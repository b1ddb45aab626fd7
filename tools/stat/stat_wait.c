/* SPDX-License-Identifier: MIT */
/* Waits for the end of the target, or for a time. */
#include "config.h"

#include "tools/stat/stat.h"

#include "tools/clock.h"

#include <signal.h>
#include <sys/select.h>
#include <time.h>

enum { LOOK_EVERY_NS = 20000000 }; /* nothing tells when others end */

/* Block what ends the wait, but while asleep: so that nothing is missed that
 * comes between a look and the sleep. */
static void hold_signals(sigset_t *before, sigset_t *asleep)
{
	static const int held[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP,
		                    SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigaddset(&block, held[i]);
	sigprocmask(SIG_BLOCK, &block, before);
	*asleep = *before;
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigdelset(asleep, held[i]);
}

/* Until `end_ns` (0: for ever) or a signal. */
static void doze(uint64_t end_ns, const sigset_t *asleep)
{
	uint64_t now = ppi_now_ns();
	struct timespec left = { 0, 0 };

	if (end_ns > now) {
		left.tv_sec = (time_t)((end_ns - now) / 1000000000u);
		left.tv_nsec = (long)((end_ns - now) % 1000000000u);
	}
	pselect(0, NULL, NULL, NULL, end_ns ? &left : NULL, asleep);
}

/* A command and a process end by themselves; a wait for a process is also
 * ended by a signal to us, which a command gets instead. */
static bool is_over(const struct ppi_stat_waited *waited)
{
	if (waited->child)
		return ppi_child_has_ended(waited->child);
	if (ppi_kept_signal() || waited->is_endless)
		return ppi_kept_signal() != 0;
	return waited->targets ? ppi_targets_have_ended(waited->targets)
	                       : ppi_watch_has_ended(&waited->thread);
}

bool ppi_stat_await(const struct ppi_stat_waited *waited, uint64_t deadline_ns)
{
	sigset_t before, asleep;
	bool has_ended;

	hold_signals(&before, &asleep);
	while (!(has_ended = is_over(waited))) {
		uint64_t now = ppi_now_ns(), end = deadline_ns;

		if (deadline_ns && now >= deadline_ns)
			break;
		if (!waited->child &&
		    (end == 0 || end > now + LOOK_EVERY_NS))
			end = now + LOOK_EVERY_NS;
		doze(end, &asleep);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return has_ended;
}
