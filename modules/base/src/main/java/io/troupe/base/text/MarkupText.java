package io.troupe.base.text;

/** Text in HTML, SVG and XML. */
public final class MarkupText {
  private MarkupText() {}

  /** Returns a text that is the same text in an element or in a quoted attribute. */
  public static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
