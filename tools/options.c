/* SPDX-License-Identifier: MIT */
/* Reading command lines, and printing help, by each verb's table of options.
 * getopt_long(3) takes words apart; its complaints are replaced by ours, which
 * say what to do. */
#include "config.h"

#include "tools/options.h"

#include <portprof.h>
#include <portprof/tool.h>

#include "tools/terminal.h"
#include "tools/symbols/symbols_download.h"
#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- what several verbs have: --max-memory ---- */

/* Sanitizers keep a shadow of all memory, larger than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CAN_LIMIT = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { CAN_LIMIT = 0 };
#else
enum { CAN_LIMIT = 1 };
#endif
#else
enum { CAN_LIMIT = 1 };
#endif

/* Profile and symbols, and what of them is there twice while it grows. */
#define USUAL_BYTES (UINT64_C(6) << 30)
#define GROWTH 3

int ppi_take_memory(const struct ppi_given *given, void *bytes)
{
	const char *value = given->value;
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift = 0;
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoumax(value, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (errno || value[0] < '0' || value[0] > '9' || *end || number == 0 ||
	    number > UINT64_MAX >> 8 >> shift)
		return ppi_given_refuse(given, "a size, such as 512M or 8G");
	*(uint64_t *)bytes = number << shift;
	return PPI_EXIT_OK;
}

static rlim_t inherited;
static bool is_limited;

void ppi_memory_limit(uint64_t bytes)
{
	struct rlimit limit;
	uint64_t most = bytes ? bytes * GROWTH : USUAL_BYTES;

	if (!CAN_LIMIT || most > (rlim_t)-1 / 2 ||
	    getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= most)
		return;
	if (!is_limited)
		inherited = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)most;
	/* one bound more, if possible */
	is_limited |= setrlimit(RLIMIT_DATA, &limit) == 0;
}

void ppi_memory_unlimit(void)
{
	struct rlimit limit;

	if (!is_limited || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	limit.rlim_cur = inherited;
	setrlimit(RLIMIT_DATA, &limit);
}

void ppi_memory_say_remedy(void)
{
	if (portprof_last_diag()->status == PORTPROF_E_LIMIT)
		ppi_say("if you trust the file, allow more memory: "
		        "--max-memory 8G");
}

/* ---- --no-paths, --no-host, --no-source: what does not leave this machine ---- */

bool ppi_hide(const struct ppi_hidden *hidden, portprof_profile *profile)
{
	unsigned what = (hidden->paths ? PORTPROF_HIDE_PATHS : 0) |
	                (hidden->host ? PORTPROF_HIDE_HOST : 0) |
	                (hidden->source ? PORTPROF_HIDE_SOURCE : 0);

	if (portprof_profile_hide(profile, what) == PORTPROF_OK)
		return true;
	ppi_say_failure(NULL);
	return false;
}

enum {
	OPTIONS_MAX = 64,
	NUMBER_BASE = 256, /* what getopt returns for the first row */
	TEXT_BYTES = 512,
};

static const struct ppi_option help_option = { .letter = 'h',
	                                       .name = "help",
	                                       .help = "print this help" };

static bool is_heading(const struct ppi_option *option)
{
	return !option->letter && !option->name;
}

/* ---- help ---- */

/* "-e, --event EVENT" as help has it: options without a letter are indented. */
static int write_left(const struct ppi_option *option, char left[64])
{
	char letter[8] = "    ";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c%s", option->letter,
		         option->name ? ", " : "");
	return snprintf(left, 64, "  %s%s%s%s%s", letter,
	                option->name ? "--" : "",
	                option->name ? option->name : "",
	                option->value ? " " : "",
	                option->value ? option->value : "");
}

static int find_column(const struct ppi_line *line)
{
	int widest = (int)strlen("  -h, --help");
	char left[64];

	for (size_t i = 0; i < line->option_count; i++) {
		const struct ppi_option *option = &line->options[i];
		int width = write_left(option, left);

		if (option->help && !is_heading(option) && width > widest)
			widest = width;
	}
	return widest + 2;
}

/* "auto, always or never". Returns `out`. */
static const char *join_words(const struct ppi_option *option, char *out,
                              size_t bytes)
{
	const char *word;
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; (word = option->word(i)) != NULL && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s",
		                         i == 0                  ? ""
		                         : option->word(i + 1) ? ", "
		                                                 : " or ",
		                         word);
	return out;
}

