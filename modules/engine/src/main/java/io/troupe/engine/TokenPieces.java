package io.troupe.engine;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

/**
 * Tokens as pieces of their text.
 *
 * @param pieces of the text, special tokens in ⟦⟧
 */
public record TokenPieces(List<String> pieces) {
  private static final int FIRST_SHOWN = 60;
  private static final int LAST_SHOWN = 20;

  public TokenPieces {
    pieces = List.copyOf(pieces);
  }

  /** Returns the pieces of tokens; a token that is a part of a character is an ellipsis. */
  public static TokenPieces of(int[] ids, Tokenizer tokenizer) {
    List<String> pieces = new ArrayList<>();
    ByteArrayOutputStream open = new ByteArrayOutputStream();
    for (int id : ids) {
      if (tokenizer.isSpecial(id)) {
        String spelling = tokenizer.spelling(id);
        pieces.add("⟦%s⟧".formatted(spelling.isEmpty() ? id : spelling));
        open.reset();
        continue;
      }
      open.writeBytes(tokenizer.bytes(id));
      byte[] bytes = open.toByteArray();
      String whole = new String(bytes, StandardCharsets.UTF_8);
      boolean complete = Arrays.equals(whole.getBytes(StandardCharsets.UTF_8), bytes);
      pieces.add(complete ? escaped(whole) : "…");
      if (complete) {
        open.reset();
      }
    }
    return new TokenPieces(pieces);
  }

  private static String escaped(String piece) {
    return piece.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
  }

  /** Returns the first and the last pieces, with bars between them. */
  public String text() {
    StringJoiner shown = new StringJoiner("|");
    int left = pieces.size() - FIRST_SHOWN - LAST_SHOWN;
    for (int i = 0; i < pieces.size(); i++) {
      if (left > 1 && i == FIRST_SHOWN) {
        shown.add(" … %,d more … ".formatted(left));
        i += left;
      }
      shown.add(pieces.get(i));
    }
    return shown.toString();
  }
}
