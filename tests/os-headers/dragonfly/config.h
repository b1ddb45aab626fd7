/* SPDX-License-Identifier: MIT */
/* What configure finds on DragonFly, as far as these sources ask. */
#define PPI_BACKEND_NULL 1
#define PPI_BACKEND_ITIMER 1
#define PPI_BACKEND_RUSAGE 1
#define PPI_BACKEND_PROFIL 1
#define HAVE_ISSETUGID 1
#define HAVE_PTHREAD_GETCPUCLOCKID 1
#define HAVE_EXECVPE 1
#define HAVE_FEXECVE 1
#define HAVE_SYSCALL 1
