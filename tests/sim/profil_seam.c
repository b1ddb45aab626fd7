/* SPDX-License-Identifier: MIT */
/* The seam of the profil backend over a simulated kernel. */
#include "tests/sim/profil_seam.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
	const char *name;
	int errors[3];
} calls[PSEAM_CALLS] = {
	/* a kernel of another version, a security module */
	[PSEAM_PROFIL] = { "profil", { EPERM, ENOSYS } },
	[PSEAM_ACTION] = { "sigaction", { EINVAL } },
	[PSEAM_TIMER] = { "setitimer", { EINVAL, EFAULT } },
	[PSEAM_MAP] = { "mmap", { ENOMEM, EAGAIN } },
	[PSEAM_PROCESS_CPU] = { "getrusage", { EINVAL } },
	[PSEAM_HELPER_CPU] = { "clock_gettime", { ESRCH } },
	[PSEAM_PCSAMPLE] = { "pcsample", { EINVAL, ENOSYS } },
};

const char *pseam_call_name(enum pseam_call call)
{
	return calls[call].name;
}

int pseam_errno(enum pseam_call call, unsigned variant)
{
	return variant < 3 ? calls[call].errors[variant] : 0;
}

bool pseam_fails(struct pseam *seam, enum pseam_call call)
{
	if (seam->fails != call || seam->fails_in == 0 ||
	    --seam->fails_in > 0)
		return false;
	seam->has_failed = true;
	errno = seam->fails_with;
	return true;
}

/* ---- the calls ---- */

static int seam_profil(void *self, uint16_t *bins, size_t bytes,
                       uint64_t offset, unsigned scale)
{
	struct pseam *seam = self;

	int result;

	if (pseam_fails(seam, PSEAM_PROFIL))
		return -1;
	result = psim_profil(&seam->sim, bins, bytes, offset, scale);
	/* the helper has set a buffer, and reads the other */
	if (seam->reading_ns && seam->run.crowd)
		prun_helper_works(&seam->run, &(struct prun_work){
			PRUN_HELPER, seam->reader, seam->reader + 64,
			seam->reading_ns, 0 });
	return result;
}

static unsigned seam_rate_hz(void *self)
{
	return ((struct pseam *)self)->rate_hz;
}

static int seam_is_profiling(void *self)
{
	struct pseam *seam = self;

	if (seam->sim.os->pending == PSIM_SIGNAL)
		return -1;
	return seam->sim.is_on;
}

static void handle_profil(int signo)
{
	(void)signo;
}

static void handle_application(int signo)
{
	(void)signo;
}

static enum psim_action action_of(const struct sigaction *action)
{
	if (action->sa_handler == SIG_DFL)
		return PSIM_DEFAULT;
	if (action->sa_handler == SIG_IGN)
		return PSIM_IGNORED;
	return action->sa_handler == handle_profil ? PSIM_PROFIL :
	                                             PSIM_APPLICATION;
}

static int seam_action(void *self, const struct sigaction *next,
                       struct sigaction *before)
{
	static void (*const handlers[])(int) = {
		[PSIM_DEFAULT] = SIG_DFL,
		[PSIM_IGNORED] = SIG_IGN,
		[PSIM_PROFIL] = handle_profil,
		[PSIM_APPLICATION] = handle_application,
	};
	struct pseam *seam = self;

	if (pseam_fails(seam, PSEAM_ACTION))
		return -1;
	if (before) {
		memset(before, 0, sizeof(*before));
		before->sa_handler = handlers[seam->sim.action];
	}
	if (next)
		psim_set_action(&seam->sim, action_of(next));
	return 0;
}

static int seam_timer(void *self, const struct itimerval *next,
                      struct itimerval *before)
{
	struct pseam *seam = self;

	if (pseam_fails(seam, PSEAM_TIMER))
		return -1;
	if (before) {
		memset(before, 0, sizeof(*before));
		before->it_value.tv_usec =
			(int)(seam->sim.timer_every_ns / 1000);
	}
	if (next)
		psim_set_timer(&seam->sim,
		               (uint64_t)next->it_value.tv_usec * 1000);
	return 0;
}

static uint64_t seam_now_ns(void *self)
{
	return ((struct pseam *)self)->run.now_ns;
}

static uint64_t in_ticks(uint64_t ns, unsigned hz)
{
	uint64_t tick_ns = 1000000000u / hz;

	return ns / tick_ns * tick_ns;
}

static uint64_t process_by_clock(const struct pseam *seam)
{
	const struct psim *sim = &seam->sim;

	switch (sim->os->clocks) {
	case PSIM_CLOCKS_NETBSD: /* ticks of one clock, taken for another's */
		return in_ticks(sim->process_cpu_ns, sim->stat_hz) *
		       sim->stat_hz / sim->hz;
	case PSIM_CLOCKS_DRAGONFLY:
		return sim->timer_every_ns;
	default:
		return sim->process_cpu_ns;
	}
}

/* The helper has run or slept since its sums were set to 0. */
static uint64_t helper_by_clock(const struct pseam *seam)
{
	if (seam->sim.os->clocks == PSIM_CLOCKS_NETBSD)
		return in_ticks(seam->run.now_ns % 1000000000u, seam->sim.hz);
	return seam->run.helper_cpu_ns;
}

static int seam_cpu(void *self, enum ppi_cpu_source source, int64_t whose,
                    uint64_t *ns)
{
	struct pseam *seam = self;
	bool is_process = whose == PPI_CPU_PROCESS;
	bool is_clock = source == PPI_CPU_CLOCK;

	if (pseam_fails(seam, is_process ? PSEAM_PROCESS_CPU :
	                                   PSEAM_HELPER_CPU))
		return -1;
	if (is_process)
		*ns = is_clock ? process_by_clock(seam) :
		                 seam->sim.process_cpu_ns;
	else
		*ns = is_clock ? helper_by_clock(seam) :
		      seam->lwps_lag ? seam->run.helper_slept_ns :
		                       seam->run.helper_cpu_ns;
	return 0;
}

