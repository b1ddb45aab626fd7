#!/bin/sh
# SPDX-License-Identifier: MIT
# The null backend measures nothing. So what it passes proves nothing about
# measuring, and may only be of names, refusals and the life of a session: the
# clauses below, and no other.
set -eu
. "${srcdir:-$(dirname "$0")/../..}/tests/tools/tap.sh"

# Clauses by family. A case that joins them asks for too little, or is about
# lives and refusals; one that leaves them asks for too much.
cat >"$tmp/expected" <<'END'
count 1
err 1 2 3 4 6 7 8 9
event 1 2 3 4 5 6 7 8 10
hist 1 3 4 5 10
label 2
life 6 7 8 9 11 14 16 19 20 21 22 23
loss 14
sample 1 10 12 15 16
sel 1 2 3 4 5 6 7 8
sink 1 3 4 5 7
END

# What a build leaves out it would have passed.
tests/conform/conform_null >"$tmp/lines" 2>&1 || not_ok "the suite on null"
grep -E '^ok [0-9]+ - [a-z]+_[0-9]+_' "$tmp/lines" >"$tmp/ok" || true
grep -vE '# SKIP' "$tmp/ok" >"$tmp/passed" || true
grep -E '# SKIP.*(left out of this build|linker cannot|Sanitizer)' \
	"$tmp/ok" >"$tmp/left_out" || true
clauses() {
	sed -E 's/^ok [0-9]+ - ([a-z]+)_([0-9]+)_.*/\1 \2/' "$@" | sort -u
}

# shellcheck disable=SC2016
tr ' ' '\n' <"$tmp/expected" | LC_ALL=C ${AWK:-awk} '
/^[a-z]/ { family = $0; next }
{ print family, $0 }' | sort -u >"$tmp/may"
clauses "$tmp/passed" >"$tmp/did"
clauses "$tmp/left_out" >"$tmp/excused"
same "nothing passes that measures" "" "$(comm -13 "$tmp/may" "$tmp/did")"
sort -u "$tmp/did" "$tmp/excused" >"$tmp/enough"
same "all lives and refusals pass" "" "$(comm -23 "$tmp/may" "$tmp/enough")"

# Each case that is skipped says what it would need.
grep -E '# SKIP' "$tmp/ok" >"$tmp/skipped" || true
has_not "each that does not apply says why" '# SKIP *$' "$tmp/skipped"
tap_end
