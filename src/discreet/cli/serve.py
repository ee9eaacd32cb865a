"""`discreet serve`: answers over HTTP and PostgreSQL's protocol, for analysts who hold a token and nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.common import options
from discreet.cli.common.extras import require_extras
from discreet.cli.common.reporting import reported
from discreet.cli.common.where import opened
from discreet.cli.show.admissions import say_incomplete
from discreet.cli.show.screen import say, say_whole
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable
from discreet.private_files import CLOSE, IS_OPEN, is_open

if TYPE_CHECKING:
    from discreet.interfaces.self_signed import SelfSigned
    from discreet.ledger import Tokens
    from discreet.service import Issued, Service, Settings

_FIRST_DAYS = 90
"""How many days the custodian's first token is valid."""

_WILDCARDS = {"0.0.0.0", "::"}  # noqa: S104 — they are recognised, and listened at only with TLS
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")

Planning: TypeAlias = Annotated[
    float, typer.Option(help="Seconds of processor time a minute for planning one analyst's questions.")
]
MostValues: TypeAlias = Annotated[
    int, typer.Option("--most-values", min=1, help="How many numbers one answer may release.")
]
SlotSeconds: TypeAlias = Annotated[
    float, typer.Option("--slot-seconds", help="Seconds of slots a day for one analyst's questions.")
]
LedgerBytes: TypeAlias = Annotated[
    float, typer.Option("--ledger-bytes", help="Bytes a day by which one analyst's questions may grow the ledger.")
]
WitnessPlace: TypeAlias = Annotated[
    str, typer.Option("--witness", metavar="PLACE", help="Send signed heads of the ledger to this file or address.")
]
OpenIDFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Let people sign in through OpenID Connect, as configured in this file."),
]
PostgresPort: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--postgres", min=0, max=65_535, metavar="PORT", help="Speak PostgreSQL's protocol at this port, for psql."
    ),
]
MetricsPort: TypeAlias = Annotated[
    int | None, typer.Option(min=1, max=65_535, help="Show metrics in Prometheus's format at this port.")
]
MetricsHost: TypeAlias = Annotated[
    str, typer.Option(help="The address for that port; anyone who can reach it can read them.")
]


