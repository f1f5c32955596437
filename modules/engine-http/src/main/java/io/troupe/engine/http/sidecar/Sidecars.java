package io.troupe.engine.http.sidecar;

import io.troupe.engine.http.client.InferenceEndpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The inference servers that this process runs as children. Each has a {@link Sidecar}, which
 * starts it, reports when it serves and when it is gone, and restarts it.
 */
public final class Sidecars implements AutoCloseable {
  private static final Duration END = Duration.ofSeconds(30);

  /** Receives reports about servers. */
  public interface Listener {
    /** The server serves, without this run's weights as yet. */
    void up(String name, InferenceEndpoint endpoint);

    /** The server is gone, or about to be ended. */
    void down(String name);

    /**
     * The server has ended again, so often that the next start is far off; it was reported down
     * before.
     */
    void failing(String name, String reason);

    /** The server ended too often and is not restarted. */
    void givenUp(String name, String reason);
  }

  /**
   * The plan for the servers.
   *
   * @param count number of servers
   * @param concurrency most completions that each server samples at a time
   * @param patience timeouts of their answers
   * @param supervision settings of their starts
   * @param starter makes the command of a server
   * @param restartsForWeights whether a server may be restarted for each weight version
   */
  public record SidecarPlan(
      int count,
      int concurrency,
      InferenceEndpoint.Patience patience,
      SidecarSupervision.Settings supervision,
      Starter starter,
      boolean restartsForWeights) {}

  /** Composes the command of a server. */
  @FunctionalInterface
  public interface Starter {
    /**
     * The command.
     *
     * @param weights initial weights; empty before there are any, or if the server reads them later
     */
    ServerCommand command(int port, Optional<Path> weights);
  }

  private final SortedMap<String, Sidecar> servers;

  private Sidecars(SortedMap<String, Sidecar> servers) {
    this.servers = servers;
  }

  /**
   * Starts the servers.
   *
   * @param folder for their logs
   */
  public static Sidecars start(SidecarPlan plan, Path folder, Listener listener)
      throws IOException {
    Files.createDirectories(folder);
    SortedMap<String, Sidecar> servers = new TreeMap<>();
    for (int i = 1; i <= plan.count(); i++) {
      String name = "sidecar-" + i;
      servers.put(name, new Sidecar(name, plan, folder, listener));
    }
    servers.values().forEach(Sidecar::begin);
    return new Sidecars(servers);
  }

  private Optional<Sidecar> server(String name) {
    return Optional.ofNullable(servers.get(name));
  }

  /** Pids of the running servers. */
  public List<Long> pids() {
    return servers.values().stream().flatMap(server -> server.pid().stream()).sorted().toList();
  }

  /** Restarts a server that does not do its work. */
  public void restart(String name) {
    server(name).ifPresent(Sidecar::restart);
  }

  /**
   * Restarts a server with weights, at the same port; the listener is notified only if the restart
   * fails.
   *
   * @return whether the server serves
   */
  public boolean restart(String name, Path directory) throws InterruptedException {
    Optional<Sidecar> server = server(name);
    return server.isPresent() && server.get().restart(directory);
  }

  /** Ends all servers with their descendants in parallel; returns when they are gone. */
  @Override
  public void close() {
    servers.values().forEach(Sidecar::beginEnd); // no server waits for another, and none restarts
    boolean interrupted = false;
    for (Sidecar server : servers.values()) {
      try {
        server.awaitEnd(END);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
