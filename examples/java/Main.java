import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * javac -d out *.java, and then
 *
 * <pre>
 * java -cp out Main create  sandbox-merchant.json 12.50 USD
 * java -cp out Main query   sandbox-merchant.json PAYMENT_ID
 * java -cp out Main open    sandbox-merchant.json < callback.json
 * java -cp out Main vectors ../../docs/test-vectors.json
 * </pre>
 */
public final class Main {
  public static void main(String[] args) throws Exception {
    Map<?, ?> file = (Map<?, ?>) Json.read(Files.readString(Path.of(args[1])));
    if (args[0].equals("vectors")) {
      checkVectors(file);
      return;
    }
    Tillgate tillgate = new Tillgate(text(file, "gatewayUrl"), text(file, "merchantId"), text(file, "aesKey"),
        text(file, "privateKey"), text(file, "platformPublicKey"));
    System.out.println(switch (args[0]) {
      case "create" -> Json.write(tillgate.create(order(args[2], args[3])));
      case "query" -> Json.write(tillgate.query(args[2]));
      case "open" -> {
        String plain = tillgate.openCallback(new String(System.in.readAllBytes(), "UTF-8"));
        yield plain == null ? "This is not a callback of the gateway." : plain;
      }
      default -> throw new IllegalArgumentException("create, query, open or vectors");
    });
  }

  private static Map<String, Object> order(String amount, String currency) {
    long now = System.currentTimeMillis();
    Map<String, ?> goods = Map.of("referenceGoodsId", "tea", "goodsName", "Tea", "goodsAmount", amount);
    return Map.of("order", Map.of("orderNo", "java-" + now, "orderAmount", amount, "goods", List.of(goods)),
        "channel", "WEB", "paymentAmount", amount, "currency", currency,
        "paymentTime", now, "paymentExpiryTime", now + 1_800_000);
  }

  private static void checkVectors(Map<?, ?> vectors) throws Exception {
    Map<?, ?> keys = map(vectors, "keys");
    List<?> requests = (List<?>) vectors.get("requests");
    List<?> callbacks = (List<?>) vectors.get("callbacks");
    String merchantId = text(map(requests.get(0), "envelope"), "merchantId");
    Tillgate client = new Tillgate("", merchantId, text(map(keys, "merchant"), "aesKey"),
        text(map(keys, "merchant"), "privateKey"), text(map(keys, "gateway"), "publicKey"));
    for (Object vector : requests) {
      Map<?, ?> envelope = map(vector, "envelope");
      String method = text(envelope, "method");
      String body = text(vector, "body");
      String timestamp = envelope.get("timestamp").toString();
      check(client.stringToSign(method, body, timestamp).equals(text(vector, "stringToSign")), vector);
      Map<String, String> sealed =
          client.seal(method, body, timestamp, HexFormat.of().parseHex(text(vector, "nonceHex")));
      check(sealed.get("sign").equals(envelope.get("sign")) && sealed.get("body").equals(envelope.get("body")), vector);
    }
    for (Object vector : callbacks) {
      Map<?, ?> envelope = map(vector, "envelope");
      check(text(vector, "body").equals(client.openCallback(Json.write(envelope))), vector);
      String body = text(envelope, "body");
      Map<String, String> changes = Map.of("timestamp", "1760000000001", "merchantId", "100000000000000002",
          "sign", body, "body", body.substring(0, body.length() - 4) + "AAA=");
      for (Map.Entry<String, String> change : changes.entrySet()) {
        Map<Object, Object> changed = new LinkedHashMap<>(envelope);
        changed.put(change.getKey(), change.getValue());
        check(client.openCallback(Json.write(changed)) == null, vector);
      }
    }
    System.out.println(requests.size() + " requests and " + callbacks.size() + " callbacks are right");
  }

  private static void check(boolean isRight, Object vector) {
    if (!isRight) throw new IllegalStateException("wrong: " + text(vector, "name"));
  }

  private static Map<?, ?> map(Object from, String name) {
    return (Map<?, ?>) ((Map<?, ?>) from).get(name);
  }

  private static String text(Object from, String name) {
    return (String) ((Map<?, ?>) from).get(name);
  }
}
