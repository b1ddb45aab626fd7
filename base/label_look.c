/* SPDX-License-Identifier: MIT */
/* A look at a store of labels, of this or another process. */
#include "config.h"

#include "base/label_look.h"

#include "base/label_post.h"
#include "base/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- finding it ---- */

#ifdef __linux__
enum { GET_SEALS = 1034, SEAL_SHRINK = 2 }; /* linux/fcntl.h */

/* A descriptor of the process's, which its user may open. */
static int open_descriptor(uint32_t pid)
{
	char folder[64], path[400], name[64];
	DIR *list;
	struct dirent *entry;
	int fd = -1;

	snprintf(folder, sizeof(folder), "/proc/%u/fd", pid);
	list = opendir(folder);
	while (list && fd < 0 && (entry = readdir(list))) {
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		length = readlink(path, name, sizeof(name) - 1);
		if (length <= 0)
			continue;
		name[length] = '\0';
		if (strncmp(name, PPI_LABELS_MAPPED,
		            strlen(PPI_LABELS_MAPPED)) == 0)
			fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (list)
		closedir(list);
	return fd;
}

/* A program that closed it has it mapped still; to open that takes
 * CAP_CHECKPOINT_RESTORE (proc(5), map_files). */
static int open_store(uint32_t pid)
{
	const struct ppi_process_marks marks = ppi_process_marks(pid);
	char path[96];
	int fd;

	if (!marks.labels)
		return -1;
	fd = open_descriptor(pid);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
	         (unsigned long long)marks.labels,
	         (unsigned long long)marks.labels_end);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* What is not sealed could be cut off while it is read, which kills the reader. */
static bool is_sealed(int fd)
{
	int seals = fcntl(fd, GET_SEALS);

	return seals >= 0 && (seals & SEAL_SHRINK);
}
#else
static int open_store(uint32_t pid)
{
	(void)pid;
	return -1;
}

static bool is_sealed(int fd)
{
	(void)fd;
	return false;
}
#endif

static bool map_head(struct ppi_label_look *look)
{
	struct stat file;
	void *memory;

	if (!is_sealed(look->fd) || fstat(look->fd, &file) != 0 ||
	    (uint64_t)file.st_size < sizeof(*look->store))
		return false;
	memory = mmap(NULL, sizeof(*look->store), PROT_READ | PROT_WRITE,
	              MAP_SHARED, look->fd, 0);
	if (memory == MAP_FAILED)
		return false;
	look->store = memory;
	look->bytes = (uint64_t)file.st_size;
	look->is_mapped = true;
	return atomic_load_explicit(&look->store->magic,
	                            memory_order_acquire) == PPI_LABELS_MAGIC;
}

bool ppi_label_look_take(struct ppi_label_look *look, uint32_t pid, int fd)
{
	bool is_anothers = false;

	memset(look, 0, sizeof(*look));
	look->fd = fd;
	if (fd >= 0) {
		look->rings = calloc(PPI_LABEL_THREADS, sizeof(*look->rings));
		if (look->rings && map_head(look)) {
			if (look->store->pid == (int64_t)pid)
				return true;
			is_anothers = true;
		}
	}
	ppi_label_look_close(look);
	look->is_anothers = is_anothers;
	return false;
}

bool ppi_label_look_open(struct ppi_label_look *look, uint32_t pid)
{
	return ppi_label_look_take(look, pid, open_store(pid));
}

/* Through memory of our own: the library that made it may be unloaded. */
bool ppi_label_look_own(struct ppi_label_look *look)
{
	struct ppi_label_store *own = ppi_label_store_own();

	if (ppi_label_look_open(look, (uint32_t)getpid())) {
		if (!own)
			ppi_label_store_adopt(look->store);
		return true;
	}
	if (!own)
		return false;
	look->store = own;
	look->fd = -1;
	return true;
}

/* What handlers look at stays. */
static void unmap_head(struct ppi_label_look *look)
{
	if (look->is_mapped && look->store != ppi_label_store_own())
		munmap(look->store, sizeof(*look->store));
	look->store = NULL;
	look->is_mapped = false;
}

static void unmap_ring(struct ppi_label_ring *ring)
{
	if (ring->changes)
		munmap(ring->changes,
		       sizeof(*ring->changes) << ring->log2);
	ring->changes = NULL;
}

void ppi_label_look_close(struct ppi_label_look *look)
{
	if (look->is_watched)
		ppi_label_store_unwatch(look->store);
	for (size_t i = 0; look->rings && i < PPI_LABEL_THREADS; i++)
		unmap_ring(&look->rings[i]);
	free(look->rings);
	unmap_head(look);
	if (look->fd >= 0)
		close(look->fd);
	memset(look, 0, sizeof(*look));
	look->fd = -1;
}

void ppi_label_look_watch(struct ppi_label_look *look)
{
	if (look->is_watched)
		return;
	ppi_label_store_watch(look->store);
	look->is_watched = true;
}

/* ---- a thread's changes ---- */

static struct ppi_label_change *map_ring(struct ppi_label_look *look,
                                         size_t at)
{
	const struct ppi_label_thread *thread = &look->store->threads[at];
	struct ppi_label_ring *ring = &look->rings[at];
	uint32_t log2 = atomic_load(&thread->ring_log2);
	uint64_t offset = atomic_load(&thread->ring), bytes;
	void *memory;

	if (ring->changes && ring->log2 == log2 && ring->offset == offset)
		return ring->changes;
	unmap_ring(ring);
	if (log2 == 0 || log2 > PPI_LABEL_RING_LOG2 || look->fd < 0)
		return NULL;
	bytes = sizeof(*ring->changes) << log2;
	if (offset < sizeof(*look->store) || offset > look->bytes ||
	    bytes > look->bytes - offset ||
	    offset % (uint64_t)sysconf(_SC_PAGESIZE))
		return NULL;
	memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, look->fd,
	              (off_t)offset);
	if (memory == MAP_FAILED)
		return NULL;
	*ring = (struct ppi_label_ring){ offset, log2, memory };
	return ring->changes;
}

