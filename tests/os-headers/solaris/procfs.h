/* SPDX-License-Identifier: MIT */
/* Solaris and illumos: proc(5), the files usage, lusage and lwpusage; the order of the
 * fields is made up. */
#ifndef OS_PROCFS_H
#define OS_PROCFS_H

#include <time.h>

typedef struct timespec timestruc_t;

typedef struct {
	long pr_nent, pr_entsize;
} prheader_t;

typedef struct {
	int pr_lwpid, pr_count;
	timestruc_t pr_tstamp, pr_create, pr_term, pr_rtime;
	timestruc_t pr_utime, pr_stime, pr_ttime, pr_tftime, pr_dftime;
	timestruc_t pr_kftime, pr_ltime, pr_slptime, pr_wtime, pr_stoptime;
	unsigned long pr_minf, pr_majf, pr_vctx, pr_ictx;
} prusage_t;

#endif
