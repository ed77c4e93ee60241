"""Who may ask, and how much at a time: hosts, origins, a token, the size and the duration of requests.

A page of another site that a browser has open can send requests to this machine. It is refused by its `Origin`; if its
name was made to point here (DNS rebinding), by its `Host`.
"""

import asyncio
import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rcexplainer.errors import RCExplainerError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "rcexplainer_token"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
DATA_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


@dataclass(frozen=True)
class RequestLimits:
    """How much one request may ask for.

    Attributes:
        body: Bytes of a request.
        nodes: Nodes of an uploaded graph.
        edges: Columns of its `edge_index`.
        seconds: Time of a request, from its arrival; a search ends before with the best counterfactual so far.
        refine: Model runs spent on one ranking.
        waiting: Requests that wait at the same time.
        upload: Seconds in which the body of a request must arrive.
    """

    body: int = 2_000_000
    nodes: int = 5_000
    edges: int = 20_000
    seconds: float = 10.0
    refine: int = 256
    waiting: int = 256
    upload: float = 20.0


@dataclass(frozen=True)
class AccessRules:
    """Who may ask.

    Attributes:
        host: The address that the server is bound to.
        token: The secret that every request must carry; None: none is needed.
        names: Further names under which the server may be reached.
    """

    host: str = "127.0.0.1"
    token: str | None = field(default=None, repr=False)
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.local and not self.token:
            raise RCExplainerError(
                f"the server would be reachable from other machines at {self.host}: give a token (--token), or bind it "
                "to 127.0.0.1"
            )

    @property
    def local(self) -> bool:
        """Whether the server can be reached from this machine only."""
        return self.host in LOCAL_HOSTS

    def knows(self, host: str) -> bool:
        """Whether a `Host` is one of the server's own; beyond localhost any IP address is: only names can be rebound.

        Args:
            host: The header, with or without a port.
        """
        name = (urlsplit(f"//{host}").hostname or "") if _is_host(host) else ""
        if name in LOCAL_HOSTS or name == self.host or name in self.names:
            return True
        return not self.local and _is_address(name)

    def refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        """Say why a request is refused.

        Args:
            headers: Its headers, by their names in lower case.

        Returns:
            Status and sentence; None if the request may be answered.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.knows(host):
            return 421, "this server does not answer for that Host: use the address it printed when it started"
        if origin is not None and (not _is_host(origin) or urlsplit(origin).netloc.lower() != host.lower()):
            return 403, "requests from pages of other origins are refused"
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, "requests from pages of other origins are refused"
        if self.token is not None and not any(self.accepts(text) for text in _tokens(headers)):
            return 401, "a token is needed: send the header Authorization: Bearer TOKEN, or open /?token=TOKEN"
        return None

    def accepts(self, text: str) -> bool:
        """Whether a text is the token, in a time that tells nothing about it."""
        return self.token is not None and secrets.compare_digest(text.encode(), self.token.encode())


def _is_host(text: str) -> bool:
    """Whether a text can be read as an address at all."""
    try:
        _ = urlsplit(text if "//" in text else f"//{text}").port
    except ValueError:
        return False
    return True


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _tokens(headers: dict[str, str]) -> list[str]:
    """The tokens that a request carries."""
    found = []
    kind, _, text = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        found.append(text.strip())
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return found
    return found + ([cookies[COOKIE].value] if COOKIE in cookies else [])


class Guard:
    """Refuses strangers and bodies that are too large or too slow, before the application sees them.

    Args:
        app: The application.
        rules: Who may ask.
        limits: How much.
    """

    def __init__(self, app: Application, rules: AccessRules, limits: RequestLimits) -> None:
        self.app, self.rules, self.limits = app, rules, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if (
            scope["method"] == "GET"
            and token
            and self.rules.knows(headers.get("host", ""))
            and self.rules.accepts(token)
        ):
            await _welcome(send, token)
            return
        refusal = self.rules.refusal(headers)
        if refusal is None:
            body = await self._body(headers, receive)
            if isinstance(body, bytes):
                await self.app(scope, _replay(body, receive), _with_headers(send))
                return
            refusal = body
        await _refuse(send, *refusal)

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes | tuple[int, str]:
        """The whole body, or why it is refused."""
        too_large = 413, f"the request is larger than {self.limits.body:,} bytes, the most that this server reads"
        length = headers.get("content-length", "0")
        if length.isdecimal() and len(length) < 20 and int(length) > self.limits.body:
            return too_large
        try:
            async with asyncio.timeout(self.limits.upload):
                body = bytearray()
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return 400, "the request ended before its body did"
                    body += message.get("body", b"")
                    if len(body) > self.limits.body:
                        return too_large
                    if not message.get("more_body"):
                        return bytes(body)
        except TimeoutError:
            return 408, f"the body of the request did not arrive within {self.limits.upload:g} s"


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand out a body that was read already, then what the client sends next."""
    parts = [body]

    async def again() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": parts.pop(), "more_body": False} if parts else await receive()

    return again


def _with_headers(send: Send) -> Send:
    """Add the headers that every answer has; only the page brings a content security policy of its own."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            policy = () if any(name.lower() == DATA_POLICY[0] for name, _ in own) else (DATA_POLICY,)
            message = {**message, "headers": [*own, *HEADERS, *policy]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
        DATA_POLICY,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _welcome(send: Send, token: str) -> None:
    """Keep the token in a cookie that scripts cannot read, and open the page without it in the address."""
    cookie = SimpleCookie({COOKIE: token})
    cookie[COOKIE]["httponly"], cookie[COOKIE]["samesite"], cookie[COOKIE]["path"] = True, "Strict", "/"
    text = cookie[COOKIE].OutputString().encode()
    headers = [(b"location", b"/"), (b"set-cookie", text), (b"content-length", b"0"), *HEADERS, DATA_POLICY]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
