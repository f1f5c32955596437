package io.troupe.store.journal;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Uninterrupted;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.WriterFence;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.JournalRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Gives a {@link Journal} a thread of its own and commits in groups: appends that arrive while one
 * is being written or fsynced share the next write and the next fsync.
 *
 * <p>Appends are written, and acknowledged, in the order in which they were accepted. An
 * acknowledged append is in the journal; one whose stage failed may be, in part or whole, and is
 * never followed by another one's records. Dependents of a stage run on the writer's thread: they
 * must not block.
 */
public final class JournalWriter implements AutoCloseable {
  /** A group is written when it has reached this size, so that memory stays bounded. */
  private static final int GROUP_BYTES = 4 << 20;

  private sealed interface Request {}

  private record Append(
      List<byte[]> records, Durability durability, CompletableFuture<JournalPosition> written)
      implements Request {
    int bytes() {
      return records.stream().mapToInt(RecordFrame::bytes).sum();
    }
  }

  private record Stop() implements Request {}

  private record Committed(Append append, JournalPosition position) {}

  private final Journal journal;
  private final int capacity;
  private final BlockingQueue<Request> queue;
  private final Thread thread;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private boolean accepting = true;

  private JournalWriter(Journal journal, int capacity) {
    this.journal = journal;
    this.capacity = capacity;
    // The queue has one place more than appends may take, so that the stop always fits.
    this.queue = new ArrayBlockingQueue<>(capacity + 1);
    this.thread = Thread.ofPlatform().name("journal-writer").daemon().unstarted(this::run);
  }

  /**
   * Starts the thread of an open journal, which belongs to the writer from now on.
   *
   * @param queueCapacity appends that may wait
   */
  public static JournalWriter start(Journal journal, int queueCapacity) {
    require(queueCapacity >= 1, "journal.queue_capacity is 1 or greater, not %d", queueCapacity);
    JournalWriter writer = new JournalWriter(journal, queueCapacity);
    writer.thread.start();
    return writer;
  }

  /** {@link #append(List, Durability)} that survives the end of this process. */
  public CompletionStage<JournalPosition> append(List<byte[]> records) {
    return append(records, Durability.WRITTEN);
  }

  /**
   * Appends records without blocking the caller.
   *
   * @param records at least one, each at most {@link JournalRecord#MAX_PAYLOAD_BYTES}; handed over
   * @return the place behind the last record, as soon as all are as durable as asked for. It fails
   *     with {@link JournalException.Busy} when the queue is full (nothing was written; try again),
   *     {@link JournalException.Fenced} when another writer has taken over, {@link
   *     io.troupe.store.file.DiskFailureException} when the disk refused, and from then on, and
   *     after {@link #close}, {@link JournalException.Unusable}
   */
  public CompletionStage<JournalPosition> append(List<byte[]> records, Durability durability) {
    require(!records.isEmpty(), "an append holds at least one record");
    for (byte[] record : records) {
      require(
          record.length <= JournalRecord.MAX_PAYLOAD_BYTES,
          "a journal record holds at most %d bytes, not %d",
          JournalRecord.MAX_PAYLOAD_BYTES,
          record.length);
    }
    Append append = new Append(List.copyOf(records), durability, new CompletableFuture<>());
    accept(append);
    return append.written().minimalCompletionStage();
  }

  /** Whether another writer has opened the journal since; may be asked by any thread. */
  public WriterFence fence() {
    return journal.fence();
  }

  private synchronized void accept(Append append) {
    if (!accepting) {
      append
          .written()
          .completeExceptionally(
              new JournalException.Unusable("the journal takes no more records: it is closed"));
    } else if (queue.size() >= capacity || !queue.offer(append)) {
      append
          .written()
          .completeExceptionally(
              new JournalException.Busy(
                  ("the journal's queue is full (%d appends wait for the disk); nothing was"
                          + " written, try again when an earlier append is acknowledged")
                      .formatted(capacity)));
    }
  }

  /**
   * Writes what was accepted, fsyncs, closes the journal, and waits for all that.
   *
   * @throws IOException if the last fsync failed
   */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      if (accepting) {
        accepting = false;
        queue.add(new Stop());
      }
    }
    Uninterrupted.join(thread); // It writes the last records.
    if (closed.isCompletedExceptionally() && closed.exceptionNow() instanceof IOException failure) {
      throw failure;
    }
  }

  private void run() {
    boolean stopping = false;
    while (!stopping) {
      List<Append> group = new ArrayList<>();
      stopping = takeGroup(group);
      if (!group.isEmpty()) {
        commit(group);
      }
    }
    try {
      journal.close();
      closed.complete(null);
    } catch (IOException failure) {
      closed.completeExceptionally(failure);
    }
  }

  /** Waits for one append and takes those behind it; true when the stop was among them. */
  private boolean takeGroup(List<Append> group) {
    int bytes = 0;
    Request next = take();
    while (true) {
      switch (next) {
        case Stop() -> {
          return true;
        }
        case Append append -> {
          group.add(append);
          bytes += append.bytes();
        }
      }
      if (bytes >= GROUP_BYTES || queue.isEmpty()) {
        return false;
      }
      next = take();
    }
  }

  private Request take() {
    while (true) {
      try {
        return queue.take();
      } catch (InterruptedException ignored) {
        // No caller interrupts; an interrupt would close the file in the middle of a write.
      }
    }
  }

  /** Returns the end of each append of a group, all of them being in one segment. */
  private static List<Committed> places(List<Append> group, JournalPosition end) {
    List<Committed> places = new ArrayList<>();
    JournalPosition place = end;
    for (Append append : group.reversed()) {
      places.add(new Committed(append, place));
      place =
          new JournalPosition(
              place.segment(),
              place.offset() - append.bytes(),
              place.sequence() - append.records().size(),
              place.epoch());
    }
    return places.reversed();
  }

  private void commit(List<Append> group) {
    try {
      List<byte[]> records = new ArrayList<>();
      group.forEach(append -> records.addAll(append.records()));
      journal.append(records);
      List<Committed> committed = places(group, journal.position());
      boolean sync = false;
      for (Committed one : committed) {
        if (one.append().durability() == Durability.SYNCED) {
          sync = true;
        } else {
          one.append().written().complete(one.position());
        }
      }
      if (sync) {
        journal.sync();
        committed.forEach(one -> one.append().written().complete(one.position()));
      }
    } catch (IOException | RuntimeException | Error failure) {
      // Appends that are acknowledged already are not affected: a second completion does nothing.
      group.forEach(append -> append.written().completeExceptionally(failure));
    }
  }
}
