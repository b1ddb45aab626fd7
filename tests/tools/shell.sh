# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Sourced by tests that build the tree once more: configure and libtool, which is run for
# each file that is compiled, take half of the time in a small shell, where there is one.
# What CONFIG_SHELL says already stays.
if [ -z "${CONFIG_SHELL-}" ] && command -v dash >/dev/null; then
	CONFIG_SHELL=$(command -v dash)
	export CONFIG_SHELL
fi
