package io.troupe.engine;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The text of one choice while it grows. Only whole characters are given out, and a possible
 * beginning of a stop string is held back, so that no client sees text that is later removed.
 */
public final class IncrementalText {
  private final Tokenizer tokenizer;
  private final List<String> stops;
  private final boolean keepStop;
  private final int held;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);
  private ByteBuffer rest = ByteBuffer.allocate(0);
  private final StringBuilder text = new StringBuilder();
  private int emitted;

  /**
   * The text of a completion that has no token yet.
   *
   * @param keepStop whether the text keeps a stop string at its end
   */
  public IncrementalText(Tokenizer tokenizer, List<String> stops, boolean keepStop) {
    this.tokenizer = tokenizer;
    this.stops = stops;
    this.keepStop = keepStop;
    this.held = stops.stream().mapToInt(String::length).max().orElse(1) - 1;
  }

  /**
   * Adds tokens and returns the characters that are final now.
   *
   * @param last whether no token follows these tokens
   */
  public String add(int[] tokens, boolean last) {
    for (int token : tokens) {
      decode(tokenizer.bytes(token), false);
    }
    if (last) {
      decode(new byte[0], true);
    }
    String whole = keepStop ? text.toString() : StopMatcher.cut(text.toString(), stops);
    int end = last ? whole.length() : Math.min(whole.length(), text.length() - held);
    int until = Math.max(emitted, end);
    String news = whole.substring(emitted, until);
    emitted = until;
    return news;
  }

  private void decode(byte[] bytes, boolean last) {
    ByteBuffer joined = ByteBuffer.allocate(rest.remaining() + bytes.length).put(rest).put(bytes);
    ByteBuffer all = ByteBuffer.wrap(LossyUtf8.withoutSurrogates(joined.array()));
    CharBuffer characters = CharBuffer.allocate(all.remaining() + 2);
    decoder.decode(all, characters, last);
    rest = all.slice();
    text.append(characters.flip());
  }
}
