package io.troupe.sim.engine;

import io.troupe.core.outage.Backoff;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.model.Scenario;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A place with a rollout worker: it asks for groups, decodes them, has them judged and delivers
 * them, as the real one does. When its process dies, another worker with another name takes the
 * place.
 */
final class SimulatedWorker {
  private static final Backoff BACKOFF = new Backoff(1_000, 30_000);
  private static final int MOST_SAMPLE_FAILURES = 8;
  private static final double DETECTION_SECONDS = 20;
  private static final long MICROS_OF_MILLI = 1_000;

  /** The surroundings of a worker. */
  record Surroundings(
      Agenda agenda,
      Scenario scenario,
      RunContent content,
      SimulatedVerifiers verifiers,
      Consumer<Input> coordinator) {}

  private final Surroundings world;
  private final int index;
  private final String place;
  private final SimulatedEngine engine;
  private final Map<LeaseId, ActiveGroup> groups = new HashMap<>();
  private final List<Deferred> deferred = new ArrayList<>();
  private final List<Input> held = new ArrayList<>();
  private final List<Runnable> delayed = new ArrayList<>();
  private WorkerId id;
  private int life;
  private boolean alive;
  private boolean lostToCoordinator;
  private long asked;
  private long loaded = -1;
  private long brokenUntil;
  private long cutUntil;
  private int failures;

  private record Deferred(WeightVersion atLeast, List<ActiveGroup> groups) {}

  SimulatedWorker(Surroundings world, int index, SimulatedEngine.Parts parts) {
    this.world = world;
    this.index = index;
    this.place = String.format(Locale.ROOT, "sim-%05d", index);
    this.engine = new SimulatedEngine(parts, this::onSampled);
    this.id = name();
  }

  int index() {
    return index;
  }

  WorkerId id() {
    return id;
  }

  SimulatedEngine engine() {
    return engine;
  }

  private WorkerId name() {
    return WorkerId.at(place, String.format(Locale.ROOT, "%08x", life));
  }

  /** Starts, and asks for as many groups as it takes at a time. */
  void start() {
    alive = true;
    lostToCoordinator = false;
    life++;
    id = name();
    asked = world.scenario().shape().groupsPerRequest();
    loaded = -1;
    failures = 0;
    tell(new Input.DemandRaised(id, asked));
  }

  boolean isAlive() {
    return alive;
  }

  /** Weights have come. */
  void load(WeightVersion version, double seconds) {
    if (!alive || version.number() <= loaded) {
      return;
    }
    loaded = version.number();
    engine.load(version, seconds);
    List<Deferred> waiting = List.copyOf(deferred);
    deferred.clear();
    waiting.forEach(each -> produce(each.atLeast(), each.groups()));
  }

  /** Leases have come. */
  void grant(WorkerId to, WeightVersion atLeast, List<Effect.Grant> grants) {
    if (!alive || !to.equals(id)) {
      return;
    }
    if (isCut()) {
      delayed.add(() -> grant(to, atLeast, grants));
      return;
    }
    List<ActiveGroup> begun = new ArrayList<>(grants.size());
    for (Effect.Grant grant : grants) {
      ActiveGroup group = new ActiveGroup(grant.lease(), world.content().group(grant));
      groups.put(grant.lease(), group);
      begun.add(group);
    }
    produce(atLeast, begun);
  }

  private void produce(WeightVersion atLeast, List<ActiveGroup> begun) {
    if (world.agenda().now() < brokenUntil) {
      begun.forEach(this::onEngineFailed);
    } else if (loaded >= atLeast.number()) {
      engine.sample(begun);
    } else {
      deferred.add(new Deferred(atLeast, begun));
    }
  }

  /** A request fails: it says so, and asks for another group after a pause. */
  private void onEngineFailed(ActiveGroup group) {
    groups.remove(group.lease());
    failures++;
    tell(new Input.GroupFailed(group.lease(), new LeaseFailure.OfEngine("simulated failure")));
    if (failures >= MOST_SAMPLE_FAILURES) {
      die(Agenda.micros(world.scenario().model().engine().startSeconds()) + 1);
      return;
    }
    WorkerId asker = id;
    world
        .agenda()
        .after(
            BACKOFF.pauseMillis(failures) * MICROS_OF_MILLI,
            _ -> {
              if (asker.equals(id) && alive) {
                askForOneMore();
              }
            });
  }

