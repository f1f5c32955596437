package io.troupe.cluster.ranks;

import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankCrew;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
 * the trainer has. Whoever comes later, or comes again, is in no group until all begin anew. So it
 * does not matter which ranks there are: where some stay away for longer than {@link
 * Patience#whole}, or fail twice in a row by their own fault, the others are a group by themselves,
 * and the step is the same.
 */
public final class NodeRanks implements RankCrew {
  private static final Logger LOG = LoggerFactory.getLogger(NodeRanks.class);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(500);

  /** As long as an agent counts the ends of a process that it may start again. */
  private static final Duration LEFT_OUT = Duration.ofMinutes(10);

  private final RankHall hall;
  private final Patience patience;
  private final Consumer<String> say;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rank-talk-", 0).factory());
  private final Bench bench = new Bench(LEFT_OUT);
  private boolean excused;
  private volatile List<NodeSeat> group = List.of();

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
   * A crew of whoever is in the hall when the trainer begins.
   *
   * @param hall not closed with this
   * @param say told whom it waits for, who begins, and who is lost
   */
  public NodeRanks(RankHall hall, Patience patience, Consumer<String> say) {
    this.hall = hall;
    this.patience = patience;
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
    List<String> addresses = round().all((_, seat, _) -> seat.call().listen());
    List<String> folders = round().all((_, seat, _) -> seat.call().send(state));
    round().begin(addresses, folders);
    say.accept(
        "%s: %s"
            .formatted(
                group.size() == hall.ranks()
                    ? "all trainer ranks begin"
                    : "%d of %d trainer ranks begin, and the others when they come"
                        .formatted(group.size(), hall.ranks()),
                group.stream()
                    .map(seat -> "rank %d is %s".formatted(seat.number(), seat))
                    .collect(Collectors.joining(", "))));
  }

  private List<NodeSeat> assembled() throws IOException {
    long since = System.nanoTime();
    try {
      List<NodeSeat> there = fit(hall.await(Duration.ZERO));
      if (there.size() < hall.ranks() && !fills(there)) {
        say.accept(
            "waits for trainer rank %s: no process of a node has reported for it at %s"
                .formatted(absent(there), hall.address()));
      }
      while (!fills(there)) {
        Duration waited = Duration.ofNanos(System.nanoTime() - since);
        if (!there.isEmpty() && waited.compareTo(patience.whole()) >= 0) {
          return there;
        }
        if (waited.compareTo(patience.any()) >= 0) {
          throw new IOException(
              "no trainer rank came within %d s; look into the nodes' logs, start `troupe node` where the placement has ranks, then resume the run"
                  .formatted(patience.any().toSeconds()));
        }
        there = fit(hall.await(LOOK_AGAIN));
      }
      return there;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the trainer is stopped", stopped);
    }
  }

  /** Those that may be of a group; all, if none of them has worked lately. */
  private List<NodeSeat> fit(List<NodeSeat> there) {
    List<NodeSeat> sound = there.stream().filter(seat -> !leftOut(seat.number())).toList();
    return sound.isEmpty() ? there : sound;
  }

  private boolean leftOut(int number) {
    synchronized (bench) {
      return bench.holds(number, System.nanoTime());
    }
  }

  /** Whether no other rank is worth waiting for. */
  private boolean fills(List<NodeSeat> there) {
    Set<Integer> numbers = there.stream().map(NodeSeat::number).collect(Collectors.toSet());
    return !there.isEmpty()
        && IntStream.range(0, hall.ranks()).allMatch(n -> numbers.contains(n) || leftOut(n));
  }

  private String absent(List<NodeSeat> there) {
    List<Integer> numbers = there.stream().map(NodeSeat::number).toList();
    return IntStream.range(0, hall.ranks())
        .filter(number -> !numbers.contains(number))
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(", "));
  }

  private RankRound round() {
    return new RankRound(group, threads, patience.step, this::failed);
  }

  private void failed(int number) {
    synchronized (bench) {
      excused = bench.failed(number, System.nanoTime()) && group.size() > 1;
    }
    if (leftOut(number)) {
      say.accept(
          "trainer rank %d has failed twice, and is left out for %d minutes while there are others; see its node's log"
              .formatted(number, LEFT_OUT.toMinutes()));
    }
  }

  /** Not if a rank failed that the others can do without; twice in a row for each at most. */
  @Override
  public boolean counts() {
    synchronized (bench) {
      boolean counts = !excused;
      excused = false;
      return counts;
    }
  }

  /** Whether another rank, or another process of one, waits to be called. */
  @Override
  public boolean changed() {
    return !group.containsAll(fit(hall.present()));
  }

  @Override
  public List<RankStep> step(List<RankShare> shares, Optimisation optimisation, Arena arena)
      throws RankLostException {
    List<RankStep> steps = round().step(shares, optimisation, arena);
    synchronized (bench) {
      group.forEach(seat -> bench.worked(seat.number()));
    }
    return steps;
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say.accept("the step is abandoned and made again: " + reason);
  }

  @Override
  public void close() {
    group.forEach(NodeSeat::hangUp); // They come to the hall again.
    threads.close();
  }
}
