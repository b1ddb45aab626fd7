/* SPDX-License-Identifier: MIT */
/*
 * Something to profile: counts the words of files, on several threads.
 *
 * usage: 01_wordcount [-t THREADS] [-m MEGABYTES] FILE...
 *
 * The text is read over and over until MEGABYTES of it are counted (400, two
 * or three seconds of CPU time). Try it:
 *
 *   portprof record -F 1000 -- examples/01_wordcount COPYING
 *   portprof report
 *
 * What to expect: next_word has most of the time, since it looks at every
 * byte; then come strcmp and find_word, which compare words, and hash_word.
 * Make find_word compare less, and see what changes.
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kept out of line, so that a profile can tell the functions apart. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

enum { THREADS_MAX = 64, BUCKETS = 1 << 12, WORD_MAX = 63 };

struct word {
	struct word *next;
	unsigned long count;
	char text[WORD_MAX + 1];
};

struct table {
	struct word *buckets[BUCKETS];
	size_t words;
};

/* One thread's share: a piece of the text, some times over. */
struct job {
	pthread_t thread;
	const char *text, *end;
	unsigned long rounds;
	struct table table;
};

static void die(const char *what)
{
	fprintf(stderr, "01_wordcount: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Copy the next word to `word` in lower case; NULL when there is none. */
APART static const char *next_word(const char *at, const char *end,
                                   char word[WORD_MAX + 1])
{
	size_t length = 0;

	while (at < end && !isalpha((unsigned char)*at))
		at++;
	if (at == end)
		return NULL;
	while (at < end && isalpha((unsigned char)*at)) {
		if (length < WORD_MAX)
			word[length++] = (char)tolower((unsigned char)*at);
		at++;
	}
	word[length] = '\0';
	return at;
}

APART static unsigned hash_word(const char *word)
{
	unsigned hash = 2166136261u;

	for (; *word; word++)
		hash = (hash ^ (unsigned char)*word) * 16777619u;
	return hash;
}

/* The entry of a word, made when it is new. */
APART static struct word *find_word(struct table *table, const char *text)
{
	struct word **at = &table->buckets[hash_word(text) % BUCKETS];

	while (*at && strcmp((*at)->text, text) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = (struct word *)calloc(1, sizeof(**at));
		if (!*at)
			die("out of memory");
		strcpy((*at)->text, text);
		table->words++;
	}
	return *at;
}

static void *count_words(void *context)
{
	struct job *job = (struct job *)context;
	char word[WORD_MAX + 1];

	for (unsigned long i = 0; i < job->rounds; i++) {
		const char *at = job->text;

		while ((at = next_word(at, job->end, word)) != NULL)
			find_word(&job->table, word)->count++;
	}
	return NULL;
}

/* ---- before and after ---- */

static char *read_files(char **paths, int count, size_t *bytes)
{
	char *text = NULL;
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		FILE *file = fopen(paths[i], "r");
		size_t got;

		if (!file)
			die(paths[i]);
		do {
			text = (char *)realloc(text, used + 65536);
			if (!text)
				die("out of memory");
			got = fread(text + used, 1, 65536, file);
			used += got;
		} while (got > 0);
		fclose(file);
	}
	*bytes = used;
	return text;
}

/* Cut between two words. */
static const char *cut_near(const char *at, const char *end)
{
	while (at < end && isalpha((unsigned char)*at))
		at++;
	return at;
}

static void start_jobs(struct job *jobs, int count, const char *text,
                       size_t bytes, unsigned long rounds)
{
	const char *end = text + bytes, *from = text;

	for (int i = 0; i < count; i++) {
		const char *to = text + bytes / (size_t)count * ((size_t)i + 1);

		jobs[i].text = from;
		jobs[i].end = i + 1 == count ? end : cut_near(to, end);
		jobs[i].rounds = rounds;
		from = jobs[i].end;
		errno = pthread_create(&jobs[i].thread, NULL, count_words,
		                       &jobs[i]);
		if (errno)
			die("pthread_create");
	}
}

static void add_up(struct table *all, const struct table *table)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct word *w = table->buckets[i]; w; w = w->next)
			find_word(all, w->text)->count += w->count;
}

static int compare_words(const void *left, const void *right)
{
	const struct word *const *a = (const struct word *const *)left;
	const struct word *const *b = (const struct word *const *)right;

	if ((*a)->count != (*b)->count)
		return (*a)->count > (*b)->count ? -1 : 1;
	return strcmp((*a)->text, (*b)->text);
}

static void print_top(const struct table *table)
{
	struct word **list =
		(struct word **)calloc(table->words + 1, sizeof(*list));
	size_t count = 0;

	if (!list)
		die("out of memory");
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct word *w = table->buckets[i]; w; w = w->next)
			list[count++] = w;
	qsort(list, count, sizeof(*list), compare_words);
	printf("%zu different words; most often:", count);
	for (size_t i = 0; i < count && i < 8; i++)
		printf(" %s", list[i]->text);
	printf("\n");
	free(list);
}

static void free_table(struct table *table)
{
	for (size_t i = 0; i < BUCKETS; i++)
		while (table->buckets[i]) {
			struct word *next = table->buckets[i]->next;

			free(table->buckets[i]);
			table->buckets[i] = next;
		}
}

static int number(const char *text, int most)
{
	int value = atoi(text);

	return value < 1 ? 1 : value > most ? most : value;
}

int main(int argc, char **argv)
{
	static struct job jobs[THREADS_MAX];
	static struct table all;
	int threads = 4, megabytes = 400, option;
	size_t bytes;
	char *text;

	while ((option = getopt(argc, argv, "t:m:")) != -1) {
		if (option == 't')
			threads = number(optarg, THREADS_MAX);
		else if (option == 'm')
			megabytes = number(optarg, 100000);
		else
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr, "usage: 01_wordcount [-t THREADS] "
		                "[-m MEGABYTES] FILE...\n");
		return 2;
	}
	text = read_files(argv + optind, argc - optind, &bytes);
	if (bytes == 0) {
		fprintf(stderr, "01_wordcount: there is no text\n");
		return 1;
	}
	start_jobs(jobs, threads, text, bytes,
	           1 + (unsigned long)megabytes * 1000000 / bytes);
	for (int i = 0; i < threads; i++) {
		pthread_join(jobs[i].thread, NULL);
		add_up(&all, &jobs[i].table);
		free_table(&jobs[i].table);
	}
	print_top(&all);
	free_table(&all);
	free(text);
	return 0;
}
