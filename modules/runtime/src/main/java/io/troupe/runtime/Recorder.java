package io.troupe.runtime;

import akka.actor.typed.ActorRef;
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
import io.troupe.core.trace.LineBacklog;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.episode.EpisodeTrace;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes the lines of the run's traces. It never waits for the disk, so that its mailbox stays
 * short: what waits is the backlog of {@link TraceFiles}, which is bounded. A disk that refuses or
 * stalls costs lines, which are counted and reported, never the run. Only its end waits for the
 * last lines, so it runs on a dispatcher for blocking work.
 */
public final class Recorder extends AbstractOnMessageBehavior<Recorder.Command> {
  public sealed interface Command {}

  /** An event happened, at this version of the weights. */
  public record Happened(Event event, WeightVersion version) implements Command {}

  /**
   * A group was judged.
   *
   * @param completions the last answer of each episode
   * @param episodes the turns of each; none where each is one answer
   */
  public record Judged(
      LeaseId lease,
      Prompt prompt,
      List<String> completions,
      List<Verdict> verdicts,
      List<EpisodeTrace> episodes)
      implements Command, WireMessage {}

  /** A step was trained on these groups. */
  public record Trained(long step, List<GroupTokenMarks> groups) implements Command {
    public Trained {
      groups = List.copyOf(groups);
    }
  }

  /** An evaluation after a step was judged. */
  public record Evaluated(
      long step, String evaluation, List<HeldOutEvaluation.JudgedAnswer> answers)
      implements Command {
    public Evaluated {
      answers = List.copyOf(answers);
    }
  }

  /** The recorder writes the records that it has, and stops. */
  public record Close() implements Command {}

  private record BacklogChanged(LineBacklog backlog) implements Command {}

  private final TraceFiles traces;
  private final Consumer<Judged> judgements;
  private final Consumer<LineBacklog> refusals;
  private boolean full;

  /**
   * A recorder into these files.
   *
   * @param judgements hears of each group that was judged
   * @param refusals hears of each refused line, and when lines are taken again
   */
  public static Behavior<Command> create(
      TraceFiles traces, Consumer<Judged> judgements, Consumer<LineBacklog> refusals) {
    return Behaviors.setup(context -> new Recorder(context, traces, judgements, refusals));
  }

  private Recorder(
      ActorContext<Command> context,
      TraceFiles traces,
      Consumer<Judged> judgements,
      Consumer<LineBacklog> refusals) {
    super(context);
    this.traces = traces;
    this.judgements = judgements;
    this.refusals = refusals;
    ActorRef<Command> self = context.getSelf();
    traces.watch(backlog -> self.tell(new BacklogChanged(backlog)));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Happened(Event event, WeightVersion version) -> traces.event(event, version);
      case Judged judged -> {
        traces.rollout(judged);
        judgements.accept(judged);
      }
      case Trained(long step, List<GroupTokenMarks> groups) -> traces.trained(step, groups);
      case Evaluated(long step, String evaluation, var answers) ->
          traces.evaluated(step, evaluation, answers);
      case BacklogChanged(LineBacklog backlog) -> onBacklogChanged(backlog);
      case Close _ -> {
        return Behaviors.stopped();
      }
    }
    return this;
  }

  private void onBacklogChanged(LineBacklog backlog) {
    if (backlog.full() != full) {
      full = backlog.full();
      getContext()
          .getLog()
          .warn(
              "{} lines={} bytes={} refused={}",
              full ? "traces_refused" : "traces_accepted",
              backlog.lines(),
              backlog.bytes(),
              backlog.refused());
    }
    refusals.accept(backlog);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      traces.close();
    }
    return this;
  }
}
