package tillgate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * As much JSON as the client needs, because Java's own library has none. Numbers are kept as their text, so that no
 * amount is ever rounded. Use the JSON library that you have instead; only keep the body's text once it is written.
 */
public final class Json {
  public static Object read(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at != text.length()) throw json.wrong();
    return value;
  }

  public static String write(Object value) {
    if (value instanceof Map<?, ?> map) {
      List<String> members = new ArrayList<>();
      map.forEach((key, member) -> members.add(write(key.toString()) + ":" + write(member)));
      return "{" + String.join(",", members) + "}";
    }
    if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
    if (value instanceof String string) return quote(string);
    return String.valueOf(value);
  }

  private static String quote(String string) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : string.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  /** Deeper than anything of the protocol, and far from the end of the stack. */
  private static final int MAX_DEPTH = 32;
  /** More than any number of the protocol has. BigDecimal takes seconds for as many as a callback may have bytes. */
  private static final int MAX_DIGITS = 64;
  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  private Object value() {
    space();
    char c = peek();
    if (c == '{' || c == '[') {
      if (++depth > MAX_DEPTH) throw wrong();
      Object value = c == '{' ? object() : list();
      depth--;
      return value;
    }
    if (c == '"') return string();
    int start = at;
    while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
    String word = text.substring(start, at);
    if (word.equals("null")) return null;
    if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
    if (word.length() > MAX_DIGITS || !word.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) throw wrong();
    return new java.math.BigDecimal(word);
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    space();
    if (peek() == '}') { at++; return map; }
    while (true) {
      space();
      String key = string();
      space();
      expect(':');
      if (map.containsKey(key)) throw wrong();
      map.put(key, value());
      space();
      if (peek() == '}') { at++; return map; }
      expect(',');
    }
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    at++;
    space();
    if (peek() == ']') { at++; return list; }
    while (true) {
      list.add(value());
      space();
      if (peek() == ']') { at++; return list; }
      expect(',');
    }
  }

  private String string() {
    expect('"');
    StringBuilder out = new StringBuilder();
    while (peek() != '"') {
      char c = text.charAt(at++);
      if (c < 0x20) throw wrong();
      if (c != '\\') { out.append(c); continue; }
      char escape = peek();
      at++;
      if (escape == 'u') {
        out.append((char) java.util.HexFormat.fromHexDigits(text, at, at + 4));
        at += 4;
      } else {
        int index = "\"\\/bfnrt".indexOf(escape);
        if (index < 0) throw wrong();
        out.append("\"\\/\b\f\n\r\t".charAt(index));
      }
    }
    at++;
    return out.toString();
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
  }

  private char peek() {
    if (at >= text.length()) throw wrong();
    return text.charAt(at);
  }

  private void expect(char c) {
    if (peek() != c) throw wrong();
    at++;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("not JSON at position " + at);
  }
}
