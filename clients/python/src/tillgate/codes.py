"""Made by scripts/documentation.ts from the catalog of the gateway: do not edit."""
from typing import Dict

CODES: Dict[int, str] = {
    # The request envelope is malformed: a field is missing, unknown, repeated or invalid.
    40000: "malformed_envelope",
    # A field of the body is missing or invalid. `data.field` names it.
    40001: "invalid_field",
    # An amount has more decimal places than its currency, or exceeds 10^15.
    40002: "amount_does_not_fit_currency",
    # A total differs from the sum over the goods. `msg` contains both amounts.
    40003: "amounts_do_not_add_up",
    # A time or date is outside the allowed range.
    40004: "times_out_of_range",
    # The URL is not allowed. `data.field` names it.
    40005: "url_not_allowed",
    # The envelope’s timestamp is more than 5 minutes away from the gateway’s clock.
    40010: "timestamp_outside_window",
    # The envelope could not be opened: check merchantId, the AES key, the RSA key and the string to sign. `till debug-signature`, a command of the SDK, finds which one is wrong.
    40100: "envelope_not_opened",
    # The merchant is suspended. Ask the operator of the gateway.
    40300: "merchant_suspended",
    # Too many different callback hosts within 24 hours. Use a fixed callbackUrl.
    40301: "callback_address_changed_too_often",
    # The payment order or refund does not exist.
    40400: "order_not_found",
    # The path or the `method` does not exist, or this path does not serve the `method`.
    40401: "no_such_operation",
    # The payment code is wrong, expired or used. Ask the consumer for a new one.
    40403: "code_not_accepted",
    # The HTTP method is wrong: use the one in the Allow header.
    40500: "wrong_verb",
    # The number was already used with different content. Use a new number.
    40900: "number_already_used",
    # The status of the payment order does not allow this operation.
    40901: "status_does_not_allow",
    # The refund exceeds the remaining amount of the payment.
    40902: "more_than_left_to_refund",
    # The capture exceeds the remaining amount of the authorization.
    40903: "more_than_left_to_capture",
    # The request is larger than 256 KiB.
    41300: "too_large",
    # The request is not JSON: send it with Content-Type application/json.
    41500: "not_json",
    # Too many requests. Wait the number of seconds in the Retry-After header, then repeat the request.
    42900: "too_many_requests",
    # The gateway failed. You can safely repeat the request.
    50000: "internal",
    # The gateway cannot serve this request now. Wait the number of seconds in the Retry-After header, then repeat the request.
    50300: "unavailable",
}

ORDER_STATUSES = ("pending", "confirming", "success", "failed", "timeout", "cancelled")
