package io.troupe.sim.engine;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Input;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.model.ClusterShape;
import io.troupe.sim.model.Fault;
import io.troupe.sim.model.KeyedRandom;
import io.troupe.sim.model.KeyedRandom.Purpose;
import io.troupe.sim.model.Scenario;
import io.troupe.sim.model.SimulationResult;
import io.troupe.sim.model.TrainModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One run in virtual time: the coordinator, and everything it gives orders to. */
public final class SimulatedRun {
  private final Scenario scenario;
  private final long seed;
  private final RunContent content;
  private final Agenda agenda = new Agenda();
  private final CpuShares cpu;
  private final RunMeter meter;
  private final SimulatedCoordinator coordinator;
  private final SimulatedTrainer trainer;
  private final List<SimulatedVerifiers> verifiers = new ArrayList<>();
  private final List<SimulatedWorker> workers = new ArrayList<>();
  private final Map<WorkerId, SimulatedWorker> byName = new HashMap<>();
  private final double decodeFactor;
  private final double trainFactor;
  private long newest = -1;
  private long published = -1;
  private boolean publishing;
  private int lives;

  /** A run that has not begun. */
  public SimulatedRun(Scenario scenario, long seed) {
    this(scenario, seed, new ModelContent(scenario, seed));
  }

  /** A run with a content of its own. */
  public SimulatedRun(Scenario scenario, long seed, RunContent content) {
    this.scenario = scenario;
    this.seed = seed;
    this.content = content;
    ClusterShape shape = scenario.shape();
    this.cpu = new CpuShares(shape.cpu());
    this.meter = new RunMeter(scenario.limits());
    this.coordinator =
        new SimulatedCoordinator(
            new Coordination(scenario.limits()), agenda, meter, content, this::carryOut);
    this.trainer = new SimulatedTrainer(agenda, cpu, shape.cpu().trainerThreads());
    double spread = scenario.model().control().parameterSigma();
    this.decodeFactor = factor(spread, 0);
    this.trainFactor = factor(spread, 1);
    for (int node = 0; node < shape.nodes(); node++) {
      verifiers.add(
          new SimulatedVerifiers(scenario.model().verification(), shape.verifiers(), seed));
    }
    for (int worker = 0; worker < shape.workers(); worker++) {
      workers.add(newWorker(worker));
    }
  }

  private double factor(double sigma, int which) {
    return StrictMath.exp(sigma * KeyedRandom.normal(seed, Purpose.PARAMETER, which, 0));
  }

  private SimulatedWorker newWorker(int index) {
    ClusterShape shape = scenario.shape();
    double sigma = scenario.model().engine().stragglerSigma();
    double straggling =
        decodeFactor * StrictMath.exp(sigma * KeyedRandom.normal(seed, Purpose.WORKER, index, 0));
    return new SimulatedWorker(
        new SimulatedWorker.Surroundings(
            agenda, scenario, content, verifiers.get(shape.nodeOf(index)), this::arrive),
        index,
        new SimulatedEngine.Parts(
            agenda,
            scenario.model().engine(),
            scenario.model().workload().promptTokens(),
            shape.rows(),
            scenario.maxTokens(),
            shape.cpu().samplerThreads(),
            cpu,
            straggling));
  }

  /** Runs to its end, or to the end of the time it is given. */
  public SimulationResult run() {
    long end = Agenda.micros(scenario.seconds());
    new FaultPlan(agenda, scenario, seed, this::fail).plan();
    coordinator.handle(new Input.Begin());
    workers.forEach(this::start);
    proceed(end, Long.MAX_VALUE);
    return result();
  }

  /**
   * Continues a run up to a step, after which it drains and saves as at a signal, or to its end.
   * Nothing fails.
   */
  public SimulationResult resume(RunHistory history, long lastStep) {
    long end = Agenda.micros(scenario.seconds());
    coordinator.resume(history);
    workers.forEach(this::start);
    proceed(end, lastStep);
    coordinator.handle(new Input.DrainRequested());
    proceed(end, Long.MAX_VALUE);
    return result();
  }

