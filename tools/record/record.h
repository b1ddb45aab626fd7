/* SPDX-License-Identifier: MIT */
/* What the files of portprof record share. */
#ifndef PPI_RECORD_H
#define PPI_RECORD_H

#include "tools/options.h"
#include "tools/fleet/fleet.h"
#include "tools/launch.h"
#include "tools/output.h"
#include "tools/targets/targets.h"
#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One setting as a configuration file would have it. */
struct ppi_setting {
	char *key, *value;
};

/* A value as typed, or as it is written in `room`. */
struct ppi_own_text {
	const char *text;
	char room[32];
};

/* Where windows go (record_push.c). */
struct ppi_push_options {
	struct ppi_fleet fleet; /* .to NULL: nowhere */
	const char *spool, *health;
	uint64_t every_ms, keep_ms, spool_bytes;
};

struct ppi_push;

/* Tables of names that windows have in common: those of a kernel take a third. */
#define PPI_PUSH_KEPT_BYTES ((size_t)24 << 20)

/* By which --wakers sees who wakes. */
#define PPI_WAKERS_EVENT "sched:sched_waking"

/* What the user wants, from configuration file and command line: many members, as
 * each option has one. */
struct ppi_record_options {
	struct ppi_texts events; /* of -e, each perhaps a list */
	const char *frequency, *period, *backend, *chains, *children;
	const char *unwind, *stack; /* of --call-graph */
	const char *labels;
	struct ppi_own_text ring, delay, duration, timeline;
	const char *config_path, *set_name;
	const char *output;     /* NULL: not given */
	struct ppi_targets targets;
	const char *waits;      /* "wall": these, too; "off-cpu": alone */
	const char *wakers;     /* NULL: who ends waits is not wanted */
	uint64_t runs;          /* of the command, added up; 0 as 1 */
	bool is_quiet, is_verbose, is_nameless, hides_arguments;
	struct ppi_hidden hidden;
	struct ppi_push_options push;
	const char *options_path; /* a file with more of them; NULL */
	struct ppi_again *again;  /* how to read them again; NULL: not at all */
	bool takes_system;      /* who names no target means the system */
	char **command;         /* NULL-terminated; with a scope other than
	                         * the command it only says for how long, and
	                         * may be NULL */
};

struct ppi_settings {
	struct ppi_setting *list;
	size_t count;
	char *output; /* the path to write to */
	uint64_t delay_ms, duration_ms; /* 0: none */
};

/* The command line of record; other verbs that record change its words. */
struct ppi_line ppi_record_line(void);

/* -1: go on; else the exit status, words are said. */
int ppi_record_read_options(const struct ppi_line *line, int argc, char **argv,
                            struct ppi_record_options *options);

/* The effective settings: file first, command line over it. False with words
 * when one is not valid. */
bool ppi_settings_read(const struct ppi_record_options *options,
                       struct ppi_settings *settings);
void ppi_settings_free(struct ppi_settings *settings);

/* The value of a setting; NULL when there is none. */
const char *ppi_settings_get(const struct ppi_settings *settings,
                             const char *key);

/* A new config that has them, but no output and no target; NULL with words. */
portprof_config *ppi_settings_config(const struct ppi_settings *settings);

/* Whether an event is one of waits, which are measured from outside although the
 * others may be sampled inside. */
bool ppi_is_wait(const char *event);

/* Whether some are. */
bool ppi_settings_waits(const struct ppi_settings *settings);

/* How many others there are. */
size_t ppi_settings_own_events(const struct ppi_settings *settings);

/* All, but waits, as "key=value;...", with now as since= and `share` as the memory to
 * leave samples in; NULL when out of memory. To be freed. */
char *ppi_settings_text(const struct ppi_settings *settings,
                        const char *share);

enum { PPI_TITLE_BYTES = 1024 };

/*
 * Who watches a recording while it runs. `turn` comes again and again, and
 * takes as long as it waits for a key; `ended` says how the target ended, "" while it
 * runs. False ends the recording. `end` comes before any other word is said.
 */
struct ppi_live {
	bool (*turn)(struct ppi_live *live, portprof_session *session,
	             const char *ended);
	void (*end)(struct ppi_live *live);
	struct ppi_held *held; /* the recording's; NULL: nothing */
	char title[PPI_TITLE_BYTES]; /* of the target, once it is found */
};

/* One recording. */
struct ppi_record {
	struct ppi_live *live; /* NULL: nobody */
	struct ppi_record_options options;
	struct ppi_settings settings;
	char *program; /* the file that will be executed */
	struct ppi_spool spool; /* where it is written */
	struct ppi_held *held; /* what will name the code; NULL: nothing */
	struct ppi_push *push; /* NULL: it is one file that stays here */
};

/*
 * Measure a command from inside, by an object loaded into it; record.c also does
 * it from outside, by a session of this process. The exit status.
 */
int ppi_record_preload(const struct ppi_record *record);

/* A command that is run from now on hands its labels over by itself: the variable says
 * how (base/label_post.h). */
void ppi_record_ask_for_labels(const char *variable);

