"""Mutations of bytes: bits, numbers, cuts, repetitions, words that mean something to a parser."""

from __future__ import annotations

import numpy as np

NUMBERS = (b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4,
           b"\x7f" + b"\xff" * 7)  # fmt: skip
WORDS = (
    b",", b"\n", b"\r", b'"', b"\0", b"inf", b"nan", b"1e999", b"\xff", b"9" * 400, b"-1", b"0",
    b"<", b">", b"</link>", b"&", b"&a ", b"*a", b"{", b"}", b"[", b"]", b": ", b"- ", b"!!int ",
    b"<<: ", b"'", b"\t", b"\xed\xa0\xbd", b"\x1b[2J", b"${", b"\xe2\x80\xae", b"1e-320",
)  # fmt: skip


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes with one to twenty mutations; the head, where counts stand, as often as the rest."""
    found = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 5, 20]))):
        size = max(len(found), 1)
        at = int(rng.integers(size if rng.random() < 0.5 else min(size, 600)))
        kind, length = rng.integers(8), int(rng.choice([1, 2, 8, 100, 5000]))
        if kind == 0 and found:
            found[at] ^= 1 << int(rng.integers(8))
        elif kind == 1 and found:
            found[at] = int(rng.integers(256))
        elif kind == 2:
            word = NUMBERS[rng.integers(len(NUMBERS))]
            found[at : at + len(word)] = word
        elif kind == 3:
            del found[at : at + length]
        elif kind == 4:
            other = int(rng.integers(size))
            found[at:at] = found[other : other + length]
        elif kind == 5 and rng.random() < 0.3:
            del found[at:]
        else:
            found[at:at] = WORDS[rng.integers(len(WORDS))]
    return bytes(found) or b"\0"
