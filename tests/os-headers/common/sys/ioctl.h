/* SPDX-License-Identifier: MIT */
/* ioctl(2) and the size of a terminal, tty(4) of each system; numbers made up. */
#ifndef OS_SYS_IOCTL_H
#define OS_SYS_IOCTL_H

struct winsize {
	unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

#define TIOCGWINSZ 0x40087468
#define TIOCSCTTY 0x20007461

int ioctl(int fd, unsigned long request, ...);

#endif
