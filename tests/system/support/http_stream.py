"""Streams of messages by HTTP, as Connect's protocol has them."""

import json
import struct

STREAM_JSON, STREAM_PROTO = "application/connect+json", "application/connect+proto"
PLAIN, COMPRESSED, END = 0, 1, 2


def envelope(message, flags=PLAIN):
    return struct.pack(">BI", flags, len(message)) + message


def read_envelope(response):
    """The next message: its flags, and its bytes."""
    flags, size = struct.unpack(">BI", response.read(5))
    return flags, response.read(size)


def error_in(message):
    """The error with which a stream ends; its reason is that of its first detail."""
    error = json.loads(message).get("error", {})
    details = error.get("details", [{}])
    return error.get("code", ""), details[0].get("debug", {}).get("reason", "")
