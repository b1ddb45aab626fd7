#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of report --html and diff --html in a browser: mouse, keyboard,
# touch, search, the difference, hostile names, colours, three widths.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
PYTHONPATH=$srcdir/tests/html
export PYTHONPATH
python3 -c 'import browser, sys; sys.exit(not browser.find())' ||
	{ echo "skip: no Chromium (Debian: chromium)"; exit 77; }
python3 -c 'import browser; browser.Browser().close()' 2>words ||
	{ echo "skip: Chromium does not start here: $(tail -n 1 words)"; exit 77; }

make="$srcdir/tests/html/write_profile.py"
for kind in small weak many labels before after hostile; do
	python3 "$make" $kind $kind.pb.gz
done
python3 "$srcdir/tests/cli/hostile.py" write evil.pb.gz
for kind in small weak many labels before after hostile evil; do
	"$portprof" report --html $kind.html $kind.pb.gz || exit 99
done
"$portprof" diff --html diff.html before.pb.gz after.pb.gz || exit 99
"$portprof" diff --html same.html before.pb.gz before.pb.gz || exit 99
for kind in wall idle times woken; do
	python3 "$srcdir/tests/cli/wall_profile.py" $kind $kind.pb.gz &&
		"$portprof" report --html $kind.html $kind.pb.gz || exit 99
done
python3 "$srcdir/tests/html/try_page.py" .
