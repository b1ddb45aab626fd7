/* SPDX-License-Identifier: MIT */
/*
 * What a harvest of backend profil costs: the CPU time to read 8 MiB of bins, of
 * which few have ticks, beside memcmp(3) over as much memory, and what share of a
 * CPU a round a second is. A round is one harvest and, where our code is among
 * what is sampled (a static program), a second one.
 *
 * usage: harvest [rounds]
 */
#include "config.h"

#include "backends/common/pcbins.h"
#include "bench/spent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 8 << 20, BINS = BYTES / 2, TICKS = 100 };

static struct ppi_pcbins bins = { .count = BINS };
static unsigned char *peers[2];

/* Ticks of one second at 100 Hz; `spread`: of a program that runs everywhere. */
static void tick(unsigned round, unsigned spread)
{
	for (unsigned i = 0; i < TICKS; i++)
		bins.buffer[bins.active][(round * 7919u + (unsigned)rand() %
		                          2000 * spread) % BINS]++;
}

static void harvest(void)
{
	unsigned idle = !bins.active;
	uint32_t ticks;
	size_t bin;

	ppi_pcbins_read(&bins, idle);
	ppi_pcbins_clear(&bins, idle);
	ppi_pcbins_read(&bins, bins.active);
	bins.active = idle;
	while (ppi_pcbins_take(&bins, &bin, &ticks))
		;
}

static void measure(unsigned rounds, unsigned spread, const char *what)
{
	uint64_t own = 0, peer = 0, before;
	int same = 0;

	for (unsigned i = 0; i < rounds; i++) {
		tick(i, spread);
		before = bench_own_ns();
		harvest();
		own += bench_own_ns() - before;
		before = bench_own_ns();
		same += memcmp(peers[0], peers[1], BYTES);
		same += memcmp(peers[0], peers[1], BYTES);
		peer += bench_own_ns() - before;
	}
	if (same)
		exit(1);
	printf("%-22s %6.3f ms a harvest, memcmp twice %6.3f ms; one round a "
	       "second: %.2f %% of a CPU, static %.2f %%\n", what,
	       (double)own / 1e6 / rounds, (double)peer / 1e6 / rounds,
	       (double)own / 1e7 / rounds, (double)own / 1e7 / rounds * 2);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	bins.buffer[0] = calloc(1, BYTES);
	bins.buffer[1] = calloc(1, BYTES);
	bins.seen = calloc(1, BYTES);
	bins.wide = calloc(2, BYTES);
	peers[0] = calloc(1, BYTES);
	peers[1] = calloc(1, BYTES);
	if (!bins.buffer[0] || !bins.buffer[1] || !bins.seen || !bins.wide ||
	    !peers[0] || !peers[1]) {
		fprintf(stderr, "harvest: out of memory\n");
		return 1;
	}
	memset(peers[0], 1, BYTES);
	memset(peers[1], 1, BYTES);
	measure(rounds, 1, "ticks in one function");
	measure(rounds, 2000, "ticks everywhere");
	return 0;
}
