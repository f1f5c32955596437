package io.troupe.cluster.diagnostics;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import akka.actor.typed.receptionist.Receptionist;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** Requests diagnostics from the other processes of a cluster. Thread-safe. */
public final class DiagnosticsClient {
  private static final Duration FIND_TIMEOUT = Duration.ofSeconds(2);

  private final ActorSystem<?> system;
  private final Map<String, ActorRef<Diagnostics.Command>> byJvm = new ConcurrentHashMap<>();

  /** A client in the process of this actor system. */
  public DiagnosticsClient(ActorSystem<?> system) {
    this.system = system;
  }

  /**
   * Asks all processes.
   *
   * @return answers in the order of names, without processes that did not answer in time
   */
  public CompletionStage<List<Diagnostics.Answer>> askAll(
      Diagnostics.Topic topic, String argument, Duration patience) {
    return find()
        .thenCompose(
            all -> {
              List<CompletableFuture<Optional<Diagnostics.Answer>>> answers = new ArrayList<>();
              byJvm.values().retainAll(all);
              all.forEach(
                  one ->
                      answers.add(
                          ask(one, topic, argument, patience)
                              .handle((answer, _) -> Optional.ofNullable(answer))
                              .toCompletableFuture()));
              return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                  .thenApply(
                      _ ->
                          answers.stream()
                              .flatMap(answer -> answer.join().stream())
                              .sorted(Comparator.comparing(Diagnostics.Answer::jvm))
                              .toList());
            });
  }

  /**
   * Asks one process.
   *
   * @return the answer; empty if {@link #askAll} has found no process of that name; fails if the
   *     process does not answer in time
   */
  public CompletionStage<Optional<Diagnostics.Answer>> ask(
      String jvm, Diagnostics.Topic topic, String argument, Duration patience) {
    return Optional.ofNullable(byJvm.get(jvm))
        .map(one -> ask(one, topic, argument, patience).thenApply(Optional::of))
        .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()));
  }

  private CompletionStage<Set<ActorRef<Diagnostics.Command>>> find() {
    return AskPattern.<Receptionist.Command, Receptionist.Listing>ask(
            system.receptionist(),
            replyTo -> Receptionist.find(Diagnostics.SERVICE_KEY, replyTo),
            FIND_TIMEOUT,
            system.scheduler())
        .thenApply(listing -> listing.getServiceInstances(Diagnostics.SERVICE_KEY));
  }

  private CompletionStage<Diagnostics.Answer> ask(
      ActorRef<Diagnostics.Command> one,
      Diagnostics.Topic topic,
      String argument,
      Duration patience) {
    return AskPattern.<Diagnostics.Command, Diagnostics.Answer>ask(
            one,
            replyTo -> new Diagnostics.Inspect(topic, argument, replyTo),
            patience,
            system.scheduler())
        .thenApply(
            answer -> {
              byJvm.put(answer.jvm(), one);
              return answer;
            });
  }
}
