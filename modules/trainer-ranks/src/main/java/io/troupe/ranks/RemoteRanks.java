package io.troupe.ranks;

import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankNotices;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Ranks that the nodes of a cluster start, and start again. The trainer's state goes to them over
 * the network.
 *
 * <p><b>Invariant</b>: a step is made by one group of ranks, all of which began from the state that
 * the trainer has. A rank that comes later, or comes again, is in no group until all begin again.
 * So it does not matter which ranks there are: where some stay away for longer than {@link
 * Patience#whole}, or fail twice in a row by their own fault, the others are a group by themselves,
 * and the step is the same.
 */
public final class RemoteRanks extends ConnectedRanks {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** As long as an agent counts the ends of a process that it may start again. */
  private static final Duration EXCLUSION = Duration.ofMinutes(10);

  private final RankRegistry registry;
  private final Patience patience;
  private final RankBackoff backoff = new RankBackoff(EXCLUSION);
  private volatile List<RemoteRank> group = List.of();

  /**
   * How long to wait for ranks that are not there.
   *
   * @param whole for all of them, while some are there
   * @param any for a first one
   * @param step for each of them to begin, and to make a step
   */
  public record Patience(Duration whole, Duration any, Duration step) {
    /** A rank may load PyTorch; an operator may have to start a node. */
    public static Patience of(Duration step) {
      return new Patience(Duration.ofSeconds(30), Duration.ofMinutes(30), step);
    }
  }

  /**
   * The ranks that are in the registry when the trainer begins.
   *
   * @param registry not closed with this
   * @param scratch folder for states, which nothing else uses; ranks whose hosts share it read and
   *     write it, the others send and receive
   * @param notices takes which ranks the trainer waits for, which begin, and which are lost
   */
  public RemoteRanks(RankRegistry registry, Patience patience, Path scratch, RankNotices notices) {
    super(scratch, notices);
    this.registry = registry;
    this.patience = patience;
  }

  /** How many began. */
  @Override
  public int size() {
    return group.size();
  }

  @Override
  public void begin(Path state) throws IOException, RankLostException {
    group = assembled();
    List<String> addresses = round().askAll((_, slot, _) -> slot.call().listen());
    List<String> folders = round().sendState(state);
    round().begin(addresses, folders);
    say(
        "%s: %s"
            .formatted(
                group.size() == registry.ranks()
                    ? "all trainer ranks begin"
                    : "%d of %d trainer ranks begin, and the others when they come"
                        .formatted(group.size(), registry.ranks()),
                group.stream()
                    .map(slot -> "rank %d is %s".formatted(slot.number(), slot))
                    .collect(Collectors.joining(", "))));
  }

  private List<RemoteRank> assembled() throws IOException {
    long since = System.nanoTime();
    try {
      List<RemoteRank> there = fit(registry.await(Duration.ZERO));
      if (there.size() < registry.ranks() && !isComplete(there)) {
        say(
            "waits for trainer rank %s: no process of a node has reported for it at %s"
                .formatted(absent(there), registry.address()));
      }
      while (!isComplete(there)) {
        Duration waited = Duration.ofNanos(System.nanoTime() - since);
        if (!there.isEmpty() && waited.compareTo(patience.whole()) >= 0) {
          return there;
        }
        if (waited.compareTo(patience.any()) >= 0) {
          throw new IOException(
              "no trainer rank came within %d s; look into the nodes' logs, start `troupe node` where the placement has ranks, then resume the run"
                  .formatted(patience.any().toSeconds()));
        }
        there = fit(registry.await(POLL_INTERVAL));
      }
      return there;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the trainer is stopped", stopped);
    }
  }

  /** Returns the ranks that may be of a group; all, if none of them has worked lately. */
  private List<RemoteRank> fit(List<RemoteRank> there) {
    List<RemoteRank> sound = there.stream().filter(slot -> !isExcluded(slot.number())).toList();
    return sound.isEmpty() ? there : sound;
  }

  private boolean isExcluded(int number) {
    synchronized (backoff) {
      return backoff.excludes(number, System.nanoTime());
    }
  }

  /** Whether no other rank is worth waiting for. */
  private boolean isComplete(List<RemoteRank> there) {
    Set<Integer> numbers = there.stream().map(RemoteRank::number).collect(Collectors.toSet());
    return !there.isEmpty()
        && IntStream.range(0, registry.ranks()).allMatch(n -> numbers.contains(n) || isExcluded(n));
  }

  private String absent(List<RemoteRank> there) {
    List<Integer> numbers = there.stream().map(RemoteRank::number).toList();
    return IntStream.range(0, registry.ranks())
        .filter(number -> !numbers.contains(number))
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(", "));
  }

  @Override
  RankFanOut round() {
    return new RankFanOut(group, threads(), patience.step, this::failed);
  }

  private void failed(int number) {
    synchronized (backoff) {
      backoff.failed(number, System.nanoTime());
    }
    if (isExcluded(number)) {
      say(
          "trainer rank %d has failed twice, and is left out for %d minutes while there are others; see its node's log"
              .formatted(number, EXCLUSION.toMinutes()));
    }
  }

  /** Whether another rank, or another process of one, waits to be called. */
  @Override
  public boolean changed() {
    return !group.containsAll(fit(registry.present()));
  }

  @Override
  public List<RankStepOutcome> step(List<RankBatch> batches, OptimizerSettings optimisation)
      throws RankLostException {
    List<RankStepOutcome> steps = super.step(batches, optimisation);
    synchronized (backoff) {
      group.forEach(slot -> backoff.succeeded(slot.number()));
    }
    return steps;
  }

  @Override
  public void close() {
    group.forEach(RemoteRank::disconnect); // They come to the registry again.
    super.close();
  }
}
