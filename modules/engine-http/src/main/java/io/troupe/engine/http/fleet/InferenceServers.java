package io.troupe.engine.http.fleet;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.http.broadcast.WeightBroadcaster;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.http.sidecar.Sidecars;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The inference servers of a run: servers named by URL, and servers that this process starts. One
 * sampler at a time uses all of them; a worker that was restarted gets a new sampler, and the
 * servers keep running.
 */
public final class InferenceServers implements AutoCloseable {
  private final LocalPolicy policy;
  private final Path folder;
  private final Set<String> named;
  private final boolean restartsForWeights;
  private final ServerWeightFolder.Contents contents;
  private final ServerWeightFolder.CompanionFiles companions;
  private final ServerWeightFolder.WeightFileFinder hostFiles;
  private final Optional<WeightBroadcaster> broadcaster;
  private final CompletableFuture<Optional<String>> begun = new CompletableFuture<>();
  private final CompletableFuture<String> noServersLeft = new CompletableFuture<>();
  private final Map<String, InferenceEndpoint> endpoints = new ConcurrentHashMap<>();
  private Optional<FleetSampler> current = Optional.empty(); // guarded by this
  private String lastReport = "nothing was sampled"; // guarded by this
  private Optional<Sidecars> sidecars = Optional.empty(); // guarded by this
  private int remaining; // servers named by URL, or not given up; guarded by this

  /** The reasons why started servers do not serve; holds the servers that are rarely retried. */
  private final SortedMap<String, String> failing = new TreeMap<>(); // guarded by this

  private InferenceServers(
      LocalPolicy policy,
      Set<String> named,
      boolean restartsForWeights,
      ServerWeightFolder.Contents contents,
      Path folder,
      ServerWeightFolder.CompanionFiles companions,
      ServerWeightFolder.WeightFileFinder hostFiles,
      Optional<WeightBroadcaster> broadcaster) {
    this.broadcaster = broadcaster;
    this.policy = policy;
    this.folder = folder;
    this.named = named;
    this.restartsForWeights = restartsForWeights;
    this.contents = contents;
    this.companions = companions;
    this.hostFiles = hostFiles;
  }

  /**
   * Opens the servers.
   *
   * @param policy policy whose engines stay open until the samplers of these servers are closed
   * @param named servers that run independently
   * @param own servers to start; a count of 0 starts none
   * @param contents form in which the servers receive each weight version
   * @param folder for weights and logs; not shared with another process
   * @param hostFiles weights that are in files already
   * @param broadcaster sends weights by NCCL, and is closed with the servers; empty where they read
   *     files
   */
  public static InferenceServers open(
      LocalPolicy policy,
      List<InferenceEndpoint> named,
      Sidecars.SidecarPlan own,
      ServerWeightFolder.Contents contents,
      Path folder,
      ServerWeightFolder.CompanionFiles companions,
      ServerWeightFolder.WeightFileFinder hostFiles,
      Optional<WeightBroadcaster> broadcaster)
      throws IOException, InterruptedException {
    InferenceServers pool =
        new InferenceServers(
            policy,
            named.stream().map(InferenceEndpoint::toString).collect(Collectors.toSet()),
            own.restartsForWeights(),
            contents,
            folder,
            companions,
            hostFiles,
            broadcaster);
    named.forEach(endpoint -> pool.endpoints.put(endpoint.toString(), endpoint));
    synchronized (pool) {
      pool.remaining = named.size() + own.count();
    }
    if (own.count() > 0) {
      Sidecars started = Sidecars.start(own, folder, pool.new OpenSampler());
      synchronized (pool) {
        pool.sidecars = Optional.of(started);
      }
    }
    return pool;
  }

  private final class OpenSampler implements Sidecars.Listener {
    @Override
    public void up(String name, InferenceEndpoint endpoint) {
      synchronized (InferenceServers.this) {
        endpoints.put(name, endpoint);
        failing.remove(name);
        current.ifPresent(fleet -> fleet.join(name, endpoint));
      }
      begun.complete(Optional.empty());
    }

    @Override
    public void down(String name) {
      synchronized (InferenceServers.this) {
        endpoints.remove(name);
        current.ifPresent(fleet -> fleet.leave(name));
      }
    }

