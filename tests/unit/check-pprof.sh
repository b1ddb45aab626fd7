#!/bin/sh
# SPDX-License-Identifier: MIT
# pprof itself finds in our files what the model says, in portions and at the
# end, and we find in what pprof writes the same again.
set -eu
srcdir=${srcdir:-.}
builddir=${builddir:-.}

go=
for place in go /usr/lib/go-*/bin/go /usr/local/go/bin/go; do
	if command -v "$place" >/dev/null 2>&1 &&
		"$place" tool pprof -h >/dev/null 2>&1; then
		go=$place
	fi
done
if [ -z "$go" ]; then
	echo "skip: go is not here (Debian: golang-go), so pprof cannot be asked"
	exit 77
fi
make=$builddir/tests/unit/file_make
if [ ! -x "$make" ]; then
	echo "skip: built without profile files or without CMocka"
	exit 77
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' 0
HOME=$tmp GOFLAGS='' GOTOOLCHAIN=local
export HOME GOFLAGS GOTOOLCHAIN

raw() {
	"$go" tool pprof -symbolize=none -raw "$1" 2>"$tmp/words" |
		${AWK:-awk} -f "$srcdir/tests/unit/pprof-raw.awk" |
		LC_ALL=C sort >"$2"
}

for seed in 1 2 3 4 5 6; do
	"$make" random $seed "$tmp/portions.pb.gz" "$tmp/whole.pb.gz" \
		>"$tmp/model"
	for form in portions whole; do
		raw "$tmp/$form.pb.gz" "$tmp/$form"
		cmp -s "$tmp/model" "$tmp/$form" || {
			diff "$tmp/model" "$tmp/$form" | head -n 9
			head -n 3 "$tmp/words"
			echo "seed $seed: pprof reads something else in $form"
			exit 1
		}
	done
	# through pprof and back
	"$go" tool pprof -symbolize=none -proto -output="$tmp/theirs.pb.gz" \
		"$tmp/portions.pb.gz" 2>"$tmp/words"
	"$make" text "$tmp/theirs.pb.gz" | grep '^sample' >"$tmp/theirs"
	cmp -s "$tmp/model" "$tmp/theirs" || {
		diff "$tmp/model" "$tmp/theirs" | head -n 9
		echo "seed $seed: we read something else in what pprof wrote"
		exit 1
	}
	echo "# seed $seed: $(wc -l <"$tmp/model") samples agree"
done

# what a person reads first
"$go" tool pprof -symbolize=none -top "$tmp/whole.pb.gz" 2>/dev/null >"$tmp/top"
grep -q '^portprof.backend=paper$' "$tmp/top"
grep -q '^Type: cpu$' "$tmp/top"

# A torn file is for portprof to read, and pprof reads what it makes of it.
"$make" torn 7 "$tmp/torn.pb.gz"
if "$go" tool pprof -raw "$tmp/torn.pb.gz" >/dev/null 2>"$tmp/words"; then
	echo "pprof reads torn files now: doc/file-format.md says it does not"
	exit 1
fi
"$make" repair "$tmp/torn.pb.gz" "$tmp/mended.pb.gz"
"$make" text "$tmp/torn.pb.gz" | grep '^sample' >"$tmp/torn"
raw "$tmp/mended.pb.gz" "$tmp/mended"
diff "$tmp/torn" "$tmp/mended" >&2
test -s "$tmp/mended"
