"""A download by QUIC with aioquic, as two programs.

``python -m tests.helpers.quic_transfer serve BYTES`` sends that many bytes to each client that asks, and ``fetch HOST``
prints the number of bytes that it got.
"""

from __future__ import annotations

import asyncio
import datetime
import ssl
import sys
import tempfile
from pathlib import Path

PORT = 4433
_CHUNK_BYTES = 65_536


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Files with a certificate that only this run uses, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


async def serve(size_bytes: int) -> None:
    """Answer each stream with `size_bytes` zeros."""
    from aioquic.asyncio.server import serve as listen
    from aioquic.quic.configuration import QuicConfiguration

    tasks = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.write(bytes(size_bytes))
        writer.write_eof()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(answer(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    configuration = QuicConfiguration(is_client=False, alpn_protocols=["bulk"])
    with tempfile.TemporaryDirectory(prefix="subflow-quic-") as folder:
        configuration.load_cert_chain(*_certificate(Path(folder)))
    await listen("0.0.0.0", PORT, configuration=configuration, stream_handler=begin)
    await asyncio.Event().wait()


async def fetch(host: str) -> int:
    """Number of bytes that the server at this host sends."""
    from aioquic.asyncio.client import connect
    from aioquic.quic.configuration import QuicConfiguration

    configuration = QuicConfiguration(is_client=True, alpn_protocols=["bulk"], verify_mode=ssl.CERT_NONE)
    async with connect(host, PORT, configuration=configuration) as connection:
        reader, writer = await connection.create_stream()
        writer.write(b"all")
        writer.write_eof()
        size = 0
        while data := await reader.read(_CHUNK_BYTES):
            size += len(data)
        return size


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(int(sys.argv[2])))
    else:
        sys.stdout.write(f"{asyncio.run(fetch(sys.argv[2]))} bytes\n")
