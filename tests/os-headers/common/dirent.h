/* SPDX-License-Identifier: MIT */
/* What is used of <dirent.h> of POSIX.1-2008. */
#ifndef OS_DIRENT_H
#define OS_DIRENT_H

typedef struct os_dir DIR;

struct dirent {
	char d_name[256];
};

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir);
int closedir(DIR *dir);
int scandir(const char *path, struct dirent ***list,
            int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **one, const struct dirent **other);
DIR *fdopendir(int fd);
int dirfd(DIR *dir);
void rewinddir(DIR *dir);

#endif
