package io.troupe.engine;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Searches a growing completion for stop strings.
 *
 * <p>It compares UTF-8 bytes, not characters: a character may be spread over tokens, and a stop
 * string may begin in the middle of one token and end in another. The matcher keeps only the bytes
 * that a stop string begun earlier can need.
 */
public final class StopMatcher {
  /** The number of stop strings that every server takes: OpenAI's limit, and vLLM's default. */
  public static final int MOST_OF_A_REQUEST = 4;

  private final List<byte[]> stops;
  private final int longest;
  private byte[] tail = {};

  public StopMatcher(List<String> stops) {
    this.stops = stops.stream().map(stop -> stop.getBytes(StandardCharsets.UTF_8)).toList();
    this.longest = this.stops.stream().mapToInt(stop -> stop.length).max().orElse(0);
  }

  /** Appends the bytes of the next token; returns true if a stop string ends within them. */
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
   * Returns the stop strings without those that hold another one: a text that ends at three
   * newlines ends at two before.
   */
  public static List<String> necessary(List<String> stops) {
    List<String> distinct = stops.stream().distinct().toList();
    return distinct.stream()
        .filter(stop -> distinct.stream().noneMatch(it -> !it.equals(stop) && stop.contains(it)))
        .toList();
  }

  /**
   * Returns the necessary stop strings that a request to any server may name. The caller cuts
   * completions at the others.
   */
  public static List<String> ofRequest(List<String> stops) {
    return necessary(stops).stream().limit(MOST_OF_A_REQUEST).toList();
  }

  /** Returns the text of a completion as verifiers see it: cut before the first stop string. */
  public static String cut(String text, List<String> stops) {
    int end = text.length();
    for (String stop : stops) {
      int at = text.indexOf(stop);
      end = at >= 0 ? Math.min(end, at) : end;
    }
    return text.substring(0, end);
  }
}
