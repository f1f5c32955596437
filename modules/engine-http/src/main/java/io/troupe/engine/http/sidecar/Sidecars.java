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
import java.util.stream.Stream;

/**
 * The servers that this process runs beside itself; each has a {@link Sidecar} that starts it, says
 * when it serves and when it is gone, and starts it again.
 */
public final class Sidecars implements AutoCloseable {
  private static final Duration END = Duration.ofSeconds(30);

  /** Hears of servers. */
  public interface Listener {
    /** It serves, without this run's weights as yet. */
    void up(String name, InferenceEndpoint endpoint);

    /** It is gone, or about to be ended. */
    void down(String name);

    /** It has ended again, so often that the next start is far off; it is down by then. */
    void failing(String name, String reason);

    /** It ended too often, and is not started again. */
    void givenUp(String name, String reason);
  }

  /**
   * The servers.
   *
   * @param count how many
   * @param concurrency most completions each draws at a time
   * @param patience with their answers
   * @param supervision the terms of their starts
   * @param starter how one is started
   * @param restartsForWeights whether one may be started anew for each version of the weights
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
     * @param weights to start with; none before there are any, or where it reads them later
     */
    ServerCommand command(int port, Optional<Path> weights);
  }

  private final SortedMap<String, Sidecar> servers;

  private Sidecars(SortedMap<String, Sidecar> servers) {
    this.servers = servers;
  }

  /**
   * Ends what an earlier process has left, and starts the servers.
   *
   * @param folder for their logs and cards
   */
  public static Sidecars start(SidecarPlan plan, Path folder, Listener listener)
      throws IOException, InterruptedException {
    Files.createDirectories(folder);
    SortedMap<String, Sidecar> servers = new TreeMap<>();
    for (int i = 1; i <= plan.count(); i++) {
      String name = "sidecar-" + i;
      Sidecar server = new Sidecar(name, plan, folder, listener);
      server.endLeftOver();
      servers.put(name, server);
    }
    servers.values().forEach(Sidecar::begin);
    return new Sidecars(servers);
  }

  /**
   * Ends servers whose owners are gone, by the cards in a folder and in those below it; blocks
   * until accelerators have let go of them.
   */
  public static void endAbandoned(Path root) throws IOException, InterruptedException {
    if (!Files.isDirectory(root)) {
      return;
    }
    List<Path> cards;
    try (Stream<Path> files = Files.walk(root)) {
      cards = files.filter(file -> file.toString().endsWith(Sidecar.CARD)).toList();
    }
    for (Path card : cards) {
      ProcessTree.endLeftOver(card, false);
    }
  }

  private Optional<Sidecar> server(String name) {
    return Optional.ofNullable(servers.get(name));
  }

  /** Pids of the servers that run. */
  public List<Long> pids() {
    return servers.values().stream().flatMap(server -> server.pid().stream()).sorted().toList();
  }

  /** Ends a server that does not do its work; it is started again. */
  public void restart(String name) {
    server(name).ifPresent(Sidecar::restart);
  }

  /**
   * Ends a server and starts it with weights, at the same port; its listener hears nothing of it
   * unless that fails.
   *
   * @return whether it serves
   */
  public boolean restart(String name, Path directory) throws InterruptedException {
    Optional<Sidecar> server = server(name);
    return server.isPresent() && server.get().restart(directory);
  }

  /** Ends all servers with their descendants, at the same time; returns when they are gone. */
  @Override
  public void close() {
    servers.values().forEach(Sidecar::beginEnd); // none waits for another, and none starts again
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
