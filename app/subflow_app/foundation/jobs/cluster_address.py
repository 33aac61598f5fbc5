"""Addresses of Ray clusters: their forms, and a quick test of whether a cluster answers, before Ray itself is loaded.

Ray retries a silent address for minutes, cannot be interrupted meanwhile, and may finally end the process.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from dataclasses import dataclass
from importlib.util import find_spec

from subflow_app.distribution import install_command
from subflow_app.foundation.errors import ClusterError, InputError

AUTO = "auto"
"""The cluster of this machine's node, or the cluster named in ``RAY_ADDRESS``."""

_CLIENT = "ray://"

CONNECT_S = 3.0
ANSWER_S = 3.0
# Time limit for trying all addresses of a host name, including the name look-up.
MOST_S = 8.0

# Frame types of HTTP/2 (RFC 9113) and two flags.
_DATA, _HEADERS, _SETTINGS = 0, 1, 4
_END_STREAM, _END_HEADERS = 1, 4
# First header of each gRPC answer, ":status: 200", as header compression encodes it (RFC 7541, appendix A).
_STATUS_200 = 0x88


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The address of a cluster.

    Attributes:
        text: the address in Ray's form.
        host: host of the head; empty if Ray finds it (`AUTO`).
        port: port of the head; 0 if Ray finds it.
    """

    text: str
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> ClusterAddress:
        """Parse an address of the form ``HOST:PORT``, ``ray://HOST:PORT`` or ``auto``.

        Raises:
            InputError: if the text has a different form.
        """
        if text == AUTO:
            return cls(text)
        match = re.fullmatch(rf"(?:{_CLIENT})?(\[[0-9a-zA-Z:.%]+\]|[^\s:/\[\]@?#]+):([0-9]{{1,5}})", text)
        if match is None or not 1 <= int(match[2]) <= 65_535:
            raise InputError(
                f'--cluster = "{text}": must be the address of a Ray cluster: HOST:PORT such as 10.0.0.1:6379, '
                "ray://HOST:PORT, or auto"
            )
        return cls(text, match[1].strip("[]"), int(match[2]))

    def check(self) -> None:
        """Test within `MOST_S` that a Ray server answers at this address; does nothing for `AUTO`.

        Any thread may call this; in the main thread Ctrl-C interrupts it.

        Raises:
            ClusterError: with the reason, if no Ray server answers.
        """
        if not self.host:
            return
        problems: list[str] = []
        # A separate thread, because a name look-up cannot be interrupted.
        probe = threading.Thread(target=lambda: problems.append(self._problem()), name="subflow-probe", daemon=True)
        probe.start()
        probe.join(MOST_S)
        problem = problems[0] if problems else f"no answer within {MOST_S:g} s"
        if problem:
            raise self.unreachable(problem)

    def unreachable(self, problem: str) -> ClusterError:
        """The error of a cluster that cannot be joined."""
        where = "of this machine (auto)" if self.text == AUTO else f"at {self.text}"
        return ClusterError(f"the Ray cluster {where} cannot be reached: {problem}")

    def _problem(self) -> str:
        """Reason why no Ray server can be reached; empty if one answers."""
        try:
            with socket.create_connection((self.host, self.port), timeout=CONNECT_S) as connection:
                if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                    return ""  # encrypted, so the answer cannot be examined
                connection.settimeout(ANSWER_S)
                connection.sendall(_question(f"{self.host}:{self.port}"))
                is_ray = _is_grpc(connection)
        except TimeoutError:
            return f"no answer within {ANSWER_S:g} s"
        except socket.gaierror as error:
            return f"the host '{self.host}' is not known ({error.strerror or error})"
        except (OSError, UnicodeError) as error:
            return str(getattr(error, "strerror", None) or error).lower()
        return "" if is_ray else "another program than Ray answers there"


def _question(authority: str) -> bytes:
    """A gRPC call, as bytes, of a method by which a head reports that it is alive; Ray's other ports refuse it."""

    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload

    def text(value: str) -> bytes:
        packed = value.encode("idna" if not value.isascii() else "ascii")[:126]
        return bytes((len(packed),)) + packed

    headers = (
        b"\x83\x86"  # :method: POST, :scheme: http
        + (b"\x04" + text("/ray.rpc.NodeInfoGcsService/CheckAlive"))  # :path
        + (b"\x01" + text(authority))
        + (b"\x0f\x10" + text("application/grpc"))  # content-type
        + (b"\x00" + text("te") + text("trailers"))
    )
    empty_message = bytes(5)
    return (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + frame(_SETTINGS, 0, 0, b"")
        + frame(_HEADERS, _END_HEADERS, 1, headers)
        + frame(_DATA, _END_STREAM, 1, empty_message)
    )


def _is_grpc(connection: socket.socket) -> bool:
    """True if the answer to `_question` is a gRPC answer, including a refusal.

    Raises:
        OSError: if no answer arrives in time.
    """
    with connection.makefile("rb") as answer:
        while len(header := answer.read(9)) == 9:
            payload = answer.read(int.from_bytes(header[:3], "big"))
            if header[3] == _HEADERS:
                # Up to two updates of the size of the compression table may precede the status.
                return _STATUS_200 in payload[:3]
            if header[3] > 9:  # not a frame type, so it is a different protocol
                return False
    return False


def check_cluster(text: str) -> None:
    """Refuse an unusable cluster address before any work begins.

    Raises:
        InputError: if the address is malformed.
        ClusterError: if Ray is not installed, or no server answers at the address.
    """
    address = ClusterAddress.parse(text)
    if find_spec("ray") is None:
        raise ClusterError(f"a cluster needs Ray, which is not installed: {install_command('cluster')}")
    if address.text.startswith(_CLIENT) and find_spec("grpc") is None:
        raise ClusterError(f'{_CLIENT} needs the client of Ray, which is not installed: pip install "ray[client]"')
    address.check()
