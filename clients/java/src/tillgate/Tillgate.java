package tillgate;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The operations of a Tillgate gateway, for Java 17 or newer without any dependency. Each is safe to repeat with the same
 * numbers, so repeat it where no answer came.
 */
public final class Tillgate {
  private static final long REDIRECT_AGE_MS = 10 * 60 * 1000;
  private static final Map<String, String> REDIRECT_FORMS = new TreeMap<>(Map.of(
      "merchantId", "[0-9A-Za-z]{18}",
      "paymentId", "[0-9A-Za-z]{1,32}",
      "referOrderNo", "[^\\x00-\\x1f\\x7f-\\x9f\\ufffd]{1,64}",
      "sign", "[0-9A-Za-z+/=]+",
      "status", String.join("|", Codes.ORDER_STATUSES),
      "timestamp", "[0-9]{13}"));

  public final Keys keys;
  private final String url;
  private final HttpClient http;
  private final LongSupplier nowMs;
  private final SecureRandom random = new SecureRandom();

  public Tillgate(String gatewayUrl, Keys keys) {
    this(gatewayUrl, keys, HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build(),
        System::currentTimeMillis);
  }

  public Tillgate(String gatewayUrl, Keys keys, HttpClient http, LongSupplier nowMs) {
    this.url = gatewayUrl.replaceAll("/+$", "");
    this.keys = keys;
    this.http = http;
    this.nowMs = nowMs;
  }

  /** As a sandbox writes it to data/sandbox-merchant.json. */
  public static Tillgate fromFile(Path file) throws IOException, GeneralSecurityException {
    Map<?, ?> given = (Map<?, ?>) Json.read(Files.readString(file));
    Keys keys = new Keys((String) given.get("merchantId"), listed(given.get("aesKey")),
        (String) given.get("privateKey"), listed(given.get("platformPublicKey")));
    return new Tillgate((String) given.get("gatewayUrl"), keys);
  }

  /**
   * From TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and TILLGATE_PLATFORM_PUBLIC_KEY.
   * A value may be in a file, which the variable with _FILE at its end names.
   */
  public static Tillgate fromEnvironment() throws GeneralSecurityException {
    return Environment.client(System.getenv());
  }

  private static List<String> listed(Object oneOrTwo) {
    return oneOrTwo instanceof List<?> list ? list.stream().map(String.class::cast).toList() : List.of((String) oneOrTwo);
  }

  /**
   * Answers paymentId and checkoutUrl. channel is WEB, and the order is open for half an hour, unless given. To repeat it
   * where no answer came, give paymentTime and paymentExpiryTime yourself, the same each time: they are part of the content,
   * and the same number with other content is refused (40900).
   */
  public Map<?, ?> create(Map<String, ?> body) throws IOException, InterruptedException {
    long now = nowMs.getAsLong();
    Map<String, Object> whole = new LinkedHashMap<>();
    whole.put("channel", "WEB");
    whole.put("paymentTime", now);
    whole.put("paymentExpiryTime", now + 1_800_000);
    whole.putAll(body);
    return call("service.trade.create", whole);
  }

  public Map<?, ?> query(String paymentId) throws IOException, InterruptedException {
    return call("service.trade.query", Map.of("paymentId", paymentId));
  }

  /** For when the answer of create was lost. */
  public Map<?, ?> queryByOrderNo(String orderNo) throws IOException, InterruptedException {
    return call("service.trade.query", Map.of("orderNo", orderNo));
  }

  /**
   * Orders, newest first, by since, until, status and limit. Give the cursor of an answer for the orders that follow;
   * without one the list has ended.
   */
  public Map<?, ?> listOrders(Map<String, ?> wanted) throws IOException, InterruptedException {
    return call("service.order.list", wanted);
  }

  public Map<?, ?> cancel(String paymentId) throws IOException, InterruptedException {
    return call("service.trade.cancel", Map.of("paymentId", paymentId));
  }

  /** Takes the money of an order with captureMode manual: an amount, or with null all that remains. */
  public Map<?, ?> capture(String paymentId, String referCaptureNo, String amount, boolean isFinal)
      throws IOException, InterruptedException {
    Map<String, Object> body = new java.util.LinkedHashMap<>();
    body.put("paymentId", paymentId);
    body.put("referCaptureNo", referCaptureNo);
    if (amount != null) body.put("amount", amount);
    body.put("final", isFinal);
    return call("service.order.capture", body);
  }

