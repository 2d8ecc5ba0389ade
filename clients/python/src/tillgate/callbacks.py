"""Takes callbacks, in the words of WSGI (Flask, Django) and ASGI (FastAPI, Starlette)."""
import asyncio
import json
import logging
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Optional, Tuple

from .client import Callback, Tillgate
from .errors import NotGenuine

MAX_BYTES = 256 * 1024
Receive = Callable[[], Awaitable[Dict[str, Any]]]
Send = Callable[[Dict[str, Any]], Awaitable[None]]


class CallbackHandler:
    """`handle` gets each callback that is genuine. Let it look at `id`, and do slow work afterwards; when it raises,
    the gateway sends the callback again later. `max_age_ms` refuses attempts that were made longer ago."""

    def __init__(self, client: Tillgate, handle: Callable[[Callback], object], *,
                 max_age_ms: Optional[int] = None) -> None:
        self.client, self.handle, self.max_age_ms = client, handle, max_age_ms

    def answer(self, method: str, raw: bytes) -> Tuple[int, bytes]:
        """HTTP status and JSON body, for whatever framework you have."""
        if method != "POST":
            return refusal(405, 40401, "Callbacks come by POST.")
        if len(raw) > MAX_BYTES:
            return refusal(413, 41300, "This is too large for a callback.")
        try:
            callback = self.client.open_callback(raw, max_age_ms=self.max_age_ms)
        except NotGenuine:
            return refusal(400, 40100, "This is not a callback.")
        try:
            self.handle(callback)
        except Exception:
            logging.getLogger("tillgate").exception("Callback %s was not handled", callback.id)
            return refusal(500, 50000, "The callback could not be handled: send it again.")
        return 200, b'{"code":20000,"msg":""}'

    def wsgi(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        # Some servers pass on what the client wrote, and a negative length would read until the client hangs up.
        length = environ.get("CONTENT_LENGTH") or "0"
        raw = environ["wsgi.input"].read(min(int(length), MAX_BYTES + 1)) if length.isdecimal() else b""
        status, body = self.answer(environ["REQUEST_METHOD"], raw)
        start_response(f"{status} {'OK' if status == 200 else 'Refused'}",
                       [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    async def asgi(self, scope: Dict[str, Any], receive: Receive, send: Send) -> None:
        raw, more = b"", scope["type"] == "http"
        while more and len(raw) <= MAX_BYTES:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        loop = asyncio.get_running_loop()
        status, body = await loop.run_in_executor(None, self.answer, scope["method"], raw)
        headers: List[Tuple[bytes, bytes]] = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def refusal(status: int, code: int, message: str) -> Tuple[int, bytes]:
    return status, json.dumps({"code": code, "msg": message}).encode()
