package io.troupe.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.audit.AuditCounter;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.group.Ledger;
import io.troupe.testkit.Seeds;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * S1 to S4 over arbitrary orders of arbitrary inputs: each seed runs all three stale policies with
 * eta 0 to 4, 2,000 inputs each. The assertions are {@link World}'s, after every single input.
 */
@Execution(ExecutionMode.CONCURRENT)
class CoordinationPropertyTest {
  private static final int INPUTS = 2_000;

  /** 200 seeds; mutation testing, which runs them once a mutant, takes fewer. */
  static LongStream seeds() {
    return Seeds.twoHundred().limit(Long.getLong("troupe.property.seeds", 200));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void decide_arbitraryInputs_keepsStalenessAndExactlyOnceAndProgress(long seed) {
    for (StalePolicy policy : StalePolicy.values()) {
      for (int staleness = 0; staleness <= 4; staleness++) {
        World world = new World(new Coordination(limits(policy, staleness)), seed);
        for (int i = 0; i < INPUTS; i++) {
          world.disturb();
        }
        assertThat(world.replay()).isEqualTo(world.state());
        assertSound(world);
        assertProgress(world);
      }
    }
  }

  /** The properties where prompts are chosen by difficulty, over lives that end and resume. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void decide_promptsByDifficulty_keepsThePromisesAndTheMeasuresOverCrashes(long seed) {
    RunLimits limits =
        limits(seed % 2 == 0 ? StalePolicy.MASK : StalePolicy.DROP, 1)
            .withSampling(new PromptSampling(false, true, 0.3));
    World world = new World(new Coordination(limits), seed);
    for (int life = 0; life < 4; life++) {
      for (int i = 0; i < 300; i++) {
        world.disturb();
      }
      world.crash();
    }
    assertThat(world.replay()).isEqualTo(world.state());
    assertThat(world.state().cursor().chosen()).isEqualTo(world.state().ledger().admitted());
    assertThat(world.state().passRates()).isNotEmpty();
    assertSound(world);
    assertProgress(world);
  }

  /** Groups that several steps train on, over lives that end and resume, and to a last step. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void decide_groupsOfSeveralUses_keepThePromisesAndCountEveryUse(long seed) {
    StalePolicy policy = List.of(StalePolicy.values()).get((int) (seed % 3));
    int uses = 2 + (int) (seed / 3 % 2);
    for (int slack = 0; slack <= 2; slack++) {
      RunLimits limits = used(policy, uses, slack, slack == 0 && seed % 2 == 0);
      World world = new World(new Coordination(limits), seed);
      for (int life = 0; life < 4; life++) {
        for (int i = 0; i < 300 && world.end().isEmpty(); i++) {
          world.disturb();
        }
        if (world.end().isEmpty()) {
          world.crash();
        }
      }
      assertThat(world.replay()).isEqualTo(world.state());
      assertSound(world);
      assertProgress(world);
      for (int round = 0; round < 400 && world.end().isEmpty(); round++) {
        world.work();
      }
      assertThat(world.end()).as("%s ends", world.state()).isPresent();
      assertThat(world.state().ledger().reused()).isPositive();
      assertSound(world);
    }
  }

  private static RunLimits used(StalePolicy policy, int uses, int slack, boolean lockStep) {
    return new RunLimits(
            new RunLimits.Prompts(7, 11, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 6, 200, true, false, 300),
            new RunLimits.Step(3, uses - 1 + slack, policy, lockStep, uses),
            new RunLimits.Schedule(60, 0, 4, 5, 0, 100),
            OutageLimits.DEFAULT)
        .withOutages(new OutageLimits(10, 80, 1_000_000));
  }

  /** Groups of different sizes keep the promises of groups of one size. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void decide_groupsThatGrow_areEachOfTheSizeAtWhichTheyHadToEnd(long seed) {
    GroupSize size = new GroupSize(2, 2, 1, 7);
    World world = new World(new Coordination(growing(size)), seed);
    for (int i = 0; i < 600 && world.end().isEmpty(); i++) {
      world.disturb();
    }
    assertThat(world.replay()).isEqualTo(world.state());
    assertThat(world.journal())
        .allSatisfy(
            event -> {
              if (event instanceof Event.GroupBuffered(GroupSummary summary)) {
                assertThat(size.accepts(summary.rewards())).isTrue();
              }
            });
    assertSound(world);
    assertProgress(world);
  }

  /**
   * S2 over the lives of a run: {@link World} demands that no fence is granted twice, whatever of
   * the journal the end of a process or of its machine leaves, and old answers still arrive.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void resume_journalFromTheCheckpointOn_grantsNoFenceTwice(long seed) {
    World world = new World(new Coordination(savingOften()), seed);
    for (int life = 0; life < 20; life++) {
      for (int i = 0; i < 10 + (seed + life) % 30; i++) {
        world.disturb();
      }
      if (life % 3 == 0) {
        world.losePower();
      }
      world.crash();
      assertThat(world.state().balanced()).isTrue();
    }
    assertThat(world.replay()).isEqualTo(world.state());
    assertSound(world);
  }

  /** S3: what infrastructure fails, for a while or for ever, costs no prompt. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void decide_outages_costNoPromptAndHealOrEndTheRun(long seed) {
    for (World.Outage outage : World.Outage.values()) {
      World heals = new World(new Coordination(limits(StalePolicy.MASK, 1)), seed);
      heals.fails(outage, false);
      heals.pass(2_000);
      long steps = heals.state().version().number();
      heals.fails(World.Outage.NONE, false);
      heals.pass(2_000);
      assertThat(heals.state().version().number()).isGreaterThan(steps + 5);
      assertNothingLost(heals);

      boolean worksOn = outage != World.Outage.VERIFIERS && outage != World.Outage.SILENT_VERIFIERS;
      World oneFails = new World(new Coordination(limits(StalePolicy.MASK, 1)), seed);
      oneFails.fails(outage, worksOn);
      oneFails.pass(2_000);
      if (worksOn) {
        assertThat(oneFails.state().version().number()).isGreaterThan(5);
      }
      assertNothingLost(oneFails);

      if (outage != World.Outage.NONE) {
        RunLimits impatient =
            limits(StalePolicy.MASK, 1).withOutages(new OutageLimits(10, 80, 1_500));
        World ends = new World(new Coordination(impatient), seed);
        ends.fails(outage, false);
        ends.pass(10_000);
        assertThat(ends.end().orElseThrow().toString())
            .startsWith("Failed[reason=nothing has succeeded for")
            .contains(outage == World.Outage.AGENTS ? ", the last failure: " + World.AGENT : "");
        assertNothingLost(ends);
        assertThat(ends.journal()).hasSizeLessThan(1_500);
      }
    }
  }

  private static void assertNothingLost(World world) {
    assertThat(world.state().ledger().failed()).isZero();
    assertThat(world.replay()).isEqualTo(world.state());
    assertSound(world);
  }

  /** The promises where a run may end, in lock step, and with nothing filtered. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void decide_runsThatEnd_keepTheirPromisesToTheEnd(long seed) {
    for (StalePolicy policy : StalePolicy.values()) {
      for (int staleness : new int[] {0, 1, 3}) {
        for (RunLimits limits :
            List.of(
                ending(policy, staleness, 3, 100_000, 3, true, false), // a last batch in part
                ending(policy, staleness, 5, 100_000, 3, true, false),
                ending(policy, staleness, 3, 6, 0, true, false),
                ending(policy, staleness, 3, 100_000, 1, false, false),
                ending(policy, staleness, 3, 6, 0, true, staleness == 0))) {
          World world = new World(new Coordination(limits), seed);
          for (int i = 0; i < 400 && world.end().isEmpty(); i++) {
            world.disturb();
          }
          for (int round = 0; round < 200 && world.end().isEmpty(); round++) {
            world.work();
          }
          assertThat(world.end()).as("%s ends", world.state()).isPresent();
          if (world.end().orElseThrow() instanceof RunEnd.Completed) {
            assertThat(world.state().version().number()).isPositive();
          }
          assertThat(world.replay()).isEqualTo(world.state());
          assertSound(world);
        }
      }
    }
  }

  private static RunLimits ending(
      StalePolicy policy,
      int staleness,
      int groups,
      long steps,
      long epochs,
      boolean filter,
      boolean lockStep) {
    return new RunLimits(
            new RunLimits.Prompts(7, 11, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 6, 200, filter, false, 300),
            new RunLimits.Step(groups, staleness, policy, lockStep),
            new RunLimits.Schedule(steps, epochs, 4, 5, 0, 100),
            OutageLimits.DEFAULT)
        .withOutages(new OutageLimits(10, 80, 1_000_000));
  }

  /** An auditor who shares nothing with the coordinator finds the same account, and no fault. */
  private static void assertSound(World world) {
    AuditReport report = world.audit();
    Ledger ledger = world.state().ledger();
    assertThat(report.violations()).isEmpty();
    assertThat(report.version()).isEqualTo(world.state().version().number());
    assertThat(report.pending()).isEqualTo(world.state().groups().size());
    assertThat(report.stands().of(AuditCounter.TRAINED)).isEqualTo(ledger.trained());
    assertThat(report.stands().of(AuditCounter.REUSED)).isEqualTo(ledger.reused());
    assertThat(report.stands().of(AuditCounter.CANCELLED)).isEqualTo(ledger.cancelled());
  }

  /** S3: once everybody answers, forty rounds make five steps, or end the run. */
  private static void assertProgress(World world) {
    long before = world.state().version().number();
    for (int round = 0; round < 40 && !advanced(world, before); round++) {
      world.work();
    }
    assertThat(advanced(world, before)).as("%s goes on from v%d", world.state(), before).isTrue();
  }

  private static boolean advanced(World world, long before) {
    return world.end().isPresent() || world.state().version().number() >= before + 5;
  }

  /** A checkpoint a step of one group, with demand left: leases are granted right behind it. */
  private static RunLimits savingOften() {
    return new RunLimits(
            new RunLimits.Prompts(7, 11, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 6, 200, false, false, 300),
            new RunLimits.Step(1, 2, StalePolicy.MASK, false),
            new RunLimits.Schedule(100_000, 0, 0, 1, 0, 100),
            OutageLimits.DEFAULT)
        .withOutages(new OutageLimits(10, 80, 1_000_000));
  }

  private static RunLimits growing(GroupSize size) {
    return new RunLimits(
            new RunLimits.Prompts(7, 11, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(size, 6, 200, true, false, 300, PassMark.FULL),
            new RunLimits.Step(3, 2, StalePolicy.MASK, false),
            new RunLimits.Schedule(100_000, 0, 4, 5, 0, 100),
            OutageLimits.DEFAULT)
        .withOutages(new OutageLimits(10, 80, 1_000_000));
  }

  private static RunLimits limits(StalePolicy policy, int staleness) {
    return new RunLimits(
            new RunLimits.Prompts(7, 11, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 6, 200, true, false, 300),
            new RunLimits.Step(3, staleness, policy, false),
            new RunLimits.Schedule(100_000, 0, 4, 5, 0, 100),
            OutageLimits.DEFAULT)
        .withOutages(new OutageLimits(10, 80, 1_000_000));
  }
}