  private void proceed(long end, long lastStep) {
    while (!coordinator.isOver()
        && !agenda.isEmpty()
        && agenda.next() <= end
        && coordinator.state().version().number() < lastStep) {
      agenda.step();
    }
  }

  private void start(SimulatedWorker worker) {
    worker.start();
    byName.put(worker.id(), worker);
    fetch(worker);
  }

  /** An input reaches the coordinator; one of a worker that is new brings its name. */
  private void arrive(Input input) {
    if (input instanceof Input.DemandRaised(WorkerId id, long _) && !byName.containsKey(id)) {
      workers.stream()
          .filter(worker -> worker.id().equals(id))
          .forEach(
              worker -> {
                byName.values().removeIf(known -> known == worker);
                byName.put(id, worker);
                fetch(worker);
              });
    }
    coordinator.handle(input);
  }

  private void carryOut(List<Effect> effects) {
    Map<WorkerId, List<Effect.Grant>> grants = new LinkedHashMap<>();
    for (Effect effect : effects) {
      if (effect instanceof Effect.Grant grant) {
        grants.computeIfAbsent(grant.worker(), _ -> new ArrayList<>(4)).add(grant);
      } else {
        perform(effect);
      }
    }
    long delay = Agenda.micros(scenario.model().control().messageSeconds());
    grants.forEach(
        (id, leases) -> {
          SimulatedWorker worker = byName.get(id);
          if (worker != null) {
            agenda.after(delay, _ -> worker.grant(id, leases.getFirst().version(), leases));
          }
        });
  }

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Train step -> train(step);
      case Effect.Publish(WeightVersion version) -> publish(version.number());
      case Effect.Cancel(LeaseId lease, WorkerId id) -> {
        SimulatedWorker worker = byName.get(id);
        if (worker != null && !worker.isCut()) {
          agenda.after(
              Agenda.micros(scenario.model().control().messageSeconds()),
              _ -> worker.cancel(lease));
        }
      }
      case Effect.SaveCheckpoint checkpoint -> {
        int life = lives;
        Runnable save = content.checkpoint(checkpoint);
        trainer.work(
            scenario.model().training().checkpointSeconds(),
            () -> {
              if (life == lives) {
                save.run();
                coordinator.saved(checkpoint.state(), checkpoint.step(), checkpoint.last());
              }
            });
      }
      case Effect.Forget(LeaseId lease) -> content.forget(lease);
      case Effect.Grant _,
          Effect.Release _,
          Effect.Evaluate _,
          Effect.RestartWorker _,
          Effect.DrainWorker _,
          Effect.Stop _ -> {}
    }
  }

  private void train(Effect.Train step) {
    long number = step.step();
    TrainModel model = scenario.model().training();
    long tokens = meter.running().weighted() + meter.running().unweighted();
    double noise =
        StrictMath.exp(
            model.sigma() * KeyedRandom.normal(seed, Purpose.STEP, number, 0)
                - model.sigma() * model.sigma() / 2);
    double seconds = model.seconds(tokens, scenario.shape().trainerRanks()) * noise * trainFactor;
    int life = lives;
    trainer.work(
        seconds,
        () -> {
          if (life == lives) {
            content.step(step, meter.running()).forEach(coordinator::handle);
          }
        });
  }

  /** Publishes the newest version; a version that a newer one has overtaken is never published. */
  private void publish(long version) {
    newest = version;
    if (publishing) {
      return;
    }
    publishing = true;
    int life = lives;
    agenda.after(
        Agenda.micros(scenario.model().publication().copySeconds()),
        _ -> {
          if (life != lives) {
            return;
          }
          publishing = false;
          published = version;
          workers.forEach(this::fetch);
          if (newest > version) {
            publish(newest);
          }
        });
  }

  /** Brings the published weights to a worker. */
  private void fetch(SimulatedWorker worker) {
    if (published < 0) {
      return;
    }
    long version = published;
    WorkerId id = worker.id();
    double seconds =
        scenario.model().control().messageSeconds()
            + scenario.model().publication().fetchSeconds(scenario.shape().nodeOf(worker.index()));
    agenda.after(
        Agenda.micros(seconds),
        _ -> {
          if (worker.isAlive() && id.equals(worker.id())) {
            worker.load(new WeightVersion(version), loadSeconds(worker));
          }
        });
  }

  private double loadSeconds(SimulatedWorker worker) {
    double load = scenario.model().publication().loadSeconds();
    return scenario.shape().recomputes()
        ? load + worker.engine().context() * scenario.model().engine().prefillSecondsPerToken()
        : load;
  }

  private void fail(Fault fault) {
    long until = agenda.now() + Agenda.micros(fault.seconds());
    SimulatedWorker worker = workers.get(fault.target() % workers.size());
    SimulatedVerifiers pool = verifiers.get(fault.target() % verifiers.size());
    switch (fault.kind()) {
      case WORKER_DIES -> worker.die(Math.max(1, until - agenda.now()));
      case ENGINE_FAILS -> worker.breakEngine(until);
      case PARTITION -> worker.cut(until);
      case VERIFIERS_STALL -> pool.stall(until);
      case VERIFIERS_AWAY -> pool.leave(until);
      case DISK_STALLS -> coordinator.stallDisk(until);
      case COORDINATOR_DIES -> die(until);
      case WORKER_SLOWS -> {
        worker.slow(10);
        agenda.at(until, _ -> worker.slow(1), 0);
      }
    }
  }

  /** Ends the coordinator with its trainer; its workers end, and start again for the next one. */
  private void die(long until) {
    if (lives % 2 == 1) {
      return; // It is dead already.
    }
    lives++;
    coordinator.die();
    trainer.clear();
    publishing = false;
    published = -1;
    newest = -1;
    workers.forEach(SimulatedWorker::end);
    byName.clear();
    agenda.at(
        until,
        _ -> {
          lives++;
          coordinator.resume();
          workers.forEach(SimulatedWorker::end); // Some may have started in vain.
          workers.forEach(worker -> worker.restart(1));
        },
        0);
  }

  private SimulationResult result() {
    double seconds = Math.max(1e-6, Agenda.seconds(agenda.now()));
    double busy = 0;
    double rowSeconds = 0;
    double tokens = 0;
    for (SimulatedWorker worker : workers) {
      busy += Agenda.seconds(worker.engine().busyMicros());
      rowSeconds += worker.engine().rowSeconds();
      tokens += worker.engine().tokens();
    }
    double judging = 0;
    double judges = 0;
    for (SimulatedVerifiers pool : verifiers) {
      judging += Agenda.seconds(pool.busyMicros());
      judges += pool.servers();
    }
    ClusterShape shape = scenario.shape();
    return new SimulationResult(
        coordinator.state(),
        coordinator.audit(),
        seconds,
        coordinator.records(),
        new SimulationResult.Pace(
            meter.steps(),
            meter.stepsPerSecond(),
            tokens / seconds,
            meter.trainedTokens() / seconds,
            meter.lastStepSeconds()),
        new SimulationResult.Staleness(
            meter.stalenessMean(), meter.stalenessShares(), meter.maskedShare()),
        new SimulationResult.Utilisation(
            Math.min(1, Agenda.seconds(trainer.busyMicros()) / seconds),
            busy / seconds / shape.workers(),
            rowSeconds / seconds / shape.workers() / shape.rows(),
            Math.min(1, judging / seconds / judges),
            meter.bufferedMean(),
            meter.leasedMean(),
            meter.boundShares()));
  }
}
