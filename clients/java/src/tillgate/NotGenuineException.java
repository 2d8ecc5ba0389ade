package tillgate;

/** This is not from the gateway, or not for this merchant: answer HTTP 400 and do nothing. */
@SuppressWarnings("serial")
public final class NotGenuineException extends Exception {
  NotGenuineException(String message) {
    super(message);
  }

  NotGenuineException(String message, Throwable cause) {
    super(message, cause);
  }
}
