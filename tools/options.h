/* SPDX-License-Identifier: MIT */
/* Reading command lines: what all verbs do alike. */
#ifndef PPI_OPTIONS_H
#define PPI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* What a verb's command line may have. */
struct ppi_line {
	const char *verb;
	const char *help;             /* "@BACKENDS" stands for their names */
	const char *letters;          /* as getopt(3) has them; "+" before
	                               * them: the first word ends the options */
	const struct option *options; /* --help is among them, with 'h' */
	int wrong;                    /* exit status of a wrong command line */
};

/* What ppi_line_next returns besides an option's letter or number. */
enum {
	PPI_LINE_END = -1,  /* getopt's optind says what is left */
	PPI_LINE_HELP = -2, /* it was asked for, and printed */
	PPI_LINE_WRONG = -3 /* words were said */
};

/* Before the first option. */
void ppi_line_begin(void);

/* The next option; getopt's optarg is its value. */
int ppi_line_next(const struct ppi_line *line, int argc, char **argv);

/* The exit status at an end that is not PPI_LINE_END. */
int ppi_line_status(const struct ppi_line *line, int end);

/* "OPTION: 'VALUE' is not WHAT": returns line->wrong. */
int ppi_line_refuse(const struct ppi_line *line, const char *option,
                    const char *value, const char *what);

/* That a word is more than the verb takes; `remedy` says what to do. */
int ppi_line_too_many(const struct ppi_line *line, const char *word,
                      const char *remedy);

/* Values that several verbs take: 0, or the exit status and words. */
int ppi_line_color(const struct ppi_line *line, const char *value);
int ppi_line_number(const struct ppi_line *line, const char *option,
                    const char *value, uint64_t least, uint64_t most,
                    const char *what, uint64_t *number);
/* Seconds, with fractions, into milliseconds from 1 to `most_ms`. */
int ppi_line_seconds(const struct ppi_line *line, const char *option,
                     const char *value, uint64_t most_ms, uint64_t *ms);
int ppi_line_separator(const struct ppi_line *line, const char *value,
                       const char **separator);

#endif
