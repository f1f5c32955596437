package io.troupe.gateway;

import io.troupe.base.failure.Causes;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnStart;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

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

  private static final Duration GATHER = Duration.ofMillis(20);

  private final AtomicReference<TurnStart> start;
  private final CompletableFuture<TurnReply> reply = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private int[] tokens = new int[16]; // guarded by the lock
  private int count; // guarded by the lock
  private final AtomicReference<Delivery> delivery = new AtomicReference<>(Delivery.OPEN);

  /**
   * A turn.
   *
   * @param number of the request in its session
   */
  PendingTurn(int number) {
    this.start = new AtomicReference<>(TurnStart.now(number, 0));
  }

  /** The policy is asked with a prompt of this many tokens. */
  void begin(int promptTokens) {
    start.updateAndGet(
        known -> new TurnStart(known.number(), known.createdSeconds(), promptTokens));
  }

  TurnStart start() {
    return start.get();
  }

  /** Takes the answer. */
  void complete(TurnReply answer) {
    reply.complete(answer);
    signal();
  }

  /** The turn has no answer. */
  void fail(RefusedTurnException refused) {
    reply.completeExceptionally(refused);
    signal();
  }

  /** Takes a token that was sampled. */
  void add(int token) {
    lock.lock();
    try {
      if (count == tokens.length) {
        tokens = Arrays.copyOf(tokens, 2 * count);
      }
      tokens[count++] = token;
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void signal() {
    lock.lock();
    try {
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for more of the answer; see {@link TurnExchange.ReplySource}. */
  TurnExchange.Progress within(int from, Duration patience)
      throws InterruptedException, RefusedTurnException {
    int[] more;
    lock.lock();
    try {
      await(from, patience);
      if (count > from) {
        await(Integer.MAX_VALUE, GATHER);
      }
      more = Arrays.copyOfRange(tokens, Math.min(from, count), count);
    } finally {
      lock.unlock();
    }
    try {
      return new TurnExchange.Progress(more, Optional.ofNullable(reply.getNow(null)));
    } catch (CompletionException failed) {
      if (Causes.root(failed) instanceof RefusedTurnException refused) {
        throw refused;
      }
      throw failed;
    }
  }

  /** Waits for the token after this many tokens, or for the end of the turn. */
  private void await(int tokensBefore, Duration patience) throws InterruptedException {
    long left = patience.toNanos();
    while (left > 0 && count <= tokensBefore && !reply.isDone()) {
      left = news.awaitNanos(left);
    }
  }

  /** Notes that the whole answer was sent. */
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
