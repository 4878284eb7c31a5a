#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A client of servers a second time, of nothing but docs/wire.md, docs/program_format.md and Python's standard library.

    service_peer.py --check PAGE                      compares the bodies of the page with what is written here
    service_peer.py --use HOST PORT SECRET PROGRAM    looks into a server, gives it a program, runs it, loses its connection,
                                                      asks again, and has its variables saved and restored
    service_peer.py --wait HOST PORT SECRET PROGRAM   begins a run that waits at a queue, and says how it ends

`--tls CA CERT KEY` in front speaks through TLS. PROGRAM is what tests/process/write_program.cpp writes: a placeholder x, float32 [3], and an output that adds it to the
variable total, one that is twice the total, one that takes an element from the queue work, one that enqueues rows, float32 [n], one
that dequeues two elements, and one that gives back texts, strings [n]."""

import operator
import pathlib
import re
import struct
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "transport"), str(TESTS / "device")]
import program_reader  # noqa: E402
from wire_peer import (ACCEPTED, ANSWER, CHUNK, GOODBYE, HELLO, IS_REPLY, MESSAGE, PROOF, Peer, WANTS_REPLY, frame, greeting,  # noqa: E402
                       proof)

(ADD_PART, RUN_PART, TENSOR, WANTED, END_RUN, FORGET_GRAPH, LIST_VARIABLES, LIST_TASKS, KEEP_GRAPH, HOLD_RUNS, SAVE_SHARD,
 COMMIT_SAVE, END_HOLD, RESTORE_SHARD, OPEN_SESSION) = range(1, 16)
STATUS, LIST_CONTAINERS, LIST_RESOURCES, READ_VARIABLE, LIST_RUNS, RESET_CONTAINER, PROBE = range(16, 23)
LIST_DEVICES = 28
IS_ERROR = 0x400
NONE, FLOAT64, FLOAT32, INT64, STRING = 0, 1, 2, 5, 11
OK, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED, UNIMPLEMENTED, DATA_LOSS = 0, 3, 5, 6, 9, 10, 12, 15


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
    "runs_begun": U64, "runs_failed": U64, "devices": many({"name": TEXT, "bytes": U64, "used": U64, "limit": U64}),
    "connections": many({"incoming": U8, "peer": TASK, "role": TEXT, "incarnation": U64, "bytes_sent": U64,
                         "bytes_received": U64, "messages_sent": U64, "messages_received": U64, "queued": U64,
                         "open_calls": U64, "round_trip": I64, "silent": I64, "shared_memory": U8}),
}
CONTAINER_LIST = {"containers": many({"name": TEXT, "variables_apart": U8, "variables": U64, "bytes": U64, "others": U64,
                                      "graphs": U32})}
RESOURCE_LIST = {"resources": many({"kind": TEXT, "name": TEXT, "detail": TEXT, "spec": SPEC, "initialized": U8,
                                    "closed": U8, "size": I64, "capacity": I64, "adding": U32, "taking": U32,
                                    "device": TEXT})}
VARIABLE_LIST = {"variables": many({"name": TEXT, "spec": SPEC, "type": TEXT, "device": I32})}
DEVICE_OFFERS = {"others": many({"type": TEXT, "count": I32, "operations": lambda r: r.list(Reader.text)})}
VARIABLE_VALUE = {"spec": SPEC, "not_finite": U64, "least": REAL, "most": REAL, "mean": REAL, "l1": REAL, "l2": REAL}
RUN_LIST = {"runs": many({"graph": U64, "step": U64, "container": TEXT, "asked": U8, "age": I64,
                          "edges": many({"number": I32, "waits": U8, "peer": TASK}), "note": TEXT})}
RESET_RESULT = {"resources": U64, "graphs": U32}
PROBE_RESULT = {"address": TEXT, "incarnation": U64, "connect": I64, "round_trip": I64}
ADDED_PART = {"server": U64}
NODE_DEVICES = {"names": lambda r: r.list(Reader.text), "nodes": lambda r: r.list(lambda r: r.i32())}
PART_RESULTS = {"specs": lambda r: r.list(Reader.spec), "code": U8, "why": TEXT}
OPEN_RUNS = {"runs": lambda r: r.list(lambda r: (r.u64(), r.u64()))}
SAVED_SHARD = {"variables": many({"name": TEXT, "file": TEXT, "bytes": U64, "written": U8})}
RESTORED_SHARD = {"texts": lambda r: dict(r.list(lambda r: (r.text(), r.text())))}
TASK_LIST = {"self": TASK, "tasks": many({"id": TASK, "address": TEXT})}


def add_part(graph, part, container, prefix, apart, seed, tasks, first_step=0):
    w = Writer().u64(graph).i32(part).text(container, prefix).u8(apart).u64(seed).u32(len(tasks))
    for job, number, address in tasks:
        w.task(job, number).text(address)
    return w.u64(first_step).data


def open_session(part, filters, seconds):
    w = Writer().u32(len(part))
    w.data += part
    return w.u32(len(filters)).text(*filters).i64(*(s * 1_000_000_000 for s in seconds)).data


def run_part(graph, step, answered, server, outputs, feeds):
    w = Writer().u64(graph, step, answered, server).u32(len(outputs)).i32(*outputs).u32(len(feeds))
    for nodes, spec in feeds:
        w.u32(len(nodes)).i32(*nodes).spec(*spec)
    return w.data


def hold_runs(container, token, admitted):
    w = Writer().text(container).u64(token).u32(len(admitted))
    for graph, step in admitted:
        w.u64(graph, step)
    return w.data


def save_shard(container, name, token, held, full):
    return Writer().text(container, name).u64(token).u8(held, full).data


def commit_save(name, token, keep, texts):
    w = Writer().text(name).u64(token).u32(keep, len(texts))
    for key, text in texts.items():
        w.text(key, text)
    return w.data


def end_hold(container, token, committed):
    return Writer().text(container).u64(token).u8(committed).data


def restore_shard(container, name, token, checks_only):
    return Writer().text(container, name).u64(token).u8(checks_only).data


def name_list(*names):
    return Writer().u32(len(names)).text(*names).data


def edge(graph, step, number, *spec):
    return Writer().u64(graph, step).i32(number).spec(*(spec or (NONE,))).data


def end_run(graph, step, code, why):
    return Writer().u64(graph, step).u8(code).text(why).data


def bodies():
    """Those of the page."""
    tasks = [("ps", 0, "a:1"), ("worker", 3, "[::1]:2")]
    w = Writer
    return {
        "add_part": add_part(7, 1, "trial", "replica_3", 0, 42, tasks, 12),
        "added_part": w().u64(0x0123456789ABCDEF).data,
        "run_part": run_part(7, 9, 8, 0x0123456789ABCDEF, [0, 2], [([1, 4], (FLOAT32, 2, 3))]),
        "part_results": w().u32(2).spec(NONE).spec(INT64, 5).u8(OK).text("").data,
        "run_failed": w().u32(0).u8(11).text("index 7").data,
        "tensor": edge(7, 9, 3, FLOAT32, 2, 3),
        "wanted": edge(7, 9, 3),
        "end_run": end_run(7, 9, 11, "index 7"),
        "forget_graph": edge(7, 0, 0),
        "variable_list": w().u32(2).text("w").spec(FLOAT32, 3).text("CPU").i32(0).text("w/adam_m").spec(FLOAT32, 3)
                            .text("GPU").i32(1).data,
        "device_offers": w().u32(2).text("GPU").i32(2).u32(2).text("add", "matmul").text("NPU").i32(1).u32(0).data,
        "task_list": w().task("ps", 0).u32(2).task("ps", 0).text("a:1").task("worker", 3).text("[::1]:2").data,
        "keep_graph": edge(7, 0, 0),
        "hold_runs": hold_runs("trial", 78, [(7, 9), (8, 0)]),
        "open_runs": w().u32(1).u64(7, 10).data,
        "save_shard": save_shard("trial", "model-5", 78, 1, 0),
        "saved_shard": w().u32(2).text("b", "model-4-000000000000004d-ps-0.safetensors").u64(4).u8(0)
                          .text("w", "model-5-000000000000004e-ps-0.safetensors").u64(12).u8(1).data,
        "commit_save": commit_save("model-5", 78, 3, {"cut": "runs", "container": "trial"}),
        "end_hold": end_hold("trial", 78, 1),
        "restore_shard": restore_shard("trial", "model-*", 79, 1),
        "name_list": name_list("b", "w"),
        "restored_shard": w().u32(2).text("saved", "2026-01-01T00:00:00Z", "name", "model-5").data,
        "server_status": w().task("ps", 0).u64(0x0123456789ABCDEF).text("tagma").i64(90_000_000_000).u64(4096).u32(2, 1)
                            .u64(12, 3).u32(2).text("/job:ps/replica:0/task:0/device:CPU:0").u64(24, 0, 0)
                            .text("/job:ps/replica:0/task:0/device:GPU:0").u64(8, 512, 1048576).u32(1).u8(1)
                            .task("client", 0).text("client").u64(42, 100, 200, 3, 4, 1, 2).i64(50_000, 1_000_000).u8(1).data,
        "container_list": w().u32(2).text("").u8(1).u64(2, 24, 1).u32(1).text("trial").u8(0).u64(0, 0, 0).u32(0).data,
        "resource_list": w().u32(2).text("queue", "q", "FIFO queue 'q' of int32 []").spec(NONE).u8(0, 1).i64(3, 8).u32(0, 2)
                            .text("", "variable", "w", "variable 'w' float32 [3]").spec(FLOAT32, 3).u8(1, 0).i64(12, -1)
                            .u32(0, 0).text("/device:GPU:1").data,
        "read_variable": w().text("trial", "w").u8(1).data,
        "variable_value": w().spec(FLOAT32, 3).u64(1).real(-2, 3, 0.5, 5, 3.5).data,
        "run_list": w().u32(2).u64(7, 9).text("trial").u8(1).i64(2_000_000_000).u32(2).i32(3).u8(0).task("worker", 3)
                       .i32(4).u8(2).task("worker", 3).text("").u64(7, 10).text("trial").u8(0).i64(0).u32(0).text("run 4 lasts for 60 s").data,
        "open_session": open_session(add_part(7, 0, "trial", "replica_3", 0, 42, tasks[:1], 12),
                                     ["/job:ps", "/job:worker/task:3"], [30, 600, 20, 5, 60]),
        "node_devices": w().u32(1).text("/job:ps/replica:0/task:0/device:CPU:0").u32(2).i32(0, 0).data,
        "save_session": w().u64(7).text("model-5").u32(3).u8(1).i64(2_000_000_000).u32(1).text("epoch", "12").data,
        "saved_session": w().text("model-5").u8(1).u64(2, 16, 12).data,
        "restore_session": w().u64(7).text("model-*").i64(2_000_000_000).data,
        "restored_session": w().text("model-5").u8(0).u64(2).u32(1).text("epoch", "12").data,
        "begin_trace": w().i64(2_000_000_000).data,
        "end_trace": w().i64(5_000_000).u32(1000).text("/job:ps/task:0").data,
        "ended_trace": w().u64(3).data,
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
        self.answers, self.coming = {}, {}  # by requests, and by transfers
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

    def ask(self, kind, body=b"", bulk=b""):
        """The number of the request, for `answer`."""
        self.requests += 1
        self.send(kind, body, bulk, WANTS_REPLY, self.requests)
        return self.requests

    def call(self, kind, body=b"", bulk=b""):
        """Body and bulk of the answer."""
        return self.answer(self.ask(kind, body, bulk))

    def answer(self, request):
        """Those of a request. Answers may come in another order, and between chunks of one there may be another."""
        while request not in self.answers:
            type_, flags, kind, transfer, of_request, size, payload = self.next()
            if type_ == CHUNK:
                of_request, body, whole, came = self.coming.pop(transfer)
                assert size == len(came), "chunks come in order"
                self.come(transfer, of_request, body, whole, came + payload)
                continue
            assert type_ == MESSAGE and flags & IS_REPLY, (type_, flags, of_request)
            if flags & IS_ERROR:
                self.answers[of_request] = Refused(kind, payload.decode())
            else:
                self.come(transfer, of_request, payload, size, b"")
        result = self.answers.pop(request)
        if isinstance(result, Refused):
            raise result
        return result

    def come(self, transfer, request, body, whole, bulk):
        if len(bulk) < whole:
            self.coming[transfer] = (request, body, whole, bulk)
        else:
            self.answers[request] = (body, bulk)

    def refuses(self, code, part, kind, body=b"", bulk=b""):
        try:
            self.call(kind, body, bulk)
        except Refused as e:
            assert e.code == code and part in e.sentence, (e, code, part)
            return
        raise AssertionError(f"{kind} is not refused")

    def run(self, body, bulk=b""):
        """Specs and elements of a run that is well."""
        return ran(self.call(RUN_PART, body, bulk))

    def fails(self, code, part, body, bulk=b""):
        """A run that fails has an answer that says so."""
        answer = self.call(RUN_PART, body, bulk)
        result = read(answer[0], PART_RESULTS)
        assert result["specs"] == [] and answer[1] == b"" and result["code"] == code and part in result["why"], result
        assert self.call(RUN_PART, body, bulk) == answer, "it fails once, and that is remembered"

    def lose(self):
        """Without a word."""
        self.socket.close()

    def leave(self):
        self.socket.sendall(frame(GOODBYE))
        assert self.next()[0] == GOODBYE
        assert self.socket.recv(1) == b"", "the server closes"


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def ran(answer):
    result = read(answer[0], PART_RESULTS)
    assert result["code"] == OK and result["why"] == "", result
    return result["specs"], answer[1]


def use(host, port, secret, program):
    client = Client(host, int(port), secret.encode())
    status = read(client.call(STATUS)[1], SERVER_STATUS)
    assert status["self"] == ("local", 0) and status["incarnation"] and status["uptime"] > 0, status
    assert "tagma" in status["build"] and status["devices"][0]["name"].endswith("/device:CPU:0"), status
    me = [c for c in status["connections"] if c["role"] == "client" and c["incarnation"] == 4711]
    assert len(me) == 1 and me[0]["incoming"] == 1 and me[0]["messages_received"] >= 1, status
    known = read(client.call(LIST_TASKS)[0], TASK_LIST)
    assert known["self"] == ("local", 0), known
    home = [("local", 0, known["tasks"][0]["address"])]

    data = pathlib.Path(program).read_bytes()
    nodes = [line.split() for line in program_reader.tables(data) if line.startswith("node ")]
    placeholders = {words[-1]: [int(words[1])] for words in nodes if words[2] == "placeholder"}
    x = placeholders["x"]
    assert read(client.call(LIST_VARIABLES, b"python")[1], VARIABLE_LIST) == {"variables": []}
    client.refuses(NOT_FOUND, "'python'", LIST_RESOURCES, b"python")
    graph, server = 0x1234567890ABCDEF, status["incarnation"]
    mine = add_part(graph, 0, "python", "", 1, 42, home)
    assert read(client.call(ADD_PART, mine, data)[0], ADDED_PART) == {"server": server}
    client.refuses(ALREADY_EXISTS, "known already", ADD_PART, mine, data)
    client.refuses(DATA_LOSS, "bytes", ADD_PART, add_part(graph + 1, 0, "python", "", 1, 42, home), data[:-1])
    assert read(client.call(LIST_VARIABLES, b"python")[1], VARIABLE_LIST) == {
        "variables": [{"name": "total", "spec": (FLOAT32, [3]), "type": "CPU", "device": 0}]}
    assert read(client.call(LIST_DEVICES)[1], DEVICE_OFFERS) == {"others": []}

    values = struct.pack("<3f", 1, -2, 3)

    def add(step, answered):
        return run_part(graph, step, answered, server, [0], [([x[0]], (FLOAT32, 3))])

    def twice(step, answered):
        return run_part(graph, step, answered, server, [1], [])

    for step in (0, 1):
        assert len(client.run(add(step, step), values)[0]) == 1
    specs, bulk = client.run(twice(2, 2))
    assert specs == [(FLOAT32, [3])] and floats(bulk) == [4, -8, 12], (specs, bulk)
    client.refuses(ABORTED, "run 1 is over", RUN_PART, add(1, 0), values)
    client.send(END_RUN, end_run(graph, 2, 0, ""))
    client.refuses(ABORTED, "run 2 is over", RUN_PART, twice(2, 0))
    # The same program, which the server drives: here it is all the cluster.
    driven = open_session(add_part(graph + 9, 0, "python", "", 1, 42, home), [], [30, 600, 20, 5, 60])
    answer, where = client.call(OPEN_SESSION, driven, data)
    assert read(answer, ADDED_PART) == {"server": server}
    places = read(where, NODE_DEVICES)
    assert places["names"] == ["/job:local/replica:0/task:0/device:CPU:0"] and set(places["nodes"]) == {0}, places
    specs, bulk = client.run(run_part(graph + 9, 0, 0, server, [1], []))
    assert specs == [(FLOAT32, [3])] and floats(bulk) == [4, -8, 12], (specs, bulk)
    client.send(FORGET_GRAPH, edge(graph + 9, 0, 0))
    client.fails(INVALID_ARGUMENT, "output 7", run_part(graph, 3, 0, server, [7], []))
    client.fails(INVALID_ARGUMENT, "is no placeholder", run_part(graph, 4, 0, server, [0], [([99], (FLOAT32, 3))]), values)
    client.fails(INVALID_ARGUMENT, "bytes", run_part(graph, 5, 0, server, [0], [(x, (FLOAT32, 4))]), values)

    body, bulk = client.call(READ_VARIABLE, Writer().text("python", "total").u8(1).data)
    value = read(body, VARIABLE_VALUE)
    assert floats(bulk) == [2, -4, 6] and value["spec"] == (FLOAT32, [3]), bulk
    assert (value["least"], value["most"], value["l1"], value["not_finite"]) == (-4, 6, 12, 0), value
    assert abs(value["l2"] ** 2 - 56) < 1e-9, value
    # What the server drove forgets its own part behind the message that told it to.
    only_one = {"name": "python", "variables_apart": 1, "variables": 1, "bytes": 12, "others": 1, "graphs": 1}
    until = time.monotonic() + 20
    while True:
        containers = read(client.call(LIST_CONTAINERS)[1], CONTAINER_LIST)["containers"]
        if [c for c in containers if c["name"] == "python"] == [only_one]:
            break
        assert time.monotonic() < until, containers
        time.sleep(0.01)
    resources = read(client.call(LIST_RESOURCES, b"python")[1], RESOURCE_LIST)["resources"]
    assert [(r["kind"], r["name"], r["spec"], r["size"], r["initialized"], r["capacity"]) for r in resources] == [
        ("queue", "work", (NONE, []), 0, 0, 4), ("variable", "total", (FLOAT32, [3]), 12, 1, -1)], resources
    under_way = read(client.call(LIST_RUNS)[1], RUN_LIST)["runs"]
    assert all(not run["edges"] for run in under_way), under_way
    reached = read(client.call(PROBE, Writer().task("local", 0).data)[0], PROBE_RESULT)
    assert reached["incarnation"] == server and reached["round_trip"] > 0, reached
    client.refuses(NOT_FOUND, "task 9", PROBE, Writer().task("local", 9).data)
    client.refuses(INVALID_ARGUMENT, "'read_variable'", READ_VARIABLE, b"\1")
    client.refuses(UNIMPLEMENTED, "77", 77)

    # An answer that is lost is asked for again, and the update is made once: total is [3, -6, 9] for good.
    answer = client.call(RUN_PART, add(6, 6), values)
    client.lose()
    client = Client(host, int(port), secret.encode())
    assert client.call(KEEP_GRAPH, edge(graph, 0, 0)) == (b"", b"")
    assert client.call(RUN_PART, add(6, 6), values) == answer, "the same answer, over a second connection"
    assert floats(client.run(twice(7, 6))[1]) == [6, -12, 18]
    # Nobody knows how far this one gets before the connection is lost; so is [4, -8, 12].
    client.ask(RUN_PART, add(8, 8), values)
    client.lose()
    client = Client(host, int(port), secret.encode())
    answer = client.call(RUN_PART, add(8, 8), values)
    ran(answer)
    assert client.call(RUN_PART, add(8, 8), values) == answer
    assert floats(client.run(twice(9, 9))[1]) == [8, -16, 24]
    client.refuses(NOT_FOUND, "started anew", RUN_PART, run_part(graph, 10, 10, server ^ 1, [1], []))
    later = add_part(graph + 2, 0, "python", "", 1, 42, home, 5)
    assert read(client.call(ADD_PART, later, data)[0], ADDED_PART) == {"server": server}
    client.refuses(ABORTED, "run 4 is over", RUN_PART, run_part(graph + 2, 4, 0, 0, [1], []))
    assert floats(client.run(run_part(graph + 2, 5, 0, 0, [1], []))[1]) == [8, -16, 24]
    client.send(FORGET_GRAPH, edge(graph + 2, 0, 0))
    status = read(client.call(STATUS)[1], SERVER_STATUS)
    assert (status["runs_begun"], status["runs_failed"]) == (10, 0), "what was asked for again was not begun again"

    step = save_and_restore(client, graph, add, twice, values, 10)
    step = queue_and_texts(client, graph, server, placeholders, step)

    assert read(client.call(RESET_CONTAINER, b"python")[0], RESET_RESULT) == {"resources": 2, "graphs": 1}
    client.fails(ABORTED, "container 'python' was reset", twice(step, step))
    client.send(FORGET_GRAPH, edge(graph, 0, 0))
    client.refuses(NOT_FOUND, "is not known here", RUN_PART, twice(step + 1, step))
    assert client.call(KEEP_GRAPH, edge(graph, 0, 0)) == (b"", b""), "which says nothing of the graph"
    client.leave()
    print("a program of a file was run, and what it left was seen")


def queue_and_texts(client, graph, server, placeholders, step):
    """The next step."""

    def put(step, *rows):
        return (run_part(graph, step, step, server, [3], [(placeholders["rows"], (FLOAT32, len(rows)))]),
                struct.pack(f"<{len(rows)}f", *rows))

    assert client.run(*put(step, 1, 2, 3))[0] == [(INT64, [])]
    take, waits = run_part(graph, step + 1, step + 1, server, [2], []), run_part(graph, step + 3, step + 2, server, [4], [])
    assert floats(client.run(take)[1]) == [1]
    assert floats(client.run(run_part(graph, step + 2, step + 2, server, [4], []))[1]) == [2, 3]
    # Who is told to stop has taken nothing, whenever it is told.
    waiting = client.ask(RUN_PART, waits)
    client.send(END_RUN, end_run(graph, step + 3, 4, "it was late"))
    result = read(client.answer(waiting)[0], PART_RESULTS)
    assert (result["code"], result["why"]) == (4, "it was late"), result
    client.run(*put(step + 4, 4))
    client.send(END_RUN, end_run(graph, step + 6, 4, "before it began"))
    result = read(client.call(RUN_PART, run_part(graph, step + 6, step + 4, server, [4], []))[0], PART_RESULTS)
    assert (result["code"], result["why"]) == (4, "before it began"), result
    client.run(*put(step + 5, 5))
    assert floats(client.run(run_part(graph, step + 7, step + 5, server, [4], []))[1]) == [4, 5]

    texts = [b"ab", b"", b"c\0"]
    ends = [sum(map(len, texts[:i + 1])) for i in range(len(texts))]
    bulk = struct.pack("<3Q", *ends) + b"".join(texts)

    def same(step):
        return run_part(graph, step, step, server, [5], [(placeholders["texts"], (STRING, 3))])

    assert client.run(same(step + 8), bulk) == ([(STRING, [3])], bulk)
    client.fails(INVALID_ARGUMENT, "text 1", same(step + 9), struct.pack("<3Q", 2, 1, 4) + b"ab")
    return step + 10


def save(client, graph, name, token, full, twice, step):
    """A checkpoint between runs, of which there are some. Files of the variables, and the next step."""
    while True:
        # A run is open until its answer is acknowledged or it is ended.
        client.run(twice(step, step))
        client.refuses(INVALID_ARGUMENT, "token", HOLD_RUNS, hold_runs("python", 0, []))
        opened = read(client.call(HOLD_RUNS, hold_runs("python", token, []))[0], OPEN_RUNS)["runs"]
        assert opened == [(graph, step)], opened
        client.send(END_RUN, end_run(graph, step, 0, ""))
        assert read(client.call(HOLD_RUNS, hold_runs("python", token, opened))[0], OPEN_RUNS) == {"runs": []}
        waits = client.ask(RUN_PART, twice(step + 1, step))
        saved = None
        try:
            client.call(HOLD_RUNS, hold_runs("python", token + 1, []))
            client.send(END_HOLD, end_hold("python", token + 1, 0))  # nobody asked for five seconds: it was free
        except Refused as e:
            assert e.code == ABORTED and "another one holds the runs of container 'python'" in e.sentence, e
        try:
            saved = client.call(SAVE_SHARD, save_shard("python", name, token, 1, full))
        except Refused as e:
            assert e.code == FAILED_PRECONDITION and "runs went on" in e.sentence, e
        ran(client.answer(waits))
        step += 2
        if saved is not None:
            break
        client.send(END_HOLD, end_hold("python", token, 0))
        token += 2
    variables = read(saved[1], SAVED_SHARD)["variables"]
    client.refuses(FAILED_PRECONDITION, "is not there", COMMIT_SAVE, commit_save(name, token, 0, {}),
                   Writer().u32(1).text("total", "none.safetensors").u64(12).u8(1).data)
    client.refuses(INVALID_ARGUMENT, "on two tasks", COMMIT_SAVE, commit_save(name, token, 0, {}),
                   Writer().u32(2).data + saved[1][4:] * 2)
    assert client.call(COMMIT_SAVE, commit_save(name, token, 0, {"cut": "runs", "by": "python"}), saved[1]) == (b"", b"")
    client.send(END_HOLD, end_hold("python", token, 1))
    return variables, step


def save_and_restore(client, graph, add, twice, values, step):
    """Checkpoints of the variable total, [4, -8, 12], and later [5, -10, 15]. The next step."""

    def total():
        return floats(client.call(READ_VARIABLE, Writer().text("python", "total").u8(1).data)[1])

    def restore(name, checks_only, *names):
        return client.call(RESTORE_SHARD, restore_shard("python", name, 1, checks_only), name_list(*names))

    first, step = save(client, graph, "peer-1", 0x100, 0, twice, step)
    assert [(v["name"], v["bytes"], v["written"]) for v in first] == [("total", 12, 1)], first
    assert first[0]["file"].startswith("peer-1-") and first[0]["file"].endswith("-local-0.safetensors"), first
    again, step = save(client, graph, "peer-2", 0x200, 0, twice, step)
    assert again == [{**first[0], "written": 0}], "what has not changed stays where it is"
    whole, step = save(client, graph, "peer-3", 0x300, 1, twice, step)
    assert whole[0]["file"].startswith("peer-3-") and whole[0]["written"] == 1, whole
    client.run(add(step, step), values)
    assert total() == [5, -10, 15]
    _, step = save(client, graph, "peer-4", 0x400, 0, twice, step + 1)

    looked = restore("peer-2", 1, "total")
    assert total() == [5, -10, 15], "a look changes nothing"
    assert restore("peer-2", 0, "total") == looked and total() == [4, -8, 12]
    texts = read(looked[0], RESTORED_SHARD)["texts"]
    assert (texts["name"], texts["cut"], texts["by"]) == ("peer-2", "runs", "python") and "saved" in texts, texts
    assert read(restore("peer-*", 0, "total")[0], RESTORED_SHARD)["texts"]["name"] == "peer-4"
    assert total() == [5, -10, 15] and floats(client.run(twice(step, step))[1]) == [10, -20, 30]

    def refuses(code, part, container, name, names):
        client.refuses(code, part, RESTORE_SHARD, restore_shard(container, name, 1, 0), names)

    refuses(NOT_FOUND, "there is no checkpoint 'peer-9'", "python", "peer-9", name_list("total"))
    refuses(NOT_FOUND, "there is no checkpoint 'none-*'", "python", "none-*", name_list("total"))
    refuses(NOT_FOUND, "no variable 'bias'", "python", "peer-2", name_list("bias"))
    refuses(NOT_FOUND, "'elsewhere'", "elsewhere", "peer-2", name_list("total"))
    refuses(INVALID_ARGUMENT, "'../peer' is no name", "python", "../peer", name_list("total"))
    refuses(INVALID_ARGUMENT, "'name_list'", "python", "peer-2", name_list("total")[:-1])
    client.refuses(INVALID_ARGUMENT, "'a/b' is no name", SAVE_SHARD, save_shard("python", "a/b", 2, 0, 0))
    client.refuses(FAILED_PRECONDITION, "runs went on", SAVE_SHARD, save_shard("python", "peer-5", 2, 1, 0))
    assert client.call(SAVE_SHARD, save_shard("elsewhere", "peer-5", 2, 0, 0))[1] == Writer().u32(0).data
    return step + 1


def wait(host, port, secret, program):
    client = Client(host, int(port), secret.encode())
    home = read(client.call(LIST_TASKS)[0], TASK_LIST)["tasks"][0]["address"]
    client.call(ADD_PART, add_part(1, 0, "waiting", "", 1, 42, [("local", 0, home)]), pathlib.Path(program).read_bytes())
    request = client.ask(RUN_PART, run_part(1, 5, 0, 0, [2], []))
    print("begun", flush=True)
    result = read(client.answer(request)[0], PART_RESULTS)
    print(f"{result['code']}: {result['why']}")


if __name__ == "__main__":
    Peer.take_tls(sys.argv)
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    elif len(sys.argv) == 6 and sys.argv[1] == "--use":
        use(*sys.argv[2:])
    elif len(sys.argv) == 6 and sys.argv[1] == "--wait":
        wait(*sys.argv[2:])
    else:
        sys.exit(__doc__)