  void cancel(LeaseId lease) {
    ActiveGroup group = groups.remove(lease);
    if (group == null || !alive) {
      return;
    }
    deferred.replaceAll(
        each ->
            new Deferred(
                each.atLeast(), each.groups().stream().filter(one -> one != group).toList()));
    if (engine.cancel(lease) || loaded < 0) {
      tell(new Input.GroupFailed(lease, new LeaseFailure.OfEngine("cancelled")));
      askForOneMore();
    }
  }

  private void askForOneMore() {
    asked++;
    tell(new Input.DemandRaised(id, asked));
  }

  private void onSampled(ActiveGroup group) {
    failures = 0;
    tell(new Input.GroupSampled(group.lease()));
    askForOneMore();
    verify(group, 0);
  }

  private void verify(ActiveGroup group, int refusals) {
    SimulatedVerifiers verifiers = world.verifiers();
    Agenda agenda = world.agenda();
    int owner = life;
    if (verifiers.isAway(agenda.now())) {
      tell(new Input.VerifierAway(group.lease(), "simulated outage"));
      agenda.after(
          BACKOFF.pauseMillis(refusals + 1) * MICROS_OF_MILLI,
          _ -> {
            if (owns(owner, group)) {
              verify(group, refusals + 1);
            }
          });
      return;
    }
    long done = verifiers.finish(agenda.now(), group.lease().group().number(), group.completions());
    agenda.at(
        done,
        _ -> {
          if (owns(owner, group)) {
            groups.remove(group.lease());
            tell(group.judged());
          }
        },
        0);
  }

  private boolean owns(int owner, ActiveGroup group) {
    return alive && owner == life && groups.get(group.lease()) == group;
  }

  // --- faults ---

  /**
   * Kills the worker's process, which the coordinator hears behind what the worker said before;
   * another starts after a time.
   */
  void die(long restartMicros) {
    if (!alive) {
      return;
    }
    end();
    send(new Input.WorkerLost(id));
    restart(restartMicros);
  }

  /** Ends the worker's process with the coordinator's, and starts it again. */
  void end() {
    alive = false;
    engine.clear();
    groups.clear();
    deferred.clear();
    held.clear();
    delayed.clear();
    cutUntil = 0;
  }

  void restart(long micros) {
    int dead = life;
    world
        .agenda()
        .after(
            micros,
            _ -> {
              if (!alive && life == dead) {
                start();
              }
            });
  }

  /** Makes the worker's engine fail every request until a time, the open ones first. */
  void breakEngine(long until) {
    if (alive) {
      brokenUntil = Math.max(brokenUntil, until);
      engine.clear();
      for (ActiveGroup group : List.copyOf(groups.values())) {
        if (alive && groups.containsKey(group.lease())) {
          onEngineFailed(group);
        }
      }
    }
  }

  /** Cuts the worker off until a time; the worker continues its work. */
  void cut(long until) {
    if (!alive) {
      return;
    }
    Agenda agenda = world.agenda();
    cutUntil = Math.max(cutUntil, until);
    WorkerId lost = id;
    if (until - agenda.now() > Agenda.micros(DETECTION_SECONDS)) {
      agenda.after(
          Agenda.micros(DETECTION_SECONDS),
          _ -> {
            if (lost.equals(id) && alive && isCut()) {
              lostToCoordinator = true;
              world.coordinator().accept(new Input.WorkerLost(lost));
            }
          });
    }
    agenda.at(
        until,
        _ -> {
          if (lost.equals(id) && alive) {
            reconnect();
          }
        },
        0);
  }

  /**
   * Late answers and leases arrive, as over a connection that repeats; a worker that was given up
   * ends, and another one takes its place.
   */
  private void reconnect() {
    if (isCut()) {
      return; // A later fault has cut it off again.
    }
    held.forEach(world.coordinator());
    held.clear();
    if (lostToCoordinator) {
      end();
      // A late request has made this worker known again.
      world.coordinator().accept(new Input.WorkerLost(id));
      restart(Agenda.micros(world.scenario().model().engine().startSeconds()) + 1);
      return;
    }
    List<Runnable> arrived = List.copyOf(delayed);
    delayed.clear();
    arrived.forEach(Runnable::run);
  }

  void slow(double factor) {
    engine.degrade(factor);
  }

  boolean isCut() {
    return world.agenda().now() < cutUntil;
  }

  private void tell(Input input) {
    if (isCut()) {
      held.add(input);
    } else {
      send(input);
    }
  }

  private void send(Input input) {
    long delay = Agenda.micros(world.scenario().model().control().messageSeconds());
    world.agenda().after(delay, _ -> world.coordinator().accept(input));
  }
}