/* What both do: run the command in `environment` (NULL: our own) and record it
 * by a session of `config`, which is freed. The exit status; -1: nothing was
 * run, and the thread's diagnostic says why. */
int ppi_record_command(const struct ppi_record *record,
                       portprof_config *config, char *const *environment);

/* Record options->runs runs of a command into one file. The exit status is the last
 * run's. */
int ppi_record_repeat(struct ppi_record_options *options);

/* Record as the options say, which were read; `live` may be NULL. The exit
 * status. */
int ppi_record_live(struct ppi_record_options *options, struct ppi_live *live);

/* What runs already, by -p and its like, -t or -a (record_attach.c). */
int ppi_record_attach(struct ppi_record *record);

/* ---- record_session.c: a session of this process on the target ---- */

/* A session of `config` that measures `child`, or the target that was named,
 * into the output. NULL when that is refused: the thread's diagnostic says why.
 * `config` is freed. */
portprof_session *ppi_record_open(const struct ppi_record *record,
                                  portprof_config *config, int64_t child);

/* The same in two steps. */
portprof_session *ppi_record_prepare(const struct ppi_record *record,
                                     portprof_config *config, int64_t child);
portprof_status ppi_record_start(portprof_session *session);

/* What is measured, as reports name it. */
void ppi_record_title(const struct ppi_record_options *options, char *out,
                      size_t bytes);

/* Stop, say what came of it, close. `end` is what the target's parent was told;
 * of somebody else's process how long it was measured, and no more. False, with
 * words, when the file is not what it should be. */
bool ppi_record_finish(const struct ppi_record *record,
                       portprof_session *session, const struct ppi_end *end);

/* Which file was there before, should it have to be put back. */
struct ppi_before {
	bool is_there;
	dev_t device;
	ino_t inode;
};
void ppi_record_look(const char *output, struct ppi_before *before);

/* A session that was started leaves a file. Nothing was measured after all:
 * put back what was there. */
void ppi_record_undo(const char *output, const struct ppi_before *before);

/* ---- record_push.c: windows that are sent while the recording continues ---- */

/* Check what the options say, before anything happens: -1, or the exit status after
 * words. */
int ppi_push_check(const struct ppi_line *line,
                   struct ppi_record_options *options);

/* Open the spool and begin to send what is in it; the first window becomes the
 * recording's output. NULL with words. */
struct ppi_push *ppi_push_begin(struct ppi_record *record);

/* While the session runs, again and again, and for `nap_ms` at most: end the window
 * when it is time. Other options may have put another session in its place. */
void ppi_push_turn(struct ppi_push *push, portprof_session **session,
                   unsigned nap_ms);

/* What came of windows; its words in a file, of which nobody sees half (record_health.c).
 * NULL: in none. */
struct ppi_push_counts {
	uint64_t windows, samples, lost, failed;
};
void ppi_health_write(const char *path, const struct ppi_push_counts *push,
                      struct ppi_outbox *outbox);

/* The last window was written: send what can be sent soon, and free. False: the
 * window could not be kept. NULL does nothing. */
bool ppi_push_end(struct ppi_push *push);

/* ---- record_again.c: options of a file, which can be read again ---- */

struct ppi_again {
	int argc;
	char **argv;
	char *text; /* of the file, whose words the options are */
};

/* Read the options of the file that the command line names, if it does, and then
 * its own. PPI_LINE_READ, or the exit status after words; again->text is to be freed
 * in any case, after the options. */
int ppi_again_read(struct ppi_again *again,
                   struct ppi_record_options *options);

/* ---- record_say.c: refusals, the summary and the warnings ---- */

/* Why no session could be opened, by the thread's diagnostic, and what to do;
 * with -v what each backend says. */
void ppi_say_refusal(const struct ppi_record *record);

/* Which better backends were passed over: those of this system that can
 * profile programs, and with -v the others too. Nothing with -q. */
void ppi_say_passed_over(const struct ppi_record *record,
                         const portprof_session *session);

/* The last words: what was measured, or why nothing was, and what to do. */
void ppi_say_summary(const struct ppi_record *record,
                     const struct ppi_end *end, const char *backend,
                     const portprof_event_info *event,
                     const portprof_stats *stats);

/* What measuring added to the command's own CPU time, where that is more than a
 * few parts in a hundred, or with -v. Before the session is closed. */
void ppi_say_costs(const struct ppi_record *record, portprof_session *session,
                   const struct ppi_end *end, const portprof_stats *stats);

/* That the command ended before its delay was over, so that nothing was
 * measured, nor written; false when it did not. */
bool ppi_say_too_short(const struct ppi_record *record,
                       const struct ppi_end *end);

/* That the command has ended and processes that it created go on. */
void ppi_say_left(const struct ppi_record *record, uint64_t count);

/* That a signal ended the command, and which. */
void ppi_say_end(const struct ppi_record *record, const struct ppi_end *end);

/* That no process of the command could be measured, and why that may be. */
void ppi_say_nobody(const struct ppi_record *record);

/* -v: how it was measured, before the session is closed. */
void ppi_say_details(portprof_session *session);

#endif
