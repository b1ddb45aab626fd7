/* SPDX-License-Identifier: MIT */
/*
 * Reading command lines. Each verb has one table of its options; what reads a
 * command line, and what prints the verb's help, go by that table alone.
 */
#ifndef PPI_OPTIONS_H
#define PPI_OPTIONS_H

#include <portprof/tool.h>

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ppi_given;

/*
 * One row. A row without letter and name is a heading of the help; one without
 * help is another name of the option before it.
 */
struct ppi_option {
	char letter;       /* 0: none */
	const char *name;  /* of the long form; NULL: none */
	const char *value; /* what help calls it; NULL: the option has none */
	const char *help;  /* "@WORDS" stands for all of `word` */
	/* What reads the value, into the verb's options plus `place`: 0, or the
	 * exit status after words. */
	int (*take)(const struct ppi_given *given, void *place);
	size_t place;
	uint64_t least, most; /* of ppi_take_number and ppi_take_seconds */
	const char *what;     /* "a number of rows": what the value must be */
	/* The i-th word that the value may be, in capitals what stands for
	 * others ("label:NAME"); NULL behind the last. Help, refusals and
	 * completions go by it. */
	const char *(*word)(size_t i);
};

/* A verb's command line. */
struct ppi_line {
	const char *verb;
	const char *usage;    /* what follows "portprof VERB "; further lines
	                       * are other forms */
	const char *about;    /* before the options; NULL */
	const char *notes;    /* behind them; NULL */
	const struct ppi_option *options;
	size_t option_count;
	const size_t *places; /* const char *: words that are no options */
	size_t place_count;
	const char *one_word_more; /* what to do then; NULL: they are left to
	                            * the verb, in argv from optind on */
	bool ends_at_word;    /* the rest is a command line of its own */
	int wrong;            /* exit status of a wrong command line */
};

/* An option that a user gave. */
struct ppi_given {
	const struct ppi_line *line;
	const struct ppi_option *option;
	const char *value;
	char name[40]; /* as typed: "-n" or "--rows" */
};

/* The values of an option that was repeated. */
struct ppi_texts {
	const char *list[64];
	size_t count;
};

enum { PPI_LINE_READ = -1 };

/* Read a command line into `options`, the verb's own structure: PPI_LINE_READ
 * or, after help or words, the exit status. */
int ppi_line_read(const struct ppi_line *line, int argc, char **argv,
                  void *options);

/* Words about a wrong command line, with a pointer to help: line->wrong. */
int ppi_line_wrong(const struct ppi_line *line, const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;

/* "-n: 'VALUE' is not WHAT": line->wrong. */
int ppi_given_refuse(const struct ppi_given *given, const char *what);
/* The same, of the words that the option may have. */
int ppi_given_refuse_word(const struct ppi_given *given);

/* ---- what reads a value ---- */

int ppi_take_text(const struct ppi_given *given, void *text); /* const char * */
/* Not the value but the row's `what`: const char *. Two rows of one place exclude each
 * other. */
int ppi_take_what(const struct ppi_given *given, void *text);
/* An option that can be repeated: struct ppi_texts. */
int ppi_take_texts(const struct ppi_given *given, void *texts);
int ppi_take_flag(const struct ppi_given *given, void *flag); /* bool, true */
int ppi_take_number(const struct ppi_given *given, void *number); /* uint64_t */
/* Seconds, with fractions, into milliseconds: uint64_t, from 1 to `most`. */
/* "5%" or "5", as a double. */
int ppi_take_percent(const struct ppi_given *given, void *percent);
int ppi_take_seconds(const struct ppi_given *given, void *ms);
/* A folder, from the root on, as libdw needs it: char *, to be freed. */
int ppi_take_folder(const struct ppi_given *given, void *folder);
/* What stands between fields: const char *. */
int ppi_take_separator(const struct ppi_given *given, void *separator);
int ppi_take_color(const struct ppi_given *given, void *nothing);
const char *ppi_color_word(size_t i);
/* Refused where nothing can be downloaded. */
int ppi_take_debuginfod(const struct ppi_given *given, void *nothing);
/* After all options: PORTPROF_DEBUGINFOD asks for it, too; where it is not built in,
 * that is said, and nothing is downloaded. */
void ppi_settle_debuginfod(void);

/* Rows that several verbs have. */
#define PPI_COLOR_OPTION \
	{ .name = "color", .value = "WHEN", \
	  .help = "color the output: @WORDS (auto)", \
	  .take = ppi_take_color, .word = ppi_color_word }
#define PPI_DEBUG_DIR_OPTION(at) \
	{ .name = "debug-dir", .value = "DIR", \
	  .help = "also look for separate debug files here", \
	  .take = ppi_take_folder, .place = (at) }
#define PPI_DEBUGINFOD_OPTION \
	{ .name = "debuginfod", \
	  .help = "download debug files that are not here, from " \
	          "DEBUGINFOD_URLS", \
	  .take = ppi_take_debuginfod }
#define PPI_ROOT_OPTION(at) \
	{ .name = "root", .value = "DIR", \
	  .help = "look for programs and libraries below here: a container's " \
	          "or another machine's files", \
	  .take = ppi_take_folder, .place = (at) }
#define PPI_ROWS_OPTION(at) \
	{ 'n', "rows", "N", "print at most N rows; 0 prints all (30)", \
	  .take = ppi_take_number, .place = (at), .most = SIZE_MAX, \
	  .what = "a number of rows" }
#define PPI_SEPARATOR_OPTION(at, words) \
	{ 'x', "field-separator", "SEP", words, ppi_take_separator, \
	  .place = (at) }

/* ---- --no-paths, --no-host, --no-source: what does not leave the machine ---- */

struct ppi_hidden {
	bool paths, host, source;
};

/* The rows of a verb's table; `at` is where its struct ppi_hidden is. */
#define PPI_HIDE_OPTIONS(at) \
	{ .name = "no-paths", .help = "leave directories out of what is written", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, paths) }, \
	{ .name = "no-host", .help = "leave the host's name out", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, host) }, \
	{ .name = "no-source", .help = "leave source files and lines out", \
	  .take = ppi_take_flag, \
	  .place = (at) + offsetof(struct ppi_hidden, source) }

static inline bool ppi_hides(const struct ppi_hidden *hidden)
{
	return hidden->paths || hidden->host || hidden->source;
}

/* Take it out, after names were given: false with words. */
bool ppi_hide(const struct ppi_hidden *hidden, portprof_profile *profile);

/* ---- --max-memory: limits of the memory that reading a file may take ---- */

/* The row of --max-memory in a verb's table; its value is a uint64_t. */
#define PPI_MEMORY_OPTION(at) \
	{ .name = "max-memory", .value = "SIZE", \
	  .help = "limit the memory for a file (2G)", \
	  .take = ppi_take_memory, .place = (at) }
int ppi_take_memory(const struct ppi_given *given, void *bytes);

/*
 * Limit this process, before it reads anything: portprof's own readers count
 * what they take and stay below, but libelf and libdw unpack what a file says
 * they should. `bytes` is the value of the option, 0 where it is missing.
 */
void ppi_memory_limit(uint64_t bytes);

/* The limit that this process was started with, for the command: in the child. */
void ppi_memory_unlimit(void);

/* What to do when a file takes more, where that was the last failure. */
void ppi_memory_say_remedy(void);

#endif
