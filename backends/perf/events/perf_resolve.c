/* SPDX-License-Identifier: MIT */
/*
 * What an event will really be on this kernel, for this user: levels and rates that
 * are permitted, and the kernel's numbers for its name.
 */

#include "backends/perf/events/perf_names.h"
#include "backends/perf/events/perf_place.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/events/perf_tables.h"
#include "backends/perf/kernel/perf_rate.h"
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/probe/perf_probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <linux/perf_event.h>

enum {
	PRECISE_MAX = 3,
	RATE_DEFAULT_HZ = 100
};

static portprof_status refuse_settings(const struct ppi_event *event,
                                       enum ppi_mode mode,
                                       struct ppi_diag *why)
{
	const struct ppi_event_request *request = &event->request;
	const struct perf_own *own = perf_own(event);

	if (own->asked.cpu >= 0 && mode == PPI_SAMPLE)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "event '%s', column %zu: "
		                "samples are of all CPUs; drop cpu=%d, or count "
		                "the event",
		                request->text,
		                ppi_perf_column_of(request, "cpu"),
		                own->asked.cpu);
	if (own->asked.precise && own->type == PERF_TYPE_SOFTWARE)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' is counted by the "
		                "kernel, not by a PMU: drop precise",
		                request->text);
	if (mode == PPI_SAMPLE && event->unit == PORTPROF_UNIT_NANOSECONDS &&
	    request->period && request->period < PERF_PERIOD_MIN_NS)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "'%s': a period of %llu ns is below the "
		                "kernel's limit of %d ns", request->text,
		                (unsigned long long)request->period,
		                PERF_PERIOD_MIN_NS);
	if (request->period >> 63)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "'%s': the period must be below 2^63",
		                request->text);
	return PORTPROF_OK;
}

/*
 * A rate of CPU time is a period: the kernel's own rate control would only do
 * the same division. Clamped to what the kernel allows for now, and to what
 * leaves the program three quarters of its CPU.
 */
static void set_rate(const struct perf_kernel *kernel, enum ppi_mode mode,
                     struct ppi_event *event)
{
	const struct ppi_event_request *request = &event->request;
	bool is_clock = event->unit == PORTPROF_UNIT_NANOSECONDS;
	uint64_t rate = request->rate_hz ? request->rate_hz : RATE_DEFAULT_HZ;
	uint64_t most;

	event->period = 0;
	event->rate_hz = 0;
	if (mode == PPI_COUNT)
		return;
	most = ppi_perf_rate_allowed_hz(kernel);
	rate = rate < most ? rate : most;
	if (request->period)
		event->period = request->period;
	else if (is_clock)
		event->period = ppi_perf_rate_period(kernel, rate);
	else
		event->rate_hz = rate;
	if (is_clock && !request->skip_open_check)
		event->period = ppi_perf_rate_grant(kernel, event->period);
}

/* The kernel looks at a probe's instruction when it sets the probe in a process
 * that maps it (kernel/events/uprobes.c, prepare_uprobe). Where the first to do so
 * is a program that begins, nobody hears that it cannot, and no hit is counted; so
 * this process maps it for a moment. NULL: it cannot be. */
static void *map_probe(const struct perf_kernel *kernel,
                       const struct ppi_event *event, size_t bytes)
{
	uint64_t at = perf_own(event)->config[2];
	void *page;

	return perf_own(event)->has_path &&
	       kernel->map_file(kernel->self, event->request.name,
	                        at - at % bytes, bytes, &page) == 0
	       ? page : NULL;
}

static int try_open(const struct perf_kernel *kernel,
                    const struct ppi_event *event)
{
	size_t bytes = kernel->get_page_bytes(kernel->self);
	void *page = map_probe(kernel, event, bytes);
	struct perf_event_attr attr;
	int cpu = -1, fd;

	ppi_perf_attr_trial(event, &attr);
	if (perf_own(event)->is_package)
		cpu = ppi_perf_package_cpu(kernel, event->pmu);
	fd = ppi_perf_open_attr(kernel, &attr, cpu < 0 ? 0 : -1, cpu, -1);
	if (page)
		kernel->unmap(kernel->self, page, bytes);
	if (fd < 0)
		return -fd;
	kernel->close_event(kernel->self, fd, PERF_FRESH);
	return 0;
}

