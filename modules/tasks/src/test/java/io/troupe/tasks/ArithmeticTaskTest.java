package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.ArithmeticSettings.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ArithmeticTaskTest {
  @ParameterizedTest
  @CsvSource({
    "ADDITION, false, false, add-7-45, 7+45=, 52",
    "ADDITION, true, false, add-7-45, 07+45=, 052",
    "ADDITION, false, true, add-7-45, 7+45=, 25",
    "ADDITION, true, true, add-7-45, 07+45=, 250",
    "ADDITION, true, false, add-99-99, 99+99=, 198",
    "SUBTRACTION, false, false, sub-7-45, 7-45=, -38",
    "SUBTRACTION, true, false, sub-40-45, 40-45=, -05",
    "SUBTRACTION, true, true, sub-7-45, 07-45=, -83",
    "SUBTRACTION, false, false, sub-7-7, 7-7=, 0",
    "MULTIPLICATION, false, false, mul-7-45, 7*45=, 315",
    "MULTIPLICATION, true, false, mul-7-45, 07*45=, 0315",
  })
  void construct_anyFormat_writesPromptAndAnswerInIt(
      Operation operation, boolean padded, boolean reversed, String id, String text, String answer)
      throws IOException {
    Task task =
        Sets.arithmetic(new ArithmeticSettings(operation, 0, 99, padded, reversed), 0, 1).load();

    assertThat(task.train())
        .contains(new Prompt(new PromptId(id), "arithmetic", text, answer, answer))
        .hasSize(10_000);
  }

  @Test
  void construct_twoDigitAddition_holdsOutAFifthAndLosesNothing() {
    Task task = Sets.addition(99, 1);

    assertThat(task.train()).hasSize(8_000);
    assertThat(task.heldOut()).hasSize(2_000);
    Set<String> texts = new HashSet<>();
    task.train().forEach(p -> texts.add(p.text()));
    task.heldOut().forEach(p -> texts.add(p.text()));
    assertThat(texts).hasSize(10_000);
  }

  @Test
  void construct_sameSeed_givesTheSameSplitAndAnotherSeedAnother() {
    Task task = Sets.addition(99, 1);

    assertThat(Sets.addition(99, 1).heldOut()).isEqualTo(task.heldOut());
    assertThat(Sets.addition(99, 2).heldOut()).isNotEqualTo(task.heldOut());
  }

  @Test
  void construct_knownSeed_holdsOutTheSamePromptsOnEveryMachine() {
    Task task = Sets.addition(4, 1);

    assertThat(task.heldOut())
        .extracting(p -> p.id().value())
        .containsExactly("add-0-4", "add-1-3", "add-1-4", "add-2-1", "add-2-2");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void construct_anySeed_spreadsTheHeldOutPairsOverTheRange(long seed) {
    Task task = Sets.addition(39, seed);
    int[] heldOutByFirst = new int[40];
    for (Prompt prompt : task.heldOut()) {
      heldOutByFirst[Integer.parseInt(prompt.id().value().split("-", -1)[1])]++;
    }

    // 8 of 40 on average, standard deviation 2.5; a bound of more than 5 deviations.
    assertThat(Arrays.stream(heldOutByFirst)).allMatch(n -> n <= 22);
    assertThat(task.heldOut()).hasSize(320);
  }

  @Test
  void alphabet_always_coversEveryTextAndSolution() throws IOException {
    for (Operation operation : Operation.values()) {
      Task task =
          Sets.arithmetic(new ArithmeticSettings(operation, 0, 12, false, false), 0.2, 1).load();
      List<Prompt> all = new ArrayList<>(task.train());
      all.addAll(task.heldOut());
      for (Prompt prompt : all) {
        assertThat(task.alphabet().chars()).containsAll(chars(prompt.text() + prompt.solution()));
      }
      assertThat(task.alphabet().chars()).isSorted();
    }
    assertThat(Sets.addition(9, 1).alphabet()).isEqualTo("+0123456789=");
  }

  @Test
  void construct_addend_isAskedAndSolvedByTwoToolsInAShare() throws IOException {
    ArithmeticSettings settings =
        new ArithmeticSettings(Operation.MULTIPLICATION, 10, 30, false, false).withTools(true, 0.5);
    Task task = Sets.arithmetic(settings, 0, 1).load();
    int calls = 0;
    for (Prompt prompt : task.train()) {
      String[] numbers = prompt.id().value().split("-", -1);
      long product = Long.parseLong(numbers[1]) * Long.parseLong(numbers[2]);
      long sum = product + Long.parseLong(numbers[3]);
      assertThat(prompt.text())
          .isEqualTo("%s*%s+%s=".formatted(numbers[1], numbers[2], numbers[3]));
      assertThat(prompt.answer()).isEqualTo(Long.toString(sum));
      String called =
          "[mul %s*%s]%d;[add %d+%s]%d;%d"
              .formatted(numbers[1], numbers[2], product, product, numbers[3], sum, sum);
      assertThat(prompt.solution()).isIn(called, prompt.answer());
      assertThat(task.alphabet().chars()).containsAll(chars(prompt.text() + called));
      calls += prompt.solution().equals(called) ? 1 : 0;
    }
    // Half of 441, standard deviation 10.5; a bound of 5 deviations.
    assertThat(calls).isBetween(168, 273);
  }

  @Test
  void settings_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> Sets.addition(5000, 1))
        .hasMessage(
            "operands from 0 to 5000 make 25010001 prompts, and the limit is 1000000; narrow the"
                + " range");
    assertThatThrownBy(() -> new ArithmeticSettings(Operation.ADDITION, 5, 4, false, false))
        .hasMessage("the greatest operand (4) is at least the least one (5)");
    assertThatThrownBy(() -> new ArithmeticSettings(Operation.ADDITION, -1, 4, false, false))
        .hasMessage("the least operand is 0 or greater, not -1");
    assertThatThrownBy(() -> new DataSetSettings.HeldOut.Share(1, 1))
        .hasMessage("the held-out share lies in [0, 1), not 1.0");
  }

  private static List<Integer> chars(String text) {
    return text.chars().boxed().toList();
  }
}
