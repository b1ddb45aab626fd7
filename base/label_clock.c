/* SPDX-License-Identifier: MIT */
/* A clock that is carried on by the CPU's counter. */
#include "config.h"

#include "base/label_clock.h"

#include "base/clock_ns.h"

#include <stdatomic.h>

#if defined __x86_64__ && defined __GNUC__ && defined __linux__
#include <cpuid.h>
#include <sys/prctl.h>
#endif

enum {
	/* the pace is measured over so long */
	MEASURED_NS = 5000000,
	MEASURED_MOST_NS = 1000000000,
	/* a change in so many is not worth it: some microseconds */
	SELDOM_CYCLES = 1 << 14
};

/* ---- the counter ---- */

#if defined __x86_64__ && defined __GNUC__ && defined __linux__

/* "Invariant TSC" in the manuals of both makers. A process may be forbidden to read it,
 * which ends it (prctl(2)). */
bool ppi_cycles_are_even(void)
{
	unsigned a, b, c, d = 0;
	int may_read = 0;

	return PPI_HAS_CYCLES && __get_cpuid(0x80000007, &a, &b, &c, &d) &&
	       (d & (1u << 8)) && prctl(PR_GET_TSC, &may_read) == 0 &&
	       may_read == PR_TSC_ENABLE;
}

#elif defined __aarch64__ && defined __linux__

/* By the architecture. */
bool ppi_cycles_are_even(void)
{
	return PPI_HAS_CYCLES;
}

#else

bool ppi_cycles_are_even(void)
{
	return false;
}

#endif

/* ---- the clock ---- */

static uint64_t ns_of(uint64_t cycles, uint64_t rate)
{
	return (cycles >> 32) * rate + ((cycles & UINT32_MAX) * rate >> 32);
}

static void measure_from(struct ppi_label_clock *clock, uint64_t middle,
                         uint64_t ns, uint64_t window)
{
	clock->first_cycles = middle;
	clock->first_ns = ns;
	clock->first_window = window;
}

/* Whether carrying on led elsewhere than the clock went: somebody has set its pace
 * meanwhile, by far more than is usual. */
static bool is_wrong(const struct ppi_label_clock *clock, uint64_t middle,
                     uint64_t ns, uint64_t window)
{
	uint64_t since = middle - clock->cycles, carried, apart, may_be;

	if (clock->rate == 0 || since > clock->span * 64)
		return false;
	carried = clock->ns + ns_of(since, clock->rate);
	apart = carried > ns ? carried - ns : ns - carried;
	may_be = 2 * PPI_LABEL_SLACK_NS + ns_of(window, clock->rate) +
	         ns_of(since, clock->rate) / 2000;
	return apart > may_be;
}

void ppi_label_clock_take(struct ppi_label_clock *clock, uint64_t cycles,
                          uint64_t ns, uint64_t cycles_after)
{
	/* the second count may be a step old, and each that is carried by as well */
	uint64_t window = cycles_after - cycles + 3;
	uint64_t middle = cycles + (window - 2) / 2;
	uint64_t age_ns = ns - clock->first_ns;
	uint64_t age = middle - clock->first_cycles, rate;

	clock->was_wrong = is_wrong(clock, middle, ns, window);
	if (clock->was_wrong || age_ns > MEASURED_MOST_NS || age == 0 ||
	    age > INT64_MAX) { /* it began again */
		clock->rate = 0;
		measure_from(clock, middle, ns, window);
		return;
	}
	rate = (age_ns << 32) / age;
	if (ns_of(clock->first_window, rate) > PPI_LABEL_WINDOW_NS) {
		measure_from(clock, middle, ns, window);
		return;
	}
	if (ns_of(window, rate) > PPI_LABEL_WINDOW_NS)
		return;
	if (age_ns >= MEASURED_NS && rate) {
		clock->rate = rate;
		clock->span = ((uint64_t)PPI_LABEL_CARRY_NS << 32) / rate;
		measure_from(clock, middle, ns, window);
	}
	if (clock->rate) {
		clock->cycles = middle;
		clock->ns = ns;
		atomic_signal_fence(memory_order_seq_cst);
		clock->carried_for = clock->span;
	}
}

/* Whether changes are that far apart, since the last reading. */
static bool is_seldom(struct ppi_label_clock *clock, uint64_t cycles,
                      uint64_t position)
{
	uint64_t elapsed = cycles - clock->read_cycles;
	uint64_t changes = position - clock->read_position;

	clock->read_cycles = cycles;
	clock->read_position = position;
	return elapsed / SELDOM_CYCLES >= changes;
}

/* A handler in the middle of it reads the clock, and sets nothing. */
uint64_t ppi_label_clock_read(struct ppi_label_clock *clock, uint64_t cycles,
                              uint64_t position)
{
	uint64_t ns = ppi_monotonic_ns(), after;

	clock->was_wrong = false;
	if (is_seldom(clock, cycles, position) || clock->is_taken)
		return ns;
	after = ppi_cycles_after();
	clock->is_taken = true;
	clock->carried_for = 0;
	atomic_signal_fence(memory_order_seq_cst);
	ppi_label_clock_take(clock, cycles, ns, after);
	atomic_signal_fence(memory_order_seq_cst);
	clock->is_taken = false;
	return ns;
}
