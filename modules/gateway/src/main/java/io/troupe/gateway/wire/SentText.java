package io.troupe.gateway.wire;

/** A text that grows, and how much of it was sent. */
public final class SentText {
  private String sent = "";

  /**
   * Returns the new part of a text.
   *
   * @throws IllegalStateException if the text does not begin with what was sent
   */
  public String next(String text) {
    if (!text.startsWith(sent)) {
      throw new IllegalStateException(
          "an answer of %d characters does not begin with the %d that were sent"
              .formatted(text.length(), sent.length()));
    }
    String more = text.substring(sent.length());
    sent = text;
    return more;
  }

  public boolean isEmpty() {
    return sent.isEmpty();
  }
}
