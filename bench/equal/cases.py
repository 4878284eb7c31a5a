# SPDX-License-Identifier: BSL-1.0
"""The cases of equal.py: what each needs, and what PyTorch makes of it. The programs are in equal.cpp,
by the same names."""

import copy
import math
import re

try:
    import torch
except ImportError:
    torch = None

CASES = {}
# Variables of which no gradient is asked.
GIVEN = re.compile(r"(r|t|w|label|ids|mask)|.*/moving_(mean|variance)")


class Case:
    """@param peer what of PyTorch it is compared with; "formula": the one of the documentation, written in tensors
    @param variables name: shape, for normally distributed numbers, or a function of a random generator
    @param rounding gradients that are 0 but for rounding: their difference is divided by the largest gradient of all"""

    def __init__(self, name, peer, variables, function, rounding=()):
        self.name, self.peer, self.variables, self.function = name, peer, variables, function
        self.rounding = rounding
        CASES[name] = self

    def values(self, seed):
        generator = torch.Generator().manual_seed(seed)
        made = {}
        for name, what in self.variables.items():
            if callable(what):
                made[name] = what(generator)
            else:
                made[name] = torch.randn(what, generator=generator) * (1 if name in ("x", "memory", "t") else 0.5)
        return made

    def trainable(self):
        return [name for name in self.variables if not GIVEN.fullmatch(name)]


class Layer(Case):
    """`function(context, variables)` returns what the layer does; the gradients are those of sum(y * r)."""

    def inputs(self, seed):
        made = self.values(seed)
        shape = self.function(Context(), made).shape
        made["r"] = torch.randn(shape, generator=torch.Generator().manual_seed(seed + 1))
        made.update({name + "/momentum": torch.zeros_like(made[name]) for name in self.trainable()})
        made["momentum/step"] = torch.tensor(0)
        return made

    def expected(self, made, got):
        context = Context(got)
        leaves = {name: made[name].clone().requires_grad_(name in self.trainable()) for name in self.variables}
        y = self.function(context, leaves)
        (y * made["r"]).sum().backward()
        context.pull_back()
        gradients = {name + "/momentum": leaves[name].grad for name in self.trainable()}
        return {"y": y.detach()}, {**gradients, **context.moved}


class Context:
    """What a layer's function gets beside variables.
    got: what our program returned; moved: other variables that it must have left behind."""

    def __init__(self, got=None):
        self.got, self.moved, self.called = got, {}, []

    def module(self, module, weights, *inputs, **options):
        """Calls a module whose state is `weights`, made of our variables by differentiable functions."""
        complete = {k: torch.zeros_like(v) for k, v in module.state_dict().items() if k not in weights}
        module.load_state_dict({**complete, **{k: w.detach() for k, w in weights.items()}})
        self.called.append((module, weights))
        return module(*inputs, **options)

    def pull_back(self):
        """Takes gradients by the weights of modules back to our variables."""
        for module, weights in self.called:
            parameters = dict(module.named_parameters())
            through = [k for k, w in weights.items() if w.requires_grad and parameters[k].grad is not None]
            torch.autograd.backward([weights[k] for k in through], [parameters[k].grad for k in through])


class Training(Case):
    """Twenty steps of a small network. `function(parameters)` returns an optimizer of PyTorch, or a `Formula`.
    @param slots suffix: how it begins, and a function of the optimizer's state of a parameter, or None
    @param before what is called before each step, with optimizer, number of the step, and parameters"""

    def __init__(self, name, peer, step, slots, function, before=None):
        shapes = {"x": (16, 5), "t": (16, 3), "hidden/kernel": (5, 6), "hidden/bias": (6,), "out/kernel": (6, 3),
                  "out/bias": (3,)}
        super().__init__(name, peer, shapes, function)
        self.step, self.slots, self.before = step, slots, before

    def trainable(self):
        return [name for name in self.variables if "/" in name]

    def inputs(self, seed):
        made = self.values(seed)
        for name in self.trainable():
            made.update({f"{name}/{suffix}": torch.full_like(made[name], begin)
                         for suffix, (begin, _) in self.slots.items()})
        made[self.step + "/step"] = torch.tensor(0)
        return made

    def expected(self, made, got):
        v = {name: made[name].clone().requires_grad_("/" in name) for name in self.variables}
        parameters = [v[name] for name in self.trainable()]
        optimizer, losses = self.function(parameters), []
        for i in range(20):
            y = torch.tanh(v["x"] @ v["hidden/kernel"] + v["hidden/bias"]) @ v["out/kernel"] + v["out/bias"]
            loss = torch.nn.functional.mse_loss(y, v["t"])
            losses.append(loss.detach())
            optimizer.zero_grad()
            loss.backward()
            if self.before:
                self.before(optimizer, i + 1, parameters)
            optimizer.step()
        after = {name: v[name].detach() for name in self.trainable()}
        for suffix, (_, state) in self.slots.items():
            after.update({f"{name}/{suffix}": state(optimizer.state[v[name]]) for name in self.trainable()})
        return {"y": torch.stack(losses)}, after


