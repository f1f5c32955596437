package io.troupe.core.rollout;

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

  /**
   * The first eight bytes of the SHA-256 of a completion, as eleven characters of base64url, and
   * where it was preempted.
   */
  public static String of(Completion completion) {
    MessageDigest sha = sha256();
    for (char letter : completion.finishReason().name().toCharArray()) {
      sha.update((byte) letter);
    }
    for (int token : completion.tokens()) {
      add(sha, token);
    }
    add(sha, completion.logProbs());
    add(sha, completion.rawLogProbs());
    String digest =
        Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(sha.digest(), BYTES));
    return Arrays.stream(completion.preemptedAt())
        .mapToObj(token -> "@" + token)
        .collect(Collectors.joining("", digest, ""));
  }

  private static void add(MessageDigest sha, float[] logProbs) {
    for (float logProb : logProbs) {
      add(sha, Float.floatToRawIntBits(logProb));
    }
  }

  /** Big-endian. */
  private static void add(MessageDigest sha, int value) {
    for (int shift = Integer.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      sha.update((byte) (value >> shift));
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
