package io.troupe.core.prompt;

/**
 * A question to the policy, with what a verifier needs to judge the answer.
 *
 * @param id stable across runs
 * @param source the run's name for the data set it comes from: it chooses verifier and limits where
 *     a run mixes several
 * @param text exactly what the model sees, templates applied
 * @param answer data by which a completion is judged, in the form the source's verifier reads: the
 *     expected answer itself, or a JSON object (unit tests, instructions) where that takes more
 * @param solution a completion worth imitating in the supervised warm-up
 * @param row the row that it was made of, where a verifier reads whole rows
 */
public record Prompt(
    PromptId id, String source, String text, String answer, String solution, DataRow row) {
  /** A prompt whose verifier reads no row. */
  public Prompt(PromptId id, String source, String text, String answer, String solution) {
    this(id, source, text, answer, solution, DataRow.NONE);
  }

  /** Returns this prompt with another text. */
  public Prompt worded(String other) {
    return new Prompt(id, source, other, answer, solution, row);
  }
}
