package io.troupe.engine;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Looks for stop strings in a completion while it grows.
 *
 * <p>It compares UTF-8 bytes, not characters: a character may be spread over tokens, and a stop
 * string may begin in the middle of one token and end in another. Only as many bytes are kept as a
 * stop string that began earlier can need.
 */
public final class StopMatcher {
  private final List<byte[]> stops;
  private final int longest;
  private byte[] tail = {};

  public StopMatcher(List<String> stops) {
    this.stops = stops.stream().map(stop -> stop.getBytes(StandardCharsets.UTF_8)).toList();
    this.longest = this.stops.stream().mapToInt(stop -> stop.length).max().orElse(0);
  }

  /** Takes the bytes of the next token; true if a stop string ends within them. */
  public boolean endsWith(byte[] next) {
    if (longest == 0) {
      return false;
    }
    byte[] text = Arrays.copyOf(tail, tail.length + next.length);
    System.arraycopy(next, 0, text, tail.length, next.length);
    int old = tail.length;
    tail = Arrays.copyOfRange(text, Math.max(0, text.length - longest + 1), text.length);
    return stops.stream().anyMatch(stop -> found(text, stop, Math.max(0, old - stop.length + 1)));
  }

  private static boolean found(byte[] text, byte[] stop, int from) {
    for (int i = from; i + stop.length <= text.length; i++) {
      if (Arrays.equals(text, i, i + stop.length, stop, 0, stop.length)) {
        return true;
      }
    }
    return false;
  }

  /**
   * A completion's text as verifiers see it: without the first stop string and what follows it,
   * which belongs to the token that completed it.
   */
  public static String cut(String text, List<String> stops) {
    int end = text.length();
    for (String stop : stops) {
      int at = text.indexOf(stop);
      end = at >= 0 ? Math.min(end, at) : end;
    }
    return text.substring(0, end);
  }
}
