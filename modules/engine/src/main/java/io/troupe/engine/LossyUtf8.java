package io.troupe.engine;

import java.nio.charset.StandardCharsets;

/**
 * Text of bytes that need not be UTF-8, as Rust and Python make it: each longest beginning of a
 * character, and each byte that begins none, becomes one U+FFFD.
 *
 * <p>The JDK does the same but for the beginning of a surrogate, which it replaces with one U+FFFD
 * for all of its bytes; a surrogate has no beginning, because UTF-8 has no surrogates.
 */
public final class LossyUtf8 {
  private static final int BEFORE_SURROGATE = 0xED;
  private static final int FIRST_OF_SURROGATE = 0xA0;
  private static final int LAST_CONTINUATION = 0xBF;
  private static final byte NEVER = (byte) 0xFF;

  private LossyUtf8() {}

  /** Returns the text of bytes. */
  public static String text(byte[] bytes) {
    return new String(withoutSurrogates(bytes), StandardCharsets.UTF_8);
  }

  /**
   * Returns the bytes for a decoder of the JDK: the first one of a surrogate is one that begins no
   * character. A last byte that may begin a surrogate stays.
   */
  static byte[] withoutSurrogates(byte[] bytes) {
    byte[] replaced = bytes.clone();
    for (int i = 0; i + 1 < bytes.length; i++) {
      int next = bytes[i + 1] & 0xFF;
      if ((bytes[i] & 0xFF) == BEFORE_SURROGATE
          && next >= FIRST_OF_SURROGATE
          && next <= LAST_CONTINUATION) {
        replaced[i] = NEVER;
      }
    }
    return replaced;
  }
}
