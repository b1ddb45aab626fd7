/* SPDX-License-Identifier: MIT */
/*
 * Signals by name: one table of names; what the C library has for it is glibc's own
 * (2.32). And those that a backend shares with the program.
 */
#include "config.h"

#include "base/signals.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

/* What a signal is for. The real-time ones are not in the list. */
enum purpose { FREE, FIXED, FAULT, NEWS };

static const struct {
	const char *name;
	int number;
	enum purpose purpose;
} known[] = {
	{ "HUP", SIGHUP, FREE },       { "INT", SIGINT, FREE },
	{ "QUIT", SIGQUIT, FREE },     { "ILL", SIGILL, FAULT },
	{ "TRAP", SIGTRAP, FAULT },    { "ABRT", SIGABRT, FAULT },
	{ "BUS", SIGBUS, FAULT },      { "FPE", SIGFPE, FAULT },
	{ "KILL", SIGKILL, FIXED },    { "USR1", SIGUSR1, FREE },
	{ "SEGV", SIGSEGV, FAULT },    { "USR2", SIGUSR2, FREE },
	{ "PIPE", SIGPIPE, FREE },     { "ALRM", SIGALRM, FREE },
	{ "TERM", SIGTERM, FREE },     { "CHLD", SIGCHLD, NEWS },
	{ "CONT", SIGCONT, NEWS },     { "STOP", SIGSTOP, FIXED },
	{ "TSTP", SIGTSTP, NEWS },     { "TTIN", SIGTTIN, NEWS },
	{ "TTOU", SIGTTOU, NEWS },     { "URG", SIGURG, NEWS },
	{ "XCPU", SIGXCPU, FREE },     { "XFSZ", SIGXFSZ, FREE },
	{ "VTALRM", SIGVTALRM, FREE }, { "PROF", SIGPROF, FREE },
	{ "SYS", SIGSYS, FAULT },
#ifdef SIGWINCH
	{ "WINCH", SIGWINCH, NEWS },
#endif
#ifdef SIGINFO
	{ "INFO", SIGINFO, NEWS },
#endif
#ifdef SIGEMT
	{ "EMT", SIGEMT, FAULT },
#endif
#ifdef SIGIO
	{ "IO", SIGIO, FREE },
#endif
#ifdef SIGPOLL
	{ "POLL", SIGPOLL, FREE },
#endif
#ifdef SIGPWR
	{ "PWR", SIGPWR, FREE },
#endif
#ifdef SIGSTKFLT
	{ "STKFLT", SIGSTKFLT, FREE },
#endif
};
enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };

/* Whether the text begins with `word`; then it is behind it. */
static bool skip(const char **text, size_t *length, const char *word)
{
	size_t bytes = strlen(word);

	if (*length < bytes || strncasecmp(*text, word, bytes) != 0)
		return false;
	*text += bytes;
	*length -= bytes;
	return true;
}

/* Three digits are more than any signal has. -1: no number. */
static int read_digits(const char *text, size_t length)
{
	int number = 0;

	if (length == 0 || length > 3)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return number;
}

/* sigaddset(3) knows which numbers there are. */
static int if_there_is(int number)
{
	sigset_t set;

	sigemptyset(&set);
	return number > 0 && sigaddset(&set, number) == 0 ? number : 0;
}

#ifdef SIGRTMIN
static int real_time(int base, char sign, const char *text, size_t length)
{
	int distance = 0;

	if (length && *text != sign)
		return 0;
	if (length)
		distance = read_digits(text + 1, length - 1);
	if (distance < 0 || distance > SIGRTMAX - SIGRTMIN)
		return 0;
	return sign == '+' ? base + distance : base - distance;
}
#endif

int ppi_signal_number(const char *text, size_t length)
{
	int number = read_digits(text, length);

	if (number >= 0)
		return if_there_is(number);
	skip(&text, &length, "SIG");
	for (int i = 0; i < KNOWN_COUNT; i++)
		if (length == strlen(known[i].name) &&
		    strncasecmp(text, known[i].name, length) == 0)
			return known[i].number;
#ifdef SIGRTMIN
	if (skip(&text, &length, "RTMIN"))
		return real_time(SIGRTMIN, '+', text, length);
	if (skip(&text, &length, "RTMAX"))
		return real_time(SIGRTMAX, '-', text, length);
#endif
	return 0;
}

static enum purpose purpose_of(int number)
{
	for (int i = 0; i < KNOWN_COUNT; i++)
		if (known[i].number == number)
			return known[i].purpose;
#ifdef SIGRTMIN
	if (number >= SIGRTMIN && number <= SIGRTMAX)
		return FREE;
#endif
	/* a number without a name is the C library's, as 32 is in glibc */
	return FIXED;
}

const char *ppi_signal_unusable(int number)
{
	static const char *const words[] = {
		[FREE] = NULL,
		[FIXED] = "cannot be caught",
		[FAULT] = "is raised by mistakes of the program",
		[NEWS] = "is sent for children, terminals or sockets",
	};

	return words[purpose_of(number)];
}

/* Where a backend and the keeper of the program's wishes find each other. */
struct ppi_signal_share ppi_signal_share;
