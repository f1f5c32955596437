package io.troupe.run.simulation;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.DecoderSection;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.core.run.RunLimits;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.run.compose.Composition;
import io.troupe.sim.model.ClusterShape;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LatencySource;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.Scenario;
import java.util.ArrayList;
import java.util.List;

/**
 * The scenario of a configuration: the parts that it asks for, under a model of their times.
 *
 * @param notes uses of the model beyond the range of its data
 */
public record RunScenario(Scenario scenario, List<String> notes) {
  /** A toy engine with a delay sleeps for most of a token. */
  private static final double SLEEPING_THREADS = 0.05;

  /**
   * Puts a configuration and a model together.
   *
   * @param seconds of virtual time at most
   * @throws UnmodelledRunException if a stage of the configuration has no model
   */
  public static RunScenario of(
      Composition composition, LatencyModel model, List<Fault> faults, double seconds)
      throws UnmodelledRunException {
    RunConfig config = composition.config();
    refuseUnmodelled(config);
    RunLimits limits = composition.settings().limits();
    ClusterShape shape = shape(config, model);
    List<String> notes = new ArrayList<>();
    LatencyModel fitting = fitting(model, config.rollout().maxTokens(), notes);
    note(config, shape, model.origin(), notes);
    return new RunScenario(
        new Scenario(limits, shape, fitting, config.rollout().maxTokens(), faults, seconds), notes);
  }

  private static void refuseUnmodelled(RunConfig config) throws UnmodelledRunException {
    RolloutSection rollout = config.rollout();
    if (rollout.usesServers()) {
      throw new UnmodelledRunException(
          "rollout.endpoints and rollout.sidecars have no model: the queue and the batches of an"
              + " inference server are its own; simulate the run with rollout.workers and a model"
              + " of such an engine");
    }
    if (config.distillation().hasTeacher() || config.distillation().hasTeacherServers()) {
      throw new UnmodelledRunException(
          "distillation.teacher and distillation.teacher_urls have no model: the time of a"
              + " teacher's passes is not measured apart; leave them out to simulate the rest");
    }
    if (config.episode().hasTurns()) {
      throw new UnmodelledRunException(
          "episode.environment and episode.agent have no model: the number of turns and the time of"
              + " tools are not fitted; leave them out to simulate episodes of one answer");
    }
    if (config.rollout().groupSize().grows()) {
      throw new UnmodelledRunException(
          "rollout.adaptive has no model: the parts of groups that grow are not simulated; leave it"
              + " out to simulate groups of one size");
    }
    if (config.policy().kvTokens() > 0) {
      throw new UnmodelledRunException(
          "policy.kv_tokens has no model: groups that are put aside when a cache is full are not"
              + " simulated; set it to 0, and bound rows by rollout.groups_per_request");
    }
  }

  private static ClusterShape shape(RunConfig config, LatencyModel model) {
    RolloutSection rollout = config.rollout();
    int rows = rollout.groupsPerRequest() * rollout.completionsPerPrompt();
    boolean recomputes = rollout.kvOnSwap() == KvOnSwap.RECOMPUTE;
    return config
        .placement()
        .placement()
        .map(
            placed ->
                new ClusterShape(
                    placed.workers(),
                    Math.min(placed.workers(), config.placement().nodes()),
                    rollout.groupsPerRequest(),
                    rows,
                    Math.max(1, config.placement().verifiersPerNode()),
                    config.placement().trainerRanks(),
                    recomputes,
                    CpuShape.NONE))
        .orElseGet(
            () ->
                new ClusterShape(
                    rollout.workers(),
                    1,
                    rollout.groupsPerRequest(),
                    rows,
                    config.verifier().workers(),
                    config.placement().trainerRanks(),
                    recomputes,
                    cpu(config.policy(), model.control())));
  }

  /** The threads that compute a policy, on the cores that a process has. */
  static CpuShape cpu(PolicySection policy, ControlModel control) {
    double background = control.backgroundThreads();
    return switch (policy) {
      case DecoderSection decoder ->
          new CpuShape(
              control.cores(),
              decoder.compute().samplerThreads(),
              decoder.compute().trainerThreads(),
              background);
      case PolicySection.Toy toy -> new CpuShape(control.cores(), threads(toy), 1, background);
    };
  }

