/* SPDX-License-Identifier: MIT */
/* The names of threads, and which of them are not yet in the file. */
#include "api/profile/writer.h"

#include "base/processes.h"
#include "base/text.h"
#include "base/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct ppi_thread_node {
	struct ppi_thread thread; /* pid, tid first: the key */
	UT_hash_handle hh;
};

enum { KEY_BYTES = 2 * sizeof(uint32_t) };

static struct ppi_thread *find(struct ppi_threads *threads, uint32_t pid,
                               uint32_t tid)
{
	const uint32_t key[2] = { pid, tid };
	struct ppi_thread_node *node = threads->last;

	if (node && node->thread.pid == pid && node->thread.tid == tid)
		return &node->thread;
	HASH_FIND(hh, threads->head, key, KEY_BYTES, node);
	if (!node)
		return NULL;
	threads->last = node;
	return &node->thread;
}

/* The thread, entered when it is new; NULL when out of memory. Stays where it
 * is until a sweep. */
static struct ppi_thread *get_thread(struct ppi_threads *threads, uint32_t pid,
                                     uint32_t tid)
{
	struct ppi_thread *thread = find(threads, pid, tid);
	struct ppi_thread_node *node;

	if (thread)
		return thread;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->thread.pid = pid;
	node->thread.tid = tid;
	HASH_ADD(hh, threads->head, thread.pid, KEY_BYTES, node);
	if (!node->hh.tbl) {
		free(node);
		return NULL;
	}
	return &node->thread;
}

/* The file says it of the process's first thread. */
static void find_owner(struct ppi_threads *threads, struct ppi_thread *first)
{
	struct ppi_process_owner owner;

	if (!first || first->is_owner_asked)
		return;
	first->is_owner_asked = true;
	if (!ppi_process_owner(first->pid, &owner))
		return;
	first->owner = owner.user + 1;
	first->began_ns = owner.began_ns;
	first->is_told = false;
	threads->has_untold = true;
}

/* Asked at the first sample, and again when it is another program, which may have
 * another user's rights. Most processes of a system have none, and of those that
 * end at once there is nothing to be read. */
static void see_sample(struct ppi_threads *threads, struct ppi_thread *thread)
{
	if (thread->is_owner_asked)
		return;
	find_owner(threads, thread->pid == thread->tid
	           ? thread : get_thread(threads, thread->pid, thread->pid));
	thread->is_owner_asked = true;
}

void ppi_threads_name(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      const char *name)
{
	struct ppi_thread *thread = get_thread(threads, pid, tid);

	if (!thread)
		return;
	thread->age = 0;
	if (strncmp(thread->name, name, sizeof(thread->name) - 1) == 0)
		return;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->is_told = false;
	threads->has_untold = true;
	thread->is_owner_asked = false;
	thread->text = 0;
}

/* A thread that goes to and fro between names brings each of them once. */
static uint32_t enter_name(struct ppi_threads *threads,
                           struct ppi_locations *locations,
                           struct ppi_thread *thread)
{
	uint32_t text = ppi_pool_find(&locations->strings, thread->name,
	                              strlen(thread->name));

	if (text != PPI_NONE)
		return text;
	if (thread->names >= PPI_THREAD_NAMES_MAX ||
	    threads->names >= PPI_NAMES_MAX)
		return ppi_locations_string(locations, PPI_OTHER_NAMES);
	thread->names++;
	threads->names++;
	return ppi_locations_string(locations, thread->name);
}

uint32_t ppi_threads_text(struct ppi_threads *threads,
                          struct ppi_locations *locations, uint32_t pid,
                          uint32_t tid)
{
	struct ppi_thread *thread = find(threads, pid, tid);

	if (thread)
		see_sample(threads, thread);
	if (!thread || !thread->name[0])
		return 0;
	if (!thread->text) {
		ppi_text_mend(thread->name);
		thread->text = enter_name(threads, locations, thread);
		if (thread->text == PPI_NONE) {
			thread->text = 0;
			return PPI_NONE;
		}
		thread->is_other = strcmp(ppi_pool_key(&locations->strings,
		                                       thread->text, NULL),
		                          thread->name) != 0;
	}
	threads->left_out += thread->is_other;
	return thread->text;
}

bool ppi_threads_note(const struct ppi_threads *threads, char *out,
                      size_t bytes)
{
	if (threads->left_out == 0)
		return false;
	snprintf(out, bytes, "%" PRIu64 " samples are of the name "
	         PPI_OTHER_NAMES ": a file keeps %d names that a thread gives "
	         "itself, and %d of all", threads->left_out,
	         PPI_THREAD_NAMES_MAX, PPI_NAMES_MAX);
	return true;
}

void ppi_threads_meet(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      bool is_anew)
{
	struct ppi_thread *thread = get_thread(threads, pid, tid);
	char name[sizeof(thread->name)] = "";

	if (!thread || (thread->is_met && !is_anew))
		return;
	thread->is_met = threads->has_passing = true;
	if (is_anew) {
		thread->name[0] = '\0';
		thread->text = 0;
		thread->is_told = false;
		threads->has_untold = true;
		thread->is_owner_asked = false;
	}
	if (ppi_thread_name(pid, tid, name, sizeof(name)))
		ppi_threads_name(threads, pid, tid, name);
}

void ppi_threads_fork(struct ppi_threads *threads, uint32_t pid, uint32_t tid,
                      uint32_t parent_pid)
{
	struct ppi_thread *parent = find(threads, parent_pid, parent_pid);
	struct ppi_thread *earlier = find(threads, pid, tid);
	char name[sizeof(parent->name)];

	/* which had the same number */
	if (earlier) {
		earlier->owner = 0;
		earlier->began_ns = 0;
		earlier->is_owner_asked = false;
	}
	if (!parent)
		return;
	memcpy(name, parent->name, sizeof(name));
	ppi_threads_name(threads, pid, tid, name);
}

void ppi_threads_exit(struct ppi_threads *threads, uint32_t pid, uint32_t tid)
{
	struct ppi_thread *thread = find(threads, pid, tid);

	if (!thread)
		return;
	thread->age = 1;
	threads->has_passing = true;
}

void ppi_threads_each(struct ppi_threads *threads,
                      void (*visit)(struct ppi_thread *thread, void *context),
                      void *context)
{
	struct ppi_thread_node *node, *next;

	HASH_ITER(hh, threads->head, node, next)
		visit(&node->thread, context);
}

void ppi_threads_sweep(struct ppi_threads *threads)
{
	struct ppi_thread_node *node, *next;

	/* a host has hundreds, which seldom change */
	if (!threads->has_passing)
		return;
	threads->has_passing = false;
	HASH_ITER(hh, threads->head, node, next) {
		node->thread.is_met = false;
		if (node->thread.age == 0)
			continue;
		if (node->thread.age++ < 2) {
			threads->has_passing = true;
			continue;
		}
		if (threads->last == node)
			threads->last = NULL;
		HASH_DELETE(hh, threads->head, node);
		free(node);
	}
}

void ppi_threads_close(struct ppi_threads *threads)
{
	struct ppi_thread_node *node, *next;

	HASH_ITER(hh, threads->head, node, next) {
		HASH_DELETE(hh, threads->head, node);
		free(node);
	}
	threads->last = NULL;
}
