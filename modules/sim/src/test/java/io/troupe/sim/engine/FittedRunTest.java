package io.troupe.sim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunState;
import io.troupe.core.train.LossTokens;
import io.troupe.sim.Scenarios;
import io.troupe.sim.Simulation;
import io.troupe.sim.fit.FitSettings;
import io.troupe.sim.fit.MeasuredRun;
import io.troupe.sim.fit.ModelFit;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.TrainModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Models of simulated runs whose threads had too few cores: what they say of one worker alone is
 * what the runs were made from.
 */
final class FittedRunTest {
  private static final double CORES = 2;

  private static Scenarios drawn(Random random) {
    return new Scenarios()
        .completions(4)
        .steps(60)
        .lengths(new LengthModel.LogNormal(25, 0.4, 0.3))
        .decode(
            new DecodeModel.Linear(
                1e-3 * (0.5 + random.nextDouble()), 1e-4 * random.nextDouble(), 0))
        .train(
            new TrainModel(0.03 * (1 + random.nextDouble()), 5e-5 * random.nextDouble(), 0, 0, 0));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_runOfTwoWorkersOnSharedCores_saysWhatOneDoesAlone(long seed) {
    Random random = new Random(seed);
    double background = random.nextDouble();
    Scenarios scenarios = drawn(random).cpu(new CpuShape(CORES, 1, 1, background));
    Scenario shared = scenarios.workers(2, 4).step(8, 1).build();
    Scenario alone = scenarios.workers(1, 4).step(8, 0).lockStep().build();
    Recorded run = new Recorded(shared, seed, background);
    new SimulatedRun(shared, seed, run).run();

    LatencyModel fitted =
        ModelFit.of(
            run.measured,
            new FitSettings(
                "simulated", "", 100_000, 10, new CpuShape(CORES, 1, 1, 0), run.computing(), 0));

    assertThat(fitted.control().backgroundThreads()).isCloseTo(background, within(0.1));
    double rate = Simulation.run(alone, seed).pace().stepsPerSecond();
    assertThat(Simulation.run(alone.withModel(fitted), seed).pace().stepsPerSecond())
        .isCloseTo(rate, within(0.1 * rate));
  }

  /** A simulated run's journal, and the threads that its process kept busy. */
  private static final class Recorded implements RunContent {
    private final RunContent model;
    private final double background;
    private final MeasuredRun measured = new MeasuredRun();
    private final Map<String, Integer> decoding = new HashMap<>();
    private final Map<LeaseId, String> leases = new HashMap<>();
    private boolean training;
    private double computed;
    private long from = -1;
    private long at;

    Recorded(Scenario scenario, long seed, double background) {
      this.model = new ModelContent(scenario, seed);
      this.background = background;
    }

    /** From the end of the first step to that of the last one. */
    double computing() {
      return computed / (at - from);
    }

    @Override
    public void decided(long millis, RunState state, List<Event> events) {
      if (from >= 0) {
        double busy =
            decoding.values().stream().filter(count -> count > 0).count() + (training ? 1 : 0);
        computed += (millis - at) * Math.min(CORES, busy + background);
        at = millis;
      }
      for (Event event : events) {
        measured.event(millis + 1, event);
        switch (event) {
          case Event.LeaseGranted(LeaseId lease, WorkerId worker, var _, var _) -> {
            leases.put(lease, worker.place());
            decoding.merge(worker.place(), 1, Integer::sum);
          }
          case Event.LeaseSampled(LeaseId lease, var _) ->
              decoding.merge(leases.getOrDefault(lease, ""), -1, Integer::sum);
          case Event.StepStarted _ -> training = true;
          case Event.StepTrained _ -> {
            training = false;
            from = from < 0 ? millis : from;
            at = millis;
          }
          default -> {}
        }
      }
    }

    @Override
    public GroupContent group(Effect.Grant grant) {
      return model.group(grant);
    }

    @Override
    public void forget(LeaseId lease) {
      model.forget(lease);
    }

    @Override
    public List<Input> step(Effect.Train step, LossTokens tokens) {
      return model.step(step, tokens);
    }

    @Override
    public Runnable checkpoint(Effect.SaveCheckpoint checkpoint) {
      return model.checkpoint(checkpoint);
    }
  }
}
