# SPDX-License-Identifier: MIT
"""What was sent, decoded by hand and apart from portprof: push.v1 of Pyroscope,
WriteRaw of Parca as JSON. push.py pyroscope|parca FILE prints, as JSON, of each series
its labels, and of its profile the sums by function. The profile's own file is
written to FILE.N.pb.gz."""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(sys.argv[0]), "..", "cli"))
from pprof import fields, message  # noqa: E402


def pyroscope(data):
    for number, series in fields(data):
        assert number == 1, number
        series = message(series)
        assert set(series) <= {1, 2}, sorted(series)
        labels = [message(raw) for raw in series[1]]
        names = [(label[1][0].decode(), label[2][0].decode())
                 for label in labels]
        assert len(series[2]) == 1
        sample = message(series[2][0])
        yield names, sample[1][0], sample[2][0].decode()


def parca(data):
    whole = json.loads(data)
    assert set(whole) == {"series", "normalized"}, sorted(whole)
    for series in whole["series"]:
        names = [(label["name"], label["value"])
                 for label in series["labels"]["labels"]]
        assert len(series["samples"]) == 1
        raw = series["samples"][0]["rawProfile"]
        yield names, base64.b64decode(raw, validate=True), ""


out = []
data = open(sys.argv[2], "rb").read()
for at, (names, profile, name) in enumerate(
        {"pyroscope": pyroscope, "parca": parca}[sys.argv[1]](data)):
    assert len(dict(names)) == len(names), names
    with open("%s.%d.pb.gz" % (sys.argv[2], at), "wb") as file:
        file.write(profile)
    out.append({"labels": dict(names), "id": name})
json.dump(out, sys.stdout)
