package io.troupe.verifiers.instructions;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.util.List;

/** Verdicts of completions of prompts that are nothing but a label. */
final class Prompts {
  private Prompts() {}

  static Verdict verify(InstructionFamily family, String label, String completion) {
    return new InstructionVerifier(family)
        .verify(new Prompt(new PromptId("p"), "test", "", label, ""), completion);
  }

  static Verdict.Scored scored(InstructionFamily family, String label, String completion) {
    Verdict verdict = verify(family, label, completion);
    if (verdict instanceof Verdict.Scored scored) {
      return scored;
    }
    throw new AssertionError(verdict + " of " + label);
  }

  static List<Boolean> strict(Verdict.Scored scored) {
    return scored.checks().stream().map(Check::passed).toList();
  }

  static List<Boolean> loose(Verdict.Scored scored) {
    return scored.checks().stream().map(Check::passedLoosely).toList();
  }
}
