/* SPDX-License-Identifier: MIT */
/* The memory that a store of labels is in, and the rings of changes behind its head. */
#include "config.h"

#include "base/label_memory.h"

#include "base/clock_ns.h"
#include "base/label_post.h"
#include "base/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { FDS_FROM = 200 /* where programs have none of their own */ };

static struct {
	int fd;
	dev_t device;
	ino_t inode;
	bool can_carry; /* times, by the CPU's counter */
} own = { .fd = -1 };

_Thread_local PPI_AT_ONCE struct ppi_label_mine ppi_label_mine;
#define mine ppi_label_mine

/* ---- the memory ---- */

static size_t page_up(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

size_t ppi_label_memory_head(void)
{
	return page_up(sizeof(struct ppi_label_store));
}

int ppi_label_memory_fd(void)
{
	struct stat now;

	if (own.fd < 0 || fstat(own.fd, &now) != 0 ||
	    now.st_dev != own.device || now.st_ino != own.inode)
		return -1;
	return own.fd;
}

#ifdef SYS_memfd_create

/* How large the whole may be: a file is not to be larger than the process may
 * write (RLIMIT_FSIZE raises SIGXFSZ). Rings come behind the head. */
static uint64_t most_bytes(void)
{
	const uint64_t head = sizeof(struct ppi_label_store);
	uint64_t bytes = head + (SIZE_MAX > UINT32_MAX ? UINT64_C(1) << 30
	                                               : UINT64_C(1) << 26);
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	return bytes < head ? 0 : bytes;
}

/* linux/memfd.h, linux/fcntl.h: C libraries learned of them late. What is sealed
 * cannot be cut off under a reader, which would be killed by it. */
enum { MEMFD_CLOEXEC = 1, MEMFD_SEALS = 2, ADD_SEALS = 1033, SEAL_SIZE = 6 };

/* A recorder of the kernel's hears of mappings that may be executed, and of no
 * others: one that is gone at once says where in the order of samples the store
 * began. Where the system forbids it the recorder looks now and then. */
void ppi_label_memory_announce(int fd)
{
	size_t page = page_up(1);
	void *shown = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
	                   0);

	if (shown != MAP_FAILED)
		munmap(shown, page);
}

static int open_memory(uint64_t bytes)
{
	int fd = (int)syscall(SYS_memfd_create, PPI_LABELS_MEMFD,
	                      MEMFD_CLOEXEC | MEMFD_SEALS), higher;
	struct stat as_made;

	if (fd < 0)
		return -1;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, FDS_FROM);
	if (higher >= 0) {
		close(fd);
		fd = higher;
	}
	if (ftruncate(fd, (off_t)bytes) != 0 ||
	    fcntl(fd, ADD_SEALS, SEAL_SIZE) != 0 || fstat(fd, &as_made) != 0) {
		close(fd);
		return -1;
	}
	own.fd = fd;
	own.device = as_made.st_dev;
	own.inode = as_made.st_ino;
	return fd;
}

struct ppi_label_store *ppi_label_memory_map(uint64_t *bytes)
{
	size_t head = page_up(sizeof(struct ppi_label_store));
	uint64_t most = most_bytes();
	void *memory;
	int fd;

	own.fd = -1;
	own.can_carry = ppi_cycles_are_even();
	fd = most < head ? -1 : open_memory(most);
	if (fd < 0) {
		*bytes = head;
		return ppi_pages_map(head);
	}
	*bytes = most;
	memory = mmap(NULL, head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		close(fd);
		own.fd = -1;
		return NULL;
	}
	madvise(memory, head, MADV_DONTDUMP);
	return memory;
}
#else
void ppi_label_memory_announce(int fd)
{
	(void)fd;
}

struct ppi_label_store *ppi_label_memory_map(uint64_t *bytes)
{
	*bytes = page_up(sizeof(struct ppi_label_store));
	return ppi_pages_map((size_t)*bytes);
}
#endif