    @Override
    public void failing(String name, String reason) {
      Optional<FleetSampler> idle;
      synchronized (InferenceServers.this) {
        failing.put(name, reason);
        outage().ifPresent(why -> current.ifPresent(fleet -> fleet.absent(why)));
        idle = current;
      }
      idle.ifPresent(FleetSampler::failAbsent);
    }

    @Override
    public void givenUp(String name, String reason) {
      boolean last;
      synchronized (InferenceServers.this) {
        endpoints.remove(name);
        remaining--;
        last = remaining == 0;
      }
      if (last) {
        String why = "%s is given up: %s".formatted(name, reason);
        begun.complete(Optional.of(why));
        noServersLeft.complete(why);
        Optional<FleetSampler> fleet;
        synchronized (InferenceServers.this) {
          fleet = current;
        }
        fleet.ifPresent(left -> left.noServersLeft(why));
      }
    }
  }

  /**
   * Returns the reason why there is no server, once each has failed repeatedly; the caller holds
   * the lock.
   */
  private Optional<String> outage() {
    return endpoints.isEmpty() && !failing.isEmpty() && failing.size() == remaining
        ? Optional.of(
            failing.entrySet().stream()
                .map(one -> "%s: %s".formatted(one.getKey(), one.getValue()))
                .collect(Collectors.joining("; ")))
        : Optional.empty();
  }

  /** Returns the folder of the weights for servers, in the folder of these servers. */
  public static Path weights(Path folder) {
    return folder.resolve("weights").toAbsolutePath();
  }

  /**
   * Waits until a started server serves; returns the reason if all servers were given up instead.
   */
  public Optional<String> awaitFirstServer() {
    return begun.join();
  }

  /** Returns the reason why no server is left; completes once none is left and none will come. */
  public CompletionStage<String> noServersLeft() {
    return noServersLeft.minimalCompletionStage();
  }

  /** Whether no sampler is open. */
  public synchronized boolean isFree() {
    return current.isEmpty();
  }

  /** A sampler on all servers, in place of a sampler that was closed. */
  public SamplingEngine newSampler() {
    try {
      FleetSampler fleet =
          new FleetSampler(
              policy,
              ServerWeightFolder.open(contents, weights(folder), companions, hostFiles),
              RetryPolicy.DEFAULT,
              new SidecarRestarts(),
              broadcaster);
      synchronized (this) {
        current = Optional.of(fleet);
        endpoints.forEach(fleet::join);
        outage().ifPresent(fleet::absent);
      }
      fleet.failAbsent();
      if (noServersLeft.isDone()) {
        fleet.noServersLeft(noServersLeft.join());
      }
      return fleet;
    } catch (IOException disk) {
      throw new UncheckedIOException("the folder for servers' weights: " + disk.getMessage(), disk);
    }
  }

  private synchronized Optional<Sidecars> own(String name) {
    return sidecars.filter(_ -> !named.contains(name));
  }

  /** Restarts the servers that this process started; it never restarts a server named by URL. */
  private final class SidecarRestarts implements ServerSupervisor {
    @Override
    public void restartNeeded(String name) {
      own(name).ifPresent(servers -> servers.restart(name));
    }

    @Override
    public boolean restartsForWeights(String name) {
      return restartsForWeights && !named.contains(name);
    }

    @Override
    public boolean restart(String name, Path weights) throws InterruptedException {
      Optional<Sidecars> own = own(name);
      return own.isPresent() && own.get().restart(name, weights);
    }
  }

  /**
   * Releases the servers of a sampler that is no longer used; the next sampler may have them
   * immediately.
   */
  public synchronized void release(SamplingEngine sampler) {
    Optional<FleetSampler> released = current.filter(fleet -> fleet.equals(sampler));
    if (released.isPresent()) {
      lastReport = released.get().report();
      current = Optional.empty();
    }
  }

  /** The state of the servers, on one line. */
  public synchronized String report() {
    return current.map(FleetSampler::report).orElse(lastReport);
  }

  @Override
  public void close() {
    Optional<FleetSampler> fleet;
    Optional<Sidecars> own;
    synchronized (this) {
      fleet = current;
      own = sidecars;
    }
    fleet.ifPresent(this::release);
    fleet.ifPresent(FleetSampler::close);
    own.ifPresent(Sidecars::close);
    broadcaster.ifPresent(WeightBroadcaster::close);
  }
}
