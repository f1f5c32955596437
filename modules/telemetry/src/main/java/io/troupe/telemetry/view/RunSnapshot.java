package io.troupe.telemetry.view;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.WorkerAbsence;
import io.troupe.core.rollout.WorkerId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Draws the views of a {@link RunFold} at one moment; the caller holds its lock. */
final class RunSnapshot {
  private static final Pattern CHILD = Pattern.compile("(.+)-w\\d+-\\d+-[0-9a-f]{8}");

  private static final int LATELY = 12;
  private static final int WHAT_IF_GROUPS = 1_000;
  private static final int WHAT_IF_BOUNDS = 8;

  private final RunFold fold;
  private final long now;

  /** A run that is over has no time: its last moment is the moment. */
  RunSnapshot(RunFold fold, long now) {
    this.fold = fold;
    this.now = fold.phase.equals("ended") ? fold.lastAt : Math.max(now, fold.lastAt);
  }

  RunView run() {
    List<RunView.Stage> stages = stages();
    return new RunView(
        now,
        fold.facts,
        fold.phase,
        fold.firstAt,
        fold.end,
        fold.version,
        fold.controls.paused(),
        fold.controls.checkpointAsked(),
        fold.controls.concurrency(),
        fold.sequence,
        fold.lastAt,
        bottleneck(),
        oldestFirst(fold.troubles.at(now)),
        standstill().isPresent(),
        stages,
        fold.rows.isEmpty() ? Map.of() : Collections.unmodifiableMap(newestRow()),
        groupsPerMinute(),
        thin(fold.stalenessTrained),
        fold.accounting(),
        fold.accounting().balanced(),
        fold.traceLinesRefused,
        fold.copy,
        fold.losses.sentence().orElse(""),
        fold.events(0, 0, LATELY));
  }

  private Map<String, Object> newestRow() {
    Iterator<Map<String, Object>> rows = fold.rows.descendingIterator();
    Map<String, Object> newest = rows.next();
    return newest.containsKey("reward") || !rows.hasNext() ? newest : rows.next();
  }

  private double groupsPerMinute() {
    long from = Math.max(fold.firstAt, now - RunFold.WINDOW_MILLIS);
    long scored = fold.scoredAt.stream().filter(at -> at >= from).count();
    return now <= from ? 0 : scored * 60_000.0 / (now - from);
  }

  private List<RunView.Stage> stages() {
    int culprit = culprit();
    double[] admission = fold.admission.shares(now);
    double[] verification = fold.verification.shares(now);
    double[] buffer = fold.buffer.shares(now);
    double[] train = fold.train.shares(now);
    long buffered = fold.count("buffered");
    return List.of(
        new RunView.Stage(
            "admission",
            List.of(
                share("open", "idle", admission[0]), share("held back", "blocked", admission[1])),
            fold.controls.paused()
                ? "paused by " + fold.pausedBy
                : "%d may start".formatted(fold.capacity()),
            fold.controls.paused()),
        new RunView.Stage(
            "rollout",
            rollout(),
            "%d groups being sampled".formatted(fold.count("sampling")),
            culprit == RunFold.ROLLOUT),
        new RunView.Stage(
            "verification",
            List.of(share("busy", "busy", verification[1]), share("idle", "idle", verification[0])),
            "%d groups being judged".formatted(fold.count("verifying")),
            culprit == RunFold.VERIFIER),
        new RunView.Stage(
            "buffer",
            List.of(
                share("a batch ready", "busy", buffer[2]),
                share("filling", "idle", buffer[1]),
                share("empty", "idle", buffer[0])),
            "%d of %d groups".formatted(buffered, fold.facts.groupsPerStep()),
            false),
        new RunView.Stage(
            "train",
            List.of(
                share("busy", "busy", train[1]),
                share("waiting", "idle", train[0]),
                share("held", "blocked", train[2])),
            fold.count("training") > 0 ? "step %d".formatted(fold.version + 1) : "waits for groups",
            culprit == RunFold.TRAINER),
        new RunView.Stage("publish", List.of(), published(), false));
  }

  private String published() {
    long present = fold.workers.all().stream().filter(worker -> worker.present).count();
    long there =
        fold.workers.all().stream()
            .filter(worker -> worker.present && worker.version == fold.version)
            .count();
    return "v%d seen at %d of %d workers".formatted(fold.version, there, present);
  }

