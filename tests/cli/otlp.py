# SPDX-License-Identifier: MIT
"""A reader of OTLP profiles that shares nothing with portprof: the numbers of
opentelemetry-proto's profiles/v1development/profiles.proto, decoded by hand.
otlp.py FILE prints, as JSON, each profile's type, unit, flat weights by
function, totals by thread and number of times, and what breaks the rules of
the dictionary."""
import json
import sys

from pprof import fields, first, message, numbers

TABLES = {1: "mapping", 2: "location", 3: "function", 4: "link", 5: "string",
          6: "attribute", 7: "stack"}

data = message(open(sys.argv[1], "rb").read())
assert set(data) == {1, 2} and len(data[2]) == 1, sorted(data)
dictionary = message(data[2][0])
tables = {name: dictionary[number] for number, name in TABLES.items()}
broken = []
for name, table in tables.items():
    if name != "link" and table[0]:
        broken.append("%s 0 is not empty" % name)
    if name != "location" and name != "mapping":
        if len(set(table)) != len(table):
            broken.append("%ss twice" % name)
if [len(part) for _, part in fields(tables["link"][0])] != [16, 8]:
    broken.append("link 0 has no identifiers of 16 and 8 bytes")
strings = [text.decode() for text in tables["string"]]
tables = {name: [message(item) for item in table]
          for name, table in tables.items() if name != "string"}


def attributes(numbers_of):
    out = {}
    for number in numbers(numbers_of):
        item = tables["attribute"][number]
        value = message(item[2][0])
        key = strings[first(item, 1)]
        if number == 0 or key in out:
            broken.append("attribute %s twice" % key)
        out[key] = value[1][0].decode() if 1 in value else value[3][0]
    return out


def function_of(stack):
    chain = numbers(tables["stack"][stack].get(1, []))
    if not chain:
        return "(nothing)"
    place = tables["location"][chain[0]]
    mapping = tables["mapping"][first(place, 1)]
    if 3 not in place:
        return strings[first(mapping, 4)]
    function = tables["function"][first(message(place[3][0]), 1)]
    return strings[first(function, 1)]


resource = message(data[1][0])
attributes_of_resource = {}
for item in message(resource[1][0]).get(1, []) if 1 in resource else []:
    item = message(item)
    attributes_of_resource[item[1][0].decode()] = message(
        item[2][0])[1][0].decode()
scope = message(resource[2][0])
profiles = []
for profile in map(message, scope[2]):
    kind = message(profile[1][0])
    out = {"type": strings[first(kind, 1)], "unit": strings[first(kind, 2)],
           "functions": {}, "threads": {}, "times": 0,
           "attributes": {}, "spans": {}}
    seen = set()
    for sample in map(message, profile.get(2, [])):
        values = numbers(sample.get(4, []))
        times = sample.get(5, [b""])[0]
        identity = (first(sample, 1), tuple(numbers(sample.get(2, []))))
        if identity in seen:
            broken.append("a sample twice")
        seen.add(identity)
        if not values or times and len(times) != 8 * len(values):
            broken.append("%d values, %d bytes of times" % (len(values),
                                                            len(times)))
        begin = int.from_bytes(profile.get(3, [b""])[0], "little")
        out["times"] += sum(
            0 <= int.from_bytes(times[i:i + 8], "little") - begin <=
            first(profile, 4) for i in range(0, len(times), 8))
        name = function_of(first(sample, 1))
        out["functions"][name] = out["functions"].get(name, 0) + sum(values)
        own = attributes(sample.get(2, []))
        key = "%s/%s %s" % (own.get("process.pid"), own.get("thread.id"),
                            own.get("thread.name"))
        out["threads"][key] = out["threads"].get(key, 0) + sum(values)
        for pair in own.items():
            key = "%s=%s" % pair
            out["attributes"][key] = out["attributes"].get(key, 0) + sum(values)
        if first(sample, 3):
            link = tables["link"][first(sample, 3)]
            key = link[1][0].hex() + "/" + link[2][0].hex()
            out["spans"][key] = out["spans"].get(key, 0) + sum(values)
    profiles.append(out)
json.dump({"scope": message(scope[1][0])[1][0].decode(), "profiles": profiles,
           "resource": attributes_of_resource, "broken": broken,
           "build_ids": [attributes(mapping[5]).get(
               "process.executable.build_id.gnu")
               for mapping in tables["mapping"] if 5 in mapping]}, sys.stdout)
