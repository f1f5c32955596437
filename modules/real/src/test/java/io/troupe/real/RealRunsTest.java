package io.troupe.real;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.real.CaseResult.CaseOutcome;
import io.troupe.real.CounterpartResult.Ending;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counterparts whose Python and uv are shells, and whose drivers are shell scripts. */
final class RealRunsTest {
  private static final String TELLS = "echo '{\"case\": \"a\", \"ok\": true}'\n";

  @TempDir private Path folder;
  private Path programs;

  @BeforeEach
  void fakePrograms() throws IOException {
    programs = Files.createDirectories(folder.resolve("programs"));
    program("python3.12", "echo 3.12");
    program(
        "uv",
        """
        if [ "$1" = pip ]; then echo x >>"%1$s/installs"; exit; fi
        for last; do :; done
        mkdir -p "$last/bin"
        printf '#!/bin/sh\\nexec /bin/sh "$2"\\n' >"$last/bin/python"
        chmod +x "$last/bin/python"
        """
            .formatted(folder));
  }

  private void program(String name, String body) throws IOException {
    Path file = Files.writeString(programs.resolve(name), "#!/bin/sh\n" + body + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private Counterpart counterpart(String name, String driver, ProgramLimits limits)
      throws IOException {
    return counterpart(name, driver, limits, "3.12");
  }

  private Counterpart counterpart(String name, String driver, ProgramLimits limits, String python)
      throws IOException {
    Path own = Files.createDirectories(folder.resolve("counterparts").resolve(name));
    Files.writeString(own.resolve("cases.py"), driver);
    Requirements pins =
        new Requirements(
            "env", folder.resolve("env.txt"), "# python %s\nx==1.5\n".formatted(python));
    return new Counterpart(own, name, "It counts.", pins, List.of("x"), limits);
  }

  private List<CounterpartResult> run(Counterpart... counterparts) throws Exception {
    Map<String, String> variables = Map.of("PATH", programs + ":/usr/bin:/bin", "HOME", "/");
    return new RealRuns(
            new PythonEnvironments(folder.resolve("cache"), variables, _ -> {}),
            new CounterpartRun(folder, List.of(), false, _ -> {}),
            folder.resolve("scratch"),
            _ -> {})
        .run(List.of(counterparts), Duration.ofMinutes(5));
  }

  private static ProgramLimits limits(int seconds, long bytes) {
    return new ProgramLimits(Duration.ofSeconds(seconds), bytes);
  }

  private CounterpartResult run(String driver, ProgramLimits limits) throws Exception {
    return run(counterpart("one", driver, limits)).getFirst();
  }

  private static String why(CounterpartResult result) {
    return result.ending() instanceof Ending.Broken(String why) ? why : "";
  }

  @Test
  void run_driverThatTellsItsCases_countsThemAndLeavesNothing() throws Exception {
    CounterpartResult result =
        run(
            """
            cd "$TROUPE_SCRATCH" && echo x >file
            echo '{"case": "a", "ok": true}'
            echo '{"case": "b", "ok": false, "expected": [1], "got": "two", "why": "off by one"}'
            echo '{"case": "c", "skipped": true, "why": "needs a GPU"}'
            """,
            limits(60, 1L << 30));

    assertThat(result.ending()).isEqualTo(new Ending.Complete());
    assertThat(result.cases())
        .extracting(CaseResult::outcome)
        .containsExactly(CaseOutcome.OK, CaseOutcome.FAILED, CaseOutcome.SKIPPED);
    assertThat(String.join("\n", ResultTable.lines(List.of(result))))
        .contains("one 1.5: b\n  expected  [1]\n  got       two\n  why       off by one");
    assertThat(folder.resolve("scratch/one/file")).as("of a failure").exists();
    assertThat(
            run("cd \"$TROUPE_SCRATCH\"; echo x >file\n" + TELLS, limits(60, 1L << 30)).failures())
        .isZero();
    assertThat(folder.resolve("scratch/one")).doesNotExist();
    assertThat(Files.readString(folder.resolve("installs"))).as("made once").isEqualTo("x\n");
  }

  @Test
  void run_driversThatGoWrong_areFailuresBySentences() throws Exception {
    assertThat(why(run(TELLS + "echo out of luck >&2; exit 3", limits(60, 1L << 30))))
        .isEqualTo(
            "its driver ended with 3, not with 0 (1 cases until then); it wrote last\nout of luck");
    assertThat(why(run(TELLS + "echo Hello", limits(60, 1L << 30))))
        .isEqualTo("its driver wrote 'Hello' where one JSON object a case was expected");
    assertThat(why(run("echo '{\"case\": \"a\"}'", limits(60, 1L << 30))))
        .contains("where one JSON object a case was expected");
    assertThat(why(run(":", limits(60, 1L << 30))))
        .isEqualTo("its driver reported no case, and at least one was expected");
    assertThat(why(run(TELLS + "sleep 60", limits(60, 1))))
        .startsWith("its driver and what it started had ")
        .contains(", of 0 MiB (1 cases until then)");
  }

  @Test
  void run_slowDriver_endsWithAllThatItStarted() throws Exception {
    CounterpartResult result =
        run("cd \"$TROUPE_SCRATCH\"; sleep 60 & echo $! >child; wait", limits(1, 1L << 30));

    assertThat(why(result)).startsWith("its driver was expected to end within 1 s");
    long child = Long.parseLong(Files.readString(folder.resolve("scratch/one/child")).strip());
    ProcessHandle.of(child).ifPresent(each -> each.onExit().join());
  }

  @Test
  void run_counterpartWithoutItsPython_isSkippedAndTheOthersRun() throws Exception {
    List<CounterpartResult> results =
        run(
            counterpart("absent", TELLS, limits(60, 1L << 30), "3.99"),
            counterpart("there", TELLS, limits(60, 1L << 30)));

    assertThat(ResultTable.lines(results))
        .anyMatch(line -> line.startsWith("absent") && line.contains("skipped: no Python 3.99 is "))
        .anyMatch(line -> line.matches("there +1\\.5 +1 +0 +0 +\\d+"));
    assertThat(RealMain.exitCode(results)).isEqualTo(ExitCode.INCOMPLETE);
    assertThat(RealMain.exitCode(results.subList(1, 2))).isEqualTo(ExitCode.OK);
  }

  @Test
  void run_packageThatCannotBeInstalled_isSkippedWithTheReasonAndTriedAgain() throws Exception {
    program("uv", "[ \"$1\" = venv ] && exit; echo no version of x fits >&2; exit 1");

    CounterpartResult result = run(TELLS, limits(60, 1L << 30));

    assertThat(result.ending())
        .isInstanceOfSatisfying(
            Ending.NotRun.class,
            ending ->
                assertThat(ending.why())
                    .endsWith("pip install' of env ended with 1: no version of x fits"));
    fakePrograms();
    assertThat(run(TELLS, limits(60, 1L << 30)).failures()).isZero();
  }

  @Test
  void exitCode_failure_countsMoreThanOneThatWasSkipped() throws Exception {
    CounterpartResult failed = run(":", limits(60, 1L << 30));
    CounterpartResult skipped =
        new CounterpartResult("s", "1", List.of(), new Ending.NotRun("why"), Duration.ZERO);

    assertThat(RealMain.exitCode(List.of(skipped, failed))).isEqualTo(ExitCode.FAILED);
  }
}
