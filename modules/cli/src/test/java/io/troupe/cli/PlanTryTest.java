package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code plan --try} samples, judges and shows, and leaves nothing behind. */
final class PlanTryTest {
  /** Judges two completions, and ends at the third. */
  private static final String FRAGILE =
      """
      import json, sys
      print(json.dumps({"ready": True}), flush=True)
      for number, line in enumerate(sys.stdin):
          if number == 2:
              sys.exit(3)
          print(json.dumps({"seq": json.loads(line)["seq"], "reward": -0.5}), flush=True)
      """;

  @TempDir private Path folder;

  private CommandOutput tried(int code, String yaml, String... options) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("plan", "--try", TestRuns.write(folder, yaml)));
    arguments.addAll(List.of("--set", "run.folder=" + folder.resolve("runs")));
    arguments.addAll(List.of(options));
    CommandOutput output = CommandOutput.ending(code, arguments.toArray(String[]::new));
    assertThat(folder.resolve("runs")).doesNotExist();
    return output;
  }

  @Test
  void try_firstPrompts_areShownWithWhatTheVerifierRead() throws IOException {
    String out = tried(0, TestRuns.TOY).out();

    assertThat(out)
        .contains("training.groups_per_step", "the run makes supervised steps first")
        .contains("── prompt add-0-0 of arithmetic · 4 tokens · 2 completions sampled in ")
        .contains("\n0+0=\n── expected  0\n── completion, ", " · reward 0.0 · ", " · judged in ")
        .containsPattern(
            "(?m)^trial {2}2 prompts, 4 completions: mean reward 0\\.\\d{3}, \\d pass");
  }

  @Test
  void try_json_hasEveryCompletionBesideThePlan() throws IOException {
    JsonNode answer =
        tried(0, TestRuns.TOY, "--json", "--prompts", "3", "--completions", "5").json();

    assertThat(answer.path("placement").path("trainer").asText()).isEqualTo("1");
    JsonNode prompts = answer.path("trial").path("prompts");
    assertThat(prompts).hasSize(3);
    for (JsonNode prompt : prompts) {
      assertThat(prompt.path("completions")).hasSize(5);
      assertThat(prompt.path("seconds").isNumber()).isTrue();
      for (JsonNode completion : prompt.path("completions")) {
        assertThat(completion.path("passed").asBoolean())
            .isEqualTo(completion.path("reward").doubleValue() >= 1);
        assertThat(completion.path("passed").isBoolean()).isTrue();
        assertThat(completion.path("extracted").isTextual()).isTrue();
        assertThat(completion.path("reason").asText()).isNotEmpty();
        assertThat(completion.path("tokens").asInt()).isBetween(1, 3);
      }
    }
  }

  @Test
  void try_severalDataSets_takesAPromptOfEachInTurn() throws IOException {
    for (String name : List.of("a", "b", "c")) {
      Files.writeString(
          folder.resolve(name + ".jsonl"),
          Stream.of("1", "2", "3", "4")
              .map(
                  n ->
                      "{\"id\": \"%s%s\", \"prompt\": \"%s+0=\", \"answer\": \"%s\"}\n"
                          .formatted(name, n, n, n))
              .reduce("", String::concat));
    }
    String mixture = "task:\n  name: mixture\n  mode: sequential\n  datasets:\n";
    for (String name : List.of("a", "b", "c")) {
      mixture +=
          "    - {name: jsonl, alias: %s, file: %s.jsonl, verifier: numeric, held_out_share: 0.5}\n"
              .formatted(name, name);
    }
    String yaml =
        TestRuns.TOY
            .replaceFirst("(?s)task:.*?policy:", mixture + "policy:")
            .replace("warmup:\n  steps: 10\n", "warmup:\n  steps: 0\n");
    JsonNode prompts =
        tried(0, yaml, "--json", "--prompts", "4", "--completions", "1")
            .json()
            .path("trial")
            .path("prompts");

    assertThat(
            StreamSupport.stream(prompts.spliterator(), false).map(p -> p.path("source").asText()))
        .containsExactly("a", "b", "c", "a");
  }

  @Test
  void try_toolsAndServers_areTriedByThisProcess() throws IOException {
    String tools =
        TestRuns.DJL
            .replace("max_tokens: 3", "max_tokens: 6")
            .replace("context_length: 16", "context_length: 60")
            .concat(
                "episode:\n  environment: {name: calculator}\n  format: inline\n  max_turns: 2\n");
    assertThat(tried(0, tools).out()).contains(" turns, ended by ", "trial  2 prompts");

    assertThat(
            tried(
                    0,
                    TestRuns.DJL,
                    "--set",
                    "rollout.sidecars.count=1",
                    "--set",
                    "rollout.sidecars.server=troupe",
                    "--set",
                    "rollout.workers=0")
                .out())
        .contains("inference servers sample for the run; for this trial the process itself does");
  }

  @Test
  void try_verifierThatFails_endsWithOneAndSaysWhy() throws IOException {
    Path program = Files.writeString(folder.resolve("fragile.py"), FRAGILE);
    String yaml =
        TestRuns.TOY
            + """
            verifier:
              rewards:
                - {source: arithmetic, verifier: command, options: ["run=python3 -u %s"]}
            """
                .formatted(program);

    assertThat(tried(1, yaml).out())
        .contains("· reward -0.5 ·", "· no reward: ")
        .containsPattern("trial {2}.* mean reward -0.500, .* [1-4] not judged");
  }

  @Test
  void try_whatCannotBe_isRefused() throws IOException {
    assertThat(tried(2, TestRuns.TOY, "--simulate").err())
        .contains("--try or --simulate, not both");
    assertThat(tried(2, TestRuns.TOY, "--prompts", "0").err()).contains("1 or more");
  }
}
