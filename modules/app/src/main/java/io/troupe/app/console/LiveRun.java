package io.troupe.app.console;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import io.troupe.console.ActorRow;
import io.troupe.console.RolloutTexts;
import io.troupe.console.RunSource;
import io.troupe.core.run.Order;
import io.troupe.core.run.Verb;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Run;
import io.troupe.store.RunFolder;
import io.troupe.telemetry.view.RunFold;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The run of this process. */
public final class LiveRun implements RunSource {
  private static final Duration PATIENCE = Duration.ofSeconds(9);

  private final RunFold fold;
  private final RunFolder folder;
  private final RolloutTexts texts;
  private final CompletionStage<ActorSystem<Run.Command>> system;

  /** A run whose actors may still have to start. */
  public LiveRun(RunFold fold, RunFolder folder, CompletionStage<ActorSystem<Run.Command>> system) {
    this.fold = fold;
    this.folder = folder;
    this.texts = new RolloutTexts(folder.traces().resolve("rollouts.jsonl"));
    this.system = system;
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
  public Map<String, Object> provenance() {
    return RunPapers.of(folder);
  }

  @Override
  public List<ActorRow> actors() {
    return ActorMeters.rows();
  }

  @Override
  public boolean live() {
    return true;
  }

  @Override
  public CompletionStage<Optional<String>> order(Verb verb, Order order) {
    return system.thenCompose(
        run ->
            AskPattern.<Run.Command, Coordinator.OrderReply>ask(
                    run,
                    replyTo -> new Run.Ordered(verb, order, replyTo),
                    PATIENCE,
                    run.scheduler())
                .thenApply(reply -> outcome(verb, reply)));
  }

  private static Optional<String> outcome(Verb verb, Coordinator.OrderReply reply) {
    return switch (reply) {
      case Coordinator.OrderTaken _ -> {
        if (verb instanceof Verb.SetLogLevel(String logger, String level)) {
          ActorMeters.setLevel(logger, level);
        }
        yield Optional.empty();
      }
      case Coordinator.OrderRefused(String reason) -> Optional.of(reason);
    };
  }
}
