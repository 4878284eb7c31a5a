#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A client of servers a second time, of nothing but docs/wire.md, docs/program_format.md and Python's standard library.

    service_peer.py --check PAGE                      compares the bodies of the page with what is written here
    service_peer.py --use HOST PORT SECRET PROGRAM    looks into a server, gives it a program, and runs it
    service_peer.py --wait HOST PORT SECRET PROGRAM   begins a run that waits at a queue, and says how it ends

PROGRAM is what tests/process/write_program.cpp writes: a placeholder x, float32 [3], and an output that adds it to the
variable total, one that is twice the total, and one that takes an element from the queue work."""

import operator
import pathlib
import re
import struct
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "transport"), str(TESTS / "device")]
import program_reader  # noqa: E402
from wire_peer import (ACCEPTED, ANSWER, CHUNK, GOODBYE, HELLO, IS_REPLY, MESSAGE, PROOF, Peer, WANTS_REPLY, frame, greeting,  # noqa: E402
                       proof)

ADD_PART, RUN_PART, TENSOR, WANTED, END_RUN, FORGET_GRAPH, LIST_VARIABLES, LIST_TASKS = range(1, 9)
STATUS, LIST_CONTAINERS, LIST_RESOURCES, READ_VARIABLE, LIST_RUNS, RESET_CONTAINER, PROBE = range(16, 23)
IS_ERROR = 0x400
NONE, FLOAT64, FLOAT32, INT64 = 0, 1, 2, 5
NOT_FOUND, ABORTED = 5, 10


class Writer:
    """Numbers, texts and specs, one behind the other."""

    def __init__(self):
        self.data = b""

    def __getattr__(self, form):
        """`w.u32(1, 2)`: numbers of a form."""
        letter = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "real": "d"}[form]

        def numbers(*values):
            self.data += b"".join(struct.pack("<" + letter, v) for v in values)
            return self

        return numbers

    def text(self, *texts):
        for t in texts:
            data = t.encode()
            self.data += struct.pack("<I", len(data)) + data
        return self

    def spec(self, kind, *extents):
        return self.u8(kind, len(extents)).i64(*extents)

    def task(self, job, number):
        return self.text(job).i32(number)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        assert size <= len(self.data) - self.at, "it ends too early"
        self.at += size
        return self.data[self.at - size:self.at]

    def __getattr__(self, form):
        letter = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "real": "d"}[form]
        return lambda: struct.unpack("<" + letter, self.take(struct.calcsize("<" + letter)))[0]

    def text(self):
        return self.take(self.u32()).decode()

    def spec(self):
        kind, rank = self.u8(), self.u8()
        return kind, [self.i64() for _ in range(rank)]

    def task(self):
        return self.text(), self.i32()

    def list(self, of):
        return [of(self) for _ in range(self.u32())]

    def end(self):
        assert self.at == len(self.data), "bytes are left"


def read(data, fields):
    """A dictionary of fields, each with the function that reads it."""
    r = Reader(data)
    result = read_fields(r, fields)
    r.end()
    return result


def read_fields(r, fields):
    return {name: of(r) for name, of in fields.items()}


def of(fields):
    return lambda r: read_fields(r, fields)


def many(fields):
    return lambda r: r.list(of(fields))


U8, U32, I32, U64, I64, REAL = (operator.methodcaller(form) for form in ("u8", "u32", "i32", "u64", "i64", "real"))
TEXT, SPEC, TASK = Reader.text, Reader.spec, Reader.task

SERVER_STATUS = {
    "self": TASK, "incarnation": U64, "build": TEXT, "uptime": I64, "resident": U64, "graphs": U32, "runs": U32,
    "runs_begun": U64, "runs_failed": U64, "devices": many({"name": TEXT, "bytes": U64}),
    "connections": many({"incoming": U8, "peer": TASK, "role": TEXT, "incarnation": U64, "bytes_sent": U64,
                         "bytes_received": U64, "messages_sent": U64, "messages_received": U64, "queued": U64,
                         "open_calls": U64, "round_trip": I64, "silent": I64}),
}
CONTAINER_LIST = {"containers": many({"name": TEXT, "variables_apart": U8, "variables": U64, "bytes": U64, "others": U64,
                                      "graphs": U32})}
RESOURCE_LIST = {"resources": many({"kind": TEXT, "name": TEXT, "detail": TEXT, "spec": SPEC, "initialized": U8,
                                    "closed": U8, "size": I64, "capacity": I64, "adding": U32, "taking": U32})}
VARIABLE_LIST = {"variables": many({"name": TEXT, "spec": SPEC})}
VARIABLE_VALUE = {"spec": SPEC, "not_finite": U64, "least": REAL, "most": REAL, "mean": REAL, "l1": REAL, "l2": REAL}
RUN_LIST = {"runs": many({"graph": U64, "step": U64, "container": TEXT, "asked": U8, "age": I64,
                          "edges": many({"number": I32, "waits": U8, "peer": TASK})})}
RESET_RESULT = {"resources": U64, "graphs": U32}
PROBE_RESULT = {"address": TEXT, "incarnation": U64, "connect": I64, "round_trip": I64}
PART_RESULTS = {"specs": lambda r: r.list(Reader.spec)}
TASK_LIST = {"self": TASK, "tasks": many({"id": TASK, "address": TEXT})}


def add_part(graph, part, container, prefix, apart, seed, tasks):
    w = Writer().u64(graph).i32(part).text(container, prefix).u8(apart).u64(seed).u32(len(tasks))
    for job, number, address in tasks:
        w.task(job, number).text(address)
    return w.data


def run_part(graph, step, outputs, feeds):
    w = Writer().u64(graph, step).u32(len(outputs)).i32(*outputs).u32(len(feeds))
    for nodes, spec in feeds:
        w.u32(len(nodes)).i32(*nodes).spec(*spec)
    return w.data


def edge(graph, step, number, *spec):
    return Writer().u64(graph, step).i32(number).spec(*(spec or (NONE,))).data


def end_run(graph, step, code, why):
    return Writer().u64(graph, step).u8(code).text(why).data


def bodies():
    """Those of the page."""
    tasks = [("ps", 0, "a:1"), ("worker", 3, "[::1]:2")]
    w = Writer
    return {
        "add_part": add_part(7, 1, "trial", "replica_3", 0, 42, tasks),
        "run_part": run_part(7, 9, [0, 2], [([1, 4], (FLOAT32, 2, 3))]),
        "part_results": w().u32(2).spec(NONE).spec(INT64, 5).data,
        "tensor": edge(7, 9, 3, FLOAT32, 2, 3),
        "wanted": edge(7, 9, 3),
        "end_run": end_run(7, 9, 11, "index 7"),
        "forget_graph": edge(7, 0, 0),
        "variable_list": w().u32(2).text("w").spec(FLOAT32, 3).text("w/adam_m").spec(FLOAT32, 3).data,
        "task_list": w().task("ps", 0).u32(2).task("ps", 0).text("a:1").task("worker", 3).text("[::1]:2").data,
        "server_status": w().task("ps", 0).u64(0x0123456789ABCDEF).text("tagma").i64(90_000_000_000).u64(4096).u32(2, 1)
                            .u64(12, 3).u32(1).text("/job:ps/replica:0/task:0/device:CPU:0").u64(24).u32(1).u8(1)
                            .task("client", 0).text("client").u64(42, 100, 200, 3, 4, 1, 2).i64(50_000, 1_000_000).data,
        "container_list": w().u32(2).text("").u8(1).u64(2, 24, 1).u32(1).text("trial").u8(0).u64(0, 0, 0).u32(0).data,
        "resource_list": w().u32(2).text("queue", "q", "FIFO queue 'q' of int32 []").spec(NONE).u8(0, 1).i64(3, 8).u32(0, 2)
                            .text("variable", "w", "variable 'w' float32 [3]").spec(FLOAT32, 3).u8(1, 0).i64(12, -1)
                            .u32(0, 0).data,
        "read_variable": w().text("trial", "w").u8(1).data,
        "variable_value": w().spec(FLOAT32, 3).u64(1).real(-2, 3, 0.5, 5, 3.5).data,
        "run_list": w().u32(2).u64(7, 9).text("trial").u8(1).i64(2_000_000_000).u32(2).i32(3).u8(0).task("worker", 3)
                       .i32(4).u8(2).task("worker", 3).u64(7, 10).text("trial").u8(0).i64(0).u32(0).data,
        "reset_result": w().u64(5).u32(2).data,
        "probe": w().task("worker", 3).data,
        "probe_result": w().text("[::1]:2").u64(42).i64(1_500_000, 90_000).data,
    }


def check(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    found = {name: "".join(lines.split()) for name, lines in re.findall(r"^body (\w+)\n((?:[0-9a-f ]+\n)+)", text, re.M)}
    written = {name: data.hex() for name, data in bodies().items()}
    for name, data in written.items():
        if found.get(name) != data:
            print(f"body {name}")
            print("\n".join(data[i:i + 96] for i in range(0, len(data), 96)))
    assert found == written, f"{page} has other bodies"


class Refused(Exception):
    def __init__(self, code, sentence):
        super().__init__(f"{code}: {sentence}")
        self.code, self.sentence = code, sentence


class Client(Peer):
    """Calls of services over a connection."""

    def __init__(self, host, port, secret):
        super().__init__(host, port)
        self.requests, self.transfers = 0, 0
        hello = greeting("client", "client", 0, 4711, "", bytes(range(32)), secret)
        self.socket.sendall(frame(HELLO, hello))
        type_, _, kind, *_, answer = self.next()
        assert type_ == ANSWER, (type_, kind, answer)
        self.socket.sendall(frame(PROOF, proof(b"tagma/1 client", secret, hello, answer) if secret else b""))
        type_, _, kind, *_, payload = self.next()
        assert type_ == ACCEPTED, (type_, kind, payload)

    def send(self, kind, body, bulk=b"", flags=0, request=0):
        transfer = 0
        if bulk:
            self.transfers += 1
            transfer = self.transfers
        self.socket.sendall(frame(MESSAGE, body, flags, kind=kind, transfer=transfer, request=request, value=len(bulk),
                                  time_left=30_000 if request else 0))
        if bulk:
            self.socket.sendall(frame(CHUNK, bulk, transfer=transfer))

    def call(self, kind, body=b"", bulk=b""):
        """Body and bulk of the answer."""
        self.requests += 1
        self.send(kind, body, bulk, WANTS_REPLY, self.requests)
        return self.answer()

    def answer(self):
        type_, flags, kind, transfer, request, size, payload = self.next()
        assert type_ == MESSAGE and flags & IS_REPLY and request == self.requests, (type_, flags, request)
        if flags & IS_ERROR:
            raise Refused(kind, payload.decode())
        came = b""
        while len(came) < size:
            type_, _, _, number, _, at, chunk = self.next()
            assert (type_, number, at) == (CHUNK, transfer, len(came))
            came += chunk
        return payload, came

    def refuses(self, code, part, kind, body=b"", bulk=b""):
        try:
            self.call(kind, body, bulk)
        except Refused as e:
            assert e.code == code and part in e.sentence, (e, code, part)
            return
        raise AssertionError(f"{kind} is not refused")

    def leave(self):
        self.socket.sendall(frame(GOODBYE))
        assert self.next()[0] == GOODBYE
        assert self.socket.recv(1) == b"", "the server closes"


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def use(host, port, secret, program):
    client = Client(host, int(port), secret.encode())
    status = read(client.call(STATUS)[1], SERVER_STATUS)
    assert status["self"] == ("local", 0) and status["incarnation"] and status["uptime"] > 0, status
    assert "tagma" in status["build"] and status["devices"][0]["name"].endswith("/device:CPU:0"), status
    me = [c for c in status["connections"] if c["role"] == "client" and c["incarnation"] == 4711]
    assert len(me) == 1 and me[0]["incoming"] == 1 and me[0]["messages_received"] >= 1, status
    known = read(client.call(LIST_TASKS)[0], TASK_LIST)
    assert known["self"] == ("local", 0), known
    home = known["tasks"][0]["address"]

    data = pathlib.Path(program).read_bytes()
    nodes = [line.split() for line in program_reader.tables(data) if line.startswith("node ")]
    x = [int(words[1]) for words in nodes if words[2] == "placeholder" and words[-1] == "x"]
    assert len(x) == 1, nodes
    assert read(client.call(LIST_VARIABLES, b"python")[1], VARIABLE_LIST) == {"variables": []}
    client.refuses(NOT_FOUND, "'python'", LIST_RESOURCES, b"python")
    graph = 0x1234567890ABCDEF
    client.call(ADD_PART, add_part(graph, 0, "python", "", 1, 42, [("local", 0, home)]), data)
    client.refuses(6, "known already", ADD_PART, add_part(graph, 0, "python", "", 1, 42, [("local", 0, home)]), data)
    client.refuses(15, "bytes", ADD_PART, add_part(graph + 1, 0, "python", "", 1, 42, [("local", 0, home)]), data[:-1])
    assert read(client.call(LIST_VARIABLES, b"python")[1], VARIABLE_LIST) == {
        "variables": [{"name": "total", "spec": (FLOAT32, [3])}]}

    values = struct.pack("<3f", 1, -2, 3)
    for step in (0, 1):
        body, bulk = client.call(RUN_PART, run_part(graph, step, [0], [(x, (FLOAT32, 3))]), values)
        assert len(read(body, PART_RESULTS)["specs"]) == 1
        client.send(END_RUN, end_run(graph, step, 0, ""))
    body, bulk = client.call(RUN_PART, run_part(graph, 2, [1], []))
    assert read(body, PART_RESULTS) == {"specs": [(FLOAT32, [3])]} and floats(bulk) == [4, -8, 12], (body, bulk)
    client.send(END_RUN, end_run(graph, 2, 0, ""))
    client.refuses(3, "output 7", RUN_PART, run_part(graph, 3, [7], []))
    client.refuses(3, "is no placeholder", RUN_PART, run_part(graph, 4, [0], [([99], (FLOAT32, 3))]), values)
    client.refuses(3, "bytes", RUN_PART, run_part(graph, 5, [0], [(x, (FLOAT32, 4))]), values)

    body, bulk = client.call(READ_VARIABLE, Writer().text("python", "total").u8(1).data)
    value = read(body, VARIABLE_VALUE)
    assert floats(bulk) == [2, -4, 6] and value["spec"] == (FLOAT32, [3]), bulk
    assert (value["least"], value["most"], value["l1"], value["not_finite"]) == (-4, 6, 12, 0), value
    assert abs(value["l2"] ** 2 - 56) < 1e-9, value
    containers = read(client.call(LIST_CONTAINERS)[1], CONTAINER_LIST)["containers"]
    assert [c for c in containers if c["name"] == "python"] == [
        {"name": "python", "variables_apart": 1, "variables": 1, "bytes": 12, "others": 1, "graphs": 1}], containers
    resources = read(client.call(LIST_RESOURCES, b"python")[1], RESOURCE_LIST)["resources"]
    assert [(r["kind"], r["name"], r["spec"], r["size"], r["initialized"], r["capacity"]) for r in resources] == [
        ("queue", "work", (NONE, []), 0, 0, 4), ("variable", "total", (FLOAT32, [3]), 12, 1, -1)], resources
    under_way = read(client.call(LIST_RUNS)[1], RUN_LIST)["runs"]
    assert all(not run["edges"] for run in under_way), under_way
    reached = read(client.call(PROBE, Writer().task("local", 0).data)[0], PROBE_RESULT)
    assert reached["incarnation"] == status["incarnation"] and reached["round_trip"] > 0, reached
    client.refuses(NOT_FOUND, "task 9", PROBE, Writer().task("local", 9).data)
    client.refuses(3, "'read_variable'", READ_VARIABLE, b"\1")
    client.refuses(12, "77", 77)

    assert read(client.call(RESET_CONTAINER, b"python")[0], RESET_RESULT) == {"resources": 2, "graphs": 1}
    client.refuses(ABORTED, "container 'python' was reset", RUN_PART, run_part(graph, 6, [1], []))
    client.send(FORGET_GRAPH, edge(graph, 0, 0))
    client.refuses(ABORTED, "is not known here", RUN_PART, run_part(graph, 7, [1], []))
    client.leave()
    print("a program of a file was run, and what it left was seen")


def wait(host, port, secret, program):
    client = Client(host, int(port), secret.encode())
    home = read(client.call(LIST_TASKS)[0], TASK_LIST)["tasks"][0]["address"]
    client.call(ADD_PART, add_part(1, 0, "waiting", "", 1, 42, [("local", 0, home)]), pathlib.Path(program).read_bytes())
    client.requests += 1
    client.send(RUN_PART, run_part(1, 5, [2], []), b"", WANTS_REPLY, client.requests)
    print("begun", flush=True)
    try:
        client.answer()
        print("answered")
    except Refused as e:
        print(e)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    elif len(sys.argv) == 6 and sys.argv[1] == "--use":
        use(*sys.argv[2:])
    elif len(sys.argv) == 6 and sys.argv[1] == "--wait":
        wait(*sys.argv[2:])
    else:
        sys.exit(__doc__)
