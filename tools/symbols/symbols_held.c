/* SPDX-License-Identifier: MIT */
/* What names code, held open while the processes that were measured live. */
#include "config.h"

#include "tools/symbols/symbols_held.h"

#include "base/foreign_file.h"
#include "base/clock_ns.h"
#include "base/processes.h"
#include "base/text.h"
#include "base/vector.h"
#include "tools/symbols/symbols_kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>

enum {
	FILES_MAX = 256,      /* that are open at once */
	NAMES_MAX = 1 << 16,  /* that are remembered */
	PATH_ROOM = 4096 + 64 /* PATH_MAX of Linux, below /proc/PID/root */
};

/* A process's map is looked for when the process is first seen, and then after
 * this long, twice as long, and so on; from the longest on after it had samples again,
 * if those alone are asked for. */
#define LOOK_FIRST_NS UINT64_C(100000000)
#define LOOK_LAST_NS UINT64_C(10000000000)

/* Copies of files, all together. */
#define COPIED_BYTES_MAX ((off_t)128 << 20)

struct held_file {
	UT_hash_handle hh;
	int fd; /* -1: it needs none */
	off_t copied; /* bytes, where it is a copy's */
	dev_t device;
	ino_t inode;
	const char *path; /* in `key` */
	char key[];       /* build-id and path */
};

struct held_process {
	UT_hash_handle hh;
	uint32_t pid, inner_pid; /* inner: as it knows itself; 0 unknown */
	int fd;                  /* of its map; -1 none yet */
	uint64_t wait_ns, next_ns;
	bool is_due; /* it is to be looked at again */
	char *dump;  /* path of its jit-PID.dump; NULL none */
};

struct ppi_held {
	pthread_mutex_t lock;
	struct held_file *files; /* the oldest first */
	struct held_process *processes;
	size_t open, open_max; /* descriptors */
	off_t copied;          /* of all files */
	struct ppi_vector mounts; /* uint64_t: at the start, of our namespace */
	uint64_t next_ns;      /* no process is looked at before */
	bool is_of_sampled;    /* not of those without samples */
	struct ppi_kept *kept; /* for windows; NULL */
};

/* ---- files on what may be unmounted ---- */

/* Of a folder, or of a file itself where `path` is empty; false: nobody knows. */
static bool mount_of(int folder, const char *path, uint64_t *id)
{
#ifdef STATX_MNT_ID
	struct statx at;

	if (statx(folder, path, AT_EMPTY_PATH, STATX_MNT_ID, &at) != 0 ||
	    !(at.stx_mask & STATX_MNT_ID))
		return false;
	*id = at.stx_mnt_id;
	return true;
#else
	(void)folder;
	(void)path;
	(void)id;
	return false;
#endif
}

/*
 * A file that is held open keeps its file system mounted, and one of FUSE can be
 * read no more once its program has ended. proc_pid_mountinfo(5), which has no line
 * of the file system that a chroot is a folder of.
 */
void ppi_held_know_mounts(struct ppi_held *held)
{
	FILE *list = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	uint64_t id;

	while (list && getline(&line, &room, list) >= 0)
		if (sscanf(line, "%" SCNu64, &id) == 1)
			ppi_vector_add(&held->mounts, sizeof(id), &id, 1);
	free(line);
	if (list)
		fclose(list);
	if (held->mounts.count && mount_of(AT_FDCWD, "/", &id))
		ppi_vector_add(&held->mounts, sizeof(id), &id, 1);
}

static bool was_mounted(const struct ppi_held *held, int fd)
{
	const uint64_t *mounts = PPI_AT(&held->mounts, const uint64_t);
	uint64_t id;

	if (!held->mounts.count || !mount_of(fd, "", &id))
		return true;
	for (size_t i = 0; i < held->mounts.count; i++)
		if (mounts[i] == id)
			return true;
	return false;
}

