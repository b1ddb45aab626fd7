# SPDX-License-Identifier: MIT
# For tests of what the command draws: a terminal of tmux, of which the screen is read.
# Source it behind cli.sh, in $tmp; without tmux the script ends. Then say
#   begin COLUMNS LINES       a new terminal, with a shell that knows
#   run COMMAND...            (typed there) how the terminal is before and after
#   type_keys KEY...          keys as tmux names them
#   shows PATTERN             whether a line matches now (grep -E)
#   await WORDS PATTERN       a case: one does, soon
#   shown                     the screen, into the file of that name
#   screen ARGUMENT...        tmux, of this terminal
# shellcheck shell=sh disable=SC2154,SC2034 # of cli.sh

command -v tmux >/dev/null || {
	skip "the screen" "no tmux"
	tap_end
}
# a chroot or container may have no /dev/pts
tmux -S "$tmp/tmux" -f /dev/null new-session -d 'sleep 600' >/dev/null 2>&1 || {
	skip "the screen" "no terminal can be made here"
	tap_end
}
tmux -S "$tmp/tmux" kill-server
# tmux needs a locale in which it may send UTF-8
LC_ALL=C.UTF-8
export LC_ALL

# a server that ends must not be met by the next session
terminals=0
screen() {
	tmux -S "$tmp/tmux$terminals" "$@"
}

shown() {
	screen capture-pane -p >shown 2>/dev/null
}

# shows PATTERN
# shellcheck disable=SC2317
shows() {
	shown
	grep -Eq -e "$1" shown
}

# What must come, comes; a busy machine takes its time.
await() {
	if wait_for shows "$2"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# the screen has not: $2"
		sed 's/^/# > /' shown
	fi
}

type_keys() {
	screen send-keys "$@"
}

# A shell that prints how the terminal is, before and after each command.
cat >shell <<'EOF'
stty sane
PS1='$ '
settings() {
	stty -a | sed 's/rows [0-9]*; columns [0-9]*;//'
}
run() {
	settings >before
	sh -c 'echo $$ >pid; exec "$@"' sh "$@"
	echo "status $?" >ended
	settings >after
	cmp before after >differs 2>&1 && [ ! -s differs ] && echo "left as it was"
}
EOF
begin() {
	rm -f before after differs ended pid
	end
	terminals=$((terminals + 1))
	TERM=screen screen -f /dev/null new-session -d -x "$1" -y "$2" \
		"ENV=$tmp/shell PS1='\$ ' sh -i"
	screen set-option -g remain-on-exit on
	wait_for shows '^[$]( fg)?$' || echo "# no shell"
}
end() {
	screen kill-server 2>/dev/null
}
at_end=end
