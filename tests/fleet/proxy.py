# SPDX-License-Identifier: MIT
"""A network between agents and servers, which can be cut.
proxy.py FOLDER PORT...: FOLDER/port has the ports, in the order of those behind them.
FOLDER/mode says what it does: "pass"; "deaf": what is sent arrives, and no answer comes
back; "late": what is to be inserted into samples arrives when it passes again, whoever
waits for it; "cut": nothing arrives. As in a network, nobody is told of a cut: who is
connected then waits, and connections that saw one are reset when it is over.
FOLDER/cuts has the number of connections of which something was held back."""
import asyncio
import os
import sys

folder = sys.argv[1]
mode = "pass"
connections = set()
cuts = 0


class Connection:
    def __init__(self):
        self.writers = []
        self.is_cut = False


async def hold(connection):
    global cuts
    if not connection.is_cut:
        connection.is_cut = True
        cuts += 1
    while mode != "pass":
        await asyncio.sleep(0.05)


async def carry(connection, reader, writer, is_answer):
    while True:
        data = await reader.read(65536)
        if mode == "cut" or (mode == "deaf" and is_answer):
            await hold(connection)
        if mode == "late" and b"INTO%20samples" in data:
            # all of it, and time to take it
            data += await reader.read(-1)
            while mode == "late":
                await asyncio.sleep(0.05)
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(5)
            break
        if connection.is_cut or not data:
            # in a cut a server's end is not seen, either
            break
        writer.write(data)
        await writer.drain()


async def serve(port, reader, writer):
    connection = Connection()
    connection.writers.append(writer)
    connections.add(connection)
    try:
        if mode == "cut":
            await hold(connection)
            return
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
        connection.writers.append(to_writer)
        ways = [asyncio.ensure_future(carry(connection, reader, to_writer, False)),
                asyncio.ensure_future(carry(connection, to_reader, writer, True))]
        _, pending = await asyncio.wait(
            ways, return_when=asyncio.FIRST_COMPLETED)
        for way in pending:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
    except OSError:
        pass
    finally:
        connections.discard(connection)
        for one in connection.writers:
            if connection.is_cut:
                one.transport.abort()
            one.close()


def write(name, text):
    with open(folder + "/" + name + ".new", "w") as out:
        out.write(text)
    os.rename(folder + "/" + name + ".new", folder + "/" + name)


def read_mode():
    try:
        with open(folder + "/mode") as file:
            return file.read().strip() or "pass"
    except OSError:
        return "pass"


async def main():
    global mode
    ports = []
    for port in sys.argv[2:]:
        server = await asyncio.start_server(
            lambda reader, writer, port=int(port): serve(port, reader, writer),
            "127.0.0.1", 0, backlog=1024)
        ports.append(server.sockets[0].getsockname()[1])
    write("port", " ".join(str(port) for port in ports))
    while True:
        mode = read_mode()
        write("cuts", "%d\n" % cuts)
        await asyncio.sleep(0.05)


asyncio.run(main())
