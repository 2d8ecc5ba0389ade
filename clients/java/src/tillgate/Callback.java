package tillgate;

import java.util.Map;

/**
 * A callback that is genuine, and for this merchant.
 *
 * @param id the same on every attempt: what duplicates are known by
 * @param result the body; numbers are BigDecimal
 * @param text the body as it was signed
 * @param timestampMs when this attempt was made
 */
public record Callback(String id, String eventName, Map<?, ?> result, String text, long timestampMs) {}
