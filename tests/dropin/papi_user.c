/* SPDX-License-Identifier: MIT */
/*
 * A program of PAPI: knows <papi.h> and nothing of portprof.
 *
 *   papi_user facts      numbers, sizes and places of members of papi.h
 *   papi_user errors     what functions answer to mistakes, and in which state
 *   papi_user low        the low-level interface, in one thread
 *   papi_user threads    sets of four threads at once
 *   papi_user faults     page faults, exactly
 *   papi_user attach     another process, and the caller again
 *   papi_user overflow   a handler for each ms of CPU time
 *   papi_user profil     a histogram of the program
 *   papi_user sprofil    the same by ranges that overlap
 *   papi_user hl         the high-level interface, in two threads
 *   papi_user clocks     its clocks beside those of the system
 *   papi_user lacks      what portprof does not have
 *
 * Prints NAME=VALUE lines. Times are ns of CPU time, counted by PAPI and read from
 * the thread's clock.
 */
#include <papi.h>

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void spin_in_user(long long ns)
{
	long long end = cpu_ns() + ns;
	volatile unsigned long sink = 0;

	while (cpu_ns() < end)
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
}

static void must(const char *what, int result)
{
	if (result == PAPI_OK)
		return;
	fflush(stdout);
	PAPI_perror(what);
	exit(1);
}

static void init(void)
{
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		exit(1);
}

static int new_set(const char *event)
{
	int set = PAPI_NULL;

	must("create", PAPI_create_eventset(&set));
	if (event)
		must(event, PAPI_add_named_event(set, event));
	return set;
}

static void remove_set(int set)
{
	must("cleanup", PAPI_cleanup_eventset(set));
	must("destroy", PAPI_destroy_eventset(&set));
}

/* ---- facts ---- */

#define NUMBER(name) printf(#name "=%lld\n", (long long)(name))
#define PLACE(type, member)                                                    \
	printf(#type "." #member "=%zu+%zu\n", offsetof(type, member),         \
	       sizeof(((type *)0)->member))

