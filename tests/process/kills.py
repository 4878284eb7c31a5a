#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Kills parameter servers, workers and trainers at random while they train, and starts them again.

    kills.py TAGMA_SERVER KILL_CLIENT [KILLS [SEED]]

First two trainers, of which one and its worker die: what they were told was done was done, once, and what was done
beside it was done for those that died. Then one trainer whose servers die: what is lost is what came behind the newest
checkpoint, on both servers alike, and nothing else. Then one whose server is stopped for a while, with nothing lost; and,
where network namespaces may be made, one whose server is on another host as far as the network knows, which is out of
reach for a while, and one whose server is behind a network that is slow and loses packets. How long they were away is
printed."""

import fcntl
import heapq
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from servers import check, free_ports

STEPS_OF_A_KILL = 120


class Task:
    """A process that is started again and again; its lines with the times at which they came."""

    def __init__(self, name, command):
        self.name, self.command, self.lines, self.errors = name, command, [], []
        self.changed = threading.Condition()
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.readers = [threading.Thread(target=self.read, args=(pipe, to), daemon=True)
                        for pipe, to in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    def read(self, pipe, to):
        for line in pipe:
            with self.changed:
                to.append((time.monotonic(), line.split()))
                self.changed.notify_all()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for reader in self.readers:
            reader.join()

    def wait_for(self, what, seconds=120):
        """Until `what(lines)` is true."""
        with self.changed:
            done = self.changed.wait_for(lambda: what(self.lines) or self.process.poll() is not None, seconds)
        if self.process.poll() is not None:
            for reader in self.readers:
                reader.join(10)  # what it has said last
        check(done and what(self.lines), self.name, "does not go on:", self.lines[-3:], self.errors[-3:])

    def said(self, word):
        return [line for _, line in self.lines if line[0] == word]


def ran(count):
    return lambda lines: sum(line[0] == "ran" for _, line in lines) >= count


def has_ended(lines):
    return bool(lines) and lines[-1][1][0] == "fit"


def ran_or_ended(count):
    """Trainers are quick, and this script may wait for a processor: there may be no more runs."""
    return lambda lines: ran(count)(lines) or has_ended(lines)


def serve(program, cluster, job, number, *more):
    task = Task(f"{job} {number}", [program, "--cluster", json.dumps(cluster), "--job", job, "--task", str(number), *more])
    listens(task)
    return task


def listens(task, before=0):
    with task.changed:
        check(task.changed.wait_for(lambda: len(task.errors) > before, 60), task.name, "does not listen")


def read_all(task, quiet=0.1, seconds=2):
    """The runs that it has told, when what was still on its way, or in a pipe, has been read: nothing has come for a while."""
    end = time.monotonic() + seconds
    count = -1
    while count != (now := len(task.said("ran"))) and time.monotonic() < end:
        count = now
        time.sleep(quiet)
    return now


def again(task):
    before = len(task.errors)
    task.start()
    listens(task, before)


def trainer(client, cluster, worker, kind, steps):
    return Task(f"trainer {kind}", [client, json.dumps(cluster), str(worker), kind, str(steps)])


def finish(task, seconds=120):
    task.wait_for(has_ended, seconds)
    check(task.process.wait(60) == 0, task.name, "ends badly", task.errors[-3:])
    slope, offset = map(float, task.said("fit")[0][1:])
    check(abs(slope - 3) < 0.05 and abs(offset - 1) < 0.05, "the line is", slope, offset)


def two_trainers(program, client, cluster, kills, draw):
    """Kills the worker of a trainer, and the other trainer; the servers of the variables stay."""
    tasks = {(job, i): serve(program, cluster, job, i) for job in ("ps", "worker") for i in (0, 1)}
    steps = STEPS_OF_A_KILL * (kills + 2)
    chief, other = trainer(client, cluster, 0, "chief", steps), trainer(client, cluster, 1, "other", steps)
    died, away = 0, []
    try:
        for _ in range(kills):
            victim = draw.choice([tasks["worker", 0], tasks["worker", 1], other])
            target = other if victim is other else (chief if victim is tasks["worker", 0] else other)
            before = len(target.said("ran"))
            target.wait_for(ran_or_ended(before + draw.randrange(1, 40)))
            if has_ended(target.lines):
                break
            time.sleep(draw.random() * 0.01)
            done = len(target.said("ran"))
            victim.kill()
            begun = time.monotonic()
            if victim is other:
                died += 1
                other.start()
            else:
                again(victim)
            target.wait_for(ran_or_ended(done + 2))
            away.append(time.monotonic() - begun)
            if max(len(chief.said("ran")), len(other.said("ran"))) > steps - 2 * STEPS_OF_A_KILL:
                break
        finish(chief)
        finish(other)
        check_counts([chief, other], died)
    finally:
        for task in [chief, other, *tasks.values()]:
            task.kill()
    return away


def check_counts(trainers, died):
    """What was told was counted once, by both servers; beside it are runs whose trainer has died or made a new session."""
    answers = [line for task in trainers for line in task.said("ran")]
    sessions = sum(len(task.said("made")) for task in trainers)
    for column in (1, 2):
        counts = [int(line[column]) for line in answers]
        check(len(counts) == len(set(counts)), "two runs have counted the same", sorted(counts)[:9])
        most = max(counts)
        check(len(counts) <= most <= len(counts) + died + sessions, most, "were counted, and told", len(counts), died, sessions)


def one_that_sleeps(program, client, cluster, _, draw):
    """Stops a parameter server for longer than others believe in it. It has all that it had, so nothing is lost."""
    tasks = {(job, i): serve(program, cluster, job, i) for job in ("ps", "worker") for i in (0, 1)}
    only = trainer(client, cluster, 0, "chief", 20 * STEPS_OF_A_KILL)
    try:
        only.wait_for(ran_or_ended(draw.randrange(1, STEPS_OF_A_KILL)))
        victim = tasks["ps", draw.randrange(2)].process
        victim.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        done = read_all(only)
        time.sleep(4)
        check(len(only.said("ran")) <= done + 2, "runs go on without a server")
        victim.send_signal(signal.SIGCONT)
        only.wait_for(ran_or_ended(done + 2))
        away = time.monotonic() - begun
        finish(only)
        check_counts([only], 0)
    finally:
        for task in [only, *tasks.values()]:
            task.kill()
    return [away]


class OtherHost:
    """A network namespace, and a link to it that can be cut."""

    here, there = "10.213.7.1", "10.213.7.2"

    def __init__(self):
        self.name = f"tagma-{os.getpid()}"
        self.link, self.other_end = f"tg{os.getpid()}", f"th{os.getpid()}"
        self.ip("netns", "add", self.name)
        self.connect()
        for command in (["link", "set", self.other_end, "netns", self.name],
                        ["address", "add", self.here + "/30", "dev", self.link],
                        ["link", "set", self.link, "up"],
                        ["-n", self.name, "address", "add", self.there + "/30", "dev", self.other_end],
                        ["-n", self.name, "link", "set", self.other_end, "up"],
                        ["-n", self.name, "link", "set", "lo", "up"]):
            self.ip(*command)

    def connect(self):
        self.ip("link", "add", self.link, "type", "veth", "peer", "name", self.other_end)

    @staticmethod
    def ip(*command):
        subprocess.run(["ip", *command], check=True, capture_output=True)

    def set(self, state):
        self.ip("link", "set", self.link, state)

    def end(self):
        subprocess.run(["ip", "link", "del", self.link], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)

    @classmethod
    def make(cls, *how):
        """None where that is not allowed."""
        if shutil.which("ip") is None or os.geteuid() != 0:
            return None
        host = cls.__new__(cls)
        try:
            host.__init__(*how)
            return host
        except (OSError, subprocess.CalledProcessError):
            host.end()
            return None


class BadNetwork(OtherHost):
    """Another host behind a network whose packets take a while, and of which some are lost, in both directions. This process
    carries them: the system's own means for that (netem) are not everywhere."""

    here, there = "10.213.8.1", "10.213.8.2"

    def __init__(self, delay, loss, seed):
        self.delay, self.loss, self.draw = delay, loss, random.Random(seed)
        self.ends, self.carried, self.lost = [], 0, 0
        self.stops, self.stop = os.pipe()
        super().__init__()
        self.carrier = threading.Thread(target=self.carry, daemon=True)
        self.carrier.start()

    def connect(self):
        set_interface, tun_without_header = 0x400454CA, 0x1001
        for name in (self.link, self.other_end):
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            self.ends.append(end)
            fcntl.ioctl(end, set_interface, struct.pack("16sH22x", name.encode(), tun_without_header))

    def carry(self):
        on_the_way, number, since = [], 0, 0
        while True:
            left = max(on_the_way[0][0] - time.monotonic(), 0) if on_the_way else None
            ready = select.select([*self.ends, self.stops], [], [], left)[0]
            if self.stops in ready:
                return
            for end in ready:
                packet = os.read(end, 65536)
                since += 1
                if self.draw.random() < self.loss or since > 3 / self.loss:
                    self.lost += 1
                    since = 0
                else:
                    number += 1
                    heapq.heappush(on_the_way, (time.monotonic() + self.delay, number, self.ends[end == self.ends[0]], packet))
            while on_the_way and on_the_way[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(on_the_way)
                os.write(end, packet)
                self.carried += 1

    def end(self):
        os.write(self.stop, b"x")
        if hasattr(self, "carrier"):
            self.carrier.join()
        for end in [*self.ends, self.stop, self.stops]:
            os.close(end)
        super().end()


def start_with_one_elsewhere(tasks, program, host):
    """Adds the tasks of a cluster of which the second parameter server is on another host."""
    os.environ["TAGMA_TEST_INSECURE"] = "1"
    ports = free_ports(4)
    cluster = {"ps": [f"{host.here}:{ports[0]}", f"{host.there}:{ports[1]}"],
               "worker": [f"{host.here}:{p}" for p in ports[2:]]}
    for job, number in (("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)):
        inside = ["ip", "netns", "exec", host.name] if (job, number) == ("ps", 1) else []
        command = [program, "--cluster", json.dumps(cluster), "--job", job, "--task", str(number), "--insecure"]
        tasks.append(Task(f"{job} {number}", inside + command))
        listens(tasks[-1])
    return cluster


def one_out_of_reach(program, client, _, cuts, draw):
    """Cuts the link to a parameter server, for less and for more time than others believe in it. Nothing closes a socket."""
    host = OtherHost.make()
    if host is None:
        print("one_out_of_reach: skipped, network namespaces cannot be made here")
        return []
    tasks, away = [], []
    only = None
    try:
        cluster = start_with_one_elsewhere(tasks, program, host)
        only = trainer(client, cluster, 0, "chief", STEPS_OF_A_KILL * (cuts + 4))
        for seconds in [draw.choice((0.5, 5)) for _ in range(min(cuts, 4))]:
            only.wait_for(ran_or_ended(len(only.said("ran")) + draw.randrange(1, STEPS_OF_A_KILL)))
            host.set("down")
            begun = time.monotonic()
            done = read_all(only)
            time.sleep(seconds)
            check(len(only.said("ran")) <= done + 2, "runs go on without a server")
            host.set("up")
            only.wait_for(ran_or_ended(done + 2))
            away.append(time.monotonic() - begun)
        finish(only)
        check_counts([only], 0)
    finally:
        for task in [*tasks, *([only] if only else [])]:
            task.kill()
        host.end()
    return away


def one_behind_a_bad_network(program, client, _, kills, draw):
    """A parameter server is 50 ms away, and one of a hundred packets is lost in each direction. Nobody loses a connection for
    that, nor a run; the time of each is that of a few ways there and back."""
    host = BadNetwork.make(0.05, 0.01, draw.randrange(1 << 32))
    if host is None:
        print("one_behind_a_bad_network: skipped, such networks cannot be made here")
        return []
    tasks, only = [], None
    try:
        cluster = start_with_one_elsewhere(tasks, program, host)
        runs = 10 * (kills + 4)
        only = trainer(client, cluster, 0, "chief", runs)
        finish(only, 60 + runs)
        check_counts([only], 0)
        check(len(only.said("made")) == 1, "connections were lost", only.errors[-3:])
        check(host.lost > 0, "no packet was lost of", host.carried)
        moments = [at for at, line in only.lines if line[0] == "ran"]
        times = sorted(b - a for a, b in zip(moments, moments[1:]))
        print(f"one_behind_a_bad_network: {len(moments)} runs of {times[len(times) // 2]:.2f} s, {times[-1]:.2f} s at most; "
              f"{host.lost} of {host.lost + host.carried} packets were lost", flush=True)
    finally:
        for task in [*tasks, *([only] if only else [])]:
            task.kill()
        host.end()
    return []


def one_trainer(program, client, cluster, kills, draw):
    """Kills servers of variables and of work; one trainer goes on from checkpoints."""
    away = []
    with tempfile.TemporaryDirectory() as folder:
        tasks = {(job, i): serve(program, cluster, job, i, "--checkpoints", folder) for job in ("ps", "worker") for i in (0, 1)}
        only = trainer(client, cluster, 0, "restoring", STEPS_OF_A_KILL * (kills + 4))
        try:
            for _ in range(kills):
                victim = draw.choice([tasks["ps", 0], tasks["ps", 1], tasks["worker", 0]])
                only.wait_for(ran_or_ended(len(only.said("ran")) + draw.randrange(1, STEPS_OF_A_KILL)))
                if only.process.poll() is not None:
                    break
                done = len(only.said("ran"))
                victim.kill()
                begun = time.monotonic()
                again(victim)
                only.wait_for(ran_or_ended(done + 2))
                away.append(time.monotonic() - begun)
            finish(only)
            at, lost = None, 0
            for _, line in only.lines:
                if line[0] == "fit":
                    continue
                counts = tuple(map(int, line[1:]))
                check(counts[0] == counts[1], "the servers have counted differently:", line)
                if line[0] == "made":
                    check(at is None or counts[0] <= at + 1, "it begins with what was never there:", line, at)
                    lost += 0 if at is None else max(at - counts[0], 0)
                else:
                    check(counts[0] == at + 1, "a run was lost, or done twice:", line, at)
                at = counts[0]
        finally:
            for task in [only, *tasks.values()]:
                task.kill()
    print(f"{lost} of {len(only.said('ran'))} runs came behind the newest checkpoint and were lost")
    return away


def main(program, client, kills=4, seed=None):
    seed = int(seed) if seed is not None else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}", flush=True)
    draw = random.Random(seed)
    ports = free_ports(4)
    cluster = {"ps": [f"127.0.0.1:{p}" for p in ports[:2]], "worker": [f"127.0.0.1:{p}" for p in ports[2:]]}
    for scenario in (two_trainers, one_trainer, one_that_sleeps, one_out_of_reach, one_behind_a_bad_network):
        away = sorted(scenario(program, client, cluster, int(kills), draw))
        if not away:
            continue
        print(f"{scenario.__name__}: {len(away)} kills; runs again after {away[len(away) // 2]:.2f} s, {away[-1]:.2f} s at most",
              flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
