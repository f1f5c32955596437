package io.troupe.engine.http.sidecar;

import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.protocol.CallFailure;
import java.io.IOException;
import java.io.RandomAccessFile;
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
 * One inference server that this process runs as a child, and the virtual thread that starts and
 * restarts it.
 *
 * <p>The server counts as serving once {@code /health} and {@code /v1/models} answer. Whether it
 * can sample is discovered by the requests sent to it, and reported through {@link #restart}:
 * {@code /health} of a hung engine still returns 200.
 */
final class Sidecar {
  private static final Logger LOG = LoggerFactory.getLogger(Sidecar.class);
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration ASK = Duration.ofSeconds(2);
  private static final Duration CHECK = Duration.ofSeconds(2);
  private static final int MOST_REFUSED = 3;
  private static final int TAIL_BYTES = 2000;

  private final String name;
  private final Sidecars.SidecarPlan plan;
  private final Path log;
  private final Sidecars.Listener listener;
  private final Thread thread;
  private final AtomicReference<Optional<ServerProcess>> running =
      new AtomicReference<>(Optional.empty());

  /** The weights of the next start. */
  private final AtomicReference<Optional<Path>> weights = new AtomicReference<>(Optional.empty());

  /** The caller that ended the server for other weights and waits until it serves again. */
  private final AtomicReference<Optional<CompletableFuture<Boolean>>> awaited =
      new AtomicReference<>(Optional.empty());

  /**
   * Another user of this machine could otherwise control the server through its port, which is open
   * to every local user.
   */
  private final String keptKey = key();

  // Used by the thread of this sidecar only; set once the server was restarted for weights.
  private OptionalInt keptPort = OptionalInt.empty();
  private final CountDownLatch closing = new CountDownLatch(1);

  /** A server that was not started yet. */
  Sidecar(String name, Sidecars.SidecarPlan plan, Path folder, Sidecars.Listener listener) {
    this.name = name;
    this.plan = plan;
    this.log = folder.resolve(name + ".log");
    this.listener = listener;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::superviseQuietly);
  }

  /** Starts the server. */
  void begin() {
    thread.start();
  }

  /** The server's pid, while it runs. */
  Optional<Long> pid() {
    return running.get().map(ServerProcess::pid);
  }

  /** Restarts the server because it does not do its work. */
  void restart() {
    running
        .get()
        .ifPresent(
            process -> {
              LOG.warn(
                  "server={} pid={} is ended because it makes no progress", name, process.pid());
              end(process);
            });
  }

  /**
   * Restarts the server with weights, at the same port; the listener is notified only if the
   * restart fails.
   *
   * @return whether the server serves
   */
  boolean restart(Path directory) throws InterruptedException {
    weights.set(Optional.of(directory));
    Optional<ServerProcess> process = running.get();
    if (process.isEmpty()) {
      return false; // between two starts: the next one uses these weights
    }
    CompletableFuture<Boolean> serves = new CompletableFuture<>();
    awaited.set(Optional.of(serves));
    if (closed()) { // checked last: close answers the waiting callers by then
      completeAwaited(false);
      return false;
    }
    end(process.get());
    try {
      return serves.get();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void completeAwaited(boolean serves) {
    awaited.getAndSet(Optional.empty()).ifPresent(waiting -> waiting.complete(serves));
  }

  private static void end(ServerProcess process) {
    try {
      process.end();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
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

  /** One run of the server process, from its start to its end. */
  private SidecarSupervision life(SidecarSupervision before) throws InterruptedException {
    int port;
    ServerProcess process;
    String key;
    try {
      port = keptPort.isPresent() ? keptPort.getAsInt() : freePort();
      Optional<Path> given = weights.get().filter(Files::isDirectory);
      ServerCommand command = plan.starter().command(port, given);
      key = command.keyVariable().isEmpty() ? "" : keptKey;
      process = ServerProcess.start(command.withKey(key), log);
    } catch (IOException cannot) {
      gone();
      LOG.warn("server={} cannot be started: {}", name, cannot.getMessage());
      return before.started(now()).ended(now(), String.valueOf(cannot.getMessage()));
    }
    running.set(Optional.of(process));
    LOG.info("server={} pid={} port={} starts", name, process.pid(), port);
    try {
      return onExit(process, port, key, before.started(now()));
    } finally {
      running.set(Optional.empty());
    }
  }

  private SidecarSupervision onExit(
      ServerProcess process, int port, String key, SidecarSupervision started)
      throws InterruptedException {
    InferenceEndpoint endpoint =
        new InferenceEndpoint(
            URI.create("http://127.0.0.1:" + port), key, plan.concurrency(), plan.patience());
    SidecarSupervision supervision = started;
    boolean up = false;
    while (!up && process.alive() && !supervision.startTimedOut(now()) && !closed()) {
      up = serves(endpoint);
      await(process);
    }
    if (up) {
      supervision = supervision.serves(now());
      LOG.info("server={} pid={} serves", name, process.pid());
      serves(endpoint, process);
      if (awaited.get().isPresent() && !closed()) {
        end(process);
        keptPort = OptionalInt.of(port);
        return supervision.replaced();
      }
    }
    boolean late = !up && process.alive();
    gone();
    if (!up) {
      weights.set(Optional.empty()); // the next start uses the initial weights again
    }
    end(process);
    String why =
        up
            ? "it ended"
            : late
                ? "it did not serve within " + plan.supervision().startWithin()
                : "it ended while it was starting";
    String reason = why + "; its log ends: " + tail(log);
    if (!closed()) {
      LOG.warn("server={} pid={} is gone: {}", name, process.pid(), reason);
    }
    return supervision.ended(now(), reason);
  }

  /**
   * Reports that the server serves, unless it was only restarted for new weights; returns when it
   * has ended.
   */
  private void serves(InferenceEndpoint endpoint, ServerProcess process)
      throws InterruptedException {
    boolean stays = keptPort.isPresent();
    keptPort = OptionalInt.empty();
    completeAwaited(true);
    if (!stays) {
      listener.up(name, endpoint);
    }
    process.noteShared();
    int refused = 0; // in a row
    long next = now() + CHECK.toMillis();
    while (process.alive() && !closed()) {
      await(process);
      if (now() >= next) {
        refused = listens(endpoint) ? 0 : refused + 1;
        if (refused == MOST_REFUSED && process.alive() && !closed()) {
          LOG.warn("server={} pid={} is ended: it does not listen any more", name, process.pid());
          end(process);
        }
        next = now() + CHECK.toMillis();
      }
    }
  }

  /**
   * Whether the server takes connections. A vLLM whose engine was killed closes its port, and then
   * waits for open connections without end.
   */
  private static boolean listens(InferenceEndpoint endpoint) throws InterruptedException {
    try (InferenceClient wire = new InferenceClient(endpoint)) {
      wire.get("/health", ASK);
      return true;
    } catch (InferenceCallException away) {
      return away.fault().kind() != CallFailure.Kind.NO_CONNECTION;
    }
  }

  private void gone() {
    keptPort = OptionalInt.empty();
    completeAwaited(false);
    listener.down(name);
  }

  private static void await(ServerProcess process) throws InterruptedException {
    try {
      process.onExit().get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
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

  /** Begins to end the server and its descendants for good; does not wait. */
  void beginEnd() {
    closing.countDown();
    completeAwaited(false);
    var _ =
        Thread.ofVirtual()
            .name("end-" + name)
            .start(() -> running.get().ifPresent(Sidecar::end)); // the thread may wait elsewhere
  }

  /** Returns when the server is gone; after the longest wait the caller ends it as well. */
  void awaitEnd(Duration longest) throws InterruptedException {
    try {
      boolean _ = thread.join(longest);
    } finally {
      running.get().ifPresent(Sidecar::end);
    }
  }
}
