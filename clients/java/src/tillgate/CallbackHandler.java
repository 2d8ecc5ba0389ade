package tillgate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Takes callbacks: as a handler of Java's own HttpServer, or by {@link #answer} in any framework. The listener gets each
 * callback that is genuine: let it look at the id, and do slow work afterwards; when it throws, the gateway sends the
 * callback again later.
 */
public final class CallbackHandler implements HttpHandler {
  /** What is done with a callback. */
  public interface Listener {
    void handle(Callback callback) throws Exception;
  }

  /** What to answer: JSON. */
  public record Answer(int status, String body) {}

  private static final int MAX_BYTES = 256 * 1024;
  private final Tillgate client;
  private final Listener listener;
  private final long maxAgeMs;

  public CallbackHandler(Tillgate client, Listener listener) {
    this(client, listener, Long.MAX_VALUE);
  }

  /** Refuses attempts that were made longer ago than the maximum age. */
  public CallbackHandler(Tillgate client, Listener listener, long maxAgeMs) {
    this.client = client;
    this.listener = listener;
    this.maxAgeMs = maxAgeMs;
  }

  public Answer answer(String method, byte[] raw) {
    if (!method.equals("POST")) return refusal(405, 40401, "Callbacks come by POST.");
    if (raw.length > MAX_BYTES) return refusal(413, 41300, "This is too large for a callback.");
    Callback callback;
    try {
      callback = client.openCallback(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(raw)).toString(), maxAgeMs);
    } catch (NotGenuineException | CharacterCodingException refused) {
      return refusal(400, 40100, "This is not a callback.");
    }
    try {
      listener.handle(callback);
    } catch (Exception error) {
      System.getLogger("tillgate").log(System.Logger.Level.ERROR, "Callback " + callback.id() + " was not handled", error);
      return refusal(500, 50000, "The callback could not be handled: send it again.");
    }
    return new Answer(200, "{\"code\":20000,\"msg\":\"\"}");
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] raw = exchange.getRequestBody().readNBytes(MAX_BYTES + 1);
      Answer answer = answer(exchange.getRequestMethod(), raw);
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private static Answer refusal(int status, int code, String message) {
    return new Answer(status, Json.write(Map.of("code", code, "msg", message)));
  }
}
