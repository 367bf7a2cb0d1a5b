"""Calls of the HTTP port by Python's own client and by plain sockets, and what they answer."""

import base64
import http.client
import io
import json
import socket
import ssl
import struct

from support import stubs  # noqa: F401  (first: it makes the modules below)
from google.protobuf import json_format
from google.rpc import error_details_pb2

from support.process import GENEROUS_S

SERVICES = "/skiplane.v1."
JSON, PROTO = "application/json", "application/proto"


def place(address):
    """Host and port of "127.0.0.1:7080"."""
    host, port = address.rsplit(":", 1)
    return host.strip("[]"), int(port)


def detail_bytes(detail):
    """The message of one of a refusal's details; Connect leaves out the padding of base64."""
    return base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def message(self, kind):
        """The body as a message, whichever form it has."""
        if self.headers["Content-Type"] == PROTO:
            return kind.FromString(self.body)
        return json_format.Parse(self.body, kind())

    def code(self):
        return self.json()["code"]

    def reason(self):
        """The reason of a refusal; empty if it has none."""
        for detail in self.json().get("details", ()):
            if detail["type"] == "google.rpc.ErrorInfo":
                return error_details_pb2.ErrorInfo.FromString(detail_bytes(detail)).reason
        return ""


class HttpClient:
    """One connection, kept between calls."""

    def __init__(self, address, context=None):
        host, port = place(address)
        if context is None:
            self.connection = http.client.HTTPConnection(host, port, timeout=GENEROUS_S)
        else:
            self.connection = http.client.HTTPSConnection(host, port, timeout=GENEROUS_S,
                                                          context=context)

    def close(self):
        self.connection.close()

    def request(self, method, path, body=None, **headers):
        """Header names with _ for -."""
        self.connection.request(method, path, body, {
            name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(self.connection.getresponse())

    def call(self, method, body, **headers):
        """`method` as in "BrokerService/Lease"; a dictionary or text goes as JSON, a message as
        protobuf."""
        form = JSON
        if isinstance(body, dict):
            body = json.dumps(body)
        elif not isinstance(body, (str, bytes)):
            body, form = body.SerializeToString(), PROTO
        return self.request("POST", SERVICES + method, body, **{"Content_Type": form, **headers})


class Kept(io.BufferedReader):
    """What an answer leaves unread is the next one's."""

    def close(self):
        pass


class RawHttp:
    """A socket that sends what no client would. If it is narrow, the kernel keeps little of what
    is sent to it."""

    def __init__(self, address, is_narrow=False, source=""):
        """`source`: the address to call from."""
        host, port = place(address)
        self.socket = socket.socket()
        self.socket.settimeout(GENEROUS_S)
        self.socket.bind((source, 0))
        if is_narrow:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            self.socket.connect((host, port))
        except OSError:
            self.socket.close()
            raise
        self._file = Kept(socket.SocketIO(self.socket, "r"))

    def makefile(self, _mode):
        """For http.client, which takes this for its socket."""
        return self._file

    def send(self, *parts):
        self.socket.sendall(b"".join(
            part.encode() if isinstance(part, str) else part for part in parts))

    def read_to_end(self):
        """All that comes until the other end closes; a reset counts as that."""
        received = b""
        try:
            while part := self._file.read1(65536):
                received += part
        except ConnectionResetError:
            pass
        return received

    def read_answer(self):
        response = http.client.HTTPResponse(self)
        response.begin()
        return Answer(response)

    def read(self, size):
        return self._file.read(size)

    def end_sending(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        """As the kernel of a program that was killed with bytes unread."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def post(method, body, *fields):
    """The bytes of a call in JSON."""
    text = body if isinstance(body, str) else json.dumps(body)
    lines = [f"POST {SERVICES}{method} HTTP/1.1", "Host: localhost", f"Content-Type: {JSON}",
             f"Content-Length: {len(text)}", *fields, "", text]
    return "\r\n".join(lines).encode()


def trusting(certificate, own=None):
    """What trusts this certificate, and shows the pair (certificate, key) of its own."""
    context = ssl.create_default_context(cafile=certificate)
    if own is not None:
        context.load_cert_chain(*own)
    return context
