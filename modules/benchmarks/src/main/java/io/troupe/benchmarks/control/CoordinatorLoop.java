package io.troupe.benchmarks.control;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.store.state.RunJson;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * The coordinator's work without the work of other parts: its decisions on workers and a trainer
 * that answer at once, the journal records of them, and the console's view of them. One thread.
 */
final class CoordinatorLoop {
  private static final int COMPLETIONS = 16;
  private static final int KEPT_EVENTS = 10_000;
  private static final long LEASE_MILLIS = 3_600_000;
  private static final long STEPS = 1_000_000_000;

  private final Coordination coordination;
  private final Deque<Input> inbox = new ArrayDeque<>();
  private final Consumer<byte[]> journal;
  private final RunFold fold;
  private RunState state = RunState.INITIAL;
  private long scored;

  /**
   * A loop with a number of groups in flight.
   *
   * @param journal takes each record
   */
  CoordinatorLoop(int workers, int groupsInFlight, Consumer<byte[]> journal) {
    this.journal = journal;
    RunLimits limits =
        new RunLimits(
            new RunLimits.Prompts(1_000_000, 1, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(
                COMPLETIONS, groupsInFlight, LEASE_MILLIS, false, false, Long.MAX_VALUE),
            new RunLimits.Step(groupsInFlight, 1, StalePolicy.MASK, false),
            new RunLimits.Schedule(STEPS, 0, 0, 0, 0, 0),
            OutageLimits.DEFAULT);
    this.coordination = new Coordination(limits);
    this.fold = new RunFold(RunViewSettings.of("bench", limits), KEPT_EVENTS);
    inbox.add(new Input.Begin());
    for (int worker = 0; worker < workers; worker++) {
      inbox.add(new Input.DemandRaised(name(worker), Long.MAX_VALUE / 2));
    }
  }

  /** Works until a number of further completions are scored. */
  void run(long completions) {
    long until = scored + completions;
    while (scored < until) {
      Input input = inbox.remove();
      if (input instanceof Input.GroupScored) {
        scored += COMPLETIONS;
      }
      decide(input);
    }
  }

  private void decide(Input input) {
    Decision decision = coordination.decide(state, input, 0);
    state = decision.state();
    long now = System.currentTimeMillis();
    decision.events().forEach(event -> fold.event(now, event));
    if (!decision.events().isEmpty()) {
      journal.accept(RunJson.encode(new RunJson.Entry(0, decision.events())));
    }
    decision.effects().forEach(this::perform);
  }

  private void perform(Effect effect) {
    if (effect instanceof Effect.Grant(var lease, var _, int _, long _, int _, var version)) {
      inbox.add(new Input.GroupSampled(lease));
      inbox.add(new Input.GroupScored(summary(lease, version)));
    } else if (effect instanceof Effect.Train(long step, var _, var _)) {
      inbox.add(new Input.LossTokensCounted(step, new LossTokens(1, 0, 0)));
      inbox.add(new Input.StepTrained(step));
    }
  }

  /** A group as a worker reports it. */
  static GroupSummary summary(LeaseId lease, WeightVersion version) {
    List<Double> rewards = new ArrayList<>();
    List<TokenVersions> versions = new ArrayList<>();
    for (int i = 0; i < COMPLETIONS; i++) {
      rewards.add((double) (i % 2));
      versions.add(TokenVersions.uniform(version, 100 + i));
    }
    return new GroupSummary(lease, rewards, versions);
  }

  private static WorkerId name(int worker) {
    return new WorkerId("rollout-" + worker);
  }

  static int completionsPerGroup() {
    return COMPLETIONS;
  }
}
