/* SPDX-License-Identifier: MIT */
/* Measured by tests: renames its thread as it goes. renamed MS NAME...: so much
 * CPU time under each name; then "NAME NS" for each. "exec:PROGRAM" runs that in
 * its place, with the arguments that are left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static volatile unsigned long sum;

static double cpu_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
	double begin = cpu_ms(), ms = argc > 1 ? atof(argv[1]) : 0;

	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "exec:", 5) == 0) {
			fflush(stdout);
			execvp(argv[i] + 5, argv + i + 1);
			return 1;
		}
#ifdef __linux__
		prctl(PR_SET_NAME, argv[i]);
#endif
		while (cpu_ms() - begin < ms)
			for (int k = 0; k < 10000; k++)
				sum += (unsigned long)k;
		printf("%s %.0f\n", argv[i], (cpu_ms() - begin) * 1e6);
		begin = cpu_ms();
	}
	return 0;
}