static unsigned seam_cpu_count(void *self)
{
	return ((struct pseam *)self)->cpu_count;
}

static int64_t seam_process_id(void *self)
{
	struct pseam *seam = self;

	return seam->pid ? seam->pid : getpid();
}

static void *seam_map(void *self, size_t bytes)
{
	struct pseam *seam = self;
	void *pages;

	if (pseam_fails(seam, PSEAM_MAP))
		return NULL;
	pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	seam->maps++;
	return pages;
}

static void seam_unmap(void *self, void *pages, size_t bytes)
{
	((struct pseam *)self)->maps--;
	munmap(pages, bytes);
}

static size_t seam_text(void *self, struct ppi_text *out, size_t room)
{
	struct pseam *seam = self;

	for (size_t i = 0; i < seam->text_count && i < room; i++)
		out[i] = seam->texts[i];
	return seam->text_count;
}

static void seam_burn(void *self, uint64_t ns)
{
	struct pseam *seam = self;
	void (*every)(void *) = seam->run.every;
	struct prun_work work = {
		.thread = PRUN_HELPER, .start = seam->own_code,
		.end = seam->own_code + 64, .cpu_ns = ns,
	};

	seam->run.every = NULL;
	prun_works(&seam->run, &work, 1);
	seam->run.every = every;
}

static void seam_burn_range(void *self, struct ppi_text *out)
{
	const struct pseam *seam = self;

	out->start = seam->own_code;
	out->end = seam->own_code + 64;
}

static void seam_reader_range(void *self, struct ppi_text *out)
{
	const struct pseam *seam = self;

	out->start = seam->reader ? seam->reader : PSEAM_HELPER;
	out->end = out->start + 64;
}

/* ---- what Solaris has of its own ---- */

static void solaris_profil(void *self, uint16_t *bins, size_t bytes,
                           uint64_t offset, unsigned scale)
{
	psim_profil(&((struct pseam *)self)->sim, bins, bytes, offset, scale);
}

static long solaris_pcsample(void *self, void *samples, long room)
{
	struct pseam *seam = self;

	if (pseam_fails(seam, PSEAM_PCSAMPLE))
		return -1;
	return psim_pcsample(&seam->sim, samples, room);
}

static unsigned solaris_pc_bytes(void *self)
{
	return ((struct pseam *)self)->sim.pointer_bits / 8;
}

static uint64_t solaris_own_code(void *self)
{
	return ((struct pseam *)self)->own_code;
}

static const struct solaris_kernel simulated_solaris = {
	.profil = solaris_profil,
	.pcsample = solaris_pcsample,
	.pc_bytes = solaris_pc_bytes,
	.rate_hz = seam_rate_hz,
	.now_ns = seam_now_ns,
	.cpu = seam_cpu,
	.cpu_count = seam_cpu_count,
	.process_id = seam_process_id,
	.map = seam_map,
	.unmap = seam_unmap,
	.text = seam_text,
	.own_code = solaris_own_code,
};

static const struct profil_kernel simulated = {
	.profil = seam_profil,
	.rate_hz = seam_rate_hz,
	.is_profiling = seam_is_profiling,
	.action = seam_action,
	.timer = seam_timer,
	.now_ns = seam_now_ns,
	.cpu = seam_cpu,
	.cpu_count = seam_cpu_count,
	.process_id = seam_process_id,
	.map = seam_map,
	.unmap = seam_unmap,
	.text = seam_text,
	.burn = seam_burn,
	.burn_range = seam_burn_range,
	.reader_range = seam_reader_range,
};

void pseam_init(struct pseam *seam, const struct psim_os *os,
                enum profil_os backend_os)
{
	psim_free(&seam->sim);
	memset(seam, 0, sizeof(*seam));
	psim_init(&seam->sim, os);
	prun_init(&seam->run, &seam->sim, 1);
	seam->kernel = simulated;
	seam->kernel.os = backend_os;
	seam->kernel.self = seam;
	seam->solaris = simulated_solaris;
	seam->solaris.self = seam;
	seam->rate_hz = seam->sim.prof_hz;
	seam->cpu_count = PSIM_THREADS; /* profil_run.c: one a thread */
	seam->texts[0] = (struct ppi_text){ PSEAM_TEXT, PSEAM_TEXT_END };
	seam->texts[1] = (struct ppi_text){ PSEAM_LIBRARY,
		                               PSEAM_LIBRARY_END };
	seam->text_count = 2;
	seam->own_code = PSEAM_HELPER;
}

bool pseam_is_applications(const struct pseam *seam)
{
	return seam->sim.is_on &&
	       seam->sim.base == (uintptr_t)seam->application_bins;
}

void pseam_application_takes(struct pseam *seam)
{
	psim_profil(&seam->sim, seam->application_bins,
	            sizeof(seam->application_bins), PSEAM_FUNCTION, 65536);
}

size_t pseam_held(const struct pseam *seam)
{
	return seam->maps +
	       (seam->sim.is_on && !pseam_is_applications(seam)) +
	       (seam->sim.timer_every_ns != 0) +
	       (seam->sim.action != PSIM_DEFAULT);
}

void pseam_function(unsigned function, uint64_t *start, uint64_t *end)
{
	*start = PSEAM_FUNCTION + (uint64_t)function * 0x1000;
	*end = *start + PSEAM_FUNCTION_BYTES;
}
