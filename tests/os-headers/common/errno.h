/* SPDX-License-Identifier: MIT */
/* errno(2) of POSIX.1-2008; the numbers are made up. */
#ifndef OS_ERRNO_H
#define OS_ERRNO_H

extern int *os_errno(void);
#define errno (*os_errno())

#define EACCES 1
#define EAGAIN 2
#define EALREADY 20
#define EBUSY 3
#define EDOM 21
#define EEXIST 4
#define EFAULT 22
#define EFBIG 5
#define EINTR 6
#define EINVAL 7
#define EIO 17
#define EISDIR 8
#define EMFILE 18
#define ENFILE 19
#define ENOENT 9
#define ENOEXEC 23
#define ENOMEM 10
#define ENOSPC 11
#define ENOSYS 12
#define ENOTDIR 13
#define EPERM 14
#define ESRCH 15
#define ETIMEDOUT 16
#define E2BIG 24
#define EBADF 25
#define ECHILD 26
#define ECONNREFUSED 27
#define EILSEQ 28
#define ELOOP 29
#define ENAMETOOLONG 30
#define ENODEV 31
#define ENOTEMPTY 32
#define ENOTSUP 33
#define ENOTTY 34
#define ENXIO 35
#define EOPNOTSUPP 36
#define EOVERFLOW 37
#define EPIPE 38
#define ERANGE 39
#define EROFS 40
#define ESPIPE 41
#define ETXTBSY 42
#define EWOULDBLOCK EAGAIN
#define EXDEV 43
#define EDQUOT 44

#endif
