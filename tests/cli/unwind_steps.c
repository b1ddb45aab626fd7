/* SPDX-License-Identifier: MIT */
/*
 * Our call chain at each instruction of a program beside the true one. The program
 * goes step by step by ptrace(2), from its exec on, and who called whom is known by
 * the calls and returns that it has made: no table and no frame pointer is asked.
 *
 * usage: unwind_steps STEPS WORD COMMAND [ARGUMENT...]
 *
 * An instruction is compared the first times it runs. The last line says how many
 * chains are
 *   whole    equal, and said to be whole
 *   cut      the first part of the true one, and said to be cut
 *   ours     of these, in files whose names have WORD
 *   wrong    neither
 * Lines before it show the last two. Status 1 if one is wrong;
 * 2 if there is no program to be stepped.
 */
#include "config.h"

#include "api/unwind/machine.h"
#include "base/processes.h"
#include "tests/cli/traced.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { LINE = 1024, DEPTH = 500, PLACES = 1 << 17, TIMES = 4, SHOWN = 20, INSTRUCTION = 16,
       STOP_S = 60 };

enum kind { OTHER, CALL, RETURN, SYSTEM_CALL };

/* An instruction that was seen; 0 = free. */
struct place {
	uint64_t pc;
	enum kind kind;
	unsigned times;
};

/* A call that has not returned: the stack pointer behind it, and where it returns
 * to. */
struct call {
	uint64_t sp, returns_to;
};

static struct {
	struct traced traced;
	struct place places[PLACES];
	struct call calls[DEPTH];
	size_t depth;
	const char *word;
	unsigned long whole, cut, ours, wrong, steps, shown;
} all;

static uint64_t at(unsigned number)
{
	return all.traced.registers.value[number];
}

/* ---- the true chain ---- */

#if defined __aarch64__
static enum kind kind_of(const unsigned char *code)
{
	uint32_t word;

	memcpy(&word, code, 4);
	if ((word & 0xfc000000) == 0x94000000 ||
	    (word & 0xfffffc1f) == 0xd63f0000)
		return CALL;
	if ((word & 0xffe0001f) == 0xd4000001)
		return SYSTEM_CALL;
	return (word & 0xfffffc1f) == 0xd65f0000 ? RETURN : OTHER;
}
#else
static enum kind kind_of(const unsigned char *code)
{
	static const unsigned char prefixes[] = { 0x2e, 0x3e, 0x66, 0x67,
		                                  0xf2, 0xf3 };
	size_t i = 0;

	while (i < 8 && memchr(prefixes, code[i], sizeof(prefixes)))
		i++;
	if ((code[i] & 0xf0) == 0x40)
		i++;
	if (code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10))
		return CALL;
	if (code[i] == 0x0f && code[i + 1] == 0x05)
		return SYSTEM_CALL;
	return code[i] == 0xc3 || code[i] == 0xc2 ? RETURN : OTHER;
}
#endif

/* The registers are those behind an instruction of that kind, which was at `pc`. */
static void follow(enum kind kind, uint64_t pc)
{
	const struct ppi_machine *machine = ppi_machine_here();
	uint64_t sp = at(machine->sp), returns_to = pc + 4;
	bool is_pushed = machine->call_bytes > 0;

	if (kind == CALL && all.depth < DEPTH) {
		if (is_pushed &&
		    ppi_process_read((uint32_t)all.traced.pid, sp, &returns_to,
		                     sizeof(returns_to)) != sizeof(returns_to))
			traced_die(&all.traced, "read the stack");
		all.calls[all.depth++] = (struct call){ sp, returns_to };
	}
	if (!is_pushed && kind == RETURN && all.depth > 0 &&
	    all.calls[all.depth - 1].returns_to == at(machine->pc))
		all.depth--;
	while (all.depth > 0 && all.calls[all.depth - 1].sp < sp)
		all.depth--;
}

/* ---- ours ---- */

/* The file that has an address, and where in it; "" where none has. */
static uint64_t find_file(uint64_t address, char *file)
{
	char path[64], line[LINE];
	unsigned long long start, limit, offset;
	uint64_t at = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)all.traced.pid);
	maps = fopen(path, "r");
	file[0] = '\0';
	while (maps && !at && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &limit,
		           &offset) == 3 &&
		    address >= start && address < limit) {
			sscanf(line, "%*s %*s %*s %*s %*s %1023s", file);
			at = address - start + offset;
		}
	}
	if (maps)
		fclose(maps);
	return at;
}

