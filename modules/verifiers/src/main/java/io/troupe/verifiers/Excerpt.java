package io.troupe.verifiers;

/** An excerpt of untrusted text, short enough for a reason or a log line. */
public final class Excerpt {
  private static final int MOST_CHARACTERS = 100;

  private Excerpt() {}

  /** The first 100 characters of the text. */
  public static String of(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "…";
  }
}
