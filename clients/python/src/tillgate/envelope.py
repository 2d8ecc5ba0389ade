"""Seals requests and opens what the gateway signed, as docs/protocol.md says it."""
import base64
import json
import re
from typing import Any, Dict, List, Sequence, Tuple, Union

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .errors import NotGenuine

ONE_OR_TWO = Union[str, Sequence[str]]
FIXED = {"charset": "utf-8", "encryptType": "AES", "format": "json", "signType": "RSA"}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}\Z")
# No value can hold what separates fields, so the signed text has one reading.
VALUE = re.compile(r"[A-Za-z0-9._:/+-]*\Z")
TIMESTAMP = re.compile(r"[0-9]{13}\Z")


class Keys:
    def __init__(self, merchant_id: str, aes_key: ONE_OR_TWO, private_key: str, platform_public_key: ONE_OR_TWO):
        self.merchant_id = merchant_id
        self.aes = [AESGCM(read_aes_key(key)) for key in listed(aes_key)]
        private = serialization.load_pem_private_key(private_key.encode(), None)
        public = [serialization.load_pem_public_key(key.encode()) for key in listed(platform_public_key)]
        if not isinstance(private, rsa.RSAPrivateKey):
            raise ValueError("privateKey must be an RSA key")
        self.private_key = private
        self.platform_keys = [key for key in public if isinstance(key, rsa.RSAPublicKey)]

    def string_to_sign(self, method: str, text: str, timestamp: int) -> str:
        return (f"body={text}&charset=utf-8&encryptType=AES&format=json&merchantId={self.merchant_id}"
                f"&method={method}&signType=RSA&timestamp={timestamp}")

    def seal(self, method: str, text: str, timestamp: int, nonce: bytes) -> Dict[str, Any]:
        """`text` is the body, serialised once: this very text is signed and encrypted."""
        to_sign = self.string_to_sign(method, text, timestamp).encode()
        sign = self.private_key.sign(to_sign, padding.PKCS1v15(), hashes.SHA256())
        sealed = nonce + self.aes[0].encrypt(nonce, text.encode(), None)
        return {"merchantId": self.merchant_id, "method": method, "timestamp": timestamp,
                "sign": base64.b64encode(sign).decode(), "body": base64.b64encode(sealed).decode()}

    def open(self, raw: Union[str, bytes]) -> Tuple[Dict[str, str], str]:
        """The envelope of a callback and its body's text."""
        try:
            # UTF-8 alone: json.loads would take bytes in UTF-16 and UTF-32 too. No number belongs here, so a long one
            # is not worth computing.
            given = raw.decode() if isinstance(raw, bytes) else raw
            envelope = json.loads(given, object_pairs_hook=without_duplicates, parse_int=float)
            if not isinstance(envelope, dict) or not {"id", "eventName"} <= envelope.keys():
                raise NotGenuine("not an envelope")
            if not TIMESTAMP.match(envelope["timestamp"]):
                raise NotGenuine("a timestamp that no gateway sends")
            text = self.decrypt(decode(envelope["body"]))
            fields = {**FIXED, **envelope}
            if envelope["merchantId"] != self.merchant_id or any(fields[name] != FIXED[name] for name in FIXED):
                raise NotGenuine("for another merchant, or of another form")
            parts = []
            for name in sorted(fields):  # what a later gateway adds is signed too
                if name not in ("sign", "body") and not (NAME.match(name) and VALUE.match(fields[name])):
                    raise NotGenuine("a field that no gateway sends")
                if name != "sign":
                    parts.append(f"{name}={text if name == 'body' else fields[name]}")
            self.verify("&".join(parts), envelope["sign"])
            return envelope, text
        except (InvalidTag, ValueError, KeyError, TypeError, RecursionError) as error:
            raise NotGenuine("not a callback of the gateway") from error

    def verify(self, text: str, sign: str) -> None:
        signature = decode(sign)
        for key in self.platform_keys:
            try:
                return key.verify(signature, text.encode(), padding.PKCS1v15(), hashes.SHA256())
            except InvalidSignature:
                continue
        raise NotGenuine("the signature is not the gateway's")

    def decrypt(self, sealed: bytes) -> str:
        for aes in self.aes:
            try:
                return aes.decrypt(sealed[:12], sealed[12:], None).decode()
            except InvalidTag:
                continue
        raise NotGenuine("the body does not open")


def read_aes_key(text: str) -> bytes:
    try:
        key = decode(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ValueError("aesKey must be 32 bytes in base64")
    return key


def decode(text: str) -> bytes:
    """Canonical base64 alone: one text for the same bytes."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("not canonical base64")
    return data


def listed(value: ONE_OR_TWO) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def without_duplicates(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field is there twice")
    return dict(pairs)
