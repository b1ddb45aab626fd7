# SPDX-License-Identifier: MIT
"""A reader of pprof files that shares nothing with portprof: profile.proto of
google/pprof, decoded by hand. pprof.py FILE prints, as JSON, the flat weights
by function and by label "thread", the mappings, and how many functions and lines
there are."""
import gzip
import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            size = 8 if key & 7 == 1 else 4
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def numbers(values):
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            out.append(number)
    return out


def first(of, number):
    return of.get(number, [0])[0]


def read(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    whole = message(data)
    strings = [text.decode() for text in whole[6]]
    functions = {}
    for raw in whole.get(5, []):
        function = message(raw)
        functions[first(function, 1)] = (strings[first(function, 2)],
                                         strings[first(function, 4)])
    mappings = {}
    for raw in whole.get(3, []):
        mapping = message(raw)
        mappings[first(mapping, 1)] = {
            "file": strings[first(mapping, 5)],
            "build_id": strings[first(mapping, 6)],
            "has_functions": first(mapping, 7),
            "has_lines": first(mapping, 9),
            "has_inlines": first(mapping, 10)}
    locations = {}
    for raw in whole.get(4, []):
        location = message(raw)
        lines = []
        for line in map(message, location.get(4, [])):
            lines.append(functions[first(line, 1)] + (first(line, 2),))
        locations[first(location, 1)] = lines
    weights, samples, inner, threads = {}, 0, {}, {}
    for raw in whole.get(2, []):
        sample = message(raw)
        leaf = numbers(sample.get(1, []))[:1]
        values = numbers(sample[2])
        lines = locations[leaf[0]] if leaf else []
        name = lines[-1][0] if lines else "?"
        inlined = lines[0][0] if lines else "?"
        weights[name] = weights.get(name, 0) + values[-1]
        inner[inlined] = inner.get(inlined, 0) + values[-1]
        samples += values[0]
        for label in map(message, sample.get(3, [])):
            if strings[first(label, 1)] == "thread":
                thread = strings[first(label, 2)]
                threads[thread] = threads.get(thread, 0) + values[-1]
    return {"outer": weights, "inner": inner, "samples": samples,
            "threads": threads,
            "mappings": list(mappings.values()),
            "functions": len(functions),
            "lines": sum(len(lines) for lines in locations.values()),
            "sources": sorted({line[1] for lines in locations.values()
                               for line in lines if line[1]}),
            "locations": len(locations)}


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout, indent=1)