static bool copy_bytes(int from, FILE *to, off_t bytes)
{
	char piece[65536];
	off_t at = 0;

	while (at < bytes) {
		size_t got = ppi_foreign_read(from, piece, sizeof(piece),
		                              (uint64_t)at);

		if (!got || fwrite(piece, 1, got, to) != got)
			return false;
		at += (off_t)got;
	}
	return fflush(to) == 0;
}

/* A copy, which has no name; -1: there is no room. */
static int copy_file(int from, off_t bytes)
{
	FILE *to = tmpfile();
	int fd = -1;

	if (to && copy_bytes(from, to, bytes))
		fd = fcntl(fileno(to), F_DUPFD_CLOEXEC, 0);
	if (to)
		fclose(to);
	return fd;
}

struct ppi_held *ppi_held_new(bool is_of_sampled)
{
	struct ppi_held *held = calloc(1, sizeof(*held));
	long all = sysconf(_SC_OPEN_MAX);

	if (!held)
		return NULL;
	held->open_max = all > 0 && all / 4 < FILES_MAX ? (size_t)all / 4
	                                                : FILES_MAX;
	pthread_mutex_init(&held->lock, NULL);
	held->is_of_sampled = is_of_sampled;
	return held;
}

void ppi_held_keep(struct ppi_held *held, size_t bytes)
{
	held->kept = ppi_kept_new(bytes);
}

struct ppi_kept *ppi_held_kept(const struct ppi_held *held)
{
	return held ? held->kept : NULL;
}

void ppi_held_lock(struct ppi_held *held)
{
	if (held)
		pthread_mutex_lock(&held->lock);
}

void ppi_held_unlock(struct ppi_held *held)
{
	if (held)
		pthread_mutex_unlock(&held->lock);
}

static void let_go(struct ppi_held *held, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	held->open--;
}

static void let_file_go(struct ppi_held *held, struct held_file *file)
{
	let_go(held, &file->fd);
	held->copied -= file->copied;
	file->copied = 0;
}

static void forget_file(struct ppi_held *held, struct held_file *file)
{
	let_file_go(held, file);
	HASH_DEL(held->files, file);
	free(file);
}

static void forget_process(struct ppi_held *held, struct held_process *process)
{
	let_go(held, &process->fd);
	HASH_DEL(held->processes, process);
	free(process->dump);
	free(process);
}

void ppi_held_free(struct ppi_held *held)
{
	struct held_file *file, *next_file;
	struct held_process *process, *next_process;

	if (!held)
		return;
	HASH_ITER (hh, held->files, file, next_file)
		forget_file(held, file);
	HASH_ITER (hh, held->processes, process, next_process)
		forget_process(held, process);
	pthread_mutex_destroy(&held->lock);
	ppi_vector_free(&held->mounts);
	ppi_kept_free(held->kept);
	free(held);
}

/* ---- room ---- */

static bool lies_where_it_was(const struct held_file *file)
{
	struct stat at;

	return stat(file->path, &at) == 0 && at.st_dev == file->device &&
	       at.st_ino == file->inode;
}

/* False when maps alone fill it. */
static bool make_room(struct ppi_held *held)
{
	struct held_file *file, *next;

	if (held->open < held->open_max)
		return true;
	HASH_ITER (hh, held->files, file, next)
		if (file->fd >= 0 && lies_where_it_was(file))
			let_file_go(held, file);
	HASH_ITER (hh, held->files, file, next)
		if (held->open >= held->open_max && file->fd >= 0)
			forget_file(held, file);
	return held->open < held->open_max;
}

/* ---- files ---- */

/* What Linux puts behind the name of a file that was deleted while mapped. */
#define DELETED " (deleted)"

static bool is_file_name(const char *path)
{
	return path[0] == '/' && path[1] != '/' &&
	       strncmp(path, "/dev/", 5) != 0 &&
	       strncmp(path, "/SYSV", 5) != 0;
}

static bool is_deleted(const char *path)
{
	size_t length = strlen(path), more = strlen(DELETED);

	return length > more && strcmp(path + length - more, DELETED) == 0;
}

enum { ID_ROOM = 2 * PORTPROF_BUILD_ID_BYTES + 1, KEY_ROOM = ID_ROOM + PATH_ROOM };

