/* SPDX-License-Identifier: MIT */
/*
 * The kernel seam of the profil backend over a simulated kernel: a process
 * with a program, four functions, a library, a clock, and calls that fail
 * when they are told to.
 */
#ifndef PROFIL_SEAM_H
#define PROFIL_SEAM_H

#include "backends/profil/profil_kernel.h"
#include "backends/solaris/solaris_kernel.h"
#include "tests/sim/profil_run.h"

enum {
	PSEAM_TEXT = 0x400000, PSEAM_TEXT_END = 0x410000,
	PSEAM_FUNCTION = 0x401000, PSEAM_FUNCTION_BYTES = 0x200
};
#define PSEAM_LIBRARY UINT64_C(0x7f550a600000)
#define PSEAM_LIBRARY_END UINT64_C(0x7f550a620000)
#define PSEAM_HELPER UINT64_C(0x7f550a610000)

enum pseam_call {
	PSEAM_PROFIL, PSEAM_ACTION, PSEAM_TIMER, PSEAM_MAP, PSEAM_PROCESS_CPU,
	PSEAM_HELPER_CPU, PSEAM_PCSAMPLE, PSEAM_CALLS
};

struct pseam {
	struct psim sim;
	struct prun run;
	struct profil_kernel kernel;
	struct solaris_kernel solaris;
	unsigned rate_hz;          /* what the system tells; 0 = nothing */
	unsigned cpu_count;
	size_t maps;
	uint16_t application_bins[64]; /* where it has profil() itself */
	struct ppi_text texts[8];
	size_t text_count;
	int64_t pid;               /* 0 = the real one */
	uint64_t own_code;         /* where the helper's code lies */
	uint64_t reader;           /* that which reads bins; 0 = elsewhere, */
	bool lwps_lag;             /* a thread's time is as of its last switch */
	uint64_t reading_ns;       /* and what reading them takes */

	/* the nth next call of `fails` gives this errno, once */
	enum pseam_call fails;
	unsigned fails_in;
	int fails_with;
	bool has_failed;
};

void pseam_init(struct pseam *seam, const struct psim_os *os,
                enum profil_os backend_os);

/* The application calls profil() for itself, and still has it. */
void pseam_application_takes(struct pseam *seam);
bool pseam_is_applications(const struct pseam *seam);

/* How many things are held of the kernel, but for what the application has. */
size_t pseam_held(const struct pseam *seam);

/* Whether the call is to fail now; errno is set. For other seams, too. */
bool pseam_fails(struct pseam *seam, enum pseam_call call);
const char *pseam_call_name(enum pseam_call call);
/* The variant-th errno that a call can give; 0 when there are no more. */
int pseam_errno(enum pseam_call call, unsigned variant);

void pseam_function(unsigned function, uint64_t *start, uint64_t *end);

#endif
