package io.troupe.cluster.split;

import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.cluster.DowningProvider;
import io.troupe.store.folder.RunLease;
import java.time.Duration;
import java.util.Optional;
import scala.Option;
import scala.concurrent.duration.FiniteDuration;

/**
 * Makes Akka's cluster use {@link SplitBrainResolver}. Akka loads it by the name in
 * troupe-cluster.conf.
 */
public final class SplitBrainDowningProvider extends DowningProvider {
  private final Duration stableAfter;
  private final Duration leasePatience;
  private final Duration noCoordinatorPatience;
  private final Optional<RunLease> lease;

  /** Akka calls this by reflection. */
  public SplitBrainDowningProvider(ActorSystem system) {
    this.stableAfter = system.settings().config().getDuration("troupe.split.stable-after");
    this.leasePatience = system.settings().config().getDuration("troupe.split.lease-patience");
    this.noCoordinatorPatience =
        system.settings().config().getDuration("troupe.split.no-coordinator-patience");
    this.lease = system.settings().setup().get(LeaseSetup.class).map(LeaseSetup::lease);
  }

  /** A new coordinator needs no pause, because it holds the lease. */
  @Override
  public FiniteDuration downRemovalMargin() {
    return FiniteDuration.Zero();
  }

  @Override
  public Option<Props> downingActorProps() {
    return Option.apply(
        Props.create(
            SplitBrainResolver.class,
            () ->
                new SplitBrainResolver(stableAfter, leasePatience, noCoordinatorPatience, lease)));
  }
}
