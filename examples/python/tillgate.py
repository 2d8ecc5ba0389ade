"""A client of a Tillgate gateway in one file. It needs the package `cryptography`: Python's own library has
neither AES-GCM nor RSA.

    python3 tillgate.py create  sandbox-merchant.json 12.50 USD [CALLBACK_URL]
    python3 tillgate.py query   sandbox-merchant.json PAYMENT_ID
    python3 tillgate.py cancel  sandbox-merchant.json PAYMENT_ID
    python3 tillgate.py refund  sandbox-merchant.json PAYMENT_ID 5.00
    python3 tillgate.py open    sandbox-merchant.json < callback.json
"""
import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class TillgateError(Exception):
    def __init__(self, code, message, data):
        super().__init__(f"{message} ({code})")
        self.code, self.field, self.request_id = code, data.get("field"), data.get("requestId")


class Tillgate:
    def __init__(self, gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey, **_):
        self.url, self.merchant_id = gatewayUrl.rstrip("/"), merchantId
        self.aes = AESGCM(base64.b64decode(aesKey, validate=True))
        self.private_key = serialization.load_pem_private_key(privateKey.encode(), None)
        self.platform_key = serialization.load_pem_public_key(platformPublicKey.encode())

    def create(self, body):
        return self.call("service.trade.create", body)

    def query(self, payment_id):
        return self.call("service.trade.query", {"paymentId": payment_id})

    def cancel(self, payment_id):
        return self.call("service.trade.cancel", {"paymentId": payment_id})

    def refund(self, payment_id, refer_refund_no, amount):
        return self.call("service.trade.refund", {"paymentId": payment_id, "referRefundNo": refer_refund_no,
                                                  "refundAmount": amount})

    def call(self, method, body):
        """Safe to repeat when no answer came: with the same orderNo (or referRefundNo) it stays the same."""
        envelope = self.seal(method, json.dumps(body), int(time.time() * 1000), os.urandom(12))
        request = urllib.request.Request(self.url + "/api/v1/gateway", json.dumps(envelope).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
        if int(answer["code"]) != 20000:
            raise TillgateError(answer["code"], answer["msg"], answer.get("data") or {})
        return answer["data"]

    def string_to_sign(self, method, s, timestamp):
        return (f"body={s}&charset=utf-8&encryptType=AES&format=json&merchantId={self.merchant_id}"
                f"&method={method}&signType=RSA&timestamp={timestamp}")

    def seal(self, method, s, timestamp, nonce):
        """`s` is the body's text. It was serialised once: this very text is signed and encrypted."""
        sign = self.private_key.sign(self.string_to_sign(method, s, timestamp).encode(),
                                     padding.PKCS1v15(), hashes.SHA256())
        sealed = nonce + self.aes.encrypt(nonce, s.encode(), None)
        return {"merchantId": self.merchant_id, "method": method, "timestamp": timestamp,
                "sign": base64.b64encode(sign).decode(), "body": base64.b64encode(sealed).decode()}

    def open_callback(self, raw):
        """The plain body of a callback, or None: then answer HTTP 400 and do nothing. Otherwise, when it is handled,
        answer HTTP 200 with {"code":20000,"msg":""}. Its `id` is the same on every attempt."""
        try:
            e = json.loads(raw)
            if e["merchantId"] != self.merchant_id:
                return None
            sealed = base64.b64decode(e["body"], validate=True)
            s = self.aes.decrypt(sealed[:12], sealed[12:], None).decode()
            # Fields that a later gateway adds are signed too.
            fields = {"charset": "utf-8", "encryptType": "AES", "format": "json", "signType": "RSA", **e, "body": s}
            to_verify = "&".join(f"{name}={fields[name]}" for name in sorted(fields) if name != "sign")
            self.platform_key.verify(base64.b64decode(e["sign"], validate=True), to_verify.encode(),
                                     padding.PKCS1v15(), hashes.SHA256())
            return s
        except (InvalidSignature, InvalidTag, ValueError, KeyError, TypeError):
            return None


def main(command, file, *rest):
    with open(file, encoding="utf-8") as credentials:
        tillgate = Tillgate(**json.load(credentials))
    if command == "create":
        amount, currency, *callback_url = rest
        now = int(time.time() * 1000)
        goods = [{"referenceGoodsId": "tea", "goodsName": "Tea", "goodsAmount": amount}]
        print(json.dumps(tillgate.create({
            **({"callbackUrl": callback_url[0]} if callback_url else {}),
            "order": {"orderNo": f"python-{now}", "orderAmount": amount, "goods": goods}, "channel": "WEB",
            "paymentAmount": amount, "currency": currency, "paymentTime": now, "paymentExpiryTime": now + 1800_000})))
    elif command == "query":
        print(json.dumps(tillgate.query(*rest)))
    elif command == "cancel":
        print(json.dumps(tillgate.cancel(*rest)))
    elif command == "refund":
        payment_id, amount = rest
        print(json.dumps(tillgate.refund(payment_id, f"python-{int(time.time() * 1000)}", amount)))
    elif command == "open":
        print(tillgate.open_callback(sys.stdin.buffer.read()) or sys.exit("This is not a callback of the gateway."))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(__doc__)
