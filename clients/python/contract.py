"""Lets the common contract suite drive this client: one JSON command a line in, one JSON answer a line out."""
import asyncio
import json
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

from tillgate import CallbackHandler, NotGenuine, Tillgate, TillgateError

received = []


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def handle(callback):
    if callback.result.get("msg") == "fail":
        raise RuntimeError("as the suite asked for")
    received.append(callback.text)


def run(client, do, given):
    if do == "seal":
        text = client.keys.string_to_sign(given["method"], given["body"], given["timestamp"])
        nonce = bytes.fromhex(given["nonceHex"])
        return {"stringToSign": text, **client.keys.seal(given["method"], given["body"], given["timestamp"], nonce)}
    if do == "open":
        client.now_ms = lambda: given["nowMs"]
        return {"body": client.open_callback(given["raw"], max_age_ms=given.get("maxAgeMs")).text}
    if do == "redirect":
        client.now_ms = lambda: given["nowMs"]
        return client.verify_redirect(given["query"], payment_id=given.get("paymentId"))
    if do == "create":
        return client.create(given["order"])
    if do == "query":
        return client.query(payment_id=given.get("paymentId"), order_no=given.get("orderNo"))
    if do == "cancel":
        return client.cancel(given["paymentId"])
    if do == "refund":
        return client.refund(given["paymentId"], given["referRefundNo"], given["amount"])
    if do == "bill":
        return client.bill(given["date"])
    if do == "send":
        return client.call_text(given["method"], given["text"])
    if do == "serve":
        server = make_server("127.0.0.1", 0, CallbackHandler(client, handle).wsgi, handler_class=Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return {"port": server.server_port}
    if do == "environment":
        try:
            return Tillgate.from_environment().query(order_no=given["orderNo"])
        except ValueError as error:
            return {"problem": str(error)}
    if do == "asgi":
        return asyncio.run(through_asgi(CallbackHandler(client, handle), given["raw"]))
    return {"bodies": received}


async def through_asgi(handler, raw):
    parts, sent = [raw[:100].encode(), raw[100:].encode()], []

    async def receive():
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    await handler.asgi({"type": "http", "method": "POST"}, receive, send)
    return {"status": sent[0]["status"]}


tillgate = Tillgate.from_file(sys.argv[1])
for line in sys.stdin:
    command = json.loads(line)
    try:
        answer = {"data": run(tillgate, command.pop("do"), command)}
    except NotGenuine:
        answer = {"refused": True}
    except TillgateError as error:
        answer = {"error": {"code": error.code, "name": error.name, "field": error.field}}
    print(json.dumps(answer, default=str), flush=True)