class Formula:
    """An optimizer: `update(parameter, gradient, state)` changes both. State: how it begins."""

    def __init__(self, parameters, update, **state):
        self.parameters, self.update = parameters, update
        self.state = {p: {k: torch.full_like(p, begin) for k, begin in state.items()} for p in parameters}

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        with torch.no_grad():
            for p in self.parameters:
                self.update(p, p.grad, self.state[p])


class Metric(Case):
    """`function(p, y)` gets all three batches as one; both batches and results are those of a metric."""

    def inputs(self, seed):
        return self.values(seed)

    def trainable(self):
        return []

    def expected(self, made, got):
        p = torch.cat([made[f"p{i}"] for i in range(3)])
        y = torch.cat([made[f"y{i}"] for i in range(3)]) if "y0" in made else None
        return {"y": torch.as_tensor(self.function(p, y), dtype=torch.float64)}, {}


class TrainedBatchNorm(Case):
    """Five steps of a dense layer and batch normalisation; then the averages normalise."""

    def inputs(self, seed):
        made = self.values(seed)
        made["sgd/step"] = torch.tensor(0)
        return made

    def expected(self, made, got):
        dense, norm = torch.nn.Linear(5, 4), torch.nn.BatchNorm1d(4, eps=1e-3, momentum=0.2)
        dense.load_state_dict({"weight": made["l/kernel"].T, "bias": made["l/bias"]})
        norm.load_state_dict({"weight": made["norm/gamma"], "bias": made["norm/beta"],
                              "running_mean": made["norm/moving_mean"],
                              "running_var": made["norm/moving_variance"], "num_batches_tracked": torch.tensor(0)})
        model = torch.nn.Sequential(dense, norm)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
        begin = norm.running_var.clone()
        for _ in range(5):
            optimizer.zero_grad()
            (model(made["x"]) * made["r"]).sum().backward()
            optimizer.step()
        variance = biased(norm.running_var, begin * 0.8 ** 5, 8)
        norm.running_var.copy_(variance)
        with torch.no_grad():
            y = model.eval()(made["x"])
        return {"y": y}, {"l/kernel": dense.weight.detach().T, "l/bias": dense.bias.detach(),
                          "norm/gamma": norm.weight.detach(), "norm/beta": norm.bias.detach(),
                          "norm/moving_mean": norm.running_mean, "norm/moving_variance": variance}


def biased(running, kept, n):
    """PyTorch's moving variance divides by n - 1 what is new since `kept`."""
    return kept + (running - kept) * (n - 1) / n


# Makers of variables.

def below(limit, *shape):
    return lambda g: torch.randint(limit, shape, generator=g)


def truth(*shape):
    """Of bool; the first along the last axis are true, so that no query sees nothing."""
    def make(g):
        made = torch.rand(shape, generator=g) < 0.6
        made[..., 0] = True
        return made
    return make


def between(low, high, *shape):
    return lambda g: torch.rand(shape, generator=g) * (high - low) + low


def shares(*shape):
    return lambda g: torch.softmax(torch.randn(shape, generator=g), -1)


def of_length_1(*shape):
    return lambda g: torch.nn.functional.normalize(torch.randn(shape, generator=g), dim=-1)


def zeros_and_ones(*shape):
    return lambda g: torch.randint(2, shape, generator=g).to(torch.get_default_dtype())


def among(values, *shape):
    return lambda g: torch.tensor(values, dtype=torch.get_default_dtype())[below(len(values), *shape)(g)]


def full(value, *shape):
    return lambda g: torch.full(shape, value)


def variant(name, of, rounding=(), **variables):
    """The same program with other inputs."""
    case = copy.copy(CASES[of])
    case.name, case.variables = of + "@" + name, {**case.variables, **variables}
    case.rounding = [*case.rounding, *rounding]
    CASES[case.name] = case


# Layers.

def channels_first(x):
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


