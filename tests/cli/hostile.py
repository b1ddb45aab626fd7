# SPDX-License-Identifier: MIT
"""hostile.py write FILE: a profile in which every name means harm.
hostile.py judge FORM FILE: whether an output holds nothing that a terminal
obeys; FORM is text, csv or json. Each problem is a line; none is well.
hostile.py utf8 FILE: texts of a profile that are no UTF-8, a line each; and "a
command", if it names one."""
import gzip
import json
import sys

# what a terminal obeys, or shows elsewhere than it stands
EVIL = ("\x1b]0;title\x07", "\x1b[2J", "a\nb", "a\rb", "\x7f", "\x9b31m",
        "\u202egnp.exe", "\u2066x\u2069", "\u200f", "\u061c", "\u2028")
WELL = "größe_測定_😀"


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


def evil(prefix, i):
    return (prefix + EVIL[i % len(EVIL)] + WELL).encode() + (
        b"\xff\xfe" if i % 3 == 0 else b"")


def write(path):
    strings = [b""]

    def text(word):
        word = word.encode() if isinstance(word, str) else word
        if word not in strings:
            strings.append(word)
        return strings.index(word)

    body = b""
    for name, unit in (("samples", "count"), (evil("event", 0), "nanoseconds")):
        body += message(1, number(1, text(name)) + number(2, text(unit)))
    count = len(EVIL) + 5
    formulas = ["=1+1", "+1", "-1", "@SUM(1)", 'with "quotes", and commas']
    for i in range(1, count + 1):
        name = (evil("fn%d" % i, i) if i <= len(EVIL)
                else formulas[i - len(EVIL) - 1])
        body += message(3, number(1, i) + number(2, i << 20) +
                        number(3, (i << 20) + 0x1000) +
                        number(5, text(evil("/x/mod%d" % i, i))) +
                        number(7, 1))
        body += message(5, number(1, i) + number(2, text(name)) +
                        number(4, text(evil("/s/src%d" % i, i))))
        body += message(4, number(1, i) + number(2, i) +
                        number(3, (i << 20) + 16) +
                        message(4, number(1, i) + number(2, 7)))
        labels = b""
        for key, value in (("pid", 40 + i), ("tid", 40 + i)):
            labels += message(3, number(1, text(key)) + number(3, value))
        labels += message(3, number(1, text(evil("label", i))) +
                          number(2, text(evil("value", i))))
        labels += message(3, number(1, text("plain")) +
                          number(2, text(evil("value", i))))
        body += message(2, message(1, varint(i) + varint(i % count + 1)) +
                        message(2, varint(1) + varint(1000 * i)) + labels)
        body += message(1001, number(1, 40 + i) + number(2, 40 + i) +
                        message(3, evil("thread", i)))
    body += message(13, varint(text(evil("comment", 1))))
    for i in range(3):
        name = evil("event", 0).replace(b"\xff\xfe", b"")
        event = message(1, name) + message(3, evil("means", i)) + number(
            4, 1) + number(5, 0) + number(6, 1)
    account = (number(1, 1) + message(3, evil("backend", 1)) +
               message(4, message(1, evil("other", 2)) +
                       message(2, evil("reason", 3))) +
               message(5, evil("note", 4)) + message(6, event) +
               message(7, evil("command", 5)))
    body += message(1000, account)
    body += b"".join(message(6, s) for s in strings)
    with open(path, "wb") as out:
        out.write(gzip.compress(body))


def problems(form, data):
    try:
        shown = data.decode()
    except UnicodeDecodeError as error:
        yield str(error)
        return
    for c in sorted(set(shown)):
        n = ord(c)
        if c == "\n" or (c == "\t" and form == "csv"):
            continue
        if (n < 0x20 or 0x7f <= n < 0xa0 or n == 0x61c or n in (0x200e, 0x200f)
                or 0x2028 <= n <= 0x202e or 0x2066 <= n <= 0x2069):
            yield "U+%04X is in it" % n
    if form == "json":
        shown = json.dumps(json.loads(shown), ensure_ascii=False)
        if "\x9b31m" not in shown or "\\u001b[2J" not in shown:
            yield "JSON does not have what was in the file"
    elif "\\x1b" not in shown and "\\u202e" not in shown:
        yield "nothing was written out"
    elif WELL + "??" in shown:
        yield "what is no UTF-8 is not told from question marks"
    if WELL not in shown:
        yield WELL + " is gone"


def fields(body):
    at = 0

    def next_number():
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(body):
        key = next_number()
        if key & 7 == 1:
            at += 8
        elif key & 7 == 0:
            next_number()
        else:
            size = next_number()
            yield key >> 3, body[at:at + size]
            at += size


def members(path):
    """What is in a file to which nobody wrote an end."""
    with gzip.open(path) as file:
        try:
            while piece := file.read1():
                yield piece
        except EOFError:
            pass


def strings_of(path):
    """The string table, the texts of the account, and whether it names a
    command."""
    for number, part in fields(b"".join(members(path))):
        if number == 6:
            yield number, part
        elif number == 1000:
            for field, text in fields(part):
                if field in (2, 3, 5, 7):
                    yield field if text else 0, text
                elif field in (4, 6):
                    yield from ((0, t) for f, t in fields(text) if f < 4)
        elif number == 1001:
            yield from ((0, t) for f, t in fields(part) if f == 3)


if __name__ != "__main__":
    pass
elif sys.argv[1] == "write":
    write(sys.argv[2])
elif sys.argv[1] == "utf8":
    found = list(strings_of(sys.argv[2]))
    for field, text in found:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            print(text, error)
    if any(field == 7 for field, text in found):
        print("a command")
else:
    with open(sys.argv[3], "rb") as file:
        for problem in problems(sys.argv[2], file.read()):
            print(problem)
