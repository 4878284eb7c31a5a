#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Starts a cluster on this machine: one program for all tasks, which finds its role on its command line.

    start_cluster.py [--ps N] [--workers N] PROGRAM [OPTION ...]

What a task prints has its name in front. When the chief, worker 0, has ended well, the others are ended too; when a
task fails, all are, and the exit status is 1."""

import argparse
import json
import queue
import signal
import socket
import subprocess
import sys
import threading


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def main():
    parser = argparse.ArgumentParser(description="Starts a cluster on this machine.")
    parser.add_argument("--ps", type=int, default=1, help="parameter servers (default 1)")
    parser.add_argument("--workers", type=int, default=2, help="workers (default 2)")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="of the program")
    given = parser.parse_args()
    if given.ps < 0 or given.workers < 1:
        parser.error("a cluster has no fewer than 0 parameter servers and 1 worker")

    tasks = [("ps", i) for i in range(given.ps)] + [("worker", i) for i in range(given.workers)]
    addresses = dict(zip(tasks, (f"localhost:{port}" for port in free_ports(len(tasks)))))
    cluster = {}
    for (job, _), address in addresses.items():
        cluster.setdefault(job, []).append(address)

    ended = queue.Queue()
    signal.signal(signal.SIGTERM, lambda *_: ended.put((None, 128 + signal.SIGTERM)))
    processes, threads = {}, []

    def follow(task, process):
        for line in process.stdout:
            print(f"[{task[0]} {task[1]}] {line}", end="", flush=True)
        ended.put((task, process.wait()))

    status = 1
    try:
        for job, number in tasks:
            command = [given.program, *given.options, "--cluster", json.dumps(cluster), "--job", job, "--task", str(number)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            processes[job, number] = process
            threads.append(threading.Thread(target=follow, args=((job, number), process)))
            threads[-1].start()
        while True:
            task, status = ended.get()
            if task is None or task == ("worker", 0):
                break
            if status != 0:
                print(f"[{task[0]} {task[1]}] ended with {status}, and so does the cluster", flush=True)
                break
    except KeyboardInterrupt:
        status = 130
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
        for thread in threads:
            thread.join()
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
