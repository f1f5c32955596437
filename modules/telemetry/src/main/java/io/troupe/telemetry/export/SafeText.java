package io.troupe.telemetry.export;

/** Text of others as one line that a terminal shows and does not obey. */
public final class SafeText {
  private static final int LONGEST = 120;
  private static final long LONGEST_READ = 240;

  private SafeText() {}

  /** The text without control or direction characters, cut where it is longer than a line. */
  public static String of(String text) {
    StringBuilder safe = new StringBuilder();
    text.codePoints()
        .limit(LONGEST_READ)
        .forEach(
            point -> {
              int type = Character.getType(point);
              boolean hidden =
                  type == Character.CONTROL
                      || type == Character.FORMAT
                      || type == Character.LINE_SEPARATOR
                      || type == Character.PARAGRAPH_SEPARATOR;
              safe.appendCodePoint(hidden ? '\uFFFD' : point);
            });
    return safe.length() > LONGEST ? safe.substring(0, LONGEST - 1) + "…" : safe.toString();
  }
}
