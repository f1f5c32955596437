package io.troupe.sim.engine;

import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.outage.CircuitBreaker;
import io.troupe.core.outage.Outages;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** The shell of the coordinator in virtual time: the journal is an audit, and a meter reads it. */
final class SimulatedCoordinator {
  /*
   * Real runs tick twice a second. A tick at which no lease is due, no breaker is open, nothing fails
   * and nothing drains decides nothing, so those are left out: leases get their deadlines in the
   * order in which they are granted or sampled, and the first one that is still good says when the
   * next tick can matter.
   */
  private static final long TICK_MICROS = 500_000;

  private static final long MICROS_OF_MILLI = 1_000;

  private final Coordination coordination;
  private final Agenda agenda;
  private final RunMeter meter;
  private final Consumer<List<Effect>> outlet;
  private final RunContent content;
  private Audit audit = new Audit();
  private final Deque<Deadline> deadlines = new ArrayDeque<>();
  private RunState state = RunState.INITIAL;
  private RunState checkpoint = RunState.INITIAL;
  private long records;
  private long lastFence;
  private long diskStalledUntil;
  private long tickAt = Long.MAX_VALUE;
  private boolean dead;
  private int life;

  private record Deadline(long millis, LeaseId lease) {}

  SimulatedCoordinator(
      Coordination coordination,
      Agenda agenda,
      RunMeter meter,
      RunContent content,
      Consumer<List<Effect>> outlet) {
    this.coordination = coordination;
    this.agenda = agenda;
    this.meter = meter;
    this.content = content;
    this.outlet = outlet;
  }

  RunState state() {
    return state;
  }

  AuditReport audit() {
    return audit.report();
  }

  long records() {
    return records;
  }

  boolean isOver() {
    return state.phase() instanceof Phase.Ended;
  }

  /** Decides on an input that arrives now. */
  void handle(Input input) {
    if (!dead) {
      commit(coordination.decide(state, input, millis()));
    }
  }

  /** A checkpoint is durable. */
  void saved(RunState of, long step, boolean last) {
    checkpoint = of;
    handle(new Input.CheckpointSaved(step, last));
  }

  /** Journals nothing until a time. */
  void stallDisk(long until) {
    diskStalledUntil = Math.max(diskStalledUntil, until);
  }

  /** Ends, with everything it knows. */
  void die() {
    dead = true;
    life++; // What waits for the journal is never carried out.
    deadlines.clear();
  }

  /** Continues from the last checkpoint, as the next process. */
  void resume() {
    dead = false;
    if (checkpoint.phase() instanceof Phase.Starting) {
      commit(coordination.resetJournal(lastFence));
      handle(new Input.Begin());
      return;
    }
    commit(coordination.resetJournal(lastFence));
    commit(coordination.resume(checkpoint, lastFence));
  }

  /** Continues a run, as the next process of it. */
  void resume(RunHistory history) {
    audit = history.audit();
    records = history.records();
    lastFence = history.lastFence();
    commit(coordination.resetJournal(lastFence));
    history.first().forEach(this::handle);
    commit(coordination.resume(history.state(), history.lastFence()));
  }

  private long millis() {
    return agenda.now() / MICROS_OF_MILLI;
  }

  private void commit(Decision decision) {
    List<Event> events = decision.events();
    if (!events.isEmpty()) {
      audit.record(++records, events);
      content.decided(millis(), decision.state(), events);
      for (int i = 0; i < events.size(); i++) {
        observe(events.get(i));
      }
    }
    state = decision.state();
    meter.observe(agenda.now(), state, events);
    if (!decision.effects().isEmpty()) {
      if (agenda.now() < diskStalledUntil) {
        int owner = life;
        agenda.at(
            diskStalledUntil,
            _ -> {
              if (owner == life) {
                outlet.accept(decision.effects());
              }
            },
            0);
      } else {
        outlet.accept(decision.effects());
      }
    }
    if (decision.saves()) {
      handle(new Input.Tick());
    }
    planTick();
  }

  private void observe(Event event) {
    switch (event) {
      case Event.LeaseGranted(LeaseId lease, var _, var _, long deadline) -> {
        lastFence = lease.fence();
        deadlines.add(new Deadline(deadline, lease));
      }
      case Event.LeaseSampled(LeaseId lease, long deadline) ->
          deadlines.add(new Deadline(deadline, lease));
      case Event.RunResumed(RunState from) -> lastFence = Math.max(lastFence, from.lastFence());
      default -> {}
    }
  }

  private void planTick() {
    if (isOver() || dead) {
      return;
    }
    long due = nextTick();
    if (due < tickAt) {
      tickAt = due;
      agenda.at(due, this::onTick, due);
    }
  }

  private void onTick(long planned) {
    if (planned != tickAt) {
      return;
    }
    tickAt = Long.MAX_VALUE;
    handle(new Input.Tick());
    planTick();
  }

  private long nextTick() {
    long next = (agenda.now() / TICK_MICROS + 1) * TICK_MICROS;
    if (failing() || !(state.phase() instanceof Phase.Running)) {
      return next;
    }
    while (!deadlines.isEmpty() && !isGood(deadlines.getFirst())) {
      deadlines.removeFirst();
    }
    if (deadlines.isEmpty()) {
      return Long.MAX_VALUE;
    }
    long due = deadlines.getFirst().millis * MICROS_OF_MILLI;
    return Math.max(next, (due + TICK_MICROS - 1) / TICK_MICROS * TICK_MICROS);
  }

  private boolean isGood(Deadline deadline) {
    return state
        .lease(deadline.lease)
        .filter(held -> held.deadlineMillis() == deadline.millis)
        .isPresent();
  }

  private boolean failing() {
    Outages outages = state.outages();
    return outages.failingSince() != Outages.NOT_FAILING
        || outages.verifiers().open()
        || (!outages.places().isEmpty()
            && outages.places().values().stream().anyMatch(CircuitBreaker::open));
  }
}
