"""What else a decoding step could be made of: int8 weights and torch.compile, beside what the package does.

    python benchmarks/alternatives.py

prints sentences a second for base size, random weights, beam 4, forced length, all in one run. int8 is torch's dynamic
quantisation (weights by output row, inputs as they come), for all products of the decoder and the projection; compiled
are the parts of a step that are many small operations.
"""

import argparse
from collections.abc import Callable

import torch
from generate import base_model, seconds, show

from vaswani_mt import decoding_vaswani
from vaswani_mt.decoding_vaswani import DecoderWeights

PRODUCTS = ("qkv", "own_out", "cross_q", "cross_kv", "cross_out", "fc1", "fc2")


class Int8Linear:
    """Stands in for a float32 `_Linear`."""

    def __init__(self, linear):
        self.size, self.activation = linear.size, linear.activation
        scales = linear.weight.detach().abs().amax(1).clamp(min=1e-8).div(127).double()
        zeros = torch.zeros_like(scales, dtype=torch.long)
        weight = torch.quantize_per_channel(linear.weight.detach(), scales, zeros, 0, torch.qint8)
        bias = None if linear.bias is None else linear.bias.detach()
        self.packed = torch.ops.quantized.linear_prepack(weight, bias)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        output = torch.ops.quantized.linear_dynamic(states, self.packed, reduce_range=False)
        return output if self.activation is None else self.activation(output)


def to_int8(weights: DecoderWeights) -> None:
    """Replace the products of `weights`, which are float32, in place."""
    for layer in weights.layers:
        for name in PRODUCTS:
            setattr(layer, name, Int8Linear(getattr(layer, name)))
    weights.projection.pieces = [Int8Linear(piece) for piece in weights.projection.pieces]


def compile_small_parts() -> None:
    """From here on residual + LayerNorm and attention of a step are compiled, for any size."""
    norm, decoder = decoding_vaswani._Norm, decoding_vaswani.IncrementalDecoder
    torch._dynamo.config.recompile_limit = 64
    norm.__call__ = torch.compile(norm.__call__, dynamic=True)
    decoder._attend = torch.compile(decoder._attend, dynamic=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    model = base_model()
    ids = torch.randint(4, model.config.vocab_size, (arguments.batch, 28), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    settings = {"num_beams": 4, "max_new_tokens": 32, "min_new_tokens": 32, "do_sample": False}

    def rate(name: str, prepare: Callable[[], None] = lambda: None) -> None:
        prepare()
        took = seconds(lambda: model.generate(**inputs, **settings), arguments.repeats)
        show(name, arguments.batch, took)

    with torch.inference_mode():
        rate("float32")
        rate("int8", lambda: to_int8(DecoderWeights.of(model)))
        model = model.to(torch.bfloat16)
        rate("bfloat16")
        rate("bfloat16, compiled", compile_small_parts)


if __name__ == "__main__":
    main()
