package io.troupe.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.StalePolicy;
import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.LengthModel;
import io.troupe.sim.model.PublishModel;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import io.troupe.sim.model.TrainModel;
import io.troupe.sim.model.VerifyModel;
import io.troupe.testkit.Seeds;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** S1 to S4 in virtual time while parts fail; an audit of each run is the judge. */
class FaultsTest {
  /** Hours of each of 20 seeds; {@code -Dtroupe.sim.hours=500} is the soak of 10,000. */
  private static final double HOURS =
      Double.parseDouble(System.getProperty("troupe.sim.hours", "1.5"));

  private static final double HOUR = 3600;

  static LongStream seeds() {
    return Seeds.twenty();
  }

  private static Scenarios cluster() {
    return new Scenarios()
        .workers(12, 2)
        .completions(4)
        .step(8, 2)
        .steps(1_000_000_000)
        .leaseMillis(120_000)
        .checkpointEvery(5)
        .lengths(new LengthModel.LogNormal(1_000, 0.4, 0.7))
        .verifiers(8, new VerifyModel(0.05, 0.5, 0.01))
        .train(new TrainModel(5, 1e-4, 0, 1, 0.1))
        .publish(new PublishModel(0.5, 10, 100, 2, 0.1));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void run_everythingFailsByRate_keepsItsPromisesAndMakesSteps(long seed) {
    for (StalePolicy policy : StalePolicy.values()) {
      Scenario scenario =
          cluster()
              .stale(policy)
              .failures(new FailureRates(1, 30, 1, 1, 2, 2, 1, 30))
              .seconds(HOURS * HOUR / StalePolicy.values().length)
              .build();
      SimulationResult result = Simulation.run(scenario, seed);

      assertThat(result.audit().violations()).as("%s", policy).isEmpty();
      assertThat(result.audit().sound()).isTrue();
      assertThat(result.state().balanced()).isTrue();
      assertThat(result.state().version().number())
          .as("steps of %s in %s s", policy, result.seconds())
          .isGreaterThan((long) (result.seconds() / 120));
    }
  }

  /** One fault of each kind; a run without it is the measure of what it costs. */
  @ParameterizedTest
  @EnumSource(Fault.Kind.class)
  void run_oneFaultForAMinute_goesOnAfterIt(Fault.Kind kind) {
    long whole = run(cluster().seconds(HOUR)).pace().steps();

    SimulationResult result = run(cluster().seconds(HOUR).faults(new Fault(kind, 600, 60, 0)));

    assertThat(result.pace().steps()).isBetween(whole * 8 / 10, whole * 101 / 100);
    assertThat(result.state().ledger().failed()).isZero();
  }

  /** A worker that fails every group at once costs the run its share, and no prompt. */
  @Test
  void run_workerThatFailsAtOnceForAnHour_isSuspendedAndCostsNoPrompt() {
    SimulationResult result =
        run(cluster().seconds(HOUR).faults(new Fault(Fault.Kind.ENGINE_FAILS, 60, 3_500, 3)));

    assertThat(result.state().ledger().failed()).isZero();
    assertThat(result.state().ledger().outages()).isBetween(10L, 300L);
    assertThat(result.pace().steps()).isGreaterThan(300);
  }

  /** Verifiers that are away for a minute: groups are judged afterwards, none is lost. */
  @Test
  void run_verifiersAwayForAMinute_loseNoGroup() {
    SimulationResult result =
        run(cluster().seconds(HOUR).faults(new Fault(Fault.Kind.VERIFIERS_AWAY, 600, 60, 0)));

    assertThat(result.state().ledger().failed()).isZero();
    assertThat(result.state().ledger().outages()).isZero();
    assertThat(result.state().outages().verifiers().open()).isFalse();
  }

  /** A partition longer than the detection: its late answers come under ended leases. */
  @Test
  void run_partitionOfFortySeconds_refusesTheLateAnswers() {
    SimulationResult result =
        run(cluster().seconds(HOUR).faults(new Fault(Fault.Kind.PARTITION, 600, 40, 2)));

    assertThat(result.state().ledger().lost()).isPositive();
    assertThat(result.state().ledger().refused()).isPositive();
  }

  private static SimulationResult run(Scenarios scenarios) {
    SimulationResult result = Simulation.run(scenarios.build(), 11);
    assertThat(result.audit().violations()).isEmpty();
    return result;
  }
}
