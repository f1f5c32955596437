package io.troupe.console.chat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A policy that says what the test puts in. */
public final class StagedChat implements Chat {
  public final BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
  public final AtomicInteger asked = new AtomicInteger();
  public final CountDownLatch closed = new CountDownLatch(1);
  public volatile Begin begin = new Begun(new Staged());

  private final class Staged implements Sampling {
    @Override
    public List<Piece> next(Duration patience) throws InterruptedException {
      Piece next = pieces.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
      return next == null ? List.of() : List.of(next);
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  @Override
  public Offer offer() {
    return new Open(16, false, 1, 3, 15, "1+1=");
  }

  @Override
  public Begin begin(ChatRequest ask) {
    asked.incrementAndGet();
    return begin;
  }
}
