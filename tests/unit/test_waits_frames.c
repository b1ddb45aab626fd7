/* SPDX-License-Identifier: MIT */
/*
 * Frames of blocked threads in the kernel, over a simulated /proc in which one thread
 * waits where each case says: they are those that the kernel reports of that wait, all of
 * them or none, and without them everything is as it is for who may not see them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "backends/waits/waits.h"
#include "backends/waits/waits_kernel.h"
#include "tests/unit/waits_run.h"

#define MS UINT64_C(1000000)

enum { PID = 100, USER_PC = 0x1000, SP = 0x7000, STACK_BYTES = 64 };

/* ---- symbols of the kernel ---- */

#define KERNEL   UINT64_C(0xffffffff81000000)
#define SLEEPS   (KERNEL + 0x100)
#define ENTRY    (KERNEL + 0x200)
#define TWICE    (KERNEL + 0x300)
#define TWICE_2  (KERNEL + 0x400)
#define OF_DISK  (UINT64_C(0xffffffffc0000000))
#define LATE     (UINT64_C(0xffffffffc0001000))

static const struct symbol {
	uint64_t address;
	char type;
	const char *name;
	bool is_late; /* of a module that is loaded later */
} symbols[] = {
	{ SLEEPS, 't', "do_sleep", false },
	{ ENTRY, 'T', "entry", false },
	{ ENTRY, 'T', "entry_alias", false },
	{ TWICE, 't', "twice", false },
	{ TWICE + 0x20, 'd', "table", false }, /* where the first ends */
	{ TWICE_2, 't', "twice", false },
	{ TWICE_2 + 0x40, 'T', "behind", false },
	{ KERNEL + 0x500, 'd', "data", false },
	{ OF_DISK, 't', "read_disk [disk]", false },
	{ OF_DISK + 0x10, 't', "write_disk [disk]", false },
	{ 0x1234, 't', "low", false },
	{ LATE, 't', "read_late [late]", true },
	{ LATE + 0x10, 't', "write_late [late]", true },
};

/* ---- the world ---- */

static struct {
	uint64_t now_ns;
	unsigned calls, fails_at; /* 0: none */
	unsigned wait, place;     /* its number, and where */
	int denied;               /* errno of stacks */
	bool hides, loads_late;
	const char *function, *stack;
	unsigned stacks_read, lists_read;
} world;

static bool fails(void)
{
	return ++world.calls == world.fails_at;
}

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return world.now_ns;
}

static int sim_cpu(void *self)
{
	(void)self;
	return 0;
}

static uint64_t sim_process_cpu_ns(void *self, int64_t pid)
{
	(void)self;
	(void)pid;
	return fails() ? 0 : world.wait * MS;
}

static int put_sums(char *text, size_t room)
{
	return waits_run_put(text, room, "%" PRIu64 " 0 %u\n", world.wait * MS, world.wait);
}

static int sim_read(void *self, const char *path, char *text, size_t room)
{
	const char *name = strrchr(path, '/') + 1;

	(void)self;
	if (fails())
		return -EIO;
	if (strcmp(name, "stack") == 0) {
		if (world.denied)
			return -world.denied;
		if (strcmp(path, "/proc/thread-self/stack") == 0)
			return waits_run_put(text, room, "[<0>] proc_pid_stack+0x1/0x9\n");
		world.stacks_read++;
		return waits_run_put(text, room, "%s", world.stack);
	}
	if (strcmp(name, "schedstat") == 0)
		return put_sums(text, room);
	if (strcmp(name, "syscall") == 0)
		return waits_run_put(text, room, "35 0x0 0x0 0x0 0x0 0x0 0x0 0x%x 0x%x\n",
		           SP, USER_PC + world.place);
	if (strcmp(name, "wchan") == 0)
		return waits_run_put(text, room, "%s", world.function);
	if (strcmp(name, "status") == 0)
		return waits_run_put(text, room, "voluntary_ctxt_switches:\t%u\n",
		           world.wait);
	if (strcmp(name, "comm") == 0)
		return waits_run_put(text, room, "app\n");
	if (strcmp(name, "stat") == 0)
		return waits_run_put(text, room, "%d (app) S 1 2\n", PID);
	return -ENOENT;
}

