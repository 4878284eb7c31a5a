#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs over servers, in this library and in TensorFlow, in turns (peers.py): a step that does next to nothing on each
parameter server, a queue of a server, and training by two workers whose variables are on a parameter server. All
processes are on this machine, at ports that the system chooses.

Our servers are `tagma-server`; TensorFlow's, and its sessions, are those of graph mode. Bytes of our processes go
through memory that they share, or, with --sockets, through sockets."""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "peers"), str(HERE.parents[1] / "examples")]
import peers  # noqa: E402
from start_cluster import free_ports  # noqa: E402

# name: work, batch, parameter servers, workers, our worker, its peer, the ratio that is wanted
CASES = {
    "null-2": ("null_step", 2, 2, 1, "tagma_null_step", "tensorflow_cluster", 5.0),
    "null-16": ("null_step", 16, 16, 1, "tagma_null_step", "tensorflow_cluster", 5.0),
    "queue-32": ("remote_queue", 32, 1, 1, "tagma_remote_queue", "tensorflow_cluster", 5.0),
    "train-32": ("between_graph", 32, 1, 2, "tagma_between_graph", "tensorflow_cluster", 2.0),
    "train-128": ("between_graph", 128, 1, 2, "tagma_between_graph", "tensorflow_cluster", 2.0),
    "generic-32": ("between_graph", 32, 1, 1, "tagma_one_server", "tagma_compiled_in", 0.9),
    "generic-128": ("between_graph", 128, 1, 1, "tagma_one_server", "tagma_compiled_in", 0.9),
    "as-data-32": ("between_graph", 32, 0, 1, "tagma_as_data", "tagma_compiled_in", 0.9),
    "as-data-128": ("between_graph", 128, 0, 1, "tagma_as_data", "tagma_compiled_in", 0.9),
}
PARAMETERS = 784 * 300 + 300 + 300 * 100 + 100 + 100 * 10 + 10


class Cluster:
    """Parameter servers on this machine, and the addresses of workers. They end with the block that has them."""

    def __init__(self, command, servers, workers):
        ports = free_ports(servers + workers)
        self.members = {"ps": [f"127.0.0.1:{port}" for port in ports[:servers]],
                        "worker": [f"127.0.0.1:{port}" for port in ports[servers:]]}
        self.target = f"tagma://{(self.members['ps'] + self.members['worker'])[0]}"
        self.processes = []
        for task in range(servers):
            self.processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                   env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **self.role("ps", task)}))
        for process in self.processes:
            while line := process.stdout.readline():
                if line.startswith(("ready", "tagma-server: task")):
                    threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop it
                    break
            else:
                self.__exit__()
                raise RuntimeError(f"{command} ended before it served")

    def role(self, job, task):
        return {"TAGMA_CLUSTER": json.dumps(self.members), "TAGMA_JOB": job, "TAGMA_TASK": str(task)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Team(peers.Worker):
    """Workers that do their steps at the same time. They are done when the last one is."""

    def __init__(self, name, work, batch, arguments, cluster):
        self.workers, self.steps, self.processor_time = [], 1, False
        try:
            for task in range(len(cluster.members["worker"])):
                variables = {**cluster.role("worker", task), "BENCH_TARGET": cluster.target}
                self.workers.append(peers.Worker(name, work, batch, arguments, "sgd", variables))
        except Exception:
            self.close()
            raise
        self.version = self.workers[0].version

    def begin(self, steps):
        for worker in self.workers:
            worker.begin(steps)

    def end(self):
        return max([worker.end() for worker in self.workers])

    def close(self):
        for worker in self.workers:
            worker.close()


def server_command(arguments):
    return [str(arguments.tools / "tagma-server"), "--threads", str(arguments.threads),
            *(["--no-shared-memory"] if arguments.sockets else [])]


def status_of(arguments, cluster, job="ps", task=0):
    """What a server says of itself."""
    said = subprocess.run([str(arguments.tools / "tagma-ctl"), "status", "--json", "--target", cluster.target, "--job", job,
                           "--task", str(task)], capture_output=True, text=True)
    return next(t for t in json.loads(said.stdout)["tasks"] if "connections" in t)


def bytes_of(status):
    return sum(c["bytes_sent"] + c["bytes_received"] for c in status["connections"])


def bytes_of_step(arguments, cluster, team, steps=200):
    """What a step of a worker sends and receives, beside what it has to: each parameter and its gradient once."""
    before = bytes_of(status_of(arguments, cluster))
    team.run(steps)
    taken = (bytes_of(status_of(arguments, cluster)) - before) / (steps * len(team.workers))
    return taken, taken / (2 * 4 * PARAMETERS)


def add_options(parser):
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("build/full"), help="where everything is built")
    parser.add_argument("--threads", type=int, default=1, help="of every kernel")
    parser.add_argument("--sockets", action="store_true", help="no memory is shared between processes")


def finish_options(parser):
    arguments = parser.parse_args()
    arguments.build, arguments.tools = arguments.root / "bench/peers", arguments.root / "tools"
    arguments.clock, arguments.optimizer, arguments.gpu = "wall", "sgd", False
    if arguments.sockets:
        os.environ["BENCH_SOCKETS"] = "1"
    return arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--python", default=sys.executable, help="runs the Python workers; has tensorflow")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="that each half of a pair takes")
    parser.add_argument("--case", action="append", choices=list(CASES))
    parser.add_argument("--json", type=pathlib.Path, help="write the results there as well")
    arguments = finish_options(parser)
    report = {"facts": {**peers.facts(arguments), "sockets": arguments.sockets}, "results": {}}
    print(", ".join(f"{key} {value}" for key, value in report["facts"].items()))
    print(f"{'case':14}{'ours us':>12}{'peer us':>12}{'ratio':>9}{'middle half':>20}{'wanted':>8}  version")
    for case in arguments.case or CASES:
        work, batch, servers, workers, own, peer, wanted = CASES[case]
        try:
            with contextlib.ExitStack() as all_of:
                ours = all_of.enter_context(Cluster(server_command(arguments), servers, workers))
                theirs = ours if peer.startswith("tagma") else all_of.enter_context(
                    Cluster([arguments.python, str(HERE / "tensorflow_ps.py")], servers, workers))
                teams = []
                for name, cluster in ((own, ours), (peer, theirs)):
                    teams.append(Team(name, work, batch, arguments, cluster))
                    all_of.callback(teams[-1].close)
                result = peers.compare(*teams, arguments)
                if case.startswith("train"):
                    result["bytes"], result["bytes_to_least"] = bytes_of_step(arguments, ours, teams[0])
                    result["images_per_s"] = [batch * workers / result[side] * 1e6 for side in ("ours_us", "peer_us")]
        except (RuntimeError, OSError, ValueError, IndexError) as problem:
            print(f"{case:14}  left out: {problem}")
            continue
        report["results"][case] = {**result, "wanted": wanted}
        low, high = result["spread"]
        print(f"{case:14}{result['ours_us']:12.1f}{result['peer_us']:12.1f}{result['ratio']:9.2f}"
              f"{f'{low:.2f} to {high:.2f}':>20}{wanted:>8}  {result['peer_version']}", flush=True)
        if "bytes" in result:
            print(f"{'':14}{result['bytes']:.0f} bytes a step, {result['bytes_to_least']:.4f} of parameters and gradients; "
                  f"images/s {result['images_per_s'][0]:.0f} and {result['images_per_s'][1]:.0f}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if len(report["results"]) == len(arguments.case or CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