/* cpu-clock of one mode, and task-clock of kernel mode: see
 * perf_is_period_weighted. "task-clock:u" keeps the whole time. */
static bool is_one_mode(const struct ppi_event *event)
{
	if (!event->request.has_modes)
		return false;
	return !event->counts_user ||
	       (!event->counts_kernel &&
	        perf_own(event)->config[0] == PERF_COUNT_SW_CPU_CLOCK);
}

/* linux/perf_event.h of 5.13 */
enum { SW_CGROUP_SWITCHES = 11 };

/*
 * The scheduler reports these with its own registers (kernel/events/core.c,
 * perf_event_task_sched_out, perf_event_task_migrate), and perf_exclude_event
 * drops what comes from kernel mode: in user mode alone they are 0 whatever
 * happens. So are tracepoints (perf_tp_event_match).
 */
static bool is_of_kernel_mode(const struct ppi_event *event)
{
	return perf_own(event)->type == PERF_TYPE_TRACEPOINT ||
	       (perf_own(event)->type == PERF_TYPE_SOFTWARE &&
	       (perf_own(event)->config[0] == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	        perf_own(event)->config[0] == PERF_COUNT_SW_CPU_MIGRATIONS ||
	        perf_own(event)->config[0] == SW_CGROUP_SWITCHES));
}

/* `os_error` is EACCES when user mode is all that is permitted, 0 when it is
 * all that was asked for. */
static portprof_status refuse_user_mode(const struct perf_kernel *kernel,
                                        const struct ppi_event *event,
                                        int os_error, struct ppi_diag *why)
{
	char rights[320];

	if (os_error == 0)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "resolve event", "'%s' would always be 0: it "
		                "happens in kernel mode; drop :u",
		                event->request.text);
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, os_error,
	                "resolve event", "'%s' happens in kernel mode, which "
	                "is not permitted: %s", event->request.text,
	                ppi_perf_say_paranoid(kernel, 1, rights,
	                                      sizeof(rights)));
}

static void add_words(struct ppi_event *event, const char *words)
{
	size_t used = strlen(event->description);

	snprintf(event->description + used, sizeof(event->description) - used,
	         "%s", words);
}

static void leave_kernel_out(struct ppi_event *event)
{
	const char *both = ppi_perf_say_levels(event);
	char *at = strstr(event->description, both);
	char rest[sizeof(event->description)];

	event->counts_kernel = false;
	if (!at)
		return;
	snprintf(rest, sizeof(rest), "%s", at + strlen(both));
	*at = '\0';
	add_words(event, "in user mode only (kernel mode is not permitted)");
	add_words(event, rest);
}

/* Why it may not be opened: what speaks against every event goes before what
 * would speak against this one. */
static portprof_status refuse_event(const struct perf_kernel *kernel,
                                    const struct ppi_event *event, int error,
                                    struct ppi_diag *why)
{
	struct ppi_probe probe = { .is_usable = true };

	if (error == EPERM || error == EACCES || error == ENOSYS)
		ppi_perf_probe_ladder(kernel, &probe);
	if (probe.is_usable)
		return ppi_perf_refuse_open(kernel, event, error, why);
	return ppi_fail(why, probe.status, error, "open event", "'%s': %s",
	                event->request.text, probe.reason);
}

/* A name of the tables, or of the system's own files. */
static portprof_status find_event(const struct perf_kernel *kernel,
                                  const struct perf_request *request,
                                  enum ppi_mode mode, struct ppi_event *event,
                                  struct ppi_diag *why)
{
	portprof_status status, other;
	struct ppi_diag other_why;
	bool is_there;

