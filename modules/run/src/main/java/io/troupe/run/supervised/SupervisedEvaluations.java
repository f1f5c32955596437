package io.troupe.run.supervised;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.build.BuildInfo;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationProtocol;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.evaluation.EvaluationTasks;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.store.file.StoreJson;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * The named evaluations of a supervised run. Each evaluation of a version is an evaluation as
 * {@code troupe eval} makes it, in {@code evaluations/NAME/v<step>} of the run's folder.
 */
final class SupervisedEvaluations implements AutoCloseable {
  private final SupervisedConfig config;
  private final Path folder;
  private final PolicyEngines engines;
  private final EvaluationTasks tasks;
  private final Map<String, VerifierService> verifiers = new HashMap<>();
  private Optional<SamplingEngine> sampler = Optional.empty();

  /**
   * Loads the prompts.
   *
   * @param folder of the run
   */
  SupervisedEvaluations(SupervisedComposition composition, PolicyEngines engines, Path folder)
      throws IOException {
    this.config = composition.config();
    this.folder = folder.resolve("evaluations");
    this.engines = engines;
    EvaluationFile file =
        EvaluationFile.ofRun(
            config.run().seed(), config.evaluations(), config.data(), config.verifier());
    this.tasks =
        new EvaluationTasks(
            EvaluatedPolicy.ofWeights(composition.checkpoint(), config.policy().thinking()),
            file,
            Optional.of(engines.tokenizer()),
            engines.contextLength());
  }

  /** Looks for every verifier, without opening any. */
  void check() throws InvalidVerifierException {
    tasks.checkVerifiers();
  }

  /** The names of those that are due after a step. */
  List<String> due(long step, long last) {
    return config.evaluations().stream()
        .filter(each -> step % each.every() == 0 || step == last)
        .map(NamedEvaluation::name)
        .toList();
  }

  /**
   * Evaluates weights, or continues an evaluation of the same weights that was interrupted.
   *
   * @param stop completes when a person wants the run to end
   * @return the share of completions with the full reward, averaged over prompts; nothing if none
   *     could be judged
   * @throws InterruptedException if the evaluation was stopped
   */
  OptionalDouble evaluate(String name, WeightSnapshot weights, CompletableFuture<?> stop)
      throws IOException, InterruptedException {
    EvaluationTask task =
        tasks.tasks().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    SamplingEngine engine = sampler.orElseGet(engines::newSampler);
    sampler = Optional.of(engine);
    engine.load(weights).toCompletableFuture().join();
    TreeSet<Integer> ks = new TreeSet<>(List.of(1, task.samples()));
    EvaluationProtocol protocol =
        new EvaluationProtocol(
            BuildInfo.version(),
            Map.of("version", weights.version().number(), "weights", weights.digest()),
            config.run().seed(),
            ks,
            new ShardRange(1, 1),
            Map.of(),
            List.of(task));
    Path own = folder.resolve(name).resolve("v" + weights.version().number());
    Files.createDirectories(folder.resolve(name));
    boolean whole =
        new EvaluationJob(
                protocol,
                new EngineAnswers(engine, engines.tokenizer()),
                this::verifier,
                stop,
                (_, _, _, _) -> {})
            .run(own, true, Clock.systemUTC());
    if (!whole) {
      throw new InterruptedException("evaluation %s was stopped".formatted(name));
    }
    JsonNode summary = StoreJson.LINE.readTree(Files.readAllBytes(own.resolve("summary.json")));
    JsonNode value = summary.path("tasks").path(0).path("pass").path("1");
    return value.isNumber() ? OptionalDouble.of(value.doubleValue()) : OptionalDouble.empty();
  }

  private VerifierService verifier(EvaluationTask task) throws IOException {
    VerifierService open = verifiers.get(task.name());
    if (open == null) {
      open = tasks.verifiers(task);
      verifiers.put(task.name(), open);
    }
    return open;
  }

  @Override
  public void close() {
    sampler.ifPresent(SamplingEngine::close);
    tasks.close();
  }
}