static void put_option(const struct ppi_option *option, int column)
{
	static const char mark[] = "@WORDS";
	const char *at = option->help ? strstr(option->help, mark) : NULL;
	char left[64], names[256], words[TEXT_BYTES];

	if (!option->help)
		return;
	if (is_heading(option)) {
		printf("\n%s:\n", option->help);
		return;
	}
	write_left(option, left);
	printf("%-*s", column, left);
	if (at)
		snprintf(words, sizeof(words), "%.*s%s%s",
		         (int)(at - option->help), option->help,
		         join_words(option, names, sizeof(names)),
		         at + strlen(mark));
	ppi_put_wrapped(stdout, at ? words : option->help, column);
}

/* A line of `text` is a paragraph. */
static void put_paragraphs(const char *text)
{
	char words[TEXT_BYTES];

	while (text && *text) {
		size_t length = strcspn(text, "\n");

		snprintf(words, sizeof(words), "%.*s", (int)length, text);
		ppi_put_wrapped(stdout, words, 0);
		text += length + (text[length] == '\n');
	}
}

static void print_help(const struct ppi_line *line)
{
	int column = find_column(line);
	const char *before = "usage:";

	ppi_pager_begin();
	for (const char *form = line->usage; *form; before = "") {
		int length = (int)strcspn(form, "\n");

		printf("%-6s portprof %s %.*s\n", before, line->verb, length,
		       form);
		form += length + (form[length] == '\n');
	}
	if (line->about) {
		putchar('\n');
		put_paragraphs(line->about);
	}
	if (!is_heading(&line->options[0]))
		putchar('\n');
	for (size_t i = 0; i < line->option_count; i++)
		put_option(&line->options[i], column);
	put_option(&help_option, column);
	if (line->notes) {
		putchar('\n');
		put_paragraphs(line->notes);
	}
	ppi_pager_end();
}

/* ---- what is wrong ---- */

int ppi_line_wrong(const struct ppi_line *line, const char *words, ...)
{
	char text[1024];
	va_list list;

	va_start(list, words);
	vsnprintf(text, sizeof(text), words, list);
	va_end(list);
	return ppi_say_usage(line->wrong, line->verb, "%s", text);
}

int ppi_given_refuse(const struct ppi_given *given, const char *what)
{
	return ppi_line_wrong(given->line, "%s: '%s' is not %s", given->name,
	                      given->value, what);
}

int ppi_given_refuse_word(const struct ppi_given *given)
{
	char words[256], likely[256];
	char text[sizeof(words) + sizeof(likely)];

	snprintf(text, sizeof(text), "%s%s",
	         join_words(given->option, words, sizeof(words)),
	         ppi_guess_among(given->option->word, given->value, likely,
	                         sizeof(likely)));
	return ppi_given_refuse(given, text);
}

/* Without the value that may be in the same word. */
static size_t name_length(const char *word)
{
	return strcspn(word, "=");
}

/* A long option that does not exist, or is short for several. */
static int refuse_long(const struct ppi_line *line, const char *word)
{
	size_t length = name_length(word), used = 0;
	struct ppi_guess guess = { 0 };
	char name[64], likely[256], several[256] = "";

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	guess.wanted = name;
	ppi_guess_offer(&guess, help_option.name);
	for (size_t i = 0; i < line->option_count; i++) {
		const char *known = line->options[i].name;

		if (!known)
			continue;
		ppi_guess_offer(&guess, known);
		if (strncmp(known, name, length) == 0 && used < sizeof(several))
			used += (size_t)snprintf(several + used,
			                         sizeof(several) - used,
			                         "%s--%s", used ? ", " : "",
			                         known);
	}
	ppi_guess_words(&guess, "--", likely, sizeof(likely));
	if (used)
		return ppi_line_wrong(line, "--%s is short for several: %s",
		                      name, several);
	return ppi_line_wrong(line, "there is no option --%s%s", name, likely);
}

static int refuse_letter(const struct ppi_line *line, int letter)
{
	return ppi_line_wrong(line, "there is no option -%c", letter);
}

static int refuse_option(const struct ppi_line *line, const char *word)
{
	if (optopt == 0)
		return refuse_long(line, word + 2);
	if (optopt >= NUMBER_BASE || optopt == 'h')
		return ppi_line_wrong(line, "%.*s takes no value",
		                      (int)name_length(word), word);
	return refuse_letter(line, optopt);
}

static int refuse_missing(const struct ppi_given *given)
{
	return ppi_line_wrong(given->line, "%s needs a value: %s %s",
	                      given->name, given->name, given->option->value);
}

/* ---- help of one option ---- */

/* The row of "-e" or "--event"; NULL: there is none. */
static const struct ppi_option *find_named(const struct ppi_line *line,
                                           const char *word)
{
	for (size_t i = 0; i < line->option_count; i++) {
		const struct ppi_option *option = &line->options[i];
		bool is_it = word[1] == '-'
		                     ? option->name &&
		                               strcmp(word + 2, option->name) == 0
		                     : word[1] == option->letter && !word[2];

		while (is_it && !option->help)
			option--;
		if (is_it)
			return option;
	}
	return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0
	               ? &help_option
	               : NULL;
}

