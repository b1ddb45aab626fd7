#!/bin/sh
# SPDX-License-Identifier: MIT
# push, with labels and spans, and fetch beside servers that are made of the published protos of Pyroscope, Parca
# and OpenTelemetry (protos.js). PORTPROF_PROTOS names a folder with these, as
#   pyroscope/api, parca/proto and opentelemetry/opentelemetry/proto
# of grafana/pyroscope, parca-dev/parca and open-telemetry/opentelemetry-proto on GitHub:
# no package has them. A folder with the libraries in node_modules may be named by
# PORTPROF_CONNECT.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
need_fleet
need_command node

if [ -z "${PORTPROF_PROTOS-}" ]; then
	echo "skip: PORTPROF_PROTOS names no folder with the published protos"
	exit 77
fi
if [ -z "${PORTPROF_CONNECT-}" ]; then
	need_command npm
	mkdir npm
	(cd npm && timeout 300 npm install protobufjs @bufbuild/protobuf \
		@connectrpc/connect @connectrpc/connect-node) >npm.words 2>&1 || {
		echo "skip: no Connect: $(grep -v '^$' npm.words | tail -n 1)"
		exit 77
	}
	PORTPROF_CONNECT=$PWD/npm
fi
mkdir web
NODE_PATH=$PORTPROF_CONNECT/node_modules node "$srcdir/tests/fleet/protos.js" web \
	"$PORTPROF_PROTOS" >web/words 2>&1 &
at_end="$at_end; kill $! 2>/dev/null"
if ! wait_for test -f web/port; then
	sed 's/^/# /' web/words
	echo "skip: the servers do not start"
	exit 77
fi
url=http://127.0.0.1:$(cat web/port)

