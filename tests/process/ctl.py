#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tagma-ctl and a client in Python against servers that are processes of their own.

    ctl.py TAGMA_SERVER TAGMA_CTL CLUSTER_CLIENT WRITE_PROGRAM WAITING_CLIENT"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile

from servers import Server, check, free_ports, refused


def main(server, ctl, client, write_program, waiting_client):
    def run(*arguments, status=0):
        if "--timeout" not in arguments and "--help" not in arguments:
            arguments += ("--timeout", "60")
        done = subprocess.run([ctl, *arguments], capture_output=True, text=True, timeout=120)
        check(done.returncode == status, arguments, "ends with", done.returncode, done.stdout, done.stderr)
        check(status != 0 or done.stderr == "", arguments, "says", done.stderr)
        return done.stdout if status == 0 else done.stdout + done.stderr

    def cells(text):
        return [line.split() for line in text.splitlines()]

    check("doctor" in run("--help") and run("--version").startswith("tagma-ctl "), "--help, --version")
    refused([ctl], 2, "needs a command")
    refused([ctl, "state"], 2, "'state' is no command")
    refused([ctl, "status", "--verbose"], 2, "'--verbose' is no option")
    refused([ctl, "status"], 2, "nothing describes a cluster")
    refused([ctl, "status", "--target"], 2, "--target needs a value")
    refused([ctl, "status", "--target", "ps0"], 2, "--target")
    refused([ctl, "status", "--json=yes"], 2, "--json takes nothing")
    refused([ctl, "status", "--norms"], 2, "--norms is for variables")
    refused([ctl, "status", "--timeout", "soon"], 2, "'soon'")
    refused([ctl, "status", "--task", "0"], 2, "--task needs a --job")
    refused([ctl, "status", "--secret-file", "/nowhere/at/all"], 2, "/nowhere/at/all")
    refused([ctl, "status", "--secret-file", "/"], 2, "--secret-file", "'/'", "Is a directory")
    refused([ctl, "status", "--tls-ca", "/nowhere/at/all"], 2, "--tls-ca: cannot read '/nowhere/at/all'", "No such file")
    refused([ctl, "status", "--job", "ps", "--job_name=worker"], 2, "'--job_name' is given twice")
    refused([ctl, "status", "--cluster", "{"], 2, "--cluster")
    refused([ctl, "status", "--cluster", "/nowhere.json"], 2, "--cluster: /nowhere.json: cannot be opened")
    refused([ctl, "status", "too much"], 2, "'too much'")
    refused([ctl, "reset", "--target", "tagma://127.0.0.1:1"], 2, "reset needs the name")
    refused([ctl, "metrics", "--json", "--target", "tagma://127.0.0.1:1"], 2, "--json")

    nobody = ["--target", "tagma://127.0.0.1:1"]
    refused([ctl, "save", *nobody], 2, "save needs the name of a checkpoint")
    refused([ctl, "restore", "a", "b", *nobody], 2, "restore needs the name of a checkpoint, one")
    for wrong in ("é", "../x", "a-*", ""):
        refused([ctl, "save", wrong, *nobody], 2, f"'{wrong}' is no name of a checkpoint")
    refused([ctl, "restore", "../x-*", *nobody], 2, "'../x-*' is no name of a checkpoint")
    refused([ctl, "save", "a", "--job", "ps", *nobody], 2, "a checkpoint is of all tasks")
    refused([ctl, "restore", "a", "--keep", "2", *nobody], 2, "--keep is for save")
    refused([ctl, "save", "a", "--keep", "0", *nobody], 2, "'0'")
    refused([ctl, "status", "--seconds", "3", *nobody], 2, "--seconds is for trace")
    refused([ctl, "trace", "--json", *nobody], 2, "a timeline has one form")
    refused([ctl, "trace", "--seconds", "0", *nobody], 2, "'0'")

    ports = free_ports(2)
    cluster = {"local": [f"127.0.0.1:{p}" for p in ports]}
    described = ["--cluster", json.dumps(cluster)]
    target = ["--target", f"tagma://127.0.0.1:{ports[0]}"]
    names = ["/job:local/task:0", "/job:local/task:1"]
    refused([ctl, "status", *target, "--timeout", "1"], 1, f"127.0.0.1:{ports[0]}")
    for command in (["status"], ["save", "a"], ["restore", "a-*"]):
        done = subprocess.run([ctl, *command, "--json", *target, "--timeout", "1"], capture_output=True, text=True, timeout=120)
        what = json.loads(done.stdout)
        check(done.returncode == 1 and what["ok"] is False and f"127.0.0.1:{ports[0]}" in what["error"], command, done)
    servers = [Server(server, cluster, task) for task in (0, 1)]
    try:
        done = subprocess.run([client, *target], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stderr)
        for where in (target, described):
            rows = cells(run("status", *where))
            check([row[0] for row in rows[1:3]] == names and all(row[2] == "ok" for row in rows[1:3]), rows)
        refused([ctl, "status", *described, "--job", "ps"], 2, "job 'ps'")
        check(len(cells(run("status", *target, "--job", "local", "--task", "1"))) == 3, "one task")
        status = json.loads(run("status", *target, "--json"))["tasks"]
        check([t["task"] for t in status] == names and status[1]["variable_bytes"] == 12, status)
        check(status[1]["runs_begun"] == 3 and status[1]["runs_failed"] == 0, status)
        check([row[2] for row in cells(run("devices", *target))[1:]] == ["0", "12"], "devices")
        check([row[3] for row in cells(run("containers", *target))[1:]] == ["0", "1"], "containers")
        check("total" in run("variables", *target), "variables")
        variables = json.loads(run("variables", "--norms", "--json", *target))["variables"]
        check(len(variables) == 1 and variables[0]["shape"] == [3] and variables[0]["l1"] == 12, variables)
        check(variables[0]["task"] == names[1] and variables[0]["dtype"] == "float32", variables)
        check("no task has a container 'trial'" in run("variables", "--container", "trial", *target, status=1), "a container")
        check("no task has a container 'trial'" in run("reset", "trial", *target, status=1), "a container")
        check(run("queues", *target).count("\n") == 1, "queues")
        check(run("why", *target) == "no runs are under way\n", "why")
        doctor = json.loads(run("doctor", "--json", *target))
        check(len(doctor["pairs"]) == 4 and all(p["ok"] for p in doctor["pairs"]), doctor)
        check(doctor["problems"] == [] and "all is well" in run("doctor", *target), doctor)
        metrics = run("metrics", *target)
        check('tagma_up{job="local",task="1"} 1\n' in metrics and "# TYPE tagma_runs_begun_total counter\n" in metrics, metrics)
        check('tagma_runs_begun_total{job="local",task="1"} 3\n' in metrics, metrics)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "run.json")
            recorded = subprocess.Popen([ctl, "trace", "--seconds", "2", "--output", file, *target])
            while recorded.poll() is None:
                subprocess.run([client, *target], capture_output=True, check=True, timeout=120)
            timeline = json.loads(file.read_text(encoding="utf-8"))
        shown = {e["pid"]: e["args"]["name"] for e in timeline["traceEvents"] if e["name"] == "process_name"}
        check(set(shown.values()) >= {f"{name} /device:CPU:0" for name in names}, shown)
        steps = [e for e in timeline["traceEvents"] if e["ph"] == "X"]
        check({e["pid"] for e in steps} == {0, 1000} and all(-1e6 < e["ts"] < 60e6 for e in steps), steps[:5])
        # What one task receives, the other has sent before, on one clock.
        ends = {pid: min(e["ts"] + e["dur"] for e in steps if e["pid"] == pid) for pid in (0, 1000)}
        check(abs(ends[0] - ends[1000]) < 1e6, "clocks are apart by", ends)
        rows = cells(run("reset", "", *target))
        check([row[2:] for row in rows[1:]] == [["0", "0"], ["1", "0"]], rows)
        check("total" not in run("variables", *target), "what was reset")

        # Task 0 waits for task 1, which waits at a queue.
        waits = subprocess.Popen([waiting_client, target[1]], stdout=subprocess.PIPE, text=True)
        for _ in range(2000):  # each of which is a process that asks
            said = run("why", *target)
            if "others wait for" in said and "somebody waits at" in said:
                break
        parts = (f"  {names[0]} waits for edge 0 from {names[1]}\n", f"  {names[1]} waits for no other task\n",
                 "    there: FIFO queue 'work' of float32 [], 0 elements of 4: 0 wait to add, 1 to take\n",
                 f"  so it is {names[1]} that others wait for\n")
        check(all(part in said for part in parts), said)
        check(json.loads(run("why", "--json", *target))["runs"][0]["all_wait_for"] == [names[1]], "why --json")
        run("reset", "", *target)
        said = waits.communicate(timeout=60)[0]
        check(said.startswith("Aborted: /job:local") and "container '' was reset" in said, said)

        # One that is dead is named, and takes nothing from the others.
        servers[1].end(signal.SIGKILL)
        brief = [*target, "--timeout", "6"]  # the one that is dead is waited for so long
        said = run("status", *brief, status=1)
        check(f"{names[1]} at 127.0.0.1:{ports[1]}: Unavailable" in said and cells(said)[1][2] == "ok", said)
        status = json.loads(subprocess.run([ctl, "status", "--json", *brief], capture_output=True, text=True).stdout)
        check([t["ok"] for t in status["tasks"]] == [True, False] and "Unavailable" in status["tasks"][1]["error"], status)
        said = run("doctor", *brief, status=1)
        check(f"{names[0]} at 127.0.0.1:{ports[0]}: Unavailable: 127.0.0.1:{ports[1]}" in said, said)
        check('tagma_up{job="local",task="1"} 0\n' in run("metrics", *brief, status=1), "metrics")
        check("Unavailable" in run("reset", "", *brief, status=1), "reset")
        servers[1] = Server(server, cluster, 1)
        run("doctor", *target)

        # Another cluster than the servers know is found out.
        other = {"local": [f"127.0.0.1:{p}" for p in reversed(ports)]}
        said = run("status", "--cluster", json.dumps(other), "--timeout", "30", status=1)
        check("was expected" in said, said)
    finally:
        for one in servers:
            one.kill()

    # With devices besides CPUs, the client's variable is on the first one.
    servers = [Server(server, cluster, task, "--fake-gpus") for task in (0, 1)]
    try:
        done = subprocess.run([client, *target], capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, done.stderr)
        rows = [row for row in cells(run("devices", *target))[1:] if row[0] == names[1]]
        check([row[1].split("device:")[1] for row in rows] == ["CPU:0", "GPU:0", "GPU:1"], rows)
        check([row[2] for row in rows] == ["0", "12", "0"] and rows[0][4:] == ["-", "-"] and rows[1][4:6] == ["256", "B"], rows)
        devices = json.loads(run("devices", *target, "--json"))["tasks"][1]["devices"]
        check(devices[1]["used_bytes"] >= 12 and devices[1]["limit_bytes"] > devices[1]["used_bytes"], devices)
        check('device:GPU:0"} 12\n' in run("metrics", *target), "metrics")
        variables = json.loads(run("variables", "--norms", "--json", *target))["variables"]
        check(len(variables) == 1 and variables[0]["l1"] == 12, variables)
    finally:
        for one in servers:
            one.kill()
            one.process.wait()

    with tempfile.TemporaryDirectory() as folder:
        secret, wrong = pathlib.Path(folder, "secret"), pathlib.Path(folder, "wrong")
        secret.write_text("open sesame\n")
        wrong.write_text("open barley\n")
        program = str(pathlib.Path(folder, "program.tagma"))
        done = subprocess.run([write_program, program], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0, done.stderr)
        alone = {"local": [f"127.0.0.1:{free_ports(1)[0]}"]}
        where = ["--cluster", json.dumps(alone)]
        host, port = alone["local"][0].split(":")
        peer = str(pathlib.Path(__file__).resolve().parent / "service_peer.py")
        guarded = Server(server, alone, 0, "--secret-file", str(secret), "--checkpoints", folder)
        try:
            run("status", *where, "--secret-file", str(secret))
            said = run("status", *where, "--secret-file", str(wrong), "--timeout", "30", status=1)
            check("PermissionDenied" in said and "secret" in said, said)
            check("secret" in run("status", *where, "--timeout", "30", status=1), "no secret")
            check("secret" in run("status", "--target", "tagma://" + alone["local"][0], "--timeout", "30", status=1), "no secret")
            done = subprocess.run([sys.executable, peer, "--use", host, port, "open sesame", program], capture_output=True,
                                  text=True, timeout=120)
            check(done.returncode == 0, done.stdout, done.stderr)
            status = json.loads(run("status", "--json", *where, "--secret-file", str(secret)))["tasks"][0]
            # The one that was told to stop has failed, unless it was told before it began.
            check(status["runs_begun"] >= 19 and status["runs_failed"] in (1, 2), status)
            indices = sorted(p.name.split(".")[0] for p in pathlib.Path(folder).glob("*.index.json"))
            check(indices == ["peer-1", "peer-2", "peer-3", "peer-4"], indices)

            # A run that waits is seen, with what it waits at, and is ended by who resets its container.
            given = [*where, "--secret-file", str(secret)]
            waits = subprocess.Popen([sys.executable, peer, "--wait", host, port, "open sesame", program],
                                     stdout=subprocess.PIPE, text=True)
            check(waits.stdout.readline() == "begun\n", "a run has begun")
            why = {"runs": [], "resources": []}
            for _ in range(2000):  # each of which is a process that asks
                why = json.loads(run("why", "--json", *given))
                if why["runs"] and why["resources"]:
                    break
            check([r["container"] for r in why["runs"]] == ["waiting"], why)
            check([(r["name"], r["size"], r["adding"], r["taking"]) for r in why["resources"]] == [("work", 0, 0, 1)], why)
            said = run("why", *given)
            check("run 5 of graph 0000000000000001 in container 'waiting'" in said, said)
            check("FIFO queue 'work' of float32 [], 0 elements of 4: 0 wait to add, 1 to take" in said, said)
            row = cells(run("queues", "--container", "waiting", *given))[1]
            check(row[2:8] == ["queue", "work", "0", "4", "0", "1"], row)
            check('kind="queue",name="work"} 1\n' in run("metrics", *given), "metrics")
            run("reset", "waiting", *given)
            said = waits.communicate(timeout=60)[0]
            check(said.startswith("10: ") and "container 'waiting' was reset" in said, said)
            check(run("why", *given) == "no runs are under way\n", "why")
        finally:
            guarded.kill()
    print("servers were looked into, and a client of another language has used one")


if __name__ == "__main__":
    main(*sys.argv[1:])
