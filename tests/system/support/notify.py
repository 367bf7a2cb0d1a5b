"""What a service tells systemd, heard as systemd hears it."""

import os
import select
import socket
import struct

from support.process import GENEROUS_S

CREDENTIALS = struct.Struct("3i")  # of the sender: process, user, group


class NotifySocket:
    """`place` is seen by services; `path` is the same file as we see it."""

    def __init__(self, path, place=None):
        self.place = place or path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(path)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        os.chmod(path, 0o666)  # a service runs as another account
        self.close = self._socket.close
        self.sender = None  # the process that sent the last message

    def hear(self, bound_s=GENEROUS_S):
        """The lines of the next message; none if none comes within the bound."""
        if not select.select([self._socket], [], [], bound_s)[0]:
            return []
        data, extra, _, _ = self._socket.recvmsg(4096, socket.CMSG_SPACE(CREDENTIALS.size))
        self.sender = CREDENTIALS.unpack(extra[0][2])[0]
        return data.decode().splitlines()

    def wait_for(self, line):
        """Leaves out what does not have this line. Returns the message."""
        heard = []
        while message := self.hear():
            if line in message:
                return message
            heard.append(message)
        raise AssertionError(f"systemd was not told {line}, but {heard}")