static void print_facts(void)
{
	NUMBER(PAPI_VERSION); NUMBER(PAPI_VER_CURRENT);
	NUMBER(PAPI_OK); NUMBER(PAPI_EINVAL); NUMBER(PAPI_ENOMEM);
	NUMBER(PAPI_ESYS); NUMBER(PAPI_ECLOST); NUMBER(PAPI_ENOEVNT);
	NUMBER(PAPI_ECNFLCT); NUMBER(PAPI_ENOTRUN); NUMBER(PAPI_EISRUN);
	NUMBER(PAPI_ENOEVST); NUMBER(PAPI_EMISC); NUMBER(PAPI_EPERM);
	NUMBER(PAPI_ENOINIT); NUMBER(PAPI_ENOCMP); NUMBER(PAPI_ENOSUPP);
	NUMBER(PAPI_EINVAL_DOM); NUMBER(PAPI_ECOUNT); NUMBER(PAPI_NUM_ERRORS);
	NUMBER(PAPI_NULL); NUMBER(PAPI_NOT_INITED);
	NUMBER(PAPI_LOW_LEVEL_INITED); NUMBER(PAPI_THREAD_LEVEL_INITED);
	NUMBER(PAPI_QUIET); NUMBER(PAPI_VERB_ECONT); NUMBER(PAPI_VERB_ESTOP);
	NUMBER(PAPI_DOM_USER); NUMBER(PAPI_DOM_KERNEL); NUMBER(PAPI_DOM_OTHER);
	NUMBER(PAPI_DOM_SUPERVISOR); NUMBER(PAPI_DOM_ALL);
	NUMBER(PAPI_STOPPED); NUMBER(PAPI_RUNNING); NUMBER(PAPI_OVERFLOWING);
	NUMBER(PAPI_PROFILING); NUMBER(PAPI_MULTIPLEXING);
	NUMBER(PAPI_PROFIL_POSIX); NUMBER(PAPI_PROFIL_RANDOM);
	NUMBER(PAPI_PROFIL_WEIGHTED); NUMBER(PAPI_PROFIL_BUCKET_16);
	NUMBER(PAPI_PROFIL_BUCKET_32); NUMBER(PAPI_PROFIL_BUCKET_64);
	NUMBER(PAPI_PROFIL_FORCE_SW); NUMBER(PAPI_OVERFLOW_FORCE_SW);
	NUMBER(PAPI_OVERFLOW_HARDWARE); NUMBER(PAPI_MULTIPLEX);
	NUMBER(PAPI_DEFDOM); NUMBER(PAPI_DOMAIN); NUMBER(PAPI_CLOCKRATE);
	NUMBER(PAPI_MAX_HWCTRS); NUMBER(PAPI_MAX_CPUS);
	NUMBER(PAPI_LIB_VERSION); NUMBER(PAPI_INHERIT);
	NUMBER(PAPI_MIN_STR_LEN); NUMBER(PAPI_MAX_STR_LEN);
	NUMBER(PAPI_2MAX_STR_LEN); NUMBER(PAPI_HUGE_STR_LEN);
	NUMBER(PAPI_MAX_INFO_TERMS); NUMBER(PAPI_PRESET_MASK);
	NUMBER(PAPI_NATIVE_MASK); NUMBER(PAPI_L1_DCM); NUMBER(PAPI_BR_PRC);
	NUMBER(PAPI_TOT_INS); NUMBER(PAPI_TOT_CYC); NUMBER(PAPI_FP_OPS);
	NUMBER(PAPI_REF_CYC);
	NUMBER(sizeof(PAPI_sprofil_t)); NUMBER(sizeof(PAPI_exe_info_t));
	NUMBER(sizeof(PAPI_hw_info_t)); NUMBER(sizeof(PAPI_event_info_t));
	NUMBER(sizeof(PAPI_option_t));
	PLACE(PAPI_sprofil_t, pr_base); PLACE(PAPI_sprofil_t, pr_size);
	PLACE(PAPI_sprofil_t, pr_off); PLACE(PAPI_sprofil_t, pr_scale);
	PLACE(PAPI_exe_info_t, fullname);
	PLACE(PAPI_exe_info_t, address_info.text_start);
	PLACE(PAPI_exe_info_t, address_info.bss_end);
	PLACE(PAPI_hw_info_t, model_string); PLACE(PAPI_hw_info_t, cpu_max_mhz);
	PLACE(PAPI_hw_info_t, cpu_min_mhz); PLACE(PAPI_hw_info_t, virtualized);
	PLACE(PAPI_hw_info_t, mhz); PLACE(PAPI_hw_info_t, clock_mhz);
	PLACE(PAPI_hw_info_t, totalcpus);
	PLACE(PAPI_event_info_t, symbol); PLACE(PAPI_event_info_t, long_descr);
	PLACE(PAPI_event_info_t, count); PLACE(PAPI_event_info_t, derived);
	PLACE(PAPI_event_info_t, name); PLACE(PAPI_event_info_t, note);
	PLACE(PAPI_option_t, defdomain.domain);
	PLACE(PAPI_option_t, domain.eventset); PLACE(PAPI_option_t, domain.domain);
	PLACE(PAPI_option_t, inherit.eventset);
	PLACE(PAPI_option_t, inherit.inherit);
	PLACE(PAPI_option_t, multiplex.eventset);
}

/* ---- errors ---- */

#define ANSWER(call) printf(#call "=%d\n", (call))

