package io.troupe.telemetry.export;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.telemetry.view.EventText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A run's events as a trace for Perfetto or chrome://tracing: a lane a rollout worker and slot, a
 * lane of the verifiers' slots, one of the trainer, and flows from a group's lease to the step that
 * trained on it.
 *
 * @see <a
 *     href="https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU">the
 *     Trace Event Format</a>
 */
public final class ChromeTrace {
  private static final String SAMPLE = "sample";
  private static final String TRAINER = "trainer";
  private static final String VERIFICATION = "verification";

  private record Slice(int lane, long since) {}

  /** The slots of one actor: the slices of a lane must not overlap. */
  private static final class Lanes {
    private final List<Boolean> taken = new ArrayList<>();
    private final int process;

    Lanes(int process) {
      this.process = process;
    }

    int take() {
      int free = taken.indexOf(false);
      if (free < 0) {
        taken.add(true);
        return taken.size() - 1;
      }
      taken.set(free, true);
      return free;
    }

    void release(int lane) {
      taken.set(lane, false);
    }
  }

  private final Consumer<Map<String, Object>> out;
  private final Map<String, Lanes> actors = new LinkedHashMap<>();
  private final Map<LeaseId, Slice> drawing = new HashMap<>();
  private final Map<LeaseId, Slice> judging = new HashMap<>();
  private final Map<LeaseId, String> workers = new HashMap<>();
  private final Map<GroupId, LeaseId> buffered = new TreeMap<>();
  private long stepSince;
  private List<GroupId> batch = List.of();

  /** A trace that hands its events on, in the order of their ends. */
  public ChromeTrace(Consumer<Map<String, Object>> out) {
    this.out = out;
  }

  /** Takes note of an event, at milliseconds since 1970. */
  public void event(long at, Event event) {
    switch (event) {
      case GroupEvent moved -> moved(at, moved);
      case Event.RunResumed _ -> {
        drawing.clear();
        judging.clear();
        buffered.clear();
        instant(EventText.text(event), at);
      }
      default -> {
        if (EventText.story(event)) {
          instant(EventText.text(event), at);
        }
      }
    }
  }

  private void moved(long at, GroupEvent event) {
    switch (event) {
      case Event.LeaseGranted(var lease, var worker, var _, long _) -> {
        workers.put(lease, worker.value());
        drawing.put(lease, new Slice(lanes(worker.value()).take(), at));
      }
      case Event.LeaseSampled(LeaseId lease, long _) -> {
        endDrawing(lease, at, SAMPLE);
        judging.put(lease, new Slice(lanes(VERIFICATION).take(), at));
      }
      case GroupEvent.Requeued requeued -> {
        endLease(requeued.lease(), at, requeued.reason().word());
        buffered.remove(requeued.lease().group());
      }
      case Event.GroupFiltered(GroupSummary summary) -> endLease(summary.lease(), at, "filtered");
      case Event.GroupBuffered(GroupSummary summary) -> {
        endLease(summary.lease(), at, "scored");
        buffered.put(summary.lease().group(), summary.lease());
      }
      case Event.StepStarted(long _, List<GroupId> groups) -> {
        stepSince = at;
        batch = groups;
      }
      case Event.StepTrained(long step, List<GroupId> kept) -> endStep("step " + step, at, kept);
      case Event.StepSkipped(long step, String _, boolean _) ->
          endStep("step " + step + " skipped", at, List.of());
      case Event.GroupSpent(LeaseId lease) -> buffered.remove(lease.group());
      case Event.GroupAdmitted _, Event.GroupFailed _ -> {}
    }
  }

  private void endLease(LeaseId lease, long at, String how) {
    endDrawing(lease, at, how);
    Slice slice = judging.remove(lease);
    if (slice != null) {
      slice(VERIFICATION, slice, at, "%s judge, %s".formatted(lease, how));
      lanes(VERIFICATION).release(slice.lane());
    }
    workers.remove(lease);
  }

  private void endDrawing(LeaseId lease, long at, String how) {
    Slice slice = drawing.remove(lease);
    String worker = workers.get(lease);
    if (slice != null && worker != null) {
      slice(worker, slice, at, how.equals(SAMPLE) ? SAMPLE + " " + lease : lease + " " + how);
      flow("s", worker, slice.lane(), slice.since(), lease.fence());
      lanes(worker).release(slice.lane());
    }
  }

  private void endStep(String name, long at, List<GroupId> kept) {
    slice(TRAINER, new Slice(0, stepSince), at, name);
    for (GroupId group : batch) {
      LeaseId lease = kept.contains(group) ? buffered.get(group) : buffered.remove(group);
      if (lease != null) {
        flow("f", TRAINER, 0, stepSince, lease.fence());
      }
    }
    batch = List.of();
  }

  private Lanes lanes(String actor) {
    Lanes known = actors.get(actor);
    if (known != null) {
      return known;
    }
    Lanes made = new Lanes(actors.size() + 1);
    actors.put(actor, made);
    Map<String, Object> name = new LinkedHashMap<>();
    name.put("ph", "M");
    name.put("pid", made.process);
    name.put("name", "process_name");
    name.put("args", Map.of("name", actor));
    out.accept(name);
    return made;
  }

  private void slice(String actor, Slice slice, long until, String name) {
    Map<String, Object> event = at("X", actor, slice.lane(), slice.since());
    event.put("dur", Math.max(1, (until - slice.since()) * 1_000));
    event.put("name", name);
    out.accept(event);
  }

  private void flow(String phase, String actor, int lane, long at, long id) {
    Map<String, Object> event = at(phase, actor, lane, at);
    event.put("id", id);
    event.put("name", "prompt to gradient");
    event.put("cat", "group");
    if (phase.equals("f")) {
      event.put("bp", "e");
    }
    out.accept(event);
  }

  private void instant(String name, long at) {
    Map<String, Object> event = at("i", TRAINER, 0, at);
    event.put("s", "g");
    event.put("name", name);
    out.accept(event);
  }

  private Map<String, Object> at(String phase, String actor, int lane, long millis) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("ph", phase);
    event.put("pid", lanes(actor).process);
    event.put("tid", lane);
    event.put("ts", millis * 1_000);
    return event;
  }
}
