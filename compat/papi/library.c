/* SPDX-License-Identifier: MIT */
/* The library as such: its start, failures, clocks, the machine, and what of PAPI is
 * not in it. */
#include "config.h"

#include "compat/papi/own.h"

#include "base/clock_ns.h"
#include "base/host.h"
#include "base/processes.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int version, debug, levels;
static unsigned long (*_Atomic id_of_thread)(void);
static _Thread_local int last_failure;

int PAPI_library_init(int wanted)
{
	if (PAPI_VERSION_MAJOR(wanted) != PAPI_VERSION_MAJOR(PAPI_VERSION)) {
		ppi_papi_say("PAPI_library_init", "the program was compiled for "
		             "another PAPI: use the papi.h of PAPI 7");
		return ppi_papi_fail(PAPI_EINVAL);
	}
	version = wanted;
	levels |= PAPI_LOW_LEVEL_INITED;
	return wanted;
}

void ppi_papi_end(void)
{
	version = levels = 0;
}

int PAPI_is_initialized(void)
{
	return levels;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
	if (!levels || !id)
		return ppi_papi_fail(id ? PAPI_ENOINIT : PAPI_EINVAL);
	id_of_thread = id;
	levels |= PAPI_THREAD_LEVEL_INITED;
	return PAPI_OK;
}

unsigned long PAPI_thread_id(void)
{
	return id_of_thread ? id_of_thread() : (unsigned long)PAPI_EMISC;
}

/* Nothing has to be done for threads, nor to multiplex. */
int PAPI_register_thread(void)
{
	return levels ? PAPI_OK : ppi_papi_fail(PAPI_ENOINIT);
}

int PAPI_unregister_thread(void) __attribute__((alias("PAPI_register_thread")));
int PAPI_multiplex_init(void) __attribute__((alias("PAPI_register_thread")));

static pthread_mutex_t locks[] = { PTHREAD_MUTEX_INITIALIZER,
	                           PTHREAD_MUTEX_INITIALIZER };

int PAPI_lock(int lock)
{
	return lock < 0 || lock > 1 || pthread_mutex_lock(&locks[lock]) ?
	       ppi_papi_fail(PAPI_EINVAL) : PAPI_OK;
}

int PAPI_unlock(int lock)
{
	return lock < 0 || lock > 1 || pthread_mutex_unlock(&locks[lock]) ?
	       ppi_papi_fail(PAPI_EINVAL) : PAPI_OK;
}

/* ---- failures ---- */

/* As papi.h describes its codes. */
static const char *const texts[PAPI_NUM_ERRORS] = {
	"No error", "Invalid argument", "Insufficient memory",
	"A System/C library call failed", "Not supported by component",
	"Access to the counters was lost or interrupted", "Internal error",
	"Event does not exist",
	"Event exists, but cannot be counted due to hardware resource limits",
	"EventSet is currently not running", "EventSet is currently counting",
	"No such EventSet available", "Event in argument is not a valid preset",
	"Hardware does not support performance counters", "Unknown error code",
	"Permission level does not permit operation",
	"PAPI hasn't been initialized yet", "Component Index isn't set",
	"Not supported", "Not implemented", "Buffer size exceeded",
	"EventSet domain is not supported for the operation",
	"Invalid or missing event attributes", "Too many events or attributes",
	"Bad combination of features", "Component containing event is disabled",
	"Delayed initialization component", "Event needs several passes",
};

char *PAPI_strerror(int code)
{
	return code > 0 || code <= -PAPI_NUM_ERRORS ?
	       NULL : (char *)(uintptr_t)texts[-code];
}

void PAPI_perror(const char *message)
{
	fprintf(stderr, "%s%s%s\n", message ? message : "",
	        message ? ": " : "", PAPI_strerror(last_failure));
}

int PAPI_set_debug(int level)
{
	if (level < PAPI_QUIET || level > PAPI_VERB_ESTOP)
		return ppi_papi_fail(PAPI_EINVAL);
	debug = level;
	return PAPI_OK;
}

int ppi_papi_fail(int code)
{
	last_failure = code;
	if (debug != PAPI_QUIET)
		PAPI_perror("PAPI");
	if (debug == PAPI_VERB_ESTOP)
		exit(1);
	return code;
}

void ppi_papi_say(const char *what, const char *why)
{
	fprintf(stderr, "portprof: %s: %s\n", what, why);
}

int ppi_papi_code_of(portprof_status status)
{
	return status == PORTPROF_E_NOMEM    ? PAPI_ENOMEM :
	       status == PORTPROF_E_DENIED   ? PAPI_EPERM :
	       status == PORTPROF_E_FORKED   ? PAPI_ECLOST :
	       status == PORTPROF_E_STATE    ? PAPI_EISRUN :
	       status == PORTPROF_E_NOTFOUND ? PAPI_ENOEVNT :
	       status == PORTPROF_E_UNSUPPORTED ||
	       status == PORTPROF_E_INVALID  ? PAPI_ENOSUPP : PAPI_ESYS;
}

/* ---- clocks ---- */

/* The first number of a file behind `key`; 0: there is none. */
static double number_in(const char *file, const char *key)
{
	FILE *from = fopen(file, "re");
	double number = 0;
	char line[256];

	while (from && number <= 0 && fgets(line, sizeof(line), from))
		if (strncmp(line, key, strlen(key)) == 0)
			number = strtod(line + strcspn(line, "0123456789"), NULL);
	if (from)
		fclose(from);
	return number;
}

