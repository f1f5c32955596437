package io.troupe.verifiers.instructions;

import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import java.util.function.Predicate;

/**
 * A kind of instruction that a program can check.
 *
 * @param id as data sets name it
 * @param rule condition of a completion that follows it, in one line; the documentation shows it
 * @param exact whether verdicts are those of the reference checker; else a helper of the reference
 *     (a trained sentence splitter, a tagger, a pronouncing dictionary) is only approximated
 * @param condition from the arguments of one prompt to the condition on its completions
 */
record Instruction(String id, String rule, boolean exact, Builder condition) {
  /** Makes the condition of one prompt. */
  @FunctionalInterface
  interface Builder {
    /**
     * The condition under these arguments.
     *
     * @throws BadArgumentException if they do not say what to check
     */
    Predicate<String> build(InstructionArguments arguments);
  }

  static Instruction exact(String id, String rule, Builder condition) {
    return new Instruction(id, rule, true, condition);
  }

  static Instruction approximate(String id, String rule, Builder condition) {
    return new Instruction(id, rule, false, condition);
  }

  /** An instruction without arguments. */
  static Instruction plain(String id, String rule, Predicate<String> condition) {
    return new Instruction(id, rule, true, arguments -> condition);
  }

  /** The condition of one prompt; arguments that nothing reads are refused. */
  Predicate<String> conditionUnder(InstructionArguments arguments) {
    Predicate<String> built = condition.build(arguments);
    arguments.requireAllRead();
    return built;
  }
}
