#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs train_fashion_mnist on a few made-up images: a run that is resumed ends with the bytes of one that was not
interrupted, a checkpoint has the slots of its optimizer and no others, and a bad option or file is one sentence and exit
status 2."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile


def write_data(folder):
    """Images whose class is the row that is bright, in the format of Fashion-MNIST."""
    folder.mkdir()
    for part, count in (("train", 300), ("t10k", 50)):
        labels = bytes(i * 7 % 10 for i in range(count))
        images = b"".join(bytes(200 if pixel // 28 == 2 * label + 3 else (pixel * 31 + i) % 50 for pixel in range(784))
                          for i, label in enumerate(labels))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + images)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, count) + labels)


SLOTS = {"sgd": set(), "momentum": {"momentum"}, "rmsprop": {"rmsprop_square", "rmsprop_momentum"},
         "adam": {"adam_m", "adam_v"}}


def names(checkpoint):
    """Of the tensors in a file."""
    content = checkpoint.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    return set(json.loads(content[8 : 8 + length])) - {"__metadata__"}


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    complaints = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = folder / "data"
        write_data(data)

        def run(*arguments):
            command = [str(program), "--data", str(data), "--batch", "32", "--quiet", *map(str, arguments)]
            return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)

        def expect(condition, what, result):
            if not condition:
                complaints.append(f"{what}: exit status {result.returncode}\n{result.stdout}{result.stderr}")

        def same(first, second):
            files = [folder / name / "checkpoint.safetensors" for name in (first, second)]
            return files[0].read_bytes() == files[1].read_bytes()

        for model in ("mlp", "cnn"):
            for optimizer in ("momentum", "adam"):
                one, two = f"{model}-{optimizer}-1", f"{model}-{optimizer}-2"
                how = ("--model", model, "--optimizer", optimizer)
                whole = run(*how, "--epochs", 3, "--threads", 2, "--checkpoint", one)
                expect(whole.returncode == 0 and "test accuracy" in whole.stdout, f"{model} by {optimizer}", whole)
                part = run(*how, "--epochs", 1, "--threads", 1, "--checkpoint", two)
                expect(part.returncode == 0 and not same(one, two), "one epoch, not three", part)
                rest = run(*how, "--epochs", 3, "--threads", 1, "--checkpoint", two, "--resume")
                expect(rest.returncode == 0 and rest.stdout == whole.stdout and same(one, two), "resumed, and other threads", rest)

        for optimizer, slots in SLOTS.items():
            result = run("--epochs", 1, "--optimizer", optimizer, "--checkpoint", optimizer)
            model = {f"{layer}/{part}" for layer in ("hidden1", "hidden2", "logits") for part in ("kernel", "bias")}
            expected = model | {f"{name}/{slot}" for name in model for slot in slots} | {f"{optimizer}/step"}
            found = names(folder / optimizer / "checkpoint.safetensors")
            expect(found == expected, f"{optimizer} saved {sorted(found)}", result)

        (folder / "cut").mkdir()
        whole = (folder / "mlp-adam-1" / "checkpoint.safetensors").read_bytes()
        (folder / "cut" / "checkpoint.safetensors").write_bytes(whole[:-1])
        images = (data / "train-images-idx3-ubyte").read_bytes()
        short = folder / "short"
        write_data(short)
        (short / "train-images-idx3-ubyte").write_bytes(images[:-1])
        (folder / "file").write_text("")
        mistakes = [
            (("--bogus",), "--bogus"), (("--epochs",), "--epochs"), (("--epochs", "-1"), "-1"), (("--epochs", "3x"), "3x"),
            (("--batch", "0"), "--batch"), (("--learning-rate", "nan"), "nan"), (("--model", "rnn"), "mlp, cnn"),
            (("--optimizer", "best"), "best"), (("--seed", "1e3"), "1e3"), (("--resume",), "--checkpoint"),
            (("--data", folder / "none"), "none/train-images"), (("--data", short), "truncated"),
            (("--checkpoint", "none", "--resume"), "none/checkpoint.safetensors"),
            (("--checkpoint", "cut", "--resume"), "cut/checkpoint.safetensors"),
            (("--checkpoint", "mlp-adam-1", "--resume", "--optimizer", "sgd"), "optimizer adam, not with"),
            (("--checkpoint", "sgd", "--resume", "--optimizer", "adam"), "optimizer sgd, not with"),
            (("--checkpoint", "mlp-adam-1", "--resume", "--model", "cnn"), "model mlp, not with model cnn"),
            # Found before the first epoch, or without one.
            (("--checkpoint", "file", "--epochs", "0"), "file"), (("--checkpoint", "none/new", "--epochs", "0"), "none/new"),
            (("--trace", "none/trace.json", "--epochs", "0"), "none/trace.json"), (("--trace", "cut", "--epochs", "0"), "cut"),
        ]
        for arguments, mention in mistakes:
            result = run(*arguments)
            expect(result.returncode == 2 and result.stderr.count("\n") == 1 and mention in result.stderr and not result.stdout,
                   f"{arguments} should be refused, mentioning {mention}", result)
        result = run("--help")
        expect(result.returncode == 0 and "--checkpoint DIR" in result.stdout, "--help", result)
    print("\n".join(complaints) or f"resumed runs and {len(mistakes)} mistakes are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
