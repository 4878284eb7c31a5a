#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checkpoints that servers write: they are killed, started anew, in another number, and have the same bytes.

    checkpoints.py TAGMA_SERVER CHECKPOINT_CLIENT TAGMA_CTL"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from servers import Server, check, free_ports, refused


def main(program, client, ctl):
    ports = free_ports(2)
    two = {"local": [f"127.0.0.1:{p}" for p in ports]}
    one = {"local": two["local"][:1]}
    target = f"tagma://127.0.0.1:{ports[0]}"

    def ask(tasks, *what, fails=()):
        done = subprocess.run([client, target, str(tasks), *what], capture_output=True, text=True, timeout=120)
        check(done.returncode == (1 if fails else 0), what, "ends with", done.returncode, done.stdout, done.stderr)
        for part in fails:
            check(part in done.stderr, what, "does not say", part, "but", done.stderr)
        return done.stdout.splitlines()

    def admin(*what, fails=""):
        done = subprocess.run([ctl, *what, "--target", target], capture_output=True, text=True, timeout=120)
        check(done.returncode == (1 if fails else 0), what, "ends with", done.returncode, done.stdout, done.stderr)
        check(fails in done.stderr, what, "says", done.stderr)
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        refused([program, "--checkpoints", folder + "/none"], 2, "is no directory")
        refused([program, "--checkpoint-every", "1"], 2, "needs --checkpoints")
        refused([program, "--keep", "3"], 2, "--keep needs --checkpoints")
        refused([program, "--checkpoints", folder, "--checkpoint-every", "-1"], 2, "'-1'")
        refused([program, "--checkpoints", folder, "--keep", "0"], 2, "'0'")

        servers = [Server(program, two, task, "--checkpoints", folder) for task in (0, 1)]
        try:
            saved = ask(2, "add", "add", "save", "model-2", "print", "add", "print")
            check(saved[0] == "saved 2 variables, whole", saved)
            check(saved[1] != saved[2], saved)
            index = json.loads(pathlib.Path(folder, "model-2.safetensors.index.json").read_text())
            check(sorted(index["weight_map"]) == ["a", "b"], index)
            check(index["metadata"]["total_size"] == 400012, index)
            for file in index["weight_map"].values():
                check(pathlib.Path(folder, file).is_file(), file)
            # Who comes after the trainer has died saves what it left.
            check(ask("2m", "save", "model-3", "print")[1] == saved[2], "another client, of a master, saves")
            # So does somebody without any program.
            said = admin("save", "admin-1")
            check("saved 'admin-1': 2 variables of 390.6 KiB, 390.6 KiB of that new; between runs" in said, said)
            check(json.loads(admin("save", "admin-2", "--json"))["written"] == 0, "nothing is new")
            check(json.loads(admin("save", "admin-3", "--full", "--keep", "1", "--json"))["written"] == 400012, "--full")
            check(not list(pathlib.Path(folder).glob("admin-2.*.json")), "--keep 1")
            ask(2, "add")
            check("restored 'admin-3': 2 variables" in admin("restore", "admin-*"), "restored")
            check(ask(2, "print") == [saved[2]], "what was saved without a program")
            admin("restore", "nothing", fails="there is no checkpoint 'nothing'")
            admin("save", "x", "--container", "trial", fails="there are no variables")
            said = json.loads(admin("restore", "nothing", "--json", fails="there is no checkpoint 'nothing'"))
            check(said["ok"] is False and "there is no checkpoint 'nothing'" in said["error"], said)
            for server in servers:
                server.end(signal.SIGKILL)
            # One of them was given no directory: no file of the other one stays.
            servers = [Server(program, two, 0, "--checkpoints", folder), Server(program, two, 1)]
            before = sorted(f.name for f in pathlib.Path(folder).iterdir())
            for tasks in ("2", "2m"):
                ask(tasks, "add", "save", "refused-1", fails=["task:1", "--checkpoints"])
            deadline = time.monotonic() + 10
            while sorted(f.name for f in pathlib.Path(folder).iterdir()) != before and time.monotonic() < deadline:
                time.sleep(0.05)
            check(sorted(f.name for f in pathlib.Path(folder).iterdir()) == before, "a refused save leaves nothing")
            for server in servers:
                server.end(signal.SIGKILL)
            # One server in place of two.
            servers = [Server(program, one, 0, "--checkpoints", folder)]
            check(ask(1, "restore", "model-2", "print") == ["restored 'model-2'", saved[1]], "by one server")
            check(ask(1, "restore", "model-*", "print") == ["restored 'model-3'", saved[2]], "the newest")
            check(ask(1, "restore", "model-2", "add", "print")[1] == saved[2], "and trains on")
            ask(1, "restore", "model-4", fails=("task:0", "there is no checkpoint 'model-4'", folder))
            servers[0].end(signal.SIGKILL)
            servers = [Server(program, two, task, "--checkpoints", folder) for task in (0, 1)]
            check(ask("2m", "restore", "model-3", "print")[1] == saved[2], "by two again")
        finally:
            for server in servers:
                server.kill()

        # A server that saves by itself begins with what it has saved, and says so.
        servers = [Server(program, two, task, "--checkpoints", folder, "--checkpoint-every", "0.05", "--keep", "2")
                   for task in (0, 1)]
        try:
            before = ask(2, "add", "add", "add", "print")

            def written():
                return {p.name.split(".")[2].split("-")[0] for p in pathlib.Path(folder).glob("auto.*.index.json")}

            end = time.monotonic() + 60
            while written() != {"0", "1"} and time.monotonic() < end:
                time.sleep(0.01)
            # What was there when the last run had ended is in the second one that begins afterwards at the latest.
            state = None
            while time.monotonic() < end:
                newest = sorted(p.name for p in pathlib.Path(folder).glob("auto.*.index.json"))
                if state == newest:
                    break
                state = newest
                time.sleep(1)
            for server in servers:
                server.end(signal.SIGKILL)
            servers = [Server(program, two, task, "--checkpoints", folder, "--checkpoint-every", "1000")
                       for task in (0, 1)]
            check(ask(2, "print") == before, "servers begin with what they saved:", before)
            for server in servers:
                check(server.end(signal.SIGTERM) == 0, "a signal ends it well")
                check(any("updates since then are lost" in line for line in server.rest), server.rest)
            check(len(list(pathlib.Path(folder).glob("auto.local.0-*.index.json"))) <= 2, "old ones are removed")
        finally:
            for server in servers:
                server.kill()
    print("checkpoints were written, and read by others")


if __name__ == "__main__":
    main(*sys.argv[1:])
