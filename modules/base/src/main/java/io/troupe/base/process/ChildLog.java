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
 * The log of a child process: what it prints, in files of bounded size.
 *
 * <p>The child writes into a pipe. One thread reads it until the child has closed it, whatever
 * becomes of the log, so that the child is neither held up nor killed by a pipe that nobody reads;
 * another thread writes the files. Between them is a buffer. Where the disk takes nothing for
 * {@link #PATIENCE}, or refuses, output is dropped, and the log says how much once it can be
 * written again.
 */
public final class ChildLog {
  /** Of each file, which is also read by people. */
  private static final long FILE_BYTES = 16L << 20;

  private static final int FILES = 4;

  /** Most that a child's log takes on the disk, in bytes. */
  public static final long MOST_BYTES = FILES * FILE_BYTES;

  private static final int BUFFER_BYTES = 4 << 20;
  private static final int READ_BYTES = 1 << 16;
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final InputStream output;
  private final Sink sink;
  private final Lock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private final Condition room = lock.newCondition();
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
  private final CompletableFuture<Long> ended = new CompletableFuture<>();
  private boolean over; // guarded by lock, as are those below

  /** Everything is dropped until the buffer is taken, so that it is missing in one place. */
  private boolean stalled;

  private long dropped;

  /** Where output goes. */
  interface Sink extends AutoCloseable {
    /** Adds bytes, or some of them if it fails. */
    void write(byte[] bytes) throws IOException;

    @Override
    void close() throws IOException;
  }

  private ChildLog(InputStream output, Sink sink) {
    this.output = output;
    this.sink = sink;
  }

  /**
   * Logs a process that was started with its output, and its errors with that, as a pipe.
   *
   * @param file that it is added to; older ones are beside it, as {@code NAME.1} and so on
   */
  public static ChildLog of(Process process, Path file) {
    RotatedFile log = new RotatedFile(file, new RotatedFile.Bounds(FILE_BYTES, FILES));
    try {
      log.write(new byte[0]); // Who prints nothing has an empty log.
    } catch (IOException refused) {
      // It is tried again with the first output.
    }
    return of(process.getInputStream(), log, String.valueOf(file.getFileName()));
  }

  static ChildLog of(InputStream output, Sink sink, String name) {
    ChildLog log = new ChildLog(output, sink);
    var _ = Thread.ofPlatform().daemon().name("output-" + name).start(log::read);
    var _ = Thread.ofPlatform().daemon().name("log-" + name).start(log::write);
    return log;
  }

  /** Once nobody can print any more and all is written: the bytes that were dropped at the end. */
  public CompletionStage<Long> ended() {
    return ended.minimalCompletionStage();
  }

  /** Waits for {@link #ended}, which descendants of a child that has ended may put off. */
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
      try {
        readAll(chunk);
      } catch (IOException closedAtExit) {
        readAll(chunk); // What the JDK has drained of it at the exit.
      }
    } catch (IOException closed) {
      // It is the end, too.
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

  private void readAll(byte[] chunk) throws IOException {
    for (int read = output.read(chunk); read >= 0; read = output.read(chunk)) {
      offer(chunk, read);
    }
  }

  private void offer(byte[] chunk, int length) {
    lock.lock();
    try {
      long patience = PATIENCE.toNanos();
      while (!stalled && buffer.size() + length > BUFFER_BYTES) {
        stalled = patience <= 0;
        patience = room.awaitNanos(patience);
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
      // All that could be written is.
    } finally {
      lock.lock();
      try {
        ended.complete(dropped);
      } finally {
        lock.unlock();
      }
    }
  }

  /** What was lost came after the bytes, which had filled the buffer by then. */
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
