package io.troupe.cli.gym;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.troupe.base.files.FileTree;
import io.troupe.cli.Main;
import io.troupe.run.compose.ShapedCheckpoints;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Gyms of a pretrained student whose trainings are sessions of other commands. */
class GymSessionsTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final AtomicInteger asked = new AtomicInteger();
  private String answer = "102";
  private HttpServer server;

  @TempDir private Path root;

  /** A writer of sums, each another one, in the form of the server's protocol. */
  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          int number = asked.incrementAndGet();
          String rows =
              "{'weak_skill':'sums','rows':[{'problem':'%d+1=','answer':'%s'},{'problem':'%d+2=','answer':'%s'}]}"
                  .formatted(100 + number, answer, 100 + number, answer)
                  .replace("'", "\\\"");
          byte[] body =
              "{\"choices\":[{\"message\":{\"content\":\"%s\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":9}}"
                  .formatted(rows)
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    ShapedCheckpoints.tiny(Files.createDirectory(root.resolve("tiny")));
    Files.write(root.resolve("val.jsonl"), List.of(sum(1), sum(2)));
    Files.write(root.resolve("test.jsonl"), List.of(sum(3), sum(4)));
  }

  @AfterEach
  void stop() {
    server.stop(0);
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
            .formatted(server.getAddress().getPort(), trainer));
    return file;
  }

  private int troupe(String... arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out));
    command.setErr(new PrintWriter(err));
    return command.execute(arguments);
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

    assertThat(troupe("gym", "run", file.toString(), "-o", folder)).as(err.toString()).isZero();

    assertThat(out.toString()).contains("2 rows kept {jsonl=2}", "trained, 1 steps");
    Path iteration = root.resolve("g/trial_00_open_ended_1/iteration_1");
    assertThat(iteration.resolve("trainable_predictor/optimizer.safetensors")).doesNotExist();
    Path weights = iteration.resolve("trainable_predictor/model.safetensors");
    byte[] trained = Files.readAllBytes(weights);
    assertThat(trained).isNotEqualTo(Files.readAllBytes(root.resolve("tiny/model.safetensors")));
    assertThat(Files.readString(iteration.resolve("training/rows.jsonl")))
        .contains("\"prompt\":\"101+1=\",\"completion\":\"102\"");
    FileTree.delete(iteration.resolve("trainable_predictor"));
    FileTree.delete(root.resolve("g/journal"));
    assertThat(troupe("gym", "run", "--resume", folder)).as(err.toString()).isZero();
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

    assertThat(troupe("gym", "run", file.toString(), "-o", root.resolve("g").toString()))
        .as(err.toString())
        .isZero();

    Path iteration = root.resolve("g/trial_00_open_ended_1/iteration_1");
    assertThat(out.toString()).contains("trained, 1 steps");
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

    assertThat(troupe("gym", "run", file.toString(), "-o", root.resolve("g").toString()))
        .as(err.toString())
        .isZero();

    assertThat(out.toString()).contains("had no finite loss", "the best student so far is kept");
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

    assertThat(troupe("gym", "run", file.toString(), "-o", root.resolve("g").toString()))
        .isEqualTo(4);
    assertThat(err.toString())
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

    assertThat(troupe("gym", "run", file.toString(), "-o", folder)).isEqualTo(2);
    assertThat(err.toString()).contains("policy.checkpoint: the checkpoint", "is no directory");
    assertThat(root.resolve("g/base")).doesNotExist();
  }
}
