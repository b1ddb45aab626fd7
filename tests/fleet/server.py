# SPDX-License-Identifier: MIT
"""An HTTP server that keeps what it gets, and misbehaves as it is told.
server.py FOLDER: FOLDER/port has its port. The next request is treated as the first
word of FOLDER/mode says, which is taken away if more follow. FOLDER/N.request has
the N-th request's line and headers, FOLDER/N.body its body. For a mode "file:NAME"
the answer is FOLDER/NAME; for "but:WORD,MODE" it is that of MODE where the line or the
headers have the word."""
import os
import socket
import sys
import threading
import time

folder = sys.argv[1]
lock = threading.Lock()
count = 0


def next_mode():
    try:
        words = open(folder + "/mode").read().split()
    except OSError:
        return "ok"
    if len(words) > 1:
        with open(folder + "/mode.new", "w") as out:
            out.write(" ".join(words[1:]))
        os.rename(folder + "/mode.new", folder + "/mode")
    return words[0] if words else "ok"


def read_head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(65536)
        if not more:
            return None, b""
        head += more
    head, rest = head.split(b"\r\n\r\n", 1)
    return head.decode("latin-1"), rest


def read_body(connection, head, body, share=1.0):
    length = 0
    for line in head.split("\r\n")[1:]:
        name, value = line.split(":", 1)
        if name.lower() == "content-length":
            length = int(value)
    wanted = int(length * share)
    while len(body) < wanted:
        more = connection.recv(65536)
        if not more:
            break
        body += more
    return body


def keep(head, body):
    global count
    count += 1
    name = "%s/%04d" % (folder, count)
    with open(name + ".body", "wb") as out:
        out.write(body)
    with open(name + ".new", "w") as out:
        out.write(head + "\n")
    os.rename(name + ".new", name + ".request")


def answer(connection, status, body=b"", *headers):
    head = "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n" % (
        status, len(body))
    head += "".join(header + "\r\n" for header in headers) + "\r\n"
    connection.sendall(head.encode() + body)


STATUSES = {
    "400": "400 Bad Request", "401": "401 Unauthorized",
    "403": "403 Forbidden", "404": "404 Not Found",
    "413": "413 Payload Too Large", "422": "422 Unprocessable Entity",
    "429": "429 Too Many Requests", "500": "500 Internal Server Error",
    "503": "503 Service Unavailable",
}


def stream(connection, piece, times):
    for _ in range(times):
        connection.sendall(piece)


def treat(connection, mode, head, rest):
    if mode == "deaf":  # reads nothing, says nothing
        time.sleep(600)
    elif mode == "middle":  # closes in the middle of the body
        read_body(connection, head, rest, 0.5)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              b"\1\0\0\0\0\0\0\0")
        return
    body = read_body(connection, head, rest)
    with lock:
        keep(head, body)
    if mode.startswith("but:"):
        word, _, mode = mode[4:].partition(",")
        mode = mode if word in head else "ok"
    if mode.startswith("file:"):
        name, _, kind = mode[5:].partition(",")
        answer(connection, "200 OK", open(folder + "/" + name, "rb").read(),
               "Content-Type: " + (kind or "application/proto"))
    elif mode == "hang":
        time.sleep(600)
    elif mode == "slow":
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" * 99:
            connection.sendall(bytes([byte]))
            time.sleep(0.5)
    elif mode == "garbage":
        connection.sendall(bytes(range(256)) * 16)
    elif mode == "empty":
        pass
    elif mode == "old":
        connection.sendall(b"<html>It works!</html>")
    elif mode == "cut":
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    elif mode == "huge":
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n")
        stream(connection, b"x" * 65536, 32768)
    elif mode == "endless":
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        stream(connection, b"10000\r\n" + b"x" * 65536 + b"\r\n", 32768)
    elif mode == "headers":
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        stream(connection, b"X-More: " + b"x" * 8000 + b"\r\n", 65536)
    elif mode == "line":
        connection.sendall(b"HTTP/1.1 200 ")
        stream(connection, b"x" * 65536, 4096)
    elif mode == "chunk":
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
                           b"\r\n\r\nzz\r\nnothing\r\n")
    elif mode == "continue":
        for _ in range(1200):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            time.sleep(0.5)
    elif mode == "redirect":
        answer(connection, "302 Found", b"",
               "Location: http://127.0.0.1:1/elsewhere?secret=hidden")
    elif mode == "loop":
        answer(connection, "307 Temporary Redirect", b"",
               "Location: " + head.split()[1])
    elif mode == "page":
        answer(connection, "200 OK", b"<html>Log in</html>",
               "Content-Type: text/html; charset=utf-8")
    elif mode == "escape":
        answer(connection, "400 Bad Request", b"\x1b]0;title\x07 no\n")
    elif mode == "partial":  # 3 profiles rejected: "no room"
        answer(connection, "200 OK", b"\x0a\x0b\x08\x03\x12\x07no room",
               "Content-Type: application/x-protobuf")
    elif mode == "away":  # one of the servers that this one asks
        answer(connection, "500 Internal Server Error",
               b"Code: 279. DB::Exception: All connection tries failed: "
               b"Connection refused ([::1]:9000). (ALL_CONNECTION_TRIES_FAILED)")
    elif mode in STATUSES:
        headers = ["Retry-After: 1"] if mode in ("429", "503") else []
        answer(connection, STATUSES[mode], b"said %s\nmore\n" % mode.encode(),
               *headers)
    else:
        answer(connection, "200 OK", b"",
               "Content-Type: application/proto")


def serve(connection):
    try:
        head, rest = read_head(connection)
        if head is None:
            return
        with lock:
            mode = next_mode()
        treat(connection, mode, head, rest)
    except OSError:
        pass
    finally:
        connection.close()


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
listener.listen(64)
with open(folder + "/port.new", "w") as out:
    out.write(str(listener.getsockname()[1]))
os.rename(folder + "/port.new", folder + "/port")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],),
                     daemon=True).start()
