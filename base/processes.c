/* SPDX-License-Identifier: MIT */
/*
 * Processes, ours and others: what they have mapped, their memory, whose they are, and
 * stopping a child before its first instruction. Others' come from /proc of Linux;
 * elsewhere there is none.
 */
#include "config.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/processes.h"

#include "base/clock_ns.h"
#include "base/foreign_file.h"
#include "base/label_post.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#endif

/* ---- what a process has mapped, and its memory ---- */

enum { LINE_ROOM = 4096 + 128 }; /* a path, and what is before it */

static bool take_line(char *text, struct ppi_mapping *line)
{
	int used = 0;

	line->name[0] = '\0';
	if (sscanf(text,
	           "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %31s %" SCNu64 " %n",
	           &line->start, &line->end, line->rights, &line->offset,
	           line->device, &line->inode, &used) < 6 || !used)
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(line->name, sizeof(line->name), "%s", text + used);
	return true;
}

bool ppi_maps_next(FILE *maps, struct ppi_mapping *line)
{
	char text[LINE_ROOM];

	while (fgets(text, sizeof(text), maps))
		if (take_line(text, line))
			return true;
	return false;
}

FILE *ppi_maps_open(uint32_t pid)
{
	char path[64];

	/* /proc may be another namespace's, with another process of that
	 * number */
	if (pid == (uint32_t)getpid())
		return fopen("/proc/self/maps", "re");
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	return ppi_process_path_is_gone(path) ? NULL : fopen(path, "re");
}

void ppi_process_each_code(uint32_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context)
{
	FILE *maps = ppi_maps_open(pid);
	struct ppi_mapping line;

	while (maps && ppi_maps_next(maps, &line))
		if (strchr(line.rights, 'x'))
			take(context, line.start, line.end, line.offset,
			     line.name);
	if (maps)
		fclose(maps);
}

/* ---- what libraries map so that others find them ---- */

