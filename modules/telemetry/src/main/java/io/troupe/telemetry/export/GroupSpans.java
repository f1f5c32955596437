package io.troupe.telemetry.export;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.base.hash.Sha256;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The lives of a run's groups as OpenTelemetry's spans: a trace a group, from its admission to its
 * step or its other end, and in it, without gaps, its stages: waiting, sampling, judging, buffered,
 * training.
 *
 * <p>Ids follow from the run's name and the events alone, so that a run that is sent twice is not
 * two runs. What a resume undoes ends there; what continues afterwards is a trace of its own.
 *
 * @see <a href="https://opentelemetry.io/docs/specs/otel/trace/api/">the tracing API</a>
 */
public final class GroupSpans {
  private static final int TRACE_BYTES = 16;
  private static final int SPAN_BYTES = 8;

  /** A group that has not ended. */
  private static final class GroupTrace {
    private final String trace;
    private final String root;
    private final long since;
    private final Map<String, Object> attributes = new LinkedHashMap<>();
    private String phase = "waiting";
    private long phaseSince;
    private Map<String, Object> phaseAttributes = Map.of();
    private int spans;

    /** Whether a step has trained on it and kept it. */
    private boolean used;

    GroupTrace(String trace, String root, long since) {
      this.trace = trace;
      this.root = root;
      this.since = since;
      this.phaseSince = since;
    }
  }

  private final String run;
  private final Consumer<TraceSpan> out;
  private final Map<GroupId, GroupTrace> lives = new TreeMap<>();
  private List<GroupId> batch = List.of();
  private int resumes;

  /**
   * Spans of a run that are handed on as they end.
   *
   * @param run name of the run
   */
  public GroupSpans(String run, Consumer<TraceSpan> out) {
    this.run = run;
    this.out = out;
  }

  /** Groups that have not ended, and of which nothing whole was sent. */
  public int open() {
    return lives.size();
  }

  /** Takes note of an event, at milliseconds since 1970. */
  public void event(long at, Event event) {
    switch (event) {
      case GroupEvent moved -> moved(at, moved);
      case Event.RunResumed(RunState state) -> {
        List.copyOf(lives.keySet()).forEach(group -> end(group, at, "undone by a resume", ""));
        resumes++;
        state.groups().values().stream()
            .filter(GroupSpans::isUsed)
            .forEach(group -> life(group.id(), at).used = true);
      }
      default -> {}
    }
  }

  private static boolean isUsed(Group group) {
    return switch (group.stage()) {
      case Group.Buffered ready -> ready.uses() > 0;
      case Group.Training step -> step.uses() > 0;
      case Group.Waiting _, Group.Leased _ -> false;
    };
  }

  private void moved(long at, GroupEvent event) {
    switch (event) {
      case Event.GroupAdmitted(GroupId group, int prompt, long epoch, var _) -> {
        GroupTrace life = life(group, at);
        life.attributes.put("troupe.prompt", (long) prompt);
        life.attributes.put("troupe.epoch", epoch);
      }
      case Event.LeaseGranted(LeaseId lease, var worker, var version, long _) -> {
        Map<String, Object> about = of(lease);
        about.put("troupe.worker", worker.value());
        about.put("troupe.weights", version.number());
        next(lease.group(), at, "sampling", about, "");
      }
      case Event.LeaseSampled(LeaseId lease, long _) ->
          next(lease.group(), at, "judging", of(lease), "");
      case GroupEvent.Requeued requeued ->
          next(requeued.lease().group(), at, "waiting", Map.of(), requeued.cause());
      case Event.GroupBuffered(GroupSummary summary) -> {
        scored(summary, at);
        next(summary.lease().group(), at, "buffered", of(summary.lease()), "");
      }
      case Event.GroupFiltered(GroupSummary summary) -> {
        scored(summary, at);
        end(summary.lease().group(), at, "filtered", "");
      }
      case Event.GroupFailed(GroupId group, String reason) -> end(group, at, "failed", reason);
      case Event.StepStarted(long step, List<GroupId> groups) -> {
        batch = groups;
        groups.forEach(group -> next(group, at, "training", Map.of("troupe.step", step), ""));
      }
      case Event.StepTrained(long step, List<GroupId> kept) -> endBatch(at, step, "trained", kept);
      case Event.StepSkipped(long step, String _, boolean _) ->
          endBatch(at, step, "skipped", List.of());
      case Event.GroupSpent(LeaseId lease) -> end(lease.group(), at, "trained", "");
    }
  }

  private static Map<String, Object> of(LeaseId lease) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("troupe.fence", lease.fence());
    return about;
  }

  private void scored(GroupSummary summary, long at) {
    Map<String, Object> attributes = life(summary.lease().group(), at).attributes;
    attributes.put(
        "troupe.reward.mean",
        summary.rewards().stream().mapToDouble(Double::doubleValue).average().orElseThrow());
    attributes.put("troupe.completions", (long) summary.rewards().size());
    attributes.put("troupe.tokens", summary.tokens());
    attributes.put("troupe.weights.oldest", summary.oldest().number());
    attributes.put("troupe.weights.newest", summary.newest().number());
  }

  private GroupTrace life(GroupId group, long at) {
    return lives.computeIfAbsent(
        group,
        _ -> {
          String whole = "%s/%d/%d".formatted(run, resumes, group.number());
          return new GroupTrace(hex(whole, TRACE_BYTES), hex(whole + "/group", SPAN_BYTES), at);
        });
  }

  /** Ends what the group was at, well or with an error, and begins what follows. */
  private void next(
      GroupId group, long at, String phase, Map<String, Object> attributes, String error) {
    GroupTrace life = life(group, at);
    tell(life, at, error);
    life.phase = phase;
    life.phaseSince = at;
    life.phaseAttributes = attributes;
  }

  private void tell(GroupTrace life, long at, String error) {
    if (at == life.phaseSince && life.phase.equals("waiting")) {
      return; // it began with what follows
    }
    String id = hex(life.trace + "/" + life.spans++, SPAN_BYTES);
    out.accept(
        new TraceSpan(
            life.trace,
            id,
            life.root,
            life.phase,
            life.phaseSince,
            Math.max(life.phaseSince, at),
            life.phaseAttributes,
            error));
  }

  private void endBatch(long at, long step, String outcome, List<GroupId> kept) {
    for (GroupId group : batch) {
      life(group, at).attributes.put("troupe.step", step);
      if (kept.contains(group)) {
        life(group, at).used = true;
        next(group, at, "buffered", Map.of(), "");
      } else {
        end(group, at, life(group, at).used ? "trained" : outcome, "");
      }
    }
    batch = List.of();
  }

  private void end(GroupId group, long at, String outcome, String error) {
    GroupTrace life = life(group, at);
    tell(life, at, error);
    lives.remove(group);
    life.attributes.put("troupe.outcome", outcome);
    out.accept(
        new TraceSpan(
            life.trace,
            life.root,
            "",
            "group " + group,
            life.since,
            Math.max(life.since, at),
            life.attributes,
            error));
  }

  private static String hex(String text, int bytes) {
    return Sha256.hex(text.getBytes(UTF_8)).substring(0, 2 * bytes);
  }
}
