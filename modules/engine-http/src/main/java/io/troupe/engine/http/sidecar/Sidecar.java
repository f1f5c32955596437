package io.troupe.engine.http.sidecar;

import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server that this process runs beside itself, and the virtual thread that leads it through its
 * lives.
 *
 * <p>It counts as serving once {@code /health} and {@code /v1/models} answer. Whether it then draws
 * is seen by who sends it work, and told by {@link #restart}: a hung engine's {@code /health} stays
 * 200.
 */
final class Sidecar {
  /** How the names of cards end. */
  static final String CARD = ".pid";

  private static final Logger LOG = LoggerFactory.getLogger(Sidecar.class);
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration ASK = Duration.ofSeconds(2);
  private static final int TAIL_BYTES = 2000;

  private final String name;
  private final Sidecars.SidecarPlan plan;
  private final Path log;
  private final Path card;
  private final Sidecars.Listener listener;
  private final Thread thread;
  private final AtomicReference<Optional<ProcessTree>> running =
      new AtomicReference<>(Optional.empty());

  /** What the next life begins with. */
  private final AtomicReference<Optional<Path>> weights = new AtomicReference<>(Optional.empty());

  /** Who ended it for other weights, and waits for it to serve again. */
  private final AtomicReference<Optional<CompletableFuture<Boolean>>> awaited =
      new AtomicReference<>(Optional.empty());

  /** Another user of this machine could otherwise command it, by the port that is open to all. */
  private final String keptKey = key();

  private OptionalInt keptPort = OptionalInt.empty(); // of its thread; once ended for weights
  private final CountDownLatch closing = new CountDownLatch(1);

  /** A server that was not started yet. */
  Sidecar(String name, Sidecars.SidecarPlan plan, Path folder, Sidecars.Listener listener) {
    this.name = name;
    this.plan = plan;
    this.log = folder.resolve(name + ".log");
    this.card = folder.resolve(name + CARD);
    this.listener = listener;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::superviseQuietly);
  }

  /** Ends what an earlier process has left of it. */
  void endLeftOver() throws IOException, InterruptedException {
    if (Files.exists(card)) {
      ProcessTree.endLeftOver(card, true);
    }
  }

  /** Starts it. */
  void begin() {
    thread.start();
  }

  /** Its pid, while it runs. */
  Optional<Long> pid() {
    return running.get().map(ProcessTree::pid);
  }

  /** Ends it because it does not do its work; it is started again. */
  void restart() {
    running
        .get()
        .ifPresent(
            tree -> {
              LOG.warn("server={} pid={} is ended because it makes no progress", name, tree.pid());
              end(tree);
            });
  }

  /**
   * Ends it and starts it with weights, at the same port; its listener hears nothing of it unless
   * that fails.
   *
   * @return whether it serves
   */
  boolean restart(Path directory) throws InterruptedException {
    weights.set(Optional.of(directory));
    Optional<ProcessTree> tree = running.get();
    if (tree.isEmpty()) {
      return false; // between two lives: the next begins with these weights
    }
    CompletableFuture<Boolean> serves = new CompletableFuture<>();
    awaited.set(Optional.of(serves));
    if (closed()) { // looked at last: whoever closes tells those who wait by then
      completeAwaited(false);
      return false;
    }
    end(tree.get());
    try {
      return serves.get();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void completeAwaited(boolean serves) {
    awaited.getAndSet(Optional.empty()).ifPresent(waiting -> waiting.complete(serves));
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

  private void superviseQuietly() {
    try {
      supervise();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private void supervise() throws InterruptedException {
    SidecarSupervision supervision = SidecarSupervision.begin(plan.supervision());
    while (!closed()) {
      switch (supervision.phase()) {
        case SidecarSupervision.ServerPhase.Resting(long until, String _) -> {
          long pause = until == Long.MIN_VALUE ? 0 : until - now();
          if (!closing.await(pause, TimeUnit.MILLISECONDS)) {
            supervision = life(supervision);
            supervision.failing().ifPresent(this::failing);
          }
        }
        case SidecarSupervision.ServerPhase.GivenUp(String reason) -> {
          LOG.error("server={} given up: {} log={}", name, reason, log);
          listener.givenUp(name, reason);
          return;
        }
        case SidecarSupervision.ServerPhase.Starting _, SidecarSupervision.ServerPhase.Up _ ->
            throw new IllegalStateException(name + " lives between two lives");
      }
    }
  }

  private void failing(String reason) {
    if (!closed()) {
      LOG.error("server={} does not serve: {} log={}", name, reason, log);
      listener.failing(name, reason);
    }
  }

  /** One life, from its start to its end. */
  private SidecarSupervision life(SidecarSupervision before) throws InterruptedException {
    int port;
    ProcessTree tree;
    String key;
    try {
      port = keptPort.isPresent() ? keptPort.getAsInt() : freePort();
      Optional<Path> given = weights.get().filter(Files::isDirectory);
      ServerCommand command = plan.starter().command(port, given);
      key = command.keyVariable().isEmpty() ? "" : keptKey;
      tree = ProcessTree.start(command.withKey(key), log, card);
    } catch (IOException cannot) {
      gone();
      LOG.warn("server={} cannot be started: {}", name, cannot.getMessage());
      return before.started(now()).ended(now(), String.valueOf(cannot.getMessage()));
    }
    running.set(Optional.of(tree));
    LOG.info("server={} pid={} port={} starts", name, tree.pid(), port);
    try {
      return onExit(tree, port, key, before.started(now()));
    } finally {
      running.set(Optional.empty());
    }
  }

  private SidecarSupervision onExit(
      ProcessTree tree, int port, String key, SidecarSupervision started)
      throws InterruptedException {
    InferenceEndpoint endpoint =
        new InferenceEndpoint(
            URI.create("http://127.0.0.1:" + port), key, plan.concurrency(), plan.patience());
    SidecarSupervision supervision = started;
    boolean up = false;
    while (!up && tree.alive() && !supervision.startTimedOut(now()) && !closed()) {
      up = serves(endpoint);
      await(tree);
    }
    if (up) {
      supervision = supervision.serves(now());
      LOG.info("server={} pid={} serves", name, tree.pid());
      serves(endpoint, tree);
      if (awaited.get().isPresent() && !closed()) {
        end(tree);
        keptPort = OptionalInt.of(port);
        return supervision.replaced();
      }
    }
    boolean late = !up && tree.alive();
    gone();
    if (!up) {
      weights.set(Optional.empty()); // the next life begins with what the first began with
    }
    end(tree);
    String why =
        up
            ? "it ended"
            : late
                ? "it did not serve within " + plan.supervision().startWithin()
                : "it ended while it was starting";
    String reason = why + "; its log ends: " + tail(log);
    if (!closed()) {
      LOG.warn("server={} pid={} is gone: {}", name, tree.pid(), reason);
    }
    return supervision.ended(now(), reason);
  }

  /** Says that it serves, unless it was only away for new weights; returns when it has ended. */
  private void serves(InferenceEndpoint endpoint, ProcessTree tree) throws InterruptedException {
    boolean stays = keptPort.isPresent();
    keptPort = OptionalInt.empty();
    completeAwaited(true);
    if (!stays) {
      listener.up(name, endpoint);
    }
    while (tree.alive() && !closed()) {
      await(tree);
    }
  }

  private void gone() {
    keptPort = OptionalInt.empty();
    completeAwaited(false);
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

  private static boolean serves(InferenceEndpoint endpoint) throws InterruptedException {
    try (InferenceClient wire = new InferenceClient(endpoint)) {
      return wire.get("/health", ASK).ok() && wire.get("/v1/models", ASK).ok();
    } catch (InferenceCallException notYet) {
      return false;
    }
  }

  private static String key() {
    byte[] random = new byte[24];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
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

  private boolean closed() {
    return closing.getCount() == 0;
  }

  /** Ends it and its descendants, for good; does not wait for it. */
  void beginEnd() {
    closing.countDown();
    completeAwaited(false);
    var _ =
        Thread.ofVirtual()
            .name("end-" + name)
            .start(
                () -> running.get().ifPresent(Sidecar::end)); // its own thread may look elsewhere
  }

  /** Returns when it is gone; after so long it is ended by the caller, too. */
  void awaitEnd(Duration longest) throws InterruptedException {
    try {
      boolean _ = thread.join(longest);
    } finally {
      running.get().ifPresent(Sidecar::end);
    }
  }
}
