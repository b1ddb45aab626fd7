/* SPDX-License-Identifier: MIT */
/*
 * Two unwinders on the same registers and stack bytes: ours, and elfutils'
 * (dwfl_thread_getframes). A program is stopped at random moments by ptrace(2),
 * in any of its threads, and both read a copy of what is in its stack then.
 *
 * usage: unwind_peer SAMPLES COMMAND [ARGUMENT...]
 *
 * The last line says how many chains are
 *   equal
 *   longer    than elfutils': each further address follows a call, and the chain
 *             ends at the thread's root, or with the copy of a stack, as on an
 *             alternate one; or of the function that handles an exception
 *   refused   ours ends where elfutils' continues to what is no caller: memory that
 *             cannot be executed, or code that follows no call; or at the jump
 *             into a handler
 *   guessed   elfutils has no table of the frame from which on they differ, and goes
 *             by its frame pointer, if that is one; check-unwind-steps.sh knows more
 *   shorter   elfutils finds callers that we do not
 *   other     they differ
 * and how long a walk takes whose rules were looked up before. Lines before it
 * show what is in the last four. Status 1 if a chain is in the last two.
 */
#include "config.h"

#include "api/unwind/code_bytes.h"
#include "api/unwind/code_map.h"
#include "base/processes.h"
#include "api/unwind/unwind.h"
#include "tests/cli/traced.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 500, THREADS = 64, MAPS = 1 << 16,
       SHOWN = 12, CODE_BEFORE = 7, CODE_AFTER = 16, STOP_S = 60,
       ENOUGH_S = 60, SAMPLES_LEAST = 100 };

struct chain {
	size_t count;
	uint64_t pc[DEPTH];
};

static struct {
	struct traced traced;
	pid_t threads[THREADS];
	size_t thread_count;
	char maps[MAPS], seen[MAPS];
	Dwfl *dwfl;
	struct chain ours, theirs;
	enum portprof_chain_end end;
} peer;

static struct {
	unsigned long samples, equal, longer, refused, guessed, shorter, other,
		whole, frames;
	uint64_t our_ns, their_ns;
} sums;

static _Noreturn void die(const char *what)
{
	traced_die(&peer.traced, what);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- ours ---- */

static void walk_ours(void)
{
	uint64_t before = 0;

	for (unsigned warm = 0; warm < 2; warm++) {
		before = now_ns();
		peer.ours.count = ppi_unwinder_walk(
			peer.traced.unwinder, (uint32_t)peer.traced.pid,
			&peer.traced.registers, &peer.traced.stack,
			peer.ours.pc, DEPTH, &peer.end);
	}
	sums.our_ns += now_ns() - before;
}

/* ---- theirs ---- */

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **path)
{
	(void)module, (void)data, (void)name, (void)base, (void)file;
	(void)link, (void)crc, (void)path;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **state)
{
	(void)dwfl;
	if (*state)
		return 0;
	*state = context;
	return peer.traced.pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **state)
{
	(void)dwfl;
	*state = context;
	return tid == peer.traced.pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word,
                        void *context)
{
	uint64_t found = 0;
	bool is_there = traced_peek(&peer.traced, address, &found);

	(void)dwfl, (void)context;
	*word = found;
	return is_there;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct ppi_machine *machine = ppi_machine_here();
	Dwarf_Word words[PPI_REGISTERS];

	(void)context;
	for (unsigned i = 0; i < machine->register_count; i++)
		words[i] = peer.traced.registers.value[i];
#if defined __aarch64__
	dwfl_thread_state_register_pc(thread, words[32]);
	return dwfl_thread_state_registers(thread, 0, 32, words);
#else
	return dwfl_thread_state_registers(thread, 0, 17, words);
#endif
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct chain *chain = context;
	bool is_interrupted;
	Dwarf_Addr pc;

	if (chain->count == DEPTH || !dwfl_frame_pc(frame, &pc, &is_interrupted))
		return DWARF_CB_ABORT;
	/* as ours: a leaf's own, else one that is looked up at one less */
	chain->pc[chain->count] = pc + (chain->count && is_interrupted);
	chain->count++;
	return DWARF_CB_OK;
}