static int sim_hold(void *self, const char *path)
{
	(void)self;
	(void)path;
	return fails() ? -ENOENT : 1;
}

static int sim_read_held(void *self, int held, char *text, size_t room)
{
	(void)self;
	(void)held;
	return fails() ? -EIO : put_sums(text, room);
}

static void sim_release(void *self, int held)
{
	(void)self;
	(void)held;
}

static int sim_link(void *self, const char *path, char *text, size_t room)
{
	(void)self;
	(void)path;
	(void)text;
	(void)room;
	return -ENOENT;
}

static int sim_list(void *self, const char *path,
                    bool (*take)(void *context, int64_t number), void *context)
{
	(void)self;
	(void)path;
	take(context, PID);
	return 1;
}

static int sim_folders(void *self, const char *path)
{
	(void)self;
	(void)path;
	return 1;
}

static int64_t sim_memory(void *self, int64_t pid, uint64_t address,
                          void *bytes, size_t count)
{
	(void)self;
	(void)pid;
	(void)address;
	if (fails())
		return -EFAULT;
	memset(bytes, 0, count);
	return (int64_t)count;
}

static void sim_each_code(void *self, int64_t pid,
                          void (*take)(void *context, uint64_t start,
                                       uint64_t limit, uint64_t offset,
                                       const char *path),
                          void *context)
{
	(void)self;
	(void)pid;
	(void)take;
	(void)context;
}

static void sim_each_symbol(void *self,
                            void (*take)(void *context, uint64_t address,
                                         char type, const char *name),
                            void *context)
{
	(void)self;
	world.lists_read++;
	if (fails() || world.hides)
		return;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!symbols[i].is_late || world.loads_late)
			take(context, symbols[i].address, symbols[i].type,
			     symbols[i].name);
}

static enum waits_call sim_call_of(void *self, int64_t number)
{
	(void)self;
	(void)number;
	return WAITS_CALL_SLEEP;
}

static const struct waits_kernel kernel = {
	.now_ns = sim_now_ns, .boot_ns = sim_now_ns, .read = sim_read,
	.cpu = sim_cpu, .process_cpu_ns = sim_process_cpu_ns,
	.hold = sim_hold, .read_held = sim_read_held,
	.release = sim_release, .link = sim_link, .list = sim_list,
	.folders = sim_folders, .memory = sim_memory,
	.each_code = sim_each_code, .each_symbol = sim_each_symbol,
	.call_of = sim_call_of,
	.sp = 7, .pc = 16, .ticks_per_s = 100, .tick_ns = 4 * MS,
};

/* ---- what is told of it ---- */

enum { MOST = 8 };

static struct {
	unsigned stacks;          /* with a copy of the stack */
	uint64_t frames[MOST];    /* in the kernel, of the last one */
	size_t count;
	uint64_t address, user_address;
	bool is_kernel;
	uint64_t kernel_ns, user_ns; /* by what the address says it is of */
	uint64_t woken_ns; /* with a waker */
} told;

static void take(const portprof_batch *batch, const portprof_record *record)
{
	bool is_kernel = record->valid & PORTPROF_FIELD_KERNEL;
	struct ppi_user_context context;

	if (record->kind != PORTPROF_RECORD_SAMPLE)
		return;
	*(is_kernel ? &told.kernel_ns : &told.user_ns) += record->weight;
	if (waits_run_label(batch, record, 6)[0])
		told.woken_ns += record->weight;
	assert_true(is_kernel == (record->address >> 63));
	if (is_kernel) {
		assert_true(record->valid & PORTPROF_FIELD_USER_ADDRESS);
		/* what is told of the wait before is of its place */
		assert_in_range(record->user_address,
		                USER_PC + world.place - 1, USER_PC + world.place);
	}
	if (!(record->valid & PPI_FIELD_CONTEXT))
		return;
	told.stacks++;
	told.is_kernel = is_kernel;
	told.address = record->address;
	told.count = (size_t)record->payload_words;
	assert_true(told.count <= MOST);
	memcpy(told.frames, batch->words + record->payload,
	       told.count * sizeof(told.frames[0]));
	memcpy(&context, batch->words + record->payload + told.count,
	       sizeof(context));
	assert_int_equal(context.registers[kernel.pc], USER_PC + world.place);
	assert_int_equal(context.stack_bytes, STACK_BYTES);
}

