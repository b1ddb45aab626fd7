/* SPDX-License-Identifier: MIT */
/*
 * The first and only process of the guest: makes it a place where events can
 * be measured, runs the commands of /commands, one a line, and switches off.
 *
 * Words are parted by blanks; there is no quoting. Around each command stands
 * what run.sh looks for: "@begin LINE" and "@end STATUS" (128 + signal).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds of the guest, in each of which it executes a thousand million
 * instructions: much more than any command needs. */
enum { WORDS_MAX = 32, LINE_BYTES = 512, PATIENCE_S = 10 };

static volatile pid_t running;

static void complain(const char *what)
{
	printf("@complaint %s: %s\n", what, strerror(errno));
}

static void mount_one(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL) != 0)
		complain(where);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		complain(path);
	if (fd >= 0)
		close(fd);
}

static void end_running(int signal)
{
	(void)signal;
	if (running > 0)
		kill(running, SIGKILL);
}

static void run_words(char **words)
{
	static char *const environment[] = {
		"PATH=/bin", "HOME=/tmp", "CMOCKA_MESSAGE_OUTPUT=TAP", NULL
	};
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		execve(words[0], words, environment);
		complain(words[0]);
		fflush(stdout);
		_exit(127);
	}
	if (child < 0)
		complain("fork");
	running = child;
	alarm(PATIENCE_S);
	/* Whatever else ends was left behind by a command. */
	while (child > 0 && waitpid(-1, &status, 0) != child)
		;
	alarm(0);
	running = 0;
	printf("@end %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	                                        : WEXITSTATUS(status));
	fflush(stdout);
}

static void run_line(char *line)
{
	char *words[WORDS_MAX + 1] = { NULL };
	size_t count = 0;
	char *rest = NULL;

	line[strcspn(line, "\n")] = '\0';
	printf("@begin %s\n", line);
	fflush(stdout);
	for (char *word = strtok_r(line, " ", &rest);
	     word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	if (count > 0)
		run_words(words);
}

static void prepare(void)
{
	mount_one("proc", "/proc");
	mount_one("sysfs", "/sys");
	mount_one("devtmpfs", "/dev");
	mount_one("tmpfs", "/tmp");
	mount_one("tracefs", "/sys/kernel/tracing");
	mount_one("cgroup2", "/sys/fs/cgroup");
	/* Before any controller is on, groups have none for perf events either
	 * (kernel/cgroup/cgroup.c, cgroup_refresh_subtree_ss_mask). */
	set("/sys/fs/cgroup/cgroup.subtree_control", "+pids");
	/* Off by default: reads by the program itself (arm64, Linux 5.17). */
	set("/proc/sys/kernel/perf_user_access", "1");
	set("/proc/sys/kernel/perf_event_paranoid", "-1");
	/* Exact counts leave no room for a kernel that slows us down. */
	set("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

int main(void)
{
	char line[LINE_BYTES];
	FILE *commands;

	prepare();
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = end_running },
	          NULL);
	commands = fopen("/commands", "re");
	if (!commands)
		complain("/commands");
	while (commands && fgets(line, sizeof(line), commands))
		run_line(line);
	printf("@done\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	complain("power off");
	for (;;)
		pause();
}
