/* SPDX-License-Identifier: MIT */
/* Limits that make a measurement smaller, coarser or impossible. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	RATE_FINE = 10000,   /* samples a second that should be possible */
	RING_KIB = 512,      /* what a ring of one CPU may grow to */
	THREADS_FINE = 64    /* threads that a small session can attach */
};

/*
 * A session on a running process opens an event for each thread on each CPU,
 * and a ring for each CPU; it takes no more than half of what is free.
 */
static void descriptors(struct ppi_doctor *doctor)
{
	uint64_t hard, soft = doctor->host->limit(doctor->host->self,
	                                          PPI_LIMIT_FILES, &hard);
	uint64_t cpus = doctor->host->cpus, threads;
	char remedy[160];

	if (soft == UINT64_MAX)
		return;
	threads = soft / 2 > cpus ? (soft / 2 - cpus) / cpus : 0;
	if (threads >= THREADS_FINE) {
		ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "descriptors",
		               PPI_WORKS, NULL, "%" PRIu64 " descriptors: "
		               "enough for programs of %" PRIu64 " threads at "
		               "once on %u CPUs, and for more with smaller "
		               "rings", soft, threads, doctor->host->cpus);
		return;
	}
	if (hard > soft)
		snprintf(remedy, sizeof(remedy), "ulimit -n %" PRIu64,
		         hard == UINT64_MAX ? UINT64_C(65536) : hard);
	else
		snprintf(remedy, sizeof(remedy), "the administrator raises "
		         "the limit: /etc/security/limits.conf, nofile");
	ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "descriptors", PPI_LIMITED,
	               remedy, "%" PRIu64 " descriptors: an event takes one "
	               "for each thread and CPU, so this is for programs of "
	               "%" PRIu64 " threads", soft, threads);
}

/* kernel/events/core.c, perf_mmap: the user's budget for all CPUs, and then
 * RLIMIT_MEMLOCK of the process. */
static void locked_memory(struct ppi_doctor *doctor)
{
	const struct ppi_doctor_host *host = doctor->host;
	const struct ppi_facts *facts = &doctor->facts;
	uint64_t hard, own = host->limit(host->self, PPI_LIMIT_LOCKED, &hard);
	int64_t per_cpu = ppi_doctor_number(
		host, "/proc/sys/kernel/perf_event_mlock_kb", -1);
	uint64_t kib, needed = (uint64_t)host->cpus * RING_KIB;
	char remedy[200];

	if (!host->has_perf || per_cpu < 0 || facts->wall != PPI_WALL_NONE)
		return;
	if (facts->can_lock || facts->paranoid == -1 || own == UINT64_MAX) {
		ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "ring-memory",
		               PPI_WORKS, NULL, "kernel buffers may be as "
		               "large as they need be");
		return;
	}
	kib = (uint64_t)per_cpu * host->cpus + own / 1024;
	snprintf(remedy, sizeof(remedy), "sudo sysctl "
	         "kernel.perf_event_mlock_kb=%d, or ulimit -l %" PRIu64,
	         RING_KIB + 4, needed + 4 * host->cpus);
	ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "ring-memory",
	               facts->answers[PPI_ASK_RING] != 0 ? PPI_FAILS
	               : kib < needed ? PPI_LIMITED
	                              : PPI_WORKS,
	               facts->answers[PPI_ASK_RING] || kib < needed ? remedy
	                                                            : NULL,
	               "%" PRIu64 " KiB for the kernel buffers of all this "
	               "user's sessions (%" PRId64 " for each CPU, and ulimit "
	               "-l)%s%s", kib, per_cpu,
	               kib < needed ? ": at high rates they are too small, "
	                              "and samples are lost"
	                            : "",
	               facts->answers[PPI_ASK_RING]
	               ? "; not even 128 KiB are free now" : "");
}

static void rate(struct ppi_doctor *doctor)
{
	const struct ppi_doctor_host *host = doctor->host;
	int64_t most = ppi_doctor_number(
		host, "/proc/sys/kernel/perf_event_max_sample_rate", -1);
	int64_t percent = ppi_doctor_number(
		host, "/proc/sys/kernel/perf_cpu_time_max_percent", -1);
	char remedy[160];

	if (most < 0 || !host->has_perf)
		return;
	if (most >= RATE_FINE) {
		ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "sample-rate",
		               PPI_WORKS, NULL, "up to %" PRId64 " samples a "
		               "second on each CPU", most);
		return;
	}
	snprintf(remedy, sizeof(remedy), "sudo sysctl %s"
	         "kernel.perf_event_max_sample_rate=100000",
	         percent > 0 && percent < 100
	         ? "kernel.perf_cpu_time_max_percent=0 " : "");
	ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "sample-rate", PPI_LIMITED,
	               remedy, "at most %" PRId64 " samples a second%s", most,
	               percent > 0 && percent < 100
	               ? ": the kernel lowers the limit by itself when "
	                 "sampling takes long" : "");
}

static void timers(struct ppi_doctor *doctor)
{
	uint64_t hard, soft = doctor->host->limit(doctor->host->self,
	                                          PPI_LIMIT_TIMERS, &hard);

	if (soft < THREADS_FINE)
		ppi_doctor_add(doctor, PPI_TOPIC_LIMITS, "timers", PPI_LIMITED,
		               "ulimit -i 1024, as far as the hard limit goes",
		               "%" PRIu64 " pending signals: the backend timer "
		               "takes one for each thread", soft);
}

void ppi_doctor_limits(struct ppi_doctor *doctor)
{
	descriptors(doctor);
	locked_memory(doctor);
	rate(doctor);
	timers(doctor);
}
