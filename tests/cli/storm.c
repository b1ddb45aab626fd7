/* SPDX-License-Identifier: MIT */
/*
 * A command of many short processes: PROCESSES of them, fifty at a time, each
 * with twenty executable mappings.
 *
 * usage: storm PROCESSES
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 50, MAPPINGS = 20 };

static void be_short(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 1; i <= MAPPINGS; i++)
		mmap(NULL, i * page, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long left = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	while (left > 0) {
		for (int i = 0; i < AT_ONCE && left > 0; i++, left--) {
			pid_t child = fork();

			if (child == 0)
				be_short();
			if (child < 0)
				return 2;
		}
		while (wait(NULL) > 0)
			;
	}
	return 0;
}
