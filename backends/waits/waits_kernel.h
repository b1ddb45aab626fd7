/* SPDX-License-Identifier: MIT */
/* The kernel seam of waits: every call it makes of the system. */
#ifndef WAITS_KERNEL_H
#define WAITS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a system call is for a thread that waits in it. */
enum waits_call {
	WAITS_CALL_NONE,      /* it is in none: a page fault, mostly */
	WAITS_CALL_OTHER,
	WAITS_CALL_LOCK,      /* futex(2); the operation is argument 1 */
	WAITS_CALL_SLEEP,
	WAITS_CALL_IO,        /* argument 0 is a descriptor */
	WAITS_CALL_ACCEPT,    /* the same, and it listens */
	WAITS_CALL_PATH,      /* argument 0 is the address of one */
	WAITS_CALL_PATH_AT,   /* argument 1 is */
	WAITS_CALL_FILE,      /* of files that no argument names */
	WAITS_CALL_POLL,      /* argument 0: struct pollfd[argument 1] */
	WAITS_CALL_SELECT,    /* argument 0: up to which; 1 to 3: sets of them */
	WAITS_CALL_EVENTS,    /* epoll_wait(2) and its like */
	WAITS_CALL_CHILD,
	WAITS_CALL_FORK,      /* as vfork(2): until a child that has its memory execs */
	WAITS_CALL_SIGNAL,
	WAITS_CALL_FILE_LOCK, /* argument 0 is a descriptor */
	WAITS_CALL_SEMAPHORE,
	WAITS_CALL_QUEUE,     /* argument 0: a queue of messages */
	WAITS_CALL_MEMORY,
	WAITS_CALL_AGAIN      /* restart_syscall(2) */
};

/* The two ends of a connection of TCP. */
struct waits_connection {
	uint8_t here[16], there[16]; /* as they are sent */
	uint16_t port, peer_port;
	uint8_t bytes; /* of each address: 4 or 16; 0: it is no connection */
};

/* What was last exchanged on one. */
struct waits_exchange {
	bool is_connecting;
	bool has_sent, has_received;   /* data, ever */
	bool is_unacknowledged;        /* some of what was sent */
	uint32_t sent_ms, received_ms; /* data, so long ago, to a tick, */
	uint32_t heard_ms;             /* and anything from the other end */
};

/*
 * Paths are Linux's (proc(5)). Calls that return int return 0 or a count, or a
 * negative errno.
 */
struct waits_kernel {
	uint64_t (*now_ns)(void *self); /* CLOCK_MONOTONIC */
	/* The same without the time that the system was suspended left out: by
	 * it /proc says when threads began. */
	uint64_t (*boot_ns)(void *self);
	uint64_t (*real_ns)(void *self); /* CLOCK_REALTIME */
	int (*cpu)(void *self); /* on which the caller is */
	/* What all threads of a process have run; 0: not known. */
	uint64_t (*process_cpu_ns)(void *self, int64_t pid);
	/* The beginning of a file, with a 0 behind its bytes. */
	int (*read)(void *self, const char *path, char *text, size_t room);
	/* The same of a file that is read again and again. */
	int (*hold)(void *self, const char *path);
	int (*read_held)(void *self, int held, char *text, size_t room);
	void (*release)(void *self, int held);
	int (*link)(void *self, const char *path, char *text, size_t room);
	/* Names of a folder that are numbers, and how many folders are in it. */
	int (*list)(void *self, const char *path,
	            bool (*take)(void *context, int64_t number),
	            void *context);
	int (*folders)(void *self, const char *path);
	/* Memory of a process: bytes that could be read. */
	int64_t (*memory)(void *self, int64_t pid, uint64_t address,
	                  void *bytes, size_t count);
	/* Code that a process has mapped. */
	void (*each_code)(void *self, int64_t pid,
	                  void (*take)(void *context, uint64_t start,
	                               uint64_t limit, uint64_t offset,
	                               const char *path),
	                  void *context);
	/* Symbols of the kernel that have an address (proc_kallsyms(5)). */
	void (*each_symbol)(void *self,
	                    void (*take)(void *context, uint64_t address,
	                                 char type, const char *name),
	                    void *context);
	enum waits_call (*call_of)(void *self, int64_t number);
	/* Of a connection of the own network namespace that has this inode: 0, or a
	 * negative errno. NULL: nobody says. */
	int (*exchanged)(void *self, const struct waits_connection *of,
	                 uint64_t inode, struct waits_exchange *out);
	/* A thread of this process is to get a CPU before others, or no longer,
	 * if this user may ask for that: whether it is. NULL: nobody may. */
	bool (*hasten)(void *self, int64_t tid, bool is_wanted);
	/* DWARF's numbers of the stack pointer and the program counter. */
	unsigned sp, pc;
	unsigned ticks_per_s; /* of times in /proc */
	uint64_t tick_ns;     /* CPU time of who runs may be so old */
	void *self;
};

/* NULL where the system has nothing of the kind. */
extern const struct waits_kernel *const ppi_waits_kernel_real;

#endif
