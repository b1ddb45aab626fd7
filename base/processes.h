/* SPDX-License-Identifier: MIT */
/* Processes: what they have mapped, their memory, whose they are, and stopping a child
 * before its first instruction. */
#ifndef PPI_PROCESSES_H
#define PPI_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- what a process has mapped, and its memory ---- */

/* A line of /proc/PID/maps. */
struct ppi_mapping {
	uint64_t start, end, offset, inode;
	char rights[8];
	char device[32];
	char name[4096];
};

/* NULL where there is no such list, or no such process. To be read with
 * ppi_maps_next, false at its end, and closed with fclose. */
FILE *ppi_maps_open(uint32_t pid);
bool ppi_maps_next(FILE *maps, struct ppi_mapping *line);

/* How many pages of 4096 bytes it has mapped, or what the system's pages are; 0: it is
 * not known. Who maps something has another number. */
uint64_t ppi_process_pages(uint32_t pid);

/* What libraries map so that others find them, by its name; 0: there is none. The list
 * is read once for all who ask, until the process has mapped something else, or for a
 * second: the kernel takes a tenth of a millisecond to write one. */
struct ppi_process_marks {
	uint64_t labels, labels_end; /* our own store (base/label_store.h) */
	uint64_t context;            /* OpenTelemetry's (base/otel_context.h) */
};
struct ppi_process_marks ppi_process_marks(uint32_t pid);

/* Call `take` for each mapping of a process that may be executed; `path` is as
 * the system shows it, "" for memory of no file. */
void ppi_process_each_code(uint32_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context);

/* Bytes of a process's memory; how many could be read. */
size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count);

/* The same by the kernel's copy alone, of all of them or none. Async-signal-safe. */
bool ppi_copy_from(uint32_t pid, uint64_t address, void *out, size_t bytes);

/* A descriptor for several of them (ppi_foreign_read), or -1. */
int ppi_process_memory(uint32_t pid);

/* Code mapped into the process: [start, end). */
struct ppi_text {
	uint64_t start, end;
};

/*
 * All that the dynamic loader knows of, the program's own first. At most
 * `room` are stored; returns how many there are. Takes the loader's lock.
 */
size_t ppi_text_list(struct ppi_text *out, size_t room);

/* What the kernel told its program, of a type as getauxval(3) has them; 0: it is not
 * known. Of programs of this process's class. */
uint64_t ppi_process_auxiliary(uint32_t pid, uint64_t type);

/* Random bytes that the kernel gave the program that it runs now, others after each
 * execve(2). False where they are not known. */
enum { PPI_PROGRAM_BYTES = 16 };
bool ppi_process_program(uint32_t pid, unsigned char program[PPI_PROGRAM_BYTES]);

/* Whether it runs that program still. */
bool ppi_process_is_program(uint32_t pid,
                            const unsigned char program[PPI_PROGRAM_BYTES]);

/* Whether the system has no process or thread of that number, not even one that has ended
 * and was not waited for. */
bool ppi_process_is_gone(uint32_t number);

/* ---- whose a process is, and since when it runs ---- */

struct ppi_process_owner {
	uint32_t user;     /* id of the effective user */
	uint64_t began_ns; /* CLOCK_REALTIME, to a tick; 0 unknown */
};

/* False when it is not there or cannot be seen; always for other processes on
 * systems without Linux's /proc. */
bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner);

/* Whether a path below /proc is one of another process, or a thread of it, that is gone.
 * While the kernel takes away what it keeps of the paths of one, to open such a path is
 * to run in circles in the kernel until that is done, which on a busy machine takes tens
 * of milliseconds of CPU time (fs/dcache.c, shrink_dcache_parent). Then errno is
 * ENOENT. */
bool ppi_process_path_is_gone(const char *path);

/* ---- a child between its execve(2) and its first instruction ---- */

/* Trace a child for the sake of its next execve; false where that is forbidden,
 * and on systems without Linux's ptrace(2). */
bool ppi_exec_stop_begin(pid_t child);

/* Wait until it stands there; false: it ended before. It is not reaped. */
bool ppi_exec_stop_await(pid_t child);

/* Let it go on, untraced. */
void ppi_exec_stop_end(pid_t child);

#endif