static bool open_session(unsigned depth)
{
	const struct ppi_plan plan = {
		.target = { .kind = PPI_TARGET_PID, .pid = PID },
		.chain_depth = depth,
		.stack_bytes = depth ? STACK_BYTES : 0,
	};

	memset(&told, 0, sizeof(told));
	world.now_ns = 1000 * MS;
	world.calls = world.stacks_read = world.lists_read = 0;
	world.wait = world.place = 1;
	ppi_waits_set_kernel(&kernel);
	if (waits_run_open(&kernel, &plan, 0))
		return false;
	assert_int_equal(ppi_backend_waits.start(&run.bs, NULL), PORTPROF_OK);
	return true;
}

static void wait_ms(uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i += 20) {
		waits_run_drain(16, take);
		world.now_ns += 20 * MS;
	}
}

/* It waits elsewhere. */
static void move_on(void)
{
	world.wait++;
	world.place++;
}

static void end_session(void)
{
	assert_int_equal(ppi_backend_waits.stop(&run.bs, NULL), PORTPROF_OK);
	waits_run_drain(16, take);
	waits_run_close();
	ppi_waits_set_kernel(NULL);
}

static void see(const char *function, const char *stack)
{
	world.function = function;
	world.stack = stack;
}

/* One wait there, to its end. */
static void wait_in(const char *function, const char *stack)
{
	see(function, stack);
	assert_true(open_session(64));
	wait_ms(200);
	end_session();
}

static bool is_noted(const char *words)
{
	for (size_t i = 0; i < run.bs.note_count; i++)
		if (strstr(run.notes[i], words))
			return true;
	return false;
}

/* ---- cases ---- */

/* The leaf lies in its call, callers behind theirs, and the whole wait is there. */
static void frames_lead_to_the_entry(void **state)
{
	(void)state;
	wait_in("do_sleep", "[<0>] do_sleep+0x14/0x80\n[<0>] entry+0x8/0x10\n");
	assert_int_equal(told.stacks, 1);
	assert_true(told.is_kernel);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.frames[0], SLEEPS + 0x14 - 1);
	assert_int_equal(told.frames[1], ENTRY + 0x8);
	assert_int_equal(told.address, told.frames[0]);
	assert_true(run.bs.caps & PORTPROF_CAP_KERNEL);
	assert_int_equal(told.user_ns, 0);
	assert_true(told.kernel_ns >= 190 * MS);
}