static void show_address(const char *whose, uint64_t address)
{
	char file[LINE];
	uint64_t offset = find_file(address, file);

	printf("  %s %#" PRIx64 " %s+%#" PRIx64 "\n", whose, address, file,
	       offset);
}

static uint64_t true_pc(size_t i)
{
	return i == 0 ? at(ppi_machine_here()->pc)
	              : all.calls[all.depth - i].returns_to;
}

static void show(const char *what, size_t same, const uint64_t *ours,
                 size_t count, enum portprof_chain_end end)
{
	if (++all.shown > SHOWN)
		return;
	printf("%s: %zu ours, %zu true, %zu equal, ours ends with %d\n", what,
	       count, all.depth + 1, same, (int)end);
	show_address("at  ", ours[0]);
	for (size_t i = same; i < same + 3; i++) {
		if (i < count)
			show_address("ours", ours[i]);
		if (i <= all.depth)
			show_address("true", true_pc(i));
	}
}

static void compare(void)
{
	uint64_t ours[DEPTH];
	enum portprof_chain_end end;
	size_t same = 0, count;
	char file[LINE];

	traced_read_stack(&all.traced);
	count = ppi_unwinder_walk(all.traced.unwinder, (uint32_t)all.traced.pid,
	                          &all.traced.registers, &all.traced.stack,
	                          ours, DEPTH, &end);
	while (same < count && same <= all.depth && ours[same] == true_pc(same))
		same++;
	if (same == count && same == all.depth + 1 &&
	    end == PORTPROF_CHAIN_WHOLE) {
		all.whole++;
	} else if (same == count && end != PORTPROF_CHAIN_WHOLE) {
		all.cut++;
		find_file(ours[0], file);
		if (!strstr(file, all.word))
			return;
		all.ours++;
		show("cut", same, ours, count, end);
	} else {
		all.wrong++;
		show("wrong", same, ours, count, end);
	}
}

/* ---- steps ---- */

static struct place *place_of(uint64_t pc)
{
	unsigned char code[INSTRUCTION] = { 0 };
	size_t i = (pc ^ pc >> 17) % PLACES, tried = 0;

	while (all.places[i].pc && all.places[i].pc != pc && tried++ < PLACES)
		i = (i + 1) % PLACES;
	if (all.places[i].pc != pc) {
		ppi_process_read((uint32_t)all.traced.pid, pc, code,
		                 sizeof(code));
		all.places[i] = (struct place){ .pc = pc,
			                        .kind = kind_of(code) };
	}
	return &all.places[i];
}

/* False: the program is gone. */
static bool take_stop(long request, int with, int *signal)
{
	int status;

	if (ptrace((enum __ptrace_request)request, all.traced.pid, NULL,
	           (void *)(intptr_t)with) != 0 ||
	    waitpid(all.traced.pid, &status, __WALL) != all.traced.pid ||
	    !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static void go(unsigned long most)
{
	const struct ppi_machine *machine = ppi_machine_here();
	int signal = 0;

	traced_note_code(&all.traced);
	traced_read_registers(&all.traced, all.traced.pid);
	while (all.steps < most) {
		struct place *place = place_of(at(machine->pc));

		if (place->times++ < TIMES)
			compare();
		if (!take_stop(PTRACE_SINGLESTEP, signal, &signal))
			return;
		all.steps++;
		traced_read_registers(&all.traced, all.traced.pid);
		follow(place->kind, place->pc);
		/* what was there may have been another module */
		if (place->kind == SYSTEM_CALL)
			traced_note_code(&all.traced);
	}
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	int status;
	const char *why;

	if (most == 0) {
		fprintf(stderr, "usage: unwind_steps STEPS WORD COMMAND...\n");
		return 2;
	}
	if (!ppi_unwinder_has_tables(&why)) {
		printf("skip: %s\n", why);
		return 77;
	}
	all.traced.program = "unwind_steps";
	all.word = argv[2];
	all.traced.unwinder = ppi_unwinder_new(ppi_machine_here());
	traced_start(&all.traced, argv + 3, 0);
	/* its exec */
	if (waitpid(all.traced.pid, &status, __WALL) == all.traced.pid &&
	    WIFSTOPPED(status))
		go(most);
	kill(all.traced.pid, SIGKILL);
	waitpid(all.traced.pid, &status, __WALL);
	ppi_unwinder_free(all.traced.unwinder);
	if (!all.steps)
		return 2;
	printf("%lu steps: %lu whole, %lu cut, %lu ours, %lu wrong\n", all.steps,
	       all.whole, all.cut, all.ours, all.wrong);
	return all.wrong > 0;
}
