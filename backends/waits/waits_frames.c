/* SPDX-License-Identifier: MIT */
/*
 * Where a blocked thread is in the kernel: its frames there, from where it gave up its
 * CPU to where its program entered. Who has CAP_SYS_ADMIN may read them
 * (/proc/PID/task/TID/stack, proc_pid_stack(5)), as names and offsets, leaf first; the
 * list of the kernel's symbols says at which addresses those are, and so each is a frame
 * like that of any sample in the kernel. All frames of a wait are known, or none is told.
 */
#include "backends/waits/waits.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is in no list may have been loaded since it was read. */
#define LIST_GOOD_NS UINT64_C(10000000000)

/* ---- functions of the kernel, by name ---- */

/* Names are kept as their hash. */
struct function {
	uint64_t name, address, size;
};

struct listing {
	struct ppi_vector *functions;
	size_t first;     /* that has no size yet: these have one address */
	uint64_t address; /* of the symbol before */
	bool is_cut;      /* there is no memory */
};

/* A function ends where the next symbol is, of whatever type (kernel/kallsyms.c,
 * get_symbol_pos). */
static void take_symbol(void *context, uint64_t address, char type,
                        const char *name)
{
	struct listing *listing = context;
	struct ppi_vector *all = listing->functions;
	struct function function = { .address = address };

	if (address != listing->address) {
		for (; listing->first < all->count; listing->first++)
			PPI_AT(all, struct function)[listing->first].size =
				address - listing->address;
		listing->address = address;
	}
	if (!strchr("tTwW", type) || !(address >> 63))
		return;
	function.name = ppi_hash_add(PPI_HASH_BEGIN, name, strlen(name));
	listing->is_cut |= !ppi_vector_add(all, sizeof(function), &function, 1);
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static bool read_functions(struct waits_watch *watch)
{
	struct waits_frames *frames = &watch->frames;
	struct listing listing = { .functions = &frames->functions };

	frames->read_ns = watch->kernel->now_ns(watch->kernel->self);
	frames->functions.count = 0;
	watch->kernel->each_symbol(watch->kernel->self, take_symbol, &listing);
	if (listing.is_cut)
		frames->functions.count = 0;
	if (frames->functions.count)
		qsort(frames->functions.data, frames->functions.count,
		      sizeof(struct function), compare);
	return frames->functions.count > 0;
}

/* 0: not known, or several have that name and none of them that size. */
static uint64_t find(const struct waits_frames *frames, uint64_t name,
                     uint64_t size)
{
	const struct function *all = frames->functions.data;
	size_t low = 0, high = frames->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].name < name)
			low = middle + 1;
		else
			high = middle;
	}
	high = low;
	while (high < frames->functions.count && all[high].name == name)
		high++;
	if (high == low + 1)
		return all[low].address;
	for (; low < high; low++)
		if (all[low].size == size)
			return all[low].address;
	return 0;
}

/* ---- frames ---- */

/* "[<0>] NAME+0xOFFSET/0xSIZE", and " [MODULE]" of a module's; before Linux 4.11 the
 * address stands where the 0 is, and a last line of no frame has the highest. What has no
 * name is an address. */
struct line {
	char name[256];
	uint64_t address, offset, size;
};

static bool parse(const char *text, size_t bytes, struct line *out)
{
	const char *end = text + bytes, *plus, *module, *name;
	char *at;
	size_t length;

	if (bytes < 4 || strncmp(text, "[<", 2) != 0)
		return false;
	out->address = strtoull(text + 2, &at, 16);
	if (strncmp(at, ">] ", 3) != 0)
		return false;
	name = at + 3;
	if (!out->address && strncmp(name, "0x", 2) == 0)
		out->address = strtoull(name, NULL, 16);
	plus = memchr(name, '+', (size_t)(end - name));
	length = plus ? (size_t)(plus - name) : 0;
	out->name[0] = '\0';
	if (!plus)
		return out->address != 0;
	out->offset = strtoull(plus + 1, &at, 16);
	out->size = *at == '/' ? strtoull(at + 1, &at, 16) : 0;
	module = *at == ' ' ? at : end;
	if (length + (size_t)(end - module) >= sizeof(out->name))
		return false;
	memcpy(out->name, name, length);
	memcpy(out->name + length, module, (size_t)(end - module));
	out->name[length + (size_t)(end - module)] = '\0';
	return true;
}

