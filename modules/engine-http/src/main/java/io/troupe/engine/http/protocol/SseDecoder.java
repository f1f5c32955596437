package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes a byte stream into the data of server-sent events, independently of the chunk boundaries.
 *
 * <p>Bytes are decoded to text only when a line is complete, so a character may be split between
 * chunks. Lines end with LF, CR LF or CR. Comments, and fields other than {@code data}, are
 * ignored. As the standard says, an event without its empty line at the end of the stream is
 * dropped.
 */
public final class SseDecoder {
  private static final int MOST_BYTES = 64 << 20;

  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final StringBuilder data = new StringBuilder();
  private boolean hasData;
  private boolean afterReturn;

  /**
   * Decodes the next bytes.
   *
   * @return the data of the events that end in these bytes
   * @throws IllegalArgumentException if an event is longer than any server's answer can be
   */
  public List<String> decode(ByteBuffer bytes) {
    List<String> events = new ArrayList<>();
    byte[] chunk = new byte[bytes.remaining()];
    bytes.get(chunk);
    int from = 0;
    for (int i = 0; i < chunk.length; i++) {
      boolean secondHalf = chunk[i] == '\n' && afterReturn;
      afterReturn = chunk[i] == '\r';
      if (chunk[i] == '\n' || chunk[i] == '\r') {
        if (!secondHalf) {
          gather(chunk, from, i);
          endLine(events);
        }
        from = i + 1;
      }
    }
    gather(chunk, from, chunk.length);
    return events;
  }

  private void gather(byte[] chunk, int from, int until) {
    require(
        line.size() + data.length() + until - from < MOST_BYTES,
        "an event of the stream exceeds %d bytes",
        MOST_BYTES);
    line.write(chunk, from, until - from);
  }

  /** Whether an event has begun and not ended; at the end of a stream, the event was cut. */
  public boolean midEvent() {
    return hasData || line.size() > 0;
  }

  private void endLine(List<String> events) {
    String text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    if (text.isEmpty()) {
      if (hasData) {
        events.add(data.toString());
      }
      data.setLength(0);
      hasData = false;
    } else if (text.startsWith("data:")) {
      data.append(hasData ? "\n" : "")
          .append(text, text.startsWith("data: ") ? 6 : 5, text.length());
      hasData = true;
    }
  }
}
