/* SPDX-License-Identifier: MIT */
/*
 * What of PAPI's interface libportprof-papi has, in our own words: numbers, types and
 * layouts are those of PAPI 7.0.0 (papi.h, papiStdEventDefs.h), whose papi.h programs
 * are compiled with. This one is not installed; tests/dropin/check-papi.sh compares
 * the two where PAPI's is there. portprof-compat(7) says what differs.
 */
#ifndef PPI_PAPI_H
#define PPI_PAPI_H

#define PAPI_VERSION     0x07000000
#define PAPI_VER_CURRENT (PAPI_VERSION & 0xffff0000)
#define PAPI_VERSION_MAJOR(version) ((version) >> 24 & 0xff)
#define PAPI_PRESET_MASK ((int)0x80000000)
#define PAPI_NATIVE_MASK ((int)0x40000000)

enum {
	PAPI_OK = 0, PAPI_EINVAL = -1, PAPI_ENOMEM = -2, PAPI_ESYS = -3,
	PAPI_ECLOST = -5, PAPI_ENOEVNT = -7, PAPI_ECNFLCT = -8,
	PAPI_ENOTRUN = -9, PAPI_EISRUN = -10, PAPI_ENOEVST = -11,
	PAPI_EMISC = -14, PAPI_EPERM = -15, PAPI_ENOINIT = -16,
	PAPI_ENOCMP = -17, PAPI_ENOSUPP = -18, PAPI_EINVAL_DOM = -21,
	PAPI_ECOUNT = -23, PAPI_NUM_ERRORS = 28, PAPI_NULL = -1
};

enum { PAPI_NOT_INITED = 0, PAPI_LOW_LEVEL_INITED = 1, PAPI_QUIET = 0,
       PAPI_THREAD_LEVEL_INITED = 4, PAPI_VERB_ECONT = 1, PAPI_VERB_ESTOP = 2,
       PAPI_DOM_USER = 1, PAPI_DOM_KERNEL = 2, PAPI_DOM_OTHER = 4,
       PAPI_DOM_SUPERVISOR = 8, PAPI_DOM_ALL = 15, PAPI_STOPPED = 1,
       PAPI_RUNNING = 2, PAPI_OVERFLOWING = 0x10, PAPI_PROFILING = 0x20,
       PAPI_MULTIPLEXING = 0x40, PAPI_PROFIL_POSIX = 0,
       PAPI_PROFIL_RANDOM = 1, PAPI_PROFIL_WEIGHTED = 2,
       PAPI_PROFIL_BUCKET_16 = 8, PAPI_PROFIL_BUCKET_32 = 0x10,
       PAPI_PROFIL_BUCKET_64 = 0x20, PAPI_PROFIL_FORCE_SW = 0x40,
       PAPI_OVERFLOW_FORCE_SW = 0x40, PAPI_OVERFLOW_HARDWARE = 0x80,
       PAPI_MULTIPLEX = 3, PAPI_DEFDOM = 4, PAPI_DOMAIN = 5,
       PAPI_CLOCKRATE = 14, PAPI_MAX_HWCTRS = 15, PAPI_MAX_CPUS = 18,
       PAPI_LIB_VERSION = 21, PAPI_INHERIT = 28,
       PAPI_MIN_STR_LEN = 64, PAPI_MAX_STR_LEN = 128, PAPI_2MAX_STR_LEN = 256,
       PAPI_HUGE_STR_LEN = 1024, PAPI_MAX_INFO_TERMS = 12 };

/* The presets that tests name; events.c has all. */
#define PAPI_PRESET(number) (PAPI_PRESET_MASK | (number))
#define PAPI_L1_DCM  PAPI_PRESET(0x00)
#define PAPI_BR_PRC  PAPI_PRESET(0x2f)
#define PAPI_TOT_INS PAPI_PRESET(0x32)
#define PAPI_TOT_CYC PAPI_PRESET(0x3b)
#define PAPI_FP_OPS  PAPI_PRESET(0x66)
#define PAPI_REF_CYC PAPI_PRESET(0x6b)

typedef void *vptr_t;
typedef void (*PAPI_overflow_handler_t)(int set, void *address,
                                        long long vector, void *context);

typedef struct papi_range {
	void *pr_base;
	unsigned pr_size; /* bytes */
	vptr_t pr_off;
	unsigned pr_scale;
} PAPI_sprofil_t;

typedef struct papi_map {
	char name[PAPI_HUGE_STR_LEN];
	vptr_t text_start, text_end, data_start, data_end, bss_start, bss_end;
} PAPI_address_map_t;

typedef struct papi_program {
	char fullname[PAPI_HUGE_STR_LEN];
	PAPI_address_map_t address_info;
} PAPI_exe_info_t;

