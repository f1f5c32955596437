package io.troupe.run.console;

import akka.actor.typed.ActorSystem;
import io.troupe.cluster.diagnostics.Diagnostics;
import io.troupe.cluster.diagnostics.DiagnosticsClient;
import io.troupe.console.process.FlameFrame;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.process.JvmReport;
import io.troupe.console.process.JvmReportCodec;
import io.troupe.console.process.LocalJvm;
import io.troupe.core.run.OperatorCommand;
import io.troupe.run.mailbox.MailboxMetrics;
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
 * The processes of a run: the coordinator, which is this one, and those of a cluster, which their
 * lookouts answer for.
 */
final class RunProcesses implements JvmInspector {
  private static final Duration REPORT = Duration.ofSeconds(6);
  private static final Duration DUMP = Duration.ofSeconds(10);
  private static final String PATH_SEPARATOR = "/";

  private final LocalJvm own;
  private final VerifierService verifiers;
  private final CompletionStage<DiagnosticsClient> others;

  /** The processes that an actor system can reach, once it is there. */
  RunProcesses(VerifierService verifiers, CompletionStage<? extends ActorSystem<?>> system) {
    this.own =
        new LocalJvm(
            LocalJvm.COORDINATOR,
            LocalJvm.COORDINATOR,
            "",
            MachineGpus.ofThisProcess(),
            () -> VerifierRows.of(verifiers, ""),
            MailboxMetrics::rows,
            HeldTurnRows::ofThisProcess);
    this.verifiers = verifiers;
    this.others = system.thenApply(DiagnosticsClient::new);
  }

  private Optional<DiagnosticsClient> others() {
    return Optional.ofNullable(others.toCompletableFuture().getNow(null));
  }

  @Override
  public CompletionStage<List<JvmReport>> reports() {
    CompletionStage<List<Diagnostics.Answer>> answers =
        others()
            .map(
                all ->
                    all.askAll(Diagnostics.Topic.REPORT, "", REPORT).exceptionally(_ -> List.of()))
            .orElseGet(() -> CompletableFuture.completedFuture(List.of()));
    return own.reports().thenCombine(answers, RunProcesses::together);
  }

  private static List<JvmReport> together(List<JvmReport> own, List<Diagnostics.Answer> answers) {
    List<JvmReport> all = new ArrayList<>(own);
    for (Diagnostics.Answer answer : answers) {
      if (answer.error().isEmpty()) {
        all.add(unpacked(answer, JvmReportCodec::report));
      }
    }
    return all;
  }

  @Override
  public CompletionStage<String> threads(String jvm) {
    return isOwn(jvm)
        ? own.threads("")
        : ask(jvm, Diagnostics.Topic.THREADS, "", DUMP)
            .thenApply(answer -> unpacked(answer, JvmReportCodec::threads));
  }

  @Override
  public CompletionStage<FlameFrame> flame(String jvm, Duration time) {
    return isOwn(jvm)
        ? own.flame("", time)
        : ask(jvm, Diagnostics.Topic.FLAME, Long.toString(time.toSeconds()), DUMP.plus(time))
            .thenApply(answer -> unpacked(answer, JvmReportCodec::flame));
  }

  private static boolean isOwn(String jvm) {
    return jvm.isEmpty() || jvm.equals(LocalJvm.COORDINATOR);
  }

  private CompletionStage<Diagnostics.Answer> ask(
      String jvm, Diagnostics.Topic topic, String argument, Duration patience) {
    // A name becomes known when its process reports.
    return reports()
        .thenCompose(
            reports -> {
              NotThereException unknown =
                  LocalJvm.noSuch(jvm, reports.stream().map(JvmReport::jvm).toList());
              return others()
                  .<CompletionStage<Diagnostics.Answer>>map(
                      all ->
                          all.ask(jvm, topic, argument, patience)
                              .thenApply(answer -> answer.orElseThrow(() -> unknown)))
                  .orElseGet(() -> CompletableFuture.failedFuture(unknown));
            })
        .thenApply(
            answer -> {
              if (!answer.error().isEmpty()) {
                throw new NotThereException(answer.error());
              }
              return answer;
            });
  }

  private interface Unpack<T> {
    T of(byte[] bytes) throws IOException;
  }

  private static <T> T unpacked(Diagnostics.Answer answer, Unpack<T> unpack) {
    try {
      return unpack.of(answer.bytes());
    } catch (IOException garbled) {
      throw new UncheckedIOException(
          "the answer of %s cannot be read: %s".formatted(answer.jvm(), garbled.getMessage()),
          garbled);
    }
  }

  /** Returns the reason why an order to a process cannot be carried out now, if that is so. */
  CompletionStage<Optional<String>> objection(OperatorCommand verb) {
    return verb instanceof OperatorCommand.ForShell order
        ? objectionTo(order)
        : CompletableFuture.completedFuture(Optional.empty());
  }

  private CompletionStage<Optional<String>> objectionTo(OperatorCommand.ForShell order) {
    return switch (order) {
      case OperatorCommand.QuarantineVerifier(String name) ->
          reports().thenApply(all -> ProcessOrderRules.objectionToQuarantine(all, name));
      case OperatorCommand.ReleaseVerifier(String name) ->
          reports().thenApply(all -> ProcessOrderRules.objectionToRelease(all, name));
      case OperatorCommand.DrainNode(String node) ->
          reports().thenApply(all -> ProcessOrderRules.objectionToDrain(all, node));
      case OperatorCommand.SetLogLevel _ -> CompletableFuture.completedFuture(Optional.empty());
    };
  }

  /**
   * Carries out an order that the journal has.
   *
   * @return why it was not, if it was not
   */
  CompletionStage<Optional<String>> carryOut(OperatorCommand verb) {
    return verb instanceof OperatorCommand.ForShell order
        ? carriedOut(order)
        : CompletableFuture.completedFuture(Optional.empty());
  }

  private CompletionStage<Optional<String>> carriedOut(OperatorCommand.ForShell order) {
    return switch (order) {
      case OperatorCommand.SetLogLevel(String logger, String level) -> {
        MailboxMetrics.setLevel(logger, level);
        yield CompletableFuture.completedFuture(Optional.empty());
      }
      case OperatorCommand.QuarantineVerifier(String name) ->
          order(name, Diagnostics.Topic.QUARANTINE, () -> verifiers.quarantine(name));
      case OperatorCommand.ReleaseVerifier(String name) ->
          order(name, Diagnostics.Topic.RELEASE, () -> verifiers.release(name));
      case OperatorCommand.DrainNode(String node) ->
          replyText(ask(node, Diagnostics.Topic.DRAIN, "", DUMP));
    };
  }

  private interface LocalAction {
    Optional<String> done();
  }

  private CompletionStage<Optional<String>> order(
      String name, Diagnostics.Topic topic, LocalAction here) {
    int slash = name.indexOf(PATH_SEPARATOR);
    return slash < 0
        ? CompletableFuture.completedFuture(here.done())
        : replyText(ask(name.substring(0, slash), topic, name.substring(slash + 1), DUMP));
  }

  private static CompletionStage<Optional<String>> replyText(
      CompletionStage<Diagnostics.Answer> asked) {
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
