package tillgate;

import java.io.IOException;
import java.util.Map;

/** The gateway refused a request. Decide by the code or the name; the message is for people. */
@SuppressWarnings("serial")
public final class TillgateException extends IOException {
  public final int code;
  /** As in {@link Codes}; null for a code that came after this version. */
  public final String name;
  public final String field;
  public final String requestId;

  TillgateException(String message, int code, Map<?, ?> data) {
    super(message + " (" + code + ")");
    this.code = code;
    this.name = Codes.NAMES.get(code);
    this.field = (String) data.get("field");
    this.requestId = (String) data.get("requestId");
  }
}
