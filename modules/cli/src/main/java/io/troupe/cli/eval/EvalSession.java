package io.troupe.cli.eval;

import io.troupe.base.build.BuildId;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.FileTree;
import io.troupe.cli.node.ClusterClientOptions;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.config.ClusterSection;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.task.DataSection;
import io.troupe.core.evaluation.EvaluationChunks;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EndpointAnswers;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationProtocol;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.cluster.CheckpointServer;
import io.troupe.run.cluster.ClusterSampler;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.RunInferenceServers;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.evaluation.EvaluationTasks;
import io.troupe.run.model.ModelCache;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.runtime.evaluation.EvaluatedWeights;
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
 * @param endpoints servers that sample; none where this process or a cluster does
 * @param cluster cluster whose workers sample, if the command names one
 * @param file of the tasks
 * @param stop completes with the signal that ends the process
 */
record EvalSession(
    CommandLine command,
    EvalOptions options,
    EvalCompute compute,
    List<URI> endpoints,
    ClusterClientOptions cluster,
    Optional<Path> file,
    CompletableFuture<Integer> stop) {
  /** Weights, logs and pids of servers, in the folder of the evaluation until it is whole. */
  private static final String SERVERS = ".servers";

  /** A copy of the weights that workers of a cluster sample with, until this process ends. */
  private static final String WEIGHTS = ".weights";

  /**
   * One evaluation.
   *
   * @param tasks as the options ask for them
   * @param resolved configuration that they come from
   * @param resume whether the folder may hold a part of it
   */
  private record Evaluation(
      EvaluatedPolicy policy,
      EvaluationFile tasks,
      ResolvedConfig<EvaluationFile> resolved,
      Path folder,
      boolean resume,
      ShardRange shard) {}

  EvalSession {
    endpoints = List.copyOf(endpoints);
  }

  /** Whether this process samples, by its engine or by servers that it starts. */
  boolean samplesHere() {
    return endpoints.isEmpty() && cluster.members().isEmpty();
  }

  /**
   * Evaluates a policy.
   *
   * @param resume whether the folder may hold a part of it
   * @return whether it is whole, and was not stopped before
   */
  boolean run(EvaluatedPolicy policy, Path folder, boolean resume, ShardRange shard)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    ResolvedConfig<EvaluationFile> resolved = resolved(policy);
    boolean asTheRun = file.isEmpty() && options.tasks.isEmpty();
    EvaluationFile asked =
        asTheRun ? EvalOptions.withNamed(resolved.config(), policy) : resolved.config();
    Evaluation evaluation =
        new Evaluation(policy, options.over(asked, this::bad), resolved, folder, resume, shard);
    if (!cluster.members().isEmpty()) {
      return sampledByWorkers(evaluation);
    }
    return endpoints.isEmpty() ? sampledHere(evaluation) : sampledByEndpoints(evaluation);
  }

  private boolean sampledByEndpoints(Evaluation evaluation)
      throws IOException, InterruptedException, InvalidVerifierException {
    EvaluatedPolicy policy = evaluation.policy();
    String model = compute.model(endpoints.getFirst());
    Map<String, Object> description = new LinkedHashMap<>(policy.description());
    description.put("endpoints", endpoints.stream().map(URI::toString).toList());
    description.put("model", model);
    Optional<Tokenizer> tokenizer = policy.tokenizer();
    try (EvaluationTasks loaded =
            new EvaluationTasks(policy, evaluation.tasks(), tokenizer, Integer.MAX_VALUE);
        AnswerSource source =
            tokenizer.isEmpty()
                ? new EndpointAnswers(endpoints, model, compute.key(), compute.requests)
                : new EndpointAnswers(
                    endpoints, model, compute.key(), compute.requests, tokenizer.get())) {
      loaded.refuseTurns("servers", "--endpoint");
      EvaluationProtocol protocol = protocol(evaluation, description, loaded.tasks());
      return run(evaluation, protocol, loaded, source);
    }
  }

  /** Samples with the engine of this process, or with servers that it starts as the run does. */
  private boolean sampledHere(Evaluation evaluation)
      throws IOException, InterruptedException, InvalidVerifierException {
    EvaluatedPolicy policy = evaluation.policy();
    boolean sidecars = policy.hasSidecars() && !compute.inProcess;
    EvaluatedPolicy sampled = sidecars ? policy.bySidecars() : policy;
    Path serverFolder = evaluation.folder().resolve(SERVERS);
    boolean whole;
    try (PolicyEngines engines = sampled.engines();
        EvaluationTasks loaded =
            new EvaluationTasks(
                sampled,
                evaluation.tasks(),
                Optional.of(engines.tokenizer()),
                engines.contextLength());
        RunInferenceServers servers =
            sidecars
                ? sampled.sidecars(engines, serverFolder, command.getErr()::println)
                : RunInferenceServers.none()) {
      SamplingEngine engine = servers.samplers(engines).get();
      try (AnswerSource source = sampled.answers(engine, engines, loaded)) {
        engine.load(sampled.weights().getFirst()).toCompletableFuture().join();
        EvaluationProtocol protocol = protocol(evaluation, sampled.description(), loaded.tasks());
        whole = run(evaluation, protocol, loaded, source);
      } finally {
        servers.retired(engine);
      }
    }
    if (sidecars && whole) {
      FileTree.delete(serverFolder);
    }
    return whole;
  }

  /**
   * Has the workers of the run's cluster sample. The protocol is that of this process: the same
   * chunks are sampled by the same engines with the same weights.
   */
  private boolean sampledByWorkers(Evaluation evaluation)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    EvaluatedPolicy policy = evaluation.policy();
    EvaluatedWeights weights =
        policy.stored().stream()
            .findFirst()
            .orElseThrow(
                () ->
                    bad(
                        "--cluster: its workers sample versions of the run they work for, and WHAT"
                            + " is no run; leave out --cluster"));
    Composition run = policy.run().getFirst();
    ClusterSection section = run.config().cluster();
    try (EvaluationTasks loaded =
        new EvaluationTasks(
            policy,
            evaluation.tasks(),
            Optional.of(run.tokenizer()),
            run.config().policy().contextLength())) {
      loaded.refuseTurns("workers of a cluster", "--cluster");
      EvaluationProtocol protocol = protocol(evaluation, policy.description(), loaded.tasks());
      ClusterSettings network =
          cluster.settings(
              ClusterSettings.ClusterRole.EVALUATION,
              run.frameBytes(),
              section.tls(),
              command.getErr()::println);
      try (CheckpointServer served =
              CheckpointServer.open(
                  evaluation.folder().resolve(WEIGHTS), weights, cluster.weights());
          ClusterSampler workers =
              ClusterSampler.join(
                  network,
                  cluster.members(),
                  new ClusterIdentity(section.name(), BuildId.ofThisProcess()),
                  served.weights(),
                  EvaluationChunks.Limits.DEFAULT,
                  command.getErr()::println);
          AnswerSource source =
              new EngineAnswers(workers, run.tokenizer(), workers::chunksAtOnce)) {
        return run(evaluation, protocol, loaded, source);
      }
    }
  }

  private boolean run(
      Evaluation evaluation,
      EvaluationProtocol protocol,
      EvaluationTasks tasks,
      AnswerSource source)
      throws IOException, InvalidVerifierException {
    tasks.checkVerifiers();
    EvalProgress progress = new EvalProgress(command.getErr());
    boolean whole =
        new EvaluationJob(protocol, source, tasks::verifiers, stop, progress)
            .run(evaluation.folder(), evaluation.resume(), Clock.systemUTC());
    progress.end();
    return whole;
  }

  /** Returns the resolver of WHAT into a policy. */
  EvalTarget target() {
    return new EvalTarget(compute.contextLength, compute.threads, compute.thinking(), this::model);
  }

  /** A model is where the section data of FILE says, as are the rows that it is asked. */
  private Path model(String name) throws IOException {
    DataSection data = given().orElseThrow(this::noRows).config().data();
    return ModelCache.of(data, command.getErr()::println).folder(name);
  }

  private ResolvedConfig<EvaluationFile> resolved(EvaluatedPolicy policy) {
    Optional<ResolvedConfig<EvaluationFile>> given = given();
    if (given.isPresent()) {
      return given.get();
    }
    if (policy.run().isEmpty()) {
      throw noRows();
    }
    return bound(EvalOptions.ownRows(policy));
  }

  /** The tasks of FILE or --task. */
  private Optional<ResolvedConfig<EvaluationFile>> given() {
    if (file.isPresent() && !options.tasks.isEmpty()) {
      throw bad("give FILE or --task, not both");
    }
    return file.isPresent()
        ? Optional.of(EvaluationFile.load(file.get(), options.overrides))
        : Optional.of(options)
            .filter(each -> !each.tasks.isEmpty())
            .map(each -> bound(each.named()));
  }

  private ResolvedConfig<EvaluationFile> bound(String yaml) {
    return ConfigurationFile.bind(
        EvaluationFile.class, Path.of("command line"), yaml, options.overrides);
  }

  private CommandLine.ParameterException noRows() {
    return bad("give FILE or --task: only a run has rows of its own");
  }

  private EvaluationProtocol protocol(
      Evaluation evaluation, Map<String, Object> policy, List<EvaluationTask> tasks) {
    SortedSet<Integer> ks = new TreeSet<>(evaluation.tasks().k());
    int most = tasks.stream().mapToInt(EvaluationTask::samples).max().orElse(1);
    if (ks.isEmpty()) {
      ks.add(1);
      ks.add(most);
    }
    if (ks.last() > most || ks.first() < 1) {
      throw bad("k of pass@k is from 1 to the number of samples (%d), not %s".formatted(most, ks));
    }
    Map<String, String> configuration = new LinkedHashMap<>();
    evaluation.resolved().values().forEach(value -> configuration.put(value.path(), value.text()));
    return new EvaluationProtocol(
        BuildInfo.version(),
        policy,
        evaluation.tasks().seed(),
        ks,
        evaluation.shard(),
        configuration,
        tasks);
  }

  private CommandLine.ParameterException bad(String message) {
    return new CommandLine.ParameterException(command, message);
  }
}