static int open_of(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	return ppi_process_path_is_gone(path)
		? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/* The beginning of a file of the process's; 0 bytes where there is none. */
static size_t read_of(uint32_t pid, const char *name, void *out, size_t bytes)
{
	int fd = open_of(pid, name);
	ssize_t got = fd < 0 ? 0 : read(fd, out, bytes);

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* The first word of statm (proc_pid_statm(5)). */
uint64_t ppi_process_pages(uint32_t pid)
{
	char text[32];

	text[read_of(pid, "statm", text, sizeof(text) - 1)] = '\0';
	return strtoull(text, NULL, 10);
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static void take_mark(const struct ppi_mapping *line,
                      struct ppi_process_marks *marks)
{
	if (!marks->labels && line->rights[1] == 'w' && line->offset == 0 &&
	    begins(line->name, PPI_LABELS_MAPPED)) {
		marks->labels = line->start;
		marks->labels_end = line->end;
	}
	if (!marks->context && (begins(line->name, "/memfd:OTEL_CTX") ||
	                        begins(line->name, "[anon_shmem:OTEL_CTX") ||
	                        begins(line->name, "[anon:OTEL_CTX")))
		marks->context = line->start;
}

/* Other lines are not taken apart. */
static struct ppi_process_marks read_marks(uint32_t pid)
{
	struct ppi_process_marks marks = { 0 };
	FILE *maps = ppi_maps_open(pid);
	struct ppi_mapping line;
	char text[LINE_ROOM];

	while (maps && fgets(text, sizeof(text), maps))
		if ((strstr(text, PPI_LABELS_MEMFD) || strstr(text, "OTEL_CTX")) &&
		    take_line(text, &line))
			take_mark(&line, &marks);
	if (maps)
		fclose(maps);
	return marks;
}

enum { MARKS_KEPT = 128, MARKS_KEPT_NS = 1000000000 };

static struct {
	uint32_t pid;
	uint64_t pages, read_ns;
	struct ppi_process_marks marks;
} kept_marks[MARKS_KEPT];
static pthread_mutex_t marks_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of this process, whose number may be another's in /proc, nothing is kept. */
struct ppi_process_marks ppi_process_marks(uint32_t pid)
{
	uint64_t pages = pid == (uint32_t)getpid() ? 0 : ppi_process_pages(pid);
	uint64_t now_ns = ppi_monotonic_ns();
	struct ppi_process_marks marks = { 0 };
	size_t at = pid % MARKS_KEPT;
	bool is_known;

	/* in a child of a fork it may stay locked */
	if (!pages || pthread_mutex_trylock(&marks_lock))
		return read_marks(pid);
	is_known = kept_marks[at].pid == pid && kept_marks[at].pages == pages &&
	           now_ns - kept_marks[at].read_ns < MARKS_KEPT_NS;
	if (is_known)
		marks = kept_marks[at].marks;
	pthread_mutex_unlock(&marks_lock);
	if (is_known)
		return marks;
	marks = read_marks(pid);
	if (pthread_mutex_trylock(&marks_lock))
		return marks;
	kept_marks[at].pid = pid;
	kept_marks[at].pages = pages;
	kept_marks[at].read_ns = now_ns;
	kept_marks[at].marks = marks;
	pthread_mutex_unlock(&marks_lock);
	return marks;
}

int ppi_process_memory(uint32_t pid)
{
	return open_of(pid, "mem");
}

size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count)
{
	size_t got;
	int fd;

	/* One call instead of three; memory that may not be read takes those. A filter
	 * may kill a program for a call that it has no use for: portprof-backends(7)
	 * names those that a session of itself needs. */
	if (pid != (uint32_t)getpid() &&
	    ppi_copy_from(pid, address, bytes, count))
		return count;
	fd = ppi_process_memory(pid);
	if (fd < 0)
		return 0;
	got = ppi_foreign_read(fd, bytes, count, address);
	close(fd);
	return got;
}

#ifdef __linux__
bool ppi_copy_from(uint32_t pid, uint64_t address, void *out, size_t bytes)
{
	struct iovec local = { out, bytes };
	struct iovec remote = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)bytes;
}

uint64_t ppi_process_auxiliary(uint32_t pid, uint64_t type)
{
	enum { WORDS = 128 };
	unsigned long words[WORDS];
	size_t count = read_of(pid, "auxv", words, sizeof(words)) /
	               sizeof(words[0]);

	for (size_t i = 0; i + 1 < count; i += 2)
		if (words[i] == type)
			return words[i + 1];
	return 0;
}

bool ppi_process_program(uint32_t pid, unsigned char program[PPI_PROGRAM_BYTES])
{
	uint64_t at = ppi_process_auxiliary(pid, AT_RANDOM);

	return at && ppi_process_read(pid, at, program, PPI_PROGRAM_BYTES) ==
			     PPI_PROGRAM_BYTES;
}
#else
bool ppi_copy_from(uint32_t pid, uint64_t address, void *out, size_t bytes)
{
	(void)pid;
	(void)address;
	(void)out;
	(void)bytes;
	return false;
}

uint64_t ppi_process_auxiliary(uint32_t pid, uint64_t type)
{
	(void)pid;
	(void)type;
	return 0;
}

bool ppi_process_program(uint32_t pid, unsigned char program[PPI_PROGRAM_BYTES])
{
	(void)pid;
	(void)program;
	return false;
}
#endif

bool ppi_process_is_program(uint32_t pid,
                            const unsigned char program[PPI_PROGRAM_BYTES])
{
	unsigned char now[PPI_PROGRAM_BYTES];

	return ppi_process_program(pid, now) &&
	       memcmp(now, program, sizeof(now)) == 0;
}

/* ---- what this one has mapped, as dl_iterate_phdr(3) lists it ---- */

struct text_list {
	struct ppi_text *out;
	size_t room, count;
};

static int add_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct text_list *list = context;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD ||
		    !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		if (list->count < list->room)
			list->out[list->count] = (struct ppi_text){
				start, start + info->dlpi_phdr[i].p_memsz };
		list->count++;
	}
	return 0;
}

