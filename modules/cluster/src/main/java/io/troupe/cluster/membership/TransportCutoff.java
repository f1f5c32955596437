package io.troupe.cluster.membership;

import akka.Done;
import akka.actor.AbstractExtensionId;
import akka.actor.ActorRef;
import akka.actor.CoordinatedShutdown;
import akka.actor.ExtendedActorSystem;
import akka.actor.Extension;
import akka.actor.ExtensionIdProvider;
import akka.actor.PoisonPill;
import akka.io.Tcp;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits how long an actor system that terminates waits for its peers. Akka loads it by the name in
 * troupe-cluster.conf.
 *
 * <p>Remoting closes each connection and waits without a limit until the peer has closed it too. A
 * peer behind a cut cable or in a stopped process does not, and the operating system repeats the
 * last packet for 15 minutes and more (Akka issue 30326). A node that was cut off could not join
 * again for as long.
 */
public final class TransportCutoff extends AbstractExtensionId<TransportCutoff.Watch>
    implements ExtensionIdProvider {
  private static final Logger LOG = LoggerFactory.getLogger(TransportCutoff.class);

  /** The extension; it has no operations. */
  public static final class Watch implements Extension {
    private Watch() {}
  }

  @Override
  public TransportCutoff lookup() {
    return this;
  }

  @Override
  public Watch createExtension(ExtendedActorSystem system) {
    Duration patience = system.settings().config().getDuration("troupe.transport-cutoff-patience");
    CoordinatedShutdown.get(system)
        .addTask(
            CoordinatedShutdown.PhaseBeforeActorSystemTerminate(),
            "cut-connections-later",
            () -> cutLater(system, patience));
    return new Watch();
  }

  private static CompletionStage<Done> cutLater(ExtendedActorSystem system, Duration patience) {
    system.scheduler().scheduleOnce(patience, () -> cut(system, patience), system.dispatcher());
    return CompletableFuture.completedFuture(Done.getInstance());
  }

  /** Runs only if the system has not terminated by then, because its scheduler ends with it. */
  private static void cut(ExtendedActorSystem system, Duration patience) {
    LOG.warn(
        "event=connections_cut reason=\"this process ends, and after {} ms a peer has not closed"
            + " its connection\"",
        patience.toMillis());
    Tcp.get(system).manager().tell(PoisonPill.getInstance(), ActorRef.noSender());
  }
}
