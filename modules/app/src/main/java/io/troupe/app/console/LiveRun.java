package io.troupe.app.console;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import io.troupe.console.Chat;
import io.troupe.console.ClusterFacts;
import io.troupe.console.Jvms;
import io.troupe.console.NodeFacts;
import io.troupe.console.RolloutTexts;
import io.troupe.console.RunSource;
import io.troupe.console.TrainedTokens;
import io.troupe.core.run.Order;
import io.troupe.core.run.Verb;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Run;
import io.troupe.store.RunFolder;
import io.troupe.telemetry.view.RunFold;
import io.troupe.verifiers.pool.VerifierService;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** The run of this process. */
public final class LiveRun implements RunSource {
  private static final Duration PATIENCE = Duration.ofSeconds(9);

  private final RunFold fold;
  private final RunFolder folder;
  private final RolloutTexts texts;
  private final TrainedTokens trainedTokens;
  private final CompletionStage<ActorSystem<Run.Command>> system;
  private final RunProcesses processes;
  private final ClusterFacts cluster;
  private final Chat chat;

  /**
   * A run whose actors may still have to start.
   *
   * @param cluster that it is trained on
   * @param chat its policy
   */
  public LiveRun(
      RunFold fold,
      RunFolder folder,
      VerifierService verifiers,
      CompletionStage<ActorSystem<Run.Command>> system,
      ClusterFacts cluster,
      Chat chat) {
    this.cluster = cluster;
    this.chat = chat;
    this.fold = fold;
    this.folder = folder;
    this.texts = new RolloutTexts(folder.traces().resolve("rollouts.jsonl"));
    this.trainedTokens = new TrainedTokens(folder.traces().resolve("trained.jsonl"));
    this.system = system;
    this.processes = new RunProcesses(verifiers, system);
    ActorMeters.watchFailures();
  }

  @Override
  public RunFold fold() {
    return fold;
  }

  @Override
  public RolloutTexts texts() {
    return texts;
  }

  @Override
  public TrainedTokens trainedTokens() {
    return trainedTokens;
  }

  @Override
  public Map<String, Object> provenance() {
    return RunPapers.of(folder);
  }

  @Override
  public Jvms jvms() {
    return processes;
  }

  @Override
  public List<NodeFacts> nodes() {
    return cluster.nodes();
  }

  @Override
  public OptionalLong certificateDays() {
    return cluster.certificateDays();
  }

  @Override
  public Chat chat() {
    return chat;
  }

  @Override
  public boolean live() {
    return true;
  }

  @Override
  public CompletionStage<Optional<String>> order(Verb verb, Order order) {
    return processes
        .objection(verb)
        .thenCompose(unfit -> unfit.isEmpty() ? take(verb, order) : refuse(verb, order, unfit));
  }

  private CompletionStage<Optional<String>> take(Verb verb, Order order) {
    return ask(replyTo -> new Run.Ordered(verb, order, replyTo))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Coordinator.OrderTaken _ -> processes.carryOut(verb);
                  case Coordinator.OrderRefused(String reason) ->
                      CompletableFuture.completedFuture(Optional.of(reason));
                });
  }

  /** The journal keeps this, too. */
  private CompletionStage<Optional<String>> refuse(
      Verb verb, Order order, Optional<String> reason) {
    return ask(replyTo -> new Run.Unfit(verb, order, reason.orElseThrow(), replyTo))
        .thenApply(_ -> reason);
  }

  private CompletionStage<Coordinator.OrderReply> ask(
      Function<ActorRef<Coordinator.OrderReply>, Run.Command> command) {
    return system.thenCompose(
        run -> AskPattern.ask(run, command::apply, PATIENCE, run.scheduler()));
  }
}
