package io.troupe.base.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The log of a child process: its output, in files of bounded size.
 *
 * <p>The child writes into a pipe. One thread reads the pipe until the child closes it, even if the
 * log cannot be written, so that a full pipe never blocks or kills the child; another thread writes
 * the files. Between the threads is a buffer. If the disk writes nothing for {@link #MAX_STALL}, or
 * fails, output is dropped, and the log reports the number of dropped bytes once it can be written
 * again.
 */
public final class ChildLog {
  /** The size of each file, small enough for people to read. */
  private static final long FILE_BYTES = 16L << 20;

  private static final int FILES = 4;

  /** The most bytes that the log of a child takes on the disk. */
  public static final long MOST_BYTES = FILES * FILE_BYTES;

  private static final int BUFFER_BYTES = 4 << 20;
  private static final int READ_BYTES = 1 << 16;
  private static final Duration MAX_STALL = Duration.ofSeconds(1);

  private final InputStream output;
  private final Sink sink;
  private final Lock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition room = lock.newCondition();
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
  private final CompletableFuture<Long> ended = new CompletableFuture<>();
  private boolean over; // guarded by lock, like the fields below

  /**
   * Whether all output is dropped until the buffer is written, so that the gap in the log is in one
   * place.
   */
  private boolean stalled;

  private long dropped;

  /** The destination of the output. */
  interface Sink extends AutoCloseable {
    /** Appends bytes; after a failure some of them may be written. */
    void write(byte[] bytes) throws IOException;

    @Override
    void close() throws IOException;
  }

  private ChildLog(InputStream output, Sink sink) {
    this.output = output;
    this.sink = sink;
  }

  /**
   * Logs a group of processes.
   *
   * @param file to which output is appended; older files are beside it, as {@code NAME.1} and so on
   */
  public static ChildLog of(ProcessGroup child, Path file) {
    RotatedFile log = new RotatedFile(file, new RotatedFile.Bounds(FILE_BYTES, FILES));
    try {
      log.write(new byte[0]); // A child that prints nothing has an empty log.
    } catch (IOException refused) {
      // The first output tries again.
    }
    return of(child.output(), log, String.valueOf(file.getFileName()));
  }

  static ChildLog of(InputStream output, Sink sink, String name) {
    ChildLog log = new ChildLog(output, sink);
    var _ = Thread.ofPlatform().daemon().name("output-" + name).start(log::read);
    var _ = Thread.ofPlatform().daemon().name("log-" + name).start(log::write);
    return log;
  }

  /**
   * Completes when no process can print any more and all output is written, with the number of
   * bytes that were dropped at the end.
   */
  public CompletionStage<Long> ended() {
    return ended.minimalCompletionStage();
  }

  /** Waits for {@link #ended}, which running descendants of an ended child may delay. */
  public void awaitEnd(Duration longest) {
    var _ =
        ended
            .copy()
            .completeOnTimeout(0L, longest.toMillis(), TimeUnit.MILLISECONDS)
            .exceptionally(_ -> 0L)
            .join();
  }

  private void read() {
    byte[] chunk = new byte[READ_BYTES];
    try (output) {
      for (int read = output.read(chunk); read >= 0; read = output.read(chunk)) {
        offer(chunk, read);
      }
    } catch (IOException closed) {
      // A closed pipe is the end of the output, too.
    } finally {
      lock.lock();
      try {
        over = true;
        filled.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void offer(byte[] chunk, int length) {
    lock.lock();
    try {
      long remaining = MAX_STALL.toNanos();
      while (!stalled && buffer.size() + length > BUFFER_BYTES) {
        stalled = remaining <= 0;
        remaining = room.awaitNanos(remaining);
      }
      if (stalled) {
        dropped += length;
      } else {
        buffer.write(chunk, 0, length);
        filled.signalAll();
      }
    } catch (InterruptedException nobodys) {
      throw new IllegalStateException("a thread of its own is interrupted", nobodys);
    } finally {
      lock.unlock();
    }
  }

  private void write() {
    try (sink) {
      while (true) {
        byte[] bytes;
        long lost;
        lock.lock();
        try {
          while (buffer.size() == 0 && !over) {
            filled.await();
          }
          if (buffer.size() == 0) {
            return;
          }
          bytes = buffer.toByteArray();
          lost = dropped;
          buffer.reset();
          dropped = 0;
          stalled = false;
          room.signalAll();
        } finally {
          lock.unlock();
        }
        take(bytes, lost);
      }
    } catch (InterruptedException nobodys) {
      throw new IllegalStateException("a thread of its own is interrupted", nobodys);
    } catch (IOException unclosed) {
      // Everything that could be written is written.
    } finally {
      lock.lock();
      try {
        ended.complete(dropped);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Writes bytes and then the notice of the lost bytes, which came after them. */
  private void take(byte[] bytes, long lost) {
    try {
      sink.write(bytes);
      if (lost > 0) {
        sink.write(
            "\n[%d bytes of output are not in this log: the disk did not take them]\n"
                .formatted(lost)
                .getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException refused) {
      lock.lock();
      try {
        dropped += bytes.length + lost;
      } finally {
        lock.unlock();
      }
    }
  }
}