/* Of one option, and its words a line each, for completions. */
static int print_option(const struct ppi_line *line, const char *name)
{
	const struct ppi_option *option = find_named(line, name);
	const char *word;
	char left[64];

	if (!option)
		return name[1] == '-' ? refuse_long(line, name + 2)
		                      : refuse_letter(line, name[1]);
	put_option(option, write_left(option, left) + 2);
	if (option->word)
		printf("\nvalues:\n");
	for (size_t i = 0; option->word && (word = option->word(i)) != NULL; i++)
		printf("  %s\n", word);
	return PPI_EXIT_OK;
}

/* ---- reading ---- */

/* The row of what getopt returned; NULL: help. */
static const struct ppi_option *find_option(const struct ppi_line *line,
                                            int found)
{
	size_t i = 0;

	if (found >= NUMBER_BASE) {
		i = (size_t)(found - NUMBER_BASE);
		while (i < line->option_count && !line->options[i].help)
			i--;
		return i < line->option_count ? &line->options[i] : NULL;
	}
	while (i < line->option_count && line->options[i].letter != found)
		i++;
	return i < line->option_count ? &line->options[i] : NULL;
}

static void name_given(struct ppi_given *given, int found)
{
	if (found < NUMBER_BASE)
		snprintf(given->name, sizeof(given->name), "-%c", found);
	else
		snprintf(given->name, sizeof(given->name), "--%s",
		         given->option->name);
}

/* The table as getopt_long wants it. */
static void translate(const struct ppi_line *line, char *letters,
                      struct option *names)
{
	if (line->ends_at_word)
		*letters++ = '+';
	*letters++ = ':'; /* missing values are returned as such */
	*letters++ = 'h';
	for (size_t i = 0; i < line->option_count; i++) {
		const struct ppi_option *option = &line->options[i];

		if (option->letter) {
			*letters++ = option->letter;
			if (option->value)
				*letters++ = ':';
		}
		if (option->name)
			*names++ = (struct option){
				option->name,
				option->value ? required_argument
				              : no_argument,
				NULL, NUMBER_BASE + (int)i
			};
	}
	*letters = '\0';
	*names++ = (struct option){ "help", no_argument, NULL, 'h' };
	*names = (struct option){ NULL, 0, NULL, 0 };
}

/* One option that getopt found. */
static int take_option(const struct ppi_line *line, int found, char **argv,
                       void *options)
{
	struct ppi_given given = { .line = line, .value = optarg };
	bool is_missing = found == ':';
	int status;

	if (found == '?')
		return refuse_option(line, argv[optind - 1]);
	if (is_missing)
		found = optopt;
	given.option = find_option(line, found);
	if (!given.option) {
		if (argv[optind] && argv[optind][0] == '-' && argv[optind][1])
			return print_option(line, argv[optind]);
		print_help(line);
		return PPI_EXIT_OK;
	}
	name_given(&given, found);
	if (is_missing ||
	    (optarg == argv[optind - 1] && strcmp(optarg, "--") == 0))
		return refuse_missing(&given);
	status = given.option->take(&given,
	                            (char *)options + given.option->place);
	return status == PPI_EXIT_OK ? PPI_LINE_READ : status;
}

static int read_words(const struct ppi_line *line, int argc, char **argv,
                      void *options)
{
	for (size_t i = 0; i < line->place_count && optind < argc; i++)
		*(const char **)((char *)options + line->places[i]) =
			argv[optind++];
	if (optind < argc && line->one_word_more)
		return ppi_line_wrong(line, "unexpected argument '%s': %s",
		                      argv[optind], line->one_word_more);
	return PPI_LINE_READ;
}

