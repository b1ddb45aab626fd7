# SPDX-License-Identifier: MIT
"""page.py PAGE: what is in a page, read without a browser and without the
page's own code: "total WEIGHT", then a line "SELF TOTAL FUNCTION" for each
function, by SELF. Exits with 1 where the page has anything from outside, or
markup that stands in the data."""
import base64
import gzip
import json
import re
import sys


def unpack(page, name):
    coding, text = re.search(
        'id="data-%s" data-coding="([a-z]+)">(.*?)</script>' % name, page,
        re.S).groups()
    data = base64.b64decode(text)
    return gzip.decompress(data) if coding == "gzip" else data


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def read(page):
    facts = json.loads(unpack(page, "facts"))
    source = numbers(unpack(page, "tree"))

    def column(count):
        return [next(source) for _ in range(count)]

    count = next(source)
    ups, frames = column(count), column(count)
    parents, chain = [], []
    for i, up in enumerate(ups):
        if i:
            del chain[len(chain) - up:]
        parents.append(chain[-1] if chain else -1)
        chain.append(i)
    series = []
    for _ in facts["series"]:
        samples = next(source)
        nodes = column(samples)
        for i in range(1, samples):
            nodes[i] += nodes[i - 1]
        series.append((nodes, column(samples), column(samples),
                       column(samples), column(samples),
                       column(samples) if facts["waits"] else [],
                       column(samples) if facts["label_sets"] else []))
    assert next(source, None) is None, "there is more in the tree"
    return facts, frames, parents, series


def fold(facts, frames, parents, samples):
    self_of, total_of = {}, {}
    for node, weight in zip(samples[0], samples[3]):
        leaf, seen = frames[node], set()
        self_of[leaf] = self_of.get(leaf, 0) + weight
        while node >= 0:
            seen.add(frames[node])
            node = parents[node]
        for frame in seen:
            total_of[frame] = total_of.get(frame, 0) + weight
    rows = [(self_of.get(f, 0), total_of[f], facts["functions"][f])
            for f in total_of if f]
    return sorted(rows, key=lambda row: (-row[0], -row[1], row[2]))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    facts, frames, parents, series = read(page)
    bare = re.sub("<script.*?</script>|<style.*?</style>", "", page,
                  flags=re.S)
    for pattern in ("https?://", r"\bsrc\s*=", "<link", "<iframe", "@import",
                    r"url\("):
        if re.search(pattern, page if "url" in pattern else bare):
            print("# the page asks for something outside: " + pattern)
            sys.exit(1)
    if "default-src 'none'" not in page or "unsafe" in page:
        print("# no policy that forbids everything from outside")
        sys.exit(1)
    which = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print("total", facts["series"][which]["total"])
    for row in fold(facts, frames, parents, series[which]):
        print(*row)


if __name__ == "__main__":
    main()