  private List<RunView.Share> rollout() {
    double[] sum = new double[3];
    int present = 0;
    for (WorkerTimeline worker : fold.workers.all()) {
      if (worker.present) {
        present++;
        double[] shares = worker.clock.shares(now);
        for (int i = 0; i < sum.length; i++) {
          sum[i] += shares[i];
        }
      }
    }
    if (present == 0) {
      sum[WorkerTimeline.IDLE] = 1;
      present = 1;
    }
    return List.of(
        share("busy", "busy", sum[WorkerTimeline.BUSY] / present),
        share("idle", "idle", sum[WorkerTimeline.IDLE] / present),
        share("held back", "blocked", sum[WorkerTimeline.BLOCKED] / present));
  }

  private int culprit() {
    double[] shares = fold.cause.shares(now);
    int most = 0;
    for (int i = 1; i < shares.length; i++) {
      most = shares[i] > shares[most] ? i : most;
    }
    return most;
  }

  private String bottleneck() {
    if (fold.phase.equals("ended")) {
      return "The run is over: " + fold.end + ".";
    }
    if (fold.phase.equals("starting")) {
      return "Nothing yet: the policy is being made ready.";
    }
    if (!fold.phase.equals("running")) {
      return "The run is " + fold.phase + ": nothing new begins.";
    }
    if (fold.controls.paused()) {
      return "Admission is paused by %s for %s; resume it to continue."
          .formatted(fold.pausedBy, seconds(now - fold.pausedAt));
    }
    if (standstill().isPresent()) {
      RunView.Trouble trouble = standstill().get();
      return "%s %s, for %s now: %s"
          .formatted(
              trouble.who(), trouble.what(), seconds(now - trouble.since()), trouble.reason());
    }
    int most = culprit();
    double share = fold.cause.shares(now)[most];
    String part = "%.0f %% of the last minute".formatted(100 * share);
    double held = rollout().get(2).share();
    return switch (most) {
      case RunFold.TRAINER ->
          held > 0.05
              ? String.format(
                  Locale.ROOT,
                  "The trainer: it computed %s, and workers were held back %.0f %% of theirs by the"
                      + " bound on staleness.",
                  part,
                  100 * held)
              : "The trainer: it computed %s.".formatted(part);
      case RunFold.ROLLOUT ->
          "Rollout: the trainer was idle %s while completions were sampled.".formatted(part);
      case RunFold.VERIFIER ->
          "Verification: the trainer was idle %s while all that was left was judged."
              .formatted(part);
      default ->
          "Workers: nothing was sampled or trained for %s; no worker had work.".formatted(part);
    };
  }

  /**
   * Returns the parts that are out of order, with the absence of all workers if they are missing.
   */
  private List<RunView.Trouble> oldestFirst(List<RunView.Trouble> known) {
    return Stream.concat(known.stream(), absence().stream())
        .sorted(Comparator.comparingLong(RunView.Trouble::since))
        .toList();
  }

  /** That no worker has been there for minutes, if that is so. */
  private Optional<RunView.Trouble> absence() {
    OptionalLong since = fold.workers.absentSince();
    boolean missed =
        fold.phase.equals("running")
            && since.isPresent()
            && WorkerAbsence.outOfOrder(since.getAsLong(), now);
    return missed
        ? Optional.of(
            new RunView.Trouble(
                "workers",
                "are missing: none asks for work",
                since.getAsLong(),
                "look at the logs of workers and nodes"))
        : Optional.empty();
  }

  /**
   * Returns the trouble for which nothing can be sampled or judged: the verifiers, the worker that
   * failed last, or the absence of workers.
   */
  private Optional<RunView.Trouble> standstill() {
    if (!fold.phase.equals("running")) {
      return Optional.empty();
    }
    List<RunView.Trouble> troubles = oldestFirst(fold.troubles.ofSampling(now));
    boolean anyWorks =
        fold.workers.all().stream()
            .anyMatch(
                worker ->
                    worker.present && !fold.troubles.suspends(new WorkerId(worker.name).place()));
    return fold.troubles
        .ofVerifiers()
        .or(
            () ->
                anyWorks || troubles.isEmpty()
                    ? Optional.empty()
                    : Optional.of(troubles.getLast()));
  }

  RunView.Weights weights() {
    return new RunView.Weights(
        now,
        fold.version,
        List.copyOf(fold.published),
        fold.workers.all().stream().map(this::worker).toList());
  }

