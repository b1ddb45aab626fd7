/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail when told to. The linker sends every call of malloc
 * and its kin from the library and the test here (--wrap); what other
 * libraries allocate for themselves is not touched. In a static program the C
 * library's own would be, and not every one survives that: none fails there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"

#include "tests/memory/alloc.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef PPI_CAN_WRAP

/* Allocations until the one that fails; 0 = none will. */
static atomic_uint countdown;
static atomic_bool is_for_good, has_failed;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
char *__wrap_strdup(const char *text);

static bool fails_now(void)
{
	unsigned left = atomic_load(&countdown);

	while (left && !atomic_compare_exchange_weak(&countdown, &left,
	                                             left - 1))
		;
	if (left == 1)
		atomic_store(&has_failed, true);
	if (left != 1 && !(atomic_load(&has_failed) &&
	                   atomic_load(&is_for_good)))
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(block, bytes);
}

char *__wrap_strdup(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = __wrap_malloc(bytes);

	return copy ? memcpy(copy, text, bytes) : NULL;
}

/* The program itself comes first, and names its loader. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *is_there)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(bool *)is_there = true;
	return 1;
}

bool alloc_can_fail(void)
{
	bool is_dynamic = false;

	dl_iterate_phdr(find_loader, &is_dynamic);
	return is_dynamic;
}

void alloc_fail(unsigned nth, bool for_good)
{
	atomic_store(&has_failed, false);
	atomic_store(&is_for_good, for_good);
	atomic_store(&countdown, nth);
}

bool alloc_reset(void)
{
	atomic_store(&countdown, 0);
	atomic_store(&is_for_good, false);
	return atomic_exchange(&has_failed, false);
}

#else

bool alloc_can_fail(void)
{
	return false;
}

void alloc_fail(unsigned nth, bool for_good)
{
	(void)nth;
	(void)for_good;
}

bool alloc_reset(void)
{
	return false;
}

#endif
