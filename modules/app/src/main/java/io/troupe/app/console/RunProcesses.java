package io.troupe.app.console;

import akka.actor.typed.ActorSystem;
import io.troupe.cluster.Lookout;
import io.troupe.cluster.Lookouts;
import io.troupe.console.Flame;
import io.troupe.console.JvmReport;
import io.troupe.console.JvmWire;
import io.troupe.console.Jvms;
import io.troupe.console.OwnJvm;
import io.troupe.core.run.Verb;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The processes of a run: the head, which is this one, and those of a cluster, which their lookouts
 * answer for.
 */
final class RunProcesses implements Jvms {
  private static final Duration REPORT = Duration.ofSeconds(6);
  private static final Duration DUMP = Duration.ofSeconds(10);
  private static final String SLASH = "/";

  private final OwnJvm own;
  private final VerifierService verifiers;
  private final CompletionStage<Lookouts> others;

  /** The processes that an actor system can reach, once it is there. */
  RunProcesses(VerifierService verifiers, CompletionStage<? extends ActorSystem<?>> system) {
    this.own =
        new OwnJvm(
            OwnJvm.HEAD,
            OwnJvm.HEAD,
            "",
            MachineGpus.ofThisProcess(),
            () -> VerifierRows.of(verifiers, ""),
            ActorMeters::rows);
    this.verifiers = verifiers;
    this.others = system.thenApply(Lookouts::new);
  }

  private Optional<Lookouts> others() {
    return Optional.ofNullable(others.toCompletableFuture().getNow(null));
  }

  @Override
  public CompletionStage<List<JvmReport>> reports() {
    CompletionStage<List<Lookout.Answer>> answers =
        others()
            .map(all -> all.askAll(Lookout.Topic.REPORT, "", REPORT).exceptionally(_ -> List.of()))
            .orElseGet(() -> CompletableFuture.completedFuture(List.of()));
    return own.reports().thenCombine(answers, RunProcesses::together);
  }

  private static List<JvmReport> together(List<JvmReport> own, List<Lookout.Answer> answers) {
    List<JvmReport> all = new ArrayList<>(own);
    for (Lookout.Answer answer : answers) {
      if (answer.trouble().isEmpty()) {
        all.add(unpacked(answer, JvmWire::report));
      }
    }
    return all;
  }

  @Override
  public CompletionStage<String> threads(String jvm) {
    return isOwn(jvm)
        ? own.threads("")
        : ask(jvm, Lookout.Topic.THREADS, "", DUMP)
            .thenApply(answer -> unpacked(answer, JvmWire::threads));
  }

  @Override
  public CompletionStage<Flame> flame(String jvm, Duration time) {
    return isOwn(jvm)
        ? own.flame("", time)
        : ask(jvm, Lookout.Topic.FLAME, Long.toString(time.toSeconds()), DUMP.plus(time))
            .thenApply(answer -> unpacked(answer, JvmWire::flame));
  }

  private static boolean isOwn(String jvm) {
    return jvm.isEmpty() || jvm.equals(OwnJvm.HEAD);
  }

  private CompletionStage<Lookout.Answer> ask(
      String jvm, Lookout.Topic topic, String argument, Duration patience) {
    // A name becomes known when its process reports.
    return reports()
        .thenCompose(
            reports -> {
              NotThereException unknown =
                  OwnJvm.noSuch(jvm, reports.stream().map(JvmReport::jvm).toList());
              return others()
                  .<CompletionStage<Lookout.Answer>>map(
                      all ->
                          all.ask(jvm, topic, argument, patience)
                              .thenApply(answer -> answer.orElseThrow(() -> unknown)))
                  .orElseGet(() -> CompletableFuture.failedFuture(unknown));
            })
        .thenApply(
            answer -> {
              if (!answer.trouble().isEmpty()) {
                throw new NotThereException(answer.trouble());
              }
              return answer;
            });
  }

  private interface Unpack<T> {
    T of(byte[] bytes) throws IOException;
  }

  private static <T> T unpacked(Lookout.Answer answer, Unpack<T> unpack) {
    try {
      return unpack.of(answer.bytes());
    } catch (IOException garbled) {
      throw new UncheckedIOException(
          "the answer of %s cannot be read: %s".formatted(answer.jvm(), garbled.getMessage()),
          garbled);
    }
  }

  /** Why an order to a process cannot be carried out now, if that is so. */
  CompletionStage<Optional<String>> objection(Verb verb) {
    return switch (verb) {
      case Verb.QuarantineVerifier(String name) ->
          reports().thenApply(all -> ProcessOrders.objectionToQuarantine(all, name));
      case Verb.ReleaseVerifier(String name) ->
          reports().thenApply(all -> ProcessOrders.objectionToRelease(all, name));
      case Verb.DrainNode(String node) ->
          reports().thenApply(all -> ProcessOrders.objectionToDrain(all, node));
      case Verb.PauseAdmission _,
          Verb.ResumeAdmission _,
          Verb.RequeueGroup _,
          Verb.CancelGroup _,
          Verb.SaveCheckpoint _,
          Verb.Drain _,
          Verb.LimitConcurrency _,
          Verb.RestartWorker _,
          Verb.DrainWorker _,
          Verb.SetLogLevel _ ->
          CompletableFuture.completedFuture(Optional.empty());
    };
  }

  /**
   * Carries out an order that the journal has.
   *
   * @return why it was not, if it was not
   */
  CompletionStage<Optional<String>> carryOut(Verb verb) {
    return switch (verb) {
      case Verb.SetLogLevel(String logger, String level) -> {
        ActorMeters.setLevel(logger, level);
        yield CompletableFuture.completedFuture(Optional.empty());
      }
      case Verb.QuarantineVerifier(String name) ->
          tell(name, Lookout.Topic.QUARANTINE, () -> verifiers.quarantine(name));
      case Verb.ReleaseVerifier(String name) ->
          tell(name, Lookout.Topic.RELEASE, () -> verifiers.release(name));
      case Verb.DrainNode(String node) -> told(ask(node, Lookout.Topic.DRAIN, "", DUMP));
      case Verb.PauseAdmission _,
          Verb.ResumeAdmission _,
          Verb.RequeueGroup _,
          Verb.CancelGroup _,
          Verb.SaveCheckpoint _,
          Verb.Drain _,
          Verb.LimitConcurrency _,
          Verb.RestartWorker _,
          Verb.DrainWorker _ ->
          CompletableFuture.completedFuture(Optional.empty());
    };
  }

  private interface Here {
    Optional<String> done();
  }

  private CompletionStage<Optional<String>> tell(String name, Lookout.Topic topic, Here here) {
    int slash = name.indexOf(SLASH);
    return slash < 0
        ? CompletableFuture.completedFuture(here.done())
        : told(ask(name.substring(0, slash), topic, name.substring(slash + 1), DUMP));
  }

  private static CompletionStage<Optional<String>> told(CompletionStage<Lookout.Answer> asked) {
    return asked.handle(
        (_, failure) -> {
          if (failure == null) {
            return Optional.empty();
          }
          Throwable cause = failure.getCause() == null ? failure : failure.getCause();
          return Optional.of(
              "journalled, and then not done: " + String.valueOf(cause.getMessage()));
        });
  }
}