	if (ppi_perf_place_is_name(request->core.name))
		return ppi_perf_place_resolve(kernel, request, mode, event,
		                              why);
	status = ppi_perf_resolve(request, mode, event, why);
	if (status != PORTPROF_E_NOTFOUND && status != PORTPROF_E_UNSUPPORTED)
		return status;
	other = ppi_perf_sysfs_resolve(kernel, request, mode, event, &is_there,
	                               &other_why);
	if (other != PORTPROF_OK && !is_there)
		return status;
	if (other != PORTPROF_OK)
		*why = other_why;
	return other;
}

/* Opening as the user asked; or, of what was not asked for, without what is
 * not permitted, and without what this PMU cannot do. */
static int find_modes(const struct perf_kernel *kernel,
                      struct ppi_event *event)
{
	const struct ppi_event_request *request = &event->request;
	struct perf_own *own = perf_own_of(event);
	int error = try_open(kernel, event);

	/* a PMU that cannot leave anything out (PERF_PMU_CAP_NO_EXCLUDE)
	 * must not be asked to */
	if (error == EINVAL && own->type >= PERF_TYPE_MAX &&
	    !request->has_modes && !own->asked.has_guest_host) {
		event->counts_hypervisor = true;
		own->asked.exclude_guest = false;
		error = try_open(kernel, event);
	}
	if (error == EACCES && !request->has_modes && event->counts_kernel) {
		struct ppi_event in_user_mode = *event;
		int second;

		leave_kernel_out(&in_user_mode);
		second = try_open(kernel, &in_user_mode);
		if (second == EINVAL)
			return error;
		*event = in_user_mode;
		return second;
	}
	return error;
}

/* Whether the levels or worlds that were asked for are all that is wrong. */
static bool opens_with_all_modes(const struct perf_kernel *kernel,
                                 const struct ppi_event *event)
{
	struct ppi_event all = *event;
	struct perf_asked *asked = &perf_own_of(&all)->asked;

	all.counts_user = all.counts_kernel = all.counts_hypervisor = true;
	asked->exclude_guest = asked->exclude_host = false;
	all.period = all.rate_hz = 0;
	return try_open(kernel, &all) == 0;
}

static portprof_status refuse_modes(const struct ppi_event *event,
                                    struct ppi_diag *why)
{
	const struct ppi_event_request *request = &event->request;
	const struct perf_asked *asked = &perf_own(event)->asked;
	const char *part = request->user            ? "u" :
	                   request->kernel          ? "k" :
	                   request->hypervisor      ? "h" :
	                   !asked->exclude_guest    ? "mg" :
	                                              "mh";

	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, EINVAL, "open event",
	                "event '%s', column %zu: drop '%s': PMU %s counts in "
	                "every mode and cannot separate them",
	                request->text, ppi_perf_column_of(request, part), part,
	                event->pmu);
}

/* A clock samples one mode, but counts both, whatever is excluded
 * (kernel/events/core.c, task_clock_event_read, cpu_clock_event_read). */
static bool is_clock_of_one_mode(const struct ppi_event *event)
{
	return event->is_cpu_time && event->request.has_modes &&
	       event->counts_user != event->counts_kernel;
}

static portprof_status refuse_clock_mode(const struct ppi_event *event,
                                         struct ppi_diag *why)
{
	return ppi_because(
		why, PORTPROF_REASON_BACKEND_LIMIT,
		ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
	                 "event '%s': this clock counts user and kernel time "
	                 "together, whatever modes are asked; drop them (stat "
	                 "prints user and sys of a command below), or sample "
	                 "with record", event->request.text));
}

static portprof_status resolve(const struct perf_kernel *kernel,
                               const struct perf_request *request,
                               enum ppi_mode mode, struct ppi_event *event,
                               struct ppi_diag *why)
{
	struct ppi_event found;
	portprof_status status = find_event(kernel, request, mode, &found,
	                                    why);
	int error;

