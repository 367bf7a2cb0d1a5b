"""One gRPC call spelled by hand, for requests that no gRPC library would send."""

import re
import socket
import struct

from support.process import GENEROUS_S

DATA, HEADERS, SETTINGS = 0, 1, 4
INITIAL_WINDOW = b"\x00\x04"
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# On a young connection gRPC's server spells the trailer out: its name, a length of one or two, and
# the number.
STATUS = re.compile(rb"grpc-status[\x01\x02](\d{1,2})")


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def header(name, value):
    """A literal without indexing; shorter than 127 bytes."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def message(payload, is_compressed=False):
    return bytes([is_compressed]) + struct.pack(">I", len(payload)) + payload


def read_status(connection):
    seen = b""
    while not (found := STATUS.search(seen)):
        piece = connection.recv(65536)
        if not piece:
            raise AssertionError(f"closed without a status: {seen!r}")
        seen += piece
    return int(found[1])


def header_block(host, method, further):
    fields = {":method": "POST", ":scheme": "http", ":path": method, ":authority": host,
              "content-type": "application/grpc", "te": "trailers"}
    fields.update({name.replace("_", "-"): value for name, value in further.items()})
    return b"".join(header(name.encode(), value.encode()) for name, value in fields.items())


def open_call(address, method, body, **further):
    """The connection of a call with these bytes as its body; `further` headers replace ours. Its
    answer is cut off after 64 KiB, until the caller would say that it reads."""
    host, port = address.rsplit(":", 1)
    block = header_block(host, method, further)
    connection = socket.create_connection((host, int(port)), timeout=GENEROUS_S)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0) +
                       frame(HEADERS, END_HEADERS, 1, block) +
                       frame(DATA, END_STREAM, 1, body))
    return connection


def open_deaf_calls(address, method, bodies, **further):
    """The connection of a call for each of the bodies, which says that it takes nothing of any
    answer."""
    host, port = address.rsplit(":", 1)
    block = header_block(host, method, further)
    connection = socket.create_connection((host, int(port)), timeout=GENEROUS_S)
    sent = PREFACE + frame(SETTINGS, 0, 0, INITIAL_WINDOW + struct.pack(">I", 0))
    for number, body in enumerate(bodies):
        stream = 2 * number + 1
        sent += frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, body)
    connection.sendall(sent + frame(SETTINGS, ACK, 0))
    return connection


def call(address, method, body, **further):
    """The gRPC status of such a call."""
    with open_call(address, method, body, **further) as connection:
        return read_status(connection)