/* ---- changes with times ---- */

/* A program of few threads may change sets every microsecond, one of many is not to
 * have hundreds of megabytes for it: what is not used takes no memory. */
static unsigned first_log2(const struct ppi_label_store *store)
{
	size_t at = (size_t)(mine.slot - store->threads);

	return at < 16 ? PPI_LABEL_RING_LOG2 : at < 128 ? 15 : 13;
}

/* What the thread's ring before had is in a larger one, too. */
static void copy_changes(const struct ppi_label_thread *slot,
                         struct ppi_label_change *ring, unsigned log2)
{
	uint64_t head = atomic_load(&slot->head), at = atomic_load(&slot->first);
	uint64_t size = UINT64_C(1) << atomic_load(&slot->ring_log2);

	if (head - at > size)
		at = head - size;
	for (; at != head; at++) {
		const struct ppi_label_change *from =
			&mine.ring[at & (size - 1)];
		struct ppi_label_change *to =
			&ring[at & ((UINT64_C(1) << log2) - 1)];

		atomic_store(&to->time_ns, atomic_load(&from->time_ns));
		atomic_store(&to->check, atomic_load(&from->check));
	}
}

/* A reader that has one of the two offsets with the other size sees no positions
 * that fit, but for those that are right. */
static void use_ring(struct ppi_label_change *ring, size_t bytes,
                     uint64_t offset, unsigned log2)
{
	struct ppi_label_thread *slot = mine.slot;

	if (mine.ring) {
		copy_changes(slot, ring, log2);
		munmap(mine.ring, mine.ring_bytes);
	}
	mine.ring = ring;
	mine.ring_bytes = bytes;
	atomic_store(&slot->ring_log2, 0);
	atomic_store(&slot->ring, offset);
	atomic_store(&slot->ring_log2, log2);
}

static bool map_ring(struct ppi_label_store *store, unsigned log2)
{
	size_t bytes = page_up(sizeof(struct ppi_label_change) << log2);
	int fd = ppi_label_memory_fd();
	uint64_t at = atomic_load(&store->rings_used);
	void *ring;

	if (fd < 0)
		return false;
	do {
		if (at > store->bytes || bytes > store->bytes - at)
			return false;
	} while (!atomic_compare_exchange_weak(&store->rings_used, &at,
	                                       at + bytes));
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	            (off_t)at);
	if (ring == MAP_FAILED)
		return false;
	use_ring(ring, bytes, at, log2);
	return true;
}

static void put_change(struct ppi_label_thread *slot, uint64_t position,
                       uint64_t time_ns, uint32_t number)
{
	uint64_t mask = (UINT64_C(1) << atomic_load_explicit(
				 &slot->ring_log2, memory_order_relaxed)) - 1;
	struct ppi_label_change *change = &mine.ring[position & mask];

	atomic_store_explicit(&change->time_ns, time_ns, memory_order_release);
	atomic_store_explicit(&change->check, position << 32 | number,
	                      memory_order_release);
}

/* In which it is now, with nothing before. */
static void begin_changes(struct ppi_label_thread *slot, uint64_t time_ns,
                          uint32_t number)
{
	uint64_t at = atomic_fetch_add(&slot->head, 1);

	atomic_store(&slot->first, at);
	put_change(slot, at, time_ns, number);
}

/*
 * A first change since somebody wants times, or since its ring is too small: the
 * set that it leaves held since then. Until this is done nobody knows in which one it is:
 * handlers that come in the middle write no changes.
 */
