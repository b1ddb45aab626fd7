/* SPDX-License-Identifier: MIT */
/*
 * A program of which every sample is wanted: it faults a page in from one of
 * 1000 functions, in call chains of up to five of them, as often as it is
 * told. With -e page-faults -c 1 each recorder takes as many samples.
 *
 * usage: faults FAULTS [PATHS]
 *
 * PATHS is how many different chains of calls there are (20000); short ones
 * are more frequent, as in programs.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEVELS = 5, WIDTH = 200, PAGES = 4096 };

static volatile char *pages;
static size_t page_bytes, next_page;
static uint64_t faults_left;

/* Touch the next page; when all are there, send them away. A part of the thread that
 * calls it, so that the sampled code is of all functions. */
static inline __attribute__((always_inline)) void fault(void)
{
	if (next_page == PAGES) {
		madvise((void *)(uintptr_t)pages, PAGES * page_bytes,
		        MADV_DONTNEED);
		next_page = 0;
	}
	pages[next_page++ * page_bytes] = 1;
	faults_left -= faults_left > 0;
}

static void descend(unsigned level, uint64_t path);

/* Each is a function of its own; the barrier keeps the call from becoming a
 * jump, which would take the function out of the chain. */
#define FUNCTION(level, number)                                               \
	static __attribute__((noinline)) void f##level##_##number(            \
		uint64_t path)                                                \
	{                                                                     \
		fault();                                                      \
		descend(level + 1, path);                                     \
		__asm__ volatile("" ::: "memory");                            \
	}
#define TEN(level, tens)                                                      \
	FUNCTION(level, tens##0)                                              \
	FUNCTION(level, tens##1) FUNCTION(level, tens##2)                     \
	FUNCTION(level, tens##3) FUNCTION(level, tens##4)                     \
	FUNCTION(level, tens##5) FUNCTION(level, tens##6)                     \
	FUNCTION(level, tens##7) FUNCTION(level, tens##8)                     \
	FUNCTION(level, tens##9)
#define HUNDRED(level, hundreds)                                              \
	TEN(level, hundreds##0)                                               \
	TEN(level, hundreds##1) TEN(level, hundreds##2)                       \
	TEN(level, hundreds##3) TEN(level, hundreds##4)                       \
	TEN(level, hundreds##5) TEN(level, hundreds##6)                       \
	TEN(level, hundreds##7) TEN(level, hundreds##8)                       \
	TEN(level, hundreds##9)
#define LEVEL(level) HUNDRED(level, 1) HUNDRED(level, 2)

LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)

#define NAME(level, number) f##level##_##number,
#define TEN_NAMES(level, tens)                                                \
	NAME(level, tens##0)                                                  \
	NAME(level, tens##1) NAME(level, tens##2) NAME(level, tens##3)        \
	NAME(level, tens##4) NAME(level, tens##5) NAME(level, tens##6)        \
	NAME(level, tens##7) NAME(level, tens##8) NAME(level, tens##9)
#define HUNDRED_NAMES(level, hundreds)                                        \
	TEN_NAMES(level, hundreds##0)                                         \
	TEN_NAMES(level, hundreds##1) TEN_NAMES(level, hundreds##2)           \
	TEN_NAMES(level, hundreds##3) TEN_NAMES(level, hundreds##4)           \
	TEN_NAMES(level, hundreds##5) TEN_NAMES(level, hundreds##6)           \
	TEN_NAMES(level, hundreds##7) TEN_NAMES(level, hundreds##8)           \
	TEN_NAMES(level, hundreds##9)
#define LEVEL_NAMES(level)                                                    \
	{ HUNDRED_NAMES(level, 1) HUNDRED_NAMES(level, 2) },

static void (*const functions[LEVELS][WIDTH])(uint64_t) = {
	LEVEL_NAMES(0) LEVEL_NAMES(1) LEVEL_NAMES(2) LEVEL_NAMES(3)
	LEVEL_NAMES(4)
};

/* Splitmix64, whose output is the same everywhere. */
static uint64_t mix(uint64_t number)
{
	number += 0x9e3779b97f4a7c15u;
	number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
	number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
	return number ^ (number >> 31);
}

static void descend(unsigned level, uint64_t path)
{
	if (level < LEVELS && faults_left)
		functions[level][mix(path * LEVELS + level) % WIDTH](path);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	uint64_t paths = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;

	faults_left = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	if (faults_left == 0 || paths == 0) {
		fprintf(stderr, "usage: faults FAULTS [PATHS]\n");
		return 2;
	}
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	next_page = PAGES;
	pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		perror("faults");
		return 1;
	}
	madvise((void *)(uintptr_t)pages, PAGES * page_bytes,
	        MADV_NOHUGEPAGE);
	/* the product of two equal numbers is more often small */
	for (uint64_t i = 0; faults_left; i++)
		descend(0, mix(2 * i) % paths * (mix(2 * i + 1) % paths) /
		                   paths);
	return 0;
}
