/* SPDX-License-Identifier: MIT */
/*
 * The object that LD_PRELOAD brings into a program: profiles each of its
 * processes into a file, as $PORTPROF says, and is otherwise not there.
 *
 * It writes to no stream of the program but one line to stderr when it cannot
 * profile; the program then runs on as if nothing had happened.
 *
 * A process of one thread has no helper: one that has a helper waits at its end
 * until that thread has had a CPU again, which costs a short program more than all
 * else. Its area says that it is alone: the recorder waits for no place, looks for
 * code itself when a sample is in none that it knows, and takes what the samples
 * weigh for the account. What needs more begins the helper
 * (ppi_preload_need_helper): a second thread, dlclose, labels. The session tells
 * what there is at its end as any other.
 *
 *   settings.c  $PORTPROF, and gperftools' variables
 *   signals.c   handlers and the profiling timer, which both sides want
 *   masks.c     masks, and waiting for signals
 *   calls.c     the end of a process, threads, raw system calls
 *   late.c      libraries that are loaded when a file is to be written
 *
 * The wrappers of fork, exec and what minds threads are in compat/exec/.
 */
#include "config.h"

#include "tools/preload/preload.h"

#include <portprof.h>
#include <portprof/tool.h>

#include "api/core/helper.h"
#include "base/clock_ns.h"
#include "base/fork_guard.h"
#include "base/signals.h"
#include "base/text.h"
#include "tools/preload/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the signal that starts and stops the session ---- */

/*
 * The handler counts signals, wakes the helper thread where a handler can, and
 * does nothing else: what a session does to start and stop is nothing for a
 * handler. The thread, which ends for calls that mind threads and with the
 * program's last one, also looks at the count now and then.
 */

/* A wait that a user does not notice; ten looks a second cost nothing that
 * could be measured. */
enum { LOOK_MS = 100 };

static struct {
	int number;
	bool (*toggle)(void);
	void (*lost)(void);
	_Atomic pid_t owner; /* a vfork child shares our memory */
	_Atomic unsigned asked;
	unsigned done;
	struct ppi_helper_task task;
} toggling;

static void ask(void)
{
	atomic_fetch_add(&toggling.asked, 1);
	ppi_helper_wish(&toggling.task);
}

/* Reaches getpid() and sem_post() only. */
static void count(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	if (getpid() == atomic_load(&toggling.owner))
		ask();
}

static unsigned look(struct ppi_helper_task *task)
{
	(void)task;
	while (toggling.done != atomic_load(&toggling.asked) &&
	       toggling.toggle())
		toggling.done++;
	if (toggling.lost && ppi_signal_is_given_up(toggling.number)) {
		toggling.lost();
		toggling.lost = NULL;
	}
	return LOOK_MS;
}

static int take_signal(void)
{
	struct sigaction ours = { .sa_sigaction = count,
		                  .sa_flags = SA_SIGINFO | SA_RESTART |
		                              SA_ONSTACK };

	sigfillset(&ours.sa_mask);
	atomic_store(&toggling.owner, getpid());
	return sigaction(toggling.number, &ours, NULL);
}

static bool start_thread(struct ppi_diag *why)
{
	ppi_process_handle_forks();
	if (ppi_helper_take(why) != PORTPROF_OK)
		return false;
	toggling.task = (struct ppi_helper_task){ .run = look };
	ppi_helper_add(&toggling.task);
	return true;
}

/* Why the program or our sampling needs the signal; NULL: nobody does. */
static const char *find_user(int number)
{
	struct sigaction now;

	if (ppi_signal_unusable(number))
		return ppi_signal_unusable(number);
	if (number == SIGPROF)
		return "belongs to the itimer backend";
	if (sigaction(number, NULL, &now) != 0)
		return "cannot be caught";
	if ((now.sa_flags & SA_SIGINFO) ||
	    (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN))
		return "already has a handler of the program";
	return NULL;
}

