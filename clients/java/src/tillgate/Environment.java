package tillgate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Credentials from the environment variables that the clients of all languages read. */
final class Environment {
  private final Map<String, String> variables;
  private final List<String> problems = new ArrayList<>();

  private Environment(Map<String, String> variables) {
    this.variables = variables;
  }

  static Tillgate client(Map<String, String> variables) throws GeneralSecurityException {
    Environment environment = new Environment(variables);
    String gatewayUrl = environment.read("TILLGATE_GATEWAY_URL");
    String merchantId = environment.read("TILLGATE_MERCHANT_ID");
    List<String> aesKeys = several(environment.read("TILLGATE_AES_KEY"));
    String privateKey = environment.read("TILLGATE_PRIVATE_KEY");
    List<String> platformPublicKeys = several(environment.read("TILLGATE_PLATFORM_PUBLIC_KEY"));
    if (!environment.problems.isEmpty()) throw new IllegalArgumentException(String.join("; ", environment.problems));
    return new Tillgate(gatewayUrl, new Keys(merchantId, aesKeys, privateKey, platformPublicKeys));
  }

  private String read(String name) {
    String value = variables.getOrDefault(name, "").trim();
    String file = variables.getOrDefault(name + "_FILE", "").trim();
    if (!value.isEmpty() && !file.isEmpty()) {
      problems.add(name + " and " + name + "_FILE are both set: keep one of them");
    } else if (!file.isEmpty()) {
      try {
        return Files.readString(Path.of(file)).trim();
      } catch (IOException error) {
        problems.add(name + "_FILE is " + file + ": it cannot be read");
      }
    } else if (value.isEmpty()) {
      problems.add(name + " is missing");
    }
    // A .env file has a PEM on one line, with \n for its line breaks.
    return value.contains("-----BEGIN") ? value.replace("\\n", "\n") : value;
  }

  /** While a key is replaced, a variable has two: separated by a comma, or one PEM after the other. */
  private static List<String> several(String text) {
    String[] parts = text.replace("-----\n-----BEGIN", "-----,-----BEGIN").split(",");
    return Arrays.stream(parts).filter(part -> !part.isBlank()).toList();
  }
}