static void begin_ring(struct ppi_label_store *store, uint64_t from)
{
	struct ppi_label_thread *slot = mine.slot;
	uint64_t since = atomic_load(&slot->timed_from);
	uint32_t log2 = atomic_load(&slot->wanted_log2), before;

	mine.was_busy = false;
	if (!atomic_compare_exchange_strong(&slot->timed_from, &since,
	                                    PPI_LABEL_CHANGING))
		return; /* a handler came, and has done it */
	before = atomic_load(&slot->current);
	if (log2 < first_log2(store))
		log2 = first_log2(store);
	if (log2 > PPI_LABEL_RING_LOG2)
		log2 = PPI_LABEL_RING_LOG2;
	if ((!mine.ring || atomic_load(&slot->ring_log2) < log2) &&
	    !map_ring(store, log2))
		atomic_store(&slot->wanted_log2, 0);
	if (mine.ring && since != from)
		begin_changes(slot, from, before);
	atomic_store_explicit(&slot->timed_from, from, memory_order_release);
	if (mine.ring && mine.was_busy)
		begin_changes(slot, ppi_monotonic_ns(), before);
}

/* One instruction is enough, as only this thread's handlers come between; it needs no
 * lock of the bus, which takes longer than the rest. */
static uint64_t take_position(struct ppi_label_thread *slot)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
	uint64_t one = 1;

	__asm__ volatile("xaddq %0, %1"
	                 : "+r"(one), "+m"(slot->head)
	                 :
	                 : "memory", "cc");
	return one;
#else
	return atomic_fetch_add_explicit(&slot->head, 1, memory_order_acq_rel);
#endif
}

/* The clock is read again. Times never go back: what was carried may be a little ahead
 * of it, and then nothing is carried on from there. What was carried wrongly is
 * forgotten. */
static uint64_t read_clock(struct ppi_label_thread *slot, uint64_t cycles,
                           uint64_t position)
{
	uint64_t mask = (UINT64_C(1) << atomic_load(&slot->ring_log2)) - 1;
	uint64_t now_ns = ppi_label_clock_read(&mine.clock, cycles, position);
	uint64_t last_ns;

	if (mine.clock.was_wrong)
		atomic_store(&slot->first, position);
	if (position == atomic_load(&slot->first))
		return now_ns;
	last_ns = atomic_load(&mine.ring[(position - 1) & mask].time_ns);
	if (now_ns >= last_ns)
		return now_ns;
	mine.clock.carried_for = 0;
	return last_ns;
}

/* When the change at a position is. */
static inline uint64_t time_of_change(struct ppi_label_thread *slot,
                                      uint64_t position, uint32_t *carried)
{
	uint64_t cycles, now_ns;

	if (!own.can_carry)
		return ppi_monotonic_ns();
	cycles = ppi_cycles();
	now_ns = ppi_label_clock_carry(&mine.clock, cycles);
	if (now_ns == 0)
		return read_clock(slot, cycles, position);
	*carried = PPI_LABEL_CARRIED;
	return now_ns;
}

/*
 * A handler of a signal may change sets in the middle of this and change them
 * back: it takes positions of its own, and the change that finds them taken reads the
 * clock again, so that times never go back.
 */
void ppi_label_change_timed(struct ppi_label_store *store, uint64_t from,
                            uint32_t number)
{
	struct ppi_label_thread *slot = mine.slot;
	uint64_t expected, position, now_ns;
	uint32_t carried = 0;

	if (atomic_load_explicit(&slot->timed_from, memory_order_relaxed) ==
	    PPI_LABEL_CHANGING) {
		mine.was_busy = true;
		ppi_label_put(slot, number);
		return;
	}
	if (atomic_load_explicit(&slot->timed_from, memory_order_relaxed) !=
	    from || atomic_load_explicit(&slot->wanted_log2,
	                                 memory_order_relaxed) >
	    atomic_load_explicit(&slot->ring_log2, memory_order_relaxed))
		begin_ring(store, from);
	if (!mine.ring) {
		ppi_label_put(slot, number);
		return;
	}
	expected = atomic_load_explicit(&slot->head, memory_order_relaxed);
	now_ns = time_of_change(slot, expected, &carried);
	ppi_label_put(slot, number);
	position = take_position(slot);
	if (position != expected) {
		now_ns = ppi_monotonic_ns();
		carried = 0;
	}
	put_change(slot, position, now_ns, number | carried);
}
