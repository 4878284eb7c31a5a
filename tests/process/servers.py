#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Servers as processes of their own: started, used, killed, started anew, and told to end.

    servers.py TAGMA_SERVER CLUSTER_CLIENT"""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Server:
    """One that has said that it listens."""

    def __init__(self, program, cluster, task, *more):
        command = [program, "--cluster", json.dumps(cluster), "--job", "local", "--task", str(task), *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.said = self.process.stderr.readline()
        if not self.said.startswith("tagma-server: task "):
            self.kill()
            raise SystemExit(f"failed: {command} says {self.said}")
        self.rest = []
        self.reader = threading.Thread(target=lambda: self.rest.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def end(self, by):
        self.process.send_signal(by)
        status = self.process.wait(timeout=60)
        self.reader.join()
        return status

    def kill(self):
        """It is gone afterwards, and its port is free."""
        self.process.kill()
        self.process.wait(timeout=60)


def check(condition, *what):
    if not condition:
        raise SystemExit("failed: " + " ".join(map(str, what)))


def refused(command, status, *parts):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    check(done.returncode == status, command, "ends with", done.returncode, done.stderr)
    for part in parts:
        check(part in done.stderr, command, "does not say", part, "but", done.stderr)
    check(done.stderr.count("\n") == 1, command, "says more than a line:", done.stderr)


def main(program, client):
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    check(done.returncode == 0 and "--secret-file" in done.stdout, "--help")
    refused([program, "--local_hosts", "a:1"], 2, "'--local_hosts' is no option")
    refused([program, "stray"], 2, "'stray' is no option")
    refused([program, "--threads", "0"], 2, "--threads")
    refused([program, "--threads", "2x"], 2, "'2x'")
    refused([program, "--gpu-memory-growth"], 2, "need --gpus")
    refused([program, "--gpus", "--gpu-memory-fraction", "1.5"], 2, "'1.5'")
    refused([program, "--gpus", "--fake-gpus"], 2, "one at a time")
    refused([program, "--secret-file"], 2, "--secret-file needs a value")
    refused([program, "--secret-file", "/nowhere/at/all"], 2, "/nowhere/at/all")
    refused([program, "--chief-secret-file", "/nowhere/at/all"], 2, "--chief-secret-file", "/nowhere/at/all")
    for option in ("--secret-file", "--chief-secret-file"):
        refused([program, option, "/"], 2, option, "'/'", "Is a directory")
    refused([program, "--bind", "127.0.0.1:1", "--bind=127.0.0.1:2"], 2, "--bind: this was said before")
    refused([program, "--chief-secret-file", __file__], 2, "a secret of chiefs needs another one for workers")
    refused([program, "--tls-ca"], 2, "--tls-ca needs a value")
    refused([program, "--cluster", "{}", "--job", "ps", "--task", "0"], 2, "cluster")
    refused([program, "--cluster", "/nowhere.json"], 2, "--cluster: /nowhere.json: cannot be opened")
    for name, value, said in (("TAGMA_CLUSTER", "/nowhere.json", "TAGMA_CLUSTER: /nowhere.json: cannot be opened"),
                              ("TF_CONFIG", '{"task": {"type": "ps", "index": 0}}', "nothing describes a cluster")):
        refused(["env", f"{name}={value}", program], 2, said)

    ports = free_ports(2)
    cluster = {"local": [f"127.0.0.1:{p}" for p in ports]}
    where = ["--cluster", json.dumps(cluster), "--job", "local"]
    refused([program, *where, "--task", "2"], 2, "local", "2")
    target = f"tagma://127.0.0.1:{ports[0]}"

    def ask():
        return subprocess.run([client, "--target", target], capture_output=True, text=True, timeout=120)

    servers = [Server(program, cluster, task) for task in (0, 1)]
    try:
        check(servers[0].said == f'tagma-server: task 0 of job "local" at {target}\n', servers[0].said)
        refused([program, *where, "--task", "0"], 1, str(ports[0]))
        for expected in ("4 8 12", "8 16 24"):  # what a client leaves behind, the next one finds
            done = ask()
            check(done.returncode == 0 and expected in done.stdout, done.stdout, done.stderr)
        servers[1].end(signal.SIGKILL)
        servers[1] = Server(program, cluster, 1)
        done = ask()
        check(done.returncode == 0 and "4 8 12" in done.stdout, "after a loss:", done.stdout, done.stderr)
        with socket.create_connection(("127.0.0.1", ports[0])) as stranger:  # who says nothing harms nobody
            done = ask()
            check(done.returncode == 0 and "8 16 24" in done.stdout, done.stdout, done.stderr)
            stranger.sendall(b"\xff" * 4096)
            done = ask()
            check(done.returncode == 0 and "12 24 36" in done.stdout, done.stdout, done.stderr)
        for server, by in zip(servers, (signal.SIGTERM, signal.SIGINT)):
            check(server.end(by) == 0, "a signal ends it well")
            check(any("ends" in line for line in server.rest), server.rest)
    finally:
        for server in servers:
            server.kill()

    # With a secret, a client that has none is refused, in words, and the server goes on.
    with tempfile.TemporaryDirectory() as folder:
        secret = pathlib.Path(folder, "secret")
        secret.write_text("open sesame\n")
        guarded = Server(program, cluster, 0, "--secret-file", str(secret))
        try:
            done = ask()
            check(done.returncode == 1 and "secret" in done.stderr, done.stdout, done.stderr)
            check(guarded.end(signal.SIGTERM) == 0, "a signal ends it well")
        finally:
            guarded.kill()
    print("servers were started, used, killed and ended")


if __name__ == "__main__":
    main(*sys.argv[1:])
