/* SPDX-License-Identifier: MIT */
/* What the files of the simulated perf kernel share. */
#ifndef PERF_SIM_STATE_H
#define PERF_SIM_STATE_H

#include "tests/sim/perf_sim.h"

enum {
	SIM_FDS = 8192,
	SIM_FIRST_FD = 1000,
	SIM_NAME = 16,
	SIM_PAGE = 4096
};

struct sim_ring {
	unsigned char *memory; /* control page, data */
	size_t bytes, data_bytes;
	uint64_t head;
	uint64_t lost;         /* since the last LOST record */
	bool is_mapped;
	unsigned users;        /* events that write here or own it */
	struct sim_ring *next;
};

enum { SIM_CGROUPS = 16 };

struct sim_event {
	struct perf_event_attr attr;
	struct sim_event *next;   /* of the same task */
	struct sim_event *parent; /* of an inherited copy */
	struct sim_event *leader; /* of its group; itself */
	struct sim_task *task;    /* NULL when it has ended */
	struct sim_ring *ring;
	uint64_t id;
	int cpu;
	bool has_own_ring, is_on, has_error;
	bool is_folder;           /* no event: a control group's descriptor */
	bool is_on_pmu;           /* when its task ran last */
	uint64_t count, enabled_ns, running_ns;
	uint64_t child_count, child_enabled_ns, child_running_ns;
	uint64_t lost;
	uint64_t left;            /* until the next overflow */
	uint64_t late_ns;         /* the timer is this late */
	unsigned samples_left;    /* until it is off; 0 = that is not set */
};

struct sim_mapping {
	uint64_t address, bytes;
	uint64_t inode;
	char path[64];
	unsigned char build_id[20]; /* in the file's notes; 0: none */
	struct sim_mapping *next;
};

struct sim_task {
	int64_t pid, tid, parent_pid;
	unsigned cpu;
	bool is_alive;
	char name[SIM_NAME];
	uint64_t cgroup;    /* index + 1 in sim.cgroups; 0 = the root */
	uint64_t cpu_ns;
	uint64_t exited_ns; /* leader: CPU time of ended threads */
	struct sim_event *events;
	struct sim_mapping *mappings;
	struct sim_task *next;
	/* the work being done */
	struct sim_task *next_working;
	size_t work;
	uint64_t done_ns;
	unsigned rotation;  /* whose turn on the PMU it is */
};

struct sim {
	uint64_t now_ns, next_id, random;
	int64_t next_tid, main_tid;
	char cgroups[SIM_CGROUPS][64];
	int64_t reused_tid; /* what the next has in place of next_tid */
	struct sim_task *tasks, *main_task;
	struct sim_task *working; /* in one run of all that have work */
	struct sim_event *fds[SIM_FDS];
	struct sim_ring *rings;
	size_t open_fds, peak_fds, mapped, locked_bytes;
	unsigned abuses, to_lose, timers_fired, samples_made, filters;
	char last_filter[256];
	/* Where events of a CPU are, of all threads; in between a task,
	 * the thread that does, or the idle task. */
	struct sim_task contexts[PERF_SIM_CPUS_MAX];
	const struct sim_task *ran_last[PERF_SIM_CPUS_MAX];
	uint64_t idle_ns[PERF_SIM_CPUS_MAX];
	const char *replaced; /* path that leads to another file by now */
	_Atomic uint32_t features, lacks, is_uniform, interrupt_ns;
	uint64_t spun_ns;   /* a thread reads the clock under a trial event */
	uint64_t switches;  /* ... and left its CPU so often */
};
extern struct sim sim;

/* ---- perf_sim.c ---- */
struct sim_task *sim_task(int64_t tid);
/* The n-th call that is to fail: its negative errno, else 0. */
enum sim_call {
	SIM_OPEN, SIM_CONTROL, SIM_READ, SIM_MAP, SIM_CLOCK, SIM_LIST,
	SIM_FILE, SIM_LIMIT, SIM_APPEND, SIM_CALLS
};
int sim_fault(enum sim_call call);

