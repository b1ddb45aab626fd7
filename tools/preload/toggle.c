/* SPDX-License-Identifier: MIT */
/*
 * The handler counts signals, wakes the helper thread where a handler can, and
 * does nothing else: what a session does to start and stop is nothing for a
 * handler. The thread, which ends for calls that mind threads and with the
 * program's last one, also looks at the count now and then.
 */
#include "config.h"

#include "tools/preload/toggle.h"

#include "api/core/helper.h"
#include "base/signals.h"
#include "tools/preload/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A wait that a user does not notice; ten looks a second cost nothing that
 * could be measured. */
enum { LOOK_MS = 100 };

static struct {
	int number;
	bool (*toggle)(void);
	void (*lost)(void);
	_Atomic pid_t owner; /* a vfork child shares our memory */
	_Atomic unsigned asked;
	unsigned done;
	struct ppi_helper_task task;
} self;

static void ask(void)
{
	atomic_fetch_add(&self.asked, 1);
	ppi_helper_wish(&self.task);
}

/* Reaches getpid() and sem_post() only. */
static void count(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	if (getpid() == atomic_load(&self.owner))
		ask();
}

static unsigned look(struct ppi_helper_task *task)
{
	(void)task;
	while (self.done != atomic_load(&self.asked) && self.toggle())
		self.done++;
	if (self.lost && ppi_signal_is_given_up(self.number)) {
		self.lost();
		self.lost = NULL;
	}
	return LOOK_MS;
}

static int take_signal(void)
{
	struct sigaction ours = { .sa_sigaction = count,
		                  .sa_flags = SA_SIGINFO | SA_RESTART |
		                              SA_ONSTACK };

	sigfillset(&ours.sa_mask);
	atomic_store(&self.owner, getpid());
	return sigaction(self.number, &ours, NULL);
}

static bool start_thread(struct ppi_diag *why)
{
	ppi_process_handle_forks();
	if (ppi_helper_take(why) != PORTPROF_OK)
		return false;
	self.task = (struct ppi_helper_task){ .run = look };
	ppi_helper_add(&self.task);
	return true;
}

/* Why the program or our sampling needs the signal; NULL: nobody does. */
static const char *find_user(int number)
{
	struct sigaction now;

	if (ppi_signal_unusable(number))
		return ppi_signal_unusable(number);
	if (number == SIGPROF)
		return "belongs to the itimer backend";
	if (sigaction(number, NULL, &now) != 0)
		return "cannot be caught";
	if ((now.sa_flags & SA_SIGINFO) ||
	    (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN))
		return "already has a handler of the program";
	return NULL;
}

bool ppi_toggle_begin(const char *value, bool (*toggle)(void),
                      void (*lost)(void), char *words, unsigned bytes)
{
	int number = ppi_signal_number(value, strlen(value));
	const char *reason = number ? find_user(number) : NULL;
	struct ppi_diag why;

	if (!number) {
		snprintf(words, bytes, "there is no signal '%s' here; write a "
		         "number or a name, as in 12, USR2 or RTMIN+3", value);
		return false;
	}
	if (reason) {
		snprintf(words, bytes, "signal '%s' %s; name another, such as "
		         "USR2 or RTMIN+3", value, reason);
		return false;
	}
	self.number = number;
	self.toggle = toggle;
	self.lost = lost;
	if (!start_thread(&why)) {
		snprintf(words, bytes, "%s", why.words);
		return false;
	}
	/* nothing is lost of what comes from now on */
	take_signal();
	ppi_signal_give_up_on_wish(number);
	return true;
}

void ppi_toggle_begin_again(void)
{
	struct ppi_diag unused;

	if (!self.lost)
		return;
	atomic_store(&self.asked, 0);
	self.done = 0;
	if (start_thread(&unused))
		take_signal();
}