static void report_modules(void)
{
	if (dwfl_linux_proc_report(peer.dwfl, peer.traced.pid) != 0 ||
	    dwfl_report_end(peer.dwfl, NULL, NULL) != 0)
		die(dwfl_errmsg(-1));
}

static void open_theirs(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = no_debuginfo,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread,
		.get_thread = get_thread,
		.memory_read = read_memory,
		.set_initial_registers = set_registers,
	};

	dwfl_end(peer.dwfl);
	peer.dwfl = dwfl_begin(&callbacks);
	if (!peer.dwfl)
		die("dwfl_begin");
	report_modules();
	if (!dwfl_attach_state(peer.dwfl, NULL, peer.traced.pid, &threads,
	                       &peer))
		die(dwfl_errmsg(-1));
}

static void walk_theirs(void)
{
	uint64_t before = now_ns();

	peer.theirs.count = 0;
	dwfl_getthread_frames(peer.dwfl, peer.traced.pid, take_frame, &peer.theirs);
	sums.their_ns += now_ns() - before;
}

/* ---- both ---- */

static bool follows_call(uint64_t address)
{
	unsigned char code[CODE_BEFORE + CODE_AFTER];
	size_t got = ppi_process_read((uint32_t)peer.traced.pid,
	                              address - CODE_BEFORE, code,
	                              sizeof(code));

	return got >= CODE_BEFORE &&
	       ppi_returns_to(ppi_machine_here()->elf_machine, code,
	                      CODE_BEFORE, got);
}

/* What a handler returns to: the frame, which has one more than its address. */
static bool is_signal_return(uint64_t address)
{
	unsigned char code[CODE_AFTER];
	size_t got = ppi_process_read((uint32_t)peer.traced.pid, address - 1,
	                              code, sizeof(code));

	return ppi_returns_by_signal(ppi_machine_here()->elf_machine, code, got);
}

/* Whether each of our frames was called, or is what a signal interrupted. */
static bool are_called(size_t from)
{
	for (size_t i = from; i < peer.ours.count; i++)
		if (is_signal_return(peer.ours.pc[i]))
			i++;
		else if (!follows_call(peer.ours.pc[i]))
			return false;
	return true;
}

/* By the mappings: to elfutils all that follows a module's end is of it. */
static bool is_code(uint64_t address)
{
	unsigned long long start, limit;
	char executable;

	for (const char *line = peer.maps; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%llx-%llx %*c%*c%c", &start, &limit,
		           &executable) == 3 &&
		    executable == 'x' && address >= start && address < limit)
			return true;
	}
	return false;
}

/* Whether a caller of theirs, from the index on, cannot be one. */
static bool is_invented(size_t from)
{
	for (size_t i = from; i < peer.theirs.count; i++)
		if (!is_code(peer.theirs.pc[i]) ||
		    !follows_call(peer.theirs.pc[i]))
			return true;
	return false;
}

static size_t equal_part(void)
{
	size_t i = 0;

	while (i < peer.ours.count && i < peer.theirs.count &&
	       peer.ours.pc[i] == peer.theirs.pc[i])
		i++;
	return i;
}

static void show_address(const char *whose, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(peer.dwfl, address);
	GElf_Sym symbol;
	GElf_Off offset = 0;
	const char *name = module
		? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL,
	                               NULL, NULL)
		: NULL;

	printf("#   %s %#llx %s %s+%#llx\n", whose, (unsigned long long)address,
	       module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL,
	                                 NULL, NULL)
	              : "?",
	       name ? name : "?", (unsigned long long)offset);
}

static void show(const char *what, size_t same)
{
	static unsigned shown;

	if (++shown > SHOWN)
		return;
	printf("# %s: %zu ours, %zu theirs, %zu equal, ours ends with %d\n",
	       what, peer.ours.count, peer.theirs.count, same, (int)peer.end);
	if (same)
		show_address("both ", peer.ours.pc[same - 1]);
	for (size_t i = same; i < same + 3; i++) {
		if (i < peer.ours.count)
			show_address("ours ", peer.ours.pc[i]);
		if (i < peer.theirs.count)
			show_address("their", peer.theirs.pc[i]);
	}
}