/* ---- perf_sim_open.c ---- */
int sim_open_event(void *self, struct perf_event_attr *attr, int64_t pid,
                   int cpu, int group_fd, unsigned long flags);
struct sim_event *sim_of_fd(int fd);

/* ---- perf_sim_check.c: what the kernel refuses ---- */
int sim_check_attr(struct perf_event_attr *attr, int64_t pid, int cpu,
                   unsigned long flags);
bool sim_attr_flag(const struct perf_event_attr *attr, unsigned bit);
bool sim_is_hardware(const struct perf_event_attr *attr);
/* Whether its PMU is that CPU's. */
bool sim_is_of_cpu(const struct perf_event_attr *attr, unsigned cpu);

/* ---- perf_sim_cgroup.c ---- */
int sim_open_folder(void *self, const char *path);
int sim_new_fd(struct sim_event *event);
/* The number of its folder; 0: there is none. */
uint64_t sim_cgroup_inode(const char *path);
uint64_t sim_cgroup_of(const struct sim_task *task);
/* A file of a group, and a process's line about its own. */
bool sim_print_cgroup(const char *path, char *out, size_t room);

/* ---- perf_sim_call.c ---- */
int sim_control(void *self, int fd, unsigned long request, void *arg);
ssize_t sim_read_event(void *self, int fd, void *buffer, size_t bytes);
int sim_close_event(void *self, int fd, uint64_t id);
int sim_map(void *self, int fd, size_t bytes, void **address);
int sim_unmap(void *self, void *address, size_t bytes);

/* ---- perf_sim_inherit.c ---- */
void sim_inherit(struct sim_task *from, struct sim_task *to);
void sim_end_events(struct sim_task *task);
void sim_free_event(struct sim_event *event);
void sim_release_ring(struct sim_ring *ring);
unsigned char *sim_new_memory(size_t bytes);
void sim_free_ring(struct sim_ring *ring);

/* ---- perf_sim_ring.c ---- */
/*
 * What the kernel has filled in already, for another event that the same
 * occurrence made overflow: [v6.18 core.c perf_prepare_sample, sample_flags].
 */
struct sim_filled {
	uint64_t fields; /* PERF_SAMPLE_ */
	uint64_t id, time, chain[8];
	size_t chain_words;
};

struct sim_sample {
	uint64_t ip, user_ip, time_ns;
	bool is_kernel;
	const void *raw;    /* what a tracepoint tells, */
	size_t raw_bytes;
	struct sim_filled *filled; /* NULL: the event has its own */
};
void sim_write_sample(struct sim_event *event, const struct sim_sample *from);
void sim_write_task(struct sim_task *task, uint32_t type, int64_t pid,
                    int64_t parent_pid, int64_t tid, int64_t parent_tid);
void sim_write_name(struct sim_task *task, bool is_exec);
void sim_write_mapping(struct sim_task *task, const struct sim_mapping *what);

/* ---- perf_sim_tracefs.c ---- */
void sim_clear_tracefs(void);
int sim_append_file(void *self, const char *path, const void *bytes,
                    size_t count);
bool sim_print_tracefs(const char *path, char *out, size_t room);
/* Names in the folder of a group, as list_names has them; SIZE_MAX: it is none. */
size_t sim_list_tracefs(const char *folder, char *out, size_t room);
int sim_check_probe(const struct perf_event_attr *attr);

/* ---- perf_sim_user.c: what programs read of their counters ---- */
void sim_update_pages(void);

/* ---- perf_sim_proc.c ---- */
int sim_get_clock(void *self, int32_t clock, uint64_t *ns);
int sim_list_numbers(void *self, const char *folder, int64_t *out,
                     size_t room, size_t *count);
int sim_list_names(void *self, const char *folder, char *out, size_t room,
                   size_t *bytes);
uint64_t sim_inode(const char *path);
int sim_get_inode(void *self, const char *path, uint64_t *inode);
ssize_t sim_read_file(void *self, const char *path, uint64_t offset,
                      void *buffer, size_t bytes);

#endif
