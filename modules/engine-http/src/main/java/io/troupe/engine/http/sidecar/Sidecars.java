package io.troupe.engine.http.sidecar;

import io.troupe.engine.http.Endpoint;
import io.troupe.engine.http.EndpointException;
import io.troupe.engine.http.Wire;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers that this process runs beside itself, a virtual thread each: starts them, says when
 * they serve and when they are gone, starts them again.
 *
 * <p>A server counts as serving once {@code /health} and {@code /v1/models} answer. Whether it then
 * draws is seen by who sends it work, and told by {@link #restart}: a hung engine's {@code /health}
 * stays 200.
 */
public final class Sidecars implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sidecars.class);
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration ASK = Duration.ofSeconds(2);
  private static final int TAIL_BYTES = 2000;
  private static final String CARD = ".pid";

  /** Hears of servers. */
  public interface Listener {
    /** It serves, without this run's weights as yet. */
    void up(String name, Endpoint endpoint);

    /** It is gone, or about to be ended. */
    void down(String name);

    /** It ended too often. */
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
  public record Plan(
      int count,
      int concurrency,
      Endpoint.Patience patience,
      Supervision.Settings supervision,
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

  private final Plan plan;
  private final Path folder;
  private final Listener listener;
  private final Map<String, ProcessTree> running = new ConcurrentHashMap<>();
  private final Map<String, Path> weights = new ConcurrentHashMap<>();

  /** Ports of servers that were ended on purpose, and whoever waits for them to serve again. */
  private final Map<String, Integer> replacing = new ConcurrentHashMap<>();

  private final Map<String, CompletableFuture<Boolean>> awaited = new ConcurrentHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  private Sidecars(Plan plan, Path folder, Listener listener) {
    this.plan = plan;
    this.folder = folder;
    this.listener = listener;
  }

  /**
   * Ends what an earlier process has left, and starts the servers.
   *
   * @param folder for their logs and cards
   */
  public static Sidecars start(Plan plan, Path folder, Listener listener)
      throws IOException, InterruptedException {
    Files.createDirectories(folder);
    Sidecars sidecars = new Sidecars(plan, folder, listener);
    for (int i = 1; i <= plan.count(); i++) {
      String name = "sidecar-" + i;
      if (Files.exists(sidecars.card(name))) {
        ProcessTree.endLeftOver(sidecars.card(name), true);
      }
      sidecars.threads.add(
          Thread.ofVirtual().name(name).start(() -> sidecars.superviseQuietly(name)));
    }
    return sidecars;
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
      cards = files.filter(file -> file.toString().endsWith(CARD)).toList();
    }
    for (Path card : cards) {
      ProcessTree.endLeftOver(card, false);
    }
  }

  private Path card(String name) {
    return folder.resolve(name + CARD);
  }

  private Path log(String name) {
    return folder.resolve(name + ".log");
  }

  /** Pids of the servers that run. */
  public List<Long> pids() {
    return running.values().stream().map(ProcessTree::pid).sorted().toList();
  }

  /** Ends a server that does not do its work; it is started again. */
  public void restart(String name) {
    ProcessTree tree = running.get(name);
    if (tree != null) {
      LOG.warn("server={} pid={} is ended because it makes no progress", name, tree.pid());
      end(tree);
    }
  }

  /**
   * Ends a server and starts it with weights, at the same port; its listener hears nothing of it
   * unless that fails.
   *
   * @return whether it serves
   */
  public boolean restart(String name, Path directory) throws InterruptedException {
    weights.put(name, directory);
    ProcessTree tree = running.get(name);
    if (tree == null || closed) {
      return false; // between two lives: the next begins with these weights
    }
    CompletableFuture<Boolean> serves = new CompletableFuture<>();
    awaited.put(name, serves);
    end(tree);
    try {
      return serves.get();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void tellAwaited(String name, boolean serves) {
    Optional.ofNullable(awaited.remove(name)).ifPresent(waiting -> waiting.complete(serves));
  }

  private static void end(ProcessTree tree) {
    try {
      tree.end();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } catch (IOException card) {
      throw new UncheckedIOException(card);
    }
  }

  private void superviseQuietly(String name) {
    try {
      supervise(name);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private void supervise(String name) throws InterruptedException {
    Supervision supervision = Supervision.begin(plan.supervision());
    while (!closed) {
      switch (supervision.phase()) {
        case Supervision.Phase.Resting(long until) -> {
          long pause = until == Long.MIN_VALUE ? 0 : until - now();
          if (pause > 0) {
            TimeUnit.MILLISECONDS.sleep(pause);
          }
          supervision = life(name, supervision);
        }
        case Supervision.Phase.GivenUp(String reason) -> {
          LOG.error("server={} given up: {} log={}", name, reason, log(name));
          listener.givenUp(name, reason);
          return;
        }
        case Supervision.Phase.Starting _, Supervision.Phase.Up _ ->
            throw new IllegalStateException(name + " lives between two lives");
      }
    }
  }

  /** One life of a server, from its start to its end. */
  private Supervision life(String name, Supervision before) throws InterruptedException {
    int port;
    ProcessTree tree;
    try {
      Optional<Integer> kept = Optional.ofNullable(replacing.get(name));
      port = kept.isPresent() ? kept.get() : freePort();
      Optional<Path> given = Optional.ofNullable(weights.get(name)).filter(Files::isDirectory);
      tree = ProcessTree.start(plan.starter().command(port, given), log(name), card(name));
    } catch (IOException cannot) {
      gone(name);
      LOG.warn("server={} cannot be started: {}", name, cannot.getMessage());
      return before.started(now()).ended(now(), String.valueOf(cannot.getMessage()));
    }
    running.put(name, tree);
    LOG.info("server={} pid={} port={} starts", name, tree.pid(), port);
    Endpoint endpoint =
        new Endpoint(
            URI.create("http://127.0.0.1:" + port), "", plan.concurrency(), plan.patience());
    Supervision supervision = before.started(now());
    boolean up = false;
    try {
      while (!up && tree.alive() && !supervision.overdue(now()) && !closed) {
        up = serves(endpoint);
        await(tree);
      }
      String why = up ? "" : "it did not serve within " + plan.supervision().startWithin();
      if (up) {
        supervision = supervision.serves(now());
        LOG.info("server={} pid={} serves", name, tree.pid());
        boolean stays = replacing.remove(name) != null;
        tellAwaited(name, true);
        if (!stays) {
          listener.up(name, endpoint);
        }
        while (tree.alive() && !closed) {
          await(tree);
        }
        if (awaited.containsKey(name) && !closed) {
          end(tree);
          replacing.put(name, port);
          return supervision.replaced();
        }
      }
      gone(name);
      if (!up) {
        weights.remove(name); // the next life begins with what the first began with
      }
      why = tree.alive() || why.isEmpty() ? why : "it ended while it was starting";
      end(tree);
      String reason = (why.isEmpty() ? "it ended" : why) + "; its log ends: " + tail(log(name));
      if (!closed) {
        LOG.warn("server={} pid={} is gone: {}", name, tree.pid(), reason);
      }
      return supervision.ended(now(), reason);
    } finally {
      running.remove(name, tree);
    }
  }

  private void gone(String name) {
    replacing.remove(name);
    tellAwaited(name, false);
    listener.down(name);
  }

  private static void await(ProcessTree tree) throws InterruptedException {
    tree.look();
    try {
      tree.onExit().get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException stillThere) {
      return;
    }
  }

  private static boolean serves(Endpoint endpoint) throws InterruptedException {
    try (Wire wire = new Wire(endpoint)) {
      return wire.get("/health", ASK).ok() && wire.get("/v1/models", ASK).ok();
    } catch (EndpointException notYet) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static long now() {
    return System.nanoTime() / 1_000_000;
  }

  private static String tail(Path log) {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      file.seek(Math.max(0, file.length() - TAIL_BYTES));
      byte[] bytes = new byte[(int) Math.min(TAIL_BYTES, file.length())];
      int read = file.read(bytes);
      return new String(bytes, 0, Math.max(0, read), StandardCharsets.UTF_8)
          .strip()
          .replaceAll("\\s+", " ");
    } catch (IOException unreadable) {
      return "(no log: %s)".formatted(unreadable.getMessage());
    }
  }

  /** Ends all servers with their descendants; returns when they are gone. */
  @Override
  public void close() {
    closed = true;
    awaited.values().forEach(waiting -> waiting.complete(false));
    running.values().forEach(Sidecars::end);
    threads.forEach(Thread::interrupt);
    boolean interrupted = false;
    for (Thread thread : threads) {
      try {
        thread.join(Duration.ofSeconds(30));
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    running.values().forEach(Sidecars::end);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
