/* SPDX-License-Identifier: MIT */
/* The portprof command: picks the verb and hands over to its file. */

#include <stdio.h>
#include <string.h>

#include <portprof.h>

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("portprof %s\n", portprof_version());
		return 0;
	}
	fprintf(stderr, "usage: portprof --version\n");
	return 2;
}
