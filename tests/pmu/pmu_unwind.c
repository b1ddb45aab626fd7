/* SPDX-License-Identifier: MIT */
/*
 * Stacks unwound by frame tables, of a program that keeps no frame pointers.
 * Each function whose callers are known has a section of its own, by which its
 * addresses are known.
 *
 * usage: pmu_unwind BACKEND [CASES]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/pmu/lab.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 8000000, DEPTH = 200, RECURSION = 60, SHOWN = 3 };

#ifndef HWCAP_PACA
#define HWCAP_PACA (1u << 30)
#endif

#define SECTIONS(X)                                                        \
	X(leaf) X(spill) X(third) X(second) X(first) X(recurse) X(handler) \
	X(signed_leaf) X(signed_second) X(signed_first) X(interrupted)     \
	X(by_thread) X(no_frame) X(plt_loop) X(made_loop) X(vdso_loop)

enum place {
#define PLACE(name) IN_##name,
	SECTIONS(PLACE) PLACES
};

#define BOUNDS(name) extern const char __start_u_##name[], __stop_u_##name[];
SECTIONS(BOUNDS)

static const struct {
	const char *name, *start, *stop;
} places[] = {
#define ROW(name) { #name, __start_u_##name, __stop_u_##name },
	SECTIONS(ROW)
};

#define IN(name) __attribute__((noinline, noclone, used, section("u_" #name)))
#ifdef __aarch64__
#define SIGNED(how) __attribute__((target("branch-protection=" how)))
#else
#define SIGNED(how)
#endif

static volatile uint64_t kept = 1;
static const char *backend;

/* ---- functions with known callers ---- */

