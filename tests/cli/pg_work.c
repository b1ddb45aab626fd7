/* SPDX-License-Identifier: MIT */
/*
 * Work of several kinds, each in functions of its own that call each other:
 * what profilers of a -pg program are held to. With -DWITH_SQLITE the work is
 * SQLite's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Until so much CPU time is used. */
static int is_over(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;

	return clock() / CLOCKS_PER_SEC >= seconds;
}

#ifdef WITH_SQLITE
#include <sqlite3.h>

static void run(sqlite3 *base, const char *text)
{
	char *why = NULL;

	if (sqlite3_exec(base, text, NULL, NULL, &why) == SQLITE_OK)
		return;
	fprintf(stderr, "%s\n", why);
	exit(1);
}

int main(int argc, char **argv)
{
	sqlite3 *base;

	if (sqlite3_open(":memory:", &base) != SQLITE_OK)
		return 1;
	run(base, "create table t(a integer primary key, b integer, c text);"
	          "create index i on t(c);");
	run(base, "with recursive n(x) as (select 1 union all"
	          " select x + 1 from n where x < 300000) insert into t"
	          " select x, (x * 7919) % 100003,"
	          " printf('%08x', (x * 2654435761) % 4294967291) from n;");
	do {
		run(base, "select c from t order by substr(c, 3, 4), b;");
		run(base, "select substr(c, 1, 2), count(*), avg(b) from t"
		          " group by 1 order by 2;");
	} while (!is_over(argc, argv));
	return sqlite3_close(base) != SQLITE_OK;
}

#else

enum { SIDE = 96, WORDS = 20000, BYTES = 1 << 18 };

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static uint32_t numbers[WORDS];
static unsigned char bytes[BYTES];
static volatile uint32_t sink;

/* Chance in what is done next, too: work that comes round at the rate of a
 * clock's ticks is seen by few of them, or by many. */
static uint32_t next_number(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static double multiply_row(const double *row, int column)
{
	double sum = 0;

	for (int i = 0; i < SIDE; i++)
		sum += row[i] * right[i][column];
	return sum;
}

static void multiply(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			product[i][k] = multiply_row(left[i], k);
}

static void sift(size_t at, size_t count)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		uint32_t kept = numbers[at];

		if (child + 1 < count && numbers[child + 1] > numbers[child])
			child++;
		if (numbers[child] <= kept)
			return;
		numbers[at] = numbers[child];
		numbers[child] = kept;
	}
}

static void sort(void)
{
	for (size_t i = WORDS / 2; i-- > 0;)
		sift(i, WORDS);
	for (size_t i = WORDS; i-- > 1;) {
		uint32_t most = numbers[0];

		numbers[0] = numbers[i];
		numbers[i] = most;
		sift(0, i);
	}
}

static uint32_t checksum(uint32_t sum)
{
	for (size_t i = 0; i < BYTES; i++) {
		sum ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum & 1 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
	}
	return sum;
}

static uint32_t count_runs(void)
{
	uint32_t runs = 0;

	for (int pass = 0; pass < 4; pass++)
		for (size_t i = 1; i < BYTES; i++)
			runs += (bytes[i] & 15) == (bytes[i - 1] & 15);
	return runs;
}

static void fill(uint32_t *seed)
{
	for (size_t i = 0; i < WORDS; i++)
		numbers[i] = next_number(seed);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)next_number(seed);
	for (int i = 0; i < SIDE * SIDE; i++)
		left[i / SIDE][i % SIDE] = right[i % SIDE][i / SIDE] = i;
}

int main(int argc, char **argv)
{
	uint32_t seed = 4711;

	do {
		fill(&seed);
		for (uint32_t n = next_number(&seed) % 4; n > 0; n--)
			multiply();
		for (uint32_t n = next_number(&seed) % 3; n > 0; n--)
			sort();
		for (uint32_t n = next_number(&seed) % 3; n > 0; n--)
			sink += checksum(seed);
		for (uint32_t n = next_number(&seed) % 3; n > 0; n--)
			sink += count_runs();
		sink += product[1][1] > 0;
	} while (!is_over(argc, argv));
	return 0;
}

#endif
