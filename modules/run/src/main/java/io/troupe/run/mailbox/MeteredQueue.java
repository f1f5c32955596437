package io.troupe.run.mailbox;

import akka.actor.ActorRef;
import akka.dispatch.Envelope;
import akka.dispatch.MessageQueue;
import akka.dispatch.UnboundedMessageQueueSemantics;
import io.troupe.console.process.ActorRow;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A mailbox that knows what waits in it, for how long, and how long each type of message took.
 *
 * <p>A message is taken to be handled when the same thread comes back for the next one, or asks
 * whether there is one: a dispatcher does either right after the actor returns. So every actor is
 * measured without a line of code in it.
 */
final class MeteredQueue implements MessageQueue, UnboundedMessageQueueSemantics {
  private static final double RATE_SECONDS = 10;

  private record Waiting(Envelope envelope, long sinceNanos) {}

  private record Handling(Thread thread, MessageTimings meter, long waited, long sinceNanos) {}

  private final String path;
  private final Queue<Waiting> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger depth = new AtomicInteger();
  private final Map<Class<?>, MessageTimings> meters = new ConcurrentHashMap<>();
  private final AtomicLong handled = new AtomicLong();
  private final AtomicLong restarts = new AtomicLong();
  private volatile String lastError = "";
  private volatile @Nullable Handling handling;
  private long rateAtNanos = System.nanoTime();
  private long rateHandled;
  private double rate;

  MeteredQueue(String path) {
    this.path = path;
  }

  @Override
  public void enqueue(ActorRef receiver, Envelope envelope) {
    depth.incrementAndGet();
    queue.add(new Waiting(envelope, System.nanoTime()));
  }

  @Override
  @SuppressWarnings("NullAway") // Akka's contract: null when nothing waits
  public Envelope dequeue() {
    long now = System.nanoTime();
    finish(now);
    Waiting next = queue.poll();
    if (next == null) {
      return null;
    }
    depth.decrementAndGet();
    MessageTimings meter =
        meters.computeIfAbsent(next.envelope().message().getClass(), _ -> new MessageTimings());
    handling = new Handling(Thread.currentThread(), meter, now - next.sinceNanos(), now);
    return next.envelope();
  }

  private void finish(long now) {
    Handling done = handling;
    if (done != null && done.thread().equals(Thread.currentThread())) {
      handling = null;
      done.meter().add(done.waited(), now - done.sinceNanos());
      handled.incrementAndGet();
    }
  }

  @Override
  public int numberOfMessages() {
    return depth.get();
  }

  @Override
  public boolean hasMessages() {
    if (handling != null) {
      finish(System.nanoTime());
    }
    return !queue.isEmpty();
  }

  @Override
  public void cleanUp(ActorRef owner, MessageQueue deadLetters) {
    for (Waiting next = queue.poll(); next != null; next = queue.poll()) {
      deadLetters.enqueue(owner, next.envelope());
    }
    depth.set(0);
    MailboxMetrics.forget(this);
  }

  void failed(String error, boolean restarted) {
    lastError = error;
    if (restarted) {
      restarts.incrementAndGet();
    }
  }

  String path() {
    return path;
  }

  ActorRow row() {
    Waiting first = queue.peek();
    long now = System.nanoTime();
    Map<String, ActorRow.MessageRow> messages = new TreeMap<>();
    meters.forEach(
        (type, meter) ->
            messages.put(
                type.getSimpleName(),
                new ActorRow.MessageRow(
                    type.getSimpleName(),
                    meter.count(),
                    meter.handlingMicros(0.5),
                    meter.handlingMicros(0.99),
                    meter.waitMicros(0.99))));
    return new ActorRow(
        "",
        path,
        depth.get(),
        first == null ? 0 : (now - first.sinceNanos()) / 1_000_000,
        handled.get(),
        perSecond(now),
        restarts.get(),
        lastError,
        List.copyOf(messages.values()));
  }

  private synchronized double perSecond(long now) {
    double seconds = (now - rateAtNanos) / 1e9;
    if (seconds >= 1) {
      long newestHandled = handled.get();
      double newest = (newestHandled - rateHandled) / seconds;
      double weight = Math.min(1, seconds / RATE_SECONDS);
      rate = rate == 0 ? newest : rate + weight * (newest - rate);
      rateAtNanos = now;
      rateHandled = newestHandled;
    }
    return rate;
  }
}
