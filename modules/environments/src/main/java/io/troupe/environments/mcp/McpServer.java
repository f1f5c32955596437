package io.troupe.environments.mcp;

import io.troupe.core.outage.Backoff;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.command.ProcessSlots;
import io.troupe.environments.command.ProgramSettings;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * An MCP server that all episodes of a worker share. One that has ended is started again by the
 * call that finds it. Between two starts lies a pause that doubles with each end in a row; calls
 * within the pause fail.
 */
final class McpServer implements AutoCloseable {
  private static final Backoff BACKOFF = new Backoff(500, 60_000);

  /** A server that has lived this long has recovered. */
  private static final long RECOVERED_MILLIS = 60_000;

  private final ProgramSettings settings;
  private final LongSupplier clock;
  private final ProcessSlots<McpClient> slots;
  private Optional<McpClient> running = Optional.empty(); // guarded by this
  private long startedAt; // guarded by this
  private long notBefore; // guarded by this
  private int ends; // guarded by this

  McpServer(ProgramSettings settings) {
    this(settings, () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  McpServer(ProgramSettings settings, LongSupplier clock) {
    this.settings = settings;
    this.clock = clock;
    this.notBefore = clock.getAsLong();
    this.slots = new ProcessSlots<>("mcp", 1, _ -> McpClient.start(settings), McpClient::close);
  }

  /**
   * Returns the running server, started if need be.
   *
   * @throws EnvironmentFailedException if it cannot be started, or ended a short time ago
   */
  synchronized McpClient client() {
    if (running.filter(McpClient::isAlive).isPresent()) {
      return running.get();
    }
    long now = clock.getAsLong();
    running.ifPresent(ended -> noteEnd(ended, now));
    if (now < notBefore) {
      throw new EnvironmentFailedException(
          "the MCP server %s ended %d times in a row; it is started again in %d ms"
              .formatted(McpTransport.name(settings), ends, notBefore - now));
    }
    try {
      McpClient started = slots.start();
      running = Optional.of(started);
      startedAt = now;
      return started;
    } catch (EnvironmentFailedException failure) {
      ends++;
      notBefore = now + BACKOFF.pauseMillis(ends);
      throw failure;
    }
  }

  /**
   * Returns the server with a new session, where one was lost.
   *
   * @param lost client whose session is gone
   */
  synchronized McpClient renewed(McpClient lost) {
    if (running.filter(client -> client == lost).isPresent()) {
      slots.end(lost);
      running = Optional.empty();
    }
    return client();
  }

  private void noteEnd(McpClient ended, long now) {
    slots.end(ended);
    running = Optional.empty();
    ends = now - startedAt >= RECOVERED_MILLIS ? 1 : ends + 1;
    notBefore = startedAt + BACKOFF.pauseMillis(ends);
  }

  @Override
  public void close() {
    slots.close();
  }
}
