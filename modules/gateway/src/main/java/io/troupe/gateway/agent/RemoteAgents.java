package io.troupe.gateway.agent;

import io.troupe.base.failure.Causes;
import io.troupe.base.net.HostPort;
import io.troupe.core.rollout.StopReason;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.GatewaySession;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Agents of any host, which ask this process for tasks. All workers and evaluations of a process
 * share one server, which listens while one of them is open.
 *
 * <p>An agent is at work while it asks the policy, or gives another sign of life. One that is
 * silent for too long is gone: what it did cannot be known, so its work is lost, and never judged.
 */
public final class RemoteAgents {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteAgents.class);

  /** Processes of one host listen at ports that follow each other. */
  private static final int PORTS = 64;

  private final RemoteAgentSettings settings;
  private Optional<Listening> listening = Optional.empty(); // guarded by this
  private int users; // guarded by this

  private record Listening(GatewayServer server, TaskQueue queue) {}

  /** Listens nowhere yet. */
  public RemoteAgents(RemoteAgentSettings settings) {
    this.settings = settings;
  }

  /**
   * Reads the keys.
   *
   * @throws IOException if they cannot be used; says what to do
   */
  void check() throws IOException {
    var _ = settings.key();
    var _ = settings.context();
  }

  /** Returns the port on which the gateway listens; 0 if it does not. */
  synchronized int port() {
    return listening.map(open -> open.server().port()).orElse(0);
  }

  /** Listens, until all that is opened is closed. */
  synchronized AgentRunner open() throws IOException {
    if (listening.isEmpty()) {
      listening = Optional.of(listen());
    }
    users++;
    return new RemoteRunner(listening.get());
  }

  private synchronized void close() {
    users--;
    if (users == 0) {
      listening.ifPresent(
          open -> {
            open.queue().close();
            open.server().close();
          });
      listening = Optional.empty();
    }
  }

  private Listening listen() throws IOException {
    Optional<SSLContext> tls = settings.context();
    TaskQueue queue = new TaskQueue();
    TaskRoutes routes =
        new TaskRoutes(
            queue, settings.key(), tls.isPresent() ? "https" : "http", settings.silence());
    HostPort first = settings.listen();
    int ports = first.port() == 0 ? 1 : PORTS;
    for (int i = 0; ; i++) {
      InetSocketAddress address = new HostPort(first.host(), first.port() + i).socketAddress();
      try {
        GatewayServer server = GatewayServer.start(address, tls, routes);
        LOG.info(
            "agents_ask={}://{} tls={}",
            tls.isPresent() ? "https" : "http",
            new HostPort(first.host(), server.port()),
            tls.isPresent());
        return new Listening(server, queue);
      } catch (BindException taken) {
        if (i + 1 == ports) {
          throw new IOException(
              "episode.agent.remote.listen: %s and the %d ports behind it are taken, or the address is not this host's: %s"
                  .formatted(first, ports - 1, taken.getMessage()),
              taken);
        }
      }
    }
  }

  /** One user of the server. */
  private final class RemoteRunner implements AgentRunner {
    private final Listening open;
    private final AtomicBoolean closed = new AtomicBoolean();

    RemoteRunner(Listening open) {
      this.open = open;
    }

    @Override
    public GatewayServer server() {
      return open.server();
    }

    @Override
    public String awaited() {
      return "an agent that asks for a task";
    }

    @Override
    public AgentEnd run(
        AgentTask task, GatewaySession session, CompletableFuture<Void> stop, Runnable begun) {
      TaskQueue.OfferedTask offered = open.queue().offer(task, session);
      try {
        var _ = CompletableFuture.anyOf(offered.taken(), stop).join();
        if (!offered.taken().isDone()) {
          throw new CancellationException("the lease was cancelled before an agent asked");
        }
        begun.run();
        return end(offered, session, stop);
      } finally {
        open.queue().withdraw(offered);
      }
    }

    private AgentEnd end(
        TaskQueue.OfferedTask offered, GatewaySession session, CompletableFuture<Void> stop) {
      CompletableFuture<Throwable> failure = session.failure().toCompletableFuture();
      CompletableFuture<Object> event =
          CompletableFuture.anyOf(offered.reported(), offered.undelivered(), stop, failure);
      long start = System.nanoTime();
      while (true) {
        Duration silence = offered.silence();
        Duration left = offered.task().timeout().minusNanos(System.nanoTime() - start);
        if (!left.isPositive()) {
          return new Ended(StopReason.TIMEOUT, "it took longer than its timeout");
        }
        if (silence.compareTo(settings.silence()) >= 0) {
          return new Vanished(
              "the agent that has task %s gave no sign of life for %d ms"
                  .formatted(offered.task().key().id(), silence.toMillis()));
        }
        Duration quiet = settings.silence().minus(silence);
        if (happened(event, left.compareTo(quiet) < 0 ? left : quiet)) {
          return end(offered, stop, failure);
        }
      }
    }

    private static boolean happened(CompletableFuture<Object> event, Duration patience) {
      try {
        var _ = event.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        return true;
      } catch (TimeoutException nothing) {
        return false;
      } catch (ExecutionException impossible) {
        throw new IllegalStateException(impossible);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new CancellationException("the episode was interrupted");
      }
    }

    private static AgentEnd end(
        TaskQueue.OfferedTask offered,
        CompletableFuture<Void> stop,
        CompletableFuture<Throwable> failure) {
      if (failure.isDone()) {
        throw new CompletionException(Causes.inside(failure.join(), List.of()));
      }
      if (stop.isDone()) {
        throw new CancellationException("the lease of the agent was cancelled");
      }
      if (!offered.reported().isDone()) {
        return new Vanished("the agent that asked for a task was gone when it was sent");
      }
      String failed = offered.reported().join().failure();
      if (!failed.isEmpty()) {
        throw new AgentFailedException("the agent says that it failed: " + failed);
      }
      return new Ended(StopReason.COMPLETED, "it reported that it was done");
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        RemoteAgents.this.close();
      }
    }
  }
}
