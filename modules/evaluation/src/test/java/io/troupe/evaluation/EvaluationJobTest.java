package io.troupe.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.evaluation.ShardRange;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EvaluationJobTest {
  @TempDir private Path folder;

  @Test
  void run_oneTask_writesTheLinesOfTheFormat() throws IOException {
    Evaluations.run(
        folder.resolve("e"),
        Evaluations.protocol(ShardRange.WHOLE, Evaluations.task("sums", 2, 2)));

    List<String> completions = Files.readAllLines(folder.resolve("e/completions.jsonl"));
    List<String> results = Files.readAllLines(folder.resolve("e/results.jsonl"));
    assertThat(completions).hasSize(4);
    assertThat(names(completions.getFirst()))
        .containsExactly("id", "sample", "completion", "tokens", "finish");
    assertThat(names(results.getFirst()))
        .containsExactly(
            "id", "sample", "reward", "passed", "outcome", "extracted", "reason", "checks");
    assertThat(results.get(3)).startsWith("{\"id\":\"sums-1\",\"sample\":1,");
  }

  private static List<String> names(String line) throws IOException {
    return EvaluationLines.JSON.readTree(line).properties().stream()
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The summary of two tasks, computed again from results.jsonl alone. */
  @Test
  void run_twoTasks_sumsUpWhatTheResultsSay() throws IOException {
    Evaluations.run(
        folder.resolve("e"),
        Evaluations.protocol(
            ShardRange.WHOLE, Evaluations.task("few", 40, 1), Evaluations.task("many", 30, 5)));

    JsonNode tasks =
        EvaluationLines.JSON
            .readTree(Files.readString(folder.resolve("e/summary.json")))
            .path("tasks");
    List<JsonNode> many =
        Files.readAllLines(folder.resolve("e/results.jsonl")).stream()
            .map(EvaluationJobTest::tree)
            .filter(line -> line.path("task").asText().equals("many"))
            .toList();
    Map<String, List<JsonNode>> byPrompt =
        many.stream()
            .filter(line -> line.path("outcome").asText().equals("scored"))
            .collect(Collectors.groupingBy(line -> line.path("id").asText()));
    double mean =
        byPrompt.values().stream()
            .mapToDouble(
                lines ->
                    lines.stream()
                        .mapToDouble(l -> l.path("reward").asDouble())
                        .average()
                        .orElse(0))
            .average()
            .orElseThrow();
    JsonNode of = tasks.path(1);
    assertThat(of.path("task").asText()).isEqualTo("many");
    assertThat(of.path("prompts").asInt()).isEqualTo(30);
    assertThat(of.path("samples").asInt()).isEqualTo(150);
    assertThat(of.path("avg").asDouble())
        .isEqualTo(mean, org.assertj.core.api.Assertions.within(1e-12));
    assertThat(of.path("unverifiable").asLong())
        .isPositive()
        .isEqualTo(150 - byPrompt.values().stream().mapToInt(List::size).sum());
    assertThat(of.path("by").path("level").size()).isEqualTo(3);
    assertThat(of.path("by").path("instruction").path("is one").path("checks").asLong())
        .isEqualTo(150 - of.path("unverifiable").asLong());
    assertThat(tasks.path(0).path("pass").has("2")).isFalse();
  }

  private static JsonNode tree(String line) {
    try {
      return EvaluationLines.JSON.readTree(line);
    } catch (IOException broken) {
      throw new IllegalStateException(broken);
    }
  }

  /** A process that is killed leaves both files up to any of their bytes. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void run_resumedAfterAKill_givesTheSameBytes(long seed) throws IOException {
    EvaluationProtocol protocol =
        Evaluations.protocol(
            ShardRange.WHOLE, Evaluations.task("few", 600, 1), Evaluations.task("many", 40, 3));
    Path whole = folder.resolve("whole");
    Path killed = folder.resolve("killed");
    Evaluations.run(whole, protocol);
    Evaluations.run(killed, protocol);
    Files.delete(killed.resolve("summary.json"));
    SplittableRandom random = new SplittableRandom(seed);
    double place = random.nextDouble();
    for (String file : List.of("completions.jsonl", "results.jsonl")) {
      Path path = killed.resolve(file);
      long length =
          Math.clamp((long) (Files.size(path) * place) + random.nextInt(200), 0, Files.size(path));
      try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
        channel.truncate(length);
      }
    }

    Evaluations.job(protocol).run(killed, true, Evaluations.CLOCK);

    assertThat(Evaluations.files(killed)).isEqualTo(Evaluations.files(whole));
  }

  @Test
  void run_stopped_keepsWhatIsDoneAndContinues() throws IOException {
    EvaluationProtocol protocol =
        Evaluations.protocol(ShardRange.WHOLE, Evaluations.task("few", 900, 1));
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    EvaluationJob stopped =
        new EvaluationJob(
            protocol,
            Evaluations.answers(),
            _ -> Evaluations.verifier(),
            stop,
            (_, done, _, _) -> {
              if (done == 550) {
                stop.complete(2);
              }
            });

    assertThat(stopped.run(folder.resolve("e"), false, Evaluations.CLOCK)).isFalse();
    assertThat(Files.exists(folder.resolve("e/summary.json"))).isFalse();
    assertThat(Files.readAllLines(folder.resolve("e/results.jsonl")))
        .hasSizeGreaterThanOrEqualTo(550);
    assertThat(Evaluations.job(protocol).run(folder.resolve("e"), true, Evaluations.CLOCK))
        .isTrue();
    Evaluations.run(folder.resolve("whole"), protocol);
    assertThat(Evaluations.files(folder.resolve("e")))
        .isEqualTo(Evaluations.files(folder.resolve("whole")));
  }

  @Test
  void run_resumedWithOtherSettings_isRefusedByName() throws IOException {
    EvaluationTask task = Evaluations.task("few", 3, 1);
    Evaluations.run(folder.resolve("e"), Evaluations.protocol(ShardRange.WHOLE, task));
    EvaluationProtocol other =
        new EvaluationProtocol(
            "test",
            Map.of("run", "r"),
            8,
            Evaluations.protocol(ShardRange.WHOLE, task).ks(),
            ShardRange.WHOLE,
            Map.of("seed", "7"),
            List.of(task));

    assertThatThrownBy(
            () -> Evaluations.job(other).run(folder.resolve("e"), true, Evaluations.CLOCK))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("by another protocol: seed is 7 there and 8 here");
    assertThatThrownBy(() -> Evaluations.run(folder.resolve("e"), other))
        .hasMessageContaining("holds an evaluation already; pass --resume");
  }

  /** Chunks are asked for ahead and answered in another order; the files have the old one. */
  @Test
  void run_manyChunksAtOnceAnsweredBackwards_givesTheSameBytes() throws IOException {
    EvaluationProtocol protocol =
        Evaluations.protocol(
            ShardRange.WHOLE, Evaluations.task("few", 2_000, 1), Evaluations.task("many", 300, 5));
    Evaluations.run(folder.resolve("one"), protocol);
    BackwardAnswers backwards = new BackwardAnswers(3);

    new EvaluationJob(
            protocol,
            backwards,
            _ -> Evaluations.verifier(),
            new CompletableFuture<>(),
            (_, _, _, _) -> {})
        .run(folder.resolve("three"), false, Evaluations.CLOCK);

    assertThat(backwards.most).isEqualTo(3);
    assertThat(Evaluations.files(folder.resolve("three")))
        .isEqualTo(Evaluations.files(folder.resolve("one")));
  }

  /** Answers once it has some chunks, or their last one, and the latest chunk first. */
  private static final class BackwardAnswers implements AnswerSource {
    private final int chunks;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private int most;

    BackwardAnswers(int chunks) {
      this.chunks = chunks;
    }

    @Override
    public int chunksAtOnce() {
      return chunks;
    }

    @Override
    public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
      List<CompletableFuture<List<Answer>>> answers =
          questions.stream().map(_ -> new CompletableFuture<List<Answer>>()).toList();
      waiting.push(
          () -> {
            List<CompletionStage<List<Answer>>> given = Evaluations.answers().answer(questions);
            for (int i = 0; i < answers.size(); i++) {
              answers.get(i).complete(given.get(i).toCompletableFuture().join());
            }
          });
      most = Math.max(most, waiting.size());
      boolean last = questions.getLast().item().id().matches("few-1999|many-299");
      if (waiting.size() == chunks || last) {
        while (!waiting.isEmpty()) {
          waiting.pop().run();
        }
      }
      return List.copyOf(answers);
    }

    @Override
    public void close() {}
  }

  @Test
  void run_samplingFails_keepsWhatIsDoneAndSaysSo() throws IOException {
    EvaluationProtocol protocol =
        Evaluations.protocol(ShardRange.WHOLE, Evaluations.task("few", 3, 1));
    AnswerSource failing =
        new AnswerSource() {
          @Override
          public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
            return List.of(
                Evaluations.answers().answer(questions).getFirst(),
                CompletableFuture.failedFuture(new IllegalStateException("out of memory")),
                new CompletableFuture<>());
          }

          @Override
          public void close() {}
        };
    EvaluationJob job =
        new EvaluationJob(
            protocol,
            failing,
            _ -> Evaluations.verifier(),
            new CompletableFuture<>(),
            (_, _, _, _) -> {});

    assertThatThrownBy(() -> job.run(folder.resolve("e"), false, Evaluations.CLOCK))
        .isInstanceOf(EvaluationJob.SamplingFailedException.class)
        .hasMessage(
            "task few: prompt few-1 was not sampled: out of memory; what was done is kept, and --resume continues");
    assertThat(Files.readAllLines(folder.resolve("e/results.jsonl"))).hasSize(1);
  }
}