size_t ppi_text_list(struct ppi_text *out, size_t room)
{
	struct text_list list = { out, room, 0 };

	dl_iterate_phdr(add_object, &list);
	return list.count;
}

/* ---- whose a process is, and since when it runs ---- */

/* getpgid(2) asks by a number alone, of a process or a thread. */
bool ppi_process_is_gone(uint32_t number)
{
	return number != 0 && number <= INT32_MAX &&
	       getpgid((pid_t)number) < 0 && errno == ESRCH;
}

#ifdef __linux__

static uint64_t now_ns(clockid_t clock)
{
	uint64_t ns = 0;

	ppi_clock_ns(clock, &ns);
	return ns;
}

/* proc_pid_stat(5): field 22, in ticks since the system was started. The name
 * in parentheses, the second field, may hold spaces and parentheses. */
static uint64_t read_began(const char *folder)
{
	char path[64], text[1024] = "", *at;
	uint64_t ticks, since_start;
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", folder);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%" SCNu64, &ticks) != 1)
		return 0;
	since_start = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + since_start;
}

bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner)
{
	struct stat at;
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%" PRId64, pid);
	if (stat(folder, &at) != 0)
		return false;
	owner->user = at.st_uid;
	owner->began_ns = read_began(folder);
	return true;
}

/* Of the own process nothing is asked, as a filter may kill a program for that call; the
 * first is there always. */
bool ppi_process_path_is_gone(const char *path)
{
	static const char folder[] = "/proc/", threads[] = "/task/";
	char *behind = NULL;
	long number;

	if (strncmp(path, folder, sizeof(folder) - 1) != 0)
		return false;
	number = strtol(path + sizeof(folder) - 1, &behind, 10);
	if (number <= 1 || number == getpid())
		return false;
	if (strncmp(behind, threads, sizeof(threads) - 1) == 0 &&
	    behind[sizeof(threads) - 1])
		number = strtol(behind + sizeof(threads) - 1, NULL, 10);
	if (!ppi_process_is_gone((uint32_t)number))
		return false;
	errno = ENOENT;
	return true;
}

#else

bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner)
{
	if (pid != getpid())
		return false;
	owner->user = geteuid();
	owner->began_ns = 0;
	return true;
}

bool ppi_process_path_is_gone(const char *path)
{
	(void)path;
	return false;
}

#endif

/* ---- stopping a child between its execve(2) and its first instruction ---- */

#ifdef __linux__

bool ppi_exec_stop_begin(pid_t child)
{
	return ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXEC) == 0;
}

static bool is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN ||
	       number == SIGTTOU;
}

/* A tracer is asked about each signal: it does what it would have done. */
static void give_signal(pid_t child, int number, int event)
{
	if (event != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, child, NULL, number);
	else if (is_stop_signal(number))
		ptrace(PTRACE_LISTEN, child, NULL, NULL);
	else
		ptrace(PTRACE_CONT, child, NULL, 0);
}

bool ppi_exec_stop_await(pid_t child)
{
	siginfo_t info;

	for (;;) {
		info.si_code = 0;
		if (waitid(P_PID, (id_t)child, &info,
		           WEXITED | WSTOPPED | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (info.si_code != CLD_TRAPPED)
			return false;
		if (info.si_status >> 8 == PTRACE_EVENT_EXEC)
			return true;
		give_signal(child, info.si_status & 0xff, info.si_status >> 8);
	}
}

void ppi_exec_stop_end(pid_t child)
{
	ptrace(PTRACE_DETACH, child, NULL, 0);
}

#else

bool ppi_exec_stop_begin(pid_t child)
{
	(void)child;
	return false;
}

bool ppi_exec_stop_await(pid_t child)
{
	(void)child;
	return false;
}

void ppi_exec_stop_end(pid_t child)
{
	(void)child;
}

#endif
