"""`mercury-lsp http`: loads the engine, and serves it. Knows no endpoint."""

from __future__ import annotations

import argparse
import functools
import ipaddress
import os
import signal
import socket
import sys

from engine.api import EngineConfig, MercuryError, SettingInvalid
from engine.config import SPARE
from engine.serving.requests import Service

# Requests at once beyond which the server itself says no, before they are read.
_MOST_CONNECTIONS = 256
# Bounds of what may be kept: below the first no suggestion fits, and beyond the second no memory would hold it.
_LEAST_TOKENS, _MOST_TOKENS = 1024, 1 << 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; one that others can reach needs a key")
    parser.add_argument("--port", type=_port, default=8012, help="default: 8012")
    parser.add_argument("--api-key", metavar="KEY", help="what clients must send; MERCURY_API_KEY keeps it out of the process list")
    parser.add_argument("--allow-host", metavar="NAME", action="append", default=[], help="a host name clients may ask by; repeatable")
    parser.add_argument("--cors-origin", metavar="URL", action="append", default=[], help="an origin whose pages may ask; repeatable")
    parser.add_argument("--context", metavar="N", type=int, help="tokens of prompt and answer; more than the model knows cost quality")
    parser.add_argument("--cache-tokens", metavar="N", type=int, help="tokens whose keys and values are kept; default: 24576, or a context")
    parser.add_argument("--concurrent", metavar="N", type=int, default=16, help="answers written at once at most")
    parser.add_argument("--waiting", metavar="N", type=int, default=64, help="requests that may wait; more are answered 429")
    parser.add_argument(
        "--streams", metavar="N", type=int, default=1, help="parts of a forward computed side by side, each on its own cores"
    )
    parser.add_argument("--replicas", metavar="N", type=int, help="engines in processes of their own; needs the extra `cluster`")
    parser.add_argument("--most-replicas", metavar="N", type=int, help="with --replicas: as many as the load asks for, up to so many")
    parser.set_defaults(module="http.command")


def run(args: argparse.Namespace) -> int:
    """Returns 2 for arguments that do not go together, 1 where the engine could not be loaded."""
    key = args.api_key or os.environ.get("MERCURY_API_KEY") or None
    if not is_loopback(args.host) and key is None:
        print(f"mercury-lsp: --host {args.host} can be reached by others: give an --api-key", file=sys.stderr)
        return 2
    if fault := _misfit(args):
        print(f"mercury-lsp: {fault}", file=sys.stderr)
        return 2
    if args.replicas is not None:  # whose processes must not be left behind by an interrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        service = load(args)
    except KeyboardInterrupt:
        return 130
    except MercuryError as error:
        print(f"mercury-lsp: {error}", file=sys.stderr)
        return 1
    try:
        return _serve(args, service, key)
    finally:
        service.close()


def _misfit(args: argparse.Namespace) -> str | None:
    """What is wrong with the numbers."""
    if min(args.concurrent, args.waiting, args.streams) < 1:
        return "--concurrent, --waiting and --streams are 1 at least"
    for name, value in (("--cache-tokens", args.cache_tokens), ("--context", args.context)):
        if value is not None and not _LEAST_TOKENS <= value <= _MOST_TOKENS:
            return f"{name} {value}: expected {_LEAST_TOKENS} to {_MOST_TOKENS}"
    if args.context and args.cache_tokens and args.cache_tokens < args.context + SPARE:
        return f"--cache-tokens {args.cache_tokens} does not hold a --context of {args.context}: {args.context + SPARE} do"
    return None


def _serve(args: argparse.Namespace, service: Service, key: str | None) -> int:
    import uvicorn

    from mercury_lsp.http.app import build
    from mercury_lsp.http.guard import Rules

    rules = Rules(key=key, names=(args.host, *args.allow_host), origins=tuple(args.cors_origin))
    try:
        taken = listening(args.host, args.port)
    except OSError as error:
        print(f"mercury-lsp: {args.host}:{args.port}: {str(error.strerror).partition(' (')[0]}", file=sys.stderr)
        return 1
    host = f"[{args.host}]" if ":" in args.host else args.host
    print(f"{service.facts.model} answers on http://{host}:{taken.getsockname()[1]}/v1", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        build(service, rules), log_level="warning", limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=60, server_header=False
    )
    try:
        uvicorn.Server(config).run(sockets=[taken])
    except KeyboardInterrupt:
        return 130
    return 0


def listening(host: str, port: int) -> socket.socket:
    """Raises `OSError` where the address is another's or another program has the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.create_server((host, port), family=family)
    # What is accepted inherits it. Without it a piece of a stream waits for the client's word on the one before, 40 ms.
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; expected 0 to 65535")
    return int(text)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it. A name other than `localhost` may lead anywhere."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def load(args: argparse.Namespace) -> Service:
    """Raises `MercuryError`."""
    if args.replicas is not None:
        return _replicated(args)
    return load_one(args)


def _replicated(args: argparse.Namespace) -> Service:
    if args.replicas < 1 or (args.most_replicas or args.replicas) < args.replicas:
        raise SettingInvalid("--replicas is 1 or more, and --most-replicas no less")
    try:
        from engine.serving.cluster import ClusterService
    except ImportError:
        raise SettingInvalid("--replicas needs Ray Serve: pip install 'mercury-lsp[cluster]'") from None
    return ClusterService.start(functools.partial(load_one, args), replicas=args.replicas, most=args.most_replicas)


def load_one(args: argparse.Namespace) -> Service:
    """One engine, in this process. Raises `MercuryError`."""
    name: str = args.model or EngineConfig().model
    kind, _, argument = name.partition(":")
    if kind == "scripted":
        from engine.serving.scripted import ScriptedService

        return ScriptedService.from_file(argument)
    from engine.serving.local import LocalService
    from engine.serving.scheduler import Bounds

    bounds = Bounds(running=args.concurrent, waiting=args.waiting, streams=args.streams)
    return LocalService.load_model(EngineConfig(model=name), context=args.context, cache_tokens=args.cache_tokens, bounds=bounds)
