package io.troupe.telemetry.view;

import java.util.ArrayDeque;
import java.util.Deque;

/** A rollout worker while the run continues: the mutable side of {@link RunView.WorkerRow}. */
final class WorkerTimeline {
  /** States of its clock. */
  static final int IDLE = 0;

  static final int BUSY = 1;
  static final int BLOCKED = 2;

  private static final int MAX_BARS = 300;

  final String name;
  final long since;
  final StateTimeShares clock;
  final Deque<RunView.Bar> bars = new ArrayDeque<>();
  boolean present = true;
  private boolean retired;
  long asked;
  long granted;
  long sampling;
  long verifying;
  long version = -1;
  long answered;
  long tokens;
  long lastAnswerAt;
  long idleSince;

  private final WorkerTimelines workforce;
  private boolean counted;
  private long told;

  WorkerTimeline(String name, long at, WorkerTimelines workforce) {
    this.workforce = workforce;
    this.name = name;
    this.since = at;
    this.idleSince = at;
    this.clock = new StateTimeShares(3, RunFold.WINDOW_MILLIS, at);
  }

  long demand() {
    return present && !retired ? Math.max(0, asked - granted) : 0;
  }

  void asked(long total, long at) {
    if (!present) {
      sampling = 0;
      verifying = 0;
    }
    present = true;
    retired = false;
    asked = Math.max(asked, total);
    settle(at);
  }

  void granted(long at0, long at) {
    granted++;
    sampling++;
    holds(at0, at);
    settle(at);
  }

  void sampled(long at) {
    sampling = Math.max(0, sampling - 1);
    verifying++;
    settle(at);
  }

  void released(boolean wasVerifying, long at) {
    if (wasVerifying) {
      verifying = Math.max(0, verifying - 1);
    } else {
      sampling = Math.max(0, sampling - 1);
    }
    settle(at);
  }

  void answered(long newest, long more, long at) {
    answered++;
    tokens += more;
    lastAnswerAt = at;
    holds(newest, at);
  }

  /** Notes that the worker takes nothing new, and is gone with the last group that it holds. */
  void retired(long at) {
    retired = true;
    settle(at);
  }

  void gone(long at) {
    present = false;
    sampling = 0;
    verifying = 0;
    settle(at);
  }

  private void holds(long newest, long at) {
    if (newest > version) {
      version = newest;
      bars.addLast(new RunView.Bar(newest, at, at));
      if (bars.size() > MAX_BARS) {
        bars.removeFirst();
      }
    }
  }

  private void settle(long at) {
    if (retired && sampling + verifying == 0) {
      present = false;
    }
    int next = sampling > 0 ? BUSY : demand() > 0 ? BLOCKED : IDLE;
    if (next != BUSY && clock.state() == BUSY) {
      idleSince = at;
    }
    clock.to(next, at);
    long more = demand() - told;
    told += more;
    boolean wasPresent = counted;
    counted = present;
    workforce.settled(this, more, wasPresent, at);
  }
}
