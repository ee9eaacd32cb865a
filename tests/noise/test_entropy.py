"""The source of randomness: uniform, fresh in every process and thread, rekeyed, and without a seed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import log, sqrt

import numpy as np
import pytest

from discreet import entropy, noise
from discreet.entropy import KEY_LIFETIME, Keystream, fresh_bytes
from discreet.noise import discrete_gaussian, discrete_laplace

FORKS = """
import os, sys
from discreet.noise import discrete_laplace
from discreet.entropy import Keystream

stream = Keystream()
stream.words(5)
discrete_laplace(2**40, size=4)
children = []
for _ in range(2):
    read, write = os.pipe()
    if os.fork() == 0:
        words = [*stream.words(4).tolist(), *discrete_laplace(2**40, size=4).tolist(), discrete_laplace(2**40)]
        os.write(write, repr(words).encode())
        os._exit(0)
    os.wait()
    print(os.read(read, 4096).decode())
print([*stream.words(4).tolist(), *discrete_laplace(2**40, size=4).tolist(), discrete_laplace(2**40)])
"""


def test_words_fit_their_width() -> None:
    """Words are int64 in [0, 2^63), and as many as asked for, none included."""
    source = Keystream()
    for count in (0, 1, 2, 3, 1000, 40_000):
        words = source.words(count)
        assert words.dtype == np.int64
        assert words.shape == (count,)
        assert (words >= 0).all()


def test_every_bit_is_fair() -> None:
    """Each of the 63 bits is set in half of 2^20 words, and so is its change to the next word and to the next bit.

    By Hoeffding's inequality a count of fair bits strays from its mean by more than √(n·log(2/α)/2) with probability
    at most α; here 189 counts share a false alarm of 1e-9. Bits set in 51 % of words would be found out, and are.
    """
    count = 2**20
    allowed = sqrt(count * log(2 * 189 / 1e-9) / 2)
    words = Keystream().words(count + 1)
    for change in (words[:-1], words[:-1] ^ words[1:], words[:-1] ^ (words[:-1] >> 1)):
        set_bits = np.array([((change >> bit) & 1).sum() for bit in range(63)])
        assert np.abs(set_bits - count / 2).max() <= allowed
    assert 0.01 * count > 2 * allowed


def test_keystreams_share_nothing() -> None:
    """Two keystreams, and two stretches of one, have no word in common, but for 5e-11."""
    one, two = Keystream(), Keystream()
    words = np.concatenate([one.words(10_000), one.words(10_000), two.words(10_000)])
    assert len(np.unique(words)) == 30_000


def test_a_key_serves_a_stated_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new key is taken from the operating system for every `KEY_LIFETIME` bytes, in the middle of a request too."""
    sizes: list[int] = []
    urandom = os.urandom

    def counted(size: int) -> bytes:
        sizes.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    source = Keystream()
    words = KEY_LIFETIME // 8
    source.words(words - 1)
    assert sizes == [32]
    source.words(2)
    assert sizes == [32, 32]
    source.words(3 * words)
    assert sizes == [32] * 5


def test_every_call_has_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No random state outlives a call: each call for noise reads 32 bytes from the operating system."""
    sizes: list[int] = []
    urandom = os.urandom

    def counted(size: int) -> bytes:
        sizes.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    for calls in range(1, 4):
        discrete_laplace(1)
        assert sizes == [32] * calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_forked_children_draw_different_noise() -> None:
    """Two children forked in the middle of a keystream, and their parent, draw different words and noise.

    But for 3e-11.
    """
    run = subprocess.run([sys.executable, "-c", FORKS], check=True, capture_output=True, text=True)
    words = [word for line in run.stdout.splitlines() for word in line.strip("[]").split(", ")]
    assert len(words) == 27
    assert len(set(words)) == 27


def test_threads_draw_different_noise() -> None:
    """Eight threads that draw at once, floats and balls mixed, share no value."""

    def draw(_: int) -> list[int]:
        return [*discrete_laplace(2**60, size=2000).tolist(), *discrete_gaussian(2**52, size=500).tolist()]

    with ThreadPoolExecutor(8) as pool:
        draws = [value for values in pool.map(draw, range(16)) for value in values]
    assert len(draws) == 16 * 2500
    assert len(set(draws)) >= len(draws) - 1  # one pair meets with probability below 1e-8, two below 1e-15


def test_fresh_bytes_are_fresh() -> None:
    """Bytes for salts and keys have the asked length and don't repeat, but for 2^-109."""
    assert [len(fresh_bytes(size)) for size in (0, 1, 32)] == [0, 1, 32]
    assert len({fresh_bytes(16) for _ in range(1000)}) == 1000


SHAPES = {
    "bernoulli_odds": ["x", "against"],
    "bounded_laplace": ["scale", "low", "high"],
    "categorical": ["scores", "rate", "weights"],
    "finite": ["ends", "bits"],
    "staircase": ["scale", "width", "first"],
    "truncated_laplace": ["scale", "reach"],
}
"""What laws of more than one parameter take."""


def test_samplers_take_no_source() -> None:
    """The public samplers take what they draw and how many, and nothing that could choose the outcome."""
    for name in noise.__all__:
        parameters = list(inspect.signature(getattr(noise, name)).parameters)
        assert parameters[-1] == "size"
        assert len(parameters) == 2 or parameters[:-1] == SHAPES[name]
    assert not any(isinstance(value, Keystream) for value in vars(entropy).values())


def test_importing_noise_is_cheap() -> None:
    """`import discreet.noise` loads neither flint nor cryptography: the first draw does."""
    program = "import sys, discreet.noise; print({'flint', 'cryptography'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "set()"
