# SPDX-License-Identifier: MIT
"""write_profile.py KIND FILE: a profile of known numbers, as pprof has it.

weak       a tenth at a function of the kernel that lets interrupts in, a fifth
           in code without names
many       a thousand functions of a ten-thousandth each beside a large one
wide       names of characters that are two columns wide, and of accents that
           are none
stripped   half of it in a library of a package, without names
small      two threads, four functions in two modules, ten samples
labels     two processes with three threads, endpoints and spans as labels; a tenth has
           none
before, after   two runs: one function 20 % slower, one gone, one new, the
           others as they were but for chance
same       another run of `before`
deep N     N chains of random depth from 12 to 47
hostile    names with markup, quotes, scripts and control characters
"""
import gzip
import random
import sys


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


class Profile:
    """Functions are (name, module), without a name (None, module); a chain is
    outermost first."""

    def __init__(self):
        self.strings, self.numbers = [""], {"": 0}
        self.places, self.mappings, self.body = {}, {}, []
        for name, unit in (("samples", "count"), ("cpu", "nanoseconds")):
            self.body.append(message(1, number(1, self.text(name)) +
                                     number(2, self.text(unit))))

    def text(self, word):
        if word not in self.numbers:
            self.numbers[word] = len(self.strings)
            self.strings.append(word)
        return self.numbers[word]

    def start(self, module):
        if module == "[kernel]":
            return 0xffffffff << 32
        return self.mappings[module] << 32

    def place(self, function):
        if function not in self.places:
            name, module = function
            if module not in self.mappings:
                i = len(self.mappings) + 1
                self.mappings[module] = i
                start = self.start(module)
                self.body.append(message(3, number(1, i) + number(
                    2, start) + number(3, start + (1 << 31)) + number(
                        5, self.text(module)) + number(7, 1) + (
                            number(6, self.text("0123456789abcdef"))
                            if module.startswith("/usr/") else b"")))
            i, m = len(self.places) + 1, self.mappings[module]
            self.places[function] = i
            line = b""
            if name is not None:
                self.body.append(message(5, number(1, i) +
                                         number(2, self.text(name))))
                line = message(4, number(1, i))
            self.body.append(message(4, number(1, i) + number(2, m) + number(
                3, self.start(module) + i) + line))
        return self.places[function]

    def add(self, chain, samples, weight, thread=(7, 7), words=()):
        places = b"".join(varint(self.place(f)) for f in reversed(chain))
        labels = b"".join(
            message(3, number(1, self.text(key)) + number(3, value))
            for key, value in zip(("pid", "tid"), thread)) + b"".join(
            message(3, number(1, self.text(key)) + number(2, self.text(value)))
            for key, value in words)
        self.body.append(message(2, message(1, places) + message(
            2, varint(samples) + varint(weight)) + labels))

    def write(self, path):
        body = b"".join(self.body) + b"".join(
            message(6, s) for s in self.strings)
        with open(path, "wb") as out:
            out.write(gzip.compress(body, 6))


MAIN, WORK = ("main", "/x/app"), ("work", "/x/app")
PARSE, COPY = ("parse(char const*)", "/x/app"), ("memcpy", "/lib/libc.so.6")
MS = 1000000


def small(profile):
    profile.add([MAIN, WORK, PARSE], 400, 400 * MS)
    profile.add([MAIN, WORK, PARSE, COPY], 300, 300 * MS)
    profile.add([MAIN, WORK, COPY], 100, 100 * MS, (7, 8))
    profile.add([MAIN, WORK], 150, 150 * MS)
    profile.add([MAIN], 50, 50 * MS)


def labels(profile):
    for i, (endpoint, share) in enumerate((("/checkout", 60), ("/search", 30),
                                           (None, 10))):
        thread = ((7, 7), (7, 8), (9, 9))[i]
        for j, function in enumerate((PARSE, COPY)):
            words = [("endpoint", endpoint),
                     ("span_id", "%016x" % (16 * i + j + 1))]
            profile.add([MAIN, WORK, function], share * 5, share * 5 * MS,
                        thread, words if endpoint else ())


def weak(profile):
    profile.add([MAIN, WORK], 350, 350 * MS)
    profile.add([MAIN, WORK, (None, "/x/plugin.so")], 100, 100 * MS, (7, 8))
    profile.add([MAIN, ("finish_task_switch.isra.0", "[kernel]")], 50, 50 * MS)


def stripped(profile):
    profile.add([MAIN, (None, "/usr/lib/none/libnone.so.1")], 500, 500 * MS)
    profile.add([MAIN], 500, 500 * MS)


def many(profile):
    profile.add([MAIN, WORK], 9000, 9000 * MS)
    for i in range(1000):
        profile.add([MAIN, ("rare_%d" % i, "/x/app")], 1, MS)


def wide(profile):
    profile.add([MAIN, ("計算関数" * 20, "/x/模块.so")],
                60, 60 * MS)
    profile.add([MAIN, ("cafe\u0301" * 30, "/x/😀.so")], 40, 40 * MS)
    profile.add([MAIN], 10, 10 * MS)


def run(profile, seed, slow=1.0, has_old=True, has_new=False):
    chance = random.Random(seed)
    for i in range(40):
        mean = 4000 / (i + 1)
        if i == 3:
            mean *= slow
        count = max(1, round(chance.gauss(mean, mean ** 0.5)))
        profile.add([MAIN, WORK, ("function_%d" % i, "/x/app")], count,
                    count * MS)
    if has_old:
        profile.add([MAIN, ("old_way", "/x/app")], 300, 300 * MS)
    if has_new:
        profile.add([MAIN, ("new_way", "/x/app")], 200, 200 * MS)


def deep(profile, count):
    chance = random.Random(3)
    names = [("function_%d_of_the_program" % i, "/x/lib%d.so" % (i % 9))
             for i in range(4000)]
    for _ in range(count):
        at, chain = chance.randrange(40), []
        for _ in range(chance.randrange(12, 48)):
            chain.append(names[at])
            # few callees are common, many are rare
            at = (at * 31 + int(chance.paretovariate(0.9))) % len(names)
        profile.add(chain, 1, chance.randrange(900000, 1100000),
                    (7, 7 + chance.randrange(8)))


EVIL = ["</script><script>window.harm=1</script>",
        "<img src=x onerror=window.harm=1>", "\"><b onclick='x'>&amp;",
        "${window.harm=1}", "`+alert(1)+`", "\x1b]0;title\x07", "\u202egnp.exe",
        "a\nb\rc", "__proto__", "constructor", "toString", "", " ",
        "x" * 5000, "\\u003cscript\\u003e", "<!--", "]]>", "größe_測定_😀"]


def hostile(profile):
    for i, name in enumerate(EVIL):
        function = (name or "(empty)", "/x/" + name)
        profile.add([MAIN, function], 10, (10 + i) * MS)
    chain = [MAIN] + [("down", "/x/app")] * 3000
    profile.add(chain, 5, 5 * MS)


def make(kind, *rest):
    profile = Profile()
    if kind in ("small", "weak", "many", "wide", "labels",
                "stripped"):
        {"small": small, "weak": weak, "many": many, "wide": wide,
         "labels": labels, "stripped": stripped}[kind](profile)
    elif kind == "before":
        run(profile, 1)
    elif kind == "same":
        run(profile, int(rest[0]) if rest else 2)
    elif kind == "after":
        run(profile, 3, 1.2, False, True)
    elif kind == "deep":
        deep(profile, int(rest[0]))
    else:
        hostile(profile)
    return profile


if __name__ == "__main__":
    make(*sys.argv[1:-1]).write(sys.argv[-1])