  /** Threads that a toy engine computes with. */
  static double threads(PolicySection.Toy toy) {
    return toy.tokenDelay().isZero() ? 1 : SLEEPING_THREADS;
  }

  /** Lengths measured under a lower limit say nothing of what lies above it. */
  private static LatencyModel fitting(LatencyModel model, int maxTokens, List<String> notes)
      throws UnmodelledRunException {
    if (model.workload().lengths() instanceof LengthModel.Empirical measured
        && maxTokens > measured.cap()) {
      long cut =
          measured.groups().stream()
              .flatMap(group -> group.lengths().stream())
              .filter(length -> length >= measured.cap())
              .count();
      if (cut > 0) {
        throw new UnmodelledRunException(
            "rollout.max_tokens (%d) is above the limit that the model's lengths were measured"
                    .formatted(maxTokens)
                + " under (%d), which cut off %d completions; fit a run with a higher limit, or give the"
                    .formatted(measured.cap(), cut)
                + " model lengths of kind log_normal");
      }
      notes.add(
          "no completion of the model reached its limit of %d tokens, so the limit of %d changes"
                  .formatted(measured.cap(), maxTokens)
              + " nothing");
    }
    return model;
  }

  private static void note(
      RunConfig config, ClusterShape shape, LatencySource origin, List<String> notes) {
    if (origin.rows() > 0 && shape.rows() > origin.rows()) {
      notes.add(
          "extrapolated: up to %d completions at a time on a worker, and the model saw %d"
              .formatted(shape.rows(), origin.rows()));
    }
    if (origin.ranks() > 0 && shape.trainerRanks() > origin.ranks()) {
      notes.add(
          "extrapolated: %d trainer ranks, and the model saw %d"
              .formatted(shape.trainerRanks(), origin.ranks()));
    }
    noteThreads(config, shape, origin, notes);
    String policy = policy(config.policy());
    if (!origin.policy().isEmpty() && !origin.policy().equals(policy)) {
      notes.add(
          "assumed: the speeds are of the policy [%s], and this one is [%s]"
              .formatted(origin.policy(), policy));
    }
    if (config.evaluation().every() > 0 && config.placement().nodes() == 0) {
      notes.add("evaluations take no time here, and an evaluation's target ends no run");
    }
  }

  /**
   * Notes the time that n threads take from each other, measured where n of them computed at once;
   * threads that have a core each take nothing.
   */
  private static void noteThreads(
      RunConfig config, ClusterShape shape, LatencySource origin, List<String> notes) {
    CpuShape cpu = shape.cpu();
    if (cpu.cores() == 0 || origin.mostThreads() == 0) {
      return;
    }
    boolean lockStep = config.training().maxStaleness() == 0;
    double sampling = shape.workers() * cpu.samplerThreads();
    double fewest = Math.min(cpu.samplerThreads(), cpu.trainerThreads());
    double most =
        lockStep ? Math.max(sampling, cpu.trainerThreads()) : sampling + cpu.trainerThreads();
    boolean neverAlone = fewest < origin.leastThreads() && cpu.slowness(origin.leastThreads()) > 1;
    boolean neverSoMany = most > origin.mostThreads() && cpu.slowness(most) > 1;
    if (neverAlone || neverSoMany) {
      notes.add(
          "extrapolated: %s to %s threads compute at once on %s cores, and in the model's run %s to %s did"
              .formatted(
                  number(fewest),
                  number(most),
                  number(cpu.cores()),
                  number(origin.leastThreads()),
                  number(origin.mostThreads())));
    }
  }

  private static String number(double value) {
    return "%.4g".formatted(value).replaceFirst("\\.?0+$", "");
  }

  /** Returns the parts of a policy that decide its speed. */
  public static String policy(PolicySection policy) {
    return switch (policy) {
      case PolicySection.Toy toy -> "toy, %s a token".formatted(toy.tokenDelay());
      case PolicySection.Djl djl ->
          "djl, hidden %d, layers %d, heads %d, kv heads %d, head %d, feed forward %d"
              .formatted(
                  djl.hidden(),
                  djl.layers(),
                  djl.heads(),
                  djl.kvHeads(),
                  djl.headDim(),
                  djl.feedForward());
      case PolicySection.Pretrained stored -> "checkpoint " + stored.checkpoint();
    };
  }
}
