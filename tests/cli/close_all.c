/* SPDX-License-Identifier: MIT */
/*
 * A command that closes every descriptor it does not know, as daemons do, and
 * opens files of its own in their places. Nobody else may write to them.
 *
 * usage: close_all FOLDER MILLISECONDS [BEFORE]     BEFORE: used before that
 *
 * Exit status 1: a file does not hold what was written there, or a descriptor
 * is another file's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 12, DESCRIPTORS = 1024 };

static const char words[] = "mine\n";

struct own_file {
	int fd;
	struct stat at;
};

static int open_own(const char *folder, int number, struct own_file *file)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/own-%d", folder, number);
	file->fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	return file->fd >= 0 && fstat(file->fd, &file->at) == 0 &&
	       write(file->fd, words, strlen(words)) == (ssize_t)strlen(words);
}

static int is_intact(const struct own_file *file)
{
	char held[sizeof(words) + 1] = "";
	struct stat now;

	return fstat(file->fd, &now) == 0 && now.st_ino == file->at.st_ino &&
	       pread(file->fd, held, sizeof(held), 0) ==
	               (ssize_t)strlen(words) &&
	       strcmp(held, words) == 0;
}

__attribute__((noinline)) void use_cpu(uint64_t ms);
__attribute__((noinline)) void use_cpu(uint64_t ms)
{
	volatile uint64_t x = 1;
	struct timespec now;

	do {
		for (int i = 0; i < 20000; i++)
			x = x * 6364136223846793005u + 1;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000 +
	                 (uint64_t)now.tv_nsec / 1000000 < ms);
}

int main(int argc, char **argv)
{
	struct own_file files[FILES];
	int pipes[FILES][2];
	char held[sizeof(words)];
	int broken = 0;

	if (argc < 3)
		return 2;
	if (argc > 3)
		use_cpu(strtoull(argv[3], NULL, 10));
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		close(fd);
	for (int i = 0; i < FILES; i++)
		if (!open_own(argv[1], i, &files[i]))
			return 2;
	for (int i = 0; i < FILES; i++)
		if (pipe(pipes[i]) != 0 ||
		    write(pipes[i][1], words, sizeof(words)) !=
		            (ssize_t)sizeof(words))
			return 2;
	use_cpu(strtoull(argv[2], NULL, 10) +
	        (argc > 3 ? strtoull(argv[3], NULL, 10) : 0));
	for (int i = 0; i < FILES; i++)
		if (!is_intact(&files[i])) {
			printf("own-%d is not what it was\n", i);
			broken = 1;
		}
	for (int i = 0; i < FILES; i++)
		if (read(pipes[i][0], held, sizeof(held)) !=
		    (ssize_t)sizeof(held)) {
			printf("pipe %d lost what was in it\n", i);
			broken = 1;
		}
	return broken;
}
