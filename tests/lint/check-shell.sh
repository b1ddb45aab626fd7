#!/bin/sh
# SPDX-License-Identifier: MIT
# Shell scripts pass shellcheck.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"
command -v shellcheck >/dev/null || { echo "skip: no shellcheck here"; exit 77; }
# shellcheck disable=SC2046
shellcheck quickstart autogen.sh release.sh .ci/run $(find tests tools bench examples doc \
	-name '*.sh' | sort)
echo "check-shell: clean"