/* An exception is about to go on in its handler, which nobody called (libgcc's
 * unwind.inc, _Unwind_RaiseException, replaces its own return address): elfutils
 * looks that up at one less, and its further frames are of another function. */
static bool is_handler(size_t at)
{
	return at > 0 && at < peer.ours.count && at < peer.theirs.count &&
	       peer.ours.pc[at] == peer.theirs.pc[at] + 1 &&
	       !follows_call(peer.theirs.pc[at]);
}

/* Its last instructions jump into the handler with the handler's own stack, of which
 * no table tells (libgcc's unwind.inc, uw_install_context): what is read by the
 * function's own rules may look like callers, and we find none. */
static bool is_installing(size_t same)
{
	Dwfl_Module *module = dwfl_addrmodule(peer.dwfl, peer.ours.pc[0]);
	const char *name = module
		? dwfl_module_addrname(module, peer.ours.pc[0]) : NULL;

	return same == 1 && peer.end == PORTPROF_CHAIN_JUNK && name &&
	       (strcmp(name, "_Unwind_RaiseException") == 0 ||
	        strcmp(name, "_Unwind_Resume") == 0);
}

/* Whether the last equal frame is of code without a table. */
static bool is_guess(size_t same)
{
	uint64_t address = same ? peer.ours.pc[same - 1] - (same > 1) : 0;
	Dwfl_Module *module = dwfl_addrmodule(peer.dwfl, address);
	Dwarf_Addr bias;
	Dwarf_CFI *tables = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;
	bool has_table = tables && dwarf_cfi_addrframe(tables, address - bias,
	                                               &frame) == 0;

	free(frame);
	return same > 0 && !has_table && are_called(same);
}

static void compare(void)
{
	size_t same = equal_part();
	bool is_longer = (peer.end == PORTPROF_CHAIN_WHOLE ||
	                  peer.end == PORTPROF_CHAIN_COPY_SHORT ||
	                  peer.end == PORTPROF_CHAIN_OUTSIDE) &&
	                 same == peer.theirs.count;

	is_longer = is_longer && are_called(same);
	is_longer |= is_handler(same);
	sums.samples++;
	sums.frames += peer.ours.count;
	sums.whole += peer.end == PORTPROF_CHAIN_WHOLE;
	if (same == peer.ours.count && same == peer.theirs.count) {
		sums.equal++;
	} else if (is_longer) {
		sums.longer++;
	} else if (same == peer.ours.count && peer.end != PORTPROF_CHAIN_WHOLE &&
	           (is_invented(same) || is_installing(same))) {
		sums.refused++;
		show("refused", same);
	} else if (is_guess(same)) {
		sums.guessed++;
		show("guessed", same);
	} else if (same == peer.ours.count) {
		sums.shorter++;
		show("shorter", same);
	} else {
		sums.other++;
		show("other", same);
	}
}

static void read_maps(void)
{
	char path[64];
	size_t got;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)peer.traced.pid);
	file = fopen(path, "r");
	if (!file)
		die(path);
	got = fread(peer.maps, 1, sizeof(peer.maps) - 1, file);
	peer.maps[got] = '\0';
	fclose(file);
	if (strcmp(peer.maps, peer.seen) == 0)
		return;
	memcpy(peer.seen, peer.maps, sizeof(peer.seen));
	traced_note_code(&peer.traced);
	open_theirs();
}

static void take_sample(pid_t tid)
{
	read_maps();
	traced_read_registers(&peer.traced, tid);
	traced_read_stack(&peer.traced);
	walk_ours();
	walk_theirs();
	compare();
}

/* ---- the program ---- */

static void keep_thread(pid_t tid, bool is_there)
{
	size_t i = 0;

	while (i < peer.thread_count && peer.threads[i] != tid)
		i++;
	if (is_there && i == peer.thread_count && i < THREADS)
		peer.threads[peer.thread_count++] = tid;
	else if (!is_there && i < peer.thread_count)
		peer.threads[i] = peer.threads[--peer.thread_count];
}

