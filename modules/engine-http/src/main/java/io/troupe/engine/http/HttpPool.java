package io.troupe.engine.http;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.http.protocol.Retry;
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
public final class HttpPool implements AutoCloseable {
  private final OwnPolicy policy;
  private final Path folder;
  private final Set<String> named;
  private final boolean restartsForWeights;
  private final WeightShelf.Contents contents;
  private final WeightShelf.Companions companions;
  private final WeightShelf.Lying lying;
  private final CompletableFuture<Optional<String>> begun = new CompletableFuture<>();
  private final CompletableFuture<String> deserted = new CompletableFuture<>();
  private final Map<String, Endpoint> endpoints = new ConcurrentHashMap<>();
  private Optional<FleetSampler> current = Optional.empty(); // guarded by this
  private String lastReport = "nothing was sampled"; // guarded by this
  private Optional<Sidecars> sidecars = Optional.empty(); // guarded by this
  private int remaining; // servers that are named, or not given up; guarded by this

  /** Why started servers do not serve, of those that are tried again only seldom. */
  private final SortedMap<String, String> failing = new TreeMap<>(); // guarded by this

  private HttpPool(
      OwnPolicy policy,
      Set<String> named,
      boolean restartsForWeights,
      WeightShelf.Contents contents,
      Path folder,
      WeightShelf.Companions companions,
      WeightShelf.Lying lying) {
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
  public static HttpPool open(
      OwnPolicy policy,
      List<Endpoint> named,
      Sidecars.Plan own,
      WeightShelf.Contents contents,
      Path folder,
      WeightShelf.Companions companions,
      WeightShelf.Lying lying)
      throws IOException, InterruptedException {
    HttpPool pool =
        new HttpPool(
            policy,
            named.stream().map(Endpoint::toString).collect(Collectors.toSet()),
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
      Sidecars started = Sidecars.start(own, folder, pool.new Joining());
      synchronized (pool) {
        pool.sidecars = Optional.of(started);
      }
    }
    return pool;
  }

  private final class Joining implements Sidecars.Listener {
    @Override
    public void up(String name, Endpoint endpoint) {
      synchronized (HttpPool.this) {
        endpoints.put(name, endpoint);
        failing.remove(name);
        current.ifPresent(fleet -> fleet.join(name, endpoint));
      }
      begun.complete(Optional.empty());
    }

    @Override
    public void down(String name) {
      synchronized (HttpPool.this) {
        endpoints.remove(name);
        current.ifPresent(fleet -> fleet.leave(name));
      }
    }

    @Override
    public void failing(String name, String reason) {
      Optional<FleetSampler> idle;
      synchronized (HttpPool.this) {
        failing.put(name, reason);
        outage().ifPresent(why -> current.ifPresent(fleet -> fleet.absent(why)));
        idle = current;
      }
      idle.ifPresent(FleetSampler::failAbsent);
    }

    @Override
    public void givenUp(String name, String reason) {
      boolean last;
      synchronized (HttpPool.this) {
        endpoints.remove(name);
        remaining--;
        last = remaining == 0;
      }
      if (last) {
        String why = "%s is given up: %s".formatted(name, reason);
        begun.complete(Optional.of(why));
        deserted.complete(why);
        Optional<FleetSampler> fleet;
        synchronized (HttpPool.this) {
          fleet = current;
        }
        fleet.ifPresent(left -> left.desert(why));
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
  public Optional<String> awaitBegin() {
    return begun.join();
  }

  /** Why there is no server left, once there is none and none will come. */
  public CompletionStage<String> deserted() {
    return deserted.minimalCompletionStage();
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
              WeightShelf.open(contents, weights(folder), companions, lying),
              Retry.DEFAULT,
              new Keeping());
      synchronized (this) {
        current = Optional.of(fleet);
        endpoints.forEach(fleet::join);
        outage().ifPresent(fleet::absent);
      }
      fleet.failAbsent();
      if (deserted.isDone()) {
        fleet.desert(deserted.join());
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
  private final class Keeping implements Keeper {
    @Override
    public void broken(String name) {
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