/* "BUILD-ID PATH"; false for a path that none has. */
static bool make_key(char key[KEY_ROOM], const char *path, const char *build_id)
{
	return snprintf(key, KEY_ROOM, "%s %s", build_id, path) < KEY_ROOM;
}

/* As the process sees it; or by its mapping, which takes more rights
 * (proc_pid_map_files(5)). */
static int open_mapped(const portprof_record *record, const char *path,
                       struct stat *at)
{
	char name[PATH_ROOM];
	int fd = -1;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/root%s", record->pid,
	         path);
	if (!is_deleted(path))
		fd = ppi_foreign_open(name, PPI_FOREIGN_FILE, at);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name),
	         "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
	         record->pid, record->address, record->address + record->span);
	return ppi_foreign_open(name, PPI_FOREIGN_FILE, at);
}

/* A file in memory (memfd_create(2)), whose name others may have, too. */
static bool is_memory(const char *path)
{
	return strncmp(path, "/memfd:", 7) == 0;
}

/* The link that leads to what was mapped, opened. Only a file's number tells two of
 * one name apart; 0: it is not needed. */
static int open_linked(const char *name, const char *path, uint64_t inode,
                       struct stat *at)
{
	char target[PATH_ROOM];
	ssize_t length = readlink(name, target, sizeof(target) - 1);
	int fd;

	if (length < 0)
		return -1;
	target[length] = '\0';
	fd = strcmp(target, path) == 0
	             ? ppi_foreign_open(name, PPI_FOREIGN_FILE, at)
	             : -1;
	if (fd < 0 || !inode || (uint64_t)at->st_ino == inode)
		return fd;
	close(fd);
	return -1;
}

/* A program that was started from it: what may be read without more rights. */
static int open_program(uint32_t pid, const char *path, struct stat *at)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/exe", pid);
	return open_linked(name, path, 0, at);
}

/* The number of the file that is mapped there; 0 unknown. */
static uint64_t mapped_inode(const portprof_record *record)
{
	FILE *maps = ppi_maps_open(record->pid);
	struct ppi_mapping line;
	uint64_t inode = 0;

	while (maps && !inode && ppi_maps_next(maps, &line))
		if (record->address >= line.start && record->address < line.end)
			inode = line.inode;
	if (maps)
		fclose(maps);
	return inode;
}

/* A library that was loaded from it, if the process has not closed it: the same
 * rights. */
static int open_descriptor(const portprof_record *record, const char *path,
                           struct stat *at)
{
	uint64_t inode = mapped_inode(record);
	char name[64 + 256];
	struct dirent *entry;
	DIR *folder;
	int fd = -1;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/fd", record->pid);
	folder = inode ? opendir(name) : NULL;
	while (folder && fd < 0 && (entry = readdir(folder)) != NULL) {
		snprintf(name, sizeof(name), "/proc/%" PRIu32 "/fd/%s",
		         record->pid, entry->d_name);
		fd = open_linked(name, path, inode, at);
	}
	if (folder)
		closedir(folder);
	return fd;
}

/* Code that was made while running lies in such files as well, and is no program
 * or library. */
static int open_memory(const portprof_record *record, const char *path,
                       struct stat *at)
{
	int fd = open_mapped(record, path, at);
	char magic[4];

