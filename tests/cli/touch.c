/* SPDX-License-Identifier: MIT */
/*
 * A command of known page faults: writes to PAGES fresh pages, one fault
 * each.
 *
 * usage: touch PAGES [HOW [ARGUMENT]]
 *
 * HOW: "fork": a child does it, "orphan": a child that nobody waits for does
 * it, a while after this process has ended; "thread": a thread does it, "naps"
 * MS: twice, with a sleep between.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(2);
#ifdef MADV_NOHUGEPAGE
	/* a huge page is one fault for 512 */
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
#endif
	for (size_t i = 0; i < pages; i++)
		((volatile char *)memory)[i * page] = 1;
	munmap(memory, pages * page);
}

static void *touch_in_thread(void *context)
{
	touch((size_t)(uintptr_t)context);
	return NULL;
}

static void nap(const char *ms)
{
	long number = strtol(ms, NULL, 10);
	struct timespec time = { number / 1000, number % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	const char *how = argc > 2 ? argv[2] : "";
	pthread_t thread;

	if (strcmp(how, "fork") == 0 || strcmp(how, "orphan") == 0) {
		pid_t child = fork();

		if (child == 0) {
			if (how[0] == 'o')
				nap("50");
			touch(pages);
			_exit(0);
		}
		if (how[0] == 'f')
			waitpid(child, NULL, 0);
	} else if (strcmp(how, "thread") == 0) {
		if (pthread_create(&thread, NULL, touch_in_thread,
		                   (void *)(uintptr_t)pages) != 0)
			return 2;
		pthread_join(thread, NULL);
	} else if (strcmp(how, "naps") == 0 && argc > 3) {
		touch(pages);
		nap(argv[3]);
		touch(pages);
	} else {
		touch(pages);
	}
	return 0;
}
