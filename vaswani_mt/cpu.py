"""What training on CPUs needs that GPUs do not."""

import ctypes
import time

import torch

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3  # <malloc.h>


def keep_freed_memory() -> bool:
    """Let the C library keep the memory of freed tensors for the next ones, instead of handing it to the kernel.

    By default glibc maps every tensor of some MiB anew, and the kernel fills it with zeros page by page: up to a third
    of a training step on CPU. The process's peak stays what it is; it only does not shrink in between.

    Returns:
        whether it took effect: False where the C library is not glibc.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    limit = 2**30
    settings = ((M_MMAP_THRESHOLD, limit), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 2**26))
    return all(mallopt(name, value) == 1 for name, value in settings)


def bf16_speedup(size: int = 768) -> float:
    """How many times as fast as float32 this CPU multiplies bfloat16 matrices [size, size], forwards and backwards.

    Above 1 with AMX; below it on many processors that have AVX512-BF16 only, and on all that emulate the type.
    """
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.randn(size, size, dtype=dtype), torch.randn(size, size, dtype=dtype)
        trials = []
        for _ in range(5):
            start = time.perf_counter()
            left @ right
            left.t() @ right
            trials.append(time.perf_counter() - start)
        seconds[dtype] = min(trials)
    return seconds[torch.float32] / seconds[torch.bfloat16]
