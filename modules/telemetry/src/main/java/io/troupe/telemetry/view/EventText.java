package io.troupe.telemetry.view;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunEnd;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * An event as a line that a person reads: the one place that says what each event means. The feed,
 * the trace files, Chrome's traces and the marks of curves show events by it. An event that has no
 * sentence here is shown as the record that it is.
 *
 * @param sequence number of the event in the run, from 1: a stable address
 * @param atMillis since 1970, UTC
 * @param type the event's name
 * @param density 0 is the run's story, 1 adds how groups end, 2 is everything
 * @param tone plain, good, warn or bad
 * @param group group of the event; 0 for none
 * @param worker worker of the event; "" for none
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
  /**
   * The description of an event for every view; its sentence is made when it is read.
   *
   * @param fields parts of the event by their names in the trace files
   */
  private record Line(
      int density,
      String tone,
      Map<String, Object> fields,
      Supplier<String> text,
      long group,
      String worker) {
    static Line story(String tone, Supplier<String> text) {
      return story(tone, Map.of(), text);
    }

    static Line story(String tone, Map<String, Object> fields, Supplier<String> text) {
      return new Line(STORY, tone, fields, text, 0, "");
    }

    static Line story(
        String tone, WorkerId worker, Map<String, Object> fields, Supplier<String> text) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("worker", worker.value());
      all.putAll(fields);
      return new Line(STORY, tone, all, text, 0, worker.value());
    }

    static Line ofGroup(int density, String tone, GroupId group, Supplier<String> text) {
      return new Line(density, tone, Map.of(), text, group.number(), "");
    }

    static Line detail(int density, Supplier<String> text) {
      return new Line(density, "plain", Map.of(), text, 0, "");
    }
  }

  private static final int STORY = 0;
  private static final int ENDS = 1;
  private static final int ALL = 2;

  /** The line of an event. */
  static EventText of(long sequence, long atMillis, Event event) {
    Line line = line(event);
    return new EventText(
        sequence,
        atMillis,
        event.getClass().getSimpleName(),
        line.density(),
        line.tone(),
        line.text().get(),
        line.group(),
        line.worker());
  }

  /** Returns the density that a view must have to show an event, without making its text. */
  static int density(Event event) {
    return line(event).density();
  }

  /** Whether an event belongs to the run's story. */
  public static boolean story(Event event) {
    return density(event) == STORY;
  }

  /** An event in a sentence. */
  public static String text(Event event) {
    return line(event).text().get();
  }

  /** An event's name in the trace files, such as {@code worker_lost}. */
  public static String name(Event event) {
    String type = event.getClass().getSimpleName();
    return type.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
  }

  /** The parts of an event of the run's story, by name. */
  public static Map<String, Object> fields(Event event) {
    return line(event).fields();
  }

  private static Line line(Event event) {
    return switch (event) {
      case Event.RunStarted _ -> Line.story("good", () -> "the run began");
      case Event.RunResumed(var state) ->
          Line.story(
              "warn",
              Map.of("step", state.version().number()),
              () -> "the run continues from %s".formatted(state.version()));
      case Event.DemandRaised(var worker, long total) ->
          new Line(
              ALL,
              "plain",
              Map.of(),
              () -> "%s asked for work, %d groups so far".formatted(worker, total),
              0,
              worker.value());
      case Event.GroupAdmitted(var group, int prompt, long epoch, var _) ->
          Line.ofGroup(
              ALL,
              "plain",
              group,
              () -> "%s admitted: prompt %d, epoch %d".formatted(group, prompt, epoch));
      case Event.LeaseGranted(var lease, var worker, var version, long _) ->
          new Line(
              ALL,
              "plain",
              Map.of(),
              () -> "%s leased to %s at %s".formatted(lease, worker, version),
              lease.group().number(),
              worker.value());
      case Event.LeaseSampled(var lease, long _) ->
          Line.ofGroup(ALL, "plain", lease.group(), () -> lease + " sampled, being verified");
      case Event.LeaseEnded(var lease, var reason, String detail, boolean counts) ->
          Line.ofGroup(
              ENDS,
              "warn",
              lease.group(),
              () ->
                  "%s ended: %s, %s%s"
                      .formatted(
                          lease,
                          reason.word().replace('_', ' '),
                          detail,
                          counts ? "" : "; it costs no attempt"));
      case Event.GroupBuffered(var summary) ->
          Line.ofGroup(
              ALL,
              "plain",
              summary.lease().group(),
              () -> "%s buffered, rewards %s".formatted(summary.lease(), summary.rewards()));
      case Event.GroupFiltered(var summary) ->
          Line.ofGroup(
              ALL,
              "plain",
              summary.lease().group(),
              () ->
                  "%s filtered: all rewards are %s"
                      .formatted(summary.lease(), summary.rewards().getFirst()));
      case Event.GroupStale(var lease) ->
          Line.ofGroup(ENDS, "warn", lease.group(), () -> lease + " became too stale");
      case Event.GroupWithdrawn(var lease) ->
          Line.ofGroup(ENDS, "warn", lease.group(), () -> lease + " was taken back");
      case Event.GroupFailed(var group, String reason) ->
          Line.ofGroup(ENDS, "bad", group, () -> "%s given up: %s".formatted(group, reason));
      case Event.AnswerRefused(var lease, String reason) ->
          Line.ofGroup(
              ENDS,
              "warn",
              lease.group(),
              () -> "answer of %s refused: %s".formatted(lease, reason));
      case Event.NodeSkipped(String node, var version, String reason) ->
          Line.story(
              "warn",
              Map.of("node", node, "version", version.number(), "reason", reason),
              () -> "node %s is behind with weights, %s: %s".formatted(node, version, reason));
      case Event.NodeCaughtUp(String node, var version) ->
          Line.story(
              "good",
              Map.of("node", node, "version", version.number()),
              () -> "node %s holds the newest weights again, %s".formatted(node, version));
      case Event.RanksWentBack(long steps, String reason) ->
          Line.story(
              "bad",
              Map.of("steps", steps, "reason", reason),
              () ->
                  "trainer ranks go back to their last saved state, %d steps again: %s"
                      .formatted(steps, reason));
      case Event.WorkerRetired(var worker) ->
          Line.story("plain", worker, Map.of(), () -> worker + " finishes what it has and leaves");
      case Event.WorkerSuspended(var worker, int failures, String reason, long at, long until) ->
          Line.story(
              "bad",
              worker,
              Map.of("failures", failures, "reason", reason, "millis", until - at),
              () ->
                  "%s is suspended for %s after %d failures in a row: %s"
                      .formatted(worker, RunSnapshot.seconds(until - at), failures, reason));
      case Event.WorkerResumed(var worker) ->
          Line.story("good", worker, Map.of(), () -> worker + " works again");
      case Event.VerificationSuspended(String reason, long at, long until) ->
          Line.story(
              "bad",
              Map.of("reason", reason, "millis", until - at),
              () ->
                  "verifiers are away, nothing is granted for %s: %s"
                      .formatted(RunSnapshot.seconds(until - at), reason));
      case Event.VerificationResumed _ -> Line.story("good", () -> "verifiers judge again");
      case Event.TaskMastered(long groups) ->
          Line.story(
              "good",
              Map.of("groups", groups),
              () -> "every completion of the last %d groups was right".formatted(groups));
      case Event.WorkerLost(var worker) ->
          Line.story("bad", worker, Map.of(), () -> worker + " is gone");
      case Event.StepStarted(long step, var groups) ->
          Line.detail(ENDS, () -> "step %d began on %d groups".formatted(step, groups.size()));
      case Event.ProcessStarted(var process) ->
          Line.detail(ALL, () -> "a process works on the run: " + process.facts());
      case Event.GroupDigested(var lease, var digests) ->
          Line.ofGroup(
              ALL,
              "plain",
              lease.group(),
              () ->
                  "completions of %s have digests %s".formatted(lease, String.join(" ", digests)));
      case Event.StepTrained(long step, var _) ->
          Line.story("plain", () -> "step %d made v%d".formatted(step, step));
      case Event.GroupSpent(var lease) ->
          Line.ofGroup(
              ALL, "plain", lease.group(), () -> lease + " ends as trained, without another use");
      case Event.StepSkipped(long step, String reason, boolean _) ->
          Line.story("bad", () -> "step %d skipped: %s".formatted(step, reason));
      case Event.OrderTaken(OperatorCommand verb, Attribution order) ->
          Line.story(
              "warn",
              Map.of("verb", verb.toString(), "by", order.by()),
              () -> "%s: %s%s".formatted(order.by(), words(verb), why(order)));
      case Event.OrderRefused(OperatorCommand verb, Attribution order, String reason) ->
          Line.story(
              "warn",
              Map.of("verb", verb.toString(), "by", order.by(), "reason", reason),
              () ->
                  "%s wanted to %s%s; refused: %s"
                      .formatted(order.by(), words(verb), why(order), reason));
      case Event.CheckpointSaved(long step) ->
          Line.story(
              "good",
              Map.of("step", step),
              () -> "checkpoint of step %d is durable".formatted(step));
      case Event.DrainStarted _ ->
          Line.story("warn", () -> "draining: groups in flight may finish");
      case Event.SavingStarted _ ->
          Line.story("plain", () -> "the last checkpoint is being written");
      case Event.RunEnded(RunEnd end) ->
          Line.story(
              tone(end),
              Map.of("end", end.getClass().getSimpleName()),
              () -> "the run is over: " + words(end));
      default -> Line.detail(ALL, event::toString);
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

  /** Returns the end of a run in words. */
  public static String words(RunEnd end) {
    return switch (end) {
      case RunEnd.Completed _ -> "completed";
      case RunEnd.Interrupted _ -> "interrupted, to be resumed";
      case RunEnd.Failed(String reason) -> "failed, " + reason;
    };
  }

  /** Returns an order in words, as an infinitive. */
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