  public Map<?, ?> release(String paymentId) throws IOException, InterruptedException {
    return call("service.order.release", Map.of("paymentId", paymentId));
  }

  /** Charges the wallet whose code the consumer shows. Repeating it with the same orderNo is safe. */
  public Map<?, ?> scan(String code, String orderNo, String amount, String currency)
      throws IOException, InterruptedException {
    return call("service.order.scan",
        Map.of("code", code, "orderNo", orderNo, "amount", amount, "currency", currency));
  }

  public Map<?, ?> refund(String paymentId, String referRefundNo, String amount)
      throws IOException, InterruptedException {
    return call("service.trade.refund",
        Map.of("paymentId", paymentId, "referRefundNo", referRefundNo, "refundAmount", amount));
  }

  /** The totals of a day, such as 2026-11-16 (UTC), and for five minutes the address of its CSV file. */
  public Map<?, ?> bill(String date) throws IOException, InterruptedException {
    return call("service.bill.get", Map.of("date", date));
  }

  public Map<?, ?> call(String method, Map<String, ?> body) throws IOException, InterruptedException {
    return callText(method, Json.write(body));
  }

  /** With the body as the text that you have already. */
  public Map<?, ?> callText(String method, String text) throws IOException, InterruptedException {
    byte[] nonce = new byte[12];
    random.nextBytes(nonce);
    String envelope;
    try {
      envelope = Json.write(keys.seal(method, text, Long.toString(nowMs.getAsLong()), nonce));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException("the keys cannot be used", error);
    }
    HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/api/v1/gateway"))
        .header("Content-Type", "application/json")
        .timeout(Duration.ofSeconds(15))
        .POST(HttpRequest.BodyPublishers.ofString(envelope))
        .build();
    Map<?, ?> answer = (Map<?, ?>) Json.read(http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    int code = Integer.parseInt(answer.get("code").toString());
    Map<?, ?> data = answer.get("data") instanceof Map<?, ?> map ? map : Map.of();
    if (code != 20000) throw new TillgateException((String) answer.get("msg"), code, data);
    return data;
  }

  /** Takes the body of the HTTP request as it came. */
  public Callback openCallback(String raw) throws NotGenuineException {
    return keys.open(raw);
  }

  /** Refuses an attempt that was made longer ago too, or is further ahead, than the maximum age. */
  public Callback openCallback(String raw, long maxAgeMs) throws NotGenuineException {
    Callback callback = keys.open(raw);
    if (Math.abs(nowMs.getAsLong() - callback.timestampMs()) > maxAgeMs) {
      throw new NotGenuineException("made too long ago, or the clock is wrong");
    }
    return callback;
  }

  /**
   * The parameters with which the consumer came back, from the raw query of the address. For display alone: deliver on a
   * callback or a query. With a paymentId, it must be about that payment; null takes any.
   */
  public Map<String, String> verifyRedirect(String query, String paymentId) throws NotGenuineException {
    Map<String, String> given = new TreeMap<>();
    try {
      for (String pair : query.split("&")) {
        String[] parts = pair.split("=", 2);
        String name = URLDecoder.decode(parts[0], StandardCharsets.UTF_8);
        String value = parts.length < 2 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
        String form = REDIRECT_FORMS.get(name);
        if (form != null && (!value.matches(form) || given.put(name, value) != null)) {
          throw new NotGenuineException(name + " is repeated or not of its form");
        }
      }
      if (!given.keySet().equals(REDIRECT_FORMS.keySet())) throw new NotGenuineException("a parameter is missing");
      String sign = given.remove("sign");
      boolean isExpected = given.get("merchantId").equals(keys.merchantId)
          && (paymentId == null || paymentId.equals(given.get("paymentId")));
      long age = Math.abs(nowMs.getAsLong() - Long.parseLong(given.get("timestamp")));
      if (!isExpected || age > REDIRECT_AGE_MS) throw new NotGenuineException("for another, or too old");
      keys.verify(Keys.joined(given), sign);
      return given;
    } catch (GeneralSecurityException | IllegalArgumentException error) {
      throw new NotGenuineException("not from the gateway", error);
    }
  }
}
