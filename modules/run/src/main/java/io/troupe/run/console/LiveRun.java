package io.troupe.run.console;

import akka.actor.typed.javadsl.AskPattern;
import io.troupe.console.chat.Chat;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.source.ClusterFacts;
import io.troupe.console.source.NodeFacts;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.run.mailbox.MailboxMetrics;
import io.troupe.runtime.Coordinator;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.view.RunFold;
import io.troupe.verifiers.pool.VerifierService;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The run of this process. */
public final class LiveRun extends FoldedRun {
  private static final Duration PATIENCE = Duration.ofSeconds(9);

  private final CompletionStage<StartedRun> started;
  private final RunProcesses processes;
  private final ClusterFacts cluster;
  private final Chat chat;

  /**
   * A run whose actors may still have to start.
   *
   * @param cluster that it is trained on
   * @param chat chat with the run's policy
   */
  public LiveRun(
      RunFold fold,
      RunFolder folder,
      VerifierService verifiers,
      CompletionStage<StartedRun> started,
      ClusterFacts cluster,
      Chat chat) {
    super(fold, folder, true, folder.model());
    this.cluster = cluster;
    this.chat = chat;
    this.started = started;
    this.processes = new RunProcesses(verifiers, started.thenApply(StartedRun::system));
    MailboxMetrics.watchFailures();
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
  public CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order) {
    return processes
        .objection(verb)
        .thenCompose(unfit -> unfit.isEmpty() ? take(verb, order) : refuse(verb, order, unfit));
  }

  private CompletionStage<Optional<String>> take(OperatorCommand verb, Attribution order) {
    return ask(new Input.Ordered(verb, order))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Coordinator.OrderTaken _ -> processes.carryOut(verb);
                  case Coordinator.OrderRefused(String reason) ->
                      CompletableFuture.completedFuture(Optional.of(reason));
                });
  }

  /** Has the journal keep an order that cannot be carried out. */
  private CompletionStage<Optional<String>> refuse(
      OperatorCommand verb, Attribution order, Optional<String> reason) {
    return ask(new Input.InapplicableCommand(verb, order, reason.orElseThrow()))
        .thenApply(_ -> reason);
  }

  private CompletionStage<Coordinator.OrderReply> ask(Input.FromOperator input) {
    return started.thenCompose(
        run ->
            AskPattern.ask(
                run.coordinator(),
                replyTo -> new Coordinator.Order(input, replyTo),
                PATIENCE,
                run.system().scheduler()));
  }
}
