package io.troupe.telemetry.view;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * The time for which a part was in each of its states, in all and over a window: shares that add up
 * to one, because every moment is charged to exactly one state. Times are milliseconds and only go
 * forward; an earlier one counts as the last.
 */
final class StateTimeShares {
  private static final long SAMPLE_MILLIS = 1_000;

  @SuppressWarnings("ArrayRecordComponent") // kept, never compared
  private record TimeSample(long at, long[] spent) {}

  private final long windowMillis;
  private final long[] spent;
  private final Deque<TimeSample> samples = new ArrayDeque<>();
  private int state;
  private long at;

  /** A clock that starts in state 0. */
  StateTimeShares(int states, long windowMillis, long at) {
    this.windowMillis = windowMillis;
    this.spent = new long[states];
    this.at = at;
    samples.add(new TimeSample(at, spent.clone()));
  }

  /** Forgets what was before: time counts from now. */
  void begin(long now) {
    Arrays.fill(spent, 0);
    samples.clear();
    at = now;
    samples.add(new TimeSample(now, spent.clone()));
  }

  int state() {
    return state;
  }

  /** From now on it is in this state. */
  void to(int next, long now) {
    if (next != state) {
      charge(now);
      state = next;
    }
  }

  /** Shares of the window that ends now; of all the time there was, when that is shorter. */
  double[] shares(long now) {
    charge(now);
    TimeSample begin = samples.getFirst();
    long from = Math.max(begin.at(), at - windowMillis);
    double[] shares = new double[spent.length];
    double whole = at - from;
    if (whole <= 0) {
      shares[state] = 1;
      return shares;
    }
    double[] before = spentAt(from);
    for (int i = 0; i < shares.length; i++) {
      shares[i] = (spent[i] - before[i]) / whole;
    }
    return shares;
  }

  private double[] spentAt(long time) {
    TimeSample earlier = samples.getFirst();
    TimeSample later = new TimeSample(at, spent);
    for (TimeSample sample : samples) {
      if (sample.at() <= time) {
        earlier = sample;
      } else {
        later = sample;
        break;
      }
    }
    double part =
        later.at() == earlier.at()
            ? 0
            : (double) (time - earlier.at()) / (later.at() - earlier.at());
    double[] values = new double[spent.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = earlier.spent()[i] + part * (later.spent()[i] - earlier.spent()[i]);
    }
    return values;
  }

  private void charge(long now) {
    if (now <= at) {
      return;
    }
    spent[state] += now - at;
    at = now;
    if (now - samples.getLast().at() >= SAMPLE_MILLIS) {
      samples.add(new TimeSample(now, spent.clone()));
      while (samples.size() > 2 && windowSlides(now)) {
        samples.removeFirst();
      }
    }
  }

  private boolean windowSlides(long now) {
    var rest = samples.iterator();
    rest.next();
    return rest.next().at() <= now - windowMillis;
  }
}
