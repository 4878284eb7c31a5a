#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Servers with certificates, and with two secrets: who gets in, what they may do, and what the others are told.

    security.py TAGMA_SERVER TAGMA_CTL WRITE_PROGRAM"""

import json
import pathlib
import subprocess
import sys
import tempfile

from servers import Server, check, free_ports, refused

PEER = str(pathlib.Path(__file__).resolve().parent / "service_peer.py")


class Authority:
    """Signs with the command of OpenSSL, as people do."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = pathlib.Path(folder), name, 0
        self.ca, self.key = str(self.folder / f"{name}.pem"), str(self.folder / f"{name}.key")
        self.openssl("req", "-x509", *self.new_key(self.key), "-days", "2", "-subj", f"/CN={name}", "-out", self.ca)

    @staticmethod
    def new_key(path):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path]

    @staticmethod
    def openssl(*arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
        check(done.returncode == 0, "openssl", arguments, done.stderr)

    def give(self, *uris):
        """Files of a certificate: of the authority, its own, its key."""
        self.count += 1
        stem = str(self.folder / f"{self.name}-{self.count}")
        names = ",".join("URI:" + uri for uri in uris)
        pathlib.Path(stem + ".ext").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n")
        self.openssl("req", "-new", *self.new_key(stem + ".key"), "-subj", "/CN=somebody", "-out", stem + ".csr")
        self.openssl("x509", "-req", "-in", stem + ".csr", "-CA", self.ca, "-CAkey", self.key, "-CAcreateserial", "-days", "1",
                     "-extfile", stem + ".ext", "-out", stem + ".pem")
        return [self.ca, stem + ".pem", stem + ".key"]


def options(files):
    return [part for name, file in zip(("--tls-ca", "--tls-cert", "--tls-key"), files) for part in (name, file)]


def main(server, ctl, write_program):
    def run(*arguments, status=0):
        done = subprocess.run([ctl, *arguments, "--timeout", "60"], capture_output=True, text=True, timeout=120)
        check(done.returncode == status, arguments, "ends with", done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def peer(files, address, secret):
        host, port = address.split(":")
        command = [sys.executable, PEER, *(["--tls", *files] if files else []), "--use", host, port, secret, program]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder, "program.tagma"))
        done = subprocess.run([write_program, program], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, done.stderr)
        us, others = Authority(folder, "us"), Authority(folder, "others")
        ports = free_ports(2)
        cluster = {"local": [f"127.0.0.1:{p}" for p in ports]}
        where = ["--cluster", json.dumps(cluster)]
        task = [us.give(f"tagma:/job:local/task:{i}") for i in (0, 1)]
        admin, worker, chief = options(us.give("tagma:/role:admin")), us.give("tagma:/role:worker"), us.give("tagma:/role:chief")

        refused([server, *where, "--job", "local", "--task", "1", *options(task[0])], 2, "/job:local/task:1", "tagma:/job:local/task:0")
        refused([server, *where, "--job", "local", "--task", "0", *options(task[0])[:4]], 2, "TLS needs three files")
        servers = [Server(server, cluster, i, "--checkpoints", folder, *options(task[i])) for i in (0, 1)]
        try:
            doctor = run("doctor", *where, *admin)  # each server asks each other
            check("all is well" in doctor, doctor)
            said = run("status", *where, status=1)
            check("it speaks without TLS, which is needed here" in said, said)
            said = run("status", *where, *options([us.ca, *others.give("tagma:/role:admin")[1:]]), status=1)
            check("it does not take the certificate of this end" in said and "unknown CA" in said, said)
            said = run("status", *where, *options([others.ca, *admin[3::2]]), status=1)
            check("its certificate is from no authority that" in said, said)

            run("variables", "--norms", *where, *options(worker))
            said = run("reset", "", *where, *options(worker), status=1)
            check("PermissionDenied: reset_container is for chiefs" in said, said)
            said = run("stop", *where, *options(worker), status=1)
            check("PermissionDenied: stop is for chiefs" in said, said)
            said = run("stop", *where, "--job", "local", "--task", "1", *admin)
            check("/job:local/task:1" in said and "/job:local/task:0" not in said, said)
            check(servers[1].process.wait(timeout=60) == 0, "a server that a chief stops ends well")
            servers[1].reader.join()
            check("tagma-server: ends, as a chief asks\n" in servers[1].rest, servers[1].rest)
            run("status", *where, "--job", "local", "--task", "0", *admin)
        finally:
            for one in servers:
                one.kill()

        # A client of another language, with two secrets and with certificates.
        secret, of_chiefs = pathlib.Path(folder, "secret"), pathlib.Path(folder, "chiefs")
        secret.write_text("open sesame\n")
        of_chiefs.write_text("open wide\n")
        alone = {"local": [f"127.0.0.1:{free_ports(1)[0]}"]}
        where = ["--cluster", json.dumps(alone)]
        by_secrets = ["--secret-file", str(secret), "--chief-secret-file", str(of_chiefs)]
        as_worker, as_chief = ["--secret-file", str(secret)], ["--secret-file", str(of_chiefs)]
        cases = ((by_secrets, as_worker, as_chief, None, "open wide", True), (by_secrets, as_worker, as_chief, None, "open sesame", False),
                 (options(task[0]), options(worker), admin, chief, "", True), (options(task[0]), options(worker), admin, worker, "", False))
        for number, (of_server, of_worker, of_chief, files, own, works) in enumerate(cases):
            checkpoints = pathlib.Path(folder, f"checkpoints-{number}")
            checkpoints.mkdir()
            one = Server(server, alone, 0, "--checkpoints", str(checkpoints), *of_server)
            try:
                done = peer(files, alone["local"][0], own)
                check((done.returncode == 0) == works and works != ("is for chiefs" in done.stderr), number, done.stdout, done.stderr)
                said = run("reset", "", *where, *of_worker, status=1)
                check("PermissionDenied: reset_container is for chiefs" in said, said)
                run("reset", "python", *where, *of_chief)
                run("stop", *where, *of_chief)
                check(one.process.wait(timeout=60) == 0, "it ends well")
            finally:
                one.kill()
    print("who may come in came in, and did what they may")


if __name__ == "__main__":
    main(*sys.argv[1:])
