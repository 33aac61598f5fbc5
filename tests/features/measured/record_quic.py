# mypy: ignore-errors
"""Downloads 150 kB over QUIC on the loopback with aioquic, and writes the qlog files of both ends; see `record`."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
from pathlib import Path
from typing import Any

from aioquic.asyncio import connect, serve
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from aioquic.quic.logger import QuicLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SIZE = 150_000


class Server(QuicConnectionProtocol):
    """Answers each request with `SIZE` bytes."""

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, StreamDataReceived) and event.end_stream:
            self._quic.send_stream_data(event.stream_id, b"x" * SIZE, end_stream=True)
            self.transmit()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this run and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert_file, key_file


async def main(folder: Path) -> dict[str, Any]:
    """Record both ends, and return the bytes of their packets."""
    cert, key = certificate(folder)
    server_log, client_log = QuicLogger(), QuicLogger()
    server_config = QuicConfiguration(is_client=False, alpn_protocols=["hq"], quic_logger=server_log)
    server_config.load_cert_chain(cert, key)
    client_config = QuicConfiguration(is_client=True, alpn_protocols=["hq"], quic_logger=client_log, verify_mode=0)
    server = await serve("127.0.0.1", 44333, configuration=server_config, create_protocol=Server)
    async with connect("127.0.0.1", 44333, configuration=client_config) as client:
        reader, writer = await client.create_stream()
        writer.write(b"get")
        writer.write_eof()
        data = await reader.read()
        assert len(data) == SIZE
    server.close()
    cert.unlink()
    key.unlink()
    expected = {}
    for name, log in (("quic-server.qlog", server_log), ("quic-client.qlog", client_log)):
        document = log.to_dict()
        events = document["traces"][0]["events"]
        for event in events:
            for frame in event.get("data", {}).get("frames", ()):
                frame.pop("data", None)
        (folder / name).write_text(json.dumps(document))
        sizes = {
            kind: sum(e["data"]["raw"]["length"] for e in events if e["name"] == f"transport:{kind}")
            for kind in ("packet_sent", "packet_received")
        }
        expected[name] = sizes
    return expected


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
