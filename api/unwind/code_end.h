/* SPDX-License-Identifier: MIT */
/* What a function has left to do: its code, followed from an instruction on until it
 * returns. So it is known where its caller's registers are, without any table. */
#ifndef PPI_UNWIND_CODE_END_H
#define PPI_UNWIND_CODE_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ppi_end_kind {
	PPI_END_UNKNOWN,
	PPI_END_BY_STACK,  /* as the members say */
	PPI_END_BY_POINTER /* the frame pointer is the function's own */
};

/* A word that is none: the register has it, or nobody knows. */
enum { PPI_END_KEPT = 0xffff, PPI_END_LOST = 0xfffe, PPI_END_MOST = 0xfff0 };

/*
 * By the stack: the caller's stack pointer is `words` words up, the return address and
 * its frame pointer are words with the numbers `ra` and `fp` from there on where the
 * stack pointer is now. In `lost`, bit i is of machine->saved[i], which has another
 * value by then.
 */
struct ppi_code_end {
	uint16_t words, ra, fp;
	uint16_t lost : 12, kind : 2; /* enum ppi_end_kind */
};

/* Bytes to look at, before an address and from there on. */
enum { PPI_END_BEFORE = 1024, PPI_END_AFTER = 3072 };

/* From bytes[at], which lies at `address`; `follows_call`: a call returns there, if it
 * does. UNKNOWN of machines that are not known. */
struct ppi_code_end ppi_find_end(unsigned machine, const unsigned char *bytes,
                                 size_t at, size_t count, uint64_t address,
                                 bool follows_call);

/* ---- one machine's instructions ---- */

/* What a register has, by what the stack pointer and the frame pointer were where the
 * path begins. */
enum ppi_held_kind {
	PPI_HELD_OTHER,
	PPI_HELD_SP, /* the stack pointer and `offset` */
	PPI_HELD_FP,
	PPI_HELD_AT_SP, /* the word there */
	PPI_HELD_AT_FP,
	PPI_HELD_RA /* a register of return addresses, as it was */
};

struct ppi_held {
	enum ppi_held_kind kind;
	int32_t offset;
};

/* Words of a frame that stores may change, as one bit each. */
enum { PPI_PATH_WORDS = 256 };

/* The registers, and what the code has done to come there. */
struct ppi_path {
	uint64_t address; /* of the instruction */
	struct ppi_held sp, fp, ra;
	uint16_t lost;      /* as in struct ppi_code_end */
	bool has_called;    /* may have called what does not return */
	bool follows_call;  /* but for what fills up room */
	bool has_changed_pointers; /* the two words at the frame pointer */
	int32_t saved_fp, saved_ra; /* where the stack has them; 0: nowhere */
	uint64_t changed[PPI_PATH_WORDS / 64];
};

enum ppi_flow {
	PPI_FLOW_STOP, /* nobody knows what follows */
	PPI_FLOW_ON,
	PPI_FLOW_JUMP,
	PPI_FLOW_BRANCH, /* both */
	PPI_FLOW_RETURN
};

/* `jump` is from the instruction's first byte. */
struct ppi_step_of_code {
	enum ppi_flow flow;
	size_t length;
	int64_t jump;
};

struct ppi_step_of_code ppi_x86_follow(struct ppi_path *path,
                                       const unsigned char *code, size_t count);
struct ppi_step_of_code ppi_arm64_follow(struct ppi_path *path,
                                         const unsigned char *code,
                                         size_t count);

/* An address moves; a value that is none becomes OTHER. */
struct ppi_held ppi_held_plus(struct ppi_held held, int64_t by);
/* What is loaded from an address, and what becomes of one that is stored to. */
struct ppi_held ppi_path_load(const struct ppi_path *path, struct ppi_held from);
void ppi_path_store(struct ppi_path *path, struct ppi_held to,
                    struct ppi_held value);

/* Within entries of a PLT, of x86-64, behind a word or two that it has pushed for the
 * linker, no code returns: how many they are, or -1. */
int ppi_x86_plt_words(const unsigned char *bytes, size_t at, size_t count,
                      uint64_t address);

#endif
