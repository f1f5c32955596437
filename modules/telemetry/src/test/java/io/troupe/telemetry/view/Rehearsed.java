package io.troupe.telemetry.view;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** A coordinator under random inputs, and a fold that is told the events. */
public final class Rehearsed {
  static final long START = 1_000_000;
  static final Attribution ADA = new Attribution("ada", "");

  final RunLimits limits;
  final RunFold fold;
  private final Coordination coordination;
  private final SplittableRandom random;
  private final BiConsumer<Long, Event> listener;
  private RunState state = RunState.INITIAL;
  private long now = START;

  Rehearsed(long seed) {
    this(seed, (_, _) -> {});
  }

  /** One whose events somebody else is told, too, with their time. */
  public Rehearsed(long seed, BiConsumer<Long, Event> listener) {
    this.listener = listener;
    int uses = seed % 2 == 0 ? 2 : 1;
    limits =
        new RunLimits(
            new RunLimits.Prompts(50, 1, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 9, 4_000, true, false, 500),
            new RunLimits.Step(3, 2, StalePolicy.MASK, false, uses),
            new RunLimits.Schedule(10_000, 0, 5, 0, 0, 100),
            OutageLimits.DEFAULT);
    fold = new RunFold(RunViewSettings.of("rehearsed", limits), 10_000);
    coordination = new Coordination(limits);
    random = new SplittableRandom(seed);
    tell(new Input.Begin());
  }

  public RunState state() {
    return state;
  }

  long now() {
    return now;
  }

  Rehearsed pass(long millis) {
    now += millis;
    return this;
  }

  Rehearsed tell(Input input) {
    return take(coordination.decide(state, input, now));
  }

  Rehearsed resume() {
    return take(coordination.resume(state, state.lastFence()));
  }

  private Rehearsed take(Decision decision) {
    for (Event event : decision.events()) {
      fold.event(now, event);
      listener.accept(now, event);
    }
    state = decision.state();
    return this;
  }

  Rehearsed order(OperatorCommand verb) {
    return tell(new Input.Ordered(verb, ADA));
  }

  Rehearsed ask(String worker, long total) {
    return tell(new Input.DemandRaised(new WorkerId(worker), total));
  }

  /** Answers the oldest lease with rewards 0 and 1, tokens of its version. */
  Rehearsed answer() {
    Group.Leased held = state.leases().findFirst().orElseThrow();
    return tell(new Input.GroupSampled(held.lease()))
        .tell(new Input.GroupScored(summary(held.lease(), held.version().number(), 1)));
  }

  Rehearsed trained() {
    return tell(new Input.StepTrained(state.version().number() + 1));
  }

  public static GroupSummary summary(LeaseId lease, long version, double reward) {
    TokenVersions tokens = TokenVersions.of(new long[] {version, version});
    return new GroupSummary(lease, List.of(0.0, reward), List.of(tokens, tokens));
  }

  public void disturb() {
    now += random.nextInt(50);
    List<Group.Leased> held = state.leases().toList();
    int dice = random.nextInt(100);
    if (held.isEmpty() || dice < 25) {
      ask("w" + random.nextInt(4), random.nextInt(1_000));
    } else if (dice < 70) {
      Group.Leased lease = held.get(random.nextInt(held.size()));
      if (dice < 45) {
        tell(new Input.GroupSampled(lease.lease()));
      } else if (dice < 48) {
        tell(new Input.GroupFailed(lease.lease(), new LeaseFailure.OfEngine("the engine failed")));
      } else {
        tell(
            new Input.GroupScored(
                summary(lease.lease(), lease.version().number(), random.nextInt(3) == 0 ? 0 : 1)));
      }
    } else if (dice < 90) {
      tell(
          dice < 88
              ? new Input.StepTrained(state.version().number() + 1)
              : new Input.StepSkipped(state.version().number() + 1, "NaN"));
    } else if (dice < 92) {
      tell(new Input.WorkerLost(new WorkerId("w" + random.nextInt(4))));
    } else if (dice < 98) {
      order(
          switch (random.nextInt(4)) {
            case 0 -> new OperatorCommand.PauseAdmission();
            case 1 -> new OperatorCommand.ResumeAdmission();
            case 2 ->
                new OperatorCommand.CancelGroup(
                    state.groups().isEmpty()
                        ? held.getFirst().lease().group()
                        : state.groups().firstKey());
            default -> new OperatorCommand.RequeueGroup(state.groups().lastKey());
          });
    } else if (dice == 98) {
      resume();
    } else {
      pass(4_000).tell(new Input.Tick());
    }
  }
}
