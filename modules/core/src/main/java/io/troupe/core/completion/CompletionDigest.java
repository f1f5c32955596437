package io.troupe.core.completion;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Eight bytes that stand for everything that was sampled of a completion: two completions with the
 * same digest have the same tokens, the same bits of every log-probability, and the same end.
 *
 * <p>Behind them, {@code @n} says that keys and values were computed again before token n. That is
 * another computation with other rounding, so that sampling the completion again has to repeat it.
 */
public final class CompletionDigest {
  private static final int BYTES = 8;

  private CompletionDigest() {}

  /** The tokens of a digest before which keys and values were computed again. */
  public static List<Integer> preemptedAt(String digest) {
    return Arrays.stream(digest.split("@", -1)).skip(1).map(Integer::valueOf).toList();
  }

  /** A digest without the places of preemptions, which stored tokens do not have. */
  public static String withoutPreemptions(String digest) {
    int at = digest.indexOf('@');
    return at < 0 ? digest : digest.substring(0, at);
  }

  /**
   * The first eight bytes of the SHA-256 of a completion, as eleven characters of base64url, and
   * where it was preempted.
   */
  public static String of(Completion completion) {
    MessageDigest sha = sha256();
    for (char letter : completion.finishReason().name().toCharArray()) {
      sha.update((byte) letter);
    }
    float[] logProbs = completion.logProbs();
    float[] raw = completion.rawLogProbs();
    int tokens = completion.length();
    byte[] bytes = new byte[(2 * tokens + raw.length) * Integer.BYTES];
    for (int t = 0; t < tokens; t++) {
      put(bytes, t, completion.tokens()[t]);
      put(bytes, tokens + t, Float.floatToRawIntBits(logProbs[t]));
    }
    for (int t = 0; t < raw.length; t++) {
      put(bytes, 2 * tokens + t, Float.floatToRawIntBits(raw[t]));
    }
    sha.update(bytes);
    String digest =
        Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(sha.digest(), BYTES));
    return Arrays.stream(completion.preemptedAt())
        .mapToObj(token -> "@" + token)
        .collect(Collectors.joining("", digest, ""));
  }

  /** Big-endian. */
  private static void put(byte[] bytes, int index, int value) {
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[index * Integer.BYTES + i] = (byte) (value >> (Integer.SIZE - (i + 1) * Byte.SIZE));
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException absent) {
      throw new IllegalStateException("every Java platform has SHA-256", absent);
    }
  }
}
