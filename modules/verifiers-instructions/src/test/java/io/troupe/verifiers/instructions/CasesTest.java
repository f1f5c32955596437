package io.troupe.verifiers.instructions;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.AnswerPart;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each instruction satisfied, violated, and at its edges; cases.jsonl holds the table. */
class CasesTest {
  private static final List<Case> CASES = Case.all();

  /** The text that a verifier of a run is shown of a completion. */
  private static String answer(String completion) {
    return AnswerPart.of(completion, false) instanceof AnswerPart.Answer(String text, _)
        ? text
        : completion;
  }

  @Test
  void verify_everyCase_asItsRuleSays() {
    for (Case row : CASES) {
      Verdict.Scored scored = Prompts.scored(row.family(), row.label(), answer(row.completion()));
      assertThat(scored.checks())
          .as(row.toString())
          .containsExactly(new Check(row.id(), row.strict(), row.loose()));
      assertThat(scored.reward()).isEqualTo(row.strict() ? 1 : 0);
    }
  }

  @Test
  void cases_everyInstruction_satisfiedAndViolated() {
    for (InstructionFamily family : InstructionFamily.values()) {
      for (Instruction instruction : family.instructions()) {
        for (boolean followed : List.of(true, false)) {
          assertThat(CASES)
              .as("%s %s %s", family.word(), instruction.id(), followed)
              .anyMatch(
                  row ->
                      (row.family() == family || family == InstructionFamily.IF_MULTI)
                          && row.id().equals(instruction.id())
                          && row.strict() == followed);
        }
      }
    }
  }

  @Test
  void families_instructions_asManyAsTheirBenchmarks() {
    assertThat(List.of(InstructionFamily.values()))
        .extracting(family -> family.instructions().size())
        .containsExactly(25, 58, 54, 25);
  }
}
