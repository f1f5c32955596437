package io.troupe.sim;

import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.RunLimits;
import io.troupe.sim.model.ClusterShape;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.ControlModel;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.EngineModel;
import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LatencySource;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.PublishModel;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.TrainModel;
import io.troupe.sim.model.VerifyModel;
import io.troupe.sim.model.Workload;
import java.util.List;

/**
 * Scenarios for tests, each part named: 2 workers of 2 groups of 4, steps of 4 groups, eta 1, a
 * token in 10 ms whatever the batch, completions of 100 tokens, steps of 1 s, nothing else takes
 * time and nothing fails.
 */
public final class Scenarios {
  private static final int PROMPTS = 1_000_000;
  private static final long LEASE_MILLIS = 600_000;
  private static final int CAP = 100_000;

  private int workers = 2;
  private int groupsPerRequest = 2;
  private int completions = 4;
  private int batch = 4;
  private int eta = 1;
  private StalePolicy stale = StalePolicy.MASK;
  private boolean lockStep;
  private int uses = 1;
  private long steps = 100;
  private int maxConcurrent = 1_000;
  private int ranks = 1;
  private int verifiers = 2;
  private long leaseMillis = LEASE_MILLIS;
  private LengthModel lengths = new LengthModel.Uniform(100, 100);
  private DecodeModel decode = new DecodeModel.Linear(0.01, 0, 0);
  private VerifyModel verify = new VerifyModel(0, 0, 0);
  private TrainModel train = new TrainModel(1, 0, 0, 0, 0);
  private PublishModel publish = new PublishModel(0, 0, 1, 2, 0);
  private FailureRates failures = FailureRates.NONE;
  private List<Fault> faults = List.of();
  private CpuShape cpu = CpuShape.NONE;
  private double seconds = 1e7;
  private long checkpointEvery;

  public Scenarios workers(int count, int groups) {
    workers = count;
    groupsPerRequest = groups;
    return this;
  }

  public Scenarios completions(int value) {
    completions = value;
    return this;
  }

  public Scenarios step(int groups, int staleness) {
    batch = groups;
    eta = staleness;
    return this;
  }

  public Scenarios stale(StalePolicy policy) {
    stale = policy;
    return this;
  }

  public Scenarios overlapping() {
    lockStep = false;
    return this;
  }

  public Scenarios lockStep() {
    lockStep = true;
    eta = 0;
    return this;
  }

  public Scenarios uses(int value) {
    uses = value;
    return this;
  }

  public Scenarios steps(long value) {
    steps = value;
    return this;
  }

  public Scenarios maxConcurrent(int value) {
    maxConcurrent = value;
    return this;
  }

  public Scenarios verifiers(int servers, VerifyModel model) {
    verifiers = servers;
    verify = model;
    return this;
  }

  public Scenarios leaseMillis(long value) {
    leaseMillis = value;
    return this;
  }

  public Scenarios lengths(LengthModel model) {
    lengths = model;
    return this;
  }

  public Scenarios decode(DecodeModel model) {
    decode = model;
    return this;
  }

  public Scenarios train(TrainModel model) {
    train = model;
    return this;
  }

  public Scenarios publish(PublishModel model) {
    publish = model;
    return this;
  }

  public Scenarios failures(FailureRates rates) {
    failures = rates;
    return this;
  }

  public Scenarios faults(Fault... script) {
    faults = List.of(script);
    return this;
  }

  public Scenarios cpu(CpuShape shape) {
    cpu = shape;
    return this;
  }

  public Scenarios seconds(double value) {
    seconds = value;
    return this;
  }

  public Scenarios checkpointEvery(long value) {
    checkpointEvery = value;
    return this;
  }

  public Scenario build() {
    RunLimits limits =
        new RunLimits(
            new RunLimits.Prompts(PROMPTS, 1, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(
                completions, maxConcurrent, leaseMillis, true, false, Long.MAX_VALUE),
            new RunLimits.Step(batch, eta, stale, lockStep, uses),
            new RunLimits.Schedule(steps, 0, checkpointEvery, 0, 0, 20_000),
            OutageLimits.DEFAULT);
    LatencyModel model =
        new LatencyModel(
            LatencySource.of("a test"),
            new Workload(lengths, 10, 0, 0.5),
            new EngineModel(decode, 0, 0, 0, 0),
            verify,
            train,
            publish,
            failures,
            new ControlModel(0, 0, 0, 0));
    return new Scenario(
        limits,
        new ClusterShape(
            workers,
            1,
            groupsPerRequest,
            groupsPerRequest * completions,
            verifiers,
            ranks,
            false,
            cpu),
        model,
        CAP,
        faults,
        seconds);
  }
}