/* A stop that does not come is not waited for: what is compared are chains, not how
 * the kernel and a busy machine treat threads that are traced. */
static volatile sig_atomic_t is_over;

static void end_wait(int signo)
{
	(void)signo;
	is_over = 1;
}

static void bound_waits(void)
{
	struct sigaction action = { .sa_handler = end_wait };

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL); /* without SA_RESTART */
}

/* What threads stop for, until `wanted` did: false when all are gone, or for
 * too long. */
static bool take_stops(pid_t wanted)
{
	is_over = 0;
	alarm(STOP_S);
	for (;;) {
		int status, event, with = 0;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (is_over)
			printf("# thread %d did not stop in %d s\n", (int)wanted,
			       STOP_S);
		if (tid < 0 || is_over)
			return false;
		if (!WIFSTOPPED(status)) {
			keep_thread(tid, false);
			if (tid == peer.traced.pid)
				return false;
			if (tid == wanted)
				return true;
			continue;
		}
		keep_thread(tid, true);
		event = status >> 16;
		if (event == PTRACE_EVENT_STOP && tid == wanted)
			take_sample(tid);
		else if (event == 0)
			with = WSTOPSIG(status);
		ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)with);
		if (tid == wanted && (event == PTRACE_EVENT_STOP ||
		                      event == PTRACE_EVENT_EXEC))
			return true;
	}
}

static unsigned random_below(unsigned limit)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % limit);
}

/* A busy machine gives a traced thread its turn a few times a second. */
static bool is_late(void)
{
	static uint64_t begun_s;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!begun_s)
		begun_s = (uint64_t)now.tv_sec;
	return sums.samples >= SAMPLES_LEAST &&
	       (uint64_t)now.tv_sec - begun_s >= ENOUGH_S;
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	const char *why;

	if (most == 0) {
		fprintf(stderr, "usage: unwind_peer SAMPLES COMMAND...\n");
		return 2;
	}
	if (!ppi_unwinder_has_tables(&why)) {
		printf("skip: %s\n", why);
		return 77;
	}
	bound_waits();
	peer.traced.program = "unwind_peer";
	peer.traced.unwinder = ppi_unwinder_new(ppi_machine_here());
	while (sums.samples < most && !is_late()) {
		unsigned long before = sums.samples;

		peer.seen[0] = '\0';
		peer.thread_count = 0;
		traced_start(&peer.traced, argv + 2, PTRACE_O_TRACECLONE);
		if (!take_stops(peer.traced.pid)) /* its exec */
			break;
		for (;;) {
			struct timespec nap = { 0, 20000 +
				                random_below(300000) };
			pid_t tid;

			nanosleep(&nap, NULL);
			if (sums.samples == most || peer.thread_count == 0 ||
			    is_late())
				break;
			tid = peer.threads[random_below(
				(unsigned)peer.thread_count)];
			if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 &&
			    errno != ESRCH)
				die("PTRACE_INTERRUPT");
			if (!take_stops(tid))
				break;
		}
		kill(peer.traced.pid, SIGKILL);
		while (waitpid(-1, NULL, __WALL) > 0)
			;
		if (sums.samples == before)
			break; /* it does nothing */
	}
	dwfl_end(peer.dwfl);
	ppi_unwinder_free(peer.traced.unwinder);
	if (!sums.samples)
		return 2;
	printf("%lu samples of %.1f frames: %lu equal, %lu longer, %lu refused, "
	       "%lu guessed, %lu shorter, %lu other; %.2f %% whole; %.2f us "
	       "each, %.2f us by elfutils\n",
	       sums.samples, (double)sums.frames / (double)sums.samples,
	       sums.equal, sums.longer, sums.refused, sums.guessed,
	       sums.shorter, sums.other,
	       100.0 * (double)sums.whole / (double)sums.samples,
	       (double)sums.our_ns / 1e3 / (double)sums.samples,
	       (double)sums.their_ns / 1e3 / (double)sums.samples);
	return sums.shorter || sums.other;
}
