package io.troupe.engine.http.fleet;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.http.replica.WeightSyncLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the replicas of a fleet fit for work: starts the weight sync loop and the load monitor of
 * each replica, and turns their results into the fleet's next actions.
 */
final class FleetMaintenance implements WeightSyncLoop.SyncListener, LoadMonitor.LoadListener {
  private static final Logger LOG = LoggerFactory.getLogger(FleetMaintenance.class);

  private final FleetState state;
  private final ServerWeightFolder weightFolder;
  private final ServerSupervisor supervisor;
  private final RequestDispatcher dispatch;
  private final CompletableFuture<Boolean> serves;

  /**
   * Maintenance of the replicas in a fleet's state.
   *
   * @param serves completes once a replica samples
   */
  FleetMaintenance(
      FleetState state,
      ServerWeightFolder weightFolder,
      ServerSupervisor supervisor,
      RequestDispatcher dispatch,
      CompletableFuture<Boolean> serves) {
    this.state = state;
    this.weightFolder = weightFolder;
    this.supervisor = supervisor;
    this.dispatch = dispatch;
    this.serves = serves;
  }

  /** Maintains a replica until it leaves the fleet. */
  void begin(Replica replica) {
    var _ =
        Thread.ofVirtual()
            .name("weight-sync-" + replica.name())
            .start(new WeightSyncLoop(replica, this));
    var _ = Thread.ofVirtual().name("load-" + replica.name()).start(new LoadMonitor(replica, this));
  }

  /** Returns the restarter of a server for new weights, if the server may be restarted. */
  Optional<Replica.Restarter> restarter(String server) {
    return supervisor.restartsForWeights(server)
        ? Optional.of(weights -> restart(server, weights))
        : Optional.empty();
  }

  private boolean restart(String server, Path weights) throws InterruptedException {
    long begun = System.nanoTime();
    boolean serves = supervisor.restart(server, weights);
    Duration pause = Duration.ofNanos(System.nanoTime() - begun);
    LOG.info("server={} restarted_with={} pause_ms={}", server, weights, pause.toMillis());
    state
        .restarted(pause)
        .ifPresent(
            step ->
                LOG.warn(
                    "server={} takes pause_ms={} to restart, and there are new weights every"
                        + " step_ms={}: take a server that reads weights while it runs, or raise"
                        + " training.groups_per_step",
                    server,
                    pause.toMillis(),
                    step.toMillis()));
    return serves;
  }

  @Override
  public Optional<WeightSyncLoop.TargetWeightSet> awaitTarget(Replica replica)
      throws InterruptedException {
    return state.awaitTarget(replica);
  }

  @Override
  public boolean rest(Replica replica, Duration pause) throws InterruptedException {
    return state.rest(replica, pause);
  }

  @Override
  public void busyForOthers(Replica replica, int requests) {
    state.busyForOthers(replica, requests);
  }

  @Override
  public void hold(WeightSyncLoop.TargetWeightSet goal) {
    weightFolder.hold(goal.directory());
  }

  @Override
  public void release(WeightSyncLoop.TargetWeightSet goal) {
    try {
      weightFolder.release(goal.directory());
    } catch (IOException stays) {
      LOG.warn("weights={} are left behind: {}", goal.directory(), stays.getMessage());
    }
  }

  @Override
  public void updated(Replica replica, WeightSyncLoop.TargetWeightSet goal) {
    Optional<List<CompletableFuture<WeightVersion>>> waited = state.updated(replica, goal);
    if (waited.isEmpty()) {
      LOG.info("server={} weights={} doubted=true", replica.name(), goal.tag());
      return;
    }
    LOG.debug("server={} weights={}", replica.name(), goal.tag());
    waited.get().forEach(load -> load.complete(goal.tag().version()));
    serves.complete(true);
    dispatch.assign();
  }

  @Override
  public void weightsInvalidated(Replica replica) {
    LOG.info("server={} doubted=true lost_adapters=true", replica.name());
    state.invalidateWeights(replica);
  }

  @Override
  public void updateFailed(
      Replica replica, WeightSyncLoop.TargetWeightSet goal, boolean broken, String reason) {
    if (!state.updateFailed(replica)) {
      return; // another sampler may use the server by now
    }
    LOG.warn(
        "server={} {} weights={} reason={}",
        replica.name(),
        broken ? "quarantined" : "unmoved",
        goal.tag(),
        reason);
    if (broken) {
      supervisor.restartNeeded(replica.name());
    }
  }
}
