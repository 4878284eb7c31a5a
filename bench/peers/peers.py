#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The same work in this library and in others, in turns: ours, peer, ours, peer, so that whatever else the machine does
hits both. The median of the ratios counts (above 1: this library is faster), beside it the spread of the middle half.

Workers are the programs that bench/peers builds, and Python scripts, which run with the Python given by --python (by
default the one that runs this script). A peer that cannot start is left out and named. With --against the peers are our
own workers of another build, such as one with another compiler or math library.

Of --networks the share of the machine is told as well: multiplications of products and convolutions in a second, by those
of a loop in registers on as many threads, which takes turns with the two. On several threads there is a rest before each
turn, so that no thread of the other library still looks for work."""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# name: work, batch, our worker, peers, the ratio that is wanted
CASES = {
    "mlp-32": ("mlp", 32, "tagma_mlp", {"torch": 2.0, "torch_fused": None, "tensorflow": 2.0, "keras": None,
                                        "eigen_mlp": 1.0, "tiny_dnn_mlp": 5.0}),
    "mlp-256": ("mlp", 256, "tagma_mlp", {"torch": 1.3, "torch_fused": None, "tensorflow": 1.3, "keras": None,
                                          "eigen_mlp": 1.0, "tiny_dnn_mlp": 5.0}),
    "cnn-64": ("cnn", 64, "tagma_cnn", {"torch": 1.1, "torch_fused": None, "tensorflow": 1.1, "keras": None}),
    "lstm-32": ("lstm", 32, "tagma_lstm", {"torch": 1.3, "jax": 1.3}),
    "tiny-scan": ("tiny_scan", 1, "tagma_tiny_scan", {"jax": None, "torch": None}),
    "chain": ("chain", 1, "tagma_chain", {"hand_fused_chain": 0.9, "torch": 3.0, "tensorflow": None}),
    "branches": ("branches", 1, "tagma_branches", {"bare_threads_branches": 0.9}),
    "queue": ("queue", 1, "tagma_queue", {"tf_queues": 20.0}),
    "queue-runs": ("queue", 1, "tagma_queue_runs", {"tf_queues": None}),
    "csv": ("csv", 1000, "tagma_csv", {"tf_data": 3.0, "tf_queues": 10.0, "pyarrow": None}),
    "tf-record": ("tf_record", 1000, "tagma_tf_record", {"tf_data": 1.5}),
    "pipeline": ("pipeline", 128, "tagma_pipeline", {"tf_data": 5.0}),
    "images": ("images", 128, "tagma_images", {"torch_loader": 5.0, "tf_data": None}),
}
GPU_CASES = {
    "mlp-128": ("mlp", 128, "tagma_gpu_mlp", {"torch_gpu": 3.0, "torch_gpu_compiled": 1.0}),
    "cnn-64": ("cnn", 64, "tagma_gpu_cnn", {"torch_gpu": None, "torch_gpu_compiled": 1.0}),
    "transformer-16": ("transformer", 16, "tagma_gpu_transformer", {"torch_gpu": None, "torch_gpu_compiled": 1.0}),
}
NETWORK_PEERS = {"torch_network": 1.2, "torch_network_compiled": 1.2, "jax_network": 1.2}
INFERENCE_PEERS = {"torch_network": 1.1, "torch_network_compiled": 1.1, "jax_network": 1.1, "onnx_network": 1.1}
NETWORK_CASES = {f"{network}-{batch}": (network, batch, f"tagma_network_{network}", NETWORK_PEERS)
                 for network, batches in {"mlp": (1, 32, 256, 4096), "cnn": (64,), "lstm": (32,), "gru": (32,), "transformer": (16,),
                                          "resnet": (16,), "mobilenet": (16,), "unet": (8,)}.items() for batch in batches}
NOTES = {"gru": "PyTorch's GRU has another formula: its step has one product with the state, ours two that wait for each other"}
NETWORK_CASES |= {f"{network}-infer-{batch}": (network, batch, f"tagma_network_{network}", INFERENCE_PEERS)
                  for network in ("mlp", "cnn", "gru", "transformer", "resnet", "mobilenet", "unet") for batch in (1, 16, 64)}
# Where the work is another, no ratio is wanted; JAX has no such layer of its own.
NETWORK_CASES = {case: (network, batch, own, {p: None for p in peers if p != "jax_network"} if network in NOTES else peers)
                 for case, (network, batch, own, peers) in NETWORK_CASES.items()}
ONE_THREAD = {"eigen_mlp", "tiny_dnn_mlp"}
REST = 0.06  # seconds between turns of several threads: those of ONNX Runtime look for work some 35 ms long, OpenMP's 10


class Worker:
    def __init__(self, name, work, batch, arguments, task, variables=None):
        build, _, program = name.rpartition(":")
        binary = pathlib.Path(build) / program if build else arguments.build / name
        command = [str(binary), str(batch)]
        folders = (HERE, HERE.parent / "networks", HERE.parent / "cluster")
        script = next((f / f"{name}_worker.py" for f in folders if (f / f"{name}_worker.py").exists()), None)
        if script:
            command = [arguments.python, str(script), work, str(batch)]
        elif not binary.exists():
            raise RuntimeError(f"there is no {binary.name}; build bench/peers, or give --build")
        environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads), "TF_CPP_MIN_LOG_LEVEL": "3", **(variables or {})}
        if not arguments.gpu:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*command, str(arguments.threads), task], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=complaints, text=True, env=environment)
        line = self.process.stdout.readline().strip()
        word, _, self.version = line.partition(" ")
        counted = re.search(r" ?multiplications=(\d+)", self.version)
        self.multiplications = int(counted[1]) if counted else 0  # of a step
        self.version = self.version.replace(counted[0], "") if counted else self.version
        if word != "ready":
            self.close()
            if self.process.returncode == 0 and not line:
                sys.exit(f"{name} ended without a word: it measures nothing")
            complaints.seek(0)
            line = line or complaints.read().strip().rpartition("\n")[2]
            raise RuntimeError(f"{name} did not start" + (f": {line}" if line else ""))
        self.steps = 1
        self.processor_time = arguments.clock == "processor"
        self.rest = REST if arguments.threads > 1 else 0

    def processor_seconds(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9

    def begin(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()

    def end(self):
        return float(self.process.stdout.readline().split()[0])

    def run(self, steps):
        before = self.processor_seconds() if self.processor_time else 0
        self.begin(steps)
        seconds = self.end()
        return self.processor_seconds() - before if self.processor_time else seconds

    def choose_steps(self, seconds):
        """So many steps that they take about as long as asked for."""
        while (taken := self.run(self.steps)) < seconds / 8:
            self.steps *= 4
        self.steps = max(1, round(self.steps * seconds / taken))

    def step_seconds(self):
        time.sleep(self.rest)
        return self.run(self.steps) / self.steps

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def quartiles(values):
    ordered = statistics.quantiles(values, n=4, method="inclusive")
    return ordered[0], ordered[2]


def compare(ours, peer, peak, arguments):
    workers = [ours, peer] + ([peak] if peak else [])
    for worker in workers:
        worker.choose_steps(arguments.seconds if worker is not peak else arguments.seconds / 4)
    pairs, shares = [], []
    for i in range(arguments.pairs):
        seconds = {worker: worker.step_seconds() for worker in (workers if i % 2 == 0 else reversed(workers))}
        pairs.append((seconds[ours], seconds[peer]))
        if peak:
            shares.append(ours.multiplications / seconds[ours] / (peak.multiplications / seconds[peak]))
    ratios = [theirs / own for own, theirs in pairs]
    return {"share_of_peak": statistics.median(shares) if shares else None,
            "ratio": statistics.median(ratios), "spread": quartiles(ratios), "ours_us": 1e6 * statistics.median(p[0] for p in pairs),
            "peer_us": 1e6 * statistics.median(p[1] for p in pairs), "pairs": len(pairs), "peer_version": peer.version,
            "version": ours.version}


def facts(arguments):
    model, flags = platform.machine(), ""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            model = value.strip() if key.strip() == "model name" else model
            flags = value if key.strip() == "flags" else flags
    except OSError:
        pass
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"cpu": model, "cpus": len(os.sched_getaffinity(0)), "vectors": [f for f in ("avx2", "avx512f", "amx_tile") if f in flags.split()],
            "kernel": platform.release(), "load": os.getloadavg()[0], "commit": commit, "threads": arguments.threads,
            "optimizer": arguments.optimizer, "clock": arguments.clock, "build": "ours -O2; C++ peers -O3 -march=native"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/full/bench/peers"), help="where the C++ workers are")
    parser.add_argument("--python", default=sys.executable, help="runs the Python workers; has torch and tensorflow")
    parser.add_argument("--threads", type=int, default=1, help="of every worker; those that have one thread only are left out")
    parser.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="that each half of a pair takes")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall",
                        help="processor: time that the threads of a worker ran, for machines that do other work too")
    parser.add_argument("--gpu", action="store_true", help="the cases of a GPU, with the workers of bench/gpu")
    parser.add_argument("--networks", action="store_true", help="the cases of bench/networks: blocks of models, trained and run")
    parser.add_argument("--case", action="append", choices=list({**CASES, **GPU_CASES, **NETWORK_CASES}))
    parser.add_argument("--peer", action="append")
    parser.add_argument("--against", type=pathlib.Path, help="where our workers of another build are: the only peers")
    parser.add_argument("--json", type=pathlib.Path, help="write the results there as well")
    arguments = parser.parse_args()
    if arguments.pairs < 2 or arguments.threads < 1 or arguments.seconds <= 0:
        parser.error("--pairs must be at least 2, --threads at least 1, --seconds positive")
    report = {"facts": facts(arguments), "results": {}}
    print(", ".join(f"{key} {value}" for key, value in report["facts"].items()))
    print(f"{'case':22}{'peer':18}{'ours us':>12}{'peer us':>12}{'ratio':>9}{'middle half':>20}{'wanted':>8}{'of peak':>9}  version")
    cases = GPU_CASES if arguments.gpu else NETWORK_CASES if arguments.networks else CASES
    for case in arguments.case or cases:
        if case not in cases:
            parser.error(f"--case {case} is not one of these: {', '.join(cases)}")
        work, batch, own, peers = cases[case]
        if arguments.against:
            peers = {f"{arguments.against}:{own}": None}
        for peer, wanted in peers.items():
            if arguments.peer and peer not in arguments.peer or arguments.threads > 1 and peer in ONE_THREAD:
                continue
            workers = []
            try:
                for name in (own, peer):
                    workers.append(Worker(name, work, batch, arguments, "infer" if "-infer-" in case else arguments.optimizer))
                if arguments.networks:
                    workers.append(Worker("machine_peak", "", 1, arguments, "infer"))
                result = compare(*workers[:2], workers[2] if arguments.networks else None, arguments)
            except (RuntimeError, OSError, ValueError, IndexError) as problem:
                print(f"{case:22}{peer[-17:]:18}  left out: {problem}")
                continue
            finally:
                for worker in workers:
                    worker.close()
            note = {} if arguments.against or work not in NOTES else {"note": NOTES[work]}
            report["results"].setdefault(case, {})[peer] = {**result, "wanted": wanted, **note}
            low, high = result["spread"]
            share = "-" if result["share_of_peak"] is None else f"{100 * result['share_of_peak']:.0f} %"
            print(f"{case:22}{peer[-17:]:18}{result['ours_us']:12.1f}{result['peer_us']:12.1f}{result['ratio']:9.2f}"
                  f"{f'{low:.2f} to {high:.2f}':>20}{wanted or '-':>8}{share:>9}  {result['peer_version']}"
                  f"{''.join(f'; {text}' for text in note.values())}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if report["results"] else 1


if __name__ == "__main__":
    sys.exit(main())
