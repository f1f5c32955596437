package io.troupe.engine.http.fleet;

import io.troupe.engine.SamplingEngine;
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
 * The servers of a run: those named by URL, and those it starts itself. One sampler at a time draws
 * on all of them; a worker that was started anew gets another, and the servers stay.
 */
public final class InferenceServers implements AutoCloseable {
  private final LocalPolicy policy;
  private final Path folder;
  private final Set<String> named;
  private final boolean restartsForWeights;
  private final ServerWeightFolder.Contents contents;
  private final ServerWeightFolder.CompanionFiles companions;
  private final ServerWeightFolder.AdapterLocations lying;
  private final CompletableFuture<Optional<String>> begun = new CompletableFuture<>();
  private final CompletableFuture<String> noServersLeft = new CompletableFuture<>();
  private final Map<String, InferenceEndpoint> endpoints = new ConcurrentHashMap<>();
  private Optional<FleetSampler> current = Optional.empty(); // guarded by this
  private String lastReport = "nothing was sampled"; // guarded by this
  private Optional<Sidecars> sidecars = Optional.empty(); // guarded by this
  private int remaining; // servers that are named, or not given up; guarded by this

  /** Why started servers do not serve, of those that are tried again only seldom. */
  private final SortedMap<String, String> failing = new TreeMap<>(); // guarded by this

  private InferenceServers(
      LocalPolicy policy,
      Set<String> named,
      boolean restartsForWeights,
      ServerWeightFolder.Contents contents,
      Path folder,
      ServerWeightFolder.CompanionFiles companions,
      ServerWeightFolder.AdapterLocations lying) {
    this.policy = policy;
    this.folder = folder;
    this.named = named;
    this.restartsForWeights = restartsForWeights;
    this.contents = contents;
    this.companions = companions;
    this.lying = lying;
  }

  /**
   * Opens the servers.
   *
   * @param policy whose engines stay open until the pool's samplers are closed
   * @param named those that others run
   * @param own those to start; a count of 0 starts none
   * @param contents what they get of each version
   * @param folder for weights, logs and cards; of this pool alone
   * @param lying weights that are in files already
   */
  public static InferenceServers open(
      LocalPolicy policy,
      List<InferenceEndpoint> named,
      Sidecars.SidecarPlan own,
      ServerWeightFolder.Contents contents,
      Path folder,
      ServerWeightFolder.CompanionFiles companions,
      ServerWeightFolder.AdapterLocations lying)
      throws IOException, InterruptedException {
    InferenceServers pool =
        new InferenceServers(
            policy,
            named.stream().map(InferenceEndpoint::toString).collect(Collectors.toSet()),
            own.restartsForWeights(),
            contents,
            folder,
            companions,
            lying);
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

  /** Why no server is there, once each has failed again and again; the caller holds the lock. */
  private Optional<String> outage() {
    return endpoints.isEmpty() && !failing.isEmpty() && failing.size() == remaining
        ? Optional.of(
            failing.entrySet().stream()
                .map(one -> "%s: %s".formatted(one.getKey(), one.getValue()))
                .collect(Collectors.joining("; ")))
        : Optional.empty();
  }

  /** Where the weights for servers lie, in the folder of a pool. */
  public static Path weights(Path folder) {
    return folder.resolve("weights").toAbsolutePath();
  }

  /** Waits until a started server serves; says why if all were given up instead. */
  public Optional<String> awaitFirstServer() {
    return begun.join();
  }

  /** Why there is no server left, once there is none and none will come. */
  public CompletionStage<String> noServersLeft() {
    return noServersLeft.minimalCompletionStage();
  }

  /** Whether no sampler is open. */
  public synchronized boolean isFree() {
    return current.isEmpty();
  }

  /** A sampler on all servers, in place of one that was closed. */
  public SamplingEngine newSampler() {
    try {
      FleetSampler fleet =
          new FleetSampler(
              policy,
              ServerWeightFolder.open(contents, weights(folder), companions, lying),
              RetryPolicy.DEFAULT,
              new SidecarRestarts());
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

  /** The servers it started; those of others are left to them. */
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

  /** Nobody draws with a sampler any more: the servers are free for the next, at once. */
  public synchronized void release(SamplingEngine sampler) {
    Optional<FleetSampler> released = current.filter(fleet -> fleet.equals(sampler));
    if (released.isPresent()) {
      lastReport = released.get().report();
      current = Optional.empty();
    }
  }

  /** How the servers fare, on a line. */
  public synchronized String report() {
    return current.map(FleetSampler::report).orElse(lastReport);
  }

  /** Pids of the servers that were started. */
  public synchronized List<Long> pids() {
    return sidecars.map(Sidecars::pids).orElse(List.of());
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
  }
}
