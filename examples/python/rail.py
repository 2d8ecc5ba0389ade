"""A rail in Python, with its standard library alone: RAIL_SECRET=whsec_... python3 examples/python/rail.py [port]
It keeps payments in memory and asks the consumer on a page of its own. docs/rails.md has the protocol."""
import base64, hashlib, hmac, html, json, os, sys, threading, time, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["RAIL_SECRET"][len("whsec_"):])
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8085
payments, refunds, lock = {}, {}, threading.Lock()
KINDS = ["payment.start", "payment.status", "payment.cancel", "refund.start", "refund.status"]

def signed(id, timestamp, body):
    mac = hmac.new(SECRET, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": "v1," + base64.b64encode(mac).decode()}

def is_genuine(headers, body):
    id, timestamp, given = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    right = signed(id, timestamp, body)["webhook-signature"]
    is_fresh = timestamp.isdigit() and abs(time.time() - int(timestamp)) <= 300
    return is_fresh and any(hmac.compare_digest(one, right) for one in given.split(" "))

def answer(message):
    kind, id = message["type"], message.get("refundId") or message["transactionId"]
    if kind == "payment.start":  # the same id is the same payment, for ever
        action = {"kind": "redirect", "url": f"http://localhost:{PORT}/pay/{id}"}
        start = {"status": "pending", "reference": f"PY-{len(payments) + 1}", "nextAction": action}
        payments.setdefault(id, {**message, **start})
    if kind == "payment.cancel" and payments.get(id, {}).get("status") == "pending":
        payments[id]["status"] = "cancelled"
    if kind == "refund.start" and id not in refunds:
        refunds[id] = {**message, "status": "approved" if may_refund(message) else "declined", "reason": "Not that much was paid."}
    known = (payments if kind.startswith("payment.") else refunds).get(id, {"status": "unknown"})
    return {name: known[name] for name in ("status", "reference", "reason", "nextAction") if name in known}

def may_refund(message):  # in minor units, which are whole numbers
    payment = payments.get(message["transactionId"], {"status": "unknown"})
    given = [r for r in refunds.values() if r["transactionId"] == message["transactionId"] and r["status"] == "approved"]
    total = sum(int(r["amountMinor"]) for r in given + [message])
    return payment["status"] == "approved" and total <= int(payment["amountMinor"])

def notify(payment):
    body = json.dumps({"type": "payment.changed", "transactionId": payment["transactionId"]}).encode()
    headers = signed(str(uuid.uuid4()), str(int(time.time())), body)
    try:
        urllib.request.urlopen(urllib.request.Request(payment["notifyUrl"], body, headers), timeout=5)
    except OSError as error:  # the gateway asks by itself too
        print("The notification did not arrive:", error, file=sys.stderr)

class Rail(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 65536))
        payment = payments.get(self.path.removeprefix("/pay/"))
        with lock:
            if payment:  # the consumer tapped the button
                payment["status"] = "approved" if payment["status"] == "pending" else payment["status"]
                self.reply(303, b"", location=payment["returnUrl"])
            elif not is_genuine(self.headers, body):
                self.reply(401, b"")
            elif json.loads(body)["type"] not in KINDS:  # the optional messages
                self.reply(400, b"")
            else:
                said = json.dumps(answer(json.loads(body))).encode()
                proof = signed(self.headers["webhook-id"], str(int(time.time())), said)
                self.reply(200, said, content_type="application/json", **proof)
        if payment:
            notify(payment)

    def do_GET(self):
        payment = payments.get(self.path.removeprefix("/pay/"), {"amount": "0", "currency": "", "merchantName": "nobody"})
        words = "Pay {amount} {currency} to {merchantName}".format_map(payment)
        self.reply(200, f'<!doctype html><title>Pay</title><p>{html.escape(words)}</p><form method="post"><button>Pay</button></form>'.encode())

    def reply(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"content_type": "text/html", "content_length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

ThreadingHTTPServer(("127.0.0.1", PORT), Rail).serve_forever()
