package io.troupe.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.evaluation.McNemarTest;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.evaluation.EvaluationComparison.Flip;
import io.troupe.evaluation.EvaluationComparison.TaskComparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvaluationComparisonTest {
  @TempDir private Path folder;

  private EvaluationFolder evaluated(String name, EvaluationTask... tasks) throws IOException {
    Evaluations.run(folder.resolve(name), Evaluations.protocol(ShardRange.WHOLE, tasks));
    return EvaluationFolder.view(folder.resolve(name));
  }

  @Test
  void tasks_oneVerdictChanged_isTheOnlyFlip() throws IOException {
    EvaluationFolder first = evaluated("a", Evaluations.task("sums", 30, 1));
    EvaluationFolder second = evaluated("b", Evaluations.task("sums", 30, 1));
    List<String> lines = Files.readAllLines(second.results());
    int right = 0;
    while (!lines.get(right).contains("\"reward\":1.0,\"passed\":true")) {
      right++;
    }
    lines.set(
        right,
        lines
            .get(right)
            .replace("\"reward\":1.0,\"passed\":true", "\"reward\":0.0,\"passed\":false"));
    Files.write(second.results(), lines);

    TaskComparison compared = new EvaluationComparison(first, second).tasks().getFirst();

    long scored = lines.stream().filter(line -> line.contains("\"outcome\":\"scored\"")).count();
    assertThat(compared.pairs()).isEqualTo((int) scored);
    assertThat(compared.unpaired()).isZero();
    assertThat(compared.test()).isEqualTo(new McNemarTest(1, 0));
    assertThat(compared.passed().difference().value()).isEqualTo(-1.0 / scored);
    assertThat(compared.passed().pValue()).isEqualTo(compared.test().pValue());
    assertThat(compared.reward().difference().value()).isEqualTo(-1.0 / scored);
    assertThat(compared.flips())
        .containsExactly(new Flip("sums", "sums-" + right, 0, true, "1\u00e9", "1\u00e9"));
  }

  @Test
  void tasks_rewardsThatFallBelowTheMark_differWhereSharesDoNot() throws IOException {
    EvaluationFolder first = evaluated("a", Evaluations.task("sums", 30, 1));
    EvaluationFolder second = evaluated("b", Evaluations.task("sums", 30, 1));
    String wrong = "\"reward\":0.0,\"passed\":false,\"outcome\":\"scored\"";
    String results = Files.readString(second.results());
    assertThat(results).contains(wrong);
    Files.writeString(second.results(), results.replace(wrong, wrong.replace("0.0", "-0.5")));

    TaskComparison compared = new EvaluationComparison(first, second).tasks().getFirst();

    assertThat(compared.passed().difference().value()).isZero();
    assertThat(compared.passed().pValue()).isOne();
    assertThat(compared.reward().difference().high()).isNegative();
    assertThat(compared.reward().pValue()).isLessThan(0.05);
    assertThat(compared.flips()).isEmpty();
  }

  @Test
  void marks_tasksThatPassByOthers_areNamed() throws IOException {
    EvaluationFolder first = evaluated("a", marked(1));
    EvaluationFolder second = evaluated("b", marked(-0.5));

    assertThat(new EvaluationComparison(first, first).marks()).isEmpty();
    assertThat(new EvaluationComparison(first, second).marks())
        .containsExactly("sums: a sample passes with a reward of 1.0 in A and of -0.5 in B");
  }

  private static EvaluationTask marked(double mark) {
    EvaluationTask task = Evaluations.task("sums", 2, 1);
    return new EvaluationTask(
        task.name(), task.items(), task.samples(), Map.of(EvaluationComparison.MARK, mark));
  }

  @Test
  void tasks_noneInCommon_isRefused() throws IOException {
    EvaluationFolder first = evaluated("a", Evaluations.task("sums", 2, 1));
    EvaluationFolder second = evaluated("b", Evaluations.task("words", 2, 1));

    assertThatThrownBy(() -> new EvaluationComparison(first, second).tasks())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("have no task in common: [sums] and [words]");
  }

  @Test
  void regenerate_twoVersions_writesTableAndCurve() throws IOException {
    evaluated("v20", Evaluations.task("sums", 4, 1));
    evaluated("v3", Evaluations.task("sums", 4, 1));
    WatchResults results = new WatchResults(folder);

    results.regenerate();

    List<String> rows = Files.readAllLines(folder.resolve("results.csv"));
    assertThat(rows.getFirst()).isEqualTo("step,task,metric,value");
    assertThat(rows.stream().filter(row -> row.contains(",avg,")).map(row -> row.split(",", 2)[0]))
        .containsExactly("3", "20");
    assertThat(Files.readString(folder.resolve("curve.svg")))
        .contains("<polyline")
        .contains("step 20");
    assertThat(results.holds(20)).isTrue();
    assertThat(results.holds(21)).isFalse();
  }
}