/*
 * Put a handler on the signal that `value` names, and call `toggle` for each
 * that comes, soon and in the library's helper thread; again later when it
 * answers false, for that thread must not wait for others. False when it cannot
 * be had: `words` say why, and nothing has changed. `lost` is called in that
 * thread when the program has put a handler of its own there, which is obeyed
 * from then on. Once a process.
 */
static bool begin_toggling(const char *value, bool (*toggle)(void),
                           void (*lost)(void), char *words, unsigned bytes)
{
	int number = ppi_signal_number(value, strlen(value));
	const char *reason = number ? find_user(number) : NULL;
	struct ppi_diag why;

	if (!number) {
		snprintf(words, bytes, "there is no signal '%s' here; write a "
		         "number or a name, as in 12, USR2 or RTMIN+3", value);
		return false;
	}
	if (reason) {
		snprintf(words, bytes, "signal '%s' %s; name another, such as "
		         "USR2 or RTMIN+3", value, reason);
		return false;
	}
	toggling.number = number;
	toggling.toggle = toggle;
	toggling.lost = lost;
	if (!start_thread(&why)) {
		snprintf(words, bytes, "%s", why.words);
		return false;
	}
	/* nothing is lost of what comes from now on */
	take_signal();
	ppi_signal_give_up_on_wish(number);
	return true;
}

/* In a forked child, where neither the thread nor the handler is left. */
static void begin_toggling_again(void)
{
	struct ppi_diag unused;

	if (!toggling.lost)
		return;
	atomic_store(&toggling.asked, 0);
	toggling.done = 0;
	if (start_thread(&unused))
		take_signal();
}

/* ---- the session ---- */

#define DEFAULT_OUTPUT "portprof.pb.gz"

/* The one session of this process. `owner` is whose it is: a vfork child has
 * the same memory and another number. */
static struct {
	struct ppi_preload_settings settings;
	portprof_session *session;
	pid_t owner;

