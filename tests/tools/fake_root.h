/* SPDX-License-Identifier: MIT */
/* Files below a folder that a test takes for a system's "/". */
#ifndef FAKE_ROOT_H
#define FAKE_ROOT_H

/* Write the file `path`, which begins with a slash, with all folders above it. */
void fake_root_put(const char *root, const char *path, const char *text);

#endif
