package io.troupe.core.prompt;

/**
 * The mark in a prompt's text by which the spelling of a special token is read as its letters. It
 * is no part of what a reader other than Troupe's tokenizers is shown.
 */
public final class LiteralMark {
  /** Unicode assigns it to no character. */
  public static final char CHARACTER = '\uFDD0';

  private LiteralMark() {}

  /** Returns a text without its marks, as people, judges and programs read it. */
  public static String removed(String text) {
    return text.indexOf(CHARACTER) < 0 ? text : text.replace(String.valueOf(CHARACTER), "");
  }
}
