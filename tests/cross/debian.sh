# SPDX-License-Identifier: MIT
# Packages of another architecture, on Debian: fetched and unpacked, nothing
# installed, no architecture added. Sourced by what sets, before it calls these,
#   $debian   the architecture as Debian calls it
#   $here     a folder for its lists and packages
# shellcheck shell=sh

# foreign_apt TOOL ARGUMENT...: apt-get or apt-cache, which knows that
# architecture alone
foreign_apt() {
	foreign_tool=$1
	shift
	# shellcheck disable=SC2154
	"$foreign_tool" -q -o APT::Architecture="$debian" \
		-o APT::Architectures="$debian" -o Debug::NoLocking=1 \
		-o Dir::State="$here/apt" -o Dir::Cache="$here/apt" \
		-o Dir::State::status="$here/apt/status" \
		-o APT::Sandbox::User='' -o Acquire::Languages=none "$@"
}

# An apt that has nothing installed.
foreign_begin() {
	mkdir -p "$here/apt/lists/partial" "$here/apt/archives/partial" \
		"$here/debs"
	: >"$here/apt/status"
}
