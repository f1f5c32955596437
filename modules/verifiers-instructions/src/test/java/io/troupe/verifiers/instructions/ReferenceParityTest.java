package io.troupe.verifiers.instructions;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Bool;
import io.troupe.verifiers.python.PythonValue.Items;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Against lm-evaluation-harness's checkers; src/test/python/ifeval_reference.py wrote the file. */
class ReferenceParityTest {
  @Test
  void verify_randomAnswersToAllPrompts_asReference() {
    for (PythonValue line :
        GoldenFile.lines(ReferenceParityTest.class, "ifeval-reference.jsonl.gz")) {
      Verdict.Scored scored =
          Prompts.scored(
              InstructionFamily.IFEVAL, Json.of(line), GoldenFile.text(line, "completion"));
      assertThat(Prompts.strict(scored)).as("%s", line).isEqualTo(booleans(line, "strict"));
      assertThat(Prompts.loose(scored)).as("%s", line).isEqualTo(booleans(line, "loose"));
    }
  }

  private static List<Boolean> booleans(PythonValue line, String field) {
    return ((Items) line.get(field).orElseThrow())
        .values().stream().map(value -> ((Bool) value).value()).toList();
  }
}
