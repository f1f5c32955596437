package io.troupe.run.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.rollout.VerifierSection.Over;
import io.troupe.config.rollout.VerifierSection.Reward;
import io.troupe.core.prompt.DataRow;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifiers of one's own that cannot judge end the start of a run. */
final class VerifierTrialTest {
  private static final Map<String, VerifierSpec> TASK = Map.of("own", VerifierSpec.named("math"));

  /** Two prompts, of which the first is tried. */
  private static final List<Prompt> PROMPTS =
      List.of(
          new Prompt(
              new PromptId("first"), "own", "2+2=", "4", "4", new DataRow("{\"a\":1}", List.of())),
          new Prompt(new PromptId("second"), "own", "2+3=", "5", ""));

  @TempDir private Path folder;

  private List<String> tryOut(String run, Duration timeout, Over over) throws Exception {
    VerifierSection section =
        new VerifierSection(
            1,
            timeout,
            64,
            20,
            Duration.ofMinutes(1),
            false,
            List.of(),
            1,
            List.of(new Reward("own", "command", 1, List.of("run=" + run), over)));
    try (VerifierPools pools = VerifierPools.open(section, TASK, true)) {
      return pools.tryOut(PROMPTS);
    }
  }

  /** A program that does one thing with each question. */
  private String program(String each) throws IOException {
    Path file = folder.resolve("mine.py");
    Files.writeString(
        file,
        """
        import json, sys, time
        print('{"ready": true}', flush=True)
        for line in sys.stdin:
            question = json.loads(line)
            seq, row, completion = question["seq"], question["row"], question["completion"]
            def answer(text): print(text.replace("SEQ", str(seq)), flush=True)
            %s
        """
            .formatted(each));
    return "python3 -I -S -u " + file;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "answer('{\"seq\": SEQ, \"reward\": NaN}') | \"reward\" must be a finite number, not NaN",
        "answer('{\"seq\": SEQ, \"reward\": \"1\"}') | \"reward\" must be a finite number, not \"1\"",
        "answer('{\"seq\": SEQ}') | an answer must hold \"reward\" or \"unverifiable\"",
        "answer('{\"reward\": 1}') | wrote a line that is no answer",
        "print('debug', flush=True) | no answer to question 1: 'debug'",
        "row['level'] | KeyError: 'level'",
        "sys.exit(3) | exit code 3",
        "answer('{\"seq\": SEQ, \"unverifiable\": \"crash\", \"reason\": \"no grammar\"}') | no grammar",
      })
  void tryOut_programThatGivesNoReward_endsTheStart(String each, String reason) throws Exception {
    String run = program(each);

    assertThatThrownBy(() -> tryOut(run, Duration.ofSeconds(60), Over.ANSWER))
        .isInstanceOf(InvalidVerifierException.class)
        .hasMessageStartingWith(
            "verifier command of own (run=%s) was tried with the prompt first and its solution, and gave no reward: "
                .formatted(run))
        .hasMessageContaining(reason)
        .hasMessageContaining("troupe verify");
  }

  @Test
  void tryOut_programThatHangs_endsTheStartAfterItsTimeout() throws Exception {
    String run = program("time.sleep(600)");

    assertThatThrownBy(() -> tryOut(run, Duration.ofMillis(300), Over.ANSWER))
        .isInstanceOf(InvalidVerifierException.class)
        .hasMessageContaining("no verdict within 300 ms")
        .hasMessageContaining("verifier.timeout (0.3 s)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"exec-that-is-not-there x.py", "python3 -u no-such-file.py"})
  void open_programThatDoesNotStart_namesCommandAndFolder(String run) {
    assertThatThrownBy(() -> tryOut(run, Duration.ofSeconds(60), Over.ANSWER))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("verifier command: ")
        .hasMessageContaining(
            "correct its option run (%s), whose relative paths begin in %s"
                .formatted(run, Path.of("").toAbsolutePath()));
  }

  @Test
  void tryOut_programThatJudges_isFine() throws Exception {
    String given = "answer('{\"seq\": SEQ, \"reward\": %s}' % (completion.count('4') * row['a']))";

    assertThat(tryOut(program(given), Duration.ofSeconds(60), Over.ANSWER)).isEmpty();
    assertThat(
            tryOut(
                program("assert '=== turn 1' in completion; " + given),
                Duration.ofSeconds(60),
                Over.TRACE))
        .isEmpty();
  }

  @Test
  void tryOut_programThatIsSlowOrRefusesTheRow_isSaid() throws Exception {
    String slow = "time.sleep(1.1); answer('{\"seq\": SEQ, \"reward\": 1}')";
    String refusing =
        "answer('{\"seq\": SEQ, \"unverifiable\": \"bad_input\", \"reason\": \"no units\"}')";

    assertThat(tryOut(program(slow), Duration.ofSeconds(2), Over.ANSWER))
        .singleElement()
        .asString()
        .contains("took 1.", "of the 2.0 s that verifier.timeout allows");
    assertThat(tryOut(program(refusing), Duration.ofSeconds(60), Over.ANSWER))
        .singleElement()
        .asString()
        .endsWith("its solution, which it cannot judge: no units");
  }
}