/* As many members as PAPI has. */
typedef struct papi_hardware {
	int ncpu, threads, cores, sockets, nnodes, totalcpus, vendor;
	char vendor_string[PAPI_MAX_STR_LEN];
	int model;
	char model_string[PAPI_MAX_STR_LEN];
	float revision;
	int cpuid_family, cpuid_model, cpuid_stepping, cpu_max_mhz, cpu_min_mhz;
	int mem_hierarchy[1 + 4 * (6 * 4 + 6 * 5)]; /* levels, TLBs, caches */
	int virtualized;
	char virtual_vendor_string[PAPI_MAX_STR_LEN];
	char virtual_vendor_version[PAPI_MAX_STR_LEN];
	float mhz;
	int clock_mhz, reserved[8];
} PAPI_hw_info_t;

typedef struct papi_event { /* members: PAPI's */
	unsigned event_code;
	char symbol[PAPI_HUGE_STR_LEN], short_descr[PAPI_MIN_STR_LEN];
	char long_descr[PAPI_HUGE_STR_LEN];
	int component_index;
	char units[PAPI_MIN_STR_LEN];
	int location, data_type, value_type, timescope, update_type, update_freq;
	unsigned count, event_type;
	char derived[PAPI_MIN_STR_LEN], postfix[PAPI_2MAX_STR_LEN];
	unsigned code[PAPI_MAX_INFO_TERMS];
	char name[PAPI_MAX_INFO_TERMS][PAPI_2MAX_STR_LEN];
	char note[PAPI_HUGE_STR_LEN];
} PAPI_event_info_t;

typedef union papi_option {
	struct { int def_cidx, eventset, domain; } domain, defdomain;
	struct { int eventset, inherit; } inherit;
	struct { int eventset, ns, flags; } multiplex;
	char room[2 * (PAPI_MAX_STR_LEN + 1)]; /* of the largest of PAPI's */
	void *pointer;
} PAPI_option_t;

#pragma GCC visibility push(default)
/* library.c, which also declares the functions that are not supported */
int PAPI_library_init(int version);
int PAPI_is_initialized(void);
int PAPI_thread_init(unsigned long (*id)(void));
unsigned long PAPI_thread_id(void);
int PAPI_register_thread(void);
int PAPI_unregister_thread(void);
int PAPI_multiplex_init(void);
int PAPI_lock(int lock);
int PAPI_unlock(int lock);
int PAPI_set_debug(int level);
char *PAPI_strerror(int code);
void PAPI_perror(const char *message);
long long PAPI_get_real_cyc(void);
long long PAPI_get_real_nsec(void);
long long PAPI_get_real_usec(void);
long long PAPI_get_virt_cyc(void);
long long PAPI_get_virt_nsec(void);
long long PAPI_get_virt_usec(void);
int PAPI_num_components(void);
int PAPI_num_hwctrs(void);
int PAPI_num_cmp_hwctrs(int component);
const PAPI_hw_info_t *PAPI_get_hardware_info(void);
const PAPI_exe_info_t *PAPI_get_executable_info(void);
/* events.c */
int PAPI_event_name_to_code(const char *name, int *code);
int PAPI_event_code_to_name(int code, char *name);
int PAPI_query_event(int code);
int PAPI_query_named_event(const char *name);
int PAPI_get_event_info(int code, PAPI_event_info_t *info);
int PAPI_get_event_component(int code);
/* sets.c */
int PAPI_create_eventset(int *set);
int PAPI_destroy_eventset(int *set);
int PAPI_cleanup_eventset(int set);
int PAPI_assign_eventset_component(int set, int component);
int PAPI_get_eventset_component(int set);
int PAPI_add_event(int set, int code);
int PAPI_add_events(int set, int *codes, int number);
int PAPI_add_named_event(int set, const char *name);
int PAPI_remove_event(int set, int code);
int PAPI_remove_events(int set, int *codes, int number);
int PAPI_remove_named_event(int set, const char *name);
int PAPI_attach(int set, unsigned long tid);
int PAPI_detach(int set);
int PAPI_get_component_index(const char *name);
int PAPI_num_events(int set);
int PAPI_list_events(int set, int *codes, int *number);
int PAPI_state(int set, int *state);
int PAPI_start(int set);
int PAPI_stop(int set, long long *values);
int PAPI_read(int set, long long *values);
int PAPI_read_ts(int set, long long *values, long long *cycles);
int PAPI_accum(int set, long long *values);
int PAPI_reset(int set);
int PAPI_set_multiplex(int set);
int PAPI_get_multiplex(int set);
int PAPI_set_domain(int domain);
int PAPI_set_opt(int option, PAPI_option_t *value);
int PAPI_get_opt(int option, PAPI_option_t *value);
void PAPI_shutdown(void);
/* samples.c */
int PAPI_overflow(int set, int code, int threshold, int flags,
                  PAPI_overflow_handler_t handler);
int PAPI_get_overflow_event_index(int set, long long vector, int *indexes,
                                  int *number);
int PAPI_profil(void *bins, unsigned bytes, vptr_t offset, unsigned scale,
                int set, int code, int threshold, int flags);
int PAPI_sprofil(PAPI_sprofil_t *ranges, int count, int set, int code,
                 int threshold, int flags);
/* regions.c */
int PAPI_hl_region_begin(const char *region);
int PAPI_hl_read(const char *region);
int PAPI_hl_region_end(const char *region);
int PAPI_hl_stop(void);
#pragma GCC visibility pop

#endif
