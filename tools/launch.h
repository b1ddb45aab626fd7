/* SPDX-License-Identifier: MIT */
/* Starting the command that is measured, and waiting for it. */
#ifndef PPI_LAUNCH_H
#define PPI_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct ppi_child {
	pid_t pid;
	int go_fd;    /* a byte written here lets it execute the command */
	int error_fd; /* its errno comes here when that fails */
	uint64_t released_ns; /* CLOCK_MONOTONIC */
	uint64_t taken_ns;    /* by then */
	bool is_taken_known;
	bool has_no_terminal; /* asked for before it is started: what would be
	                       * a terminal of its first three descriptors is
	                       * /dev/null */
	bool has_no_output; /* asked for before it is started: its standard
	                     * output is ours alone; it has standard error */
	bool stops_at_exec; /* asked for before it is started, false after it
	                     * where that fails: once released it
	                     * stands before its first instruction */
	bool is_stopped;    /* there */
	bool is_reaped;     /* with the status and the times below */
	int status;
	struct rusage usage;
};

/* How it ended. */
struct ppi_end {
	int exit_status;      /* 128 + signal when it was killed by one */
	int signal;           /* 0: it ended by itself */
	uint64_t cpu_time_ns; /* user and system, waited-for children too */
	uint64_t user_time_ns, system_time_ns;
	uint64_t switches;    /* of threads, its own and waited-for children's */
	uint64_t duration_ns; /* since it was released */
	uint64_t taken_ns;    /* in that time, by what nobody is charged for:
	                       * see read_taken_ns; UINT64_MAX: unknown */
};

/* Whether a file is a program of the system's own form: if that is refused, it
 * is no script for the shell either. */
bool ppi_is_elf(const char *path);

/*
 * The file that execvp would run: 0 and *path (to be freed), or the exit
 * status 126 or 127 after words about it. Looks no further than the file and,
 * of a script, its interpreter.
 */
int ppi_find_program(const char *name, char **path);

/* The same search in $PATH alone, without words: to be freed; NULL. */
char *ppi_search_program(const char *name);

/* Whether the system gives a program other rights than this user's: by
 * set-user-id, set-group-id or file capabilities. Nobody but an administrator
 * measures those. */
bool ppi_has_other_rights(const char *program);

/* Fork a child that waits before it executes `program` with the arguments of
 * `command`. `environment` NULL means this process's own. False with words.
 * Signals that ppi_catch_signals caught are kept until it is released, and then
 * go to it until it has ended. */
bool ppi_child_start(struct ppi_child *child, const char *program,
                     char *const *command, char *const *environment);

/* Let it go: 0, or the exit status 126 or 127 after words, or 128 and a signal
 * that was kept: then it was cancelled. */
int ppi_child_release(struct ppi_child *child, const char *name);

/* Let go on what stands before its first instruction; its times begin here. */
void ppi_child_go_on(struct ppi_child *child);

/* End a child that was not released, or stands there. */
void ppi_child_cancel(struct ppi_child *child);

/* Whether it has; ppi_child_wait then returns at once. */
bool ppi_child_has_ended(struct ppi_child *child);

/* The same, by a signal. */
bool ppi_child_was_killed(struct ppi_child *child);

/* Wait until it has ended; its numbers can be read still. */
void ppi_child_await_end(struct ppi_child *child);
/* The same, and how it ended. */
void ppi_child_wait(struct ppi_child *child, struct ppi_end *end);

/* ---- signals that end programs ---- */

/*
 * From now on this process does not die of them: they go to the child, unless
 * a terminal has sent them to it already, or are kept while there is none that
 * was released. A nap of this process ends when one comes or a child ends.
 */
void ppi_catch_signals(void);

/* To whom they go; 0: to nobody. Not after the child was reaped: its number
 * may then be another's. */
void ppi_pass_signals_to(pid_t child);

/* The last one that came while they went to nobody; 0: none. */
int ppi_kept_signal(void);

/* A SIGHUP that another process sends no longer ends the recording, but asks for
 * options to be read again; whether one came since the last question. */
void ppi_reload_by_hang_up(void);
bool ppi_reload_asked(void);

/* "SIGTERM", or "signal N" of one without a name. Static or in `room`. */
const char *ppi_signal_name(int number, char room[32]);

/* Says which signal killed the command, if one did. A trap of one that had
 * breakpoints may be ours: that is said, too. */
void ppi_say_killed(const struct ppi_end *end, bool has_breakpoints);

/* Whether an event, or one of a list, is a breakpoint. */
bool ppi_is_breakpoint(const char *event);

#endif
