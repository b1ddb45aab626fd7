/* SPDX-License-Identifier: MIT */
/* tcgetattr(3) of POSIX.1-2008, for the curses of another project. */
#ifndef OS_TERMIOS_H
#define OS_TERMIOS_H

struct termios {
	unsigned c_iflag, c_oflag, c_cflag, c_lflag;
	unsigned char c_cc[20];
};

int tcgetattr(int fd, struct termios *out);
int tcsetattr(int fd, int when, const struct termios *next);

#endif
