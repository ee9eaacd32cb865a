"""Self-signed certificates: TLS without an authority, for those who were told the certificate's fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from discreet.errors import InvalidArgument
from discreet.private_files import CLOSE, IS_OPEN, is_open, write_private

_DAYS = 365
"""How long a certificate is valid."""

_LEAST = timedelta(days=7)
"""One that ends sooner than this is replaced at the next start."""


@dataclass(frozen=True, slots=True)
class SelfSigned:
    """A certificate that its own key has signed, and the files in which both are.

    Args:
        certificate: its file, in PEM; analysts and their tools may have it.
        key: the file of its private key, which nobody else can read.
        fingerprint: the SHA-256 of the certificate, 64 digits.
        until: the end of its validity.
        names: the hosts and addresses that it is for.
    """

    certificate: Path
    key: Path
    fingerprint: str
    until: datetime
    names: frozenset[str]

    @classmethod
    def made(cls, beside: Path, names: Sequence[str]) -> Self:
        """That beside a file, if it does for these names and isn't about to end; else another, in its place.

        Args:
            beside: the ledger or the configuration; the files are called as it is, and `.tls.crt` and `.tls.key`.
            names: of hosts, and addresses.

        Raises:
            InvalidArgument: others can read the private key, or the files can't be written.
        """
        found = cls.found(beside)
        if found is not None and set(names) <= found.names and found.until - _LEAST > datetime.now(UTC):
            return found
        certificate, key = _files(beside)
        private = ec.generate_private_key(ec.SECP256R1())
        wanted = [*dict.fromkeys([*names, *sorted(found.names if found else ())])]
        try:
            write_private(key, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), replacing=True)
            write_private(certificate, _certificate(private, wanted).public_bytes(Encoding.PEM), replacing=True)
        except OSError as error:
            raise InvalidArgument(f"no certificate can be written beside {beside}: {error.strerror}") from None
        made = cls.found(beside)
        assert made is not None  # noqa: S101 — it was just written
        return made

    @classmethod
    def found(cls, beside: Path) -> Self | None:
        """That beside a file; None if there is none, or none that can be used.

        Raises:
            InvalidArgument: others can read its private key.
        """
        certificate, key = _files(beside)
        if key.exists() and is_open(key):
            raise InvalidArgument(f"the key {str(key)!r} {IS_OPEN}", hint=f"{CLOSE}; or remove it")
        try:
            read = x509.load_pem_x509_certificate(certificate.read_bytes())
            private = load_pem_private_key(key.read_bytes(), password=None)
            named = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except (OSError, TypeError, ValueError, x509.ExtensionNotFound):
            return None
        spki = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if private.public_key().public_bytes(*spki) != read.public_key().public_bytes(*spki):
            return None
        return cls(
            certificate,
            key,
            read.fingerprint(hashes.SHA256()).hex(),
            read.not_valid_after_utc,
            frozenset(str(each.value) for each in named),
        )


def beside(config: Path) -> Path:
    """The place that certificates of a configuration lie beside, where the key of its account does.

    Raises:
        ConfigError: it can't be read.
        InvalidArgument: it names no ledger that there could be.
    """
    from discreet.ledger.location import key_path
    from discreet.tables import load_config

    found = key_path(load_config(config).ledger, config)
    assert found is not None  # noqa: S101 — there is a configuration
    return found.with_suffix("")


def reached_by(url: str, fingerprint: str | None) -> tuple[str, str]:
    r"""The lines by which an analyst connects who keeps a token in a file: of a shell, and of Python.

    Examples:
        >>> print(*reached_by("https://gate.example.org", None), sep="\n")
        discreet connect https://gate.example.org --token-file discreet.token
        dp.connect("https://gate.example.org", "discreet.token")
    """
    option = "" if fingerprint is None else f" --fingerprint {fingerprint}"
    argument = "" if fingerprint is None else f', fingerprint="{fingerprint}"'
    return (
        f"discreet connect {url} --token-file discreet.token{option}",
        f'dp.connect("{url}", "discreet.token"{argument})',
    )


def _files(beside: Path) -> tuple[Path, Path]:
    """The files of a certificate and of its key."""
    return beside.with_name(f"{beside.name}.tls.crt"), beside.with_name(f"{beside.name}.tls.key")


def _certificate(private: ec.EllipticCurvePrivateKey, names: Sequence[str]) -> x509.Certificate:
    """A certificate for these names, of a server and of nothing that it could sign."""
    now, subject = datetime.now(UTC), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "discreet")])
    key = x509.SubjectKeyIdentifier.from_public_key(private.public_key())
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # others' clocks may be behind
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(key, critical=False)
        .sign(private, hashes.SHA256())
    )


def _name(text: str) -> x509.GeneralName:
    """An address or a host's name, as certificates have them."""
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)