/* The change at a position: false while it is not written, or not any more. */
static bool read_change(const struct ppi_label_ring *ring, uint64_t position,
                        uint64_t *time_ns, uint32_t *number)
{
	const struct ppi_label_change *change =
		&ring->changes[position &
	                       ((UINT64_C(1) << ring->log2) - 1)];
	uint64_t check = atomic_load_explicit(&change->check,
	                                      memory_order_acquire);

	*time_ns = atomic_load_explicit(&change->time_ns,
	                                memory_order_acquire);
	*number = (uint32_t)check & ~PPI_LABEL_CARRIED;
	return (uint32_t)(check >> 32) == (uint32_t)position;
}

/* The first position from `low` on that is still there. */
static uint64_t oldest_of(const struct ppi_label_thread *thread,
                          const struct ppi_label_ring *ring, uint64_t head)
{
	uint64_t first = atomic_load(&thread->first);
	uint64_t size = UINT64_C(1) << ring->log2;

	return head - first > size ? head - size : first;
}

/* Whether a change is one of later; what is not there is taken for one. */
static bool is_later(const struct ppi_label_ring *ring, uint64_t position,
                     uint64_t sought)
{
	uint64_t time_ns;
	uint32_t number;

	return !read_change(ring, position, &time_ns, &number) ||
	       time_ns > sought;
}

/* Whether a change that is there may have been on the other side of a time: its own was
 * carried. */
static bool is_near(const struct ppi_label_ring *ring, uint64_t position,
                    uint64_t sought)
{
	const struct ppi_label_change *change =
		&ring->changes[position & ((UINT64_C(1) << ring->log2) - 1)];
	uint64_t time_ns = atomic_load(&change->time_ns);
	uint64_t apart = time_ns > sought ? time_ns - sought : sought - time_ns;

	return (atomic_load(&change->check) & PPI_LABEL_CARRIED) &&
	       apart <= PPI_LABEL_SLACK_NS;
}

/* Whether a time's set is the one of the change below it, wherever in their reach those
 * beside it were. */
static bool is_sure(const struct ppi_label_thread *thread,
                    const struct ppi_label_ring *ring, uint64_t low,
                    uint64_t head, uint64_t sought, uint32_t number)
{
	uint64_t oldest = oldest_of(thread, ring, head), time_ns, at;
	uint32_t other;

	for (at = low + 1; at < head && is_near(ring, at, sought); at++)
		if (!read_change(ring, at, &time_ns, &other) || other != number)
			return false;
	for (at = low; at > oldest && is_near(ring, at, sought); at--)
		if (!read_change(ring, at - 1, &time_ns, &other) ||
		    other != number)
			return false;
	return true;
}

/*
 * The last change up to a time. The youngest may be claimed and not written yet:
 * its thread is at it. Another one is that of a thread which a signal's handler
 * interrupted in the middle, and what came behind it is not known to come later.
 */
static uint32_t find_change(const struct ppi_label_thread *thread,
                            const struct ppi_label_ring *ring, uint64_t sought,
                            bool *is_late)
{
	uint64_t head = atomic_load(&thread->head), time_ns;
	uint64_t low = oldest_of(thread, ring, head), high = head;
	uint32_t number, next;

	while (high > low + 1) {
		uint64_t middle = low + (high - low) / 2;

		if (is_later(ring, middle, sought))
			high = middle;
		else
			low = middle;
	}
	if (high + 1 < head && !read_change(ring, high, &time_ns, &next))
		return PPI_LABELS_UNKNOWN;
	if (low == head || !read_change(ring, low, &time_ns, &number) ||
	    time_ns > sought ||
	    low < oldest_of(thread, ring, atomic_load(&thread->head))) {
		*is_late = true;
		return PPI_LABELS_UNKNOWN;
	}
	return is_sure(thread, ring, low, head, sought, number)
		? number : PPI_LABELS_UNKNOWN;
}

