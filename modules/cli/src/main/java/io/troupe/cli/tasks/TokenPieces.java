package io.troupe.cli.tasks;

import io.troupe.engine.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

/**
 * The tokens of a prompt as pieces of its text.
 *
 * @param ids of the tokens
 * @param pieces of the text, special tokens in ⟦⟧
 */
record TokenPieces(List<Integer> ids, List<String> pieces) {
  private static final String MARK = String.valueOf(Tokenizer.LITERAL);

  /** Stands for bytes that are no character. */
  private static final char UNREADABLE = '\uFFFD';

  /** Most characters that a normalizer is thought to remove before a piece. */
  private static final int NEAR = 16;

  private static final int FIRST_SHOWN = 60;
  private static final int LAST_SHOWN = 20;
  private static final int LONGEST_SPECIAL = 64;

  TokenPieces {
    ids = List.copyOf(ids);
    pieces = List.copyOf(pieces);
  }

  static TokenPieces of(String text, Tokenizer tokenizer) {
    int[] ids = tokenizer.encodeWithSpecial(text);
    String[] pieces = new String[ids.length];
    ByteArrayOutputStream open = new ByteArrayOutputStream();
    int at = 0;
    for (int i = 0; i < ids.length; i++) {
      byte[] bytes = tokenizer.bytes(ids[i]);
      if (open.size() == 0 && text.startsWith(MARK, at)) {
        at++;
      }
      if (bytes.length == 0) {
        String special = special(text, at, ids[i], tokenizer);
        at += special.length();
        pieces[i] = "⟦%s⟧".formatted(special.isEmpty() ? ids[i] : special);
        continue;
      }
      open.writeBytes(bytes);
      String whole = open.toString(StandardCharsets.UTF_8);
      boolean complete = text.startsWith(whole, at) || whole.indexOf(UNREADABLE) < 0;
      pieces[i] = complete ? escaped(whole) : "…"; // a part of a character
      if (complete) {
        at = behind(whole, at, text);
        open.reset();
      }
    }
    return new TokenPieces(Arrays.stream(ids).boxed().toList(), List.of(pieces));
  }

  /** Returns where reading goes on behind a piece, which a normalizer may have changed. */
  private static int behind(String piece, int at, String text) {
    if (text.startsWith(piece, at)) {
      return at + piece.length();
    }
    String word = piece.strip();
    int found = text.indexOf(word, at);
    boolean near = found >= 0 && found - at <= NEAR;
    return Math.min(text.length(), (near ? found : at) + word.length());
  }

  /** Returns the spelling of a special token at a place of a text; empty if it is not spelled. */
  private static String special(String text, int at, int id, Tokenizer tokenizer) {
    for (int end = at + 1; end <= Math.min(text.length(), at + LONGEST_SPECIAL); end++) {
      int[] alone = tokenizer.encodeWithSpecial(text.substring(at, end));
      if (alone.length == 1 && alone[0] == id) {
        return text.substring(at, end);
      }
    }
    return "";
  }

  private static String escaped(String piece) {
    return piece.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
  }

  int count() {
    return ids.size();
  }

  /** Returns the first and the last pieces, with bars between them. */
  String text() {
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