def same(x, kernel, stride):
    """Pads [batch, channels, ...] as TensorFlow does."""
    pads = []
    for n, k, s in zip(reversed(x.shape[2:]), reversed(kernel), reversed(stride)):
        total = max((math.ceil(n / s) - 1) * s + k - n, 0)
        pads += [total // 2, total - total // 2]
    return torch.nn.functional.pad(x, pads)


def convolution(name, kind, x, kernel, filters, pad=None, after=None, where="l", **options):
    """@param kind of module: "Conv2d"; kernel: its extents; pad: what is done to the input before"""
    groups = options.get("groups", 1)

    def function(c, v):
        module = getattr(torch.nn, kind)(x[-1], filters, kernel, **options)
        weight = v["l/kernel"].movedim((-1, -2), (0, 1))
        image = channels_first(v["x"])
        y = c.module(module, {"weight": weight, "bias": v["l/bias"]}, pad(image) if pad else image)
        return channels_last(after(y) if after else y)

    Layer(name, "nn." + kind, {"x": x, "l/kernel": (*kernel, x[-1] // groups, filters), "l/bias": (filters,)}, function)


def plain(name, peer, function, variables):
    Layer(name, peer, variables, lambda c, v: function(v))


def batch_norm(name, x, momentum, epsilon, phase):
    channels, n = x[-1], math.prod(x[:-1])
    kind = "BatchNorm1d" if len(x) == 2 else "BatchNorm2d"

    def function(c, v):
        module = getattr(torch.nn, kind)(channels, eps=epsilon, momentum=1 - momentum).train(phase == "training")
        y = c.module(module, {"weight": v["l/gamma"], "bias": v["l/beta"], "running_mean": v["l/moving_mean"],
                              "running_var": v["l/moving_variance"]}, channels_first(v["x"]))
        variance = biased(module.running_var, v["l/moving_variance"] * momentum, n)
        c.moved = {"l/moving_mean": module.running_mean,
                   "l/moving_variance": variance if phase == "training" else module.running_var}
        return channels_last(y)

    Layer(name, f"nn.{kind}, {phase}", {"x": x, "l/gamma": (channels,), "l/beta": (channels,),
                                        "l/moving_mean": (channels,),
                                        "l/moving_variance": between(0.5, 1.5, channels)}, function)


def dropout(c, v):
    if c.got is None:
        return v["x"]
    kept = c.got["y"] != 0
    share = 1 - kept.double().mean().item()
    if abs(share - 0.3) > 4 * math.sqrt(0.3 * 0.7 / kept.numel()):
        raise SystemExit(f"dropout: drops {share:.4f} of all elements, not 0.3")
    return v["x"] * kept / 0.7


def activations(v):
    f, x = torch.nn.functional, v["x"]
    return torch.cat([f.relu(x), f.relu6(x), f.leaky_relu(x, 0.2), f.elu(x), f.selu(x), f.gelu(x), f.silu(x),
                      torch.sigmoid(x), torch.tanh(x), f.softplus(x), f.softsign(x), f.softmax(x, -1),
                      f.log_softmax(x, -1)])


def add_layers():
    x, images, line, volumes = (5, 7), (2, 9, 8, 4), (3, 10, 4), (2, 5, 6, 7, 3)
    for name, at, after in (("dense", x, None), ("dense_of_3_axes", (2, 3, 5), "relu")):
        def function(c, v, after=after):
            module = torch.nn.Linear(*v["l/kernel"].shape)
            y = c.module(module, {"weight": v["l/kernel"].T, "bias": v["l/bias"]}, v["x"])
            return torch.relu(y) if after else y

        Layer(name, "nn.Linear", {"x": at, "l/kernel": (at[-1], 4), "l/bias": (4,)}, function)
    Layer("embedding", "nn.Embedding", {"table": (11, 3), "ids": below(11, 4, 5)},
          lambda c, v: c.module(torch.nn.Embedding(11, 3), {"weight": v["table"]}, v["ids"]))
    plain("activations", "13 of nn.functional", activations, {"x": x})
    Layer("dropout", "share and scale", {"x": (100, 100)}, dropout)

    relu = lambda y: torch.relu(y)
    convolution("conv2d", "Conv2d", images, (3, 3), 5)
    convolution("conv2d_stride_padding", "Conv2d", images, (3, 4), 5, stride=(2, 1), padding=1)
    convolution("conv2d_same_stride", "Conv2d", images, (3, 4), 5, stride=2, pad=lambda y: same(y, (3, 4), (2, 2)))
    convolution("conv2d_dilation_groups", "Conv2d", images, (3, 3), 6, padding=2, dilation=2, groups=2, after=relu)
    plain("conv2d_transpose", "F.conv_transpose2d", lambda v: channels_last(torch.nn.functional.conv_transpose2d(
        channels_first(v["x"]), v["filter"].permute(3, 2, 0, 1), stride=2, padding=1)),
        {"x": images, "filter": (3, 3, 5, 4)})
    convolution("depthwise_conv2d", "Conv2d", images, (3, 3), 8, groups=4)
    convolution("depthwise_conv2d_same_stride", "Conv2d", images, (3, 3), 4, groups=4, stride=2,
                pad=lambda y: same(y, (3, 3), (2, 2)))
    convolution("conv1d", "Conv1d", line, (3,), 5)
    convolution("conv1d_same_stride", "Conv1d", line, (4,), 5, stride=2, pad=lambda y: same(y, (4,), (2,)))
    convolution("conv1d_causal_dilation", "Conv1d", line, (3,), 5, dilation=2,
                pad=lambda y: torch.nn.functional.pad(y, (4, 0)))
    convolution("conv1d_groups", "Conv1d", line, (3,), 6, groups=2, after=relu)
    convolution("conv3d", "Conv3d", volumes, (2, 3, 2), 4)
    convolution("conv3d_same_stride", "Conv3d", volumes, (3, 3, 3), 4, stride=2,
                pad=lambda y: same(y, (3, 3, 3), (2, 2, 2)))
    convolution("conv3d_dilation", "Conv3d", volumes, (2, 2, 3), 4, dilation=(3, 2, 1))

    def over_images(name, peer, function):
        plain(name, peer, lambda v: channels_last(function(torch.nn, channels_first(v["x"]))), {"x": images})

    over_images("max_pool", "nn.MaxPool2d", lambda nn, y: nn.MaxPool2d(2)(y))
    over_images("average_pool", "nn.AvgPool2d", lambda nn, y: nn.AvgPool2d(3, 2, 1, count_include_pad=False)(y))
    over_images("global_pools", "nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d",
                lambda nn, y: torch.cat([nn.AdaptiveMaxPool2d(1)(y), nn.AdaptiveAvgPool2d(1)(y)], 1).flatten(1))
    over_images("upsample2d", "nn.Upsample", lambda nn, y: nn.Upsample(scale_factor=3)(y))
    for name, size in (("resize_bilinear_larger", (13, 20)), ("resize_bilinear_smaller", (4, 5))):
        over_images(name, "F.interpolate", lambda nn, y, size=size: nn.functional.interpolate(
            y, size, mode="bilinear", align_corners=False))

    Layer("group_norm", "nn.GroupNorm", {"x": images, "l/gamma": (4,), "l/beta": (4,)},
          lambda c, v: channels_last(c.module(torch.nn.GroupNorm(2, 4, eps=1e-3),
                                              {"weight": v["l/gamma"], "bias": v["l/beta"]}, channels_first(v["x"]))))
    Layer("layer_norm", "nn.LayerNorm", {"x": (3, 4, 6), "l/gamma": (6,), "l/beta": (6,)},
          lambda c, v: c.module(torch.nn.LayerNorm(6, eps=1e-3), {"weight": v["l/gamma"], "bias": v["l/beta"]}, v["x"]))
    Layer("rms_norm", "nn.RMSNorm", {"x": (3, 4, 6), "l/gamma": (6,)},
          lambda c, v: c.module(torch.nn.RMSNorm(6, eps=1e-6), {"weight": v["l/gamma"]}, v["x"]))
    batch_norm("batch_norm", x, 0.99, 1e-3, "training")
    batch_norm("batch_norm_inference", x, 0.99, 1e-3, "inference")
    batch_norm("batch_norm_images", images, 0.9, 1e-5, "training")
    TrainedBatchNorm("batch_norm_trained", "nn.Linear, nn.BatchNorm1d, 5 steps of SGD",
                     {"x": (8, 5), "r": (8, 4), "l/kernel": (5, 4), "l/bias": (4,), "norm/gamma": (4,),
                      "norm/beta": (4,), "norm/moving_mean": (4,), "norm/moving_variance": between(0.5, 1.5, 4)}, None)


# Sequences.

def attention_weights(name, units, memory):
    made = {}
    for part, rows in (("query", units), ("key", memory), ("value", memory), ("output", units)):
        made.update({f"{name}/{part}/kernel": (rows, units), f"{name}/{part}/bias": (units,)})
    return made


def attention_state(v, name, joined=True):
    """The weights of nn.MultiheadAttention."""
    kernels = {part: v[f"{name}/{part}/kernel"].T for part in ("query", "key", "value", "output")}
    state = {"in_proj_bias": torch.cat([v[f"{name}/{part}/bias"] for part in ("query", "key", "value")]),
             "out_proj.weight": kernels["output"], "out_proj.bias": v[f"{name}/output/bias"]}
    if joined:
        return {"in_proj_weight": torch.cat([kernels[part] for part in ("query", "key", "value")]), **state}
    return {"q_proj_weight": kernels["query"], "k_proj_weight": kernels["key"],
            "v_proj_weight": kernels["value"], **state}


def hidden_future(steps):
    return torch.ones(steps, steps, dtype=torch.bool).triu(1)


def attention(name, heads, options, cross=False, mask=None):
    """@param options of the call, a function of the variables"""
    def function(c, v):
        module = torch.nn.MultiheadAttention(6, heads, kdim=4 if cross else None, vdim=4 if cross else None,
                                             batch_first=True)
        memory = v["memory"] if cross else v["x"]
        return c.module(module, attention_state(v, "a", not cross), v["x"], memory, memory, need_weights=False,
                        **options(v))[0]

    inputs = {"x": (2, 5, 6), **({"memory": (2, 7, 4)} if cross else {}), **({"mask": mask} if mask else {})}
    Layer(name, "nn.MultiheadAttention", {**inputs, **attention_weights("a", 6, 4 if cross else 6)}, function,
          ["a/key/bias/momentum"])


def rotary_attention(v):
    x, half = v["x"], 3
    project = lambda part: x @ v[f"a/{part}/kernel"] + v[f"a/{part}/bias"]
    angle = torch.arange(5)[:, None] * 10000.0 ** (-2 * torch.arange(half) / (2 * half))

    def turn(e):
        a, b = e[..., :half], e[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    mixed = torch.nn.functional.scaled_dot_product_attention(turn(project("query")), turn(project("key")),
                                                             project("value"))
    return mixed @ v["a/output/kernel"] + v["a/output/bias"]


def block(name, heads, options=lambda v: {}, norm_first=True, mask=None):
    def function(c, v):
        module = torch.nn.TransformerEncoderLayer(6, heads, 9, dropout=0.0, activation="gelu", batch_first=True,
                                                  norm_first=norm_first)
        state = {"self_attn." + k: w for k, w in attention_state(v, "b/attention").items()}
        for ours, theirs in (("hidden", "linear1"), ("output", "linear2")):
            state.update({theirs + ".weight": v[f"b/{ours}/kernel"].T, theirs + ".bias": v[f"b/{ours}/bias"]})
        for ours, theirs in (("attention_norm", "norm1"), ("output_norm", "norm2")):
            state.update({theirs + ".weight": v[f"b/{ours}/gamma"], theirs + ".bias": v[f"b/{ours}/beta"]})
        return c.module(module, state, v["x"], **options(v))

    variables = {"x": (2, 5, 6), **({"mask": mask} if mask else {}), **attention_weights("b/attention", 6, 6),
                 "b/hidden/kernel": (6, 9), "b/hidden/bias": (9,), "b/output/kernel": (9, 6), "b/output/bias": (6,)}
    for norm in ("attention_norm", "output_norm"):
        variables.update({f"b/{norm}/gamma": (6,), f"b/{norm}/beta": (6,)})
    Layer(name, "nn.TransformerEncoderLayer", variables, function, ["b/attention/key/bias/momentum"])


def recurrent_state(kind, v, name, end=""):
    """The weights of a module with one layer: one bias of two is 0."""
    kernel, bias = v[name + "/kernel"], v[name + "/bias"]
    if kind == "LSTM":
        i, j, f, o = range(4)
        kernel, bias = (torch.cat([part.chunk(4, -1)[k] for k in (i, f, j, o)], -1) for part in (kernel, bias))
        units = bias.shape[0] // 4
        bias = bias + torch.cat([torch.zeros(units), torch.ones(units), torch.zeros(2 * units)])
    return {"weight_ih_l0" + end: kernel[:6].T, "weight_hh_l0" + end: kernel[6:].T, "bias_ih_l0" + end: bias}


def recurrent(name, kind, last):
    gates = 4 if kind == "LSTM" else 1

    def function(c, v):
        module = getattr(torch.nn, kind)(6, 4, batch_first=True)
        y = c.module(module, recurrent_state(kind, v, "r"), v["x"])[0]
        return y[:, -1] if last else y

    Layer(name, "nn." + kind, {"x": (2, 5, 6), "r/kernel": (10, 4 * gates), "r/bias": (4 * gates,)}, function)


def bidirectional(name, last):
    ways = {"both/forward/r": "", "both/backward/r": "_reverse"}

    def function(c, v):
        module = torch.nn.LSTM(6, 4, batch_first=True, bidirectional=True)
        state = {}
        for way, end in ways.items():
            state.update(recurrent_state("LSTM", v, way, end))
        y = c.module(module, state, v["x"])[0]
        return torch.cat([y[:, -1, :4], y[:, 0, 4:]], -1) if last else y

    variables = {"x": (2, 5, 6)}
    for way in ways:
        variables.update({way + "/kernel": (10, 16), way + "/bias": (16,)})
    Layer(name, "nn.LSTM(bidirectional=True)", variables, function)


def gru(name, last):
    def function(v):
        h, outputs = torch.zeros(2, 4), []
        for x in v["x"].unbind(1):
            r, u = torch.sigmoid(torch.cat([x, h], 1) @ v["r/gates/kernel"] + v["r/gates/bias"]).chunk(2, 1)
            made = torch.tanh(torch.cat([x, r * h], 1) @ v["r/candidate/kernel"] + v["r/candidate/bias"])
            h = u * h + (1 - u) * made
            outputs.append(h)
        return h if last else torch.stack(outputs, 1)

    plain(name, "formula", function, {"x": (2, 5, 6), "r/gates/kernel": (10, 8), "r/gates/bias": (8,),
                                      "r/candidate/kernel": (10, 4), "r/candidate/bias": (4,)})


def add_sequences():
    attention("attention", 3, lambda v: {})
    attention("attention_causal", 2, lambda v: {"attn_mask": hidden_future(5)})
    attention("attention_key_mask", 3, lambda v: {"key_padding_mask": ~v["mask"]}, mask=truth(2, 5))
    attention("attention_cross", 2, lambda v: {}, cross=True)
    attention("attention_cross_mask", 2, lambda v: {"attn_mask": ~v["mask"].repeat_interleave(2, 0)}, cross=True,
              mask=truth(2, 5, 7))
    plain("attention_rotary", "formula", rotary_attention, {"x": (2, 5, 6), **attention_weights("a", 6, 6)})
    block("transformer_block", 2)
    block("transformer_block_causal", 3, lambda v: {"src_mask": hidden_future(5)})
    block("transformer_block_mask", 3, lambda v: {"src_key_padding_mask": ~v["mask"]}, mask=truth(2, 5))
    block("transformer_block_post_norm", 3, norm_first=False)
    for kind in ("RNN", "LSTM"):
        recurrent(kind.lower(), kind, False)
        recurrent(kind.lower() + "_last_unrolled", kind, True)
    gru("gru", False)
    gru("gru_last_unrolled", True)
    bidirectional("bidirectional_lstm", False)
    bidirectional("bidirectional_lstm_last", True)


# Losses.

def add_losses():
    x, t, label, w = (6, 5), {"t": (6, 5)}, {"label": below(5, 6)}, {"w": between(0, 2, 6)}

    def loss(name, peer, function, own=x, **others):
        plain(name, peer, lambda v: function(torch.nn.functional, v["x"], v), {"x": own, **others})

    def weighted(values, weights):
        weights = weights if weights.dim() == values.dim() else weights[:, None].expand_as(values)
        return (values * weights).sum() / weights.sum()

    loss("mean_squared_error", "F.mse_loss", lambda f, x, v: f.mse_loss(x, v["t"]), **t)
    loss("mean_squared_error_weights", "F.mse_loss", lambda f, x, v: f.mse_loss(x, v["t"], weight=v["w"]), **t,
         w=between(0, 2, 6, 5))
    loss("mean_squared_error_row_weights", "F.mse_loss, weighted",
         lambda f, x, v: weighted(f.mse_loss(x, v["t"], reduction="none"), v["w"]), **t, **w)
    loss("mean_absolute_error", "F.l1_loss", lambda f, x, v: f.l1_loss(x, v["t"]), **t)
    loss("mean_absolute_error_row_weights", "F.l1_loss",
         lambda f, x, v: f.l1_loss(x, v["t"], weight=v["w"][:, None].expand(6, 5)), **t, **w)
    loss("huber_loss", "F.huber_loss", lambda f, x, v: f.huber_loss(x, v["t"]), **t)
    loss("huber_loss_delta", "F.huber_loss", lambda f, x, v: f.huber_loss(x, v["t"], delta=0.4), **t)
    loss("hinge_loss", "formula", lambda f, x, v: torch.relu(1 - (2 * v["t"] - 1) * x).mean(), t=zeros_and_ones(6, 5))
    loss("log_loss", "formula", lambda f, x, v: -(v["t"] * torch.log(x + 1e-7) +
                                                  (1 - v["t"]) * torch.log(1 - x + 1e-7)).mean(),
         own=between(0.05, 0.95, 6, 5), t=zeros_and_ones(6, 5))
    loss("cosine_distance", "formula", lambda f, x, v: (1 - (x * v["t"]).sum(-1)).mean(), own=of_length_1(6, 5),
         t=of_length_1(6, 5))
    loss("kl_divergence", "F.kl_div", lambda f, x, v: f.kl_div(x.log(), v["t"], reduction="none").sum(-1),
         own=shares(6, 5), t=shares(6, 5))
    loss("l2_loss", "formula", lambda f, x, v: x.square().sum() / 2)
    loss("cross_entropy", "F.cross_entropy", lambda f, x, v: f.cross_entropy(x, v["label"]), **label)
    loss("cross_entropy_of_rows", "F.cross_entropy", lambda f, x, v: f.cross_entropy(x, v["label"], reduction="none"),
         **label)
    loss("cross_entropy_smoothed", "F.cross_entropy",
         lambda f, x, v: f.cross_entropy(x, v["label"], label_smoothing=0.2), **label)
    loss("cross_entropy_class_weights", "F.cross_entropy",
         lambda f, x, v: f.cross_entropy(x, v["label"], weight=v["w"]), **label, w=between(0, 2, 5))
    loss("cross_entropy_row_weights_smoothed", "F.cross_entropy, weighted",
         lambda f, x, v: weighted(f.cross_entropy(x, v["label"], label_smoothing=0.2, reduction="none"), v["w"]),
         **label, **w)
    loss("cross_entropy_probabilities", "F.cross_entropy", lambda f, x, v: f.cross_entropy(x, v["t"]), t=shares(6, 5))
    loss("cross_entropy_probabilities_smoothed", "F.cross_entropy",
         lambda f, x, v: f.cross_entropy(x, v["t"], label_smoothing=0.2), t=shares(6, 5))
    binary = "F.binary_cross_entropy_with_logits"
    loss("sigmoid_cross_entropy", binary,
         lambda f, x, v: f.binary_cross_entropy_with_logits(x, v["t"], reduction="none"), t=between(0, 1, 6, 5))
    loss("sigmoid_cross_entropy_smoothed", binary,
         lambda f, x, v: f.binary_cross_entropy_with_logits(x, v["t"] * 0.8 + 0.1), t=zeros_and_ones(6, 5))
    loss("sigmoid_cross_entropy_weights", binary + ", weighted",
         lambda f, x, v: weighted(f.binary_cross_entropy_with_logits(x, v["t"], reduction="none"), v["w"]),
         t=zeros_and_ones(6, 5), **w)


# Metrics.

def auc(p, y):
    thresholds = torch.arange(200, dtype=torch.float64) / 199
    thresholds[0], thresholds[-1] = -1e-7, 1 + 1e-7
    above = p.double()[:, None] > thresholds
    rates = [above[y == label].double().mean(0) for label in (1, 0)]
    return -torch.trapezoid(rates[0], rates[1])


def add_metrics():
    batches = (7, 5, 9)
    rows = {f"p{i}": (n, 5) for i, n in enumerate(batches)}
    scores = {f"p{i}": between(0, 1, n) for i, n in enumerate(batches)}
    classes = {f"y{i}": below(5, n) for i, n in enumerate(batches)}
    labels = {f"y{i}": below(2, n) for i, n in enumerate(batches)}
    Metric("metric_mean", "torch.mean", rows, lambda p, y: p.double().mean())
    Metric("metric_accuracy", "torch.argmax", {**rows, **classes}, lambda p, y: (p.argmax(1) == y).double().mean())
    Metric("metric_top_2_accuracy", "torch.topk", {**rows, **classes},
           lambda p, y: (p.topk(2).indices == y[:, None]).any(1).double().mean())
    Metric("metric_precision", "formula", {**scores, **labels}, lambda p, y: y[p > 0.5].double().mean())
    Metric("metric_recall", "formula", {**scores, **labels}, lambda p, y: (p[y == 1] > 0.3).double().mean())
    Metric("metric_auc", "formula", {**scores, **labels}, auc)


# Optimizers.

def epsilon_before(epsilon, beta2):
    """Ours adds epsilon before the bias is corrected; so does PyTorch with this one, which changes with each step."""
    def before(optimizer, step, parameters):
        for group in optimizer.param_groups:
            group["eps"] = epsilon / math.sqrt(1 - beta2 ** step)
    return before


def rmsprop(parameters, centred):
    """PyTorch's, with an average of squares that begins with 1, as ours."""
    optimizer = torch.optim.RMSprop(parameters, lr=0.01, alpha=0.9, momentum=0.5, eps=0, centered=centred,
                                    foreach=False)
    for p in parameters:
        optimizer.state[p] = {"step": torch.tensor(0.0), "square_avg": torch.ones_like(p),
                              "momentum_buffer": torch.zeros_like(p), "grad_avg": torch.zeros_like(p)}
    return optimizer


def rmsprop_formula(p, g, s, centred):
    s["square"] += (g * g - s["square"]) * (1 - 0.9)
    s["mean"] += (g - s["mean"]) * (1 - 0.9)
    spread = s["square"] - s["mean"] ** 2 if centred else s["square"]
    s["momentum"].mul_(0.5).add_(0.01 * g / torch.sqrt(spread + 1e-3))
    p -= s["momentum"]


def ftrl_formula(p, g, s, rate, power, l1, l2, shrinkage):
    shrunk, after = g + 2 * shrinkage * p, s["n"] + g * g
    s["l"] += shrunk - (after ** -power - s["n"] ** -power) / rate * p
    quadratic = after ** -power / rate + 2 * l2
    p.copy_(torch.where(s["l"].abs() > l1, (torch.sign(s["l"]) * l1 - s["l"]) / quadratic, 0))
    s["n"] = after


def add_optimizers():
    optim = lambda kind, **options: lambda parameters: getattr(torch.optim, kind)(parameters, foreach=False, **options)
    kept = lambda key, begin=0.0, scale=1: (begin, lambda state: state[key] * scale)

    Training("sgd", "optim.SGD", "sgd", {}, optim("SGD", lr=0.1))
    buffer = {"momentum": kept("momentum_buffer")}
    for name, nesterov in (("momentum", False), ("momentum_nesterov", True)):
        Training(name, "optim.SGD", "momentum", buffer, optim("SGD", lr=0.05, momentum=0.8, nesterov=nesterov))
    Training("adagrad", "optim.Adagrad", "adagrad", {"adagrad": kept("sum", 0.2)},
             optim("Adagrad", lr=0.05, initial_accumulator_value=0.2, eps=0))
    Training("adadelta", "optim.Adadelta", "adadelta",
             {"adadelta_square": kept("square_avg"), "adadelta_update": kept("acc_delta")},
             optim("Adadelta", lr=1, rho=0.9, eps=1e-4))
    for name, centred in (("rmsprop", False), ("centered_rmsprop", True)):
        slots = {"rmsprop_square": kept("square_avg", 1), "rmsprop_momentum": kept("momentum_buffer", scale=0.01)}
        if centred:
            slots["rmsprop_mean"] = kept("grad_avg")
        Training(name, "optim.RMSprop", name, slots, lambda parameters, centred=centred: rmsprop(parameters, centred))
        slots = {"rmsprop_square": kept("square", 1), "rmsprop_momentum": kept("momentum")}
        if centred:
            slots["rmsprop_mean"] = kept("mean")
        Training(name + "_epsilon", "formula", name, slots, lambda parameters, centred=centred: Formula(
            parameters, lambda p, g, s: rmsprop_formula(p, g, s, centred), square=1.0, mean=0.0, momentum=0.0))
    moments = lambda name: {name + "_m": kept("exp_avg"), name + "_v": kept("exp_avg_sq")}
    Training("adam", "optim.Adam", "adam", moments("adam"), optim("Adam", lr=0.01), epsilon_before(1e-8, 0.999))
    Training("adam_epsilon", "optim.Adam", "adam", moments("adam"), optim("Adam", lr=0.01, betas=(0.8, 0.99)),
             epsilon_before(1e-2, 0.99))
    Training("adamw", "optim.AdamW", "adamw", moments("adamw"), optim("AdamW", lr=0.01, weight_decay=0.1),
             epsilon_before(1e-8, 0.999))
    for name, numbers in (("ftrl", dict(power=-0.5, l1=1e-3, l2=1e-2, shrinkage=1e-3)),
                          ("ftrl_power", dict(power=-0.3, l1=0, l2=0, shrinkage=0))):
        Training(name, "formula", "ftrl", {"ftrl_accumulator": kept("n", 0.1), "ftrl_linear": kept("l")},
                 lambda parameters, numbers=numbers: Formula(
                     parameters, lambda p, g, s: ftrl_formula(p, g, s, 0.1, **numbers), n=0.1, l=0.0))

    def clip_norm(groups_of, bound):
        # PyTorch adds 1e-6 to the norm.
        def before(optimizer, step, parameters):
            for group in groups_of(parameters):
                norm = torch.nn.utils.get_total_norm([p.grad for p in group])
                torch.nn.utils.clip_grads_with_norm_(group, bound, norm - 1e-6)
        return before

    def clip_value(optimizer, step, parameters):
        for p in parameters:
            p.grad.clamp_(-0.02, 0.03)

    Training("clip_by_value", "Tensor.clamp_, optim.SGD", "sgd", {}, optim("SGD", lr=0.3), clip_value)
    Training("clip_by_norm", "nn.utils.clip_grads_with_norm_, optim.SGD", "sgd", {}, optim("SGD", lr=0.3),
             clip_norm(lambda parameters: [[p] for p in parameters], 0.1))
    Training("clip_by_global_norm", "nn.utils.clip_grads_with_norm_, optim.SGD", "sgd", {}, optim("SGD", lr=0.3),
             clip_norm(lambda parameters: [parameters], 0.2))


# Where formulas have corners: equal numbers, zeros, what overflows exponentials, variances of 0.

def add_corners():
    variant("corners", "activations", x=among([0, 0.5, -0.5, 30, -30, 300, -300], 5, 7))
    variant("ties", "max_pool", x=among([0, 1, 2], 2, 9, 8, 4))
    variant("one_row", "embedding", ids=full(7, 4, 5))
    variant("constant", "layer_norm", ["l/gamma/momentum"], x=full(0.75, 3, 4, 6))
    variant("constant", "group_norm", ["l/gamma/momentum"], x=full(0.75, 2, 9, 8, 4))
    variant("constant", "batch_norm", ["l/gamma/momentum"], x=full(0.75, 5, 7))
    variant("zeros", "rms_norm", x=full(0.0, 3, 4, 6))
    variant("large", "attention", x=among([4, -4, 1], 2, 5, 6))
    variant("large", "lstm", x=among([4, -4, 1], 2, 5, 6))
    variant("equal", "mean_absolute_error", x=among([0, 1], 6, 5), t=among([0, 1], 6, 5))
    variant("corners", "huber_loss", x=among([0, 1, 2], 6, 5), t=among([0, 1], 6, 5))
    variant("corners", "hinge_loss", x=among([-1, 1, 0, 2], 6, 5))
    variant("corners", "log_loss", x=among([0, 1, 0.5], 6, 5))
    variant("large", "cross_entropy", x=among([0, 1000, -1000, 3], 6, 5))
    variant("large", "cross_entropy_smoothed", x=among([0, 1000, -1000, 3], 6, 5))
    variant("large", "sigmoid_cross_entropy", x=among([0, 1000, -1000, 3], 6, 5))
    variant("one_weight", "mean_squared_error_row_weights", w=lambda g: torch.eye(6)[2])


for add in (add_layers, add_sequences, add_losses, add_metrics, add_optimizers, add_corners):
    add()
