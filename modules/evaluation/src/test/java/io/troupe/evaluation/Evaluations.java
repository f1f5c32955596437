package io.troupe.evaluation;

import io.troupe.core.evaluation.ShardRange;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.engine.SamplingSettings;
import io.troupe.verifiers.pool.PoolReport;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierSlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/** Evaluations of a policy whose answers follow from the seed alone. */
final class Evaluations {
  static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-23T00:00:00Z"), ZoneOffset.UTC);

  private Evaluations() {}

  static EvaluationTask task(String name, int prompts, int samples) {
    return new EvaluationTask(
        name,
        IntStream.range(0, prompts)
            .mapToObj(
                i ->
                    new EvaluationItem(
                        new Prompt(new PromptId(name + "-" + i), "sums", "q" + i + "=", "1", ""),
                        Map.of("level", Integer.toString(i % 3)),
                        new SamplingSettings(1, 4)))
            .toList(),
        samples,
        Map.of("settings", "all"));
  }

  static EvaluationProtocol protocol(ShardRange shard, EvaluationTask... tasks) {
    return new EvaluationProtocol(
        "test",
        Map.of("run", "r"),
        7,
        new TreeSet<>(List.of(1, 2)),
        shard,
        Map.of("seed", "7"),
        List.of(tasks));
  }

  /** Answers "1" or "0" by the seed, and is cut off at every seventh. */
  static AnswerSource answers() {
    return new AnswerSource() {
      @Override
      public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
        return questions.stream()
            .<CompletionStage<List<Answer>>>map(
                question -> CompletableFuture.supplyAsync(() -> of(question)))
            .toList();
      }

      @Override
      public void close() {}
    };
  }

  private static List<Answer> of(Question question) {
    return IntStream.range(0, question.samples())
        .mapToObj(
            sample -> {
              long number = Math.floorMod(question.seed() + sample, 7L);
              return new Answer(
                  number == 6 ? "?" : number % 2 + "\u00e9",
                  1 + (int) number,
                  number == 0 ? Answer.LENGTH : Answer.STOP);
            })
        .toList();
  }

  /** Passes what begins with 1, and cannot judge a question mark. */
  static VerifierService verifier() {
    return new VerifierService() {
      @Override
      public CompletionStage<TimedVerdict> judge(Prompt prompt, String completion) {
        boolean right = completion.startsWith("1");
        return CompletableFuture.completedFuture(
            new TimedVerdict(
                completion.equals("?")
                    ? new Verdict.Unverifiable(Verdict.Cause.CRASH, "a question mark")
                    : new Verdict.Scored(
                        right ? 1 : 0, completion, "read", List.of(new Check("is one", right))),
                1));
      }

      @Override
      public List<PoolReport> reports() {
        return List.of();
      }

      @Override
      public List<VerifierSlot> places() {
        return List.of();
      }

      @Override
      public Optional<String> quarantine(String place) {
        return Optional.empty();
      }

      @Override
      public Optional<String> release(String place) {
        return Optional.empty();
      }

      @Override
      public void close() {}
    };
  }

  static EvaluationJob job(EvaluationProtocol protocol) {
    return new EvaluationJob(
        protocol, answers(), _ -> verifier(), new CompletableFuture<>(), (_, _, _, _) -> {});
  }

  static void run(Path folder, EvaluationProtocol protocol) throws IOException {
    job(protocol).run(folder, false, CLOCK);
  }

  /** The files that say what was sampled and judged, and the summary. */
  static List<String> files(Path folder) throws IOException {
    return List.of(
        Files.readString(folder.resolve("prompts.jsonl")),
        Files.readString(folder.resolve("completions.jsonl")),
        Files.readString(folder.resolve("results.jsonl")),
        Files.readString(folder.resolve("summary.json")));
  }
}
