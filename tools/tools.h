/* SPDX-License-Identifier: MIT */
/* What the verbs of the portprof command share. */
#ifndef PPI_TOOLS_H
#define PPI_TOOLS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses: record answers with the target's own, and with these, as
 * env(1) and timeout(1) do. */
enum {
	PPI_EXIT_OK = 0,
	PPI_EXIT_FAILED = 1,      /* verbs that run no command */
	PPI_EXIT_USAGE = 2,
	PPI_EXIT_GROWN = 3,       /* diff --fail-above */
	PPI_EXIT_RECORD = 125,    /* record itself failed */
	PPI_EXIT_CANNOT_RUN = 126, /* the command is no program */
	PPI_EXIT_NOT_FOUND = 127
};

/* What compilers need for chains of callers. */
#define PPI_FRAME_FLAG "-fno-omit-frame-pointer"

#define PPI_DEFAULT_OUTPUT "portprof.pb.gz"

/* Words for people, on stderr, "portprof: " before and a newline after. */
void ppi_say(const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 1, 2)))
#endif
	;

/* The same for a wrong command line, with a pointer to --help; returns
 * `status`, so that it can be the last line of a verb. */
int ppi_say_usage(int status, const char *verb, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
	;

/* Whether all of standard output was written; false with words, which begin with
 * `what`, and the reason. */
bool ppi_stdout_is_whole(const char *what);

/* What the library's last failure was, after "DOING: " if that is not NULL. */
void ppi_say_failure(const char *doing);

/*
 * Text that comes from elsewhere, from a file or the system, as people may
 * see it, as ppi_put_text of base/text.h prints it, for printf and for measuring:
 * `text` itself, or as much of it as fits in `room`, which is the caller's.
 * ppi_say does it by itself.
 */
enum { PPI_SHOWN_BYTES = 1024 };
const char *ppi_shown(const char *text, char room[PPI_SHOWN_BYTES]);

/*
 * A text as a field of CSV, quoted where it has to be (RFC 4180). A program
 * for spreadsheets runs what begins with = + - or @, quoted or not, as a
 * formula, so an apostrophe is put before it.
 */
void ppi_put_field(const char *text, const char *separator, FILE *out);

/* Words in lines from a column on; the first line has begun there. */
void ppi_put_wrapped(FILE *out, const char *words, int column);
/* The same in lines of that width; a word that is longer is broken. */
void ppi_put_wrapped_to(FILE *out, const char *words, int column, int width);

/* That no name is like `name`, with the names that the library's failure `why`
 * suggests; else with `remedy`. */
void ppi_say_no_match(const char *name, const portprof_diag *why,
                      const char *remedy);

/* A refusal in JSON: "why", and for programs "reason" and, where the mistake is
 * in a text, "column" and "suggestions". */
struct ppi_json;
void ppi_put_refusal(struct ppi_json *json, const portprof_diag *why);

/* Why a backend cannot be used at all, as a refusal. */
void ppi_refusal_of(const portprof_backend_info *backend, portprof_diag *why);

/* A whole decimal number within [least, most]; false for anything else. */
bool ppi_read_number(const char *text, uint64_t least, uint64_t most,
                     uint64_t *number);

/* The verbs: argv[0] is the verb's name. They return the exit status. */
int ppi_annotate_main(int argc, char **argv);
int ppi_browse_main(int argc, char **argv);
int ppi_config_main(int argc, char **argv);
int ppi_diff_main(int argc, char **argv);
int ppi_doctor_main(int argc, char **argv);
int ppi_export_main(int argc, char **argv);
int ppi_fetch_main(int argc, char **argv);
int ppi_list_main(int argc, char **argv);
int ppi_merge_main(int argc, char **argv);
int ppi_names_main(int argc, char **argv);
int ppi_push_main(int argc, char **argv);
int ppi_record_main(int argc, char **argv);
int ppi_report_main(int argc, char **argv);
int ppi_selftest_main(int argc, char **argv);
int ppi_stat_main(int argc, char **argv);
int ppi_top_main(int argc, char **argv);

/* ---- the backends of this system, for help and messages ---- */

/* Whether this operating system has it at all, usable or not. */
bool ppi_backend_is_here(const portprof_backend_info *backend);

/* The i-th of those that are here, as the library has them, best first; NULL
 * behind the last. */
const char *ppi_backend_word(size_t i);

/* Find one by its name; false when there is none. */
bool ppi_backend_find_info(const char *name, portprof_backend_info *backend);

/* Whether any backend can count hardware events here. */
bool ppi_has_hardware_counters(void);

/* ---- close matches for an unknown name ---- */

enum { PPI_GUESSES = 3 };

/* Names that are like `wanted`, the likest first. Begin with all else zero. */
struct ppi_guess {
	const char *wanted;
	const char *names[PPI_GUESSES];
	size_t distances[PPI_GUESSES];
	size_t count;
};

/* Consider a name, which has to outlive the guess. */
void ppi_guess_offer(struct ppi_guess *guess, const char *name);

/* "; did you mean A, B or C?", each with `before` before it; "" when nothing
 * is like it. Returns `out`. */
const char *ppi_guess_words(const struct ppi_guess *guess, const char *before,
                            char *out, size_t bytes);

/* The same among all words, up to the first NULL, for one that was typed instead. */
const char *ppi_guess_among(const char *(*word)(size_t i), const char *typed,
                            char *out, size_t bytes);

#endif
