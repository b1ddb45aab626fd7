/* SPDX-License-Identifier: MIT */
/* Reading command lines: what all verbs do alike. getopt_long(3) takes them
 * apart; what it would say itself is said here, with a way out. */
#include "config.h"

#include "tools/options.h"

#include "tools/backends.h"
#include "tools/color.h"
#include "tools/guess.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

void ppi_line_begin(void)
{
	optind = 1;
	opterr = 0;
}

static const char *name_of(const struct ppi_line *line, int option)
{
	for (const struct option *at = line->options; at->name; at++)
		if (at->val == option)
			return at->name;
	return "";
}

/* ---- what is wrong ---- */

/* Without the value that may be in the same word. */
static size_t name_length(const char *word)
{
	return strcspn(word, "=");
}

/* A long option that there is not, or that may be several. */
static int refuse_long(const struct ppi_line *line, const char *word)
{
	size_t length = name_length(word), used = 0;
	struct ppi_guess guess = { 0 };
	char name[64], likely[256], several[256] = "";

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	guess.wanted = name;
	for (const struct option *at = line->options; at->name; at++) {
		ppi_guess_offer(&guess, at->name);
		if (strncmp(at->name, name, length) == 0 &&
		    used < sizeof(several))
			used += (size_t)snprintf(several + used,
			                         sizeof(several) - used,
			                         "%s--%s", used ? ", " : "",
			                         at->name);
	}
	ppi_guess_words(&guess, "--", likely, sizeof(likely));
	if (used)
		return ppi_say_usage(line->wrong, line->verb,
		                     "--%s is short for several: %s", name,
		                     several);
	return ppi_say_usage(line->wrong, line->verb,
	                     "there is no option --%s%s", name, likely);
}

static int refuse_option(const struct ppi_line *line, const char *word)
{
	size_t length = name_length(word);

	if (optopt == 0)
		return refuse_long(line, word + 2);
	/* of letters in one word getopt may not be past that word yet */
	if (strncmp(word, "--", 2) == 0 && word[length] == '=' &&
	    strncmp(name_of(line, optopt), word + 2, length - 2) == 0)
		return ppi_say_usage(line->wrong, line->verb,
		                     "%.*s takes no value",
		                     (int)length, word);
	return ppi_say_usage(line->wrong, line->verb,
	                     "there is no option -%c", optopt);
}