	if (fd < 0)
		fd = open_program(record->pid, path, at);
	if (fd < 0)
		fd = open_descriptor(record, path, at);
	if (fd < 0)
		return -1;
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    memcmp(magic, "\177ELF", sizeof(magic)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Another file of that name: then the name says nothing. */
static void compare_memory(struct ppi_held *held, struct held_file *file,
                           const portprof_record *record)
{
	struct stat at;
	int fd;

	if (file->fd < 0 || !is_memory(file->path))
		return;
	fd = open_memory(record, file->path, &at);
	if (fd < 0)
		return;
	close(fd);
	if (at.st_dev != file->device || at.st_ino != file->inode)
		let_file_go(held, file);
}

/* The file, or a copy in its place while there is room, if it is not one that is still
 * written; *copied: its bytes. */
static int lasting_file(const struct ppi_held *held, int fd, const char *path,
                        const struct stat *at, off_t *copied)
{
	int copy = -1;

	*copied = 0;
	if (fd >= 0 && !is_memory(path) && !ppi_is_jitdump(path) &&
	    !was_mounted(held, fd) &&
	    at->st_size <= COPIED_BYTES_MAX - held->copied)
		copy = copy_file(fd, at->st_size);
	if (copy < 0)
		return fd;
	close(fd);
	*copied = at->st_size;
	return copy;
}

static void add_file(struct ppi_held *held, const portprof_record *record,
                     const char *path, const char *key)
{
	size_t length = strlen(key);
	struct held_file *file;
	struct stat at;
	off_t copied;
	int fd;

	if (HASH_COUNT(held->files) >= NAMES_MAX || !make_room(held))
		return;
	/* gone already: the next process that maps it may live */
	fd = is_memory(path) ? open_memory(record, path, &at)
	                     : open_mapped(record, path, &at);
	fd = lasting_file(held, fd, path, &at, &copied);
	if (fd < 0)
		return;
	file = calloc(1, sizeof(*file) + length + 1);
	if (!file) {
		close(fd);
		return;
	}
	memcpy(file->key, key, length + 1);
	file->path = file->key + length - strlen(path);
	file->fd = fd;
	file->copied = copied;
	held->copied += copied;
	file->device = at.st_dev;
	file->inode = at.st_ino;
	held->open++;
	HASH_ADD_KEYPTR(hh, held->files, file->key, length, file);
}

static struct held_file *find_file(const struct ppi_held *held,
                                   const char *key)
{
	struct held_file *file;

	HASH_FIND(hh, held->files, key, strlen(key), file);
	return file;
}

static void see_module(struct ppi_held *held, const portprof_record *record,
                       const portprof_module *module)
{
	char build_id[ID_ROOM] = "", key[KEY_ROOM];
	size_t bytes = PORTPROF_BUILD_ID_BYTES;
	struct held_file *known;

	if (!module || !is_file_name(module->path))
		return;
	if (module->build_id_bytes < bytes)
		bytes = module->build_id_bytes;
	ppi_text_hex(module->build_id, bytes, build_id);
	if (!make_key(key, module->path, build_id))
		return;
	known = find_file(held, key);
	if (known)
		compare_memory(held, known, record);
	else
		add_file(held, record, module->path, key);
}

/* ---- maps ---- */

/* proc_pid_status(5): the numbers of a process, from our namespace to its own.
 * Without that line it has one alone. */
static uint32_t read_inner_pid(uint32_t pid)
{
	char name[64], line[256], *last;
	uint32_t inner = pid;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/status", pid);
	file = fopen(name, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		last = strrchr(line, '\t');
		inner = last ? (uint32_t)strtoul(last, NULL, 10) : pid;
		break;
	}
	fclose(file);
	return inner;
}

static void look_for_map(struct ppi_held *held, struct held_process *process,
                         uint64_t now_ns)
{
	char name[96];

	if (!process->inner_pid)
		process->inner_pid = read_inner_pid(process->pid);
	if (process->inner_pid && make_room(held)) {
		snprintf(name, sizeof(name),
		         "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map",
		         process->pid, process->inner_pid);
		process->fd = ppi_foreign_open(name, PPI_FOREIGN_NO_LINK, NULL);
		held->open += process->fd >= 0;
	}
	process->wait_ns = process->wait_ns ? process->wait_ns * 2
	                                    : LOOK_FIRST_NS;
	if (process->wait_ns > LOOK_LAST_NS)
		process->wait_ns = LOOK_LAST_NS;
	process->next_ns = now_ns + process->wait_ns;
	process->is_due = !held->is_of_sampled || process->wait_ns < LOOK_LAST_NS;
}

void ppi_held_look(struct ppi_held *held)
{
	const uint64_t now_ns = ppi_monotonic_ns();
	struct held_process *process, *next;
	uint64_t soonest = UINT64_MAX;

	if (now_ns < held->next_ns)
		return;
	HASH_ITER (hh, held->processes, process, next) {
		if (process->fd >= 0 || !process->is_due)
			continue;
		if (process->next_ns <= now_ns)
			look_for_map(held, process, now_ns);
		if (process->fd < 0 && process->is_due &&
		    process->next_ns < soonest)
			soonest = process->next_ns;
	}
	held->next_ns = soonest;
}

static struct held_process *find_process(const struct ppi_held *held,
                                         uint32_t pid)
{
	struct held_process *process;

	HASH_FIND(hh, held->processes, &pid, sizeof(pid), process);
	return process;
}

/* A process without samples has made no code that is to be named. */
static void see_process(struct ppi_held *held, uint32_t pid)
{
	struct held_process *process = pid ? find_process(held, pid) : NULL;

	if (!pid || (process && process->is_due))
		return;
	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return;
		process->pid = pid;
		process->fd = -1;
		HASH_ADD(hh, held->processes, pid, sizeof(process->pid),
		         process);
	}
	process->is_due = true;
	if (process->fd < 0 && process->next_ns < held->next_ns)
		held->next_ns = process->next_ns;
}

bool ppi_is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	int length = 0;
	unsigned long pid;

