/* SPDX-License-Identifier: MIT */
/* A program under ptrace(2), and our unwinder on its registers and its stack. */
#ifndef TRACED_H
#define TRACED_H

#include "api/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRACED_ROOM = 62 << 10 };

struct traced {
	const char *program; /* of the test, for its words */
	pid_t pid;
	struct ppi_registers registers;
	struct ppi_stack stack; /* a copy in `bytes` */
	unsigned char bytes[TRACED_ROOM];
	struct ppi_unwinder *unwinder;
};

/* Ends the test with status 2 and what errno says. */
_Noreturn void traced_die(const struct traced *traced, const char *what);

/* Begin a command that is traced, with these options; it stops at its exec. */
void traced_start(struct traced *traced, char **command, long options);

void traced_read_registers(struct traced *traced, pid_t tid);

/* The copy ends where the mapping does, or its room. */
void traced_read_stack(struct traced *traced);
bool traced_peek(const struct traced *traced, uint64_t address, uint64_t *word);

/* The unwinder learns of all code that is mapped now. */
void traced_note_code(struct traced *traced);

#endif