/* However long it is. */
static void a_wait_is_read_once(void **state)
{
	(void)state;
	see("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
	assert_true(open_session(64));
	wait_ms(5000);
	assert_int_equal(world.stacks_read, 1);
	move_on();
	wait_ms(5000);
	assert_int_equal(world.stacks_read, 2);
	assert_int_equal(world.lists_read, 1);
	end_session();
}

/* The same call may wait for other things each time. */
static void another_function_is_another_wait(void **state)
{
	(void)state;
	see("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
	assert_true(open_session(64));
	wait_ms(100);
	see("entry", "[<0>] entry+0x8/0x10\n");
	world.wait++; /* in the same place */
	wait_ms(100);
	end_session();
	assert_int_equal(told.stacks, 2);
	assert_int_equal(told.frames[0], ENTRY + 0x8 - 1);
}

static void a_name_may_be_of_several(void **state)
{
	(void)state;
	wait_in("twice", "[<0>] twice+0x4/0x20\n[<0>] twice+0x8/0x40\n");
	assert_int_equal(told.count, 2);
	assert_int_equal(told.frames[0], TWICE + 0x4 - 1);
	assert_int_equal(told.frames[1], TWICE_2 + 0x8);
	/* of none of them */
	wait_in("twice", "[<0>] twice+0x4/0x30\n");
	assert_int_equal(told.count, 0);
	assert_false(told.is_kernel);
}

static void modules_and_addresses_are_known(void **state)
{
	(void)state;
	wait_in("read_disk", "[<0>] read_disk+0x4/0x10 [disk]\n"
	        "[<0>] 0xffffffff81000abc\n"
	        "[<ffffffff81000def>] old+0x1/0x2\n"
	        "[<ffffffffffffffff>] 0xffffffffffffffff\n");
	assert_int_equal(told.count, 3);
	assert_int_equal(told.frames[0], OF_DISK + 0x4 - 1);
	assert_int_equal(told.frames[1], KERNEL + 0xabc);
	assert_int_equal(told.frames[2], KERNEL + 0xdef);
}

/* What of a wait is not known is in no chain, and no other function stands for it. */
static void all_frames_are_known_or_none(void **state)
{
	static const char *const stacks[] = {
		"[<0>] do_sleep+0x14/0x80\n[<0>] nobody+0x8/0x10\n",
		"[<0>] do_sleep+0x14/0x80\n[<0>] low+0x8/0x10\n",
		"[<0>] do_sleep+0x14/0x80\n[<0>] data+0x8/0x10\n",
		"[<0>] do_sleep+0x14/0x80\n? entry+0x8/0x10\n",
		"[<0>] do_sleep\n",
		"",
		/* it has moved on since its place was read */
		"[<0>] entry+0x8/0x10\n",
		"[<0>] do_sleep_again+0x14/0x80\n",
		"[<0>] do_sl+0x14/0x80\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		wait_in("do_sleep", stacks[i]);
		assert_int_equal(told.stacks, 1);
		assert_int_equal(told.count, 0);
		assert_int_equal(told.address, USER_PC + 1);
		assert_true(told.user_ns >= 190 * MS);
		assert_int_equal(told.kernel_ns, 0);
	}
	wait_in("0", "[<0>] do_sleep+0x14/0x80\n"); /* it runs */
	assert_int_equal(told.count, 0);
}

static void a_stack_that_is_too_long_is_none(void **state)
{
	static char stack[20000];
	size_t length = (size_t)waits_run_put(stack, sizeof(stack),
	                            "[<0>] do_sleep+0x14/0x80\n");

	(void)state;
	for (int i = 0; i < 300; i++)
		length += (size_t)waits_run_put(stack + length, sizeof(stack) - length,
		                      "[<0>] entry+0x8/0x10\n");
	wait_in("do_sleep", stack);
	assert_int_equal(told.stacks, 1);
	assert_int_equal(told.count, 0);
}

/* The list is read again, not at each name that it does not have. */
static void modules_may_come_later(void **state)
{
	(void)state;
	see("read_late", "[<0>] read_late+0x4/0x10 [late]\n");
	assert_true(open_session(64));
	wait_ms(100);
	assert_int_equal(told.count, 0);
	world.loads_late = true;
	move_on();
	wait_ms(9000);
	assert_int_equal(told.count, 0);
	assert_int_equal(world.lists_read, 1);
	world.now_ns += 1500 * MS;
	move_on();
	wait_ms(2000);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.frames[0], LATE + 0x4 - 1);
	assert_int_equal(world.lists_read, 2);
	world.loads_late = false;
	end_session();
}

/* As before, and it is said why. */
static void who_may_not_see_them_has_the_rest(void **state)
{
	static const struct {
		int denied;
		bool hides;
		const char *why;
	} cases[] = {
		{ EACCES, false, "CAP_SYS_ADMIN" },
		{ EPERM, false, "CAP_SYS_ADMIN" },
		{ ENOENT, false, "CONFIG_STACKTRACE" },
		{ 0, true, "kptr_restrict" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world.denied = cases[i].denied;
		world.hides = cases[i].hides;
		wait_in("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
		assert_int_equal(told.stacks, 1);
		assert_int_equal(told.count, 0);
		assert_int_equal(told.address, USER_PC + 1);
		assert_int_equal(told.kernel_ns, 0);
		assert_true(is_noted(cases[i].why));
		assert_int_equal(world.stacks_read, 0);
		assert_false(run.bs.caps & PORTPROF_CAP_KERNEL);
	}
	world.denied = 0;
	world.hides = false;
}

/* Nobody asked for chains, and nothing is read for them. */
static void without_chains_nothing_is_read(void **state)
{
	(void)state;
	see("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
	assert_true(open_session(0));
	wait_ms(200);
	end_session();
	assert_int_equal(world.lists_read, 0);
	assert_int_equal(world.stacks_read, 0);
	assert_int_equal(told.kernel_ns, 0);
	assert_int_equal(run.bs.note_count, 0);
}

static void no_more_wakings(struct waits_watch *watch)
{
	(void)watch;
}

/* Seconds that it lasts are not told before it is known who ends it. */
static void a_long_wait_has_one_waker(void **state)
{
	portprof_record waking = { .pid = PID, .tid = PID + 1 };
	struct waits_watch *watch;

	(void)state;
	see("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
	assert_true(open_session(64));
	watch = (struct waits_watch *)run.bs.state; /* its first member */
	watch->wakers.read = no_more_wakings;
	wait_ms(5000);
	waking.time_ns = world.now_ns - 1;
	ppi_waits_take_waking(watch, &waking, PID, false);
	move_on();
	wait_ms(400);
	assert_in_range(told.woken_ns, 4900 * MS, 5300 * MS);
	wait_ms(3000);
	end_session();
	/* that one is not over */
	assert_in_range(told.woken_ns, 4900 * MS, 5300 * MS);
	assert_in_range(told.kernel_ns, 8300 * MS, 8500 * MS);
}

/* In the same place, of which nothing new is told. */
static void the_next_wait_has_none_yet(void **state)
{
	portprof_record waking = { .pid = PID, .tid = PID + 1 };
	struct waits_watch *watch;

	(void)state;
	see("do_sleep", "[<0>] do_sleep+0x14/0x80\n");
	assert_true(open_session(64));
	watch = (struct waits_watch *)run.bs.state;
	watch->wakers.read = no_more_wakings;
	wait_ms(1000);
	waking.time_ns = world.now_ns - 1;
	ppi_waits_take_waking(watch, &waking, PID, false);
	world.wait++;
	wait_ms(2000);
	end_session();
	assert_int_equal(told.stacks, 1);
	assert_in_range(told.woken_ns, 900 * MS, 1200 * MS);
	assert_in_range(told.kernel_ns, 2900 * MS, 3100 * MS);
}

/* Whatever fails, once: the frames are right or there are none, and time adds up. */
static void any_read_may_fail(void **state)
{
	unsigned calls;

	(void)state;
	wait_in("do_sleep", "[<0>] do_sleep+0x14/0x80\n[<0>] entry+0x8/0x10\n");
	calls = world.calls;
	for (unsigned i = 1; i <= calls; i++) {
		world.fails_at = i;
		if (open_session(64)) {
			wait_ms(200);
			end_session();
		}
		assert_true(told.count == 0 || told.count == 2);
		if (told.count) {
			assert_int_equal(told.frames[0], SLEEPS + 0x14 - 1);
			assert_int_equal(told.frames[1], ENTRY + 0x8);
		}
		assert_int_equal(run.bs.life.blocked_ns,
		                 told.kernel_ns + told.user_ns);
	}
	world.fails_at = 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_lead_to_the_entry),
		cmocka_unit_test(a_wait_is_read_once),
		cmocka_unit_test(another_function_is_another_wait),
		cmocka_unit_test(a_name_may_be_of_several),
		cmocka_unit_test(modules_and_addresses_are_known),
		cmocka_unit_test(all_frames_are_known_or_none),
		cmocka_unit_test(a_stack_that_is_too_long_is_none),
		cmocka_unit_test(modules_may_come_later),
		cmocka_unit_test(who_may_not_see_them_has_the_rest),
		cmocka_unit_test(without_chains_nothing_is_read),
		cmocka_unit_test(a_long_wait_has_one_waker),
		cmocka_unit_test(the_next_wait_has_none_yet),
		cmocka_unit_test(any_read_may_fail),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("waits_frames", tests, NULL, NULL);
}
