package io.troupe.cli.eval;

import io.troupe.base.build.BuildInfo;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EndpointAnswers;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationProtocol;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.evaluation.EvaluationTasks;
import io.troupe.run.task.InvalidVerifierException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine;

/**
 * Evaluations with the same tasks and options.
 *
 * @param endpoints servers that sample; none where this process does
 * @param file of the tasks
 * @param stop completes with the signal that ends the process
 */
record EvalSession(
    CommandLine command,
    EvalOptions options,
    EvalCompute compute,
    List<URI> endpoints,
    Optional<Path> file,
    CompletableFuture<Integer> stop) {
  EvalSession {
    endpoints = List.copyOf(endpoints);
  }

  /**
   * Evaluates a policy.
   *
   * @param resume whether the folder may hold a part of it
   * @return whether it is whole, and was not stopped before
   */
  boolean run(EvaluatedPolicy policy, Path folder, boolean resume, ShardRange shard)
      throws IOException, InterruptedException, InvalidVerifierException {
    ResolvedConfig<EvaluationFile> resolved = resolved(policy);
    boolean asTheRun = file.isEmpty() && options.tasks.isEmpty();
    EvaluationFile asked =
        asTheRun ? EvalOptions.withNamed(resolved.config(), policy) : resolved.config();
    EvaluationFile tasks = options.over(asked, this::bad);
    if (endpoints.isEmpty()) {
      try (PolicyEngines engines = policy.engines();
          EvaluationTasks loaded =
              new EvaluationTasks(
                  policy, tasks, Optional.of(engines.tokenizer()), engines.contextLength())) {
        SamplingEngine engine = engines.newSampler();
        try (AnswerSource source = policy.answers(engine, engines, loaded)) {
          engine.load(policy.weights().getFirst()).toCompletableFuture().join();
          EvaluationProtocol protocol =
              protocol(policy.description(), tasks, resolved, loaded.tasks(), shard);
          return run(loaded, protocol, source, folder, resume);
        }
      }
    }
    String model = compute.model(endpoints.getFirst());
    Map<String, Object> description = new LinkedHashMap<>(policy.description());
    description.put("endpoints", endpoints.stream().map(URI::toString).toList());
    description.put("model", model);
    try (EvaluationTasks loaded =
            new EvaluationTasks(policy, tasks, Optional.empty(), Integer.MAX_VALUE);
        AnswerSource source =
            new EndpointAnswers(endpoints, model, compute.key(), compute.requests)) {
      EvaluationProtocol protocol = protocol(description, tasks, resolved, loaded.tasks(), shard);
      return run(loaded, protocol, source, folder, resume);
    }
  }

  private boolean run(
      EvaluationTasks tasks,
      EvaluationProtocol protocol,
      AnswerSource source,
      Path folder,
      boolean resume)
      throws IOException, InvalidVerifierException {
    tasks.checkVerifiers();
    EvalProgress progress = new EvalProgress(command.getErr());
    boolean whole =
        new EvaluationJob(protocol, source, tasks::verifiers, stop, progress)
            .run(folder, resume, Clock.systemUTC());
    progress.end();
    return whole;
  }

  private ResolvedConfig<EvaluationFile> resolved(EvaluatedPolicy policy) {
    if (file.isPresent()) {
      if (!options.tasks.isEmpty()) {
        throw bad("give FILE or --task, not both");
      }
      return EvaluationFile.load(file.get(), options.overrides);
    }
    if (options.tasks.isEmpty() && policy.run().isEmpty()) {
      throw bad("give FILE or --task: only a run has rows of its own");
    }
    return ConfigurationFile.bind(
        EvaluationFile.class,
        Path.of("command line"),
        options.tasks.isEmpty() ? EvalOptions.ownRows(policy) : options.named(),
        options.overrides);
  }

  private EvaluationProtocol protocol(
      Map<String, Object> policy,
      EvaluationFile file,
      ResolvedConfig<EvaluationFile> resolved,
      List<EvaluationTask> tasks,
      ShardRange shard) {
    SortedSet<Integer> ks = new TreeSet<>(file.k());
    int most = tasks.stream().mapToInt(EvaluationTask::samples).max().orElse(1);
    if (ks.isEmpty()) {
      ks.add(1);
      ks.add(most);
    }
    if (ks.last() > most || ks.first() < 1) {
      throw bad("k of pass@k is from 1 to the number of samples (%d), not %s".formatted(most, ks));
    }
    Map<String, String> configuration = new LinkedHashMap<>();
    resolved.values().forEach(value -> configuration.put(value.path(), value.text()));
    return new EvaluationProtocol(
        BuildInfo.version(), policy, file.seed(), ks, shard, configuration, tasks);
  }

  private CommandLine.ParameterException bad(String message) {
    return new CommandLine.ParameterException(command, message);
  }
}
