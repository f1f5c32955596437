package io.troupe.runtime.prompt;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import com.typesafe.config.ConfigFactory;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.run.RunLimits;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.EngineRegistry;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A small world for the actors: the sums of two digits, and the policy that can learn them. */
public final class Toys {
  static final String ALPHABET = "+0123456789=";
  public static final int GROUPS_PER_STEP = 2;
  public static final int COMPLETIONS = 4;
  public static final int WORKERS = 2;
  public static final int GROUPS_PER_REQUEST = 4;
  public static final WeightSnapshot BROKEN = new WeightSnapshot(WeightVersion.BASE, "", List.of());

  private Toys() {}

  public static ActorTestKit actors() {
    return ActorTestKit.create(
        ConfigFactory.parseString(
                """
                akka.loglevel = OFF
                akka.stdout-loglevel = OFF
                akka.actor.testkit.typed.single-expect-default = 60s
                akka.actor.testkit.typed.default-timeout = 60s
                akka.actor.testkit.typed.system-shutdown-default = 60s
                akka.actor.provider = local
                akka.coordinated-shutdown.run-by-jvm-shutdown-hook = off
                akka.coordinated-shutdown.run-by-actor-system-terminate = off
                akka.coordinated-shutdown.terminate-actor-system = off
                """)
            .withFallback(ConfigFactory.load()));
  }

  public static ToyPolicy policy() {
    return new ToyPolicy(ToySettings.of(ALPHABET, 8));
  }

  public static EngineRegistry room() {
    return new EngineRegistry(policy());
  }

  /** All 100 sums, in order. */
  public static List<Prompt> prompts() {
    List<Prompt> prompts = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      String sum = "" + (i / 10 + i % 10);
      prompts.add(new Prompt(new PromptId("p" + i), "toy", i / 10 + "+" + i % 10 + "=", sum, sum));
    }
    return prompts;
  }

  public static PromptPool pool() {
    return new PromptPool(prompts(), policy().tokenizer(), 1);
  }

  public static Verifier verifier() {
    return (prompt, completion) ->
        new Verdict.Scored(completion.equals(prompt.answer()) ? 1 : 0, completion, "");
  }

  /** A pool of two threads; its threads are daemons and end with the tests. */
  public static VerifierService service(Verifier verifier) {
    return VerifierServices.ofVerifier(
        "toy", verifier, PoolSettings.of(2).withDeadline(Duration.ofMinutes(1)));
  }

  /**
   * Returns the settings of a run with a number of steps, two groups of four a step, and an
   * evaluation every other step. A policy that knows nothing may draw hundreds of groups with equal
   * rewards in a row.
   */
  public static RunSettings settings(int steps, int warmupSteps) {
    return settings(steps, warmupSteps, 1_000_000);
  }

  /** Returns these settings with a limit of groups of equal rewards in a row. */
  public static RunSettings settings(int steps, int warmupSteps, int mostFiltered) {
    RunLimits limits =
        new RunLimits(
            new RunLimits.Prompts(100, 1, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(COMPLETIONS, 8, 120_000, true, false, mostFiltered),
            new RunLimits.Step(GROUPS_PER_STEP, 1, StalePolicy.MASK, false),
            new RunLimits.Schedule(steps, 0, 2, 2, 0, 120_000),
            OutageLimits.DEFAULT);
    return new RunSettings(
        1,
        limits,
        new LossSettings(
            new Objective.Dapo(), 0.2, 0.28, new Correction.None(), 0, KlEstimator.K3, 1),
        new OptimizerSettings(0, 0.9, 0.999, 1e-8, 0, 1),
        new LearningRateSchedule(0.05, 0, LearningRateSchedule.Decay.CONSTANT, 0),
        SourceSampling.of(new SamplingSettings(1, 3)),
        new RunSettings.Warmup(warmupSteps, 0, 16, 0.1, 0),
        0,
        0,
        "",
        WORKERS,
        GROUPS_PER_REQUEST,
        8,
        3,
        2);
  }

  /** Returns these settings with another patience. */
  public static RunSettings withOutages(RunSettings settings, OutageLimits outages) {
    return new RunSettings(
        settings.seed(),
        settings.limits().withOutages(outages),
        settings.loss(),
        settings.optimisation(),
        settings.learningRate(),
        settings.sampling(),
        settings.warmup(),
        settings.examplesPerStep(),
        settings.refreshReferenceEvery(),
        settings.teacherPrompt(),
        settings.workers(),
        settings.groupsPerRequest(),
        settings.evaluationPrompts(),
        settings.evaluationTokens(),
        settings.keepCheckpoints());
  }

  public static LeaseId lease(long group, long fence) {
    return new LeaseId(new GroupId(group), fence);
  }

  /** A group of two completions, "1" and "2", without log-probabilities worth the name. */
  public static ScoredGroup group(LeaseId lease, double first, double second) {
    List<Completion> completions = new ArrayList<>();
    for (String text : List.of("1", "2")) {
      completions.add(
          new Completion(
              policy().tokenizer().encode(text),
              new float[] {-1},
              TokenVersions.uniform(WeightVersion.BASE, 1),
              FinishReason.LENGTH));
    }
    return ScoredGroup.ofCompletions(
        lease, policy().tokenizer().encode("1+1="), completions, List.of(first, second));
  }
}