/* As large as would have been enough, at the pace of what it has, and a half more. */
static void ask_for_more(struct ppi_label_thread *thread,
                         const struct ppi_label_ring *ring, uint64_t sought)
{
	uint64_t head = atomic_load(&thread->head), first_ns, last_ns;
	uint64_t oldest = oldest_of(thread, ring, head);
	uint32_t log2 = ring->log2, number;

	if (log2 >= PPI_LABEL_RING_LOG2 ||
	    !read_change(ring, oldest + (head - oldest) / 2, &first_ns,
	                 &number) ||
	    !read_change(ring, head - 1, &last_ns, &number) ||
	    last_ns <= first_ns || last_ns <= sought)
		return;
	while (log2 < PPI_LABEL_RING_LOG2 &&
	       (last_ns - first_ns) << (log2 - ring->log2) <
		       (last_ns - sought) * 3 / 4)
		log2++;
	if (atomic_load(&thread->wanted_log2) < log2)
		atomic_store(&thread->wanted_log2, log2);
}

/* A thread that has changed nothing since times are kept is in the set that it is
 * in now. */
static uint32_t find_unchanged(const struct ppi_label_thread *thread,
                               uint64_t from)
{
	uint64_t before = atomic_load(&thread->timed_from);
	uint32_t number = atomic_load(&thread->current);
	uint64_t after = atomic_load(&thread->timed_from);

	return before == PPI_LABEL_CHANGING || after != before || after == from
		? PPI_LABELS_UNKNOWN : number;
}

static uint32_t set_of_thread(struct ppi_label_look *look, size_t at,
                              uint64_t time_ns)
{
	struct ppi_label_thread *thread = &look->store->threads[at];
	uint64_t from = atomic_load(&look->store->timed_from);
	bool is_late = false;
	uint32_t number;

	if (from == 0 || time_ns < from)
		return PPI_LABELS_UNKNOWN;
	if (atomic_load(&thread->timed_from) != from) {
		number = find_unchanged(thread, from);
		if (number != PPI_LABELS_UNKNOWN ||
		    atomic_load(&thread->timed_from) != from)
			return number;
	}
	if (!map_ring(look, at))
		return PPI_LABELS_UNKNOWN;
	number = find_change(thread, &look->rings[at], time_ns, &is_late);
	if (is_late)
		ask_for_more(thread, &look->rings[at], time_ns);
	return number;
}

static bool had_begun(const struct ppi_label_thread *thread, uint64_t time_ns)
{
	uint64_t began_ns = atomic_load(&thread->began_ns);
	uint64_t ended_ns = atomic_load(&thread->ended_ns);

	return began_ns != 0 && began_ns <= time_ns &&
	       (ended_ns == 0 || time_ns <= ended_ns);
}

uint32_t ppi_label_look_find(struct ppi_label_look *look, int64_t tid,
                             uint64_t time_ns)
{
	const struct ppi_label_store *store = look->store;
	uint32_t count = atomic_load(&store->thread_count);

	if (time_ns < store->created_ns)
		return PPI_LABELS_NONE;
	for (uint32_t i = 0; i < count && i < PPI_LABEL_THREADS; i++) {
		int32_t owner = atomic_load(&store->tids[i]);

		if ((owner == tid || -(int64_t)owner == tid) &&
		    had_begun(&store->threads[i], time_ns))
			return set_of_thread(look, i, time_ns);
	}
	return atomic_load(&store->is_crowded) ||
	       time_ns <= atomic_load(&store->forgotten_ns)
		? PPI_LABELS_UNKNOWN : PPI_LABELS_NONE;
}

/* ---- now ---- */

/* The count first: a set that is read after it is that one, or a later one, and then
 * the next count is another, too. */
void ppi_label_look_now(const struct ppi_label_look *look, int64_t tid,
                        struct ppi_label_state *out)
{
	const struct ppi_label_store *store = look->store;
	uint32_t count = atomic_load(&store->thread_count);
	bool is_there = false;

	*out = (struct ppi_label_state){ .store = store->created_ns | 1 };
	for (uint32_t i = 0; !is_there && i < count && i < PPI_LABEL_THREADS;
	     i++) {
		if (atomic_load_explicit(&store->tids[i],
		                         memory_order_relaxed) != tid ||
		    !ppi_label_is_shown(&store->threads[i]))
			continue;
		out->changes = atomic_load_explicit(&store->threads[i].changes,
		                                    memory_order_acquire);
		out->set = atomic_load_explicit(&store->threads[i].current,
		                                memory_order_acquire);
		is_there = true;
	}
	if (!is_there && atomic_load(&store->is_crowded))
		out->set = PPI_LABELS_UNKNOWN;
}

bool ppi_label_look_is_current(const struct ppi_label_look *look, uint32_t pid)
{
	return ppi_process_is_program(pid, look->store->program);
}
