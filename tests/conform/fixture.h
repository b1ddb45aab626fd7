/* SPDX-License-Identifier: MIT */
/*
 * What the conformance suite needs to know of the thing under test: one
 * backend over one kernel, real or simulated, and a way to spend CPU time on
 * it. Cases use this header and the public API only.
 */
#ifndef CONFORM_FIXTURE_H
#define CONFORM_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof.h>

/* Functions a program can spend time in, and threads it can have. */
enum { FX_FUNCTIONS = 4, FX_THREADS = 64 };

/* "Thread `thread` spends cpu_ns on function `function`, of it in_kernel_ns
 * inside system calls made from there." */
struct fx_work {
	unsigned thread;   /* 0 is the thread that runs the case */
	unsigned function; /* 0..FX_FUNCTIONS-1 */
	uint64_t cpu_ns;
	uint64_t in_kernel_ns;
	const portprof_label_set *set; /* that the thread is in meanwhile */
};

struct fixture {
	const char *name;    /* "perf_sim": also the file and the program */
	const char *backend; /* the session must get exactly this one */
	bool is_real;        /* CPU time is really spent, clocks really run */
	bool is_exact;       /* virtual clock: spend tells exactly what the
	                      * kernel charged, and nothing else runs */

	/* Largest CPU time one thread may use between two samples when it
	 * asked for less: 0 = the period is honoured (hrtimer), else the
	 * kernel's tick. */
	uint64_t tick_ns;

	/* Each period is by chance up to half of itself longer or shorter
	 * (SAMPLE-15). */
	bool varies_periods;

	/* The kernel samples whatever runs when its own clock ticks: the rate
	 * asked for changes nothing, and chance decides who is met. */
	bool has_own_rate;

	/* One timer serves all threads, and the system does not say what each
	 * of them used: a sample weighs what all did since the last one. */
	bool is_weighed_together;

	/* Before and after each case. A real fixture that cannot run here
	 * returns the reason, and the program exits 77. */
	const char *(*setup)(void);
	void (*teardown)(void);

	/* Threads 1..FX_THREADS-1 are created and ended by the case. The
	 * system's id of a running one. */
	void (*thread_start)(unsigned thread);
	void (*thread_end)(unsigned thread);
	int64_t (*thread_tid)(unsigned thread);

	/*
	 * Do all works, those of different threads at the same time, in the
	 * given order within a thread; return when all are done. used_ns[i]
	 * is the CPU time that work i really took: cpu_ns on a virtual clock,
	 * somewhat more on a real one, 0 where no time ever passes (null).
	 */
	void (*spend)(const struct fx_work *works, size_t count,
	              uint64_t *used_ns);

	/* Time passes, no thread of the program runs. */
	void (*idle)(uint64_t ns);

	/* Where function f's instructions lie: [*start, *end). */
	void (*function_range)(unsigned function, uint64_t *start,
	                       uint64_t *end);

	/* Simulated kernels with call chains, else NULL: what is `level`
	 * calls above an instruction. */
	uint64_t (*caller)(uint64_t pc, unsigned level);

	/* CPU time of the whole program so far, the library's helper thread
	 * not counted. */
	uint64_t (*cpu_time_ns)(void);

	/* What a hypervisor has kept of all CPUs so far, as far as the system
	 * tells; NULL on a virtual clock. */
	uint64_t (*stolen_ns)(void);

	/*
	 * Simulated kernels only, else NULL. Number and names of the calls of
	 * the seam; make the nth (from 1) next call of that one fail with an
	 * errno that this call can give (variants 0.. until false); forget.
	 */
	size_t (*call_count)(void);
	const char *(*call_name)(size_t call);
	bool (*fail)(size_t call, unsigned nth, unsigned variant);
	int (*fault_errno)(void); /* what failed since the last fail, or 0 */

	/* What the backend holds of the kernel right now: descriptors,
	 * mappings, timers, handlers. 0 after every close. For a real fixture
	 * counted from outside, relative to setup. */
	size_t (*held)(void);

	/* The program itself takes what an exclusive backend would need
	 * (a SIGPROF handler, a timer), each time another of what there is;
	 * NULL when there is no such thing.
	 * application_is_intact: it still has it. */
	void (*application_takes)(void);
	bool (*application_is_intact)(void);
	void (*application_gives_back)(void);

	/* Lose samples: make the next `count` vanish for lack of room, in
	 * the way this kernel loses them. NULL when it cannot be provoked. */
	void (*lose)(unsigned count);

	/* The thread that runs the case writes to so many fresh pages: as many
	 * page faults in user mode. NULL where nothing counts those. */
	void (*page_faults)(unsigned count);
};

/* The fixture under test; tests/fixtures/NAME.c defines it. */
extern const struct fixture fixture;

/*
 * Knobs of the library that no user has, for what cannot be shown without;
 * tests/fixtures/knobs.c. Sessions opened from now on move samples to their
 * sinks at most `records` at once; 0 = as usual.
 */
void fx_set_room(size_t records);

/* Until the case ends that backend is none of this system's. */
void fx_take_away(const char *backend);
void fx_put_back(void);

/* The same: waits are those of a thread that has been charged this since, and that
 * is the time that has passed for it. */
void fx_charge(uint64_t running_ns, uint64_t ready_ns, uint64_t other_ns);
/* That thread enters a set of labels. */
void fx_charged_enters(const portprof_label_set *set);
/* The same: this system says nothing of waits. */
void fx_take_away_waits(void);

/* What the helper thread does now and then, where there is no such thread. */
void fx_serve(void);

#endif