/* Of "-F, --freq HZ" in the help: "HZ"; "" when it is not told. */
static void value_name(const struct ppi_line *line, const char *name,
                       char out[32])
{
	char option[64];
	const char *at;

	snprintf(option, sizeof(option), "--%s ", name);
	at = strstr(line->help, option);
	snprintf(out, 32, "%.*s",
	         at ? (int)strspn(at + strlen(option),
	                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ,")
	            : 0,
	         at ? at + strlen(option) : "");
}

static bool is_number_name(const char *name)
{
	static const char *const names[] = { "HZ", "N",   "MS",  "S",
		                             "PID", "TID", "SECONDS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* An option is the last word, or -- follows where its value should be. */
static int refuse_missing(const struct ppi_line *line, int option,
                          const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	const char *name = name_of(line, option);
	char value[32], shown[80];

	value_name(line, name, value);
	if (is_long || option > 255)
		snprintf(shown, sizeof(shown), "--%s", name);
	else
		snprintf(shown, sizeof(shown), "-%c", option);
	return ppi_say_usage(line->wrong, line->verb, "%s needs a %s%s%s%s%s",
	                     shown, is_number_name(value) ? "number" : "value",
	                     value[0] ? ": " : "", value[0] ? shown : "",
	                     value[0] ? " " : "", value);
}

static void print_help(const char *help)
{
	static const char mark[] = "@BACKENDS";
	const char *at = strstr(help, mark);
	char names[256];

	if (at)
		printf("%.*s%s%s", (int)(at - help), help,
		       ppi_backend_names(names, sizeof(names)),
		       at + strlen(mark));
	else
		fputs(help, stdout);
}

int ppi_line_next(const struct ppi_line *line, int argc, char **argv)
{
	bool is_ended_by_words = line->letters[0] == '+';
	char letters[64];
	const char *word;
	int option;

	/* ":": tell what lacks its value */
	snprintf(letters, sizeof(letters), "%s:%s",
	         is_ended_by_words ? "+" : "",
	         line->letters + is_ended_by_words);
	optopt = 0;
	option = getopt_long(argc, argv, letters, line->options, NULL);
	word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	if (option == 'h') {
		print_help(line->help);
		return PPI_LINE_HELP;
	}
	if (option == '?') {
		refuse_option(line, word);
		return PPI_LINE_WRONG;
	}
	if (option == ':' ||
	    (option > 0 && optarg == word && strcmp(word, "--") == 0)) {
		refuse_missing(line, option == ':' ? optopt : option,
		               option == ':' ? word : argv[optind - 2]);
		return PPI_LINE_WRONG;
	}
	return option;
}

int ppi_line_status(const struct ppi_line *line, int end)
{
	return end == PPI_LINE_HELP ? PPI_EXIT_OK : line->wrong;
}

/* ---- values ---- */

int ppi_line_refuse(const struct ppi_line *line, const char *option,
                    const char *value, const char *what)
{
	return ppi_say_usage(line->wrong, line->verb, "%s: '%s' is not %s",
	                     option, value, what);
}

int ppi_line_too_many(const struct ppi_line *line, const char *word,
                      const char *remedy)
{
	return ppi_say_usage(line->wrong, line->verb,
	                     "'%s' is one word too many: %s", word, remedy);
}

int ppi_line_color(const struct ppi_line *line, const char *value)
{
	return ppi_color_choose(value)
	               ? PPI_EXIT_OK
	               : ppi_line_refuse(line, "--color", value,
	                                 "auto, always or never");
}

int ppi_line_number(const struct ppi_line *line, const char *option,
                    const char *value, uint64_t least, uint64_t most,
                    const char *what, uint64_t *number)
{
	return ppi_read_number(value, least, most, number)
	               ? PPI_EXIT_OK
	               : ppi_line_refuse(line, option, value, what);
}

int ppi_line_seconds(const struct ppi_line *line, const char *option,
                     const char *value, uint64_t most_ms, uint64_t *ms)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(value, digits), part = 0;
	uint64_t sum = 0, unit = 1000;
	char seconds[16];

	if (value[whole] == '.')
		part = strspn(value + whole + 1, digits);
	if (whole == 0 || whole >= sizeof(seconds) ||
	    (value[whole] == '.' && part == 0) ||
	    value[whole + (part ? 1 + part : 0)] != '\0')
		goto refuse;
	memcpy(seconds, value, whole);
	seconds[whole] = '\0';
	if (!ppi_read_number(seconds, 0, most_ms / 1000, &sum))
		goto refuse;
	sum *= 1000;
	for (size_t i = 0; i < part; i++) {
		unit /= 10;
		sum += unit * (uint64_t)(value[whole + 1 + i] - '0');
	}
	if (sum == 0 || sum > most_ms)
		goto refuse;
	*ms = sum;
	return PPI_EXIT_OK;

refuse:
	return ppi_line_refuse(line, option, value,
	                       "a number of seconds, as 10 or 0.3");
}

/* A quote would be taken for that of a field, a line end for that of a row. */
int ppi_line_separator(const struct ppi_line *line, const char *value,
                       const char **separator)
{
	*separator = strcmp(value, "\\t") == 0 ? "\t" : value;
	if (value[0] && !strpbrk(value, "\"\n\r"))
		return PPI_EXIT_OK;
	return ppi_say_usage(line->wrong, line->verb,
	                     "-x: what stands between fields must be neither "
	                     "empty nor have quotes or line ends; try -x ,");
}
