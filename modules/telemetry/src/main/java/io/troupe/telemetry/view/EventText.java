package io.troupe.telemetry.view;

import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunEnd;
import java.util.Locale;

/**
 * An event as a line that a person reads.
 *
 * @param sequence its number among the run's events, from 1: a stable address
 * @param atMillis since 1970, UTC
 * @param type the event's name
 * @param density 0 is the run's story, 1 adds how groups end, 2 is everything
 * @param tone plain, good, warn or bad
 * @param group it is about; 0 for none
 * @param worker it is about; "" for none
 */
public record EventText(
    long sequence,
    long atMillis,
    String type,
    int density,
    String tone,
    String text,
    long group,
    String worker) {
  private record Line(int density, String tone, String text, long group, String worker) {
    static Line story(String tone, String text) {
      return new Line(0, tone, text, 0, "");
    }
  }

  /** The line of an event. */
  static EventText of(long sequence, long atMillis, Event event) {
    Line line = line(event);
    return new EventText(
        sequence,
        atMillis,
        event.getClass().getSimpleName(),
        line.density(),
        line.tone(),
        line.text(),
        line.group(),
        line.worker());
  }

  /** How dense a view must be to show an event, without making its text. */
  static int density(Event event) {
    return switch (event) {
      case Event.RunStarted _,
          Event.RunResumed _,
          Event.WorkerLost _,
          Event.WorkerRetired _,
          Event.WorkerSuspended _,
          Event.WorkerResumed _,
          Event.VerificationSuspended _,
          Event.VerificationResumed _,
          Event.TaskMastered _,
          Event.NodeSkipped _,
          Event.NodeCaughtUp _,
          Event.StepTrained _,
          Event.StepSkipped _,
          Event.OrderTaken _,
          Event.OrderRefused _,
          Event.CheckpointSaved _,
          Event.DrainStarted _,
          Event.SavingStarted _,
          Event.RunEnded _ ->
          0;
      case Event.LeaseEnded _,
          Event.GroupFailed _,
          Event.GroupStale _,
          Event.GroupWithdrawn _,
          Event.AnswerRefused _,
          Event.StepStarted _ ->
          1;
      case Event.DemandRaised _,
          Event.GroupAdmitted _,
          Event.LeaseGranted _,
          Event.LossTokensCounted _,
          Event.ProcessStarted _,
          Event.WeightsMade _,
          Event.GroupDigested _,
          Event.LeaseSampled _,
          Event.GroupBuffered _,
          Event.GroupFiltered _ ->
          2;
    };
  }

  private static Line line(Event event) {
    int density = density(event);
    return switch (event) {
      case Event.RunStarted _ -> Line.story("good", "the run began");
      case Event.RunResumed(var state) ->
          Line.story("warn", "the run goes on from %s".formatted(state.version()));
      case Event.DemandRaised(var worker, long total) ->
          new Line(
              density,
              "plain",
              "%s asked for work, %d groups so far".formatted(worker, total),
              0,
              worker.value());
      case Event.GroupAdmitted(var group, int prompt, long epoch, var _) ->
          new Line(
              density,
              "plain",
              "%s admitted: prompt %d, epoch %d".formatted(group, prompt, epoch),
              group.number(),
              "");
      case Event.LeaseGranted(var lease, var worker, var version, long _) ->
          new Line(
              density,
              "plain",
              "%s leased to %s at %s".formatted(lease, worker, version),
              lease.group().number(),
              worker.value());
      case Event.LeaseSampled(var lease, long _) ->
          new Line(density, "plain", lease + " drawn, being verified", lease.group().number(), "");
      case Event.LeaseEnded(var lease, var reason, String detail, boolean counts) ->
          new Line(
              density,
              "warn",
              "%s ended: %s, %s%s"
                  .formatted(
                      lease,
                      reason.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                      detail,
                      counts ? "" : "; it costs no attempt"),
              lease.group().number(),
              "");
      case Event.GroupBuffered(var summary) ->
          new Line(
              density,
              "plain",
              "%s buffered, rewards %s".formatted(summary.lease(), summary.rewards()),
              summary.lease().group().number(),
              "");
      case Event.GroupFiltered(var summary) ->
          new Line(
              density,
              "plain",
              "%s filtered: all rewards are %s"
                  .formatted(summary.lease(), summary.rewards().getFirst()),
              summary.lease().group().number(),
              "");
      case Event.GroupStale(var lease) ->
          new Line(density, "warn", lease + " became too stale", lease.group().number(), "");
      case Event.GroupWithdrawn(var lease) ->
          new Line(density, "warn", lease + " was taken back", lease.group().number(), "");
      case Event.GroupFailed(var group, String reason) ->
          new Line(density, "bad", "%s given up: %s".formatted(group, reason), group.number(), "");
      case Event.AnswerRefused(var lease, String reason) ->
          new Line(
              density,
              "warn",
              "answer of %s refused: %s".formatted(lease, reason),
              lease.group().number(),
              "");
      case Event.NodeSkipped(String node, var version, String reason) ->
          Line.story(
              "warn", "node %s is behind with weights, %s: %s".formatted(node, version, reason));
      case Event.NodeCaughtUp(String node, var version) ->
          Line.story("good", "node %s holds the newest weights again, %s".formatted(node, version));
      case Event.WorkerRetired(var worker) ->
          new Line(
              density, "plain", worker + " finishes what it has and leaves", 0, worker.value());
      case Event.WorkerSuspended suspension ->
          new Line(
              0,
              "bad",
              "%s is suspended for %s after %d failures in a row: %s"
                  .formatted(
                      suspension.worker(),
                      RunSnapshot.seconds(suspension.untilMillis() - suspension.atMillis()),
                      suspension.failures(),
                      suspension.reason()),
              0,
              suspension.worker().value());
      case Event.WorkerResumed(var worker) ->
          new Line(0, "good", worker + " works again", 0, worker.value());
      case Event.VerificationSuspended(String reason, long from, long until) ->
          Line.story(
              "bad",
              "verifiers are away, nothing is granted for %s: %s"
                  .formatted(RunSnapshot.seconds(until - from), reason));
      case Event.VerificationResumed _ -> Line.story("good", "verifiers judge again");
      case Event.TaskMastered(long groups) ->
          Line.story("good", "every completion of the last %d groups was right".formatted(groups));
      case Event.WorkerLost(var worker) ->
          new Line(0, "bad", worker + " is gone", 0, worker.value());
      case Event.StepStarted(long step, var groups) ->
          new Line(
              density, "plain", "step %d began on %d groups".formatted(step, groups.size()), 0, "");
      case Event.LossTokensCounted(
              long step,
              long weighted,
              long unweighted,
              long most,
              long bound) ->
          new Line(
              density,
              "plain",
              "step %d gave weight to %d tokens and none to %d, staleness at most %d (bound %d)"
                  .formatted(step, weighted, unweighted, most, bound),
              0,
              "");
      case Event.ProcessStarted(var process) ->
          new Line(density, "plain", "a process works on the run: " + process.facts(), 0, "");
      case Event.WeightsMade(var version, String digest) ->
          new Line(density, "plain", "%s has digest %s".formatted(version, digest), 0, "");
      case Event.GroupDigested(var lease, var digests) ->
          new Line(
              density,
              "plain",
              "completions of %s have digests %s".formatted(lease, String.join(" ", digests)),
              lease.group().number(),
              "");
      case Event.StepTrained(long step) ->
          Line.story("plain", "step %d made v%d".formatted(step, step));
      case Event.StepSkipped(long step, String reason, boolean _) ->
          Line.story("bad", "step %d skipped: %s".formatted(step, reason));
      case Event.OrderTaken(OperatorCommand verb, Attribution order) ->
          Line.story("warn", "%s: %s%s".formatted(order.by(), words(verb), why(order)));
      case Event.OrderRefused(OperatorCommand verb, Attribution order, String reason) ->
          Line.story(
              "warn",
              "%s wanted to %s%s; refused: %s"
                  .formatted(order.by(), words(verb), why(order), reason));
      case Event.CheckpointSaved(long step) ->
          Line.story("good", "checkpoint of step %d is durable".formatted(step));
      case Event.DrainStarted _ -> Line.story("warn", "draining: groups in flight may finish");
      case Event.SavingStarted _ -> Line.story("plain", "the last checkpoint is being written");
      case Event.RunEnded(RunEnd end) -> Line.story(tone(end), "the run is over: " + words(end));
    };
  }

  private static String why(Attribution order) {
    return order.why().isBlank() ? "" : " (" + order.why() + ")";
  }

  private static String tone(RunEnd end) {
    return switch (end) {
      case RunEnd.Completed _ -> "good";
      case RunEnd.Interrupted _ -> "warn";
      case RunEnd.Failed _ -> "bad";
    };
  }

  public static String words(RunEnd end) {
    return switch (end) {
      case RunEnd.Completed _ -> "completed";
      case RunEnd.Interrupted _ -> "interrupted, to be resumed";
      case RunEnd.Failed(String reason) -> "failed, " + reason;
    };
  }

  public static String words(OperatorCommand verb) {
    return switch (verb) {
      case OperatorCommand.PauseAdmission _ -> "pause admission";
      case OperatorCommand.ResumeAdmission _ -> "resume admission";
      case OperatorCommand.RequeueGroup(var group) -> "requeue " + group;
      case OperatorCommand.CancelGroup(var group) -> "cancel " + group;
      case OperatorCommand.SaveCheckpoint _ -> "save a checkpoint";
      case OperatorCommand.Drain _ -> "drain the run";
      case OperatorCommand.LimitConcurrency(int groups) -> "limit concurrent groups to " + groups;
      case OperatorCommand.RestartWorker(var worker) -> "restart " + worker;
      case OperatorCommand.QuarantineVerifier(String verifier) -> "quarantine verifier " + verifier;
      case OperatorCommand.ReleaseVerifier(String verifier) -> "release verifier " + verifier;
      case OperatorCommand.DrainWorker(var worker) -> "drain " + worker;
      case OperatorCommand.DrainNode(String node) -> "drain node " + node;
      case OperatorCommand.SetLogLevel(String logger, String level) ->
          "set the log level of %s to %s".formatted(logger, level);
    };
  }
}
