package io.troupe.environments.format;

/** Texts at whose end a tag may begin. */
public final class PartialTag {
  private PartialTag() {}

  /** A text without an end that the tag begins with. */
  public static String without(String text, String tag) {
    return text.substring(0, end(text, tag));
  }

  /**
   * Returns the position of the tag in a text, or of its beginning at the text's end; else the
   * length of the text.
   */
  static int begin(String text, String tag) {
    int whole = text.indexOf(tag);
    return whole >= 0 ? whole : end(text, tag);
  }

  private static int end(String text, String tag) {
    for (int length = Math.min(tag.length() - 1, text.length()); length > 0; length--) {
      if (text.endsWith(tag.substring(0, length))) {
        return text.length() - length;
      }
    }
    return text.length();
  }
}
