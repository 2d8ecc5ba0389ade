import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A client of a Tillgate gateway, for Java 17 or newer without any dependency. */
public final class Tillgate {
  /** What the gateway refused, by its code. */
  @SuppressWarnings("serial")
  public static final class TillgateException extends IOException {
    public final int code;
    public final Map<?, ?> data;

    TillgateException(String message, int code, Map<?, ?> data) {
      super(message + " (" + code + ")");
      this.code = code;
      this.data = data;
    }
  }

  private final String url;
  private final String merchantId;
  private final SecretKeySpec aesKey;
  private final PrivateKey privateKey;
  private final PublicKey platformKey;
  private final SecureRandom random = new SecureRandom();
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

  public Tillgate(String url, String merchantId, String aesKey, String privateKey, String platformPublicKey)
      throws GeneralSecurityException {
    this.url = url.replaceAll("/+$", "");
    this.merchantId = merchantId;
    this.aesKey = new SecretKeySpec(Base64.getDecoder().decode(aesKey), "AES");
    KeyFactory rsa = KeyFactory.getInstance("RSA");
    this.privateKey = rsa.generatePrivate(new PKCS8EncodedKeySpec(fromPem(privateKey)));
    this.platformKey = rsa.generatePublic(new X509EncodedKeySpec(fromPem(platformPublicKey)));
  }

  private static byte[] fromPem(String pem) {
    return Base64.getDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", ""));
  }

  public Map<?, ?> create(Map<String, ?> body) throws Exception {
    return call("service.trade.create", body);
  }

  public Map<?, ?> query(String paymentId) throws Exception {
    return call("service.trade.query", Map.of("paymentId", paymentId));
  }

  /** Safe to repeat when no answer came: with the same orderNo it stays the same order. */
  private Map<?, ?> call(String method, Map<String, ?> body) throws Exception {
    byte[] nonce = new byte[12];
    random.nextBytes(nonce);
    String envelope = Json.write(seal(method, Json.write(body), System.currentTimeMillis() + "", nonce));
    HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/api/v1/gateway"))
        .header("Content-Type", "application/json")
        .timeout(Duration.ofSeconds(15))
        .POST(HttpRequest.BodyPublishers.ofString(envelope))
        .build();
    String text = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    Map<?, ?> answer = (Map<?, ?>) Json.read(text);
    int code = Integer.parseInt(answer.get("code").toString());
    Map<?, ?> data = answer.get("data") instanceof Map<?, ?> map ? map : Map.of();
    if (code != 20000) throw new TillgateException((String) answer.get("msg"), code, data);
    return data;
  }

  public String stringToSign(String method, String s, String timestamp) {
    return "body=" + s + "&charset=utf-8&encryptType=AES&format=json&merchantId=" + merchantId
        + "&method=" + method + "&signType=RSA&timestamp=" + timestamp;
  }

  /** `s` is the body's text. It was serialised once: this very text is signed and encrypted. */
  public Map<String, String> seal(String method, String s, String timestamp, byte[] nonce)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(privateKey);
    signature.update(stringToSign(method, s, timestamp).getBytes(StandardCharsets.UTF_8));
    byte[] sealed = gcm(Cipher.ENCRYPT_MODE, nonce).doFinal(s.getBytes(StandardCharsets.UTF_8));
    byte[] body = ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed).array();
    Map<String, String> envelope = new LinkedHashMap<>();
    envelope.put("merchantId", merchantId);
    envelope.put("method", method);
    envelope.put("timestamp", timestamp);
    envelope.put("sign", Base64.getEncoder().encodeToString(signature.sign()));
    envelope.put("body", Base64.getEncoder().encodeToString(body));
    return envelope;
  }

  /**
   * The plain body of a callback, or null: then answer HTTP 400 and do nothing. Otherwise, when it is handled, answer
   * HTTP 200 with {"code":20000,"msg":""}. Its id is the same on every attempt.
   */
  public String openCallback(String raw) {
    try {
      Map<?, ?> e = (Map<?, ?>) Json.read(raw);
      if (!merchantId.equals(e.get("merchantId"))) return null;
      byte[] sealed = Base64.getDecoder().decode((String) e.get("body"));
      byte[] plain = gcm(Cipher.DECRYPT_MODE, Arrays.copyOf(sealed, 12)).doFinal(sealed, 12, sealed.length - 12);
      String s = new String(plain, StandardCharsets.UTF_8);
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(platformKey);
      // Fields that a later gateway adds are signed too.
      Map<String, Object> fields = new TreeMap<>(
          Map.of("charset", "utf-8", "encryptType", "AES", "format", "json", "signType", "RSA"));
      e.forEach((name, value) -> fields.put((String) name, value));
      fields.put("body", s);
      fields.remove("sign");
      String text = fields.entrySet().stream().map(Object::toString).collect(Collectors.joining("&"));
      signature.update(text.getBytes(StandardCharsets.UTF_8));
      return signature.verify(Base64.getDecoder().decode((String) e.get("sign"))) ? s : null;
    } catch (GeneralSecurityException | RuntimeException notGenuine) {
      return null;
    }
  }

  private Cipher gcm(int mode, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, aesKey, new GCMParameterSpec(128, nonce));
    return cipher;
  }
}
