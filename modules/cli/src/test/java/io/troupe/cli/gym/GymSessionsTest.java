package io.troupe.cli.gym;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.FileTree;
import io.troupe.cli.CommandOutput;
import io.troupe.run.compose.ShapedCheckpoints;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gyms of a pretrained student whose trainings are sessions of other commands. */
class GymSessionsTest {
  private final AtomicInteger asked = new AtomicInteger();
  private String answer = "102";
  @AutoClose private LoopbackServer server;

  @TempDir private Path root;

  /** A writer of sums, each another one, in the form of the server's protocol. */
  @BeforeEach
  void serve() throws IOException {
    server =
        LoopbackServer.start(
            exchange -> {
              int number = asked.incrementAndGet();
              String rows =
                  "{'weak_skill':'sums','rows':[{'problem':'%d+1=','answer':'%s'},{'problem':'%d+2=','answer':'%s'}]}"
                      .formatted(100 + number, answer, 100 + number, answer)
                      .replace("'", "\\\"");
              String body =
                  "{\"choices\":[{\"message\":{\"content\":\"%s\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":9}}"
                      .formatted(rows);
              LoopbackServer.answer(exchange, 200, body);
              exchange.close();
            });
    ShapedCheckpoints.tiny(Files.createDirectory(root.resolve("tiny")));
    Files.write(root.resolve("val.jsonl"), List.of(sum(1), sum(2)));
    Files.write(root.resolve("test.jsonl"), List.of(sum(3), sum(4)));
  }

  private static String sum(int number) {
    return "{\"id\":\"%d\",\"prompt\":\"%d+0=\",\"answer\":\"%d\"}"
        .formatted(number, number, number);
  }

  private Path gym(String trainer, String recipe) throws IOException {
    Files.writeString(root.resolve("recipe.yaml"), recipe);
    Path file = root.resolve("gym-tiny.yaml");
    Files.writeString(
        file,
        """
        trials: {seeds: [1], arms: [open_ended], iterations: 1, rows: 4}
        task:
          name: datasets
          skills: [source]
          validation: [{name: jsonl, file: val.jsonl, verifier: text}]
          test: [{name: jsonl, file: test.jsonl, verifier: text}]
        model: {provider: openai, url: "http://127.0.0.1:%d/v1", model: m, cache: answers}
        policy: {engine: pretrained, checkpoint: tiny, context_length: 64, device: cpu}
        student: {trainer: %s, recipe: recipe.yaml, max_tokens: 4}
        """
            .formatted(server.port(), trainer));
    return file;
  }

  @Test
  void run_trainerSft_trainsAdaptersInASessionAndResumesIt() throws IOException {
    Path file =
        gym(
            "sft",
            """
            policy:
              {engine: pretrained, checkpoint: tiny, context_length: 64, device: cpu, lora: {rank: 2}}
            datasets: [{file: rows.jsonl}]
            training: {epochs: 1, batch: 2, learning_rate: 1e-2}
            """);
    String folder = root.resolve("g").toString();

    CommandOutput said = CommandOutput.ending(0, "gym", "run", file.toString(), "-o", folder);

    assertThat(said.out()).contains("2 rows kept {jsonl=2}", "trained, 1 steps");
    Path iteration = root.resolve("g/trial_00_open_ended_1/iteration_1");
    assertThat(iteration.resolve("trainable_predictor/optimizer.safetensors")).doesNotExist();
    Path weights = iteration.resolve("trainable_predictor/model.safetensors");
    byte[] trained = Files.readAllBytes(weights);
    assertThat(trained).isNotEqualTo(Files.readAllBytes(root.resolve("tiny/model.safetensors")));
    assertThat(Files.readString(iteration.resolve("training/rows.jsonl")))
        .contains("\"prompt\":\"101+1=\",\"completion\":\"102\"");
    FileTree.delete(iteration.resolve("trainable_predictor"));
    FileTree.delete(root.resolve("g/journal"));
    CommandOutput.ending(0, "gym", "run", "--resume", folder);
    assertThat(Files.readString(iteration.resolve("training/session.log")))
        .containsPattern("(?s)done   step 1.*done   step 1");
    assertThat(iteration.resolve("training/runs")).isDirectoryContaining("glob:**/recipe-*");
    assertThat(Files.readAllBytes(weights)).isEqualTo(trained);
    assertThat(asked.get()).isEqualTo(1);
  }

  @Test
  void run_trainerGrpo_trainsOnProblemsWithoutResponses() throws IOException {
    answer =
        IntStream.rangeClosed('!', '~')
            .filter(each -> each != '"' && each != '\\' && each != '\'' && each != '%')
            .mapToObj(Character::toString)
            .collect(Collectors.joining("\\\\n"));
    Path file =
        gym(
            "grpo",
            """
            policy: {engine: pretrained, checkpoint: tiny, context_length: 64, device: cpu}
            task: {name: jsonl, file: rows.jsonl, verifier: text, held_out_share: 0}
            rollout: {completions_per_prompt: 8, max_tokens: 1, workers: 1}
            training: {steps: 1, groups_per_step: 1, learning_rate: 1e-2}
            evaluation: {every: 0}
            """);

    CommandOutput said =
        CommandOutput.ending(0, "gym", "run", file.toString(), "-o", root.resolve("g").toString());

    Path iteration = root.resolve("g/trial_00_open_ended_1/iteration_1");
    assertThat(said.out()).contains("trained, 1 steps");
    assertThat(iteration.resolve("trainable_predictor/model.safetensors")).isNotEmptyFile();
    assertThat(Files.readString(iteration.resolve("training/session.log"))).contains("groups");
  }

  /** Adapters of so large a scale overflow after their first step. */
  @Test
  void run_aSessionThatDiverges_endsItsTrialWithTheStudentBefore() throws IOException {
    Path file =
        gym(
            "sft",
            """
            policy:
              engine: pretrained
              checkpoint: tiny
              context_length: 64
              device: cpu
              lora: {rank: 2, alpha: 1e37}
            datasets: [{file: rows.jsonl}]
            training: {epochs: 40, batch: 2, learning_rate: 1}
            """);

    CommandOutput said =
        CommandOutput.ending(0, "gym", "run", file.toString(), "-o", root.resolve("g").toString());

    assertThat(said.out()).contains("had no finite loss", "the best student so far is kept");
    Path trial = root.resolve("g/trial_00_open_ended_1");
    assertThat(trial.resolve("iteration_1/trainable_predictor")).doesNotExist();
  }

  @Test
  void run_aSessionThatRefusesItsRecipe_endsWithItsWordsAndResumes() throws IOException {
    Path file =
        gym(
            "sft",
            """
            policy: {engine: pretrained, checkpoint: tiny, context_length: 4, device: cpu}
            datasets: [{file: rows.jsonl}]
            training: {epochs: 1, batch: 2, learning_rate: 1e-2}
            """);

    CommandOutput said =
        CommandOutput.ending(4, "gym", "run", file.toString(), "-o", root.resolve("g").toString());
    assertThat(said.err())
        .contains("ended with exit code", "--resume continues:", "context_length");
  }

  @Test
  void run_withoutTheCheckpoint_isRefusedBeforeAStudentIsMade() throws IOException {
    Path file =
        gym(
            "sft",
            """
            policy: {engine: pretrained, checkpoint: tiny, context_length: 64, device: cpu}
            datasets: [{file: rows.jsonl}]
            """);
    String folder = root.resolve("g").toString();
    FileTree.delete(root.resolve("tiny"));

    CommandOutput said = CommandOutput.ending(2, "gym", "run", file.toString(), "-o", folder);
    assertThat(said.err()).contains("policy.checkpoint: the checkpoint", "is no directory");
    assertThat(root.resolve("g/base")).doesNotExist();
  }
}
