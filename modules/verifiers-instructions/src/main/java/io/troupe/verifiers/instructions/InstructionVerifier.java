package io.troupe.verifiers.instructions;

import io.troupe.base.text.PythonText;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.language.LanguageDetector;
import io.troupe.verifiers.python.TooManyStepsException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Judges whether a completion follows the instructions of its prompt, one {@link Check} each, by
 * the rules of the benchmark they come from, the quirks of its checkers included.
 *
 * <p>The prompt's answer is a {@link PromptInstructions}. For {@link InstructionFamily#IFEVAL} and
 * {@link InstructionFamily#IFBENCH} every instruction has two readings: strict is the completion as
 * it stands; loose is any of eight variants of it, without asterisks, its first line, its last
 * line, or several of these, so that "Sure, here it is:" is forgiven. The reward is the strict one.
 *
 * <p>{@link InstructionFamily#IF_MULTI} leaves out tags around the answer.
 *
 * <p><b>A label that cannot be read is no wrong answer.</b> The training code that these families
 * come from gives it zero; so would every completion of its prompt be, whatever it says. Here it is
 * {@link Verdict.Cause#BAD_INPUT}. The same holds for an unknown instruction and for broken
 * arguments, but in the training set, where the rule is that such an instruction counts as not
 * followed.
 *
 * @param family family whose rules apply
 */
public record InstructionVerifier(InstructionFamily family) implements Verifier {
  /** An instruction of the prompt; without a condition none can follow it. */
  private record Condition(String id, Optional<Predicate<String>> test) {
    private boolean holds(String text) {
      return !PythonText.isBlank(text) && test.isPresent() && test.get().test(text);
    }
  }

  /** The language profiles are the one thing that takes long to load. */
  @Override
  public void prepare() {
    Optional<String> _ = LanguageDetector.detect("What is this?");
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    List<Condition> conditions;
    try {
      conditions = conditions(prompt.answer());
    } catch (BadArgumentException e) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT,
          "the instructions of prompt %s cannot be checked: %s"
              .formatted(prompt.id(), e.problem()));
    }
    try {
      return scored(checks(conditions, completion));
    } catch (TooManyStepsException e) {
      return new Verdict.Unverifiable(
          Verdict.Cause.TIMEOUT, "searching took too many steps: " + e.pattern());
    }
  }

  private List<Condition> conditions(String answer) {
    PromptInstructions label =
        switch (family) {
          case IFEVAL, IFBENCH, IF_MULTI -> PromptInstructions.parse(answer);
          case RLVR_IFEVAL -> PromptInstructions.parseFunction(answer);
        };
    if (label.tasks().isEmpty() && family != InstructionFamily.IF_MULTI) {
      throw new BadArgumentException("there are none");
    }
    return label.tasks().stream().map(this::condition).toList();
  }

  private Condition condition(PromptInstructions.InstructionTask task) {
    try {
      return new Condition(
          task.id(), Optional.of(family.instruction(task.id()).conditionUnder(task.arguments())));
    } catch (BadArgumentException e) {
      return switch (family) {
        case IF_MULTI -> new Condition(task.id(), Optional.empty());
        case IFEVAL, IFBENCH, RLVR_IFEVAL ->
            throw new BadArgumentException(task.id() + ": " + e.problem());
      };
    }
  }

  private List<Check> checks(List<Condition> conditions, String completion) {
    return switch (family) {
      case IFEVAL, IFBENCH -> twoReadings(conditions, completion);
      case IF_MULTI -> oneReading(conditions, withoutTags(completion));
      case RLVR_IFEVAL -> oneReading(conditions, completion);
    };
  }

  private static List<Check> oneReading(List<Condition> conditions, String text) {
    return conditions.stream().map(c -> new Check(c.id(), c.holds(text))).toList();
  }

  private static List<Check> twoReadings(List<Condition> conditions, String text) {
    Set<String> variants = variants(text);
    return conditions.stream()
        .map(
            condition -> {
              boolean strict = condition.holds(text);
              return new Check(
                  condition.id(), strict, strict || variants.stream().anyMatch(condition::holds));
            })
        .toList();
  }

  /** Returns the variants of a text that the loose reading tries besides the text itself. */
  private static Set<String> variants(String text) {
    int first = text.indexOf('\n');
    int last = text.lastIndexOf('\n');
    String withoutFirst = first < 0 ? "" : text.substring(first + 1);
    String withoutLast = last < 0 ? "" : text.substring(0, last);
    String within = first == last ? "" : text.substring(first + 1, last);
    List<String> cut = new ArrayList<>();
    for (String part : List.of(withoutFirst, withoutLast, within)) {
      cut.add(PythonText.strip(part));
    }
    Set<String> variants = new LinkedHashSet<>();
    variants.add(text.replace("*", ""));
    variants.addAll(cut);
    cut.forEach(part -> variants.add(part.replace("*", "")));
    variants.remove(text);
    return variants;
  }

  private static String withoutTags(String completion) {
    String text = completion.replace("<|assistant|>", "");
    return PythonText.strip(text.replace("<answer>", "").replace("</answer>", ""));
  }

  private Verdict scored(List<Check> checks) {
    List<String> missed =
        checks.stream().filter(check -> !check.passed()).map(Check::name).toList();
    int followed = checks.size() - missed.size();
    double reward =
        switch (family) {
          case IFEVAL, IFBENCH, RLVR_IFEVAL -> missed.isEmpty() ? 1 : 0;
          case IF_MULTI -> (double) followed / Math.max(1, checks.size());
        };
    String reason =
        "%d of %d instructions followed".formatted(followed, checks.size())
            + (missed.isEmpty() ? "" : ", not " + String.join(", ", missed));
    return new Verdict.Scored(reward, "", reason, checks);
  }
}
