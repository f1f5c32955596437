package io.troupe.cluster.split;

import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.cluster.DowningProvider;
import io.troupe.store.folder.RunLease;
import java.time.Duration;
import java.util.Optional;
import scala.Option;
import scala.concurrent.duration.FiniteDuration;

/** Tells the cluster to let {@link SplitBrainResolver} decide; named in the configuration. */
public final class SplitBrainDowningProvider extends DowningProvider {
  private final Duration stableAfter;
  private final Duration leasePatience;
  private final Duration noCoordinatorPatience;
  private final Optional<RunLease> lease;

  /** Called by the cluster. */
  public SplitBrainDowningProvider(ActorSystem system) {
    this.stableAfter = system.settings().config().getDuration("troupe.split.stable-after");
    this.leasePatience = system.settings().config().getDuration("troupe.split.lease-patience");
    this.noCoordinatorPatience =
        system.settings().config().getDuration("troupe.split.headless-patience");
    this.lease = system.settings().setup().get(LeaseSetup.class).map(LeaseSetup::lease);
  }

  /** A new head needs no pause: it holds the lease. */
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
