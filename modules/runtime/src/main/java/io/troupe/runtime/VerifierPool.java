package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.rollout.VerdictSummary;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;

/**
 * Judges the completions of a group, off the dispatcher.
 *
 * <p>Its queue is bounded by the groups under lease. The service answers every completion in
 * bounded time, even if that says that no verifier is there.
 */
public final class VerifierPool extends AbstractOnMessageBehavior<VerifierPool.Command> {
  public sealed interface Command {}

  /** Judge these completions, in order. */
  public record Verify(
      Assignment assignment, List<EpisodeText> completions, ActorRef<RolloutWorker.Command> replyTo)
      implements Command {}

  private record Judged(Verify command, List<Verdict> verdicts) implements Command {}

  private final VerifierService service;

  /** A pool over a service; the pool does not close it. */
  public static Behavior<Command> create(VerifierService service) {
    return Behaviors.setup(context -> new VerifierPool(context, service));
  }

  private VerifierPool(ActorContext<Command> context, VerifierService service) {
    super(context);
    this.service = service;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Verify verify -> onVerify(verify);
      case Judged(Verify verify, List<Verdict> verdicts) ->
          verify.replyTo().tell(new RolloutWorker.Judged(verify.assignment().lease(), verdicts));
    }
    return this;
  }

  private void onVerify(Verify command) {
    Prompt prompt = command.assignment().prompt();
    getContext()
        .pipeToSelf(
            VerdictSummary.of(
                command.completions().stream()
                    .map(completion -> service.verify(prompt, completion))
                    .toList()),
            (verdicts, failure) ->
                new Judged(
                    command,
                    failure == null
                        ? verdicts
                        : command.completions().stream()
                            .map(_ -> refused(FailureCause.message(failure)))
                            .toList()));
  }

  private static Verdict refused(String why) {
    return new Verdict.Unverifiable(Verdict.Cause.AWAY, why);
  }
}