	if (status == PORTPROF_OK)
		status = refuse_settings(&found, mode, why);
	if (status != PORTPROF_OK)
		return status;
	set_rate(kernel, mode, &found);
	if (is_of_kernel_mode(&found) && !found.counts_kernel)
		return refuse_user_mode(kernel, &found, 0, why);
	error = request->core.skip_open_check ? 0 : find_modes(kernel, &found);
	if (error == 0 && is_of_kernel_mode(&found) && !found.counts_kernel)
		return refuse_user_mode(kernel, &found, EACCES, why);
	if (error == EINVAL && found.pmu[0] &&
	    (request->core.has_modes || request->asked.has_guest_host) &&
	    opens_with_all_modes(kernel, &found))
		return refuse_modes(&found, why);
	if (error != 0)
		return refuse_event(kernel, &found, error, why);
	if (!request->core.skip_open_check)
		status = ppi_perf_tracepoint_check_filter(kernel, &found, why);
	if (status != PORTPROF_OK)
		return status;
	if (mode == PPI_COUNT && is_clock_of_one_mode(&found))
		return refuse_clock_mode(&found, why);
	if (found.is_cpu_time && is_one_mode(&found)) {
		found.is_cpu_time = false;
		if (mode == PPI_SAMPLE)
			add_words(&found, ", a period for each sample");
	}
	ppi_perf_encode(&found);
	*event = found;
	return PORTPROF_OK;
}

/* PMUs that cannot refuse it (EOPNOTSUPP: arch/x86/events/core.c,
 * x86_pmu_hw_config), and so does libpfm4 for what no level belongs to. */
portprof_status ppi_perf_resolve_event(const struct perf_kernel *kernel,
                                       const struct ppi_event_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why)
{
	struct perf_request asked;
	portprof_status status = ppi_perf_request_read(request, &asked, why);

	if (status == PORTPROF_OK)
		status = resolve(kernel, &asked, mode, event, why);
	if (status != PORTPROF_OK || !asked.asked.wants_max_precision ||
	    request->skip_open_check ||
	    perf_own(event)->type == PERF_TYPE_SOFTWARE)
		return status;
	for (asked.asked.precise = PRECISE_MAX; asked.asked.precise > 0;
	     asked.asked.precise--) {
		struct ppi_event found;
		struct ppi_diag unused;

		if (resolve(kernel, &asked, mode, &found, &unused) ==
		    PORTPROF_OK) {
			*event = found;
			break;
		}
	}
	return PORTPROF_OK;
}

/* ---- names: the kernel's generic events first, then libpfm4's tables ---- */

/* The part of libpfm4's spelling that differs from `part` in case only. */
static const char *official(const char *spelling, const char *part,
                            size_t length)
{
	while (*spelling) {
		size_t here = strcspn(spelling, ":");

		if (here == length && strncasecmp(spelling, part, here) == 0)
			return spelling;
		spelling += here;
		spelling += strspn(spelling, ":");
	}
	return NULL;
}

/* The user's name in libpfm4's letters. An event may stand for another one,
 * so parts are looked up, never replaced by others. */
static void spell(char *name, const char *spelling)
{
	while (*name) {
		size_t length = strcspn(name, ":");
		const char *better = official(spelling, name, length);
		bool has_value = memchr(name, '=', length) != NULL;

		if (better)
			memcpy(name, better, length);
		for (size_t i = 0; has_value && i < length; i++)
			name[i] = (char)tolower((unsigned char)name[i]);
		name += length;
		name += strspn(name, ":");
	}
}

/* PMU and event by name, so that it means the same where another PMU has an
 * event of that name too. */
static void name_event(const struct ppi_table_answer *answer,
                       const char *given, char *name, size_t bytes)
{
	size_t used = strlen(answer->pmu);

	name[0] = '\0';
	if (!strstr(given, "::") && used + strlen(given) + 3 <= bytes)
		snprintf(name, bytes, "%s::", answer->pmu);
	used = strlen(name);
	snprintf(name + used, bytes - used, "%s", given);
	spell(name, answer->spelling);
}

