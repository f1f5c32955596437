package io.troupe.cluster.membership;

import akka.actor.typed.ActorRef;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import java.util.Set;
import java.util.function.Function;

/**
 * Subscribes an actor to a service: at each change the receptionist sends all actors of the
 * service.
 */
public final class ServiceSubscription {
  private ServiceSubscription() {}

  /**
   * Subscribes an actor to a service.
   *
   * @param found the actor's message with the actors of the service
   */
  public static <C, S> void start(
      ActorContext<C> context, ServiceKey<S> service, Function<Set<ActorRef<S>>, C> found) {
    ActorRef<Receptionist.Listing> listings =
        context.messageAdapter(
            Receptionist.Listing.class,
            listing -> found.apply(listing.getServiceInstances(service)));
    context.getSystem().receptionist().tell(Receptionist.subscribe(service, listings));
  }
}
