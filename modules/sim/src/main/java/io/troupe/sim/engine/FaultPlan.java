package io.troupe.sim.engine;

import io.troupe.sim.model.FailureRates;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.KeyedRandom;
import io.troupe.sim.model.KeyedRandom.Purpose;
import io.troupe.sim.model.Scenario;
import java.util.function.Consumer;

/** The faults of a run: those of its script, and those that come by rate. */
final class FaultPlan {
  private static final double HOUR = 3600;

  private final Agenda agenda;
  private final Scenario scenario;
  private final long seed;
  private final Consumer<Fault> outlet;

  FaultPlan(Agenda agenda, Scenario scenario, long seed, Consumer<Fault> outlet) {
    this.agenda = agenda;
    this.scenario = scenario;
    this.seed = seed;
    this.outlet = outlet;
  }

  /** Puts all faults of the script, and the first one of each kind by rate, on the agenda. */
  void plan() {
    for (Fault fault : scenario.faults()) {
      agenda.at(Agenda.micros(fault.atSeconds()), _ -> outlet.accept(fault), 0);
    }
    FailureRates rates = scenario.model().failures();
    int workers = scenario.shape().workers();
    int nodes = scenario.shape().nodes();
    next(Fault.Kind.WORKER_DIES, rates.workerPerHour() * workers, workers, 0);
    next(Fault.Kind.ENGINE_FAILS, rates.enginePerHour() * workers, workers, 0);
    next(Fault.Kind.PARTITION, rates.partitionPerHour() * workers, workers, 0);
    next(Fault.Kind.VERIFIERS_STALL, rates.verifierPerHour() * nodes / 2, nodes, 0);
    next(Fault.Kind.VERIFIERS_AWAY, rates.verifierPerHour() * nodes / 2, nodes, 0);
    next(Fault.Kind.DISK_STALLS, rates.diskPerHour(), 1, 0);
    next(Fault.Kind.COORDINATOR_DIES, rates.coordinatorPerHour(), 1, 0);
  }

  private void next(Fault.Kind kind, double perHour, int targets, int number) {
    if (perHour <= 0) {
      return;
    }
    FailureRates rates = scenario.model().failures();
    long key = 4L * number;
    double pause = exponential(HOUR / perHour, kind, key);
    double mean =
        kind == Fault.Kind.WORKER_DIES ? rates.workerRecoverySeconds() : rates.outageSeconds();
    double lasts = exponential(mean, kind, key + 1);
    double which = KeyedRandom.uniform(seed, Purpose.FAULT, kind.key(), key + 2);
    agenda.after(
        Agenda.micros(pause),
        _ -> {
          outlet.accept(
              new Fault(kind, Agenda.seconds(agenda.now()), lasts, (int) (which * targets)));
          next(kind, perHour, targets, number + 1);
        });
  }

  private double exponential(double mean, Fault.Kind kind, long key) {
    return KeyedRandom.exponential(mean, seed, Purpose.FAULT, kind.key(), key);
  }
}
