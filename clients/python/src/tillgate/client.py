"""The operations of the gateway. Each is safe to repeat with the same numbers, so repeat where no answer came."""
import json
import os
import re
import time
import urllib.error
import urllib.request
from decimal import Decimal
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Union
from urllib.parse import parse_qs, urlsplit

from .codes import ORDER_STATUSES
from .envelope import ONE_OR_TWO, Keys
from .environment import read_environment
from .errors import NotGenuine, TillgateError

Amount = Union[str, int, Decimal]
Data = Dict[str, Any]

REDIRECT_FORMS = {
    "merchantId": r"[0-9A-Za-z]{18}",
    "paymentId": r"[0-9A-Za-z]{1,32}",
    "referOrderNo": r"[^\x00-\x1f\x7f-\x9f]{1,64}",
    "status": "|".join(ORDER_STATUSES),
    "timestamp": r"[0-9]{13}",
    "sign": r"[0-9A-Za-z+/=]+",
}
REDIRECT_AGE_MS = 10 * 60 * 1000


class Callback(NamedTuple):
    id: str
    """The same on every attempt: what duplicates are known by."""
    event_name: str
    result: Data
    """The body. Amounts are exact: whole numbers, Decimal, or text where they are very large."""
    text: str
    """The body as it was signed."""
    timestamp_ms: int
    """When this attempt was made."""


class Tillgate:
    """`aes_key` and `platform_public_key` may be two while one replaces the other; the first encrypts."""

    def __init__(self, gateway_url: str, merchant_id: str, aes_key: ONE_OR_TWO, private_key: str,
                 platform_public_key: ONE_OR_TWO, *, timeout_seconds: float = 15,
                 now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.url, self.timeout_seconds, self.now_ms = gateway_url.rstrip("/"), timeout_seconds, now_ms
        self.keys = Keys(merchant_id, aes_key, private_key, platform_public_key)

    @classmethod
    def from_file(cls, path: str) -> "Tillgate":
        """As a sandbox writes it to data/sandbox-merchant.json."""
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
        return cls(given["gatewayUrl"], given["merchantId"], given["aesKey"], given["privateKey"],
                   given["platformPublicKey"])

    @classmethod
    def from_environment(cls) -> "Tillgate":
        """From TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and
        TILLGATE_PLATFORM_PUBLIC_KEY. A value may be in a file, which the variable with _FILE at its end names."""
        return cls(*read_environment(os.environ))

    def create(self, body: Mapping[str, Any]) -> Data:
        """Answers paymentId and checkoutUrl. `channel` is WEB, and the order is open for half an hour, unless given.

        To repeat it where no answer came, give `paymentTime` and `paymentExpiryTime` yourself, the same each time: they
        are part of the content, and the same number with other content is refused (40900)."""
        now = self.now_ms()
        return self.call("service.trade.create",
                         {"channel": "WEB", "paymentTime": now, "paymentExpiryTime": now + 1_800_000, **body})

    def query(self, *, payment_id: Optional[str] = None, order_no: Optional[str] = None,
              refund_id: Optional[str] = None) -> Data:
        given = {"paymentId": payment_id, "orderNo": order_no, "refundId": refund_id}
        return self.call("service.trade.query", {name: value for name, value in given.items() if value is not None})

    def list_orders(self, **wanted: Any) -> Data:
        """`since`, `until`, `status`, `limit`: {"orders": [...]}, newest first. Give the `cursor` of an answer for the
        orders that follow; without one the list has ended."""
        return self.call("service.order.list", wanted)

    def cancel(self, payment_id: str) -> Data:
        return self.call("service.trade.cancel", {"paymentId": payment_id})

    def capture(self, payment_id: str, refer_capture_no: str, amount: Optional[Amount] = None,
                final: bool = False) -> Data:
        """Takes the money of an order with captureMode manual: `amount`, or all that remains. `final` releases the rest."""
        body: Data = {"paymentId": payment_id, "referCaptureNo": refer_capture_no, "final": final}
        return self.call("service.order.capture", body if amount is None else {**body, "amount": amount})

    def release(self, payment_id: str) -> Data:
        return self.call("service.order.release", {"paymentId": payment_id})

    def scan(self, code: str, order_no: str, amount: Amount, currency: str) -> Data:
        """Charges the wallet whose code the consumer shows. Repeating it with the same order_no is safe."""
        return self.call("service.order.scan", {"code": code, "orderNo": order_no, "amount": amount,
                                                "currency": currency})

    def refund(self, payment_id: str, refer_refund_no: str, amount: Amount, reason: str = "") -> Data:
        return self.call("service.trade.refund", {"paymentId": payment_id, "referRefundNo": refer_refund_no,
                                                  "refundAmount": amount, "refundReason": reason})

    def bill(self, date: str) -> Data:
        """The totals of a day, such as 2026-11-16 (UTC), and for five minutes the address of its CSV file."""
        return self.call("service.bill.get", {"date": date})

    def call(self, method: str, body: Mapping[str, Any]) -> Data:
        return self.call_text(method, json.dumps(body, default=str))

    def call_text(self, method: str, text: str) -> Data:
        """With the body as the text that you have already."""
        envelope = self.keys.seal(method, text, self.now_ms(), os.urandom(12))
        request = urllib.request.Request(self.url + "/api/v1/gateway", json.dumps(envelope).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
                answer = json.load(response, parse_float=Decimal)
        except urllib.error.HTTPError as error:
            with error:
                answer = json.load(error, parse_float=Decimal)
        if int(answer["code"]) != 20000:
            raise TillgateError(int(answer["code"]), answer["msg"], answer.get("data") or {})
        data: Data = answer["data"]
        return data

    def open_callback(self, raw: Union[str, bytes], *, max_age_ms: Optional[int] = None) -> Callback:
        """`raw` is the body of the HTTP request as it came. Raises NotGenuine, also for an attempt that was made longer
        ago, or is further ahead, than `max_age_ms`."""
        envelope, text = self.keys.open(raw)
        timestamp_ms = int(envelope["timestamp"])
        if max_age_ms is not None and abs(self.now_ms() - timestamp_ms) > max_age_ms:
            raise NotGenuine("made too long ago, or the clock is wrong")
        result = json.loads(text, parse_float=Decimal)
        return Callback(envelope["id"], envelope["eventName"], result, text, timestamp_ms)

    def verify_redirect(self, url: str, *, payment_id: Optional[str] = None) -> Dict[str, str]:
        """The parameters with which the consumer came back. For display alone: deliver on a callback or a query."""
        query = urlsplit(url).query if "?" in url else url
        try:
            values: Dict[str, List[str]] = parse_qs(query, keep_blank_values=True, encoding="utf-8", errors="strict")
        except ValueError as error:
            raise NotGenuine("not UTF-8") from error
        given: Dict[str, str] = {}
        for name, form in REDIRECT_FORMS.items():
            found = values.get(name, [])
            if len(found) != 1 or not re.fullmatch(form, found[0]):
                raise NotGenuine(f"{name} is missing, repeated or not of its form")
            given[name] = found[0]
        sign = given.pop("sign")
        is_expected = given["merchantId"] == self.keys.merchant_id and payment_id in (None, given["paymentId"])
        if not is_expected or abs(self.now_ms() - int(given["timestamp"])) > REDIRECT_AGE_MS:
            raise NotGenuine("for another merchant or payment, or too old")
        try:
            self.keys.verify("&".join(f"{name}={given[name]}" for name in sorted(given)), sign)
        except ValueError as error:
            raise NotGenuine("the signature is not base64") from error
        return given
