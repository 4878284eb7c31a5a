# SPDX-License-Identifier: BSL-1.0
"""Training steps or inference of a network in JAX, compiled by XLA: NETWORK BATCH THREADS adam|sgd|infer. The weights are
PyTorch's, and so are the outputs, which is looked at first. Images are NHWC. In training, batch normalisation keeps no
running statistics, which is less work."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

import jax_training  # noqa: E402, before jax
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import torch  # noqa: E402

import torch_networks  # noqa: E402
import worker  # noqa: E402


def dense(w, name, x):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def conv(w, name, x, groups=1):
    made = jax.lax.conv_general_dilated(x, w[f"{name}.weight"], (1, 1), "SAME", dimension_numbers=("NHWC", "OIHW", "NHWC"),
                                        feature_group_count=groups)
    return made + w[f"{name}.bias"]


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def layer_norm(w, name, x):
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def batch_norm(w, name, x, training):
    if training:
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
    else:
        mean, variance = w[f"{name}.running_mean"], w[f"{name}.running_var"]
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def mlp(w, x, training):
    return jax.nn.relu(dense(w, "0.2", jax.nn.relu(dense(w, "0.0", x))))


def cnn(w, x, training):
    x = pool(jax.nn.relu(conv(w, "0.0", x)))
    x = pool(jax.nn.relu(conv(w, "0.3", x)))
    return jax.nn.relu(dense(w, "0.7", x.reshape(x.shape[0], -1)))


def lstm(w, x, training):
    inputs = jnp.swapaxes(x, 0, 1) @ w["0.layer.weight_ih_l0"].T + w["0.layer.bias_ih_l0"] + w["0.layer.bias_hh_l0"]

    def cell(carry, e):
        h, c = carry
        i, f, g, o = jnp.split(e + h @ w["0.layer.weight_hh_l0"].T, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zero = jnp.zeros((x.shape[0], 128))
    return jax.lax.scan(cell, (zero, zero), inputs)[0][0]


def transformer(w, x, training):
    q, k, v = jnp.split(dense(w, "0.attention.1.qkv", layer_norm(w, "0.attention.0", x)), 3, axis=2)
    heads = (jnp.reshape(part, (*x.shape[:2], 4, 32)) for part in (q, k, v))
    h = x + dense(w, "0.attention.1.out", jax.nn.dot_product_attention(*heads).reshape(x.shape))
    hidden = jax.nn.gelu(dense(w, "0.dense.1", layer_norm(w, "0.dense.0", h)), approximate=False)
    return jnp.mean(h + dense(w, "0.dense.3", hidden), axis=1)


def resnet(w, x, training):
    h = jax.nn.relu(batch_norm(w, "0.layers.1", conv(w, "0.layers.0", x), training))
    h = batch_norm(w, "0.layers.4", conv(w, "0.layers.3", h), training)
    return jnp.mean(jax.nn.relu(h + x), (1, 2))


def mobilenet(w, x, training):
    h = jax.nn.relu6(batch_norm(w, "0.layers.1", conv(w, "0.layers.0", x), training))
    h = jax.nn.relu6(batch_norm(w, "0.layers.4", conv(w, "0.layers.3", h, 192), training))
    return jnp.mean(batch_norm(w, "0.layers.7", conv(w, "0.layers.6", h), training) + x, (1, 2))


def unet(w, x, training):
    around = jax.nn.relu(conv(w, "0.down.2", jax.nn.relu(conv(w, "0.down.0", x))))
    below = jax.nn.relu(conv(w, "0.below.1", pool(around)))
    below = jnp.repeat(jnp.repeat(below, 2, axis=1), 2, axis=2)
    return jnp.mean(jax.nn.relu(conv(w, "0.up.0", jnp.concatenate((around, below), axis=3))), (1, 2))


NETWORKS = {f.__name__: f for f in (mlp, cnn, lstm, transformer, resnet, mobilenet, unet)}


def weights_of(model, name):
    made = {key: jnp.asarray(value.contiguous().numpy()) for key, value in model.state_dict().items() if value.dtype == torch.float32}
    if name == "cnn":  # what is flattened has its channels last here
        made["0.7.weight"] = made["0.7.weight"].reshape(1024, 64, 7, 7).transpose(0, 2, 3, 1).reshape(1024, 3136)
    return made


def main():
    name, batch, threads, task = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(threads)
    torch.manual_seed(42)
    model = torch_networks.make(name).eval()
    weights, network = weights_of(model, name), NETWORKS[name]
    made = torch_networks.inputs(name, batch, worker.BATCHES)
    with torch.inference_mode():
        expected = model(made[0]).numpy()
    data = [jnp.asarray((x.permute(0, 2, 3, 1) if x.dim() == 4 else x).contiguous().numpy()) for x in made]

    def logits(w, x, training):
        return dense(w, "1", network(w, x, training))

    run = jax.jit(lambda w, x: logits(w, x, False))
    difference = float(abs(expected - run(weights, data[0])).max())
    if not difference <= 1e-3:
        print(f"JAX computes something else: the largest difference is {difference}", flush=True)
        sys.exit(1)
    if task == "infer":
        # As constants weights are what they are for PyTorch after freezing: what XLA can do with them once, it does.
        frozen = jax.jit(lambda x: logits(weights, x, False))

        def infer(i):
            out = frozen(data[i % worker.BATCHES]).block_until_ready()
            return lambda: float(out[0, 0])

        return worker.serve(jax.__version__, infer, 3)
    labels = torch.randint(0, 10, (worker.BATCHES, batch)).numpy()
    trained = {key: value for key, value in weights.items() if "running" not in key}
    return jax_training.train(trained, lambda w, x, y: jax_training.entropy(logits(w, x, True), y), list(zip(data, labels)), task == "adam")


if __name__ == "__main__":
    main()
