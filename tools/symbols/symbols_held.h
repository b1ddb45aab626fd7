/* SPDX-License-Identifier: MIT */
/* What names code, held open while the processes that were measured live. */
#ifndef PPI_SYMBOLS_HELD_H
#define PPI_SYMBOLS_HELD_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A container's files and maps go with its last process, and what `go test` or
 * configure builds is deleted before the measurement ends. A file that is held
 * open can be read all the same. As many are held as leave this process
 * descriptors enough: those go first that lie where they were mapped, then the
 * oldest. Where a system shows no process's files (Linux does, in
 * /proc/PID/root) none is.
 */
struct ppi_held;

/* NULL when out of memory. `is_of_sampled`: look for maps of processes that have
 * samples, for there are many others, each of which costs ten calls a minute. */
struct ppi_held *ppi_held_new(bool is_of_sampled);

/* Of what is mounted from now on copies are held, 128 MiB of all together: the command
 * may unmount it (an AppImage, a container). Others' mounts stay. A jit-PID.dump, which
 * grows, is held itself. */
void ppi_held_know_mounts(struct ppi_held *held);
void ppi_held_free(struct ppi_held *held);

/* What is found out about files is kept from one window of the recording to the
 * next, in so many bytes; NULL: nothing is. */
struct ppi_kept;
void ppi_held_keep(struct ppi_held *held, size_t bytes);
struct ppi_kept *ppi_held_kept(const struct ppi_held *held);

/* Records are seen in another thread than forks children that read what is held:
 * both do it under this lock. NULL does nothing. */
void ppi_held_lock(struct ppi_held *held);
void ppi_held_unlock(struct ppi_held *held);

/* Hold what a record names; `module` is a MODULE record's, NULL of others. */
void ppi_held_see(struct ppi_held *held, const portprof_record *record,
                  const portprof_module *module);

/* Look for maps that processes have begun since. Often: it looks when it is
 * time. */
void ppi_held_look(struct ppi_held *held);

/* Whether the path is that of a jit-PID.dump, perhaps deleted. */
bool ppi_is_jitdump(const char *path);

/* Room for the name of a file that is held. */
enum { PPI_HELD_NAME_ROOM = 32 };

/* The name by which this process, or its forked child, can open the file that
 * was mapped, or the process's map of code that it made while running. False
 * when it is not held; `held` may be NULL. */
bool ppi_held_file(const struct ppi_held *held, const char *path,
                   const char *build_id, char name[PPI_HELD_NAME_ROOM]);
bool ppi_held_map(const struct ppi_held *held, uint32_t pid,
                  char name[PPI_HELD_NAME_ROOM]);

/* The path of the jit-PID.dump that a process has mapped, as it sees it; NULL
 * none was seen. */
const char *ppi_held_dump(const struct ppi_held *held, uint32_t pid);

#endif
