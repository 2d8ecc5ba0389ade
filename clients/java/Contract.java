import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import tillgate.Callback;
import tillgate.CallbackHandler;
import tillgate.Json;
import tillgate.NotGenuineException;
import tillgate.Tillgate;
import tillgate.TillgateException;

/** Lets the common contract suite drive this client: one JSON command a line in, one JSON answer a line out. */
public final class Contract {
  private static final List<String> received = Collections.synchronizedList(new ArrayList<>());

  public static void main(String[] args) throws Exception {
    Tillgate client = Tillgate.fromFile(Path.of(args[0]));
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      Map<String, Object> answer = new HashMap<>();
      try {
        answer.put("data", run(client, (Map<?, ?>) Json.read(line)));
      } catch (NotGenuineException refused) {
        answer.put("refused", true);
      } catch (TillgateException error) {
        Map<String, Object> told = new HashMap<>(Map.of("code", error.code));
        told.put("name", error.name);
        told.put("field", error.field);
        answer.put("error", told);
      }
      System.out.write((Json.write(answer) + "\n").getBytes(StandardCharsets.UTF_8));
      System.out.flush();
    }
    System.exit(0);
  }

  @SuppressWarnings("unchecked")
  private static Object run(Tillgate client, Map<?, ?> given) throws Exception {
    String paymentId = (String) given.get("paymentId");
    String method = (String) given.get("method");
    return switch ((String) given.get("do")) {
      case "seal" -> {
        String body = (String) given.get("body");
        String timestamp = given.get("timestamp").toString();
        byte[] nonce = HexFormat.of().parseHex((String) given.get("nonceHex"));
        Map<String, String> sealed = client.keys.seal(method, body, timestamp, nonce);
        sealed.put("stringToSign", client.keys.stringToSign(method, body, timestamp));
        yield sealed;
      }
      case "open" -> {
        String raw = (String) given.get("raw");
        if (given.get("maxAgeMs") == null) yield Map.of("body", client.openCallback(raw).text());
        yield Map.of("body", at(given, client).openCallback(raw, Long.parseLong(given.get("maxAgeMs").toString())).text());
      }
      case "redirect" -> at(given, client).verifyRedirect((String) given.get("query"), paymentId);
      case "create" -> client.create((Map<String, ?>) given.get("order"));
      case "query" -> paymentId == null ? client.queryByOrderNo((String) given.get("orderNo")) : client.query(paymentId);
      case "cancel" -> client.cancel(paymentId);
      case "refund" -> client.refund(paymentId, (String) given.get("referRefundNo"), (String) given.get("amount"));
      case "bill" -> client.bill((String) given.get("date"));
      case "send" -> client.callText(method, (String) given.get("text"));
      case "environment" -> {
        try {
          yield Tillgate.fromEnvironment().queryByOrderNo((String) given.get("orderNo"));
        } catch (IllegalArgumentException error) {
          yield Map.of("problem", error.getMessage());
        }
      }
      case "serve" -> {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", new CallbackHandler(client, Contract::take));
        server.start();
        yield Map.of("port", server.getAddress().getPort());
      }
      default -> Map.of("bodies", List.copyOf(received));
    };
  }

  private static Tillgate at(Map<?, ?> given, Tillgate client) {
    long now = Long.parseLong(given.get("nowMs").toString());
    return new Tillgate("", client.keys, HttpClient.newHttpClient(), () -> now);
  }

  private static void take(Callback callback) {
    if ("fail".equals(callback.result().get("msg"))) throw new IllegalStateException("as the suite asked for");
    received.add(callback.text());
  }
}
