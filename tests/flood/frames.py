"""Frames of HTTP/2, and heads of calls by gRPC, spelled by hand."""

import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4  # a setting
WINDOW = 65535           # that a connection and a stream have before anybody says more
FRAME_BYTES = 16384      # at most in one frame
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
STREAMS_MAX = 1 << 30    # of one connection; they have odd numbers


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def header(name, value):
    """A literal without indexing; shorter than 127 bytes."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(method, **further):
    """The block of a call's headers; `further` headers replace ours."""
    fields = {":method": "POST", ":scheme": "http", ":path": method, ":authority": "localhost",
              "content-type": "application/grpc", "te": "trailers"}
    fields.update({name.replace("_", "-"): value for name, value in further.items()})
    return b"".join(header(name.encode(), value.encode()) for name, value in fields.items())


def more_window(size):
    """The connection takes so many bytes more."""
    return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", size))


def message(payload, is_compressed=False):
    return bytes([is_compressed]) + struct.pack(">I", len(payload)) + payload


def varint(number):
    """As protobuf spells it."""
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    """Of protobuf: bytes, or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value
