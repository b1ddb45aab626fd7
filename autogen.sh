#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes ./configure from what git holds. A release tarball needs none of this.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --force --install "$@"
