"""Bags whose containers are right and whose JointStates lie."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hostile.cases import (
    COUNT,
    DATA,
    LENGTHS_32,
    NAMES,
    A,
    Case,
    Cases,
    Make,
    Q,
    V,
    bag_of,
    joint_state,
)

BYTES = tuple(name.encode() + b"\0" for name in NAMES)
NAN, INF = float("nan"), float("inf")
DAMAGED = "100 damaged messages"
MANY = [b"n%05d\0" % k for k in range(4096)]


def middle(**lies: object) -> Make:
    """A bag of which the second hundred of messages has lies."""
    return bag_of([
        joint_state(k,
        **lies) if 100 <= k < 200 else DATA[k] for k in range(COUNT)  # type: ignore[arg-type]
    ])  # fmt: skip


def with_positions(q: object) -> Make:
    """The same with other positions."""
    return one_by_one(lambda k: joint_state(k, lists=(q, V[k], A[k])))  # type: ignore[arg-type]


def one_by_one(change: Callable[[int], bytes]) -> Make:
    """A bag whose second hundred of messages comes from a function of the number."""
    return bag_of([change(k) if 100 <= k < 200 else DATA[k] for k in range(COUNT)])


def turned(k: int) -> bytes:
    """Joints in another order, and one more."""
    order = (2, 0, 1)
    lists = [np.append(x[k][list(order)], 9.0) for x in (Q, V, A)]
    return joint_state(k, names=[*(BYTES[i] for i in order), b"finger\0"], lists=lists)


def of_many_names(folder: Path) -> Path:
    """A million names, which are made only when they are read."""
    return bag_of([
        joint_state(k, names=[b"%d_" % k + name for name in MANY], lists=[()] * 3)
        for k in range(250)
    ])(folder)  # fmt: skip


CASES: Cases = {
    "whole": Case("the good messages", bag_of(DATA), COUNT),
    "big endian": Case("another order of bytes", middle(order=">"), COUNT),
    "wrong order": Case("big endian that says it is little", middle(order=">", head=b"\0\1\0\0"),
        200, DAMAGED),
    "PL_CDR": Case("a parameter list", middle(head=b"\0\3\0\0"), 200, DAMAGED),
    "PL_CDR big endian": Case("a parameter list, big endian", middle(head=b"\0\2\0\0"), 200,
        DAMAGED),
    "XCDR2": Case("the encoding of DDS-XTypes, with other alignment", middle(head=b"\0\7\0\0"),
        200, DAMAGED),
    "unknown encoding": Case("an encapsulation that does not exist", middle(head=b"\xff\xff\0\0"),
        200, DAMAGED),
    "options": Case("options of the encapsulation are to be ignored",
        middle(head=b"\0\1\xff\xff"), COUNT),
    "empty": Case("messages without a byte", one_by_one(lambda k: b""), 200, DAMAGED),
    "head only": Case("messages of four bytes", one_by_one(lambda k: DATA[k][:4]), 200, DAMAGED),
    "no end": Case("messages that lack their last byte", one_by_one(lambda k: DATA[k][:-1]), 200,
        DAMAGED),
    "all cuts": Case("messages cut at every byte",
        one_by_one(lambda k: DATA[k][: len(DATA[k]) * (k - 100) // 100]), 200, DAMAGED),
    "reserved bytes": Case("padding behind the message", middle(tail=b"\x5a\x5a\x5a"), COUNT),
    "longer": Case("a message with a field more", middle(tail=bytes(8)), 200, DAMAGED),
    "another type": Case("the bytes of a String", one_by_one(
        lambda k: b"\0\1\0\0" + struct.pack("<I", 6) + b"hello\0"), 200, DAMAGED),
    "random": Case("noise", one_by_one(lambda k: np.random.default_rng(k).bytes(len(DATA[k]))),
        200, DAMAGED),
    "NaN": Case("positions that are not numbers", with_positions([NAN] * 3), COUNT),
    "infinity": Case("positions that are infinite", with_positions([INF] * 3), COUNT),
    "signalling NaN": Case("NaN of other bits", with_positions(
        np.array([0x7FF0000000000001] * 3, np.uint64).view(float)), COUNT),
    "denormal": Case("the smallest numbers", with_positions([5e-324] * 3), 200, "", 100),
    "empty lists": Case("no numbers at all", middle(lists=((), (), ())), COUNT),
    "short list": Case("fewer positions than names", with_positions((1.0, 2.0)), COUNT),
    "long list": Case("more efforts than names", one_by_one(
        lambda k: joint_state(k, lists=(Q[k], V[k], [1.0] * 9))), COUNT),
    "no names": Case("numbers without names", middle(names=()), 200, "messages of other devices"),
    "missing joint": Case("one of the joints is missing",
        middle(names=BYTES[:2], lists=[[1.0] * 2] * 3), 200,
                          "100 messages without all joints"),
    "another device": Case("a gripper's joint", middle(names=(b"finger\0",), lists=[[1.0]] * 3),
        200,
                           "100 messages of other devices"),
    "turned": Case("joints in another order and one more", one_by_one(turned), COUNT),
    "joint twice": Case("a joint named twice, with two positions",
                        middle(names=(*BYTES, BYTES[0]), lists=[[1.0, 2.0, 3.0, 4.0]] * 3), 200,
                        DAMAGED),
    "others twice": Case("another joint named twice is nobody's", one_by_one(lambda k: joint_state(
        k, names=(*BYTES, b"x\0", b"x\0"), lists=[[*x[k], 1.0, 2.0] for x in (Q, V, A)])), COUNT),
    "no closing zero": Case("joint_12 without its zero is not joint_1",
                            middle(names=(b"joint_12", *BYTES[1:])), 200, DAMAGED),
    "zero within": Case("a name with a zero in it is another name",
                        middle(names=(b"joint_1\0\0", *BYTES[1:])), 200, "without all joints"),
    "not UTF-8": Case("a name of bytes", middle(names=(b"\xff\xfe\0", *BYTES[1:])), 200, DAMAGED),
    "surrogate": Case("half of a pair in a name", middle(names=(b"\xed\xa0\x80\0", *BYTES[1:])),
        200, DAMAGED),
    "escape": Case("a name that clears the terminal", middle(names=(b"\x1b[2J\0", *BYTES[1:])),
        200,
                   "without all joints"),
    "empty name": Case("a joint without a name", middle(names=(b"\0", *BYTES[1:])), 200,
        "without all joints"),
    "no byte": Case("a name of no byte, not even a zero", middle(names=(b"", *BYTES[1:])), 200,
        DAMAGED),
    "long name": Case("a name of 10 000 letters",
        middle(names=(b"x" * 10_000 + b"\0", *BYTES[1:])), 200, DAMAGED),
    "long frame": Case("a frame's name of 4000 letters", middle(frame=b"x" * 4000 + b"\0"), COUNT),
    "frame without zero": Case("a frame without its zero", middle(frame=b"base"), 200, DAMAGED),
    "names apart": Case("other names in every message", one_by_one(lambda k: joint_state(
        k, names=(*BYTES, b"x%d\0" % k), lists=[[*x[k], 1.0] for x in (Q, V, A)])), COUNT),
    "4096 layouts": Case("every message has other names: each with each is 16 million", bag_of([
        *DATA, *(joint_state(0, names=(b"x%06d\0" % k,),
        lists=[[1.0]] * 3) for k in range(8000))]), COUNT,
        "8000 messages of other devices", heavy=True),
    "million names": Case("an error must not compare with each of a million names", of_many_names,
        None, "no joint joint_1"),
    "long names in an error": Case("an error must not quote a megabyte", bag_of([
        joint_state(k, names=[b"%d" % k + b"x" * 4000 + b"\0"] * 100,
        lists=[()] * 3) for k in range(20)]), None,
        "no joint joint_1"),
    "second of 1.5": Case("nanoseconds beyond a second", middle(nanoseconds=1_500_000_000), 200,
        DAMAGED),
    "latest nanosecond": Case("nanoseconds of 2^32-1", middle(nanoseconds=2**32 - 1), 200,
        DAMAGED),
    "before 1970": Case("seconds of -2^31", middle(seconds=-(2**31)), 200, "", 100),
    "year 2038": Case("seconds of 2^31-1", middle(seconds=2**31 - 1), 200, "", 100),
    "one time": Case("all messages at one time", bag_of([
        joint_state(k, seconds=5, nanoseconds=5) for k in range(50)]), None,
        "none later than the first"),
    "backwards": Case("times that fall", bag_of(DATA[::-1]), None, "none later than the first"),
    "zeros": Case("all messages of zeros", bag_of([bytes(200)] * 50), None, "holds no"),
    "last is whole": Case("one whole message among 5000 damaged ones",
                          bag_of([b"x"] * 5000 + DATA[:2]), 2, "5000 damaged messages"),
}  # fmt: skip
for size in LENGTHS_32:
    CASES |= {
        f"{size} names": Case("the number of names", middle(count=size), 200, "100 "),
        f"{size} positions": Case(
            "the number of positions", middle(sizes={0: size}), 200, DAMAGED
        ),
        f"{size} efforts": Case("the number of efforts", middle(sizes={2: size}), 200, DAMAGED),
        f"name of {size}": Case("the length of a name", middle(lengths={1: size}), 200, DAMAGED),
    }
