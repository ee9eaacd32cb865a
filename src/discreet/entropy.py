"""The source of randomness: the operating system's, stretched by AES.

This is the only file that reads the operating system's randomness, and nothing here takes a seed. A call for noise
makes one `Keystream`, uses it, and drops it. No random state outlives the call, so there is none for a fork, a
thread or a core dump taken later to share.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from cryptography.hazmat.primitives.ciphers import CipherContext
    from numpy.typing import NDArray

KEY_LIFETIME = 1 << 24
"""Bytes that are drawn under one key. AES in counter mode never repeats a block, which true randomness might: over
2^20 blocks that tells the two apart with probability at most 2^40 / 2^129."""

_PIECE = 1 << 18
_ZEROS = memoryview(bytes(_PIECE))
_SPARE = 2  # words: `update_into` may ask for a block more than it fills


class Words(Protocol):
    """A source of random bits for samplers; in production always a `Keystream`."""

    @property
    def width(self) -> int:
        """How many random bits a word holds; at most 63, so that a word is a non-negative int64."""

    def words(self, count: int) -> NDArray[np.int64]:
        """The next `count` words: independent and uniform in [0, 2^width)."""


class Keystream:
    """Uniform 63-bit words: AES-256 in counter mode, under keys of 256 bits from the operating system.

    Guarantee: words are uniform and independent, as far as AES is a good cipher. A key serves `KEY_LIFETIME` bytes
    and one process: should the process fork in the middle of a draw, each side goes on under a key of its own.
    Belongs to the thread that made it.

    Source: NIST SP 800-38A, section 6.5 (counter mode).

    Examples:
        >>> Keystream().words(3).shape
        (3,)
    """

    __slots__ = ("_cipher", "_left", "_process")

    width = 63

    def __init__(self) -> None:
        self._rekey()

    def words(self, count: int) -> NDArray[np.int64]:
        """The next `count` words: independent and uniform in [0, 2^63)."""
        import numpy as np  # not above: a client, which only needs some fresh bytes, has no use for it

        words = np.empty(count + _SPARE, dtype=np.uint64)
        octets = words.data.cast("B")
        done, end = 0, 8 * count
        while done < end:
            if self._left == 0 or self._process != os.getpid():
                self._rekey()
            piece = min(end - done, _PIECE, self._left)
            self._cipher.update_into(_ZEROS[:piece], octets[done:])
            self._left -= piece
            done += piece
        np.right_shift(words, 1, out=words)
        return words[:count].view(np.int64)

    def _rekey(self) -> None:
        """Start again under a key that no one has seen. It is never used again, so the counter may start at zero."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = os.urandom(32)
        self._cipher: CipherContext = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self._left = KEY_LIFETIME
        self._process = os.getpid()


def fresh_bytes(count: int) -> bytes:
    """Random bytes straight from the operating system, for salts and keys.

    Args:
        count: how many; 0 or more.

    Examples:
        >>> len(fresh_bytes(16))
        16
    """
    return os.urandom(count)
