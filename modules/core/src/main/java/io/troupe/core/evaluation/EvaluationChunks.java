package io.troupe.core.evaluation;

import static io.troupe.core.Require.require;

import io.troupe.core.PersistentMap;
import io.troupe.core.TimeText;
import io.troupe.core.outage.Backoff;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The assignment of an evaluation's chunks to the workers of a cluster, and the chunks that are
 * asked for again.
 *
 * <p>Invariant: a chunk is done, waits, or is asked of exactly one worker, and a worker is asked
 * for one chunk at a time. Each asking has a number of its own, so an answer to one that was given
 * up passes for no other. What a chunk's completions are depends on its prompts, seeds and weights,
 * and on no worker: it may be asked again anywhere.
 *
 * @param places of workers, by their addresses; a worker that is started again has another one
 * @param waiting chunks that are asked of no worker
 * @param open askings without an end, by number
 * @param failures of each chunk that is not done; none for most
 * @param askings so far
 * @param heardAt time of the last sign of life of a worker, or of the first chunk that was added
 *     after all were done
 * @param lastReason of a failure
 */
public record EvaluationChunks(
    Limits limits,
    SortedMap<String, Place> places,
    SortedSet<Long> waiting,
    SortedMap<Long, Asked> open,
    SortedMap<Long, Integer> failures,
    long askings,
    long heardAt,
    String lastReason) {
  /**
   * The patience of an evaluation.
   *
   * @param silenceMillis a worker that gives no sign of life for so long has failed
   * @param absenceMillis an evaluation ends that has heard of no worker for so long
   * @param mostFailures of one chunk; then the chunk is to blame, and the evaluation ends
   * @param pauses before a worker that failed is asked again
   */
  public record Limits(long silenceMillis, long absenceMillis, int mostFailures, Backoff pauses) {
    /** A minute of silence, five minutes without a worker, pauses of 1 s to 2 min. */
    public static final Limits DEFAULT =
        new Limits(60_000, 300_000, 8, new Backoff(1_000, 120_000));

    public Limits {
      require(
          silenceMillis >= 1 && absenceMillis >= silenceMillis,
          "an evaluation waits for a worker (%d ms) no shorter than for its next sign (%d ms)",
          absenceMillis,
          silenceMillis);
      require(mostFailures >= 1, "a chunk may fail once or more, not %d times", mostFailures);
    }

    /**
     * Returns these limits with another time without a worker; the limit of silence is no longer.
     */
    public Limits withAbsence(long millis) {
      return new Limits(Math.min(silenceMillis, millis), millis, mostFailures, pauses);
    }
  }

  /**
   * The state of a worker.
   *
   * @param failures in a row
   * @param pausedUntil no chunk is asked of it before
   * @param refusal why it samples nothing of this evaluation; empty if it does
   */
  public record Place(int failures, long pausedUntil, String refusal) {
    static final Place NEW = new Place(0, Long.MIN_VALUE, "");

    boolean takes(long now) {
      return refusal.isEmpty() && now >= pausedUntil;
    }
  }

  /**
   * A chunk that a worker is asked for.
   *
   * @param heardAt time of the worker's last sign of life
   */
  public record Asked(String worker, long chunk, long heardAt) {}

  /** The next request. */
  public record Ask(long number, String worker, long chunk) {}

  private static final int MOST_REASONS = 3;

  public EvaluationChunks {
    places = PersistentMap.of(places);
    waiting = Collections.unmodifiableSortedSet(new TreeSet<>(waiting));
    open = PersistentMap.of(open);
    failures = PersistentMap.of(failures);
  }

  /** No chunk and no worker. */
  public static EvaluationChunks none(Limits limits, long now) {
    return new EvaluationChunks(
        limits,
        PersistentMap.empty(),
        new TreeSet<>(),
        PersistentMap.empty(),
        PersistentMap.empty(),
        0,
        now,
        "");
  }

  /** Adds a chunk that is to be sampled. Chunks of lower numbers are asked first. */
  public EvaluationChunks added(long chunk, long now) {
    EvaluationChunks begun = idle() ? heard(now) : this;
    return begun.waits(chunk);
  }

  /** Whether no chunk is left to sample. */
  public boolean idle() {
    return waiting.isEmpty() && open.isEmpty();
  }

  /** Removes every worker that is not among the workers of the cluster. */
  public EvaluationChunks present(Set<String> workers) {
    EvaluationChunks next = this;
    for (Map.Entry<Long, Asked> each : open.entrySet()) {
      if (!workers.contains(each.getValue().worker())) {
        next = next.failedAt(each.getKey(), each.getValue().worker() + " was lost");
      }
    }
    PersistentMap<String, Place> left = PersistentMap.of(next.places);
    for (String name : next.places.keySet()) {
      left = workers.contains(name) ? left : left.without(name);
    }
    for (String name : new TreeSet<>(workers)) {
      left = left.containsKey(name) ? left : left.with(name, Place.NEW);
    }
    return next.withPlaces(left);
  }

  /** The chunk to ask for now, of a worker that has none. */
  public Optional<Ask> next(long now) {
    Set<String> working = open.values().stream().map(Asked::worker).collect(Collectors.toSet());
    return waiting.isEmpty()
        ? Optional.empty()
        : places.entrySet().stream()
            .filter(place -> place.getValue().takes(now) && !working.contains(place.getKey()))
            .findFirst()
            .map(place -> new Ask(askings + 1, place.getKey(), waiting.first()));
  }

  /** Notes that a worker was asked for a chunk. */
  public EvaluationChunks asked(Ask ask, long now) {
    SortedSet<Long> rest = new TreeSet<>(waiting);
    rest.remove(ask.chunk());
    return new EvaluationChunks(
        limits,
        places,
        rest,
        PersistentMap.of(open).with(ask.number(), new Asked(ask.worker(), ask.chunk(), now)),
        failures,
        ask.number(),
        heardAt,
        lastReason);
  }

  /** The worker that was asked is at work. */
  public EvaluationChunks working(long number, long now) {
    return ifOpen(
        number,
        asked ->
            withOpen(
                    PersistentMap.of(open)
                        .with(number, new Asked(asked.worker(), asked.chunk(), now)))
                .heard(now));
  }

  /** Notes that all completions of the chunk are there. */
  public EvaluationChunks done(long number, long now) {
    return ifOpen(
        number,
        asked ->
            closed(number)
                .heard(now)
                .place(asked.worker(), _ -> Place.NEW)
                .withFailures(PersistentMap.of(failures).without(asked.chunk())));
  }

  /** The worker samples for another evaluation: the chunk waits, and no failure counts. */
  public EvaluationChunks busy(long number, long now) {
    return declined(number, now, old -> paused(old, now + limits.pauses().pauseMillis(1)));
  }

  /** The worker cannot sample with these weights, now and later. */
  public EvaluationChunks refused(long number, String reason, long now) {
    return declined(number, now, old -> new Place(old.failures(), old.pausedUntil(), reason));
  }

  private EvaluationChunks declined(long number, long now, UnaryOperator<Place> change) {
    return ifOpen(
        number,
        asked -> closed(number).heard(now).waits(asked.chunk()).place(asked.worker(), change));
  }

  /** The worker failed; it is asked again after a pause. */
  public EvaluationChunks failed(long number, String reason, long now) {
    return ifOpen(
        number,
        asked ->
            failedAt(number, reason)
                .place(
                    asked.worker(),
                    old ->
                        new Place(
                            old.failures() + 1,
                            now + limits.pauses().pauseMillis(old.failures() + 1),
                            "")));
  }

  /** The change that an asking makes; none if the asking has ended. */
  private EvaluationChunks ifOpen(long number, Function<Asked, EvaluationChunks> change) {
    return of(number).map(change).orElse(this);
  }

  private static Place paused(Place old, long until) {
    return new Place(old.failures(), Math.max(old.pausedUntil(), until), old.refusal());
  }

  /** Askings whose worker has been silent for too long; each has failed. */
  public List<Long> silent(long now) {
    return open.entrySet().stream()
        .filter(each -> now - each.getValue().heardAt() >= limits.silenceMillis())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** An asking without an end. */
  public Optional<Asked> of(long number) {
    return Optional.ofNullable(open.get(number));
  }

  /** Returns the reason why the evaluation cannot continue; empty while it can. */
  public Optional<String> obstacle(long now) {
    if (idle()) {
      return Optional.empty();
    }
    int most = failures.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    if (most >= limits.mostFailures()) {
      return Optional.of(
          "its chunk of prompts failed %d times, the last time: %s".formatted(most, lastReason));
    }
    if (!places.isEmpty() && places.values().stream().noneMatch(each -> each.refusal().isEmpty())) {
      return Optional.of(
          "no worker of the cluster samples it (%d of %d refuse): %s"
              .formatted(places.size(), places.size(), refusals()));
    }
    long silence = now - heardAt;
    if (silence < limits.absenceMillis()) {
      return Optional.empty();
    }
    return Optional.of(
        "no rollout worker has %s for %s%s"
            .formatted(
                places.isEmpty() ? "been in the cluster" : "answered",
                TimeText.of(silence),
                afterReason()));
  }

  private String refusals() {
    List<String> reasons =
        places.values().stream().map(Place::refusal).distinct().limit(MOST_REASONS).toList();
    return String.join("; ", reasons);
  }

  private String afterReason() {
    return lastReason.isEmpty() ? "" : "; the last failure: " + lastReason;
  }

  private EvaluationChunks failedAt(long number, String reason) {
    Asked asked = of(number).orElseThrow();
    int times = Optional.ofNullable(failures.get(asked.chunk())).orElse(0) + 1;
    return closed(number)
        .waits(asked.chunk())
        .withFailures(PersistentMap.of(failures).with(asked.chunk(), times))
        .because(reason);
  }

  private EvaluationChunks closed(long number) {
    return withOpen(PersistentMap.of(open).without(number));
  }

  private EvaluationChunks waits(long chunk) {
    SortedSet<Long> more = new TreeSet<>(waiting);
    more.add(chunk);
    return new EvaluationChunks(limits, places, more, open, failures, askings, heardAt, lastReason);
  }

  private EvaluationChunks place(String name, UnaryOperator<Place> change) {
    return Optional.ofNullable(places.get(name))
        .map(old -> withPlaces(PersistentMap.of(places).with(name, change.apply(old))))
        .orElse(this);
  }

  private EvaluationChunks heard(long now) {
    return new EvaluationChunks(limits, places, waiting, open, failures, askings, now, lastReason);
  }

  private EvaluationChunks because(String reason) {
    return new EvaluationChunks(limits, places, waiting, open, failures, askings, heardAt, reason);
  }

  private EvaluationChunks withPlaces(SortedMap<String, Place> other) {
    return new EvaluationChunks(
        limits, other, waiting, open, failures, askings, heardAt, lastReason);
  }

  private EvaluationChunks withOpen(SortedMap<Long, Asked> other) {
    return new EvaluationChunks(
        limits, places, waiting, other, failures, askings, heardAt, lastReason);
  }

  private EvaluationChunks withFailures(SortedMap<Long, Integer> other) {
    return new EvaluationChunks(limits, places, waiting, open, other, askings, heardAt, lastReason);
  }
}