static void make_mistakes(void)
{
	int set = PAPI_NULL, other = PAPI_NULL, code = 0, number = 0;
	int codes[4], state = 0, known;
	char name[PAPI_MAX_STR_LEN] = "";
	long long values[4] = { 0 };

	ANSWER(PAPI_is_initialized());
	ANSWER(PAPI_create_eventset(&set));
	ANSWER(PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT);
	ANSWER(PAPI_is_initialized());
	ANSWER(PAPI_create_eventset(NULL));
	ANSWER(PAPI_create_eventset(&set));
	ANSWER(PAPI_create_eventset(&set));
	ANSWER(PAPI_num_events(set));
	ANSWER(PAPI_start(set));
	ANSWER(PAPI_stop(set, values));
	ANSWER(PAPI_start(9999));
	ANSWER(PAPI_read(9999, values));
	ANSWER(PAPI_add_event(set, 0x12345));
	ANSWER(PAPI_event_name_to_code("PAPI_TOT_CYC", &code));
	ANSWER(code == PAPI_TOT_CYC);
	ANSWER(PAPI_event_code_to_name(PAPI_REF_CYC, name));
	printf("name=%s\n", name);
	ANSWER(PAPI_add_named_event(set, "perf::TASK-CLOCK"));
	ANSWER(PAPI_add_named_event(set, "perf::TASK-CLOCK"));
	ANSWER(PAPI_event_name_to_code("perf::TASK-CLOCK", &known));
	ANSWER(PAPI_event_code_to_name(known, name));
	printf("name=%s\n", name);
	ANSWER(PAPI_query_event(known));
	ANSWER(PAPI_query_named_event("perf::TASK-CLOCK"));
	ANSWER(PAPI_query_named_event("perf::NO-CLOCK"));
	ANSWER(PAPI_num_events(set));
	ANSWER(PAPI_list_events(set, NULL, &number));
	ANSWER(number);
	ANSWER(PAPI_list_events(set, codes, &number));
	ANSWER(codes[0] == known);
	ANSWER(PAPI_state(set, &state));
	ANSWER(state & (PAPI_STOPPED | PAPI_RUNNING));
	ANSWER(PAPI_start(set));
	ANSWER(PAPI_start(set));
	ANSWER(PAPI_state(set, &state));
	ANSWER(state & (PAPI_STOPPED | PAPI_RUNNING));
	ANSWER(PAPI_add_named_event(set, "perf::PAGE-FAULTS"));
	ANSWER(PAPI_remove_event(set, known));
	ANSWER(PAPI_cleanup_eventset(set));
	ANSWER(PAPI_overflow(set, known, 1000000, 0, NULL));
	ANSWER(PAPI_read(set, NULL));
	ANSWER(PAPI_reset(set));
	ANSWER(PAPI_stop(set, values));
	ANSWER(PAPI_stop(set, values));
	ANSWER(PAPI_destroy_eventset(&set));
	ANSWER(PAPI_remove_named_event(set, "perf::PAGE-FAULTS"));
	ANSWER(PAPI_remove_events(set, NULL, 1));
	ANSWER(PAPI_remove_events(set, &known, 1));
	ANSWER(PAPI_num_events(set));
	ANSWER(PAPI_get_component_index("perf_event"));
	ANSWER(PAPI_get_component_index("none"));
	ANSWER(PAPI_add_named_event(set, "perf::PAGE-FAULTS"));
	ANSWER(PAPI_cleanup_eventset(set));
	ANSWER(PAPI_create_eventset(&other));
	ANSWER(PAPI_destroy_eventset(&set));
	ANSWER(set);
	ANSWER(PAPI_destroy_eventset(&set));
	ANSWER(PAPI_destroy_eventset(&other));
	ANSWER(PAPI_thread_init((unsigned long (*)(void))pthread_self));
	ANSWER(PAPI_is_initialized());
	ANSWER(PAPI_thread_id() == (unsigned long)pthread_self());
	ANSWER(PAPI_register_thread());
	ANSWER(PAPI_set_domain(0));
	ANSWER(PAPI_set_domain(PAPI_DOM_ALL));
	ANSWER(PAPI_get_opt(PAPI_LIB_VERSION, NULL) == PAPI_VERSION);
	ANSWER(PAPI_get_opt(PAPI_MAX_CPUS, NULL) > 0);
	ANSWER(strcmp(PAPI_strerror(PAPI_EINVAL), "Invalid argument"));
	ANSWER(PAPI_strerror(1) == NULL);
	PAPI_shutdown();
}

/* ---- counts ---- */

static void count(void)
{
	int set = new_set("perf::TASK-CLOCK");
	long long begin = cpu_ns(), spent, values[2] = { 0 }, sum[2] = { -100, 0 };
	int before = (int)PAPI_get_real_usec();

	must("faults", PAPI_add_named_event(set, "perf::PAGE-FAULTS"));
	begin = cpu_ns();
	must("start", PAPI_start(set));
	spin_in_user(100 * MS);
	must("read", PAPI_read(set, values));
	spent = cpu_ns() - begin;
	printf("read=%lld\nread_clock=%lld\n", values[0], spent);
	spin_in_user(50 * MS);
	must("accum", PAPI_accum(set, sum));
	spent = cpu_ns() - begin;
	printf("accum=%lld\naccum_clock=%lld\n", sum[0] + 100, spent);
	begin = cpu_ns();
	spin_in_user(30 * MS);
	must("read_ts", PAPI_read_ts(set, values, &sum[1]));
	printf("since=%lld\nsince_clock=%lld\n", values[0], cpu_ns() - begin);
	must("reset", PAPI_reset(set));
	begin = cpu_ns();
	spin_in_user(20 * MS);
	must("stop", PAPI_stop(set, values));
	printf("stop=%lld\nstop_clock=%lld\n", values[0], cpu_ns() - begin);
	spin_in_user(20 * MS);
	must("read", PAPI_read(set, sum));
	printf("stays=%d\n", sum[0] == values[0] && sum[1] == values[1]);
	begin = cpu_ns();
	must("start", PAPI_start(set));
	spin_in_user(40 * MS);
	must("stop", PAPI_stop(set, values));
	printf("again=%lld\nagain_clock=%lld\n", values[0], cpu_ns() - begin);
	printf("stamps=%d\n", (int)PAPI_get_real_usec() != before);
	remove_set(set);
}

