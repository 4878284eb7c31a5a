#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The protocol of docs/wire.md a second time, of nothing but that page and Python's standard library.

    wire_peer.py --talk HOST PORT SECRET   meets a server that echoes, asks it something, and says good-bye
    wire_peer.py --wrong HOST PORT         meets it with a wrong secret, and must be refused
    wire_peer.py --check PAGE              compares the test vectors of the page with what is computed here

`--tls CA CERT KEY` in front speaks through TLS, with these certificates."""

import hashlib
import hmac
import pathlib
import re
import socket
import ssl
import struct
import sys

HELLO, ANSWER, PROOF, ACCEPTED, REFUSAL = 1, 2, 3, 4, 5
MESSAGE, CHUNK, WANT, REJECT, DROP, CREDIT, PING, PONG, GOODBYE = range(16, 25)
WANTS_REPLY, IS_REPLY = 0x100, 0x200
HEADER = struct.Struct("<4sBBHIIHHIQQII")


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def frame(kind_of_frame, payload=b"", flags=0, kind=0, transfer=0, request=0, value=0, time_left=0):
    checksum = crc32c(payload) if payload else 0
    header = HEADER.pack(b"tgm1", 1, kind_of_frame, flags, len(payload), checksum, kind, 0, transfer, request, value, time_left, 0)
    return header[:44] + struct.pack("<I", crc32c(header[:44])) + payload


def greeting(job, role, task, incarnation, cluster, nonce, secret, library="0.1.0"):
    numbers = struct.pack("<BBBBIQIIIIQQ", 1, 1, 1 if secret else 2, 0, task, incarnation, 65536, 262144, 256, 0xFFFFFFFF,
                          4194304, 1 << 40)
    texts = [text.encode() for text in (job, role, cluster, library, "")]
    return numbers + nonce + b"".join(struct.pack("<H", len(text)) + text for text in texts)


def proof(label, secret, hello, answer):
    said = label + struct.pack("<I", len(hello)) + hello + struct.pack("<I", len(answer)) + answer
    return hmac.new(secret, said, hashlib.sha256).digest()


class Peer:
    tls = None

    @classmethod
    def take_tls(cls, arguments):
        """Takes `--tls CA CERT KEY` from the front of a command line."""
        if arguments[1:2] == ["--tls"]:
            _, ca, cert, key = arguments[1:5]
            cls.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            cls.tls.minimum_version = ssl.TLSVersion.TLSv1_3
            cls.tls.check_hostname = False  # names are those of tasks
            cls.tls.load_verify_locations(ca)
            cls.tls.load_cert_chain(cert, key)
            del arguments[1:5]

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls is not None:
            self.socket = self.tls.wrap_socket(self.socket)
        self.pings = 0

    def take(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            assert more, "the connection was closed"
            data += more
        return data

    def next(self):
        """The next frame that is no heartbeat; those are answered."""
        while True:
            header = self.take(HEADER.size)
            magic, version, type_, flags, length, checksum, kind, zero, transfer, request, value, _, own = HEADER.unpack(header)
            assert magic == b"tgm1" and version == 1 and zero == 0, header
            assert own == crc32c(header[:44]), "the checksum of a header"
            payload = self.take(length)
            assert checksum == (crc32c(payload) if payload else 0), "the checksum of a payload"
            if type_ == PING:
                self.pings += 1
                self.socket.sendall(frame(PONG, request=value, value=12345))
                continue
            if type_ == CREDIT:
                continue
            return type_, flags, kind, transfer, request, value, payload

    def meet(self, secret):
        hello = greeting("worker", "test", 0, 99, "a cluster", bytes(range(32)), secret)
        self.socket.sendall(frame(HELLO, hello))
        type_, *_, answer = self.next()
        assert type_ == ANSWER, type_
        self.socket.sendall(frame(PROOF, proof(b"tagma/1 client", secret, hello, answer)))
        type_, _, kind, *_, payload = self.next()
        if type_ == ACCEPTED:
            assert hmac.compare_digest(payload, proof(b"tagma/1 server", secret, hello, answer)), "the proof of the server"
        return type_, kind, payload


def talk(host, port, secret):
    peer = Peer(host, port)
    assert peer.meet(secret.encode())[0] == ACCEPTED
    bulk = bytes(i * 7 & 255 for i in range(300_000))
    peer.socket.sendall(frame(MESSAGE, b"question", WANTS_REPLY, kind=7, transfer=1, request=5, value=len(bulk), time_left=30_000))
    for at in range(0, len(bulk), 100_000):
        peer.socket.sendall(frame(CHUNK, bulk[at:at + 100_000], transfer=1, value=at))
    type_, flags, kind, transfer, request, value, payload = peer.next()
    assert (type_, flags, kind, request, value, payload) == (MESSAGE, IS_REPLY, 7, 5, len(bulk), b"question"), (type_, flags)
    came = b""
    while len(came) < len(bulk):
        type_, _, _, number, _, value, payload = peer.next()
        assert (type_, number, value) == (CHUNK, transfer, len(came))
        came += payload
    assert came == bulk, "the bulk of the answer"
    peer.socket.sendall(frame(PING, value=4711))
    type_, _, _, _, request, _, _ = peer.next()
    assert (type_, request) == (PONG, 4711)
    peer.socket.sendall(frame(GOODBYE))
    assert peer.next()[0] == GOODBYE
    assert peer.pings > 0, "the server sends heartbeats"
    assert peer.socket.recv(1) == b"", "the server closes"


def wrong(host, port):
    type_, code, sentence = Peer(host, port).meet(b"a wrong secret")
    assert (type_, code) == (REFUSAL, 7) and b"does not know the secret" in sentence, (type_, code, sentence)


def vectors():
    secret = b"a secret"
    hello = greeting("worker", "test", 3, 0x0123456789ABCDEF, "a cluster", bytes(range(32)), secret)
    answer = greeting("ps", "test", 0, 42, "a cluster", bytes(range(32, 64)), secret)
    return {
        "ping": frame(PING, value=0x0102030405060708),
        "message": frame(MESSAGE, b"hello", WANTS_REPLY, kind=0x1234, transfer=3, request=42, value=1_000_000, time_left=1500),
        "chunk": frame(CHUNK, b"bulk", transfer=3, value=8),
        "hello": frame(HELLO, hello),
        "answer": frame(ANSWER, answer),
        "proof": frame(PROOF, proof(b"tagma/1 client", secret, hello, answer)),
        "accepted": frame(ACCEPTED, proof(b"tagma/1 server", secret, hello, answer)),
    }


def check(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    found = {name: "".join(lines.split()) for name, lines in re.findall(r"^vector (\w+)\n((?:[0-9a-f ]+\n)+)", text, re.M)}
    computed = {name: data.hex() for name, data in vectors().items()}
    for name, data in computed.items():
        if found.get(name) != data:
            print(f"vector {name}")
            print("\n".join(data[i:i + 96] for i in range(0, len(data), 96)))
    assert found == computed, f"{page} has other test vectors"


if __name__ == "__main__":
    Peer.take_tls(sys.argv)
    if len(sys.argv) == 5 and sys.argv[1] == "--talk":
        talk(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    elif len(sys.argv) == 4 and sys.argv[1] == "--wrong":
        wrong(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
