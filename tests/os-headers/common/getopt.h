/* SPDX-License-Identifier: MIT */
/* getopt_long(3) of the BSDs and (3C) of illumos. */
#ifndef OS_GETOPT_H
#define OS_GETOPT_H

#define no_argument 0
#define required_argument 1
#define optional_argument 2

struct option {
	const char *name;
	int has_arg;
	int *flag;
	int val;
};

extern char *optarg;
extern int optind, opterr, optopt;

int getopt_long(int argc, char *const *argv, const char *letters,
                const struct option *options, int *index);

#endif
