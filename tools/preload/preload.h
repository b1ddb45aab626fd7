/* SPDX-License-Identifier: MIT */
/* What the files of the preloaded object share. */
#ifndef PPI_PRELOAD_H
#define PPI_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The settings of $PORTPROF, taken apart. Strings are allocated. */
struct ppi_preload_settings {
	char *lines;    /* one "key = value" a line, without output */
	char *output;   /* pattern; NULL: not given */
	char *share;    /* the recorder's memory; NULL: files are written */
	bool regions;   /* they are counted, by the library in the program */
	bool children;  /* profile processes that this one creates */
	uint64_t since_ns; /* CLOCK_MONOTONIC that times count from; 0: not
	                    * given, so from this process's start */
};

/* False when out of memory; `text` is not changed. */
bool ppi_preload_parse(const char *text, struct ppi_preload_settings *out);
void ppi_preload_settings_free(struct ppi_preload_settings *settings);

/*
 * The path of a pattern: %p is the process's number, %n a number that grows
 * with time, %% a percent sign. To be freed; NULL when out of memory.
 */
char *ppi_preload_path(const char *pattern, pid_t pid);

/*
 * What gperftools' variables ask for, as $PORTPROF would have it: CPUPROFILE
 * and CPUPROFILE_FREQUENCY. NULL when they ask for nothing, or out of memory.
 * To be freed. *ignored is the name of a variable that asks for what cannot be
 * had here; NULL: none does.
 */
char *ppi_preload_from_gperftools(const char **ignored);

/* The variable that names the signal which starts and stops the session; NULL:
 * none is set. */
const char *ppi_preload_signal_variable(bool is_gperftools);

/* Whether this process is being measured, and not merely one that shares the
 * memory of such a one. */
bool ppi_preload_is_active(void);

/* Whether it is, as a forked child that has no session of its own; and give it
 * one, before it has a second thread. */
bool ppi_preload_is_light(void);
void ppi_preload_grow(void);

/* Load the libraries that files are written with. False: they are not there. In normal
 * context, where the loader may be asked. */
#ifdef PPI_LATE_PRELOAD
bool ppi_preload_load_late(void);
#else
#define ppi_preload_load_late() true
#endif

/* This process has another root directory from now on. Takes the loader's lock. */
void ppi_preload_has_other_root(void);

/* What takes more than ticks has happened, see ppi_helper_promise_to_begin. */
void ppi_preload_need_helper(void);

/* Stop measuring this process and finish its file. Nothing in a child that
 * shares its parent's memory. */
void ppi_preload_finish(void);

#endif
