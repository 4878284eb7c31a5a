# SPDX-License-Identifier: BSL-1.0
"""Inference of a network by ONNX Runtime: NETWORK BATCH THREADS infer. The model is PyTorch's, written as ONNX."""

import contextlib
import pathlib
import sys
import tempfile

import onnxruntime
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

import torch_networks  # noqa: E402
import worker  # noqa: E402


def main():
    name, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.manual_seed(42)
    model = torch_networks.make(name).eval()
    data = torch_networks.inputs(name, batch, worker.BATCHES)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "network.onnx")
        with contextlib.redirect_stdout(sys.stderr):  # the driver reads the other
            torch.onnx.export(model, (data[0],), path, input_names=["x"], output_names=["y"], dynamo=True)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = [{"x": x.contiguous().numpy()} for x in data]
    expected, found = model(data[0]).detach(), torch.from_numpy(session.run(None, feeds[0])[0])
    difference = float((expected - found).abs().max())
    if not difference <= 1e-3:
        print(f"ONNX Runtime computes something else: the largest difference is {difference}", flush=True)
        sys.exit(1)

    def infer(i):
        out = session.run(None, feeds[i % worker.BATCHES])[0]
        return lambda: float(out[0, 0])

    worker.serve(onnxruntime.__version__, infer, 3)


if __name__ == "__main__":
    main()
