"""The network as two ONNX graphs, for decoding without torch: structure only, no weights.

Shapes: B trajectories, S samples of each, N = B * S sequences, T tokens written at once, K blocks of C tokens
in the cache, P points, W width, H heads, V vocabulary.

    encoder   points, trajectory (B, P), roles (B, MAX_DIMENSION), which the paper's embedder does not read
              -> key.i (B, H, W / H, P) and value.i (B, H, P, W / H) of every decoder layer
    decoder   tokens (N, T), positions (T,), mask (T, K * C + T), key.i, value.i, and the cache past_key.i,
              past_value.i (K, N, H, C, W / H) -> logits (N, T, V), new_key.i, new_value.i (N, H, T, W / H)

The cache comes in blocks so that it grows without being copied.

The weights are *external* initializers under the names of the weights file, and whoever opens the graphs
supplies them.  The linear maps of the layers multiply 8-bit integers: each row of the input is rounded by its
own largest value, so that a sequence depends neither on the others in the batch nor on the processor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.data.units import T_END, T_START
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.presets import NetworkSettings

OPSET = 17  # of ONNX 1.12, which every onnxruntime since 1.12 reads
IR_VERSION = 8
MICROSOFT = "com.microsoft"  # onnxruntime's own operators
TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int64": TensorProto.INT64,
}
Weights = Mapping[str, tuple[str, tuple[int, ...]]]  # type and shape of each tensor of the weights file
Inputs = dict[str, tuple[str, list[Any]]]  # type and shape of each input of a graph


class Builder:
    """A graph that is being written: every method adds nodes and returns the name of the result."""

    def __init__(self, settings: NetworkSettings, weights: Weights):
        self.settings = settings
        self.weights = weights
        self.head_width = settings.width // settings.heads
        self.nodes: list[Any] = []
        self.initializers: dict[str, TensorProto] = {}

    def add(
        self, operator: str, *inputs: str, domain: str = "", output: str | None = None, **attributes: Any
    ) -> str:
        """One node with one output; output: its name if it is a result of the graph."""
        name = output or f"{operator}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, value: ArrayLike, kind: type[np.generic] = np.float32) -> str:
        """A number or short list of numbers that is stored in the graph itself."""
        array = np.asarray(value, dtype=kind)
        name = f"{kind.__name__} {array.tolist()}"
        self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def weight(self, name: str) -> str:
        """A tensor of the weights file."""
        kind, shape = self.weights[name]
        tensor = TensorProto(name=name, data_type=TYPES[kind], dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self.initializers[name] = tensor
        return name

    def norm(self, x: str, width: int) -> str:
        """RMS norm of rows of this width, in the pattern that onnxruntime fuses into one operator."""
        mean = self.add("ReduceMean", self.add("Pow", x, self.constant(2.0)), axes=[-1], keepdims=1)
        normed = self.add("Div", x, self.add("Sqrt", self.add("Add", mean, self.constant(1e-6))))
        ones = f"ones {width}"
        self.initializers[ones] = numpy_helper.from_array(np.ones(width, np.float32), ones)
        return self.add("Mul", normed, ones)

    def linear(self, x: str, *names: str, positive: bool = False) -> list[str]:
        """The linear maps of these names, all of the same input, in integers or in full precision."""
        if names[0] + ".int8" not in self.weights:
            return [
                self.add("MatMul", x, self.add("Transpose", self.weight(name), perm=[1, 0])) for name in names
            ]
        # Inputs become 0 ... 127, signed ones around 64.  A processor without VNNI adds pairs of products in
        # 16 bits; larger inputs would overflow there, and results would depend on the processor.
        size = self.add("ReduceMax", x if positive else self.add("Abs", x), axes=[-1])
        size = self.add("Max", size, self.constant(1e-30))  # a row of zeros
        unit = self.constant(1.0 / 127.0 if positive else 1.0 / 63.0)
        middle = self.constant(0 if positive else 64, np.uint8)
        rounded = self.add("QuantizeLinear", self.add("Div", x, size), unit, middle)
        results = []
        for name in names:
            inputs = (self.weight(name + ".int8"), unit, self.weight(name + ".scale"), middle)
            product = self.add("MatMulIntegerToFloat", rounded, *inputs, domain=MICROSOFT)
            results.append(self.add("Mul", product, size))
        return results

    def rows(self, x: str, output: str | None = None) -> str:
        """Heads (a, b, H, W / H) as rows (a, H, b, W / H)."""
        return self.add("Transpose", x, perm=[0, 2, 1, 3], output=output)

    def columns(self, x: str, output: str | None = None) -> str:
        """Heads (a, b, H, W / H) as columns (a, H, W / H, b)."""
        return self.add("Transpose", x, perm=[0, 2, 3, 1], output=output)

    def heads(self, x: str, shape: str, output: str | None = None) -> str:
        """Rows (a * b, W) as (a, H, b, W / H), where `shape` is (a, b, H, W / H)."""
        return self.rows(self.add("Reshape", x, shape), output)

    def keys(self, x: str, shape: str) -> str:
        """Normalised keys (a, b, H, W / H)."""
        return self.norm(self.add("Reshape", x, shape), self.head_width)

    def query(self, x: str, shape: str, name: str) -> str:
        """Normalised queries (a, H, b, W / H), times the sharpness of each head and 1 / sqrt(W / H)."""
        gain = self.add("Reshape", self.weight(name + ".gain"), self.constant([1, -1, 1, 1], np.int64))
        sharpness = self.add("Mul", gain, self.constant(3.0 / math.sqrt(self.head_width)))
        return self.add("Mul", self.norm(self.heads(x, shape), self.head_width), sharpness)

    def joined(self, x: str) -> str:
        """Heads (a, H, b, W / H) back as rows (a * b, W)."""
        rows = self.constant([-1, self.settings.width], np.int64)
        return self.add("Reshape", self.rows(x), rows)

    def feed_forward(self, x: str, name: str) -> str:
        (hidden,) = self.linear(self.norm(x, self.settings.width), name + ".enter.weight")
        hidden = self.add("Relu", hidden)
        (out,) = self.linear(self.add("Mul", hidden, hidden), name + ".leave.weight", positive=True)
        return self.add("Add", x, out)

    def shape(self, first: str) -> str:
        """The shape (*first, H, W / H)."""
        return self.add(
            "Concat", first, self.constant([self.settings.heads, self.head_width], np.int64), axis=0
        )

    def model(self, inputs: Inputs, outputs: list[str]) -> ModelProto:
        """The finished graph."""
        graph: GraphProto = helper.make_graph(
            self.nodes,
            "odefinder",
            [helper.make_tensor_value_info(name, TYPES[kind], dims) for name, (kind, dims) in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            list(self.initializers.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _points(graph: Builder) -> tuple[str, Inputs]:
    """Embedded points (B, P, W), and the inputs that they come from."""
    row = graph.constant([0, 0, -1], np.int64)
    if graph.settings.embedder == "tokens":
        ids = graph.add("Cast", "points", to=TensorProto.INT64)
        rows = graph.add("Reshape", graph.add("Gather", graph.weight("embedder.tokens.weight"), ids), row)
        read: Inputs = {"points": ("int16", ["B", "P", "numbers", 3])}
    else:
        rows = graph.add("Concat", graph.add("Reshape", _waves(graph), row), _role_flags(graph), axis=-1)
        read = {"points": ("float32", ["B", "P", "numbers"]), "roles": ("int64", ["B", MAX_DIMENSION])}
    (hidden,) = graph.linear(rows, "embedder.enter.weight")
    (out,) = graph.linear(graph.add("Mul", hidden, graph.add("Sigmoid", hidden)), "embedder.leave.weight")
    return out, read


def _waves(graph: Builder) -> str:
    """The features of `WaveEmbedder`, (B, P, numbers, features of each)."""
    number = graph.constant
    last = number([-1], np.int64)
    time, states = (
        graph.add("Slice", "points", number([a], np.int64), number([b], np.int64), last)
        for a, b in ((0, 1), (1, 2**31))
    )
    time = graph.add("Mul", graph.add("Sub", time, number(T_START)), number(2.0 / (T_END - T_START)))
    x = graph.add("Concat", graph.add("Sub", time, number(1.0)), states, axis=-1)
    absent = graph.add("Or", graph.add("IsNaN", x), graph.add("IsInf", x))
    x = graph.add("Unsqueeze", graph.add("Where", absent, number(0.0), x), last)
    present = graph.add("Cast", graph.add("Not", graph.add("Unsqueeze", absent, last)), to=TensorProto.FLOAT)
    angle = graph.add("Mul", x, number(math.pi * 2.0 ** np.arange(graph.settings.waves)))
    logarithm = graph.add("Asinh", graph.add("Mul", x, number(1e3)))
    logarithm = graph.add("Div", logarithm, number(math.asinh(1e3)))
    waves = graph.add("Sin", angle), graph.add("Cos", angle)
    return graph.add("Concat", x, logarithm, present, *waves, axis=-1)


def _role_flags(graph: Builder) -> str:
    """The flags of `WaveEmbedder`, the same for every point: (B, P, 2 * MAX_DIMENSION)."""
    flags = [graph.add("Equal", "roles", graph.constant(code, np.int64)) for code in (UNSEEN, KNOWN)]
    one = graph.add("Cast", graph.add("Concat", *flags, axis=-1), to=TensorProto.FLOAT)
    one = graph.add("Unsqueeze", one, graph.constant([1], np.int64))
    columns = graph.constant([2 * MAX_DIMENSION], np.int64)
    return graph.add("Expand", one, graph.add("Concat", graph.add("Shape", "trajectory"), columns, axis=0))


def encoder_graph(settings: NetworkSettings, weights: Weights) -> ModelProto:
    """From points to the keys and values that the decoder's layers attend to."""
    graph = Builder(settings, weights)
    x, read = _points(graph)
    trajectory = graph.add("Gather", graph.weight("trajectory.weight"), "trajectory")
    x = graph.add("Add", x, trajectory)
    shape = graph.shape(graph.add("Shape", "trajectory"))
    x = graph.add("Reshape", x, graph.constant([-1, settings.width], np.int64))
    for i in range(settings.encoder_layers):
        name = f"encoder.{i}.attention"
        parts = graph.linear(
            graph.norm(x, settings.width), *(f"{name}.{part}.weight" for part in ("query", "key", "value"))
        )
        scores = graph.add(
            "MatMul", graph.query(parts[0], shape, name), graph.columns(graph.keys(parts[1], shape))
        )
        values = graph.heads(parts[2], shape)
        mixed = graph.joined(graph.add("MatMul", graph.add("Softmax", scores, axis=-1), values))
        x = graph.add("Add", x, *graph.linear(mixed, name + ".output.weight"))
        x = graph.feed_forward(x, f"encoder.{i}.feed_forward")
    memory = graph.norm(x, settings.width)
    outputs = []
    for i in range(settings.decoder_layers):
        name = f"decoder.{i}.cross"
        key, value = graph.linear(memory, name + ".key.weight", name + ".value.weight")
        keys = graph.columns(graph.keys(key, shape), f"key.{i}")
        outputs += [keys, graph.heads(value, shape, f"value.{i}")]
    return graph.model(read | {"trajectory": ("int64", ["B", "P"])}, outputs)


