package io.troupe.cluster.split;

import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.cluster.DowningProvider;
import java.time.Duration;
import scala.Option;
import scala.concurrent.duration.FiniteDuration;

/** Tells the cluster to let {@link DowningActor} decide; named in the configuration. */
public final class Downing extends DowningProvider {
  private final Duration stableAfter;

  /** Called by the cluster. */
  public Downing(ActorSystem system) {
    this.stableAfter = system.settings().config().getDuration("troupe.split.stable-after");
  }

  /** A new head needs no pause: it waits for the journal's lock. */
  @Override
  public FiniteDuration downRemovalMargin() {
    return FiniteDuration.Zero();
  }

  @Override
  public Option<Props> downingActorProps() {
    return Option.apply(Props.create(DowningActor.class, () -> new DowningActor(stableAfter)));
  }
}
