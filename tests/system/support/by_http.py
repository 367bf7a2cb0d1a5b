"""The API by HTTP and JSON, with the stubs of gRPC: what a test says by gRPC it says by HTTP."""

import functools
import http.client
import json
import socket
import threading

import grpc

from support.client import Client, admin_pb2, answers_stream, broker_pb2, status_pb2
from support.http import JSON, SERVICES, detail_bytes, place
from support.http_case import ANY_PORT
from support.http_stream import PLAIN, STREAM_JSON, envelope, read_envelope
from support.process import GENEROUS_S
from google.protobuf import json_format, symbol_database  # isort: skip  (after the client's)


class HttpError(grpc.RpcError):
    """A refusal, as gRPC's own clients tell it."""

    def __init__(self, answer, body):
        super().__init__(body)
        self._error = json.loads(body)
        self._fields = answer.getheaders()

    def code(self):
        return grpc.StatusCode[self._error["code"].upper()]

    def details(self):
        return self._error["message"]

    def trailing_metadata(self):
        status = status_pb2.Status(message=self.details())
        for detail in self._error.get("details", ()):
            status.details.add(type_url=f"type.googleapis.com/{detail['type']}",
                               value=detail_bytes(detail))
        plain = [(name.lower().removeprefix("trailer-"), value) for name, value in self._fields
                 if name.lower().startswith("trailer-")]
        return [*plain, ("grpc-status-details-bin", status.SerializeToString())]


class LostConnection(grpc.RpcError):
    """Nothing is known of the call."""

    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return str(self.__cause__)

    def trailing_metadata(self):
        return []


class HttpCall:
    """A call on a connection of its own, as a future."""

    def __init__(self, address, method, request, timeout, metadata=()):
        self._answer = self._error = None
        self._kind = symbol_database.Default().GetSymbol(method.output_type.full_name)
        self._connection = http.client.HTTPConnection(*place(address), timeout=timeout)
        self._connection.request(
            "POST", f"{SERVICES}{method.containing_service.name}/{method.name}",
            json_format.MessageToJson(request),
            {"Content-Type": JSON, "Connect-Timeout-Ms": str(round(timeout * 1000)),
             **dict(metadata)})
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def _receive(self):
        try:
            answer = self._connection.getresponse()
            body = answer.read()
            if answer.status == 200:
                self._answer = json_format.Parse(body, self._kind())
            else:
                self._error = HttpError(answer, body)
        except (OSError, http.client.HTTPException) as error:
            self._error = LostConnection()
            self._error.__cause__ = error
        except Exception as error:  # it is told to who asks for the result
            self._error = error
        finally:
            self._connection.close()

    def cancel(self):
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def done(self):
        return not self._thread.is_alive()

    def exception(self):
        self._thread.join()
        return self._error

    def result(self):
        if error := self.exception():
            raise error
        return self._answer


class HttpMethod:
    def __init__(self, address, method, shown):
        self._address = address
        self._method = method
        self._shown = shown

    def future(self, request, timeout, metadata=()):
        return HttpCall(self._address, self._method, request, timeout,
                        (*metadata, *self._shown))

    def __call__(self, request, timeout, **options):
        return self.future(request, timeout, **options).result()


class HttpStream:
    """The messages of a method that answers with many of them."""

    def __init__(self, address, method, request, shown):
        self._kind = symbol_database.Default().GetSymbol(method.output_type.full_name)
        self._connection = http.client.HTTPConnection(*place(address), timeout=GENEROUS_S)
        self._connection.request(
            "POST", f"{SERVICES}{method.containing_service.name}/{method.name}",
            envelope(json_format.MessageToJson(request).encode()),
            {"Content-Type": STREAM_JSON, **dict(shown)})
        self._answer = self._connection.getresponse()

    def __iter__(self):
        return self

    def __next__(self):
        flags, message = read_envelope(self._answer)
        if flags != PLAIN:
            raise StopIteration
        return json_format.Parse(message, self._kind())

    def cancel(self):
        self._connection.close()


class HttpStub:
    def __init__(self, address, service, shown):
        for method in service.methods:
            made = HttpMethod(address, method, shown)
            if answers_stream(method):
                made = functools.partial(HttpStream, address, method, shown=shown)
            setattr(self, method.name, made)


class HttpApi(Client):
    """It needs no channel."""

    def __init__(self, address, token=None):
        shown = () if token is None else (("Authorization", f"Bearer {token}"),)
        services = (broker_pb2.DESCRIPTOR.services_by_name["BrokerService"],
                    admin_pb2.DESCRIPTOR.services_by_name["AdminService"])
        self.broker, self.admin = (HttpStub(address, service, shown) for service in services)

    def close(self):
        pass


class ByHttp:
    """Before a class of tests in the bases of another: the same tests by HTTP. The class of tests
    stands in the same file (tests/skiplane_python_test.cmake)."""

    def start_broker(self, *flags, **options):
        return super().start_broker(*flags, **{"http": ANY_PORT, **options})

    def client_of(self, broker, token=None):
        return HttpApi(broker.http_address, token)