static portprof_status take_generic(const struct ppi_perf_name *generic,
                                    enum ppi_mode mode,
                                    struct ppi_event *event,
                                    struct ppi_diag *why)
{
	portprof_status status = ppi_perf_name_fill(generic, event, why);

	return status ? status :
	                ppi_perf_event_finish(event, mode, generic->name,
	                                      generic->means, why);
}

static portprof_status take_answer(const struct ppi_table_answer *answer,
                                   enum ppi_mode mode, struct ppi_event *event,
                                   struct ppi_diag *why)
{
	char name[sizeof(event->request.name)], means[256];
	struct ppi_perf_name generic;
	bool is_generic = ppi_perf_name_of(answer->type, answer->config[0],
	                                   &generic);

	/* libpfm4's long names, perf::PERF_COUNT_SW_...: the same event, whose
	 * levels it would fill in as those of a PMU */
	if (is_generic && generic.is_software) {
		perf_own_of(event)->asked.precise = answer->precise;
		return take_generic(&generic, mode, event, why);
	}
	perf_own_of(event)->type = answer->type;
	memcpy(perf_own_of(event)->config, answer->config,
	       sizeof(answer->config));
	perf_own_of(event)->precise = answer->precise;
	event->counts_user = !answer->exclude_user;
	event->counts_kernel = !answer->exclude_kernel;
	event->counts_hypervisor = !answer->exclude_hypervisor;
	perf_own_of(event)->asked.exclude_guest = answer->exclude_guest;
	perf_own_of(event)->asked.exclude_host = answer->exclude_host;
	if (is_generic)
		return ppi_perf_event_finish(event, mode, generic.name,
		                             generic.means, why);
	snprintf(event->pmu, sizeof(event->pmu), "%s", answer->pmu);
	name_event(answer, event->request.name, name, sizeof(name));
	snprintf(means, sizeof(means), "%s (%s)", answer->means,
	         answer->pmu_means);
	return ppi_perf_event_finish(event, mode, name, means, why);
}

/* Generic names mean the kernel's generic events, also where a PMU has an
 * event of that name: libpfm4 is asked for them by PMU. */
static portprof_status resolve_by_tables(
	const struct perf_request *request,
	const struct ppi_perf_name *generic, enum ppi_mode mode,
	struct ppi_event *event, struct ppi_diag *why)
{
	struct perf_request asked = *request;
	struct ppi_table_answer answer;
	enum ppi_table_verdict verdict;
	char string[320]; /* the text, and the letters of a PMU before it */

	if (generic)
		snprintf(asked.core.name, sizeof(asked.core.name), "%s::%s",
		         generic->pmu, generic->name);
	if (!ppi_perf_request_format(&asked.core, &asked.asked, asked.core.name,
	                             string, sizeof(string)))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "resolve event",
		                "event '%s' is too long", request->core.text);
	verdict = ppi_table_encode(string, &answer);
	if (verdict == PPI_TABLE_OK)
		return take_answer(&answer, mode, event, why);
	if (generic && (verdict == PPI_TABLE_NO_EVENT ||
	                verdict == PPI_TABLE_NOT_HERE))
		return take_generic(generic, mode, event, why);
	return ppi_table_refuse(&asked, verdict, why);
}

portprof_status ppi_perf_resolve(const struct perf_request *request,
                                 enum ppi_mode mode, struct ppi_event *event,
                                 struct ppi_diag *why)
{
	struct ppi_event draft = ppi_perf_request_event(request);
	struct ppi_perf_name generic;
	bool is_generic = ppi_perf_name_find(request->core.name, &generic);
	portprof_status status;

	/* libpfm4 reads every tracepoint of the kernel when it wakes up, where
	 * it may: nobody should wait for that who wants CPU time */
	if (is_generic && generic.is_software)
		status = take_generic(&generic, mode, &draft, why);
	else
		status = resolve_by_tables(request,
		                           is_generic ? &generic : NULL, mode,
		                           &draft, why);
	if (status == PORTPROF_OK)
		*event = draft;
	return status;
}
