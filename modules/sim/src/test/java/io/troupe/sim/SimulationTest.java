package io.troupe.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.sim.model.ClusterShape.CpuShape;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.PublishModel;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import io.troupe.sim.model.SimulationResult.Bound;
import io.troupe.sim.model.TrainModel;
import io.troupe.sim.model.VerifyModel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulator against closed forms, in the limits where there are some. */
class SimulationTest {
  private static final List<StalePolicy> POLICIES = List.of(StalePolicy.values());

  /** 2 workers × 2 groups a second of sampling: 4 groups a second, a step of 4 groups takes 1 s. */
  @Test
  void run_trainerBound_makesAStepInTheTimeOfAStep() {
    SimulationResult result = run(new Scenarios().step(4, 4).train(step(2)));
    assertThat(result.pace().stepsPerSecond()).isCloseTo(0.5, within(1e-6));
    assertThat(result.utilisation().trainer()).isGreaterThan(0.98);
    assertThat(share(result, Bound.ADMISSION)).isGreaterThan(0.4);
    assertThat(result.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Completed()));
  }

  @Test
  void run_generationBound_makesStepsAsFastAsGroupsCome() {
    SimulationResult result = run(new Scenarios().step(8, 4).train(step(0.5)));
    assertThat(result.pace().stepsPerSecond()).isCloseTo(0.5, within(0.005));
    assertThat(result.utilisation().workers()).isGreaterThan(0.98);
    assertThat(result.utilisation().trainer()).isCloseTo(0.25, within(0.01));
    assertThat(share(result, Bound.ROLLOUT)).isGreaterThan(0.95);
    assertThat(result.pace().sampledTokensPerSecond()).isCloseTo(1600, within(20.0));
  }

  /** Lock-step: the longest completion, then the step, one after the other. */
  @Test
  void run_lockStep_takesTheTimeOfBoth() {
    Scenarios lockStep = new Scenarios().workers(1, 4).step(4, 0).lockStep().train(step(3));
    assertThat(run(lockStep).pace().stepsPerSecond()).isCloseTo(0.25, within(1e-6));
    assertThat(run(lockStep).staleness().mean()).isEqualTo(0);
  }

  /** B groups of G completions wait for the longest of B · G. */
  @Test
  void run_lockStepWithLogNormalLengths_waitsForTheLongest() {
    int rows = 64;
    Scenarios lockStep =
        new Scenarios()
            .workers(1, rows / 4)
            .step(rows / 4, 0)
            .lockStep()
            .steps(2_000)
            .lengths(new LengthModel.LogNormal(1_000, 0, 0.5))
            .train(step(0.001));
    double mean = 0;
    int draws = 20_000;
    java.util.SplittableRandom random = new java.util.SplittableRandom(5);
    java.util.Random normal = new java.util.Random(random.nextLong());
    for (int i = 0; i < draws; i++) {
      double longest = 0;
      for (int row = 0; row < rows; row++) {
        longest =
            Math.max(longest, Math.floor(1_000 * Math.exp(0.5 * normal.nextGaussian() - 0.125)));
      }
      mean += longest / draws;
    }
    double expected = 1 / (mean * 0.01 + 0.001);
    assertThat(run(lockStep).pace().stepsPerSecond()).isCloseTo(expected, within(0.02 * expected));
  }

  /** Trainer-bound and fully admitted, the head of a group is eta versions old. */
  @ParameterizedTest
  @org.junit.jupiter.params.provider.ValueSource(ints = {1, 2, 4})
  void run_trainerBoundWithLongGroups_isStaleByEta(int eta) {
    SimulationResult result =
        run(
            new Scenarios()
                .workers(40, 1)
                .step(4, eta)
                .steps(400)
                .lengths(new LengthModel.Uniform(1, 2))
                .train(step(1)));
    // Groups are sampled in no time and wait in the buffer for eta steps.
    assertThat(result.staleness().mean()).isCloseTo(eta, within(0.05));
  }

  /** Little's law: no more than (eta + 1) B groups are outstanding. */
  @Test
  void run_admissionBound_makesWhatOutstandingGroupsAllow() {
    // Groups take 1 s, a step 1 s: with eta 0 and 4 groups outstanding a step in 2 s.
    SimulationResult result = run(new Scenarios().workers(8, 4).step(4, 0));
    assertThat(result.pace().stepsPerSecond()).isCloseTo(0.5, within(0.001));
    assertThat(result.utilisation().leased()).isCloseTo(2, within(0.05));
  }

  /** Two verifiers of half a second each judge 4 completions a second. */
  @Test
  void run_verifierBound_makesWhatTheVerifiersJudge() {
    Scenarios slow =
        new Scenarios().step(4, 4).train(step(0.1)).verifiers(2, new VerifyModel(0.5, 0, 0));
    SimulationResult result = run(slow);
    assertThat(result.pace().stepsPerSecond()).isCloseTo(0.25, within(0.005));
    assertThat(result.utilisation().verifiers()).isGreaterThan(0.97);
  }

  /** One core for a worker and a trainer that both always compute: each takes twice as long. */
  @Test
  void run_oneCoreForAll_sharesIt() {
    Scenarios shared =
        new Scenarios()
            .workers(1, 4)
            .step(4, 1)
            .steps(400)
            .cpu(new CpuShape(1, 1, 1, 0))
            .train(step(1));
    assertThat(run(shared).pace().stepsPerSecond()).isCloseTo(0.5, within(0.01));
    assertThat(run(shared.cpu(CpuShape.NONE)).pace().stepsPerSecond()).isCloseTo(1, within(0.01));
  }

  /**
   * The background of a process takes time where no core is left for it, and none from one thread
   * alone.
   */
  @Test
  void run_backgroundOfAProcess_slowsWhatComputesAtOnceAlone() {
    CpuShape busy = new CpuShape(2, 1, 1, 1);
    Scenarios overlapping =
        new Scenarios().workers(1, 4).step(4, 1).steps(400).cpu(busy).train(step(1));
    assertThat(run(overlapping).pace().stepsPerSecond()).isCloseTo(1 / 1.5, within(0.01));

    Scenarios inTurn = new Scenarios().workers(1, 4).step(4, 0).lockStep().cpu(busy).train(step(1));
    assertThat(run(inTurn).pace().stepsPerSecond()).isCloseTo(0.5, within(0.001));
  }

  /** A group of two uses fills half of a batch again. */
  @Test
  void run_groupsUsedTwice_samplesHalfAsMuch() {
    Scenarios once = new Scenarios().workers(1, 2).step(4, 3).train(step(0.01)).steps(400);
    double used = run(once).pace().stepsPerSecond();

    assertThat(run(once.uses(2)).pace().stepsPerSecond()).isCloseTo(2 * used, within(0.05 * used));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void run_groupsUsedOften_isTheSameRunAndKeepsItsPromises(long seed) {
    int eta = (int) (seed % 4);
    Scenarios often =
        new Scenarios()
            .workers(1 + (int) (seed % 5), 3)
            .step(4, eta)
            .uses(1 + (int) (seed / 4 % (eta + 1)))
            .stale(POLICIES.get((int) (seed % POLICIES.size())))
            .steps(40)
            .checkpointEvery(seed % 7)
            .lengths(new LengthModel.LogNormal(200, 0.5, 0.9))
            .verifiers(2, new VerifyModel(0.05, 1, 0.01))
            .failures(new FailureRates(20, 5, 20, 20, 20, 20, seed % 2 * 20, 5))
            .train(new TrainModel(0.5, 1e-4, 0, 0.1, 0.1));
    SimulationResult first = Simulation.run(often.build(), seed);
    SimulationResult second = Simulation.run(often.build(), seed);

    assertThat(second.state()).isEqualTo(first.state());
    assertThat(second.seconds()).isEqualTo(first.seconds());
    assertThat(first.audit().violations()).isEmpty();
    assertThat(first.audit().sound()).isTrue();
    assertThat(first.state().balanced()).isTrue();
    assertThat(first.state().version().number()).as("%s", first.state().phase()).isEqualTo(40);
  }

  @Test
  void run_contextThatGrows_takesTheSumOfTheSteps() {
    // 100 tokens after a prompt of 10: steps of 10, 11 … 109 tokens a row, 4 rows.
    double seconds = 1e-4 * 4 * (10 + 109) * 100 / 2.0;
    Scenarios growing =
        new Scenarios()
            .workers(1, 1)
            .step(1, 0)
            .lockStep()
            .decode(new DecodeModel.Linear(0, 0, 1e-4))
            .train(step(0.01));
    assertThat(1 / run(growing).pace().stepsPerSecond())
        .isCloseTo(seconds + 0.01, within(0.01 * seconds));
  }

  @Test
  void run_weightsThatTakeLong_delayGroupsOfLockStep() {
    Scenarios slow =
        new Scenarios()
            .workers(1, 4)
            .step(4, 0)
            .lockStep()
            .publish(new PublishModel(0.5, 100, 100, 2, 0.5));
    // Sampling 1 s, step 1 s, copy 0.5 s, link 1 s, load 0.5 s.
    assertThat(run(slow).pace().stepsPerSecond()).isCloseTo(0.25, within(0.001));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void run_sameSeed_isTheSameRunAndKeepsItsPromises(long seed) {
    for (StalePolicy policy : StalePolicy.values()) {
      Scenario scenario =
          new Scenarios()
              .workers(5, 3)
              .step(4, (int) (seed % 4))
              .stale(policy)
              .steps(60)
              .lengths(new LengthModel.LogNormal(200, 0.5, 0.9))
              .verifiers(2, new VerifyModel(0.05, 1, 0.01))
              .publish(new PublishModel(0.1, 10, 100, 2, 0.05))
              .train(new TrainModel(0.5, 1e-4, 0, 0, 0.1))
              .build();
      SimulationResult first = Simulation.run(scenario, seed);
      SimulationResult second = Simulation.run(scenario, seed);
      assertThat(second.state()).isEqualTo(first.state());
      assertThat(second.seconds()).isEqualTo(first.seconds());
      assertThat(first.audit().violations()).isEmpty();
      assertThat(first.state().balanced()).isTrue();
      assertThat(first.pace().steps()).isEqualTo(60);
    }
  }

  private static TrainModel step(double seconds) {
    return new TrainModel(seconds, 0, 0, 0, 0);
  }

  private static double share(SimulationResult result, Bound bound) {
    return result.utilisation().bounds().getOrDefault(bound, 0.0);
  }

  private static SimulationResult run(Scenarios scenarios) {
    SimulationResult result = Simulation.run(scenarios.build(), 7);
    assertThat(result.audit().violations()).isEmpty();
    assertThat(result.audit().sound()).isTrue();
    return result;
  }
}
