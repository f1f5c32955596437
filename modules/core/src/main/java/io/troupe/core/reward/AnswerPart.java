package io.troupe.core.reward;

import io.troupe.core.prompt.ThoughtMarks;

/**
 * The part of a completion that is its answer: what is behind the last thought. This is the only
 * place that separates thoughts from answers.
 *
 * <p>A thought ends at the last of its end marks, so that a draft within a thought that mentions
 * the mark is never read as the answer. An end mark before which no thought was begun ends none: it
 * would hide what is before it from the verifier, and not from a reader. Where only white space
 * follows such a mark, there is no answer, whichever of the two it was. One that a completion
 * begins with hides nothing: the answer is behind it, as in the last channel of gpt-oss. Where the
 * answer is one {@code <answer>…</answer>} and nothing else but white space, its content is the
 * answer.
 */
public sealed interface AnswerPart {
  /**
   * The completion holds an answer, which may be empty.
   *
   * @param tagged whether it was in {@code <answer>…</answer>}, which says that all of it is meant
   */
  record Answer(String text, boolean tagged) implements AnswerPart {}

  /**
   * The completion ends within a thought or with the mark of its end, so that it holds no answer.
   */
  record UnfinishedThought() implements AnswerPart {
    /** The reason of such a completion's reward, which is 0. */
    public static final String REASON = "the thought is not finished, so there is no answer";
  }

  /**
   * Separates a completion.
   *
   * @param thoughtOpen whether the prompt ends inside a thought, which the completion continues
   */
  static AnswerPart of(String completion, boolean thoughtOpen) {
    int lead = thoughtOpen ? 0 : ThoughtMarks.behindLeadingEnd(completion);
    if (lead > 0 && !completion.substring(lead).isBlank()) {
      return of(completion.substring(lead), false);
    }
    int end = ThoughtMarks.behindLastEnd(completion);
    int beginning = ThoughtMarks.firstBeginning(completion);
    boolean begun = thoughtOpen || (beginning >= 0 && beginning < end);
    int behind = begun ? end : 0;
    boolean open = thoughtOpen && behind == 0;
    boolean ended = !begun && end > 0 && completion.substring(end).isBlank();
    return open || ended || ThoughtMarks.lastBeginning(completion) >= behind
        ? new UnfinishedThought()
        : untagged(completion.substring(behind));
  }

  private static Answer untagged(String answer) {
    String opens = "<answer>";
    String closes = "</answer>";
    String text = answer.strip();
    boolean one =
        text.startsWith(opens)
            && text.endsWith(closes)
            && text.indexOf(opens, 1) < 0
            && text.indexOf(closes) == text.length() - closes.length();
    return one
        ? new Answer(text.substring(opens.length(), text.length() - closes.length()), true)
        : new Answer(answer, false);
  }
}
