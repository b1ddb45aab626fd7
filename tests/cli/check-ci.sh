#!/bin/sh
# SPDX-License-Identifier: MIT
# The jobs of doc/ci.md, run as a runner would: a first time, again with the same
# program, and with one that is slower.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
page=$srcdir/doc/ci.md
mkdir -p bin work

# the steps of a job as a shell script: blocks behind "run: |", items of "script:"
python3 - "$page" github gitlab <<'EOF' || { echo "skip: no jobs"; exit 77; }
import re, sys
blocks = re.findall(r"```yaml\n(.*?)```", open(sys.argv[1]).read(), re.S)
assert len(blocks) == 2, len(blocks)
steps = []
lines = blocks[0].split("\n")
for i, line in enumerate(lines):
    found = re.match(r"( *)(- )?run: \|", line)
    if not found:
        continue
    indent = len(found.group(1)) + len(found.group(2) or "")
    for step in lines[i + 1:]:
        if step.strip() and len(step) - len(step.lstrip()) <= indent:
            break
        steps.append(step)
open("github", "w").write("set -e\n" + "\n".join(steps) + "\n")
script = re.search(r"  script:\n((?:    - .*\n)+)", blocks[1]).group(1)
open("gitlab", "w").write("set -e\n" + "".join(
    line[6:] + "\n" for line in script.split("\n") if line))
EOF
for job in github gitlab; do
	has "$job: it measures" 'portprof record .*--repeat 5' $job
	has "$job: it can fail" '--fail-above' $job
done

printf '#!/bin/sh\nexit 0\n' >bin/make
printf '#!/bin/sh\nexec "%s" "$@"\n' "$portprof" >bin/portprof
chmod +x bin/make bin/portprof
PATH=$tmp/bin:$PATH

# app MS: the program that is looked after
app() {
	printf '#!/bin/sh\nexec "%s" %s\n' "$burn" "$1" >app
	chmod +x app
}
run_job() {
	sh "$tmp/$1" >"$tmp/out" 2>"$tmp/words"
}

for job in github gitlab; do
	rm -rf work && mkdir work && cd work || exit 99
	app 150
	run_job $job
	status=$?
	if [ $status -ne 0 ]; then
		echo "skip: $(tail -n 1 "$tmp/words")"
		exit 77
	fi
	same "$job, the first time: status" 0 $status
	check "$job, the first time: a base is left" [ -s base/new.pb.gz ]
	run_job $job
	same "$job, the same again: status" 0 $?
	app 400
	run_job $job
	same "$job, slower: status" 3 $?
	has "$job, slower: what" 'grew by [0-9.]+ %, more than' "$tmp/words"
	check "$job: a page to look at" grep -q '<html' diff.html
	cd ..
done
tap_end
