package io.troupe.ranks;

import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ranks that the nodes of a cluster start, and start again. The trainer's state goes to them over
 * the network.
 *
 * <p><b>Invariant</b>: a step is made by one group of ranks, all of which began from the state that
 * the trainer has. Whoever comes later, or comes again, is in no group until all begin again. So it
 * does not matter which ranks there are: where some stay away for longer than {@link
 * Patience#whole}, or fail twice in a row by their own fault, the others are a group by themselves,
 * and the step is the same.
 */
public final class RemoteRanks implements TrainerRanks {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteRanks.class);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** As long as an agent counts the ends of a process that it may start again. */
  private static final Duration EXCLUSION = Duration.ofMinutes(10);

  private final RankRegistry registry;
  private final Patience patience;
  private final Path scratch;
  private final Consumer<String> say;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rank-talk-", 0).factory());
  private final RankBackoff backoff = new RankBackoff(EXCLUSION);
  private volatile List<RemoteRank> group = List.of();

  /** Of the copies of the last common step. */
  private long mark;

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
   * A crew of whoever is in the registry when the trainer begins.
   *
   * @param registry not closed with this
   * @param scratch folder for states, which nothing else uses; ranks whose hosts share it read and
   *     write it, the others send and receive
   * @param say told whom it waits for, who begins, and who is lost
   */
  public RemoteRanks(RankRegistry registry, Patience patience, Path scratch, Consumer<String> say) {
    this.registry = registry;
    this.patience = patience;
    this.scratch = scratch;
    this.say = say;
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
    say.accept(
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
        say.accept(
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

  /** Those that may be of a group; all, if none of them has worked lately. */
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

  private RankFanOut round() {
    return new RankFanOut(group, threads, patience.step, this::failed);
  }

  private void failed(int number) {
    synchronized (backoff) {
      backoff.failed(number, System.nanoTime());
    }
    if (isExcluded(number)) {
      say.accept(
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
    long next = RankCopies.newMark();
    List<RankStepOutcome> steps = round().step(batches, optimisation, next);
    mark = RankFanOut.moved(steps) ? next : mark;
    synchronized (backoff) {
      group.forEach(slot -> backoff.succeeded(slot.number()));
    }
    return steps;
  }

  @Override
  public void write(StateFiles files) throws IOException, RankLostException {
    round().write(files);
  }

  @Override
  public void freezeReference() throws RankLostException {
    round().freezeReference();
  }

  @Override
  public Optional<String> recover(long steps) throws RankLostException {
    long next = RankCopies.newMark();
    Optional<String> lacking = round().takeCopies(mark, next, steps);
    mark = lacking.isEmpty() ? next : mark;
    return lacking;
  }

  @Override
  public void wentBack(String reason) {
    LOG.warn("event=trainer_ranks_went_back reason=\"{}\"", reason);
    say.accept(reason);
  }

  @Override
  public Path scratch() {
    return scratch;
  }

  /** Returns the bytes that passed between the coordinator and the processes of the ranks. */
  public long linkBytes() {
    return round().bytes();
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say.accept("the step is abandoned and made again: " + reason);
  }

  @Override
  public void close() {
    group.forEach(RemoteRank::disconnect); // They come to the registry again.
    threads.close();
  }
}