static void count_faults(void)
{
	enum { PAGES = 200 };
	int set = new_set("perf::PAGE-FAULTS");
	long page = sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, (size_t)(PAGES * page),
	                             PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long long none = 0, values = 0;

	madvise((void *)memory, (size_t)(PAGES * page), MADV_NOHUGEPAGE);
	must("start", PAPI_start(set)); /* what the calls themselves touch */
	must("stop", PAPI_stop(set, &none));
	must("start", PAPI_start(set));
	must("stop", PAPI_stop(set, &none));
	must("start", PAPI_start(set));
	for (int i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	must("stop", PAPI_stop(set, &values));
	printf("faults=%lld\nnone=%lld\n", values, none);
	remove_set(set);
}

static void *count_in_thread(void *context)
{
	long long ns = *(long long *)context * MS, value = 0, begin;
	int set = new_set("perf::TASK-CLOCK");

	must("register", PAPI_register_thread());
	begin = cpu_ns();
	must("start", PAPI_start(set));
	spin_in_user(ns);
	must("stop", PAPI_stop(set, &value));
	printf("thread_%lld=%lld\nthread_%lld_clock=%lld\n", ns / MS, value,
	       ns / MS, cpu_ns() - begin);
	remove_set(set);
	must("unregister", PAPI_unregister_thread());
	return NULL;
}

static void count_threads(void)
{
	static long long ms[] = { 20, 40, 80, 160 };
	pthread_t threads[4];

	must("thread_init", PAPI_thread_init(
		(unsigned long (*)(void))pthread_self));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_in_thread, &ms[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Each byte of the pipe is a word: of the parent, go on; of the child, done. */
static void attach(void)
{
	int set = new_set("perf::TASK-CLOCK"), go[2], done[2];
	long long value = 0, begin;
	char word = 0;
	pid_t child;

	if (pipe(go) || pipe(done))
		exit(1);
	child = fork();
	if (child == 0) {
		if (read(go[0], &word, 1) != 1)
			_exit(1);
		begin = cpu_ns();
		spin_in_user(60 * MS);
		begin = cpu_ns() - begin;
		if (write(done[1], &begin, sizeof(begin)) < 0 ||
		    read(go[0], &word, 1) != 1)
			_exit(1);
		_exit(0);
	}
	must("attach", PAPI_attach(set, (unsigned long)child));
	must("start", PAPI_start(set));
	spin_in_user(20 * MS);
	if (write(go[1], &word, 1) != 1 ||
	    read(done[0], &begin, sizeof(begin)) != sizeof(begin))
		exit(1);
	must("stop", PAPI_stop(set, &value));
	printf("child=%lld\nchild_clock=%lld\n", value, begin);
	if (write(go[1], &word, 1) != 1)
		exit(1);
	waitpid(child, NULL, 0);
	must("detach", PAPI_detach(set));
	begin = cpu_ns();
	must("start", PAPI_start(set));
	spin_in_user(30 * MS);
	must("stop", PAPI_stop(set, &value));
	printf("own=%lld\nown_clock=%lld\n", value, cpu_ns() - begin);
	printf("gone=%d\n", PAPI_attach(set, (unsigned long)child) < 0);
	remove_set(set);
}

/* ---- samples ---- */

static int handled, in_spin, wrong_index;

static void handle(int set, void *address, long long vector, void *context)
{
	int index[2] = { -1, -1 }, number = 2;

	(void)context;
	handled++;
	in_spin += (char *)address >= (char *)spin_in_user &&
	           (char *)address < (char *)must;
	if (PAPI_get_overflow_event_index(set, vector, index, &number) != PAPI_OK ||
	    number != 1 || index[0] != 1)
		wrong_index++;
}

static void overflow(void)
{
	int set = new_set("perf::PAGE-FAULTS"), code = 0;
	long long values[2] = { 0 };

	must("add", PAPI_add_named_event(set, "perf::TASK-CLOCK"));
	must("code", PAPI_event_name_to_code("perf::TASK-CLOCK", &code));
	must("overflow", PAPI_overflow(set, code, MS, 0, handle));
	must("start", PAPI_start(set));
	spin_in_user(200 * MS);
	must("stop", PAPI_stop(set, values));
	printf("handled=%d\nms=%lld\nwrong=%d\n", handled, values[1] / MS,
	       wrong_index);
	printf("in_spin=%d\n", in_spin * 10 >= handled);
	must("off", PAPI_overflow(set, code, 0, 0, handle));
	handled = 0;
	must("start", PAPI_start(set));
	spin_in_user(20 * MS);
	must("stop", PAPI_stop(set, values));
	printf("off=%d\n", handled);
	remove_set(set);
}

static unsigned long long sum_of(const void *bins, size_t count, int width)
{
	unsigned long long sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += width == 2 ? ((const unsigned short *)bins)[i] :
		       width == 4 ? ((const unsigned *)bins)[i] :
		                    ((const unsigned long long *)bins)[i];
	return sum;
}

static void profile(void)
{
	const PAPI_exe_info_t *program = PAPI_get_executable_info();
	static const int flags[] = { PAPI_PROFIL_BUCKET_16, PAPI_PROFIL_BUCKET_32,
		                     PAPI_PROFIL_BUCKET_64 };
	int code = 0;

	printf("program=%d\n", program &&
	       (char *)program->address_info.text_start <= (char *)profile &&
	       (char *)program->address_info.text_end > (char *)profile);
	must("code", PAPI_event_name_to_code("perf::TASK-CLOCK", &code));
	for (int i = 0; i < 3; i++) {
		int set = new_set("perf::TASK-CLOCK"), width = 2 << i;
		char *start = program->address_info.text_start;
		/* one bin for 2 bytes of text */
		size_t count = (size_t)((char *)program->address_info.text_end -
		                        start) / 2;
		void *bins = calloc(count, (size_t)width);
		size_t first = (size_t)((char *)spin_in_user - start) / 2;
		long long value = 0;

		must("profil", PAPI_profil(bins, (unsigned)count *
		                           (unsigned)width, start, 0x10000, set,
		                           code, (int)MS, flags[i]));
		must("start", PAPI_start(set));
		spin_in_user(100 * MS);
		must("stop", PAPI_stop(set, &value));
		/* what is in the program itself: of the kernel and of the
		 * clock's code there are samples, too */
		printf("bins_%d=%llu\nspin_%d=%llu\nms_%d=%lld\n", width,
		       sum_of(bins, count, width), width,
		       sum_of((char *)bins + first * (size_t)width,
		              ((size_t)((char *)must - (char *)spin_in_user)) / 2,
		              width), width, value / MS);
		must("off", PAPI_profil(bins, 0, start, 0x10000, set, code, 0,
		                        flags[i]));
		remove_set(set);
		free(bins);
	}
}

static void profile_ranges(void)
{
	enum { BINS = 4096 };
	static unsigned short spin[BINS], rest[1];
	PAPI_sprofil_t ranges[2] = {
		{ spin, sizeof(spin), (vptr_t)spin_in_user, 0x20000 },
		{ rest, sizeof(rest), 0, 2 }, /* PAPI's bin for all else */
	};
	int set = new_set("perf::TASK-CLOCK"), code = 0;
	long long value = 0;

	must("code", PAPI_event_name_to_code("perf::TASK-CLOCK", &code));
	must("sprofil", PAPI_sprofil(ranges, 2, set, code, (int)MS,
	                             PAPI_PROFIL_POSIX));
	must("start", PAPI_start(set));
	spin_in_user(100 * MS);
	must("stop", PAPI_stop(set, &value));
	printf("spin=%llu\nms=%lld\n",
	       sum_of(spin, (size_t)((char *)must - (char *)spin_in_user), 2),
	       value / MS);
	remove_set(set);
}

/* ---- regions ---- */

static void *do_regions(void *context)
{
	long long begin, *spent = context;

	for (int i = 0; i < 3; i++) {
		must("begin", PAPI_hl_region_begin("outer"));
		begin = cpu_ns();
		must("begin", PAPI_hl_region_begin("in \"ner\""));
		spin_in_user(20 * MS);
		spent[1] += cpu_ns() - begin;
		must("end", PAPI_hl_region_end("in \"ner\""));
		must("read", PAPI_hl_read("outer"));
		spin_in_user(10 * MS);
		spent[0] += cpu_ns() - begin;
		must("end", PAPI_hl_region_end("outer"));
	}
	return NULL;
}

static void high_level(void)
{
	long long own[2] = { 0 }, other[2] = { 0 };
	pthread_t thread;

	do_regions(own);
	pthread_create(&thread, NULL, do_regions, other);
	pthread_join(thread, NULL);
	must("hl_stop", PAPI_hl_stop());
	if (fork() == 0)
		exit(0); /* whose end writes nothing */
	wait(NULL);
	printf("outer=%lld\ninner=%lld\n", own[0] + other[0], own[1] + other[1]);
}

/* ---- the rest ---- */

static void read_clocks(void)
{
	long long virt = PAPI_get_virt_nsec(), real = PAPI_get_real_nsec();
	long long cycles = PAPI_get_real_cyc(), begin = cpu_ns();
	long long usec = PAPI_get_virt_usec(), virt_cycles = PAPI_get_virt_cyc();

	spin_in_user(50 * MS);
	printf("virt=%lld\nvirt_clock=%lld\n", PAPI_get_virt_nsec() - virt,
	       cpu_ns() - begin);
	printf("usec=%lld\nusec_clock=%lld\n",
	       (PAPI_get_virt_usec() - usec) * 1000, cpu_ns() - begin);
	printf("real=%d\ncycles=%d\nvirt_cycles=%d\n",
	       PAPI_get_real_nsec() - real >= 50 * MS &&
	       PAPI_get_real_usec() * 1000 >= real,
	       PAPI_get_real_cyc() > cycles,
	       PAPI_get_virt_cyc() > virt_cycles);
	printf("machine=%d\n", PAPI_get_hardware_info() &&
	       PAPI_get_hardware_info()->totalcpus > 0 &&
	       PAPI_get_hardware_info()->model_string[0]);
	printf("counters=%d\n", PAPI_num_hwctrs());
}

static void use_what_lacks(void)
{
	long long value = 0;
	int set = new_set(NULL);

	for (int i = 0; i < 3; i++) {
		PAPI_event_info_t info;

		ANSWER(PAPI_add_event(set, PAPI_FP_OPS));
		ANSWER(PAPI_query_event(PAPI_FP_OPS));
		ANSWER(PAPI_get_event_info(PAPI_FP_OPS, &info));
		printf("terms=%u\nsymbol=%s\n", info.count, info.symbol);
		ANSWER(PAPI_add_named_event(set, "rapl:::PACKAGE_ENERGY"));
		ANSWER(PAPI_add_named_event(set, "IPC"));
#ifdef PAPI_LOCK_USR1 /* PAPI's own papi.h */
		ANSWER(PAPI_write(set, &value));
#else
		(void)value;
#endif
	}
	must("set_domain", PAPI_set_domain(PAPI_DOM_ALL));
	set = new_set("perf::PAGE-FAULTS");
	printf("all=%d\n", PAPI_add_named_event(set, "perf::TASK-CLOCK"));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
		int is_initialized;
	} acts[] = {
		{ "facts", print_facts, 0 },     { "errors", make_mistakes, 0 },
		{ "low", count, 1 },             { "threads", count_threads, 1 },
		{ "faults", count_faults, 1 },   { "attach", attach, 1 },
		{ "overflow", overflow, 1 },
		{ "profil", profile, 1 },        { "sprofil", profile_ranges, 1 },
		{ "hl", high_level, 0 },         { "clocks", read_clocks, 1 },
		{ "lacks", use_what_lacks, 1 },
	};

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (argc > 1 && strcmp(argv[1], acts[i].name) == 0) {
			if (acts[i].is_initialized)
				init();
			acts[i].act();
			return 0;
		}
	return 2;
}
