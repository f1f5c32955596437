package io.troupe.real;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.real.CaseResult.CaseOutcome;
import io.troupe.real.CounterpartResult.Ending;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of what was run, and the results behind it. */
final class RecordedResultsTest {
  @TempDir private Path folder;

  @Test
  void page_ofTheTree_isThatOfTheLastResults() throws IOException {
    Path module = Path.of("").toAbsolutePath();

    assertThat(module.resolve("../..").resolve(RecordedResults.PAGE))
        .content()
        .as("`./troupe test --real --record` writes it")
        .isEqualTo(RecordedResults.read(module).page());
  }

  @Test
  void write_oneOfTwoRunAgain_keepsTheOther() throws IOException {
    Files.createDirectories(folder.resolve("docs"));
    Counterpart counterpart =
        new Counterpart(
            folder,
            "new",
            "It counts.",
            new Requirements("env", folder, "# python 3.12\nx==2\n"),
            List.of("x"),
            new ProgramLimits(Duration.ofMinutes(1), 1));
    CounterpartResult result =
        new CounterpartResult(
            "new",
            "2",
            List.of(new CaseResult("a", CaseOutcome.OK, "", "", "")),
            new Ending.Complete(),
            Duration.ofSeconds(9));
    RecordedResults before =
        new RecordedResults(
            Map.of("old", new RecordedResults.Entry("1", "2026-01-01", 7, 0, 1, "It runs.")));

    before.with(counterpart, result, "2026-02-02").write(folder, folder);

    assertThat(RecordedResults.read(folder).entries()).containsOnlyKeys("new", "old");
    assertThat(folder.resolve(RecordedResults.PAGE))
        .content()
        .contains("| new | 2 | 2026-02-02 | 1 | 0 | 0 | It counts. |")
        .contains("| old | 1 | 2026-01-01 | 7 | 0 | 1 | It runs. |");
  }
}