@reported
def serve(  # noqa: PLR0913 — what a custodian may say, each by name
    *,
    host: Annotated[
        str, typer.Option(help="The address to listen at; any but this machine's own needs TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen at.")] = 8443,
    certificate: Annotated[Path | None, typer.Option(help="A file with the certificate for TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="A file with the certificate's private key.")] = None,
    self_signed: Annotated[
        bool,
        typer.Option(
            "--self-signed",
            help="Make a certificate beside the ledger, or take the one there, and show its fingerprint.",
        ),
    ] = False,
    behind_proxy: Annotated[bool, typer.Option("--behind-proxy", help="A proxy in front handles TLS.")] = False,
    slots: Annotated[int, typer.Option(min=1, help="How many questions run at once, each in its own process.")] = 1,
    planners: Annotated[int, typer.Option(min=1, help="How many processes plan questions.")] = 1,
    planning: Planning = 20.0,
    most_values: MostValues = 50_000,
    slot_seconds: SlotSeconds = 21_600.0,
    ledger_bytes: LedgerBytes = 100_000_000.0,
    base: Annotated[float, typer.Option(help="Seconds that every question is given.")] = 1.0,
    scan: Annotated[float, typer.Option(help="Seconds added for each reading of a table.")] = 1.0,
    rungs: Annotated[
        int, typer.Option(help="How many times it may end at, each twice the one before; more than 1 tells more.")
    ] = 1,
    witness: WitnessPlace = "",
    witness_every: Annotated[float, typer.Option("--witness-every", metavar="SECONDS", help="How often.")] = 60.0,
    openid: OpenIDFile = None,
    postgres: PostgresPort = None,
    metrics_port: MetricsPort = None,
    metrics_host: MetricsHost = "127.0.0.1",
    config: options.Config = options.CONFIG,
) -> None:
    """Answer over HTTP, to analysts who hold a token and nothing else: neither tables, nor configuration, nor ledger.

    Each answer leaves at the time that its plan names, however long it took. A question that takes longer fails, and
    stays paid for: measure how long yours take, and set `--base` and `--scan` accordingly. The first start makes a
    token for the custodian, and shows it on a terminal or else writes it to `custodian.token`, which only its owner
    can read. With `--postgres`, psql and the tools that speak its protocol are answered too, under the same rules.

    With `--self-signed`, there is TLS without an authority: analysts trust the certificate by its fingerprint, which
    you tell them, or by its file.

    Ctrl-C, or SIGTERM, stops it gracefully: it takes no more questions, answers those that were paid for at their time,
    and ends with 0. A second one ends it at once. The log goes to standard error, one JSON object a line.
    """
    from discreet.service import AskingLimits, OpenID, PlanningLimits, ReleaseTimes, Settings
    from discreet.service.workers import load_ahead

    own = None
    if self_signed:
        own = _self_signed(host, certificate or key, config, behind_proxy=behind_proxy)
        certificate, key = own.certificate, own.key
    _refuse_nonsense(host, certificate, key, behind_proxy=behind_proxy, slots=slots)
    if postgres is not None and certificate is None:
        _refuse_in_the_clear(host)
    settings = Settings(
        slots=slots,
        planners=planners,
        planning=PlanningLimits(per_minute=planning),
        asking=AskingLimits(values=most_values, slot_seconds=slot_seconds, ledger_bytes=ledger_bytes),
        times=ReleaseTimes(base=base, scan=scan, rungs=rungs),
        openid=None if openid is None else OpenID.read(openid),
        witness=witness,
        witness_every=witness_every,
    )
    load_ahead()
    with _opened(config, settings) as service:
        from discreet.interfaces.http.serving import serve as serve_http
        from discreet.interfaces.http.serving import serve_metrics

        if metrics_port is not None:
            serve_metrics(service, host=metrics_host, port=metrics_port)
        scheme, name = "http" if certificate is None else "https", f"[{host}]" if ":" in host else host
        with _listening(service, host, postgres, certificate, key, own):
            serve_http(
                service,
                host=host,
                port=port,
                certificate=certificate,
                key=key,
                behind_proxy=behind_proxy,
                bound=lambda found: _say_bound(f"{scheme}://{name}:{found}", found, host, own),
            )


def _self_signed(host: str, other: Path | None, config: Path, *, behind_proxy: bool) -> SelfSigned:
    """The certificate beside the ledger, for this machine's names and the address that is listened at.

    Raises:
        InvalidArgument: another certificate is named as well, or nothing here does TLS.
        ConfigError: the configuration can't be read.
    """
    from discreet.interfaces.self_signed import SelfSigned, beside

    if other is not None or behind_proxy:
        raise InvalidArgument(
            "a self-signed certificate takes the place of another one, and of a proxy's",
            hint="leave out --self-signed, or --certificate, --key and --behind-proxy",
        )
    return SelfSigned.made(beside(config), [*dict.fromkeys([_seen_from_afar(host), *_OWN_NAMES])])


def _seen_from_afar(host: str) -> str:
    """The name or address by which others reach what listens at an address."""
    return gethostname() if host in _WILDCARDS else host


def _say_bound(address: str, port: int, host: str, own: SelfSigned | None) -> None:
    """Say what is listened at."""
    say(f"serving at {address}; Ctrl-C stops it")
    if own is not None:
        _say_trusted(f"https://{_seen_from_afar(host)}:{port}", own)
    sys.stdout.flush()  # of a program that reads along, too


def _say_trusted(url: str, own: SelfSigned) -> None:
    """Say how analysts trust a certificate that nobody vouches for."""
    from discreet.interfaces.self_signed import reached_by

    say(f"certificate  {own.certificate}, until {own.until:%Y-%m-%d}")
    say(f"fingerprint  {own.fingerprint}")
    say("analysts     trust it by this; a token is made by `discreet token create NAME`:\n")
    for line in reached_by(url, own.fingerprint):
        say_whole(f"    {line}")


@contextmanager
def _listening(  # noqa: PLR0913, PLR0917 — where, and with which certificate
    service: Service, host: str, port: int | None, certificate: Path | None, key: Path | None, own: SelfSigned | None
) -> Iterator[None]:
    """Speak PostgreSQL's protocol meanwhile, if there is a port for it."""
    if port is None:
        yield
        return
    from discreet.interfaces.wire import Listener

    listener = Listener(service, host=host, port=port, certificate=certificate, key=key)
    mode = "disable" if certificate is None else "verify-full"
    root = "" if own is None else f" sslrootcert={own.certificate}"
    say(f"psql: host={host} port={listener.port} user=me sslmode={mode}{root}")
    try:
        yield
    finally:
        listener.close()


def _refuse_in_the_clear(host: str) -> None:
    """Refuse PostgreSQL's protocol without TLS over a network; a proxy for HTTP does no TLS for it.

    Raises:
        InvalidArgument: it would be.
    """
    from discreet.loopback import is_loopback

    if not is_loopback(host):
        raise InvalidArgument(
            f"tokens would travel to {host} in the clear over PostgreSQL's protocol, whose TLS no proxy for HTTP does",
            hint="--certificate FILE --key FILE",
        )


def _refuse_nonsense(host: str, certificate: Path | None, key: Path | None, *, behind_proxy: bool, slots: int) -> None:
    """Refuse what can't be served, or not safely.

    Raises:
        InvalidArgument: half of what TLS needs, or files of no use for it; an address of others without TLS, or more
            slots than cores.
        ExtraMissing: what a server needs isn't installed.
    """
    from discreet.loopback import is_loopback
    from discreet.machine import usable_cores

    if (certificate is None) != (key is None):
        raise InvalidArgument("TLS needs a certificate and its key", hint="--certificate FILE --key FILE")
    if not is_loopback(host) and certificate is None and not behind_proxy:
        raise InvalidArgument(
            f"tokens would travel to {host} in the clear", hint="--certificate FILE --key FILE, or --behind-proxy"
        )
    if slots > (cores := len(usable_cores())):
        raise InvalidArgument(
            f"{slots} questions at once would share {cores} cores, and slow each other down",
            hint=f"--slots {cores}, or fewer",
        )
    require_extras("server")
    if certificate is not None and key is not None:
        _refuse_unusable(certificate, key)


def _refuse_unusable(certificate: Path, key: Path) -> None:
    """Refuse files that TLS can't be served with, before anything is begun.

    Raises:
        InvalidArgument: one can't be read, isn't what it should be, or they don't belong together; or the key isn't its
            owner's alone.
    """
    import ssl

    for what, path, mark in (("certificate", certificate, "CERTIFICATE-----"), ("key", key, "PRIVATE KEY-----")):
        try:
            text = path.read_text(encoding="ascii", errors="replace")
        except OSError as error:
            raise InvalidArgument(f"the {what} {str(path)!r} can't be read: {error.strerror}") from None
        if what == "key" and is_open(path):
            raise InvalidArgument(f"the key {str(path)!r} {IS_OPEN}", hint=CLOSE)
        if mark not in text:
            raise InvalidArgument(
                f"there is no {what} in {str(path)!r}",
                hint=f"--{what} names a PEM file, in which a line says {mark.removesuffix('-----')}",
            )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ValueError):
        raise InvalidArgument(
            f"the certificate {str(certificate)!r} and the key {str(key)!r} can't be used together",
            hint="--key names the key that the certificate was made for",
        ) from None


@contextmanager
def _opened(config: Path, settings: Settings) -> Iterator[Service]:
    """Open a service on a configuration; close it at the end."""
    from discreet.service import EventLog, Service

    with opened(config) as tables:
        say_incomplete(tables.admissions.first())
        _show_first(tables.tokens, config)
    with working("opening"):
        service = Service(config, settings, EventLog(sys.stderr))
    try:
        if service.sender.is_behind:
            say("the witness can't be reached; it is tried again at set times, and /healthz says so until then")
        yield service
    finally:
        service.close()


def _show_first(tokens: Tokens, config: Path) -> None:
    """Make the custodian's first token, if there is none; show it on a terminal, else write it to a file."""
    from discreet.service import Role
    from discreet.service.tokens import caller_of, issue

    if any(caller_of(grant).role is Role.CUSTODIAN and grant.revoked is None for grant in tokens.all()):
        return
    shown = sys.stdout.isatty()
    if not shown and not os.access(config.absolute().parent, os.W_OK):
        raise InvalidArgument(
            "the custodian's first token can't be written beside the configuration",
            hint="make it before you first start the server: discreet token create custodian --role custodian",
        )
    issued = issue(tokens, "custodian", Role.CUSTODIAN, days=_FIRST_DAYS)
    if shown:
        say(f"the custodian's token, which is shown only once: {issued.text}")
        return
    say(f"the custodian's token is in {printable(str(_written(issued, config)))}")


def _written(issued: Issued, config: Path) -> Path:
    """Write a token to a new file that only its owner can read."""
    path = config.absolute().parent / "custodian.token"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(f"{issued.text}\n")
    return path
