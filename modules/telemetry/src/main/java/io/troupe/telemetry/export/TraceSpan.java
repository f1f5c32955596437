package io.troupe.telemetry.export;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A span as OpenTelemetry has it.
 *
 * @param trace 32 hexadecimal digits
 * @param id 16 hexadecimal digits
 * @param parent the span it is a part of; empty for the whole
 * @param from milliseconds since 1970
 * @param until likewise, not before
 * @param attributes texts, whole numbers and numbers, in an order to read
 * @param error the failure; empty when there was none
 */
public record TraceSpan(
    String trace,
    String id,
    String parent,
    String name,
    long from,
    long until,
    Map<String, Object> attributes,
    String error) {
  public TraceSpan {
    attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
  }
}
