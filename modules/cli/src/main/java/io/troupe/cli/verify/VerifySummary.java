package io.troupe.cli.verify;

import java.util.Locale;

/**
 * The result of a file.
 *
 * @param scored completions with a verdict
 * @param passed of these, right in every part
 * @param rewards their rewards, added up
 * @param unverifiable completions that could not be judged
 * @param badLines lines that could not be read
 */
public record VerifySummary(
    long scored, long passed, double rewards, long unverifiable, long badLines) {
  static final VerifySummary NONE = new VerifySummary(0, 0, 0, 0, 0);

  VerifySummary scored(double reward, boolean right) {
    return new VerifySummary(
        scored + 1, passed + (right ? 1 : 0), rewards + reward, unverifiable, badLines);
  }

  VerifySummary unverified() {
    return new VerifySummary(scored, passed, rewards, unverifiable + 1, badLines);
  }

  VerifySummary badLine() {
    return new VerifySummary(scored, passed, rewards, unverifiable, badLines + 1);
  }

  /** Whether every line was judged. */
  public boolean complete() {
    return unverifiable == 0 && badLines == 0;
  }

  /** Returns one line for a person. */
  public String text() {
    StringBuilder sentence = new StringBuilder();
    sentence.append(String.format(Locale.ROOT, "%,d scored", scored));
    if (scored > 0) {
      sentence.append(
          String.format(
              Locale.ROOT,
              ", %,d passed (%.1f %%), mean reward %.4f",
              passed,
              100.0 * passed / scored,
              rewards / scored));
    }
    if (unverifiable > 0) {
      sentence.append(String.format(Locale.ROOT, ", %,d could not be judged", unverifiable));
    }
    if (badLines > 0) {
      sentence.append(String.format(Locale.ROOT, ", %,d bad lines", badLines));
    }
    return sentence.toString();
  }
}
