package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Judges the completions of a group, off the dispatcher.
 *
 * <p>Its queue is bounded by the groups under lease. A verification that exceeds its time becomes
 * unverifiable, so its group fails and waits again; its thread is not waited for.
 */
public final class VerifierPool extends AbstractOnMessageBehavior<VerifierPool.Command> {
  public sealed interface Command {}

  /** Judge these completions, in order. */
  public record Verify(
      Assignment assignment, List<String> completions, ActorRef<RolloutWorker.Command> replyTo)
      implements Command {}

  private record Judged(Verify command, List<Verdict> verdicts) implements Command {}

  private final Verifier verifier;
  private final Duration timeout;
  private final ExecutorService threads;

  /** A pool of {@code size} threads. */
  public static Behavior<Command> create(Verifier verifier, int size, Duration timeout) {
    return Behaviors.setup(context -> new VerifierPool(context, verifier, size, timeout));
  }

  private VerifierPool(
      ActorContext<Command> context, Verifier verifier, int size, Duration timeout) {
    super(context);
    this.verifier = verifier;
    this.timeout = timeout;
    this.threads =
        Executors.newFixedThreadPool(
            size, Thread.ofPlatform().name("verifier-", 0).daemon().factory());
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Verify verify -> onVerify(verify);
      case Judged judged -> onJudged(judged);
    };
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      threads.shutdownNow();
    }
    return this;
  }

  private Behavior<Command> onVerify(Verify command) {
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> judge(command), threads)
                .completeOnTimeout(
                    unverifiable(
                        command, Verdict.Cause.TIMEOUT, "verification took longer than " + timeout),
                    timeout.toMillis(),
                    TimeUnit.MILLISECONDS),
            (verdicts, failure) ->
                new Judged(
                    command,
                    failure == null
                        ? verdicts
                        : unverifiable(
                            command, Verdict.Cause.CRASH, "the verifier failed: " + failure)));
    return this;
  }

  private Behavior<Command> onJudged(Judged judged) {
    judged
        .command()
        .replyTo()
        .tell(new RolloutWorker.Judged(judged.command().assignment().lease(), judged.verdicts()));
    return this;
  }

  private List<Verdict> judge(Verify command) {
    return command.completions().stream()
        .map(completion -> verifier.verify(command.assignment().prompt(), completion))
        .toList();
  }

  private static List<Verdict> unverifiable(Verify command, Verdict.Cause cause, String reason) {
    return command.completions().stream()
        .map(_ -> (Verdict) new Verdict.Unverifiable(cause, reason))
        .toList();
  }
}
