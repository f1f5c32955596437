package io.troupe.engine;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Texts of others, such as messages and results of tools, within a text that spells special tokens.
 * All of it is encoded as one text, as a served model sees it: only a text that itself spells a
 * special token is encoded apart, letter by letter, so that no special token comes from it.
 */
public final class ForeignTexts {
  /*
   * Such a text is a private character while the text around it is made, and the text has its place
   * afterwards.
   */
  private static final int PLACEHOLDERS = 0xE000;
  private static final int MOST = 0x1000;
  private static final int LAST_PRIVATE = 0xF8FF;

  private final Tokenizer tokenizer;
  private final List<String> hidden = new ArrayList<>();

  public ForeignTexts(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Returns what stands for a text within the whole: the text itself, unless it is hidden. */
  public String shown(String text) {
    boolean plain =
        text.codePoints().noneMatch(each -> each >= PLACEHOLDERS && each <= LAST_PRIVATE)
            && Arrays.equals(tokenizer.encode(text), tokenizer.encodeWithSpecial(text));
    if (plain) {
      return text;
    }
    require(hidden.size() < MOST, "more than %d texts spell special tokens of the policy", MOST);
    hidden.add(text);
    return Character.toString(PLACEHOLDERS + hidden.size() - 1);
  }

  /** Returns the ids of the whole text, or of a part of it. */
  public int[] encoded(String whole) {
    int[] ids = {};
    int from = 0;
    for (int at = 0; at < whole.length(); at++) {
      int placeholder = whole.charAt(at) - PLACEHOLDERS;
      if (placeholder >= 0 && placeholder < hidden.size()) {
        ids = joined(ids, tokenizer.encodeWithSpecial(whole.substring(from, at)));
        ids = joined(ids, tokenizer.encode(hidden.get(placeholder)));
        from = at + 1;
      }
    }
    return joined(ids, tokenizer.encodeWithSpecial(whole.substring(from)));
  }

  private static int[] joined(int[] ids, int[] more) {
    int[] both = Arrays.copyOf(ids, ids.length + more.length);
    System.arraycopy(more, 0, both, ids.length, more.length);
    return both;
  }
}
