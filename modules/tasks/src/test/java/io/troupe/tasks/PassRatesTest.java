package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.tasks.PassRates.Example;
import io.troupe.tasks.PassRates.Tally;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class PassRatesTest {
  @TempDir private Path folder;

  private PassRates read(String lines) throws IOException {
    return PassRates.read(List.of(Sets.file(folder, "results.jsonl", lines)));
  }

  @Test
  void read_bothForms_countsCompletionsAndTakesStoredRates() throws IOException {
    PassRates rates =
        read(
            """
            {"id": "a", "reward": 1.0, "completion": "x", "passed": true}
            {"id": "a", "reward": 0.5, "completion": "y", "passed": false}
            {"id": "b", "pass_rate": 0.25}
            {"id": 7, "reward": 1}
            """);

    assertThat(rates.byId())
        .containsExactly(
            Map.entry("a", new Tally(2, 1.5, List.of("x"))),
            Map.entry("b", new Tally(1, 0.25, List.of())),
            Map.entry("7", new Tally(1, 1, List.of())));
    assertThat(new Tally(2, 1.5, List.of("x")).rate()).isEqualTo(0.75);
  }

  @Test
  void read_badLines_areNamed() {
    assertThatThrownBy(() -> read("{\"id\": \"a\"}\n{\"id\": \"b\", \"reward\": \"1\"}\n{"))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("results.jsonl:1: \"reward\" must be a number, not absent")
        .hasMessageContaining("results.jsonl:2: \"reward\" must be a number, not \"1\"")
        .hasMessageContaining("results.jsonl:3");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void curriculum_anyRates_holdsEveryIdOnceByRate_andItsReverseIsByFallingRate(long seed) {
    Random random = new Random(seed);
    Map<String, Tally> byId = new LinkedHashMap<>();
    IntStream.range(0, 1 + random.nextInt(50))
        .forEach(i -> byId.put("p" + i, new Tally(4, random.nextInt(5), List.of())));
    PassRates rates = new PassRates(byId);

    List<String> rising = rates.curriculum(false, seed);
    List<String> falling = rates.curriculum(true, seed);

    assertThat(rising).containsExactlyInAnyOrderElementsOf(byId.keySet());
    assertThat(rising).extracting(id -> rate(byId, id)).isSorted();
    assertThat(falling.reversed()).extracting(id -> rate(byId, id)).isSorted();
    assertThat(rates.curriculum(false, seed)).isEqualTo(rising);
  }

  private static double rate(Map<String, Tally> byId, String id) {
    return Objects.requireNonNull(byId.get(id)).rate();
  }

  @Test
  void curriculum_equalRates_areInAnOrderOfTheSeedAndNotOfTheData() {
    Map<String, Tally> byId = new LinkedHashMap<>();
    IntStream.range(0, 100).forEach(i -> byId.put("p" + i, new Tally(1, 0, List.of())));
    PassRates rates = new PassRates(byId);

    assertThat(rates.curriculum(false, 1))
        .isNotEqualTo(List.copyOf(byId.keySet()))
        .isNotEqualTo(rates.curriculum(false, 2));
  }

  @Test
  void examples_range_includesTheLeastAndExcludesTheMost_andNeedsACorrectCompletion() {
    Map<String, Tally> byId = new LinkedHashMap<>();
    byId.put("never", new Tally(4, 0, List.of()));
    byId.put("seldom", new Tally(4, 1, List.of("right")));
    byId.put("half", new Tally(4, 2, List.of("a", "b")));
    byId.put("partial", new Tally(4, 1.5, List.of()));
    PassRates rates = new PassRates(byId);

    assertThat(rates.examples(0, 0.5, 42)).containsExactly(new Example("seldom", "right", 0.25));
    assertThat(rates.examples(0.25, 0.51, 42))
        .extracting(Example::id)
        .containsExactlyInAnyOrder("seldom", "half");
    assertThat(rates.examples(0.26, 0.5, 42)).isEmpty();
    assertThat(rates.examples(0, 1, 42)).isEqualTo(rates.examples(0, 1, 42));
  }
}