def _attended(graph: Builder, query: str, keys: str, values: str, past_keys: str, past_values: str) -> str:
    """What new tokens (N, H, T, W / H) see in the cache (K, N, H, C, W / H) and in each other.

    They attend to both separately, which saves copying the cache.  The new keys come as columns.
    """
    first, last = graph.constant([0], np.int64), graph.constant([-1], np.int64)
    columns = graph.add("Transpose", query, perm=[0, 1, 3, 2])
    old = graph.add("Transpose", graph.add("MatMul", past_keys, columns), perm=[1, 2, 4, 0, 3])
    blocks = graph.add("Shape", old)  # (N, H, T, K, C)
    line = graph.add("Concat", graph.add("Shape", query, start=0, end=3), last, axis=0)
    old = graph.add("Reshape", old, line)
    new = graph.add("MatMul", query, keys)
    attention = graph.add(
        "Softmax", graph.add("Add", graph.add("Concat", old, new, axis=-1), "mask"), axis=-1
    )
    room = graph.add("Shape", old, start=3, end=4)
    old = graph.add("Reshape", graph.add("Slice", attention, first, room, last), blocks, allowzero=1)
    old = graph.add("MatMul", graph.add("Transpose", old, perm=[3, 0, 1, 2, 4]), past_values)
    old = graph.add("ReduceSum", old, first, keepdims=0)
    end = graph.constant([2**31], np.int64)
    return graph.add("Add", old, graph.add("MatMul", graph.add("Slice", attention, room, end, last), values))


