/* SPDX-License-Identifier: MIT */
/*
 * What user-space counter reads ask of the CPU: a counter's register, the
 * clock that the kernel's times are in, and who is asking. A test that is
 * built with PERF_USER_SIMULATED gives its own.
 */
#ifndef PERF_USER_CPU_H
#define PERF_USER_CPU_H

#include <stdint.h>

/* Instructions are counted here: what is hot is in one piece. */
#if defined __GNUC__
#define PERF_USER_INLINE __attribute__((always_inline)) static inline
#define PERF_USER_SELDOM __attribute__((noinline, cold))
#else
#define PERF_USER_INLINE static inline
#define PERF_USER_SELDOM
#endif

/* What lets programs read counters (Documentation/admin-guide: sysctl/kernel.rst,
 * and sysfs-bus-event_source-devices): an administrator may have forbidden it. */
#if defined __aarch64__
#define PERF_USER_SWITCH "sysctl kernel.perf_user_access=1 allows it"
#else
#define PERF_USER_SWITCH \
	"/sys/bus/event_source/devices/cpu/rdpmc forbids it while it is 0"
#endif

#if defined PERF_USER_SIMULATED

enum { PERF_USER_READS = 1 };
uint64_t perf_user_pmc(uint32_t counter);
uint64_t perf_user_clock(void);
uintptr_t perf_user_thread(void);
void perf_user_barrier(void);

#else

/*
 * For the compiler alone. The kernel changes the page of a thread's event in
 * interrupts and when it switches threads, on the CPU that the thread runs on
 * (kernel/events/core.c, perf_event_update_userpage): each instruction is
 * wholly before that or wholly after it.
 */
static inline void perf_user_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

#if defined __x86_64__ && !defined __ILP32__

enum { PERF_USER_READS = 1 };

static inline uint64_t perf_user_pmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t perf_user_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* The thread pointer: no two threads that live have the same. */
static inline uintptr_t perf_user_thread(void)
{
	uintptr_t self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

#elif defined __aarch64__ && !defined __ILP32__ && !defined __AARCH64EB__

enum { PERF_USER_READS = 1 };

/* Where branches must land on a mark, each place has one. */
#if defined __ARM_FEATURE_BTI_DEFAULT
#define PERF_USER_LANDING "hint #36\n\tnop\n\t"
#define PERF_USER_STEP    "4"
#else
#define PERF_USER_LANDING ""
#define PERF_USER_STEP    "3"
#endif

/* The number of the register is a part of the instruction: a jump into a row
 * of them. 31 is the cycle counter (drivers/perf/arm_pmuv3.c,
 * ARMV8_PMU_CYCLE_IDX), and there are no more. */
PERF_USER_INLINE uint64_t perf_user_pmc(uint32_t counter)
{
	uint64_t value, at = counter & 31;

	__asm__ volatile(
		"adr	%0, 1f\n\t"
		"add	%0, %0, %1, lsl #" PERF_USER_STEP "\n\t"
		"br	%0\n"
		"1:\n\t"
		".irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
		"15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, "
		"30\n\t"
		PERF_USER_LANDING
		"mrs	%0, pmevcntr\\n\\()_el0\n\t"
		"b	2f\n\t"
		".endr\n\t"
		PERF_USER_LANDING
		"mrs	%0, pmccntr_el0\n"
		"2:"
		: "=&r"(value) : "r"(at));
	return value;
}

static inline uint64_t perf_user_clock(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value));
	return value;
}

static inline uintptr_t perf_user_thread(void)
{
	uintptr_t self;

	__asm__("mrs %0, tpidr_el0" : "=r"(self));
	return self;
}

#else

/* No machine whose kernel lets programs read counters, or none we know. */
enum { PERF_USER_READS = 0 };

static inline uint64_t perf_user_pmc(uint32_t counter)
{
	return counter;
}

static inline uint64_t perf_user_clock(void)
{
	return 0;
}

static inline uintptr_t perf_user_thread(void)
{
	return 0;
}

#endif
#endif
#endif
