package io.troupe.run.console;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import io.troupe.console.chat.Chat;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.source.ClusterFacts;
import io.troupe.console.source.NodeFacts;
import io.troupe.console.source.RolloutTexts;
import io.troupe.console.source.RunSource;
import io.troupe.console.source.TrainedTokens;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.OperatorCommand;
import io.troupe.run.mailbox.MailboxMetrics;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Run;
import io.troupe.store.folder.RunFolder;
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
    MailboxMetrics.watchFailures();
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
    return ProvenanceFile.of(folder);
  }

  @Override
  public JvmInspector jvms() {
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
  public CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order) {
    return processes
        .objection(verb)
        .thenCompose(unfit -> unfit.isEmpty() ? take(verb, order) : refuse(verb, order, unfit));
  }

  private CompletionStage<Optional<String>> take(OperatorCommand verb, Attribution order) {
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
      OperatorCommand verb, Attribution order, Optional<String> reason) {
    return ask(replyTo -> new Run.InapplicableCommand(verb, order, reason.orElseThrow(), replyTo))
        .thenApply(_ -> reason);
  }

  private CompletionStage<Coordinator.OrderReply> ask(
      Function<ActorRef<Coordinator.OrderReply>, Run.Command> command) {
    return system.thenCompose(
        run -> AskPattern.ask(run, command::apply, PATIENCE, run.scheduler()));
  }
}
