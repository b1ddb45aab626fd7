#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service that publishes OpenTelemetry's process context, written from its text
(OTEP 4719) alone: otel_service.py CPU_SECONDS [LIE]"""

import ctypes
import mmap
import os
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


def field(number, payload):
    def varint(value):
        out = b''
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def attribute(key, value):
    return field(1, field(1, key.encode()) + field(2, field(1, value.encode())))


payload = b''.join(attribute(key, value) for key, value in (
    ('telemetry.sdk.language', 'python'),
    ('service.name', 'checkout'),
    ('service.version', '1.2.3'),
    ('service.instance.id', 'one'),
    ('deployment.environment.name', 'staging')))

# As processcontext.proto has it: a Resource, and attributes beside it.
context = field(1, payload) + field(2, field(1, b'beside') + field(2, field(1, b'it')))

# What a process may show instead: honest, and then hostile: header's members, payload.
FORMS = {
    'context': dict(payload=context),
    'context-alone': dict(payload=field(1, payload)),
}
LIES = {
    'context-cut': dict(payload=context[:-3]),
    'context-in-context': dict(payload=field(1, context)),
    'signature': dict(signature=b'OTEL_CTY'),
    'version': dict(version=1),
    'version-far': dict(version=0xffffffff),
    'no-bytes': dict(size=0),
    'many-bytes': dict(size=0xffffffff),
    'more-bytes': dict(size=1 << 20),
    'unpublished': dict(at=0),
    'null': dict(pointer=0),
    'nowhere': dict(pointer=8),
    'kernel': dict(pointer=0xffffffff81000000),
    'last': dict(pointer=0xffffffffffffffff),
    'odd': dict(pointer=0x8000000000000000),
    'edge': dict(edge=True),
    'cut': dict(payload=payload[:-5]),
    'cut-in-tag': dict(payload=payload + b'\xff'),
    'tag-0': dict(payload=b'\x00' + payload),
    'endless': dict(payload=b'\xff' * 64),
    'group': dict(payload=b'\x0b' + payload),
    'wire-7': dict(payload=b'\x0f' + payload),
    'length': dict(payload=b'\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01'),
    'inner-length': dict(payload=b'\x0a\x04\x0a\xff\xff\x7f'),
    'no-key': dict(payload=field(1, field(2, field(1, b'x')))),
    'empty-attribute': dict(payload=field(1, b'')),
    'attribute-number': dict(payload=b'\x08\x01'),
    'zero-in-name': dict(payload=attribute('service.name', 'a\0b')),
    'long-name': dict(payload=attribute('service.name', 'x' * 1000)),
    'fixed': dict(payload=b'\x09\x01'),
    'fixed-32': dict(payload=b'\x0d\x01'),
    'noise': dict(payload=os.urandom(4096)),
    'zeroes': dict(payload=bytes(4096)),
    'flaps': dict(flaps=True),
    'unmaps': dict(unmaps=True),
}


def publish(lie):
    body = lie.get('payload', payload)
    fd = libc.memfd_create(b'OTEL_CTX', 1)
    os.ftruncate(fd, mmap.PAGESIZE * 2)
    area = mmap.mmap(fd, mmap.PAGESIZE * 2)
    os.close(fd)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    at = mmap.PAGESIZE * 2 - 8 if lie.get('edge') else 64
    if not lie.get('edge'):
        area[at:at + len(body)] = body
    header = struct.pack('=8sIIQQ', b'\0' * 8, lie.get('version', 2),
                         lie.get('size', len(body)),
                         lie.get('at', time.monotonic_ns()),
                         lie.get('pointer', address + at))
    area[0:32] = header
    area[0:8] = lie.get('signature', b'OTEL_CTX')
    return area, header, address


def main():
    until = time.process_time() + float(sys.argv[1])
    lie = {**FORMS, **LIES}[sys.argv[2]] if len(sys.argv) > 2 else {}
    area, header, address = publish(lie)
    turns = 0
    while time.process_time() < until:
        turns += sum(range(1000))
        if lie.get('flaps'):
            area[16:24] = struct.pack('=Q', 0)
            area[64:64 + len(payload)] = os.urandom(len(payload))
            area[16:24] = struct.pack('=Q', time.monotonic_ns())
        if lie.get('unmaps') and turns > 10000000:
            libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE * 2))
            libc.mmap.restype = ctypes.c_void_p
            os._exit(0) if time.process_time() > until - 0.05 else time.sleep(0)
            lie = {}
    os._exit(0)


if sys.argv[1] == 'list':
    print(' '.join(LIES))
else:
    main()
