/* SPDX-License-Identifier: MIT */
/* Adding to memory that belongs to the program, which may be gone. */
#include "config.h"

#include "compat/drop-in/store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

enum { LEAST_PAGE = 4096 };

/*
 * A byte is sent through a pipe to where it came from: write(2) and read(2) say
 * EFAULT. What the program writes to it meanwhile is lost, as it is when a kernel
 * of BSD counts, so the byte must be one of the counter's. The pipe is made for
 * each look, as a program may close all descriptors and reuse their numbers.
 * Without a descriptor nothing is known.
 */
bool ppi_store_can_write(void *at)
{
	int ends[2], kept = errno;
	bool can = true;

	if (pipe(ends) == 0) {
		can = write(ends[1], at, 1) == 1 && read(ends[0], at, 1) == 1;
		close(ends[0]);
		close(ends[1]);
	}
	errno = kept;
	return can;
}

/*
 * A futex operation adds nothing to the word, in the kernel, which tells when
 * it may not (futex(2), FUTEX_WAKE_OP): no descriptor is needed, and the
 * program's own writes to the word are not lost.
 */
static bool can_write_page(uintptr_t at)
{
#if defined(SYS_futex) && defined(FUTEX_WAKE_OP)
	uint32_t nobody_waits = 0;
	uintptr_t page = at & ~(uintptr_t)(LEAST_PAGE - 1);
	int kept = errno;
	bool can = syscall(SYS_futex, &nobody_waits,
	                   FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, page,
	                   FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0 ||
	           errno != EFAULT;

	errno = kept;
	return can;
#else
	return ppi_store_can_write((void *)at);
#endif
}

void ppi_pages_forget(struct ppi_pages *pages)
{
	memset(pages, 0, sizeof(*pages));
}

bool ppi_pages_can_write(struct ppi_pages *pages, const void *at, size_t bytes)
{
	enum { SLOTS = sizeof(pages->writable) / sizeof(pages->writable[0]) };
	uintptr_t first = (uintptr_t)at / LEAST_PAGE;
	uintptr_t last = ((uintptr_t)at + bytes - 1) / LEAST_PAGE;

	if ((uintptr_t)at + bytes < bytes)
		return false;
	for (uintptr_t page = first; page <= last; page++) {
		uintptr_t *slot = &pages->writable[page % SLOTS];

		if (page != 0 && *slot == page)
			continue;
		/* no system maps the first */
		if (page == 0 ||
		    !can_write_page(page == first ? (uintptr_t)at :
		                                    page * LEAST_PAGE))
			return false;
		*slot = page;
	}
	return true;
}

/* ---- counters ---- */

static uint64_t raised(uint64_t now, uint64_t amount, uint64_t top)
{
	if (top == 0 || now + amount <= top)
		return now + amount;
	return now > top ? now : top;
}

static uint64_t left_over(uint64_t now, uint64_t amount, uint64_t top)
{
	return top == 0 ? 0 : amount - (raised(now, amount, top) - now);
}

static uint64_t add16(uint16_t *at, uint64_t amount, uint64_t top)
{
	uint16_t now = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(
		at, &now, (uint16_t)raised(now, amount, top), true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return left_over(now, amount, top);
}

static uint64_t add32(uint32_t *at, uint64_t amount, uint64_t top)
{
	uint32_t now = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(
		at, &now, (uint32_t)raised(now, amount, top), true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return left_over(now, amount, top);
}

/* BSD's buffer is of char, and need not be aligned. */
static uint64_t add_anywhere(void *at, unsigned width, uint64_t amount,
                             uint64_t top)
{
	uint16_t narrow = 0;
	uint32_t wide = 0;
	uint64_t rest;

	if (width == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		rest = add16(&narrow, amount, top);
		memcpy(at, &narrow, sizeof(narrow));
	} else {
		memcpy(&wide, at, sizeof(wide));
		rest = add32(&wide, amount, top);
		memcpy(at, &wide, sizeof(wide));
	}
	return rest;
}

uint64_t ppi_store_add(void *at, unsigned width, uint64_t amount, uint64_t top)
{
	if ((uintptr_t)at % width)
		return add_anywhere(at, width, amount, top);
	return width == sizeof(uint16_t) ? add16(at, amount, top) :
	                                   add32(at, amount, top);
}
