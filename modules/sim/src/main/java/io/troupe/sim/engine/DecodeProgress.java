package io.troupe.sim.engine;

import io.troupe.sim.model.DecodeModel;

/** The progress of an engine's decoding at a time: the arithmetic between rows that leave. */
final class DecodeProgress {
  /*
   * Between two leaves the time of a step grows linearly with the context, so the time of n steps is
   * first·n + slope·n²/2, and its inverse a square root: no event per token.
   */
  static final double ALMOST = 1e-6;

  private static final double HORIZON = 4096;
  private static final double MICROS = 1e6;

  private final DecodeModel model;
  private final double prompt;
  private final DecodeRows rows;

  /** The number of rows that have not left: the first ones. */
  private int left;

  private long at;
  private double step;
  private double context;
  private double slowness = 1;
  private long stalledUntil;
  private long busyMicros;
  private double rowSeconds;
  private double tokens;

  DecodeProgress(DecodeModel model, double prompt, DecodeRows rows) {
    this.model = model;
    this.prompt = prompt;
    this.rows = rows;
  }

  /** Becomes what another one is. */
  void set(DecodeProgress other) {
    left = other.left;
    at = other.at;
    step = other.step;
    context = other.context;
    slowness = other.slowness;
    stalledUntil = other.stalledUntil;
    busyMicros = other.busyMicros;
    rowSeconds = other.rowSeconds;
    tokens = other.tokens;
  }

  int left() {
    return left;
  }

  long at() {
    return at;
  }

  double step() {
    return step;
  }

  /** Tokens of context, prompts included, that all rows hold. */
  double context() {
    return context;
  }

  /** Microseconds with anything to decode. */
  long busyMicros() {
    return busyMicros;
  }

  /** Seconds times rows. */
  double rowSeconds() {
    return rowSeconds;
  }

  double tokens() {
    return tokens;
  }

  /** Slows the engine from now on by a factor of the model's times. */
  void slow(double factor) {
    slowness = factor;
  }

  /** Decodes nothing for a time. */
  void stall(double seconds) {
    if (seconds > 0) {
      stalledUntil = Math.max(stalledUntil, at) + Agenda.micros(seconds * slowness);
    }
  }

  /** Rows have joined with their prompts. */
  void join(int joined) {
    left += joined;
    context += prompt * joined;
  }

  /** Rows of a group are taken away. */
  void cancel(ActiveGroup group, int cancelled) {
    left -= cancelled;
    context -= cancelled * (prompt + step - group.joined());
    settle();
  }

  /** No row is left. */
  void clear() {
    left = 0;
    settle();
  }

  /** Sums and differences of parts of tokens leave a rest. */
  private void settle() {
    if (left == 0) {
      context = 0;
    }
  }

  /**
   * Decodes up to a time.
   *
   * @param turn the step whose leaves are not for this
   */
  void advance(long now, double turn) {
    while (left > 0 && rows.leaves(left - 1) + ALMOST < turn) {
      long due = due();
      if (due >= now) {
        break;
      }
      leave(due);
    }
    pass(now);
  }

  /** Decodes through the leaves of a step, and returns when that is. */
  long advanceThrough(double turn) {
    do {
      leave(due());
    } while (left > 0 && step + ALMOST < turn);
    return at;
  }

  /** Returns the time at which the next row leaves. */
  private long due() {
    double steps = Math.max(0, rows.leaves(left - 1) - step);
    double first = first();
    double seconds = steps * first + slope(first) * steps * steps / 2;
    return Math.max(at, stalledUntil) + Agenda.micros(seconds * slowness);
  }

  private void leave(long due) {
    pass(due);
    move(Math.max(0, rows.leaves(left - 1) - step));
    while (left > 0 && rows.leaves(left - 1) <= step + ALMOST) {
      context -= prompt + rows.tokens(left - 1);
      left--;
    }
    settle();
  }

  /** Decodes up to a time before which no row leaves. */
  private void pass(long now) {
    if (left > 0 && now > at) {
      busyMicros += now - at;
      rowSeconds += (now - at) / MICROS * left;
      long from = Math.max(at, stalledUntil);
      if (now > from) {
        double steps =
            Math.min(stepsIn((now - from) / MICROS / slowness), rows.leaves(left - 1) - step);
        move(Math.max(0, steps));
      }
    }
    at = now;
  }

  private void move(double steps) {
    step += steps;
    context += steps * left;
    tokens += steps * left;
  }

  private double first() {
    return model.stepSeconds(left, context);
  }

  /** Returns the time by which each step is longer than the one before. */
  private double slope(double first) {
    double steps = Math.clamp(rows.leaves(left - 1) - step, 1, HORIZON);
    return (model.stepSeconds(left, context + left * steps) - first) / steps;
  }

  private double stepsIn(double seconds) {
    double first = first();
    double slope = slope(first);
    return slope * seconds < ALMOST * first * first
        ? seconds / first
        : (Math.sqrt(first * first + 2 * slope * seconds) - first) / slope;
  }
}
