/* SPDX-License-Identifier: MIT */
/* A program under ptrace(2), and our unwinder on its registers and its stack. */
#include "config.h"

#include "tests/cli/traced.h"

#include "api/unwind/machine.h"
#include "backends/backend.h"
#include "base/processes.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

_Noreturn void traced_die(const struct traced *traced, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", traced->program, what, strerror(errno));
	exit(2);
}

void traced_start(struct traced *traced, char **command, long options)
{
	int go[2];
	char byte = 0;
	pid_t pid;

	if (pipe(go) != 0 || (pid = fork()) < 0)
		traced_die(traced, "start the command");
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL,
	           (void *)(intptr_t)(options | PTRACE_O_EXITKILL |
	                              PTRACE_O_TRACEEXEC)) != 0)
		traced_die(traced, "PTRACE_SEIZE");
	if (write(go[1], &byte, 1) != 1)
		traced_die(traced, "start the command");
	close(go[1]);
	traced->pid = pid;
}

static void set(struct traced *traced, unsigned number, uint64_t value)
{
	traced->registers.value[number] = value;
	traced->registers.known |= UINT64_C(1) << number;
}

void traced_read_registers(struct traced *traced, pid_t tid)
{
	struct user_regs_struct r;
	struct iovec part = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &part) != 0)
		traced_die(traced, "PTRACE_GETREGSET");
	memset(&traced->registers, 0, sizeof(traced->registers));
#if defined __x86_64__
	/* System V ABI for x86-64, figure 3.36 */
	const uint64_t values[] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
		                    r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
		                    r.r12, r.r13, r.r14, r.r15, r.rip };

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		set(traced, i, values[i]);
#elif defined __aarch64__
	for (unsigned i = 0; i < 31; i++)
		set(traced, i, r.regs[i]);
	set(traced, 31, r.sp);
	set(traced, 32, r.pc);
#endif
}

void traced_read_stack(struct traced *traced)
{
	uint64_t start = traced->registers.value[ppi_machine_here()->sp];
	size_t got = 0, part;

	while (got < TRACED_ROOM) {
		part = 4096 - (start + got) % 4096;
		part = part < TRACED_ROOM - got ? part : TRACED_ROOM - got;
		if (ppi_process_read((uint32_t)traced->pid, start + got,
		                     traced->bytes + got, part) != part)
			break;
		got += part;
	}
	traced->stack = (struct ppi_stack){
		.bytes = traced->bytes,
		.start = start,
		.size = got & ~(size_t)7,
		.is_all = got < TRACED_ROOM,
	};
}

bool traced_peek(const struct traced *traced, uint64_t address, uint64_t *word)
{
	return ppi_step_peek(&traced->stack, address, word);
}

static void note_mapping(void *context, uint64_t start, uint64_t limit,
                         uint64_t offset, const char *path)
{
	static uint64_t words[1024];
	struct traced *traced = context;
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = (uint32_t)traced->pid,
		.address = start,
		.span = limit - start,
	};
	struct ppi_room room = { &record, 1, 0, words, 1024, 0 };

	if (ppi_room_add_module(&room, &record, offset, NULL, 0,
	                        path[0] ? path : "//anon"))
		ppi_unwinder_note(traced->unwinder,
		                  &(portprof_batch){ &record, 1, words,
		                                     room.word_count,
		                                     sizeof(portprof_record) },
		                  &record);
}

void traced_note_code(struct traced *traced)
{
	ppi_process_each_code((uint32_t)traced->pid, note_mapping, traced);
}
