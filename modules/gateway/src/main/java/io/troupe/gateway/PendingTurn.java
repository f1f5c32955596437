package io.troupe.gateway;

import io.troupe.base.failure.Causes;
import io.troupe.gateway.dialog.TurnReply;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A turn that is asked for, until its answer has left to the last byte. A client's retry is
 * answered with the same turn only if something proves that it is one: the client says so, or its
 * connection broke before all was sent.
 */
final class PendingTurn {
  /** Whether the agent has the answer. */
  private enum Delivery {
    OPEN,
    DELIVERED,
    LOST
  }

  private final CompletableFuture<TurnReply> reply = new CompletableFuture<>();
  private final AtomicReference<Delivery> delivery = new AtomicReference<>(Delivery.OPEN);

  CompletableFuture<TurnReply> reply() {
    return reply;
  }

  /** Waits for the answer; see {@link TurnExchange.AwaitedReply}. */
  Optional<TurnReply> within(Duration patience) throws InterruptedException, RefusedTurnException {
    try {
      return Optional.of(reply.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException slow) {
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (Causes.root(failed) instanceof RefusedTurnException refused) {
        throw refused;
      }
      throw new IllegalStateException(failed);
    }
  }

  /** All of the answer was sent. */
  void delivered() {
    delivery.set(Delivery.DELIVERED);
  }

  /** The connection broke before that. */
  void lost() {
    delivery.compareAndSet(Delivery.OPEN, Delivery.LOST);
  }

  boolean isLost() {
    return delivery.get() == Delivery.LOST;
  }
}