  private RunView.WorkerRow worker(WorkerTimeline worker) {
    double[] shares = worker.clock.shares(now);
    List<RunView.Bar> bars = new ArrayList<>();
    RunView.Bar before = new RunView.Bar(-1, 0, 0);
    for (RunView.Bar bar : worker.bars) {
      if (before.version() >= 0) {
        bars.add(new RunView.Bar(before.version(), before.from(), bar.from()));
      }
      before = bar;
    }
    if (before.version() >= 0) {
      bars.add(
          new RunView.Bar(
              before.version(),
              before.from(),
              worker.present ? now : Math.max(before.from(), worker.lastAnswerAt)));
    }
    return new RunView.WorkerRow(
        worker.name,
        node(worker.name),
        worker.present,
        worker.since,
        worker.version,
        worker.version < 0 ? 0 : fold.version - worker.version,
        worker.sampling + worker.verifying,
        worker.verifying,
        worker.demand(),
        worker.answered,
        worker.tokens,
        worker.lastAnswerAt,
        List.of(
            share("busy", "busy", shares[WorkerTimeline.BUSY]),
            share("idle", "idle", shares[WorkerTimeline.IDLE]),
            share("held back", "blocked", shares[WorkerTimeline.BLOCKED])),
        bars);
  }

  /**
   * The part of a worker's name before its slash, or before the number that a node agent gives it:
   * {@code a-w1-1-0ccdcbe1} is node a's. A worker with neither is in this process.
   */
  private static String node(String worker) {
    int slash = worker.indexOf('/');
    Matcher child = CHILD.matcher(worker);
    return slash >= 0
        ? worker.substring(0, slash)
        : child.matches() ? child.group(1) : "this process";
  }

  RunView.Staleness staleness() {
    long[] inFlight = new long[fold.stalenessTrained.length];
    long[] inQueue = new long[fold.stalenessTrained.length];
    for (GroupTimeline life : fold.live.values()) {
      if (life.leased()) {
        inFlight[place(fold.version - life.version, inFlight.length)]++;
      } else if (life.stage.equals("buffered")) {
        long oldest = life.answer.getFirst().oldest().number();
        inQueue[place(fold.version - oldest, inQueue.length)]++;
      }
    }
    List<GroupTimeline> sample =
        fold.ended.values().stream().filter(life -> life.stage.equals("trained")).toList();
    sample = sample.subList(Math.max(0, sample.size() - WHAT_IF_GROUPS), sample.size());
    List<RunView.WhatIf> whatIf = new ArrayList<>();
    for (int bound = 0; bound <= Math.max(fold.facts.maxStaleness(), WHAT_IF_BOUNDS); bound++) {
      whatIf.add(whatIf(sample, bound));
    }
    return new RunView.Staleness(
        now,
        fold.facts.maxStaleness(),
        fold.facts.stale(),
        thin(fold.stalenessTrained),
        thin(inFlight),
        thin(inQueue),
        whatIf,
        sample.size(),
        List.copyOf(fold.points),
        fold.refusals.asMap(),
        fold.losses.asMap());
  }

  private static RunView.WhatIf whatIf(List<GroupTimeline> sample, int bound) {
    long lost = 0;
    long tokens = 0;
    long old = 0;
    for (GroupTimeline life : sample) {
      long from = life.step - 1;
      long young = 0;
      for (TokenVersions versions : life.answer.getFirst().versions()) {
        for (TokenVersions.Span span : versions.spans()) {
          tokens += span.tokens();
          if (from - span.version().number() > bound) {
            old += span.tokens();
          } else {
            young++;
          }
        }
      }
      lost += young == 0 ? 1 : 0;
    }
    return new RunView.WhatIf(
        bound,
        lost,
        sample.isEmpty() ? 0 : (double) lost / sample.size(),
        tokens == 0 ? 0 : (double) old / tokens);
  }

  private static int place(long staleness, int places) {
    return Math.clamp(staleness, 0, places - 1);
  }

  private static List<Long> thin(long[] counts) {
    int length = counts.length;
    while (length > 0 && counts[length - 1] == 0) {
      length--;
    }
    return Arrays.stream(counts, 0, length).boxed().toList();
  }

  private static RunView.Share share(String word, String kind, double share) {
    return new RunView.Share(word, kind, share);
  }

  static String seconds(long millis) {
    return millis < 100_000
        ? String.format(Locale.ROOT, "%.1f s", millis / 1000.0)
        : "%d min".formatted(millis / 60_000);
  }
}
