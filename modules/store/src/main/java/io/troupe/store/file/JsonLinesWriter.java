package io.troupe.store.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.core.trace.LineBacklog;
import io.troupe.core.trace.LineBacklog.Accepted;
import io.troupe.core.trace.LineBacklog.Kind;
import io.troupe.core.trace.LineBacklog.Refused;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Gives files of {@link JsonLinesFile} a thread of their own, so that a disk that stalls delays no
 * caller. Lines wait in bounded memory; those that do not fit are refused and counted, and once the
 * disk answers again, writing continues.
 *
 * <p>Safe for use by several threads. No call but {@link #close} waits for the disk.
 */
public final class JsonLinesWriter {
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Waiting(JsonLinesFile file, byte[] line) {}

  private final List<JsonLinesFile> files;
  private final Queue<Waiting> queue = new ArrayDeque<>();
  private final Thread thread;
  private LineBacklog backlog;
  private Consumer<LineBacklog> watcher = _ -> {};
  private boolean closing;

  private JsonLinesWriter(List<JsonLinesFile> files, LineBacklog.Limits limits) {
    this.files = List.copyOf(files);
    this.backlog = LineBacklog.empty(limits);
    this.thread = Thread.ofPlatform().name("trace-writer").daemon().unstarted(this::run);
  }

  /** Starts the thread of open files, which belong to the writer from now on. */
  public static JsonLinesWriter start(List<JsonLinesFile> files, LineBacklog.Limits limits) {
    JsonLinesWriter writer = new JsonLinesWriter(files, limits);
    writer.thread.start();
    return writer;
  }

  /**
   * Names who hears of each refused line, and of the end of the refusals. It is called under the
   * writer's lock, by any thread, and must be quick.
   */
  public synchronized void watch(Consumer<LineBacklog> watcher) {
    this.watcher = watcher;
  }

  /**
   * Has an object appended to a file as one line.
   *
   * @return whether there was room for it
   */
  public boolean write(JsonLinesFile file, Kind kind, Object object) {
    byte[] line;
    try {
      line = JsonLinesFile.encode(object);
    } catch (JsonProcessingException unwritable) {
      // The file's lock may be held by a write that stalls.
      Thread.ofVirtual().start(() -> file.refuse(object, unwritable));
      return true;
    }
    return offer(new Waiting(file, line), kind);
  }

  private synchronized boolean offer(Waiting line, Kind kind) {
    switch (backlog.offer(kind, line.line().length)) {
      case Accepted(LineBacklog next) when !closing -> {
        backlog = next;
        queue.add(line);
        notifyAll();
        return true;
      }
      case Accepted _ -> {
        return false;
      }
      case Refused(LineBacklog next) -> {
        backlog = next;
        watcher.accept(next);
        return false;
      }
    }
  }

  /** Returns the lines that wait now, and the number of those refused so far. */
  public synchronized LineBacklog backlog() {
    return backlog;
  }

  private void run() {
    Optional<Waiting> next = take();
    while (next.isPresent()) {
      next.get().file().append(next.get().line());
      written(next.get());
      next = take();
    }
    files.forEach(JsonLinesFile::close);
  }

  /** The next line; none once the writer is closed and everything is written. */
  private synchronized Optional<Waiting> take() {
    while (queue.isEmpty() && !closing) {
      try {
        wait();
      } catch (InterruptedException ignored) {
        // No caller interrupts; an interrupt would close a file in the middle of a write.
      }
    }
    return Optional.ofNullable(queue.poll());
  }

  private synchronized void written(Waiting line) {
    boolean full = backlog.full();
    backlog = backlog.written(line.line().length);
    if (full && !backlog.full()) {
      watcher.accept(backlog);
    }
  }

  /**
   * Takes no more lines, and waits until those that wait are written and the files closed.
   *
   * @param longest to wait; a disk that stalls until then keeps what is not written
   * @return lines that were not written by then
   */
  public int close(Duration longest) {
    synchronized (this) {
      closing = true;
      notifyAll();
    }
    try {
      var _ = thread.join(longest);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return backlog().lines();
  }
}
