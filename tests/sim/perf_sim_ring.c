/* SPDX-License-Identifier: MIT */
/* Records that the simulated kernel writes into its rings. */
#include "tests/sim/perf_sim_state.h"

#include <string.h>
#include <time.h>

/* [v6.18 include/uapi/linux/perf_event.h] PERF_RECORD_MISC_MMAP_BUILD_ID */
enum { MARK_BUILD_ID = 1u << 14 };

/* A record in the making. */
struct draft {
	uint64_t words[1 << 13];
	size_t count;
};

static void begin(struct draft *draft, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	memset(draft, 0, 256 * sizeof(draft->words[0]));
	memcpy(draft->words, &header, sizeof(header));
	draft->count = 1;
}

static void put(struct draft *draft, uint64_t word)
{
	draft->words[draft->count++] = word;
}

static void put_pair(struct draft *draft, uint64_t first, uint64_t second)
{
	uint32_t pair[2] = { (uint32_t)first, (uint32_t)second };

	memcpy(&draft->words[draft->count++], pair, sizeof(pair));
}

static void put_name(struct draft *draft, const char *name)
{
	strcpy((char *)&draft->words[draft->count], name);
	draft->count += strlen(name) / 8 + 1;
}

/* Events that name no clock have the scheduler's, which is behind. */
static uint64_t on_clock(const struct sim_event *event, uint64_t time_ns)
{
	if (!event->attr.use_clockid)
		return time_ns - PERF_SIM_CLOCK_BEHIND_NS;
	return event->attr.clockid == CLOCK_MONOTONIC
		? time_ns : time_ns + PERF_SIM_CLOCK_AHEAD_NS;
}