/* Where the thread waits is what it waited in when its place was read, as far as the
 * shorter name goes: another one is of another wait. */
static bool is_leaf(const struct line *line, const struct waits_place *place)
{
	size_t length = strcspn(line->name, " ");

	if (length > sizeof(place->function) - 1)
		length = sizeof(place->function) - 1;
	return length && strlen(place->function) == length &&
	       strncmp(line->name, place->function, length) == 0;
}

static uint64_t address_of(struct waits_watch *watch, const struct line *line)
{
	struct waits_frames *frames = &watch->frames;
	uint64_t name = ppi_hash_add(PPI_HASH_BEGIN, line->name,
	                             strlen(line->name));
	uint64_t start;

	if (line->address)
		return line->address;
	start = find(frames, name, line->size);
	if (!start && watch->now_ns > frames->read_ns + LIST_GOOD_NS &&
	    read_functions(watch))
		start = find(frames, name, line->size);
	return start ? start + line->offset : 0;
}

size_t ppi_waits_frames(struct waits_watch *watch,
                        const struct waits_thread *thread, uint64_t *out,
                        size_t room)
{
	char text[WAITS_FRAMES_TEXT], *next;
	size_t count = 0;
	int got;

	if (!watch->frames.is_wanted)
		return 0;
	got = ppi_waits_read(watch, thread, "stack", text, sizeof(text));
	if (got <= 0 || (size_t)got == sizeof(text) - 1)
		return 0;
	for (char *at = text; *at; at = next) {
		size_t bytes = strcspn(at, "\n");
		struct line line;

		next = at + bytes + (at[bytes] == '\n');
		if (!parse(at, bytes, &line))
			return 0;
		if (line.address == UINT64_MAX)
			break;
		if (count == 0 && !is_leaf(&line, &thread->at))
			return 0;
		if (count == room || count == WAITS_FRAMES)
			return 0;
		out[count] = address_of(watch, &line);
		if (!(out[count++] >> 63))
			return 0;
	}
	/* addresses of callers are behind their calls, and the leaf's lies in its own */
	if (count)
		out[0]--;
	return count;
}

/* ---- whether they can be read ---- */

/* Who asked for no samples of the kernel gets none of its waits. */
static bool is_of_users_only(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].request.has_modes &&
		    !plan->events[i].request.kernel)
			return true;
	return false;
}

void ppi_waits_frames_open(struct waits_watch *watch)
{
	const struct waits_kernel *kernel = watch->kernel;
	const struct ppi_plan *plan = watch->bs->plan;
	char text[WAITS_FRAMES_TEXT];
	int got;

	if (!plan->chain_depth || !plan->stack_bytes || is_of_users_only(plan))
		return;
	got = kernel->read(kernel->self, "/proc/thread-self/stack", text,
	                   sizeof(text));
	if (got > 0 && read_functions(watch)) {
		watch->frames.is_wanted = true;
		watch->bs->caps |= PORTPROF_CAP_KERNEL;
		return;
	}
	ppi_note(watch->bs, "waits: chains end at the system call: %s",
	         got > 0 ? "/proc/kallsyms hides the addresses of the kernel's "
	                   "functions (sysctl kernel.kptr_restrict=0)" :
	         got == -EACCES || got == -EPERM
	                 ? "only the administrator (CAP_SYS_ADMIN) may see "
	                   "where threads are in the kernel" :
	                   "this kernel does not tell where threads are in it "
	                   "(CONFIG_STACKTRACE)");
}

void ppi_waits_frames_close(struct waits_watch *watch)
{
	ppi_vector_free(&watch->frames.functions);
}
