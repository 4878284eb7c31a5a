#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The files of examples/deploy/, as far as one machine can try them: the Slurm script trains a cluster, with a srun that starts its
tasks here; what the others say on command lines is understood; and those that check such files, where they are
installed, have no complaint.

    deployment.py TAGMA_SERVER TAGMA_CTL TRAIN_CLUSTER"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from servers import check

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "examples"))
from run_trainer import write_data  # noqa: E402

# Starts ranks as srun does in a job on one node; when one has ended, the others have as long as --wait says.
SRUN = r"""#!/usr/bin/env python3
import os, subprocess, sys, time
options = [a for a in sys.argv[1:sys.argv.index(next(a for a in sys.argv[1:] if not a.startswith("--")))]]
command = sys.argv[1 + len(options):]
assert "--distribution=block" in options and "--kill-on-bad-exit=1" in options, options
wait = next(float(o.split("=")[1]) for o in options if o.startswith("--wait="))
count = int(os.environ["SLURM_NTASKS"])
step = {"SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_TASKS_PER_NODE": str(count)}
ranks = [subprocess.Popen(command, env={**os.environ, **step, "SLURM_PROCID": str(r), "SLURM_LOCALID": str(r)})
         for r in range(count)]
while all(r.poll() is None for r in ranks):
    time.sleep(0.01)
end = time.monotonic() + wait
while any(r.poll() is None for r in ranks) and time.monotonic() < end and not any(r.poll() for r in ranks):
    time.sleep(0.01)
worst = max(r.poll() or 0 for r in ranks)
for r in ranks:
    r.terminate()
for r in ranks:
    r.wait(timeout=60)
sys.exit(worst)
"""


def job_with_free_ports(count):
    for job in range(1, 9000, 7):
        try:
            for port in range(15000 + job, 15000 + job + count):
                socket.create_server(("127.0.0.1", port)).close()
            return job
        except OSError:
            continue
    raise SystemExit("no ports are free")


def slurm(folder, program):
    data = folder / "data"
    write_data(data)
    (folder / "bin").mkdir()
    srun = folder / "bin" / "srun"
    srun.write_text(SRUN, encoding="utf-8")
    srun.chmod(0o755)
    script = TOP / "examples" / "deploy" / "slurm" / "train.sh"

    def run(*arguments, **more):
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TAGMA_SECRET_DIRECTORY": str(folder),
                       "SLURM_JOB_ID": str(job_with_free_ports(3)), **more}
        return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=300, env=environment)

    done = run("1", program, "--data", str(data), "--epochs", "3", "--batch", "10", SLURM_NTASKS="3")
    check(done.returncode == 0 and re.search(r"^test accuracy [\d.]+$", done.stdout, re.M), done.stdout, done.stderr)
    check(done.stdout.count("epoch 3:") == 2, "two workers", done.stdout)
    check(not list(folder.glob("tagma-secret*")), "the secret stays")
    failed = run("1", program, "--data", str(data / "none"), SLURM_NTASKS="2")
    check(failed.returncode == 1 and "NotFound" in failed.stderr, failed.stdout, failed.stderr)
    wrong = run("3", program, SLURM_NTASKS="3")
    check(wrong.returncode == 2 and "do not fit into 3 tasks" in wrong.stderr, wrong.stderr)
    check(run("1").returncode == 2, "usage")


def kubernetes(folder, server, ctl):
    file = TOP / "examples" / "deploy" / "kubernetes" / "cluster.yaml"
    text = file.read_text(encoding="utf-8")
    secret = folder / "secret"
    secret.write_text("a secret\n", encoding="utf-8")
    sets = text.split("kind: StatefulSet")[1:]
    check(len(sets) == 2, "sets")
    for one in sets:
        name = re.search(r"^  name: (\S+)$", one, re.M).group(1)
        job = re.search(r"job: (\w+)", one).group(1)
        arguments = [a.replace("/secret/secret", str(secret)).replace("/checkpoints", str(folder))
                     for a in re.findall(r'"([^"]*)"', re.search(r"args: \[(.*)\]", one).group(1))]
        pods = dict(re.findall(r"- name: (TAGMA_\w+)\s+value: (\S+)", one))
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
        arguments = [a.replace("0.0.0.0:2222", f"0.0.0.0:{port}") for a in arguments]
        environment = {**os.environ, **pods, "HOSTNAME": f"{name}-1"}
        started = subprocess.Popen([server, *arguments], stderr=subprocess.PIPE, text=True, env=environment)
        try:
            said = started.stderr.readline()
            check(f"{name}-1.trainer:2222" in said, said)
            probe = re.search(r'readinessProbe:\s+exec:\s+command: \["sh", "-c", "(.*)"\]', one).group(1)
            probe = probe.replace("/secret/secret", str(secret)).replace("localhost:2222", f"127.0.0.1:{port}")
            probe = probe.replace("tagma-ctl", ctl)
            done = subprocess.run(["sh", "-c", probe], capture_output=True, text=True, timeout=60, env=environment)
            # The server of the pod is asked for the cluster, and then task 1 by its name in the cluster: not here.
            check(done.returncode == 1 and f"{name}-1.trainer" in done.stderr, done.stdout, done.stderr)
        finally:
            started.terminate()
            started.wait(timeout=60)
    if shutil.which("kubectl"):
        (folder / "kustomization.yaml").write_text("resources: [cluster.yaml]\n", encoding="utf-8")
        shutil.copy(file, folder)
        done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0 and done.stdout.count("kind: StatefulSet") == 2, done.stdout, done.stderr)


def systemd(folder, server):
    unit = folder / "tagma-server@.service"
    text = (TOP / "examples" / "deploy" / "systemd" / unit.name).read_text(encoding="utf-8").replace("/usr/bin/tagma-server", server)
    unit.write_text(text, encoding="utf-8")
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
        check(unit.name[:-9] not in done.stderr, done.stderr)
    command = re.search(r"^ExecStart=(.*)$", text, re.M).group(1)
    (folder / "credentials").mkdir()
    (folder / "credentials" / "secret").write_text("a secret\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    environment = {**os.environ, "CREDENTIALS_DIRECTORY": str(folder / "credentials"), "TAGMA_JOB": "ps", "TAGMA_TASK": "0",
                   "TAGMA_CLUSTER": f'{{"ps": ["127.0.0.1:{port}"]}}'}
    started = subprocess.Popen(["sh", "-c", "exec " + command.replace("/var/lib/tagma", str(folder))], stderr=subprocess.PIPE,
                               text=True, env=environment)
    try:
        check(f":{port}" in started.stderr.readline(), "the unit's server")
    finally:
        started.terminate()
        check(started.wait(timeout=60) == 0, "SIGTERM ends it well")


def main(*programs):
    server, ctl, train = (str(pathlib.Path(p).resolve()) for p in programs)
    for test, programs in ((slurm, (train,)), (kubernetes, (server, ctl)), (systemd, (server,))):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder), *programs)
    print("what deploys clusters starts them")


if __name__ == "__main__":
    main(*sys.argv[1:])
