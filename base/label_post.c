/* SPDX-License-Identifier: MIT */
/*
 * How a recorded program hands its store of labels to the recorder: by a socket of
 * the recorder's, whose name begins with a zero (unix(7)), as soon as it is made. So
 * a program that ends a moment later leaves it behind, and nobody needs the right to
 * look into its descriptors.
 */
#include "config.h"

#include "base/label_post.h"

#include "base/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static socklen_t name_of(long recorder, struct sockaddr_un *name)
{
	int length;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
	                  PPI_LABELS_MEMFD "-%ld", recorder);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                   (size_t)length);
}

/* One descriptor, and room for who sends it. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

void ppi_label_post(int fd)
{
	const char *recorder = ppi_environment(PPI_LABELS_TIMES);
	struct sockaddr_un name;
	union control control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_name = &name,
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(sizeof(int)),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	int socket_fd;

	if (!recorder)
		recorder = ppi_environment(PPI_LABELS_NOW);
	if (!recorder)
		return;
	message.msg_namelen = name_of(strtol(recorder, NULL, 10), &name);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket_fd < 0)
		return;
	sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(socket_fd);
}

int ppi_label_box_open(void)
{
	struct sockaddr_un name;
	socklen_t bytes = name_of((long)getpid(), &name);
	int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)&name, bytes) == 0)
		return fd;
	close(fd);
	return -1;
}

static void read_control(struct msghdr *message, int *fd, struct ucred *sender)
{
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head;
	     head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET)
			continue;
		if (head->cmsg_type == SCM_RIGHTS &&
		    head->cmsg_len >= CMSG_LEN(sizeof(*fd)))
			memcpy(fd, CMSG_DATA(head), sizeof(*fd));
		if (head->cmsg_type == SCM_CREDENTIALS &&
		    head->cmsg_len >= CMSG_LEN(sizeof(*sender)))
			memcpy(sender, CMSG_DATA(head), sizeof(*sender));
	}
}

/* The kernel says who sends. What others than its user and the administrator send
 * is closed again. */
int ppi_label_box_take(int box, uint32_t *pid)
{
	union control control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	struct ucred sender = { 0, (uid_t)-1, (gid_t)-1 };
	int fd;

	do {
		message.msg_controllen = sizeof(control);
		fd = -1;
		if (recvmsg(box, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <
		    0)
			return -1;
		read_control(&message, &fd, &sender);
		if (fd >= 0 && (sender.pid <= 0 || (sender.uid != geteuid() &&
		                                    sender.uid != 0 &&
		                                    geteuid() != 0))) {
			close(fd);
			fd = -1;
		}
	} while (fd < 0);
	*pid = (uint32_t)sender.pid;
	return fd;
}
#else
void ppi_label_post(int fd)
{
	(void)fd;
}

int ppi_label_box_open(void)
{
	return -1;
}

int ppi_label_box_take(int box, uint32_t *pid)
{
	(void)box;
	(void)pid;
	return -1;
}
#endif
