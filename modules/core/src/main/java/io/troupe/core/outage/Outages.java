package io.troupe.core.outage;

import io.troupe.core.PersistentMap;
import io.troupe.core.rollout.WorkerId;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;

/**
 * The recent failures of infrastructure: a breaker for each place of a worker, one for the
 * verifiers, and the time since which nothing has succeeded.
 *
 * @param places by {@link io.troupe.core.rollout.WorkerId#place}; only those with a failure
 * @param verifiers the breaker before all verifiers
 * @param failingSince time at which the first breaker opened after the last success of the run, be
 *     it a judged group or a step; {@link #NOT_FAILING} while none has
 * @param lastReason of the failure that opened a breaker last
 */
public record Outages(
    SortedMap<String, CircuitBreaker> places,
    CircuitBreaker verifiers,
    long failingSince,
    String lastReason) {
  public static final long NOT_FAILING = -1;

  /** The state before any failure. */
  public static final Outages NONE =
      new Outages(PersistentMap.empty(), CircuitBreaker.CLOSED, NOT_FAILING, "");

  /** Places that left after a failure would otherwise be remembered for ever. */
  private static final int MOST_PLACES = 1_000;

  public Outages {
    places = PersistentMap.of(places);
  }

  /** The breaker before the workers of a place. */
  public CircuitBreaker place(String name) {
    return Objects.requireNonNullElse(places.get(name), CircuitBreaker.CLOSED);
  }

  /** The breaker before the workers of a worker's place. */
  public CircuitBreaker breakerOf(WorkerId worker) {
    return places.isEmpty() ? CircuitBreaker.CLOSED : place(worker.place());
  }

  /** Notes a failure at a worker's place, whose breaker stays closed. */
  public Outages failed(String place) {
    return with(place, place(place).failed());
  }

  /** A worker has sampled a group. */
  public Outages worked(WorkerId worker) {
    CircuitBreaker breaker = breakerOf(worker);
    return breaker.failures() == 0 ? this : with(worker.place(), breaker.worked());
  }

  /** Opens the breaker before a worker's place until a time, in milliseconds. */
  public Outages opened(String place, String reason, long at, long until) {
    Outages open = with(place, place(place).opened(at, until));
    return open.failing(reason, at);
  }

  /** Closes the breaker before a worker's place, after a completed group. */
  public Outages closed(String place) {
    return with(place, place(place).closed());
  }

  /** Opens the breaker before all verifiers until a time, in milliseconds. */
  public Outages verifiersOpened(String reason, long at, long until) {
    return new Outages(places, verifiers.opened(at, until), failingSince, lastReason)
        .failing(reason, at);
  }

  /** Closes the breaker before all verifiers, after a judged group. */
  public Outages verifiersClosed() {
    return new Outages(places, verifiers.closed(), failingSince, lastReason);
  }

  /** Notes that a part of the run has succeeded, or that no request was made for a while. */
  public Outages succeeded() {
    return failingSince == NOT_FAILING
        ? this
        : new Outages(places, verifiers, NOT_FAILING, lastReason);
  }

  private Outages failing(String reason, long at) {
    return new Outages(places, verifiers, failingSince == NOT_FAILING ? at : failingSince, reason);
  }

  private Outages with(String place, CircuitBreaker breaker) {
    PersistentMap<String, CircuitBreaker> all = PersistentMap.of(places);
    PersistentMap<String, CircuitBreaker> next =
        breaker.equals(CircuitBreaker.CLOSED) ? all.without(place) : all.with(place, breaker);
    return new Outages(
        next.size() <= MOST_PLACES ? next : next.without(oldest(next)),
        verifiers,
        failingSince,
        lastReason);
  }

  private static String oldest(Map<String, CircuitBreaker> breakers) {
    return breakers.entrySet().stream()
        .min(Comparator.comparingLong(entry -> entry.getValue().untilMillis()))
        .orElseThrow()
        .getKey();
  }
}