/* Calls nobody and saves nothing: the return address stays in its register. */
IN(leaf) static uint64_t leaf(uint64_t turns)
{
	uint64_t x = turns;

	while (turns--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Room on the stack that nobody else uses. */
IN(spill) static uint64_t spill(uint64_t turns)
{
	volatile uint64_t room[100];

	for (unsigned i = 0; i < 100; i++)
		room[i] = i;
	return leaf(turns) + room[turns % 100];
}

IN(third) static uint64_t third(uint64_t turns)
{
	return spill(turns) + kept;
}

IN(second) static uint64_t second(uint64_t turns)
{
	uint64_t sum = kept;

	sum += third(turns);
	return sum ^ kept;
}

IN(first) static uint64_t first(uint64_t turns)
{
	return second(turns) * 3 + kept;
}

IN(recurse) static uint64_t recurse(unsigned depth, uint64_t turns)
{
	if (depth == 0)
		return leaf(turns) + kept;
	return recurse(depth - 1, turns) + kept;
}

/* Return addresses are signed here, in the leaf as well. */
SIGNED("pac-ret+leaf") IN(signed_leaf)
static uint64_t signed_leaf(uint64_t turns)
{
	uint64_t x = turns;

	while (turns--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

SIGNED("pac-ret") IN(signed_second)
static uint64_t signed_second(uint64_t turns)
{
	return signed_leaf(turns) + kept;
}

SIGNED("pac-ret+b-key") IN(signed_first)
static uint64_t signed_first(uint64_t turns)
{
	return signed_second(turns) + kept;
}

IN(handler) static void handler(int signal)
{
	kept += second(TURNS) + (uint64_t)signal;
}

/* Has no frame where the signal comes, and its return address is in a register
 * alone. */
IN(interrupted) static uint64_t interrupted(pid_t pid, pid_t tid, int number)
{
#ifdef __aarch64__
	register uint64_t x0 __asm__("x0") = (uint64_t)pid;
	register uint64_t x1 __asm__("x1") = (uint64_t)tid;
	register uint64_t x2 __asm__("x2") = (uint64_t)number;
	register uint64_t x8 __asm__("x8") = 131; /* tgkill */

	__asm__ volatile("svc #0" : "+r"(x0)
	                 : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return x0;
#else
	(void)pid, (void)tid;
	return (uint64_t)raise(number);
#endif
}

IN(no_frame) static uint64_t no_frame(int number)
{
	uint64_t result = interrupted(getpid(), gettid(), number);

	return result + kept;
}

/* As long in the entry of the PLT as in the function. */
IN(plt_loop) static uint64_t plt_loop(uint64_t turns)
{
	while (turns--)
		kept += (uint64_t)ffsll((long long)turns);
	return kept;
}

IN(vdso_loop) static uint64_t vdso_loop(uint64_t turns)
{
	struct timespec now;

	while (turns--) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		kept += (uint64_t)now.tv_nsec;
	}
	return kept;
}

IN(made_loop) static uint64_t made_loop(uint64_t (*made)(void *, uint64_t))
{
	return made((void *)(uintptr_t)leaf, TURNS) + kept;
}

IN(by_thread) static void *by_thread(void *unused)
{
	kept += first(TURNS);
	return unused;
}

/* What a function of this section calls first. */
static const uint32_t *stub_called_by(enum place place)
{
	const uint32_t *at = (const void *)places[place].start;
	const uint32_t *stop = (const void *)places[place].stop;

	for (; at < stop; at++)
		if (*at >> 26 == 0x25) /* bl */
			return at + ((int32_t)(*at << 6) >> 6);
	return NULL;
}

/* ---- what is seen ---- */

static struct {
	uint64_t samples, good, cut;
	enum place callers[RECURSION + 16];
	size_t count;
	uint64_t stub, stub_end; /* samples there are meant, if it is not 0 */
	uint64_t library;        /* a function of the C library is between */
} seen;

static const char *place_name(uint64_t address)
{
	for (size_t i = 0; i < PLACES; i++)
		if (address >= (uintptr_t)places[i].start &&
		    address < (uintptr_t)places[i].stop)
			return places[i].name;
	return "-";
}

static bool is_at(uint64_t address, enum place place)
{
	return address >= (uintptr_t)places[place].start &&
	       address < (uintptr_t)places[place].stop;
}

/* The callers are found in this order, with nothing of ours between. What is
 * not ours (the trampoline of a signal) may be. */
static bool is_expected(const uint64_t *chain, size_t depth)
{
	size_t next = 0;

	if (seen.library && (depth < 2 || chain[1] - seen.library > 0x200))
		return false;
	for (size_t i = 0; i < depth && next < seen.count; i++) {
		uint64_t at = chain[i] - (i > 0);

		if (is_at(at, seen.callers[next]))
			next++;
		else if (strcmp(place_name(at), "-") != 0)
			return false;
	}
	return next == seen.count;
}

static void show(const portprof_record *record, const uint64_t *chain,
                 size_t depth)
{
	lab_say("chain of %zu, end %u", depth, (unsigned)record->chain_end);
	for (size_t i = 0; i < depth && i < 20; i++)
		lab_say("  %#" PRIx64 " %s", chain[i],
		        place_name(chain[i] - (i > 0)));
}

static void take_sample(const portprof_batch *batch,
                        const portprof_record *record)
{
	size_t depth = 0;
	const uint64_t *chain = portprof_batch_chain(batch, record, &depth);

	if (seen.stub ? record->address < seen.stub ||
	                record->address >= seen.stub_end
	              : !is_at(record->address, seen.callers[0]))
		return;
	seen.samples++;
	if (chain && record->chain_end == PORTPROF_CHAIN_WHOLE &&
	    is_expected(chain, depth))
		seen.good++;
	else if (++seen.cut <= SHOWN)
		show(record, chain, depth);
}

static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			take_sample(batch, record);
	}
}

#define expect(...)                                                          \
	do {                                                                 \
		const enum place wanted[] = { __VA_ARGS__ };                 \
		memset(&seen, 0, sizeof(seen));                              \
		memcpy(seen.callers, wanted, sizeof(wanted));                \
		seen.count = sizeof(wanted) / sizeof(wanted[0]);             \
	} while (0)

static portprof_session *begin(void)
{
	portprof_config *config = lab_config();
	portprof_session *session;

	lab_must(portprof_config_set_backend(config, backend));
	lab_must(portprof_config_set_target(config, PORTPROF_TARGET_PROCESS,
	                                    0));
	lab_must(portprof_config_set_number(config, "callchain", DEPTH));
	lab_must(portprof_config_set_number(config, "frequency", 1000));
	/* a signal's frame may have long vectors in it */
	lab_must(portprof_config_set_number(config, "stack", 32768));
	lab_must(portprof_config_set_number(config, "unwind",
	                                    PORTPROF_UNWIND_DWARF));
	lab_must(portprof_config_add_callback(config, take, NULL));
	session = lab_open_session(config);
	lab_must(portprof_session_start(session));
	return session;
}

/* All samples of the place have all of their callers. */
static void finish(portprof_session *session)
{
	lab_must(portprof_session_stop(session));
	lab_say("%s: %" PRIu64 " samples, %" PRIu64 " whole", backend,
	        seen.samples, seen.good);
	assert_true(seen.samples >= 2);
	assert_int_equal(seen.good, seen.samples);
}

/* ---- cases ---- */

static void functions_without_frame_pointers(void **state)
{
	portprof_session *session;

	(void)state;
	expect(IN_leaf, IN_spill, IN_third, IN_second, IN_first);
	session = begin();
	kept += first(TURNS);
	finish(session);
}

static void a_recursion(void **state)
{
	portprof_session *session;

	(void)state;
	expect(IN_leaf);
	while (seen.count <= RECURSION + 1)
		seen.callers[seen.count++] = IN_recurse;
	session = begin();
	kept += recurse(RECURSION, TURNS);
	finish(session);
}

static void a_thread(void **state)
{
	portprof_session *session;
	pthread_t thread;

	(void)state;
	expect(IN_leaf, IN_spill, IN_third, IN_second, IN_first, IN_by_thread);
	session = begin();
	assert_int_equal(pthread_create(&thread, NULL, by_thread, NULL), 0);
	pthread_join(thread, NULL);
	finish(session);
}

static void signed_return_addresses(void **state)
{
	portprof_session *session;

	(void)state;
#ifdef __aarch64__
	lab_say("return addresses are %ssigned", getauxval(AT_HWCAP) & HWCAP_PACA
	        ? "" : "not ");
#endif
	expect(IN_signed_leaf, IN_signed_second, IN_signed_first);
	session = begin();
	kept += signed_first(TURNS);
	finish(session);
}

static void through_a_handler(unsigned flags)
{
	struct sigaction old, action = { .sa_handler = handler };
	portprof_session *session;

	action.sa_flags = (int)flags;
	expect(IN_leaf, IN_spill, IN_third, IN_second, IN_handler,
	       IN_interrupted, IN_no_frame);
	session = begin();
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	kept += no_frame(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	finish(session);
}

static void a_handler_and_what_it_interrupted(void **state)
{
	(void)state;
	through_a_handler(0);
}

static void a_handler_on_a_stack_of_its_own(void **state)
{
	stack_t other = { .ss_size = 1 << 16 }, old;

	(void)state;
	if (strcmp(backend, "perf") == 0)
		lab_skip("the kernel copies one stack alone");
	other.ss_sp = malloc(other.ss_size);
	assert_non_null(other.ss_sp);
	assert_int_equal(sigaltstack(&other, &old), 0);
	through_a_handler(SA_ONSTACK);
	assert_int_equal(sigaltstack(&old, NULL), 0);
	free(other.ss_sp);
}

/* No table describes it. */
static void an_entry_of_the_plt(void **state)
{
	const uint32_t *stub = stub_called_by(IN_plt_loop);
	portprof_session *session;

	(void)state;
	assert_non_null(stub);
	lab_say("%#" PRIx32 " %#" PRIx32 " %#" PRIx32 " %#" PRIx32, stub[0],
	        stub[1], stub[2], stub[3]);
	expect(IN_plt_loop);
	seen.stub = (uintptr_t)stub;
	seen.stub_end = seen.stub + 16;
	session = begin();
	kept += plt_loop(TURNS);
	finish(session);
}

/* The kernel's function has no table, and the C library's calls it. */
static void the_vdso(void **state)
{
	uint64_t library = (uintptr_t)dlsym(RTLD_DEFAULT, "clock_gettime");
	portprof_session *session;

	(void)state;
	assert_true(library > 0);
	expect(IN_vdso_loop);
	seen.stub = getauxval(AT_SYSINFO_EHDR);
	seen.stub_end = seen.stub + 0x10000;
	seen.library = library;
	session = begin();
	kept += vdso_loop(TURNS / 16);
	finish(session);
}

/* Code that the program made while it was measured, and keeps frame pointers in. */
static void code_made_meanwhile(void **state)
{
	static const uint32_t code[] = {
		0xa9bc7bfd, /* stp x29, x30, [sp, #-64]! */
		0x910003fd, /* mov x29, sp */
		0xaa0003e2, /* mov x2, x0 */
		0xaa0103e0, /* mov x0, x1 */
		0xd63f0040, /* blr x2 */
		0xa8c47bfd, /* ldp x29, x30, [sp], #64 */
		0xd65f03c0, /* ret */
	};
	portprof_session *session;
	void *room;

	(void)state;
	expect(IN_leaf, IN_made_loop);
	session = begin();
	room = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(room, MAP_FAILED);
	memcpy(room, code, sizeof(code));
	__builtin___clear_cache(room, (char *)room + sizeof(code));
	assert_int_equal(mprotect(room, 4096, PROT_READ | PROT_EXEC), 0);
	kept += made_loop((uint64_t(*)(void *, uint64_t))(uintptr_t)room);
	finish(session);
	munmap(room, 4096);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(functions_without_frame_pointers),
		LAB_CASE(a_recursion),
		LAB_CASE(a_thread),
		LAB_CASE(signed_return_addresses),
		LAB_CASE(a_handler_and_what_it_interrupted),
		LAB_CASE(a_handler_on_a_stack_of_its_own),
		LAB_CASE(an_entry_of_the_plt),
		LAB_CASE(the_vdso),
		LAB_CASE(code_made_meanwhile),
	};

	lab_begin(argc, argv);
	backend = lab_pmu;
	return cmocka_run_group_tests_name("pmu_unwind", tests, NULL, NULL);
}
