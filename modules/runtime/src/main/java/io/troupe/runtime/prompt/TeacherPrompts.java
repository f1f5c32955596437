package io.troupe.runtime.prompt;

import static io.troupe.core.Require.invariant;

import io.troupe.core.prompt.Prompt;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import java.nio.IntBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The texts that a teacher reads before the policy's completions: the prompts themselves, or texts
 * made of them, such as the solution and then the prompt. A policy that teaches itself knows more
 * by that than it does when it is asked.
 */
public final class TeacherPrompts {
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
  public TeacherPrompts(String template, PromptPool pool, PolicyEngines engines) {
    this.engines = engines;
    this.template = template;
    for (int i = 0; i < pool.size() && !template.isEmpty(); i++) {
      byTokens.putIfAbsent(IntBuffer.wrap(pool.tokens(i)), pool.prompt(i));
    }
  }

  /**
   * Returns the objection to a template: two prompts of the same tokens and different solutions. A
   * completion comes with the tokens of its prompt, which do not distinguish them.
   *
   * @param template of the teacher's prompts
   * @return names both prompts; empty if there are no such two
   */
  public static Optional<String> whyUnusable(
      String template, List<Prompt> prompts, Tokenizer tokenizer) {
    Map<IntBuffer, Prompt> byTokens = new HashMap<>();
    for (Prompt prompt : template.contains(SOLUTION) ? prompts : List.<Prompt>of()) {
      IntBuffer tokens = IntBuffer.wrap(tokenizer.encodeWithSpecial(prompt.text()));
      Prompt first = Objects.requireNonNullElse(byTokens.putIfAbsent(tokens, prompt), prompt);
      if (!first.solution().equals(prompt.solution())) {
        return Optional.of(
            "prompts %s and %s are the same tokens and have different solutions, so that a teacher"
                    .formatted(first.id(), prompt.id())
                + " cannot be shown the right one; leave one of them out");
      }
    }
    return Optional.empty();
  }

  /** Most tokens of such a prompt and a completion. */
  public int contextLength() {
    return engines.contextLength();
  }

  /**
   * Returns the tokens that the teacher reads in place of a prompt.
   *
   * @param own token ids of the prompt
   */
  public int[] before(int[] own) {
    if (template.isEmpty()) {
      return own;
    }
    Prompt prompt = byTokens.get(IntBuffer.wrap(own));
    invariant(prompt != null, "a completion is of a prompt of the run");
    Prompt found = Objects.requireNonNull(prompt);
    // A single pass: a brace in a prompt is no place for the solution.
    StringBuilder text = new StringBuilder();
    for (String part : template.splitWithDelimiters("\\{prompt}|\\{solution}", -1)) {
      text.append(
          switch (part) {
            case PROMPT -> found.text();
            case SOLUTION -> found.solution();
            default -> part;
          });
    }
    return engines.tokenizer().encodeWithSpecial(text.toString());
  }
}
