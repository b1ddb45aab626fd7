/* SPDX-License-Identifier: MIT */
/* Code that takes the place of other code: LIFE-14. */
#include "config.h"

#include "tests/conform/conform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Turns of each of two libraries, and a turn's CPU time. */
enum { LIBRARIES = 2, TURNS = 120, TURN_MS = 4, ELSE = LIBRARIES };

/* Which code a turn ran, and when. */
struct turn {
	/* written while samples are looked at; `which` before them */
	_Atomic uint64_t begin_ns, end_ns;
	size_t which;
};

/* What records said was mapped: the last one over an address is in force. */
struct mapped {
	uint64_t start, end;
	size_t which;
};

enum { MAPPED_MAX = 4096 };
static struct {
	struct turn turns[TURNS];
	struct mapped mapped[MAPPED_MAX];
	size_t mapped_count;
	size_t modules[LIBRARIES];        /* records of each */
	size_t right[LIBRARIES], wrong;   /* samples */
	const char *paths[LIBRARIES];
	size_t turn;                      /* that is on */
} swap;

/* ---- what records say ---- */

static size_t which_is(const char *path)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		const char *name = strrchr(swap.paths[i], '/');
		const char *end = strrchr(path, '/');

		if (name && end && strcmp(name, end) == 0)
			return i;
	}
	return ELSE;
}

static void take_module(const portprof_record *record,
                        const portprof_module *module)
{
	size_t which = which_is(module->path);

	if (which < LIBRARIES)
		swap.modules[which]++;
	if (swap.mapped_count < MAPPED_MAX)
		swap.mapped[swap.mapped_count++] = (struct mapped){
			record->address, record->address + record->span, which
		};
}

static size_t which_lies_at(uint64_t address)
{
	for (size_t i = swap.mapped_count; i-- > 0;)
		if (swap.mapped[i].start <= address &&
		    address < swap.mapped[i].end)
			return swap.mapped[i].which;
	return ELSE;
}

/* Between turns neither is there, or one of them is half there. */
static void take_sample(const portprof_record *record)
{
	size_t which = which_lies_at(record->address);

	if (which == ELSE)
		return;
	for (size_t i = 0; i < TURNS; i++) {
		const struct turn *turn = &swap.turns[i];
		uint64_t begin_ns = turn->begin_ns, end_ns = turn->end_ns;

		if (begin_ns == 0 || record->time_ns < begin_ns ||
		    (end_ns && record->time_ns > end_ns))
			continue;
		if (which == turn->which)
			swap.right[which]++;
		else
			swap.wrong++;
		return;
	}
}

static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		const portprof_module *module =
			portprof_batch_module(batch, record);

		if (module)
			take_module(record, module);
		else if (record->kind == PORTPROF_RECORD_SAMPLE)
			take_sample(record);
	}
}

/* ---- two libraries with the same code ---- */

typedef double (*function_of)(double);

static function_of find_function(void *library)
{
	void *found = library ? dlsym(library, "cbrt") : NULL;
	function_of function = NULL;

	memcpy(&function, &found, sizeof(found));
	return function;
}

static const char *math_library(void)
{
	static const char *const names[] = { "libm.so.6", "libm.so.5",
		                             "libm.so.0", "libm.so" };
	static char path[4096];
	Dl_info info;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		void *symbol = library ? dlsym(library, "cbrt") : NULL;
		bool is_found = symbol && dladdr(symbol, &info);

		if (is_found)
			snprintf(path, sizeof(path), "%s", info.dli_fname);
		if (library)
			dlclose(library);
		if (is_found)
			return path;
	}
	return NULL;
}

static bool copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char buffer[65536];
	bool is_good = in && out;
	size_t bytes;

	while (is_good && (bytes = fread(buffer, 1, sizeof(buffer), in)) > 0)
		is_good = fwrite(buffer, 1, bytes, out) == bytes;
	if (in)
		fclose(in);
	return out && fclose(out) == 0 && is_good;
}

static void make_libraries(void)
{
	const char *from = math_library();

	if (!from)
		cf_skip("there is no mathematical library to load");
	for (size_t i = 0; i < LIBRARIES; i++) {
		swap.paths[i] = cf_path();
		if (!copy(from, swap.paths[i]))
			cf_skip("%s cannot be copied", from);
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Where its code lay; NULL when the library cannot be loaded. */
static void *take_turn(size_t which)
{
	struct turn *turn = &swap.turns[swap.turn++];
	void *library = dlopen(swap.paths[which], RTLD_NOW | RTLD_LOCAL);
	function_of function = find_function(library);
	uint64_t end_ns = cpu_ns() + TURN_MS * CF_MS;
	volatile double x = 2;
	void *at = NULL;

	if (!function)
		cf_skip("a copied library cannot be loaded: %s", dlerror());
	turn->which = which;
	turn->begin_ns = cf_now_ns();
	while (cpu_ns() < end_ns)
		for (unsigned i = 0; i < 20000; i++)
			x = function(x + i);
	turn->end_ns = cf_now_ns();
	memcpy(&at, &function, sizeof(at));
	dlclose(library);
	return at;
}

/* In turn, each where the other one was. */
static void life_14_a_sample_is_of_the_code_of_its_time(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	size_t swaps = 0;
	void *at = NULL;

	(void)state;
	cf_needs_real();
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs(PORTPROF_CAP_TIME);
	memset(&swap, 0, sizeof(swap));
	make_libraries();
	assert_int_equal(portprof_config_add_callback(config, take, NULL),
	                 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	for (size_t i = 0; i < TURNS; i++) {
		void *now_at = take_turn(i / 3 % LIBRARIES);

		swaps += i % 3 == 0 && now_at == at;
		at = now_at;
	}
	cf_stop(session);
	cf_close(session);
	if (swaps == 0)
		cf_skip("the loader gives each library a place of its own");
	for (size_t i = 0; i < LIBRARIES; i++) {
		assert_true(swap.modules[i] > 0);
		assert_true(swap.right[i] > 5);
	}
	cf_measured(swap.right[0] + swap.right[1]);
	assert_int_equal(swap.wrong, 0);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_14_a_sample_is_of_the_code_of_its_time),
};

CF_FAMILY(code);
