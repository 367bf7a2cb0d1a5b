"""nginx and HAProxy before a broker, with the settings that are shipped (deploy/proxy), on ports of
their own."""

import os
import socket
import time

from support import stubs
from support.broker import listen_where_nobody_is_put
from support.process import GENEROUS_S, Process

SETTINGS = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}
# What nginx has around a file of conf.d. One process, which dies with the test.
NGINX = """daemon off;
error_log stderr warn;
pid {folder}/nginx.pid;
master_process off;
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  {text}
}}
"""


def shipped(name):
    path = os.path.join(stubs.ROOT, "deploy", "proxy", SETTINGS[name])
    with open(path, encoding="utf-8") as file:
        return file.read()


def start(name, broker, files):
    """A Front: nginx or haproxy, before this broker. `files`: a Folder, where it finds the pair
    "proxy"."""
    taken = [listen_where_nobody_is_put() for _ in range(2)]
    grpc_port, http_port = (listener.getsockname()[1] for listener in taken)
    text = shipped(name)
    for old, new in (("127.0.0.1:7070", broker.address), ("127.0.0.1:7080", broker.http_address),
                     ("listen 7443", f"listen 127.0.0.1:{grpc_port}"),
                     ("listen 8443", f"listen 127.0.0.1:{http_port}"),
                     ("bind :7443", f"bind 127.0.0.1:{grpc_port}"),
                     ("bind :8443", f"bind 127.0.0.1:{http_port}"),
                     ("/etc/skiplane/", files.path(""))):
        text = text.replace(old, new)
    for listener in taken:
        listener.close()
    if name == "nginx":
        path = files.write("front", NGINX.format(folder=files.path("."), text=text))
        argv = ["nginx", "-p", files.path("."), "-c", path, "-e", "stderr"]
    else:
        argv = ["haproxy", "-db", "-f", files.write("front", text)]
    return Front(argv, f"localhost:{grpc_port}", f"localhost:{http_port}")


class Front(Process):
    """Returns from its constructor when it takes connections. `address`: for gRPC."""

    def __init__(self, argv, address, http_address):
        super().__init__(argv)
        self.address, self.http_address = address, http_address
        for at in (address, http_address):
            self._wait_for(at)

    def _wait_for(self, address):
        end = time.monotonic() + GENEROUS_S
        port = int(address.rsplit(":", 1)[1])
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port)):
                    return
            except OSError:
                if not self.runs() or time.monotonic() > end:
                    raise AssertionError(self.output) from None
