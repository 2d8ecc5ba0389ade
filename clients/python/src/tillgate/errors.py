"""What goes wrong, by name. `codes` has every code that the gateway answers with."""
from typing import Any, Mapping, Optional

from .codes import CODES


class TillgateError(Exception):
    """The gateway refused a request. Decide by `code` or `name`; the message is for people."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.name: Optional[str] = CODES.get(code)
        self.field: Optional[str] = data.get("field")
        self.request_id: Optional[str] = data.get("requestId")


class NotGenuine(Exception):
    """This is not from the gateway, or not for this merchant: answer HTTP 400 and do nothing."""
