#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Memory, connections, sizes and starts of servers on this machine: how large stripped programs are, how long `tagma-server`
takes until it has answered, what a parameter server takes with 64 workers, whether its memory stays as it is over many
steps, and how long heartbeats take while large tensors stream."""

import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "tests/process")]
import cluster  # noqa: E402
from cluster import Cluster, Team, peers, server_command, status_of  # noqa: E402
from service_peer import SERVER_STATUS, STATUS, Client, read  # noqa: E402


def sizes(arguments):
    """Bytes of stripped programs; the trainer is a client, so that its kernels are the servers'. It is compiled here as
    users do who have headers alone, and once more with the compiled half."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = pathlib.Path(folder, "trainer")
        root = HERE.parents[1]
        subprocess.run([arguments.compiler, "-std=c++20", "-O2", f"-I{root / 'include'}", f"-I{root / 'bench/peers'}", "-DTAGMA_WITH_ASIO=1",
                        "-DTAGMA_WITH_ONEDNN=1", str(HERE / "tagma_one_server.cpp"), "-o", str(trainer), "-ldnnl", "-pthread"], check=True)
        found = {}
        for name, path in (("tagma-server", arguments.tools / "tagma-server"), ("trainer, headers alone", trainer),
                           ("trainer, compiled half", arguments.build / "tagma_one_server")):
            subprocess.run(["strip", "-o", str(pathlib.Path(folder, "stripped")), str(path)], check=True)
            found[name] = pathlib.Path(folder, "stripped").stat().st_size
    return found


def start_seconds(arguments):
    """From the start of a server to its first answer, to a client that tries to connect all the time; and seconds of the
    processor, until it has ended."""
    port = cluster.free_ports(1)[0]
    command = [*server_command(arguments), "--cluster", json.dumps({"ps": [f"127.0.0.1:{port}"]})]
    begin = time.perf_counter()
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                client = Client("127.0.0.1", port, b"")
                break
            except ConnectionRefusedError:
                if server.poll() is not None:
                    raise RuntimeError("tagma-server ended") from None
        read(client.call(STATUS)[1], SERVER_STATUS)
        taken = time.perf_counter() - begin
    finally:
        server.kill()
        _, _, usage = os.wait4(server.pid, 0)
        server.returncode = -signal.SIGKILL
    return taken, usage.ru_utime + usage.ru_stime


def start(arguments):
    starts, processor = zip(*(start_seconds(arguments) for _ in range(arguments.starts)))
    low, high = peers.quartiles(starts)
    return {"ms": 1e3 * statistics.median(starts), "middle half": [1e3 * low, 1e3 * high], "least": 1e3 * min(starts),
            "processor ms": 1e3 * statistics.median(processor)}


def memory_of(process):
    """Megabytes that a process has in memory, and its share of them where others have them, too."""
    text = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="utf-8")
    return [int(re.search(rf"^{what}: +(\d+) kB", text, re.M)[1]) / 1024 for what in ("Rss", "Pss")]


def many_workers(arguments):
    with Cluster(server_command(arguments), 1, arguments.workers) as servers:
        team = Team("tagma_between_graph", "between_graph", 32, arguments, servers)
        try:
            alone = [memory_of(worker.process)[1] for worker in team.workers]
            seconds = team.run(20)
            status = status_of(arguments, servers)
            return {"connections": sum(c["role"] != "client" or c["incoming"] for c in status["connections"]),
                    "ps MB": memory_of(servers.processes[0])[0], "worker MB": statistics.median(alone),
                    "all MB": memory_of(servers.processes[0])[1] + sum(memory_of(w.process)[1] for w in team.workers),
                    "steps/s": 20 * len(team.workers) / seconds}
        finally:
            team.close()


def flat_memory(arguments, name, work, batch, workers):
    """Megabytes of a parameter server after so many steps of all workers together."""
    with Cluster(server_command(arguments), 1, workers) as servers:
        team = Team(name, work, batch, arguments, servers)
        try:
            done, found = 20 * workers, {}
            for at in (1_000, 10_000, 20_000, 50_000, 100_000):
                team.run((at - done) // workers)
                done = at
                found[at] = memory_of(servers.processes[0])[0]
            return found
        finally:
            team.close()


def heartbeats(arguments, megabytes):
    """The longest round trip of a heartbeat, the longest time since the client was heard, and the longest wait of another
    client for an answer, in milliseconds, while a server sends a gigabyte, again and again, in tensors of one size."""
    with Cluster(server_command(arguments), 1, 1) as servers:
        team = Team("tagma_stream", "stream", megabytes, arguments, servers)
        done, rates = threading.Event(), []
        try:

            def stream():
                while not done.is_set():
                    rates.append(1.0 / team.run(1000 // megabytes))

            other = threading.Thread(target=stream)
            other.start()
            host, port = servers.members["ps"][0].split(":")
            client = Client(host, int(port), b"")
            smoothed, trips, silences, answers = 0, [], [], []
            end = time.monotonic() + arguments.seconds
            while time.monotonic() < end:
                asked = time.perf_counter()
                status = read(client.call(STATUS)[1], SERVER_STATUS)
                answers.append(1e3 * (time.perf_counter() - asked))
                busy = max(status["connections"], key=lambda c: c["bytes_sent"])
                if smoothed and busy["round_trip"] != smoothed:  # each counts for an eighth
                    trips.append((8 * busy["round_trip"] - 7 * smoothed) / 1e6)
                smoothed = busy["round_trip"]
                silences.append(busy["silent"] / 1e6)
                time.sleep(0.02)
            done.set()
            other.join()
            return {"GB/s": statistics.median(rates), "heartbeats": len(trips), "longest ms": max(trips),
                    "median ms": statistics.median(trips), "silence ms": max(silences), "answer to others ms": max(answers)}
        finally:
            done.set()
            team.close()


FIGURES = {
    "sizes": sizes, "start": start, "workers": many_workers,
    "heartbeats, 100 MB": lambda arguments: heartbeats(arguments, 100),
    "heartbeats, 16 MB": lambda arguments: heartbeats(arguments, 16),
    "null steps": lambda arguments: flat_memory(arguments, "tagma_null_step", "null_step", 1, 1),
    "training steps": lambda arguments: flat_memory(arguments, "tagma_between_graph", "between_graph", 1, 2),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cluster.add_options(parser)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20, help="of streaming")
    parser.add_argument("--figure", action="append", choices=list(FIGURES))
    parser.add_argument("--json", type=pathlib.Path, help="write the results there as well")
    arguments = cluster.finish_options(parser)
    report = {"facts": peers.facts(arguments), "results": {}}
    for name in arguments.figure or FIGURES:
        report["results"][name] = FIGURES[name](arguments)
        print(f"{name}: {report['results'][name]}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
