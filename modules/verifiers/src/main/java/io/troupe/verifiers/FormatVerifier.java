package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.core.reward.Verdict;

/**
 * Rewards the format of a completion and ignores its content: one part of a mixed reward, which
 * teaches a policy where to write its answer.
 *
 * @param shape the format that a completion must have
 */
public record FormatVerifier(Shape shape) implements Verifier {
  private static final String OPENS = ThoughtMarks.THINK.opens();
  private static final String CLOSES = ThoughtMarks.THINK.closes();

  /** The required format of a completion without white space at its ends. */
  public enum Shape {
    /**
     * {@code <think>…</think><answer>…</answer>} with only white space between the two parts; each
     * tag once (Guo et al. 2025, DeepSeek-R1).
     */
    THINK_ANSWER,
    /** {@code <think>…</think>} first, once, with text after it. */
    THINK,
    /** Exactly one {@code \boxed{}} with closed braces. */
    BOXED
  }

  /** A thought that the prompt began counts as the completion's. */
  @Override
  public Verdict verify(Prompt prompt, JudgedText completion) {
    boolean begun = completion.thoughtOpen() && !completion.text().strip().startsWith(OPENS);
    return verify(prompt, begun ? OPENS + completion.text() : completion.text());
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    String fault =
        switch (shape) {
          case THINK_ANSWER -> thinkAnswerFault(completion.strip());
          case THINK -> thinkFault(completion.strip());
          case BOXED -> boxedFault(completion);
        };
    return fault.isEmpty()
        ? new Verdict.Scored(1, "", "in the shape asked for")
        : new Verdict.Scored(0, "", fault);
  }

  private static String thinkAnswerFault(String text) {
    String thinking = thinkFault(text);
    if (!thinking.isEmpty()) {
      return thinking;
    }
    String rest = text.substring(text.indexOf(CLOSES) + CLOSES.length()).strip();
    if (!rest.startsWith("<answer>") || !rest.endsWith("</answer>")) {
      return "no <answer>…</answer> alone behind </think>";
    }
    return count(text, "<answer>") == 1 && count(text, "</answer>") == 1
        ? ""
        : "more than one <answer>";
  }

  private static String thinkFault(String text) {
    if (!text.startsWith(OPENS)) {
      return "does not start with <think>";
    }
    if (count(text, OPENS) != 1 || count(text, CLOSES) != 1) {
      return "not exactly one <think>…</think>";
    }
    return text.endsWith(CLOSES) ? "nothing behind </think>" : "";
  }

  private static String boxedFault(String text) {
    if (count(text, "\\boxed{") != 1) {
      return "not exactly one \\boxed{}";
    }
    int depth = 0;
    for (int i = text.indexOf("\\boxed{") + "\\boxed".length(); i < text.length(); i++) {
      depth += text.charAt(i) == '{' ? 1 : text.charAt(i) == '}' ? -1 : 0;
      if (depth == 0) {
        return "";
      }
    }
    return "a \\boxed{ that is not closed";
  }

  private static int count(String text, String part) {
    int count = 0;
    for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
      count++;
    }
    return count;
  }
}
