package io.troupe.runtime;

import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.train.MarkedGroup;
import io.troupe.core.weights.WeightVersion;
import java.util.List;

/**
 * Writes the run's traces. It runs on a dispatcher for blocking work, and a disk that refuses costs
 * lines, which are counted and reported, never the run.
 */
public final class Recorder extends AbstractOnMessageBehavior<Recorder.Command> {
  public sealed interface Command {}

  /** Something happened, at this version of the weights. */
  public record Happened(Event event, WeightVersion version) implements Command {}

  /** A group was judged. */
  public record Judged(
      LeaseId lease, Prompt prompt, List<String> completions, List<Verdict> verdicts)
      implements Command, Portable {}

  /** A step was trained on these groups. */
  public record Trained(long step, List<MarkedGroup> groups) implements Command {
    public Trained {
      groups = List.copyOf(groups);
    }
  }

  private final Traces traces;

  /** A recorder into these files. */
  public static Behavior<Command> create(Traces traces) {
    return Behaviors.setup(context -> new Recorder(context, traces));
  }

  private Recorder(ActorContext<Command> context, Traces traces) {
    super(context);
    this.traces = traces;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Happened(Event event, WeightVersion version) -> traces.event(event, version);
      case Judged(LeaseId lease, Prompt prompt, List<String> completions, List<Verdict> verdicts) ->
          traces.rollout(lease, prompt, completions, verdicts);
      case Trained(long step, List<MarkedGroup> groups) -> traces.trained(step, groups);
    }
    return this;
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      traces.close();
    }
    return this;
  }
}