	return name && sscanf(name, "/jit-%lu.dump%n", &pid, &length) == 1 &&
	       (!name[length] || strcmp(name + length, DELETED) == 0);
}

static void see_dump(struct ppi_held *held, uint32_t pid, const char *path)
{
	struct held_process *process = find_process(held, pid);

	if (process && !process->dump && ppi_is_jitdump(path))
		process->dump = strdup(path);
}

static void see_exit(struct ppi_held *held, const portprof_record *record)
{
	struct held_process *process = find_process(held, record->pid);

	if (process && record->pid == record->tid && process->fd < 0 &&
	    !process->dump)
		forget_process(held, process);
}

void ppi_held_see(struct ppi_held *held, const portprof_record *record,
                  const portprof_module *module)
{
	switch (record->kind) {
	case PORTPROF_RECORD_MODULE:
		see_module(held, record, module);
		if (!held->is_of_sampled ||
		    (module && ppi_is_jitdump(module->path)))
			see_process(held, record->pid);
		if (module)
			see_dump(held, record->pid, module->path);
		break;
	case PORTPROF_RECORD_THREAD:
	case PORTPROF_RECORD_FORK:
		if (!held->is_of_sampled)
			see_process(held, record->pid);
		break;
	case PORTPROF_RECORD_SAMPLE:
		see_process(held, record->pid);
		break;
	case PORTPROF_RECORD_EXIT:
		see_exit(held, record);
		break;
	default:
		break;
	}
}

/* ---- by name ---- */

static bool name_fd(int fd, char name[PPI_HELD_NAME_ROOM])
{
	if (fd >= 0)
		snprintf(name, PPI_HELD_NAME_ROOM, "/proc/self/fd/%d", fd);
	return fd >= 0;
}

bool ppi_held_file(const struct ppi_held *held, const char *path,
                   const char *build_id, char name[PPI_HELD_NAME_ROOM])
{
	const struct held_file *file;
	char key[KEY_ROOM];

	if (!held || !make_key(key, path, build_id))
		return false;
	file = find_file(held, key);
	/* the writer of the profile may have read the build-id from the file */
	if (!file)
		file = find_file(held, strchr(key, ' '));
	return file && name_fd(file->fd, name);
}

bool ppi_held_map(const struct ppi_held *held, uint32_t pid,
                  char name[PPI_HELD_NAME_ROOM])
{
	const struct held_process *process =
		held ? find_process(held, pid) : NULL;

	return process && name_fd(process->fd, name);
}

const char *ppi_held_dump(const struct ppi_held *held, uint32_t pid)
{
	const struct held_process *process =
		held ? find_process(held, pid) : NULL;

	return process ? process->dump : NULL;
}
