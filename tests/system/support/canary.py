"""Texts that must not be found anywhere, and requests that are full of them."""

import base64

from google.protobuf.descriptor import FieldDescriptor

CANARY = "canary"
DEPTH = 6  # of messages within messages


def forms():
    """The word as bytes, as hexadecimal digits, and at each place in text of base64."""
    word = CANARY.encode()
    yield word
    yield word.hex().encode()
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + word)
        # But for the characters that its neighbours share.
        yield whole[-(-before * 8 // 6):][:len(word) * 8 // 6 - 1]


def found_in(text):
    """The lines that hold one."""
    data = text if isinstance(text, bytes) else text.encode()
    wanted = [form.lower() for form in forms()]
    return [line for line in data.splitlines() if any(form in line.lower() for form in wanted)]


def fill(message, kept, depth=DEPTH):
    """Writes a text of its own into each field of text or bytes, also of messages within it.
    `kept`: texts for the fields of these names instead."""
    for field in message.DESCRIPTOR.fields:
        is_list = field.label == FieldDescriptor.LABEL_REPEATED
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)[f"{CANARY}_header"] = f"{CANARY}_value"
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            if depth == 0 or field.message_type.full_name.startswith("google."):
                continue
            inner = getattr(message, field.name)
            fill(inner.add() if is_list else inner, kept, depth - 1)
        elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            text = kept.get(field.name, f"{CANARY}_{field.name}")
            value = text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
            if is_list:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message
