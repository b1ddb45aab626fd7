#!/bin/sh
# SPDX-License-Identifier: MIT
# What quickstart says and does about packages on systems that are not here:
# it runs in a folder of its own, where the tools that tell systems apart are
# played by scripts.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/tools/tap.sh"

# system NAME: a machine with the usual tools and no compiler
system() {
	rm -rf "$tmp/tree" "${tmp:?}/bin" "$tmp/asked"
	mkdir -p "$tmp/tree/.git" "$tmp/bin"
	cp "$srcdir/quickstart" "$tmp/tree/quickstart"
	for tool in sh dirname mkdir sed tail tr cut sleep env id grep awk date \
		cat rm getconf; do
		ln -s "$(command -v $tool)" "$tmp/bin/$tool"
	done
	plays uname "echo $1"
	plays true exit
}

# plays COMMAND SCRIPT: what stands for a command there
plays() {
	rm -f "$tmp/bin/$1"
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

quickstart() {
	(cd "$tmp/tree" && PATH=$tmp/bin ./quickstart "$@") \
		>"$tmp/said" 2>&1 </dev/null
	status=$?
}

# names WORDS PATTERN: it stopped, told the very command, and built nothing
names() {
	same "$1: stops" 1 "$status"
	has "$1: names the packages" "^    $2" "$tmp/said"
	has "$1: says what to do" 'as root, then|start ./quickstart again' "$tmp/said"
	same "$1: has built nothing" "quickstart.log" \
		"$(cd "$tmp/tree/build" && echo *)"
}

system Linux
plays dnf exit
quickstart
names "Fedora" 'dnf install gcc .*libpfm-devel.* libcmocka-devel$'

system Linux
quickstart
names "a Linux without dnf" '.*build-essential .*libpfm4-dev'

system FreeBSD
quickstart
names "FreeBSD" 'pkg install autoconf .*uthash .*cmocka$'

system DragonFly
quickstart
names "DragonFly" 'pkg install autoconf '

system NetBSD
quickstart
names "NetBSD" 'pkgin install autoconf .*cmocka$'

system SunOS
quickstart
names "illumos" 'pkg install gcc14 autoconf .*system/header '
has "illumos: and what IPS has not" 'pkgin install uthash' "$tmp/said"

# Debian where nothing may be installed.
system Linux
plays dpkg-query 'exit 1'
plays apt-get 'echo "$@" >>../../asked'
plays id 'echo 1000'
quickstart
names "Debian without rights" 'apt-get install build-essential .*libpfm4-dev'
check "Debian without rights: apt is not called" test ! -e "$tmp/asked"
has_not "Debian without rights: tests' packages are not asked for" \
	'libcmocka-dev' "$tmp/said"
quickstart check
has "Debian without rights, check: they are" 'libcmocka-dev' "$tmp/said"

# Debian with a sudo that asks for no password: all is installed by it. This
# apt-get installs nothing, so the next step fails and says where.
plays apt-get "echo \"\$@\" >>$tmp/asked"
# shellcheck disable=SC2016
plays sudo '[ "$1" = -n ] && shift && exec "$@"'
quickstart check
has "Debian with sudo: the list is fetched" 'update$' "$tmp/asked"
has "Debian with sudo: packages are installed" \
	'install --no-install-recommends build-essential ' "$tmp/asked"
has "Debian with sudo: nobody is asked" '^-o DPkg::Lock' "$tmp/asked"
has "Debian with sudo: the failure is told" \
	'^quickstart: autogen.sh failed; the end of ' "$tmp/said"

quickstart chekc
same "a wrong word: status" 1 "$status"
has "a wrong word: the usage" '^quickstart: usage: ./quickstart \[check\]' "$tmp/said"
tap_end