	bool is_heir; /* not the first process, or not its first program */
	bool is_light; /* samples are left by the parent's session */
	bool is_due;  /* a forked child that is to be profiled, and is not */
	/* ---- where a signal starts and stops it ---- */
	bool is_toggled;
	unsigned file_count;     /* of sessions so far */
	pthread_mutex_t lock;    /* of those who start, stop or flush it */
	atomic_bool is_stopping; /* in the helper thread */
	bool is_over;            /* the process ends */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * To where nobody reads any more, or past a limit of file sizes, a write sends
 * the thread a signal that would end the program: it is taken away again,
 * unless one was waiting before.
 */
static void write_gently(const char *line, size_t length)
{
	static const int deadly[] = { SIGPIPE, SIGXFSZ };
	sigset_t set, mask, waiting;
	int number;

	sigemptyset(&set);
	for (int i = 0; i < 2; i++)
		sigaddset(&set, deadly[i]);
	pthread_sigmask(SIG_BLOCK, &set, &mask);
	sigpending(&waiting);
	for (int i = 0; i < 2; i++)
		if (sigismember(&waiting, deadly[i]))
			sigdelset(&set, deadly[i]);
	if (write(2, line, length) < 0 && (errno == EPIPE || errno == EFBIG)) {
		sigpending(&waiting);
		for (int i = 0; i < 2; i++)
			if (!sigismember(&waiting, deadly[i]))
				sigdelset(&set, deadly[i]);
		if (sigismember(&set, SIGPIPE) || sigismember(&set, SIGXFSZ))
			sigwait(&set, &number);
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void say(const char *what, const char *words)
{
	char line[1100];
	int length = snprintf(line, sizeof(line), "portprof: %s: %s\n", what,
	                      words);

	if (length > (int)sizeof(line) - 1)
		length = (int)sizeof(line) - 1;
	if (length > 0)
		write_gently(line, (size_t)length);
}

static void say_not(const char *words)
{
	say("this process is not profiled", words);
}

static void say_failure(void)
{
	say_not(portprof_last_diag()->words);
}

static uint64_t time_of(const portprof_config *config, const char *key)
{
	char value[32];

	if (portprof_config_get(config, key, 0, value, sizeof(value)))
		return 0;
	return strtoull(value, NULL, 10);
}

/*
 * Times count from the start of the first process, not of each. False when
 * the time is up already: then this process is not measured.
 */
static bool shift_times(portprof_config *config)
{
	uint64_t delay = time_of(config, "delay");
	uint64_t duration = time_of(config, "duration");
	uint64_t gone = 0;

	if (self.settings.since_ns)
		gone = (ppi_monotonic_ns() - self.settings.since_ns) /
		       1000000u;
	else
		self.settings.since_ns = ppi_monotonic_ns();
	if (duration && gone >= delay + duration)
		return false;
	if (duration && gone > delay)
		duration -= gone - delay;
	delay = gone < delay ? delay - gone : 0;
	portprof_config_set_number(config, "delay", delay);
	portprof_config_set_number(config, "duration", duration);
	return true;
}

/* Whether a program that this process executed before wrote it: it is younger
 * than the first process. */
static bool is_of_this_run(const char *path)
{
	struct timespec now, began;
	uint64_t gone_ns = ppi_monotonic_ns() - self.settings.since_ns;
	struct stat at;

	if (!self.is_heir || stat(path, &at) != 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) != 0)
		return false;
	began = now;
	began.tv_sec -= (time_t)(gone_ns / 1000000000u) + 1;
	return at.st_mtime >= began.tv_sec;
}

/*
 * A session of several adds its number, as gperftools does (CpuProfilerSwitch,
 * src/profiler.cc, 07c5e922); so does the third program that a process executes,
 * whose name would be the second's, and all after it.
 */
static char *make_path(void)
{
	char *path = ppi_preload_path(self.settings.output, getpid());
	size_t bytes = path ? strlen(path) + 16 : 0;
	char *numbered;

	if (!path || !(self.is_toggled || is_of_this_run(path)))
		return path;
	numbered = malloc(bytes);
	if (numbered && self.is_toggled)
		snprintf(numbered, bytes, "%s.%u", path, self.file_count);
	for (unsigned n = 2; numbered && !self.is_toggled; n++) {
		snprintf(numbered, bytes, "%s.%u", path, n);
		if (!is_of_this_run(numbered))
			break;
	}
	free(path);
	return numbered;
}

static portprof_status set_sink(portprof_config *config)
{
	char *path;
	portprof_status status;

	if (self.settings.share)
		return portprof_config_share_with(config, self.settings.share);
	path = make_path();
	/* without memory there is no path, and the library says so */
	status = portprof_config_write_to(config, path);
	free(path);
	return status;
}

static portprof_config *configure(void)
{
	portprof_config *config = portprof_config_new();
	bool is_good;

	/* children have this object too, and a session of their own */
	is_good = portprof_config_load_text(config, "PORTPROF",
					    self.settings.lines,
					    NULL) == PORTPROF_OK &&
		  portprof_config_set_number(config, "children", 0) ==
			  PORTPROF_OK &&
		  set_sink(config) == PORTPROF_OK;
	if (!is_good)
		say_failure();
	if (is_good && (self.is_toggled || shift_times(config)))
		return config;
	portprof_config_free(config);
	return NULL;
}

static void begin(void)
{
	portprof_config *config = configure();
	portprof_session *session = NULL;

	if (!config)
		return;
	ppi_helper_promise_to_begin();
	if (portprof_session_open(config, &session)) {
		say_failure();
		session = NULL;
	} else {
		/* the helper thread's mask is its own */
		if (!self.is_toggled)
			ppi_mask_adopt();
		if (portprof_session_start(session)) {
			say_failure();
			portprof_session_close(session);
			session = NULL;
		}
	}
	self.owner = getpid();
	self.session = session;
	portprof_config_free(config);
}

bool ppi_preload_is_active(void)
{
	return (self.session || atomic_load(&self.is_stopping)) &&
	       self.owner == getpid();
}

static void end(void)
{
	portprof_session *session = self.session;

	self.session = NULL;
	if (session && portprof_session_close(session))
		say("the profile of this process is incomplete",
		    portprof_last_diag()->words);
}

void ppi_preload_need_helper(void)
{
	int kept = errno;

	if (ppi_preload_is_active())
		ppi_helper_begin();
	errno = kept;
}

bool ppi_preload_is_light(void)
{
	return self.is_light && ppi_preload_is_active();
}

void ppi_preload_has_other_root(void)
{
	Dl_info own;
	int kept = errno;

	/* a name that the loader keeps */
	if (!ppi_exec_object && self.settings.children &&
	    dladdr((void *)(size_t)ppi_preload_has_other_root, &own))
		ppi_exec_object = own.dli_fname;
	errno = kept;
}

void ppi_preload_finish(void)
{
	if (!ppi_preload_is_active())
		return;
	/* all it had is where the recorder finds it */
	if (self.is_light)
		return;
	/* a handler may have interrupted its owner */
	if (!self.is_toggled) {
		ppi_heir.is_ending = true;
		end();
		return;
	}
	pthread_mutex_lock(&self.lock);
	self.is_over = true;
	end();
	pthread_mutex_unlock(&self.lock);
}

/* ---- by signal ---- */

/* In the helper thread, which the holder of the lock may wait for. */
static bool toggle(void)
{
	if (pthread_mutex_trylock(&self.lock) != 0)
		return false;
	if (self.session) {
		atomic_store(&self.is_stopping, true);
		end();
		atomic_store(&self.is_stopping, false);
	} else if (!self.is_over) {
		begin();
		self.file_count += self.session != NULL;
	}
	pthread_mutex_unlock(&self.lock);
	return true;
}

static void say_lost(void)
{
	say("no signal starts or stops the profile any more",
	    "the program has installed its own handler for it; name another");
}

/* What a session would refuse is told now, not when the signal comes. */
static bool are_settings_good(void)
{
	portprof_config *config = configure();

	portprof_config_free(config);
	return config != NULL;
}

/* False when the signal is taken; then nothing is profiled. */
static bool wait_for_signal(const char *variable)
{
	char reason[PORTPROF_WORDS_BYTES], words[PORTPROF_WORDS_BYTES + 64];

	self.is_toggled = true;
	if (!are_settings_good())
		return false;
	if (begin_toggling(getenv(variable), toggle, say_lost, reason,
	                   sizeof(reason))) {
		ppi_mask_adopt();
		return true;
	}
	snprintf(words, sizeof(words), "%s: %s", variable, reason);
	say_not(words);
	return false;
}

/* A child must not write to its parent's file. */
static bool make_unique(void)
{
	size_t bytes;
	char *output;

	if (self.settings.share ||
	    ppi_pattern_has(self.settings.output, 'p'))
		return true;
	bytes = strlen(self.settings.output) + sizeof(".%p");
	output = malloc(bytes);
	if (!output)
		return false;
	snprintf(output, bytes, "%s.%%p", self.settings.output);
	free(self.settings.output);
	self.settings.output = output;
	return true;
}

/* The parent's session is a dead copy in a child. */
static void drop_copy(void)
{
	if (self.session)
		portprof_session_close(self.session);
	self.session = NULL;
	self.is_light = false;
}

static void begin_anew(void)
{
	ppi_signals_lend();
	if (self.is_toggled)
		begin_toggling_again();
	else
		begin();
}

/*
 * Most children do little and end, or execute another program: what they do is
 * left where the parent leaves it, by what is in their memory anyway. Only for
 * threads (pthread_create) they need a session of their own.
 */
static bool begin_light(void)
{
	self.is_light = self.session && self.settings.share &&
	                self.settings.children && ppi_heir.begin &&
	                ppi_heir.begin();
	if (self.is_light)
		self.owner = getpid();
	return self.is_light;
}

/* A session of its own begins when fork has returned: its thread might wait for the
 * handlers of a fork to end. */
static void after_fork_in_child(void)
{
	ppi_signals_adopt();
	atomic_store(&self.is_stopping, false);
	pthread_mutex_init(&self.lock, NULL);
	self.file_count = 0;
	self.is_heir = true;
	self.is_due = false;
	if (!begin_light()) {
		drop_copy();
		self.is_due = self.settings.children && make_unique();
	}
	if (!self.is_due)
		ppi_signals_settle();
}

void ppi_fork_returned(void)
{
	if (!self.is_due)
		return;
	self.is_due = false;
	begin_anew();
	ppi_signals_settle();
}

void ppi_preload_grow(void)
{
	if (!ppi_preload_is_light())
		return;
	ppi_heir.end();
	ppi_signals_adopt();
	drop_copy();
	if (make_unique())
		begin_anew();
	ppi_signals_settle();
}

/*
 * What processes of this one will find in their environment: nothing when
 * they are not wanted, since when times count, and never the name of the file
 * that this one writes.
 */
static void prepare_heirs(const char *text, bool has_since)
{
	size_t bytes = strlen(text) + strlen(self.settings.output) + 64, used;
	bool is_unique = self.settings.share ||
	                 ppi_pattern_has(self.settings.output, 'p');
	char *heirs;

	if (!self.settings.children) {
		unsetenv("PORTPROF");
		unsetenv("PORTPROF_SIGNAL");
		return;
	}
	if (is_unique && has_since)
		return;
	heirs = malloc(bytes);
	if (!heirs)
		return;
	used = (size_t)snprintf(heirs, bytes, "%s", text);
	if (!has_since)
		used += (size_t)snprintf(
			heirs + used, bytes - used, ";since=%llu",
			(unsigned long long)self.settings.since_ns);
	/* the last output counts */
	if (!is_unique)
		snprintf(heirs + used, bytes - used, ";output=%s.%%p",
		         self.settings.output);
	setenv("PORTPROF", heirs, 1);
	free(heirs);
}

__attribute__((constructor)) static void load(void)
{
	const char *text = getenv("PORTPROF"), *ignored = NULL, *variable;
	bool has_since;

	/* kept as long as the process: it is part of the settings */
	if (!text || !text[0]) {
		text = ppi_preload_from_gperftools(&ignored);
		variable = ppi_preload_signal_variable(text != NULL);
	} else {
		variable = ppi_preload_signal_variable(false);
	}
	if (!text && variable)
		text = "";
	if (!text)
		return;
	if (ignored)
		say("CPU time is profiled", ignored);
	if (!ppi_preload_parse(text, &self.settings)) {
		say_not("out of memory");
		return;
	}
	if (self.settings.regions)
		return;
	if (!self.settings.share && !ppi_preload_load_late()) {
		say_not("zlib or protobuf-c cannot be loaded, which files need");
		return;
	}
	if (!self.settings.output)
		self.settings.output = strdup(DEFAULT_OUTPUT);
	if (!self.settings.output)
		return;
	self.is_heir = has_since = self.settings.since_ns != 0;
	if (variable && !self.settings.share) {
		if (!wait_for_signal(variable))
			return;
		/* each session has times of its own */
		has_since = true;
		setenv("PORTPROF_SIGNAL", getenv(variable), 1);
	} else {
		begin();
	}
	prepare_heirs(text, has_since);
	/* after the library's own handlers, which run in this order too */
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

__attribute__((destructor)) static void unload(void)
{
	ppi_preload_finish();
}
