/* SPDX-License-Identifier: MIT */
/* opendir(3), readdir(3), closedir(3) of POSIX.1-2008. */
#ifndef OS_DIRENT_H
#define OS_DIRENT_H

typedef struct os_dir DIR;

struct dirent {
	char d_name[256];
};

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir);
int closedir(DIR *dir);

#endif