/* sample_id_all: [man]. */
static void put_trailer(struct draft *draft, const struct sim_event *event,
                        const struct sim_task *task)
{
	uint64_t type = event->attr.sample_type;

	if (type & PERF_SAMPLE_TID)
		put_pair(draft, (uint64_t)task->pid, (uint64_t)task->tid);
	if (type & PERF_SAMPLE_TIME)
		put(draft, on_clock(event, sim.now_ns));
	if (type & PERF_SAMPLE_CPU)
		put_pair(draft, task->cpu, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(draft, event->id);
}

static size_t set_size(struct draft *draft)
{
	struct perf_event_header header;

	memcpy(&header, draft->words, sizeof(header));
	header.size = (uint16_t)(draft->count * 8);
	memcpy(draft->words, &header, sizeof(header));
	return header.size;
}

static void copy_in(struct sim_ring *ring, const void *bytes, size_t count)
{
	unsigned char *data = ring->memory + SIM_PAGE;

	for (size_t i = 0; i < count; i++)
		data[(ring->head + i) & (ring->data_bytes - 1)] =
			((const unsigned char *)bytes)[i];
	ring->head += count;
}

static bool has_space(const struct sim_ring *ring, size_t bytes)
{
	const struct perf_event_mmap_page *control =
		(const void *)ring->memory;

	return ring->data_bytes - (ring->head - control->data_tail) >= bytes;
}

/*
 * [v6.18 kernel/events/ring_buffer.c __perf_output_begin]: the event that was
 * opened is charged with the loss; the LOST record waits until a record finds
 * room, and then goes before it.
 */
static void write_draft(struct sim_event *event, struct draft *draft,
                        const struct sim_task *task, bool is_forced_out)
{
	struct sim_event *top = event->parent ? event->parent : event;
	struct sim_ring *ring = top->ring;
	struct draft lost;
	size_t bytes;

	if (!ring || !ring->is_mapped)
		return;
	bytes = set_size(draft);
	begin(&lost, PERF_RECORD_LOST, 0);
	put(&lost, top->id);
	put(&lost, ring->lost);
	put_trailer(&lost, top, task);
	if (ring->lost)
		bytes += set_size(&lost);
	if (is_forced_out || !has_space(ring, bytes)) {
		ring->lost++;
		top->lost++;
		return;
	}
	if (ring->lost)
		copy_in(ring, lost.words, lost.count * 8);
	ring->lost = 0;
	copy_in(ring, draft->words, draft->count * 8);
	__atomic_store_n(&((struct perf_event_mmap_page *)(void *)
	                   ring->memory)->data_head, ring->head,
	                 __ATOMIC_RELEASE);
}

/* [v6.18 core.c perf_output_read_one]: the count is the copy's own, but the
 * times of an opened event have those of its ended copies added. */
static void put_values(struct draft *draft, const struct sim_event *event)
{
	uint64_t format = event->attr.read_format;

	put(draft, event->count);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(draft, event->enabled_ns + event->child_enabled_ns);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(draft, event->running_ns + event->child_running_ns);
	if (format & PERF_FORMAT_ID)
		put(draft, event->id);
	if (format & PERF_READ_LOST)
		put(draft, event->lost);
}

/* [v6.18 core.c perf_output_read_group]: the number and the times, then the
 * leader's value, then its siblings' in the order of opening. */
static void put_group(struct draft *draft, const struct sim_event *event)
{
	const struct sim_event *leader = event->leader;
	uint64_t format = event->attr.read_format;
	const struct sim_event *members[64] = { leader };
	size_t count = 1;

	for (struct sim_event *at = event->task->events; at; at = at->next)
		if (at != leader && at->leader == leader && count < 64)
			members[count++] = at;
	/* new ones are put in front of the task's list */
	for (size_t i = 1, j = count - 1; i < j; i++, j--) {
		const struct sim_event *other = members[i];

		members[i] = members[j];
		members[j] = other;
	}
	put(draft, count);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(draft, event->enabled_ns);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(draft, event->running_ns);
	for (size_t i = 0; i < count; i++) {
		put(draft, members[i]->count);
		if (format & PERF_FORMAT_ID)
			put(draft, members[i]->id);
		if (format & PERF_READ_LOST)
			put(draft, members[i]->lost);
	}
}

uint64_t perf_sim_caller(uint64_t pc, unsigned level)
{
	return pc + level * UINT64_C(0x100000);
}

/* Chains: a marker before the addresses of each context [man]. */
static void put_chain(struct draft *draft, const struct sim_event *event,
                      const struct sim_sample *from)
{
	size_t room = event->attr.sample_max_stack, at = draft->count;
	size_t used = 0;

	put(draft, 0);
	if (from->is_kernel && !event->attr.exclude_callchain_kernel) {
		put(draft, (uint64_t)PERF_CONTEXT_KERNEL);
		put(draft, from->ip);
		used++;
	}
	if (!event->attr.exclude_callchain_user) {
		put(draft, (uint64_t)PERF_CONTEXT_USER);
		for (unsigned i = 0; i < PERF_SIM_DEPTH && used < room;
		     i++, used++)
			put(draft, perf_sim_caller(from->user_ip, i));
	}
	draft->words[at] = draft->count - at - 1;
}

/* The first event of an occurrence fills in what it asks for; of it the others
 * get what they ask for, too. */
static void fill_in(struct sim_filled *filled, const struct sim_event *event,
                    const struct sim_sample *from)
{
	uint64_t missing = event->attr.sample_type & ~filled->fields;
	struct draft draft;

	if (missing & PERF_SAMPLE_IDENTIFIER)
		filled->id = event->id;
	if (missing & PERF_SAMPLE_TIME)
		filled->time = on_clock(event, from->time_ns);
	if (missing & PERF_SAMPLE_CALLCHAIN) {
		draft.count = 0;
		put_chain(&draft, event, from);
		filled->chain_words = draft.count;
		memcpy(filled->chain, draft.words, draft.count * 8);
	}
	filled->fields |= event->attr.sample_type;
}

/* Each register holds its number, but for the pc and the stack pointer. */
static void put_registers(struct draft *draft,
                          const struct perf_event_attr *attr,
                          const struct sim_sample *from)
{
	if (perf_sim_machine.has_no_user_part) {
		put(draft, PERF_SAMPLE_REGS_ABI_NONE);
		return;
	}
	put(draft, perf_sim_machine.is_32_bit ? PERF_SAMPLE_REGS_ABI_32
	                                      : PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t bit = 0; bit < 64; bit++)
		if (attr->sample_regs_user >> bit & 1)
			put(draft, bit == 8   ? from->user_ip
			           : bit == 7 ? PERF_SIM_STACK
			                      : bit);
}

/* [v6.18 core.c perf_output_sample_ustack]: the room asked for, and how much of
 * it is the stack, which ends where its memory does. */
static void put_stack(struct draft *draft, const struct perf_event_attr *attr)
{
	uint64_t room = attr->sample_stack_user, used = room;

	if (perf_sim_machine.has_no_user_part) {
		put(draft, 0);
		return;
	}
	if (perf_sim_machine.stack_bytes && perf_sim_machine.stack_bytes < used)
		used = perf_sim_machine.stack_bytes;
	put(draft, room);
	for (uint64_t at = 0; at < room; at += 8)
		put(draft, at < used ? PERF_SIM_STACK + at : 0xdead);
	put(draft, used);
}

/* A call that was mispredicted after seven cycles, and a conditional branch that
 * was not. */
static void put_branches(struct draft *draft, const struct perf_event_attr *attr,
                         uint64_t ip)
{
	uint64_t filter = attr->branch_sample_type;
	bool has_all = filter & PERF_SAMPLE_BRANCH_ANY;
	bool has_call = has_all || filter & PERF_SAMPLE_BRANCH_ANY_CALL;
	bool has_other = has_all || filter & PERF_SAMPLE_BRANCH_COND;

	put(draft, (uint64_t)has_call + has_other);
	if (has_call) {
		put(draft, ip + 1);
		put(draft, ip - 1);
		put(draft, 1 | 7 << 4);
	}
	if (has_other) {
		put(draft, ip + 2);
		put(draft, ip - 2);
		put(draft, 2);
	}
}

/* [v6.18 core.c perf_output_sample]: its length, then that, to the end of a word;
 * four bytes of nothing where an event has none. */
static void put_raw(struct draft *draft, const struct sim_sample *from)
{
	unsigned char bytes[256] = { 0 };
	uint32_t length = (uint32_t)((from->raw_bytes + 4 + 7) / 8 * 8 - 4);

	memcpy(bytes, &length, 4);
	if (from->raw)
		memcpy(bytes + 4, from->raw, from->raw_bytes);
	for (size_t at = 0; at < length + 4; at += 8) {
		uint64_t word;

		memcpy(&word, bytes + at, 8);
		put(draft, word);
	}
}

/* What memory events of some hardware tell, in the order of [v6.18 core.c
 * perf_output_sample]. Of other events the source is "not available" in each of
 * its parts (PERF_MEM_NA), the rest 0. */
static void put_access(struct draft *draft, const struct perf_event_attr *attr,
                       uint64_t ip, uint64_t cgroup)
{
	uint64_t type = attr->sample_type;
	bool is_known = sim_is_hardware(attr);

	if (type & PERF_SAMPLE_WEIGHT)
		put(draft, is_known ? 17 : 0);
	if (type & PERF_TELLS_WEIGHTS)
		put(draft, is_known ? 17 | UINT64_C(29) << 32 |
		                              UINT64_C(3) << 48 : 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		/* a locked store, hit in L3, modified elsewhere, TLB's L2 */
		put(draft, is_known ? 1 << 2 | (1 << 1 | 1 << 6) << 5 |
		                              1 << (19 + 4) | 1 << (24 + 1) |
		                              1 << (26 + 1) | 1 << (26 + 4) |
		                              UINT64_C(3) << 33
		                    : 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26 |
		                              UINT64_C(15) << 33);
	if (type & PERF_SAMPLE_TRANSACTION)
		put(draft, is_known ? 1 << 1 | 1 << 5 | UINT64_C(0xab) << 32 : 0);
	if (type & PERF_TELLS_PHYSICAL)
		put(draft, is_known ? ip + 0x7000 : 0);
	if (type & PERF_TELLS_CGROUP)
		put(draft, cgroup);
	if (type & PERF_TELLS_DATA_PAGE)
		put(draft, is_known ? 1 << 21 : 0);
	if (type & PERF_TELLS_CODE_PAGE)
		put(draft, 4096);
}

void sim_write_sample(struct sim_event *event, const struct sim_sample *from)
{
	struct sim_filled own = { .fields = 0 };
	struct sim_filled *filled = from->filled ? from->filled : &own;
	const struct perf_event_attr *attr = &event->attr;
	const struct sim_task *task = event->task;
	uint64_t type = attr->sample_type;
	bool is_forced_out = sim.to_lose > 0;
	struct draft draft;

	/* [v6.18 core.c __perf_event_overflow] */
	if (event->samples_left && --event->samples_left == 0)
		event->is_on = false;
	fill_in(filled, event, from);
	begin(&draft, PERF_RECORD_SAMPLE,
	      perf_sim_machine.is_in_guest ? PERF_RECORD_MISC_GUEST_KERNEL
	      : from->is_kernel            ? PERF_RECORD_MISC_KERNEL
	                                   : PERF_RECORD_MISC_USER);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(&draft, filled->id);
	if (type & PERF_SAMPLE_IP)
		put(&draft, from->ip);
	if (type & PERF_SAMPLE_TID)
		put_pair(&draft, (uint64_t)task->pid, (uint64_t)task->tid);
	if (type & PERF_SAMPLE_TIME)
		put(&draft, filled->time);
	/* what the memory events of some hardware tell */
	if (type & PERF_SAMPLE_ADDR)
		put(&draft, sim_is_hardware(attr) ? from->ip + 0x5000 : 0);
	if (type & PERF_SAMPLE_CPU)
		put_pair(&draft, task->cpu, 0);
	if (type & PERF_SAMPLE_PERIOD && from->filled && !attr->freq)
		put(&draft, 1); /* how many occurred at once */
	else if (type & PERF_SAMPLE_PERIOD)
		put(&draft, attr->freq ? 1000000000u / attr->sample_freq
		                       : attr->sample_period);
	if (type & PERF_SAMPLE_READ && attr->read_format & PERF_FORMAT_GROUP)
		put_group(&draft, event);
	else if (type & PERF_SAMPLE_READ)
		put_values(&draft, event);
	if (type & PERF_SAMPLE_CALLCHAIN)
		for (size_t i = 0; i < filled->chain_words; i++)
			put(&draft, filled->chain[i]);
	if (type & PERF_SAMPLE_RAW)
		put_raw(&draft, from);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(&draft, attr, from->ip);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(&draft, attr, from);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(&draft, attr);
	put_access(&draft, attr, from->ip, sim_cgroup_of(task));
	if (is_forced_out)
		sim.to_lose--;
	write_draft(event, &draft, task, is_forced_out);
	if (perf_sim_machine.throttle_every &&
	    ++sim.samples_made % perf_sim_machine.throttle_every == 0) {
		begin(&draft, PERF_RECORD_THROTTLE, 0);
		put(&draft, on_clock(event, from->time_ns));
		put(&draft, event->id);
		put(&draft, event->id);
		put_trailer(&draft, event, task);
		write_draft(event, &draft, task, false);
	}
}

/* ---- what carriers tell: [v6.18 core.c perf_iterate_sb], events of the CPU
 * and of the task that are on and not bound to another CPU ---- */

static struct sim_event *next_carrier(const struct sim_task *task,
                                      struct sim_event *after)
{
	struct sim_task *context = &sim.contexts[task->cpu];
	bool is_of_cpu = after && after->task == context;
	struct sim_event *at = after ? after->next : task->events;

	for (;; at = at->next) {
		if (!at && !is_of_cpu) {
			is_of_cpu = true;
			at = context->events;
		}
		if (!at || (at->is_on && at->attr.task &&
		            (at->cpu < 0 || at->cpu == (int)task->cpu)))
			return at;
	}
}

void sim_write_task(struct sim_task *task, uint32_t type, int64_t pid,
                    int64_t parent_pid, int64_t tid, int64_t parent_tid)
{
	struct sim_event *event = NULL;
	struct draft draft;

	while ((event = next_carrier(task, event)) != NULL) {
		begin(&draft, type, 0);
		put_pair(&draft, (uint64_t)pid, (uint64_t)parent_pid);
		put_pair(&draft, (uint64_t)tid, (uint64_t)parent_tid);
		put(&draft, sim.now_ns);
		put_trailer(&draft, event, task);
		write_draft(event, &draft, task, false);
	}
}

void sim_write_name(struct sim_task *task, bool is_exec)
{
	struct sim_event *event = NULL;
	struct draft draft;

	while ((event = next_carrier(task, event)) != NULL) {
		begin(&draft, PERF_RECORD_COMM,
		      is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		put_pair(&draft, (uint64_t)task->pid, (uint64_t)task->tid);
		put_name(&draft, task->name);
		put_trailer(&draft, event, task);
		write_draft(event, &draft, task, false);
	}
}

/* [v6.18 core.c perf_event_mmap_output]: the mark of a build-id is not taken
 * back for those who are told next and asked for none. */
void sim_write_mapping(struct sim_task *task, const struct sim_mapping *what)
{
	struct sim_event *event = NULL;
	struct draft draft;

	while ((event = next_carrier(task, event)) != NULL) {
		begin(&draft, PERF_RECORD_MMAP2, (uint16_t)
		      (PERF_RECORD_MISC_USER |
		       (perf_sim_machine.has_neighbour ? MARK_BUILD_ID : 0)));
		put_pair(&draft, (uint64_t)task->pid, (uint64_t)task->tid);
		put(&draft, what->address);
		put(&draft, what->bytes);
		put(&draft, 0x1000);
		put_pair(&draft, 8, 1); /* device */
		put(&draft, what->inode);
		put(&draft, 0); /* its generation */
		put_pair(&draft, 5, 2); /* PROT_READ|PROT_EXEC, MAP_PRIVATE */
		put_name(&draft, what->path);
		put_trailer(&draft, event, task);
		write_draft(event, &draft, task, false);
	}
}