int ppi_line_read(const struct ppi_line *line, int argc, char **argv,
                  void *options)
{
	char letters[2 * OPTIONS_MAX];
	struct option names[OPTIONS_MAX + 2];
	int found;

	translate(line, letters, names);
	optind = 1;
	opterr = 0;
	optopt = 0;
	while ((found = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		int status = take_option(line, found, argv, options);

		if (status != PPI_LINE_READ)
			return status;
		optopt = 0;
	}
	return read_words(line, argc, argv, options);
}

/* ---- what reads a value ---- */

int ppi_take_text(const struct ppi_given *given, void *text)
{
	*(const char **)text = given->value;
	return PPI_EXIT_OK;
}

/* The option that has put that there already; NULL: one with a value has. */
static const struct ppi_option *find_what(const struct ppi_given *given,
                                          const char *what)
{
	const struct ppi_line *line = given->line;

	for (size_t i = 0; i < line->option_count; i++) {
		const struct ppi_option *option = &line->options[i];

		if (option->take == ppi_take_what && option->name &&
		    option->place == given->option->place &&
		    strcmp(option->what, what) == 0)
			return option;
	}
	return NULL;
}

int ppi_take_what(const struct ppi_given *given, void *text)
{
	const char **what = text;
	const struct ppi_option *other =
		*what && strcmp(*what, given->option->what) != 0
			? find_what(given, *what)
			: NULL;

	if (other)
		return ppi_line_wrong(given->line, "--%s and %s exclude each "
		                                   "other: leave out one",
		                      other->name, given->name);
	*what = given->option->what;
	return PPI_EXIT_OK;
}

int ppi_take_texts(const struct ppi_given *given, void *texts)
{
	struct ppi_texts *all = texts;
	size_t room = sizeof(all->list) / sizeof(all->list[0]);

	if (all->count == room)
		return ppi_line_wrong(given->line, "%s can be used at most %zu "
		                                   "times",
		                      given->name, room);
	all->list[all->count++] = given->value;
	return PPI_EXIT_OK;
}

int ppi_take_flag(const struct ppi_given *given, void *flag)
{
	(void)given;
	*(bool *)flag = true;
	return PPI_EXIT_OK;
}

int ppi_take_number(const struct ppi_given *given, void *number)
{
	return ppi_read_number(given->value, given->option->least,
	                       given->option->most, number)
	               ? PPI_EXIT_OK
	               : ppi_given_refuse(given, given->option->what);
}

int ppi_take_seconds(const struct ppi_given *given, void *ms)
{
	static const char digits[] = "0123456789";
	const char *value = given->value;
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
	if (!ppi_read_number(seconds, 0, given->option->most / 1000, &sum))
		goto refuse;
	sum *= 1000;
	for (size_t i = 0; i < part; i++) {
		unit /= 10;
		sum += unit * (uint64_t)(value[whole + 1 + i] - '0');
	}
	if (sum == 0 || sum > given->option->most)
		goto refuse;
	*(uint64_t *)ms = sum;
	return PPI_EXIT_OK;

refuse:
	return ppi_given_refuse(given,
	                        "a number of seconds, such as 10 or 0.3");
}

int ppi_take_folder(const struct ppi_given *given, void *folder)
{
	char **path = folder;

	free(*path);
	*path = realpath(given->value, NULL);
	if (*path)
		return PPI_EXIT_OK;
	ppi_say("%s: '%s' cannot be opened: %s", given->name, given->value,
	        strerror(errno));
	return PPI_EXIT_FAILED;
}

/* A quote would be taken for that of a field, a line end for that of a row. */
int ppi_take_separator(const struct ppi_given *given, void *separator)
{
	const char *value = given->value;

	*(const char **)separator = strcmp(value, "\\t") == 0 ? "\t" : value;
	if (value[0] && !strpbrk(value, "\"\n\r"))
		return PPI_EXIT_OK;
	return ppi_line_wrong(given->line,
	                      "%s: a separator must be neither empty nor have "
	                      "quotes or line ends; try -x ,", given->name);
}

int ppi_take_debuginfod(const struct ppi_given *given, void *nothing)
{
	const char *why;

	(void)given;
	(void)nothing;
	if (ppi_download_begin(&why))
		return PPI_EXIT_OK;
	ppi_say("--debuginfod: %s", why);
	return PPI_EXIT_FAILED;
}

void ppi_settle_debuginfod(void)
{
	const char *wish = getenv("PORTPROF_DEBUGINFOD"), *why;

	if (wish && *wish && strcmp(wish, "0") != 0 &&
	    !ppi_download_begin(&why))
		ppi_say("PORTPROF_DEBUGINFOD: %s", why);
	ppi_download_never();
}

int ppi_take_color(const struct ppi_given *given, void *nothing)
{
	(void)nothing;
	return ppi_color_choose(given->value)
	               ? PPI_EXIT_OK
	               : ppi_given_refuse_word(given);
}

const char *ppi_color_word(size_t i)
{
	static const char *const words[] = { "auto", "always", "never", NULL };

	return words[i];
}

int ppi_take_percent(const struct ppi_given *given, void *percent)
{
	char *end;
	double number = strtod(given->value, &end);

	end += *end == '%';
	if (end == given->value || *end || !(number >= 0) || number > 1e9)
		return ppi_given_refuse(given, "a percentage such as 5%");
	*(double *)percent = number;
	return PPI_EXIT_OK;
}
