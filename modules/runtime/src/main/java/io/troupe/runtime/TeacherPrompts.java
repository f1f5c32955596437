package io.troupe.runtime;

import static io.troupe.core.Require.invariant;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.PolicyEngines;
import java.nio.IntBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What a teacher reads before the policy's completions: the prompts themselves, or texts made of
 * them, such as the solution and then the prompt. A policy that teaches itself knows more by that
 * than it does when it is asked.
 */
final class TeacherPrompts {
  private static final String PROMPT = "{prompt}";
  private static final String SOLUTION = "{solution}";

  private final PolicyEngines engines;
  private final String template;
  private final Map<IntBuffer, Prompt> byTokens = new HashMap<>();

  /**
   * The teacher's prompts of a run.
   *
   * @param template with {@code {prompt}} and {@code {solution}} in it; empty means the prompts
   *     themselves
   */
  TeacherPrompts(String template, PromptPool pool, PolicyEngines engines) {
    this.engines = engines;
    this.template = template;
    for (int i = 0; i < pool.size() && !template.isEmpty(); i++) {
      byTokens.putIfAbsent(IntBuffer.wrap(pool.tokens(i)), pool.prompt(i));
    }
  }

  /** Most tokens of such a prompt and a completion. */
  int contextLength() {
    return engines.contextLength();
  }

  /** The sequence with the teacher's prompt in place of its own. */
  TrainingSequence before(TrainingSequence sequence) {
    if (template.isEmpty()) {
      return sequence;
    }
    Prompt prompt = byTokens.get(IntBuffer.wrap(sequence.prompt()));
    invariant(prompt != null, "a completion is of a prompt of the run");
    Prompt found = Objects.requireNonNull(prompt);
    // One pass, so that a brace in a prompt is not read as a place for the solution.
    StringBuilder text = new StringBuilder();
    for (String part : template.splitWithDelimiters("\\{prompt}|\\{solution}", -1)) {
      text.append(
          switch (part) {
            case PROMPT -> found.text();
            case SOLUTION -> found.solution();
            default -> part;
          });
    }
    return sequence.after(engines.tokenizer().encodeWithSpecial(text.toString()));
  }
}