record -q -g -F 997 -o run.pb.gz -- "$burn" 400
"$portprof" report -j run.pb.gz >own.json
# got N EXPRESSION: of the object m, the message of request N
got() {
	python3 -c '
import json, sys
m = json.load(open("web/%04d.json" % int(sys.argv[1])))["message"]
print(eval(sys.argv[2]))' "$@" 2>&1
}
# same_functions FILE: of a profile that is as it was measured
same_functions() {
	"$portprof" report -j "$1" >got.json
	python3 -c '
import json
own, got = (json.load(open(n)) for n in ("own.json", "got.json"))
print(own["samples"] == got["samples"] and [
    [x["total_weight"] for x in r["functions"] if x["name"] == "burn_much"]
    for r in (own, got)])'
}
weights=$(python3 -c '
import json
r = json.load(open("own.json"))
print(2 * [[x["total_weight"] for x in r["functions"] if x["name"] == "burn_much"]])')

check "Pyroscope takes it" "$portprof" push --to "pyroscope+$url" --tag env=prod run.pb.gz
same "Pyroscope: labels" "[('__name__', 'process_cpu'), ('env', 'prod'), ('service_name', 'burn')]" \
	"$(got 1 '[(l["name"], l["value"]) for l in sorted(m["series"][0]["labels"], key=lambda l: l["name"]) if l["name"] not in ("host", "version")]')"
same "Pyroscope: an id" 36 "$(got 1 'len(m["series"][0]["samples"][0]["ID"])')"
same "Pyroscope: what was measured" "$weights" "$(same_functions web/0001.0.pb.gz)"

check "Parca takes it" "$portprof" push --to "parca+$url" --tag env=prod run.pb.gz
same "Parca: labels" "[('__name__', 'process_cpu'), ('env', 'prod'), ('job', 'burn')]" \
	"$(got 2 '[(l["name"], l["value"]) for l in sorted(m["series"][0]["labels"]["labels"], key=lambda l: l["name"]) if l["name"] not in ("host", "version")]')"
same "Parca: what was measured" "$weights" "$(same_functions web/0002.0.pb.gz)"

check "OpenTelemetry takes it" "$portprof" push --to "otlp+$url" --tag team=a run.pb.gz
same "OpenTelemetry: the service" "['burn']" \
	"$(got 3 '[a["value"]["value"]["value"] for a in m["resourceProfiles"][0]["resource"]["attributes"] if a["key"] == "service.name"]')"
same "OpenTelemetry: samples" \
	"$(python3 -c 'import json; print(sum(x["self_weight"] for x in json.load(open("own.json"))["functions"]))')" \
	"$(got 3 'sum(int(v) for p in m["resourceProfiles"][0]["scopeProfiles"][0]["profiles"] for s in p["samples"] for v in s["values"])')"

cp web/0001.0.pb.gz web/answer.pb
check "Pyroscope is asked" "$portprof" fetch -q --from "pyroscope+$url" --service burn \
	--label env=prod --since 2h -o back.pb.gz
same "Pyroscope: the question" \
	'process_cpu:cpu:nanoseconds:cpu:nanoseconds {service_name="burn",env="prod"} 7200000' \
	"$(got 4 '" ".join([m.get("profileTypeID") or m["profile_typeID"], m.get("labelSelector") or m["label_selector"], str(int(m["end"]) - int(m["start"]))])')"
same "Pyroscope: what comes back" "$weights" "$(same_functions back.pb.gz)"
check "Parca is asked" "$portprof" fetch -q --from "parca+$url" --service burn -o back.pb.gz
same "Parca: the question" \
	'process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta{job="burn"}' \
	"$(got 5 'm["options"]["value"]["query"]')"
same "Parca: what comes back" "$weights" "$(same_functions back.pb.gz)"

# labels are attributes of samples, and a span is what their link names
labelled=$programs/label_burn
[ ! -x "$programs/.libs/label_burn" ] || labelled=$programs/.libs/label_burn
record -q -F 997 -o labels.pb.gz -- "$labelled" 4 400 2000 span
"$portprof" report -q -n 0 -x ';' -s label:endpoint labels.pb.gz >rows
"$portprof" report -q -n 0 -x ';' -s label:span_id labels.pb.gz >spans
check "OpenTelemetry takes labels" "$portprof" push --to "otlp+$url" \
	--sample-labels endpoint,trace_id,span_id labels.pb.gz
# by_label ROWS: weights by the label in the last column, of what has one
by_label() {
	python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1]), delimiter=";"))
at = list(rows[0])[-1]
print({r[at]: round(float(r["self"])) for r in sorted(rows, key=lambda r: r[at])
       if r[at][0] != "("})' "$1" 2>&1
}
cat >sums.py <<'EOT'
import json
m = json.load(open('web/0006.json'))['message']
d = m['dictionary']
text = d['stringTable']


def attributes(sample):
    for i in sample.get('attributeIndices', []):
        pair = d['attributeTable'][i]
        yield text[pair['keyStrindex']], pair['value']['value']['value']


def sums(name):
    found = {}
    for r in m['resourceProfiles']:
        for scope in r['scopeProfiles']:
            for profile in scope['profiles']:
                for sample in profile['samples']:
                    for value in name(sample):
                        found[value] = found.get(value, 0) + sum(
                            int(v) for v in sample['values'])
    return dict(sorted(found.items()))


def linked(sample):
    link = d['linkTable'][sample.get('linkIndex', 0)]
    if sample.get('linkIndex', 0) and len(link['traceId']['data']) == 16:
        yield bytes(link['spanId']['data']).hex()
EOT
same "OpenTelemetry: attributes" "$(by_label rows)" "$(python3 -c '
from sums import attributes, sums
print(sums(lambda s: [v for k, v in attributes(s) if k == "endpoint"]))' 2>&1)"
same "OpenTelemetry: links" "$(by_label spans)" "$(python3 -c '
from sums import linked, sums
print(sums(linked))' 2>&1)"
[ ! -s web/words ] || sed 's/^/# /' web/words
tap_end
