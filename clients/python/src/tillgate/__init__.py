"""A client of a Tillgate gateway: orders, refunds, callbacks and the consumer's way back."""
from .callbacks import CallbackHandler
from .client import Callback, Tillgate
from .errors import NotGenuine, TillgateError

__all__ = ["Callback", "CallbackHandler", "NotGenuine", "Tillgate", "TillgateError"]