/* Of the first CPU. 0: not known. */
static int clock_mhz(const char *file)
{
	double khz = number_in(file, "");

	return (int)(khz > 0 ? khz / 1000 :
	             number_in("/proc/cpuinfo", "cpu MHz"));
}

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_"

static long long cycles_of(long long ns)
{
	static atomic_int mhz;

	if (!mhz)
		mhz = clock_mhz(CPUFREQ "max_freq");
	return mhz ? ns / 1000 * mhz + ns % 1000 * mhz / 1000 : ns;
}

long long PAPI_get_real_nsec(void)
{
	return (long long)ppi_monotonic_ns();
}

long long PAPI_get_real_usec(void)
{
	return PAPI_get_real_nsec() / 1000;
}

long long PAPI_get_real_cyc(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return (long long)__builtin_ia32_rdtsc();
#else
	return cycles_of(PAPI_get_real_nsec());
#endif
}

long long PAPI_get_virt_nsec(void)
{
	uint64_t ns = 0;

	return ppi_cpu_thread_ns(PPI_CPU_CALLER, &ns) == 0 ?
	       (long long)ns : ppi_papi_fail(PAPI_ESYS);
}

long long PAPI_get_virt_usec(void)
{
	return PAPI_get_virt_nsec() / 1000;
}

long long PAPI_get_virt_cyc(void)
{
	return cycles_of(PAPI_get_virt_nsec());
}

/* ---- the machine ---- */

/* They are those of 7.0: nobody compared them with those of later ones. */
bool ppi_papi_has_structures(void)
{
	return version == PAPI_VER_CURRENT;
}

const PAPI_hw_info_t *PAPI_get_hardware_info(void)
{
	static PAPI_hw_info_t info;
	struct ppi_host host;

	if (!ppi_papi_has_structures())
		return NULL;
	ppi_host_read(&host);
	snprintf(info.model_string, sizeof(info.model_string), "%.*s",
	         (int)strcspn(host.cpu, ","), host.cpu);
	info.ncpu = info.totalcpus = (int)ppi_cpu_count();
	info.threads = info.cores = info.sockets = info.nnodes = 1;
	info.clock_mhz = info.cpu_max_mhz = clock_mhz(CPUFREQ "max_freq");
	info.mhz = (float)info.clock_mhz;
	info.cpu_min_mhz = clock_mhz(CPUFREQ "min_freq");
	return &info;
}

const PAPI_exe_info_t *PAPI_get_executable_info(void)
{
	static PAPI_exe_info_t info;
	struct ppi_text text;

	if (!ppi_papi_has_structures() || !ppi_text_list(&text, 1) ||
	    !ppi_program_path(info.fullname, sizeof(info.fullname)))
		return NULL;
	strcpy(info.address_info.name, info.fullname);
	info.address_info.text_start = (void *)(uintptr_t)text.start;
	info.address_info.text_end = (void *)(uintptr_t)text.end;
	return &info;
}

int PAPI_num_components(void)
{
	return version != 0;
}

/* How many instructions the PMU counts at once: as many as make a group. */
int PAPI_num_cmp_hwctrs(int component)
{
	char list[16 * PPI_PAPI_EVENTS] = "instructions:u";
	portprof_group *group;
	int count = 0;

	while (count < PPI_PAPI_EVENTS && component == 0 &&
	       portprof_group_open(list, &group) == PORTPROF_OK) {
		portprof_group_close(group);
		strcat(list, ++count < PPI_PAPI_EVENTS ? ",instructions:u" : "");
	}
	return component == 0 ? count : ppi_papi_fail(PAPI_ENOCMP);
}

int PAPI_num_hwctrs(void)
{
	return PAPI_num_cmp_hwctrs(0);
}

/* ---- what is not there ---- */

/* Whatever arguments it is given. */
#define NONE(name, type, result)                                               \
	__attribute__((visibility("default"))) type name(void);                \
	type name(void)                                                        \
	{                                                                      \
		static atomic_flag was_said = ATOMIC_FLAG_INIT;                \
		if (!atomic_flag_test_and_set(&was_said))                      \
			ppi_papi_say(#name, "not supported; see "              \
			             "portprof-compat(7)");                    \
		ppi_papi_fail(PAPI_ENOSUPP);                                   \
		return result;                                                 \
	}
#define NO_NUMBER(name) NONE(PAPI_##name, int, PAPI_ENOSUPP)
#define NO_POINTER(name) NONE(PAPI_##name, void *, NULL)

NO_NUMBER(disable_component) NO_NUMBER(disable_component_by_name)
NO_NUMBER(enum_cmp_event) NO_NUMBER(enum_dev_type) NO_NUMBER(enum_event)
NO_NUMBER(epc) NO_NUMBER(flips_rate) NO_NUMBER(flops_rate)
NO_NUMBER(get_cmp_opt) NO_POINTER(get_component_info) NO_NUMBER(get_dev_attr)
NO_NUMBER(get_dev_type_attr) NO_NUMBER(get_dmem_info)
NO_POINTER(get_shared_lib_info) NO_NUMBER(get_thr_specific) NO_NUMBER(ipc)
NO_NUMBER(list_threads) NO_NUMBER(rate_stop) NO_NUMBER(set_cmp_domain)
NO_NUMBER(set_cmp_granularity) NO_NUMBER(set_granularity)
NO_NUMBER(set_thr_specific) NO_NUMBER(write)