def decoder_graph(settings: NetworkSettings, weights: Weights) -> ModelProto:
    """From the tokens written so far to the logits of the next ones."""
    graph = Builder(settings, weights)
    heads = settings.heads
    own = graph.shape(graph.add("Shape", "tokens"))  # (N, T, H, W / H)
    batch = graph.add("Shape", "key.0", start=0, end=1)
    together = graph.shape(graph.add("Concat", batch, graph.constant([-1], np.int64), axis=0))
    tokens = graph.add("Gather", graph.weight("tokens.weight"), "tokens")
    x = graph.add("Add", tokens, graph.add("Gather", graph.weight("positions.weight"), "positions"))
    x = graph.add("Reshape", x, graph.constant([-1, settings.width], np.int64))
    inputs: Inputs = {
        "tokens": ("int64", ["N", "T"]),
        "positions": ("int64", ["T"]),
        "mask": ("float32", ["T", "K * C + T"]),
    }
    new = []
    for i in range(settings.decoder_layers):
        name = f"decoder.{i}.attention"
        parts = graph.linear(
            graph.norm(x, settings.width), *(f"{name}.{part}.weight" for part in ("query", "key", "value"))
        )
        query = graph.query(parts[0], own, name)
        keys = graph.keys(parts[1], own)
        values = graph.heads(parts[2], own, f"new_value.{i}")
        new += [graph.rows(keys, f"new_key.{i}"), values]
        past = f"past_key.{i}", f"past_value.{i}"
        mixed = graph.joined(_attended(graph, query, graph.columns(keys), values, *past))
        x = graph.add("Add", x, *graph.linear(mixed, name + ".output.weight"))
        # The samples of a trajectory attend to one memory, as if they were positions of one sequence.
        name = f"decoder.{i}.cross"
        (query,) = graph.linear(graph.norm(x, settings.width), name + ".query.weight")
        query = graph.query(query, together, name)
        attention = graph.add("Softmax", graph.add("MatMul", query, f"key.{i}"), axis=-1)
        mixed = graph.joined(graph.add("MatMul", attention, f"value.{i}"))
        x = graph.add("Add", x, *graph.linear(mixed, name + ".output.weight"))
        x = graph.feed_forward(x, f"decoder.{i}.feed_forward")
        inputs |= {
            f"key.{i}": ("float32", ["B", heads, graph.head_width, "P"]),
            f"value.{i}": ("float32", ["B", heads, "P", graph.head_width]),
            f"past_key.{i}": ("float32", ["K", "N", heads, "C", graph.head_width]),
            f"past_value.{i}": ("float32", ["K", "N", heads, "C", graph.head_width]),
        }
    (logits,) = graph.linear(graph.norm(x, settings.width), "head.weight")
    size = graph.constant([weights["head.weight"][1][0]], np.int64)
    shape = graph.add("Concat", graph.add("Shape", "tokens"), size, axis=0)
    return graph.model(inputs, [graph.add("Reshape", logits, shape, output="logits"), *new])
