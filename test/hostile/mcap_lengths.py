"""MCAP files in which one length or count has each of the values that break readers."""

from __future__ import annotations

import struct

from hostile.cases import COUNT, LENGTHS, LENGTHS_32, Case, Cases
from hostile.mcap import (
    CUT,
    END,
    FOOTER,
    KNOWN,
    LOST,
    PARTS,
    SECOND,
    WHOLE,
    channel,
    chunk,
    index,
    mcap,
    message,
    record,
    schema,
    text,
    three,
)

SOME = (0, COUNT)
ANY = f"{LOST}|{CUT}|messages|behind its end|defined twice|damaged"

CASES: Cases = {}
for size in LENGTHS:
    CASES |= {
        f"chunk of {size}": Case("the length of a chunk's record", three(
            chunk(SECOND, length=size) + index(100)), (100, 200), ANY),
        f"records of {size}": Case("the length of a chunk's contents", three(
            chunk(SECOND, size=size) + index(100)), 200, LOST),
        f"zstd records of {size}": Case("the same, compressed", three(
            chunk(SECOND, "zstd", size=size) + index(100), packed="zstd"), 200, LOST),
        f"stated {size}": Case("the stated size of a chunk", three(
            chunk(SECOND, "lz4", stated=size, check=0) + index(100), packed="lz4"), 200, LOST),
        f"message of {size}": Case("the length of a message's record", mcap(
            KNOWN, PARTS[0], record(5, message(100)[9:], size), PARTS[1], PARTS[2]), (100, 200),
            ANY),
        f"message of {size} in a chunk": Case("the same in a chunk", three(
            chunk(PARTS[1][:-len(message(199))] + record(5, message(199)[9:], size),
            check=0) + index(100)),
            299, LOST),
        f"schema of {size}": Case("the length of a schema's record", mcap(
            KNOWN, PARTS[0], record(3, schema(2)[9:], size), PARTS[1]), (100, 200), ANY),
        f"channel of {size}": Case("the length of a channel's record", mcap(
            KNOWN, PARTS[0], record(4, channel(2)[9:], size), PARTS[1]), (100, 200), ANY),
        f"header of {size}": Case("the length of the header", mcap(
            KNOWN, PARTS[0], head=b"\x89MCAP0\r\n" + record(1, text("ros2") + text("x"), size)),
            None, "cut off|nothing in it|no topic"),
        f"footer of {size}": Case("the length of the footer", three(
            WHOLE, tail=END + KNOWN + record(2, bytes(20), size) + FOOTER[-8:]), COUNT, ANY),
        f"statistics of {size}": Case("the length of the statistics", three(
            WHOLE, tail=END + KNOWN + record(11, bytes(46), size) + FOOTER), COUNT, ANY),
        f"when {size}": Case("the time of receiving: headers count", mcap(
            KNOWN, *PARTS[:2], *(message(k, when=size) for k in range(200, 300))), COUNT),
    }  # fmt: skip
for size in LENGTHS_32:
    CASES |= {
        f"compression of {size}": Case("the length of a compression's name", three(
            chunk(SECOND, named=struct.pack("<I", size) + b"zstd") + index(100)),
            None if size == 1 else 200, "compressed as 'z'" if size == 1 else LOST),
        f"index of {size}": Case("the length of an index; a damaged one is none", three(
            chunk(SECOND) + index(100, size=size)), COUNT, "" if size > 2**30 else LOST),
        f"topic of {size}": Case("the length of a topic's name", mcap(
            schema(), channel(1, size=size), *PARTS, tail=END + FOOTER), None, "no topic"),
        f"type of {size}": Case("the length of a type's name", mcap(
            schema(size=size), channel(), *PARTS, tail=END + FOOTER), None, "no topic"),
    }  # fmt: skip
