package tillgate;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Seals requests and opens what the gateway signed, as docs/protocol.md says it. */
public final class Keys {
  private static final Map<String, String> FIXED =
      Map.of("charset", "utf-8", "encryptType", "AES", "format", "json", "signType", "RSA");

  public final String merchantId;
  private final List<SecretKeySpec> aesKeys = new ArrayList<>();
  private final PrivateKey privateKey;
  private final List<PublicKey> platformKeys = new ArrayList<>();

  /** Two of a kind while one replaces the other; the first AES key encrypts. */
  public Keys(String merchantId, List<String> aesKeys, String privateKey, List<String> platformPublicKeys)
      throws GeneralSecurityException {
    this.merchantId = merchantId;
    for (String key : aesKeys) this.aesKeys.add(new SecretKeySpec(aesKey(key), "AES"));
    KeyFactory rsa = KeyFactory.getInstance("RSA");
    this.privateKey = rsa.generatePrivate(new PKCS8EncodedKeySpec(fromPem(privateKey)));
    for (String key : platformPublicKeys) platformKeys.add(rsa.generatePublic(new X509EncodedKeySpec(fromPem(key))));
  }

  private static byte[] aesKey(String text) {
    byte[] key;
    try {
      key = decode(text);
    } catch (IllegalArgumentException e) {
      key = new byte[0];
    }
    if (key.length != 32) throw new IllegalArgumentException("aesKey must be 32 bytes in base64");
    return key;
  }

  private static byte[] fromPem(String pem) {
    return Base64.getDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", ""));
  }

  public String stringToSign(String method, String text, String timestamp) {
    return "body=" + text + "&charset=utf-8&encryptType=AES&format=json&merchantId=" + merchantId
        + "&method=" + method + "&signType=RSA&timestamp=" + timestamp;
  }

  /** The text is the body, serialised once: this very text is signed and encrypted. */
  public Map<String, String> seal(String method, String text, String timestamp, byte[] nonce)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(privateKey);
    signature.update(stringToSign(method, text, timestamp).getBytes(StandardCharsets.UTF_8));
    byte[] sealed = gcm(Cipher.ENCRYPT_MODE, aesKeys.get(0), nonce).doFinal(text.getBytes(StandardCharsets.UTF_8));
    byte[] body = ByteBuffer.allocate(nonce.length + sealed.length).put(nonce).put(sealed).array();
    Map<String, String> envelope = new LinkedHashMap<>();
    envelope.put("merchantId", merchantId);
    envelope.put("method", method);
    envelope.put("timestamp", timestamp);
    envelope.put("sign", Base64.getEncoder().encodeToString(signature.sign()));
    envelope.put("body", Base64.getEncoder().encodeToString(body));
    return envelope;
  }

  Callback open(String raw) throws NotGenuineException {
    try {
      Map<?, ?> envelope = (Map<?, ?>) Json.read(raw);
      String text = decrypt(decode((String) envelope.get("body")));
      Map<String, String> fields = new TreeMap<>(FIXED); // what a later gateway adds is signed too
      envelope.forEach((name, value) -> fields.put((String) name, (String) value));
      String sign = fields.remove("sign");
      fields.remove("body");
      for (Map.Entry<String, String> field : fields.entrySet()) {
        // No value can hold what separates fields, so the signed text has one reading.
        boolean isKnownForm = field.getKey().matches("[A-Za-z][A-Za-z0-9]{0,63}")
            && field.getValue().matches("[A-Za-z0-9._:/+-]*");
        boolean isFixed = field.getValue().equals(FIXED.getOrDefault(field.getKey(), field.getValue()));
        if (!isKnownForm || !isFixed) throw new NotGenuineException("a field that no gateway sends");
      }
      if (!merchantId.equals(fields.get("merchantId"))) throw new NotGenuineException("not for this merchant");
      if (!fields.get("timestamp").matches("[0-9]{13}")) throw new NotGenuineException("a timestamp that no gateway sends");
      String id = fields.get("id").toString();
      String eventName = fields.get("eventName").toString();
      fields.put("body", text);
      verify(joined(fields), sign);
      return new Callback(id, eventName, (Map<?, ?>) Json.read(text), text, Long.parseLong(fields.get("timestamp")));
    } catch (GeneralSecurityException | RuntimeException error) {
      throw new NotGenuineException("not a callback of the gateway", error);
    }
  }

  void verify(String text, String sign) throws GeneralSecurityException, NotGenuineException {
    byte[] given = decode(sign);
    for (PublicKey key : platformKeys) {
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(key);
      signature.update(text.getBytes(StandardCharsets.UTF_8));
      boolean isOfItsLength = given.length == (((java.security.interfaces.RSAKey) key).getModulus().bitLength() + 7) / 8;
      if (isOfItsLength && signature.verify(given)) return;
    }
    throw new NotGenuineException("the signature is not the gateway's");
  }

  static String joined(Map<String, String> sorted) {
    return sorted.entrySet().stream().map(Object::toString).collect(Collectors.joining("&"));
  }

  private String decrypt(byte[] sealed) throws GeneralSecurityException, NotGenuineException {
    for (SecretKeySpec key : aesKeys) {
      try {
        byte[] nonce = Arrays.copyOf(sealed, 12);
        byte[] plain = gcm(Cipher.DECRYPT_MODE, key, nonce).doFinal(sealed, 12, sealed.length - 12);
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(plain)).toString();
      } catch (AEADBadTagException otherKey) {
        continue;
      } catch (java.nio.charset.CharacterCodingException notText) {
        break;
      }
    }
    throw new NotGenuineException("the body does not open");
  }

  /** Canonical base64 alone: one text for the same bytes. */
  private static byte[] decode(String text) {
    byte[] bytes = Base64.getDecoder().decode(text);
    if (!Base64.getEncoder().encodeToString(bytes).equals(text)) throw new IllegalArgumentException("not canonical");
    return bytes;
  }

  private static Cipher gcm(int mode, SecretKeySpec key, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(128, nonce));
    return cipher;
  }
}
