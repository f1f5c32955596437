package io.troupe.ranks;

import static io.troupe.core.Require.require;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ranks that are child processes of the coordinator, which exchange over sockets. One that ends is
 * started again when the trainer begins again, after a pause that grows with every end. One that
 * fails, or gives no sign of life, is ended.
 */
public final class LocalRanks implements TrainerRanks {
  private static final Logger LOG = LoggerFactory.getLogger(LocalRanks.class);

  private static final String LOOPBACK = InetAddress.getLoopbackAddress().getHostAddress();

  private final RunSecret secret = RunSecret.random();
  private final Map<Integer, CompletableFuture<RankClient>> awaited = new ConcurrentHashMap<>();
  private final List<LocalRank> slots = new ArrayList<>();
  private final ChildProcesses children = new ChildProcesses();
  private final RankListener rankListener;
  private final Duration limit;
  private final Path scratch;

  /** Of the copies of the last common step. */
  private long mark;

  private final Consumer<String> say;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("rank-talk-", 0).factory());

  /** How to start a rank. */
  @FunctionalInterface
  public interface Starter {
    /**
     * What to start.
     *
     * @param rank from 0
     * @param coordinator where it reports
     * @param secret that it proves itself with, in hexadecimal digits
     */
    ChildSpec of(int rank, HostPort coordinator, String secret) throws IOException;
  }

  private LocalRanks(
      int ranks,
      Starter starter,
      RestartBackoff.Settings policy,
      Duration limit,
      Path scratch,
      Consumer<String> say)
      throws IOException {
    this.limit = limit;
    this.scratch = scratch;
    this.say = say;
    this.rankListener =
        RankListener.open(
            ConnectionFactory.onLoopback(),
            new HostPort(LOOPBACK, 0),
            secret,
            RankClient.HEARTBEAT_TIMEOUT,
            this::onReport);
    for (int rank = 0; rank < ranks; rank++) {
      ChildSpec child = starter.of(rank, rankListener.address(), secret.hex());
      slots.add(new LocalRank(rank, child, children, this::report, policy, say));
    }
  }

  /** The report of a rank that is about to start. */
  private CompletableFuture<RankClient> report(int rank) {
    CompletableFuture<RankClient> call = new CompletableFuture<>();
    awaited.put(rank, call);
    return call;
  }

  private RankListener.Acceptance onReport(RankProtocol.Report report, RankClient call) {
    return Optional.ofNullable(awaited.remove(report.rank()))
            .map(awaiting -> awaiting.complete(call))
            .orElse(false)
        ? new RankListener.Acceptance.Accepted()
        : new RankListener.Acceptance.RetryLater("no such rank is awaited: " + report);
  }

  /**
   * A crew whose processes start when the trainer begins.
   *
   * @param limit for each of them to begin, and to make a step
   * @param scratch folder for states, which nothing else uses
   * @param say told which ranks start, and which are lost
   */
  public static LocalRanks of(
      int ranks, Starter starter, Duration limit, Path scratch, Consumer<String> say)
      throws IOException {
    return of(ranks, starter, RestartBackoff.Settings.DEFAULT, limit, scratch, say);
  }

  /** The same with another rule of when a process is started again. */
  static LocalRanks of(
      int ranks,
      Starter starter,
      RestartBackoff.Settings policy,
      Duration limit,
      Path scratch,
      Consumer<String> say)
      throws IOException {
    require(ranks >= 1, "a trainer has 1 rank or more, not %d", ranks);
    return new LocalRanks(ranks, starter, policy, limit, scratch, say);
  }

  @Override
  public int size() {
    return slots.size();
  }

  @Override
  public void begin(Path state) throws IOException, RankLostException {
    for (LocalRank slot : slots) {
      slot.awaitTurn();
    }
    List<Long> started = round().askAll((place, _, _) -> slots.get(place).awaitReport());
    for (int rank = 0; rank < started.size(); rank++) {
      if (started.get(rank) > 0) {
        say.accept("trainer rank %d is process %d".formatted(rank, started.get(rank)));
      }
    }
    List<String> addresses = round().askAll((_, slot, _) -> slot.call().listen());
    round()
        .begin(addresses, Collections.nCopies(addresses.size(), state.toAbsolutePath().toString()));
  }

  private RankFanOut round() {
    return new RankFanOut(slots, threads, limit, _ -> {});
  }

  @Override
  public List<RankStepOutcome> step(List<RankBatch> batches, OptimizerSettings optimisation)
      throws RankLostException {
    long next = RankCopies.newMark();
    List<RankStepOutcome> steps = round().step(batches, optimisation, next);
    mark = RankFanOut.moved(steps) ? next : mark;
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
  long linkBytes() {
    return round().bytes();
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say.accept("the step is abandoned and made again: " + reason);
  }

  @Override
  public void close() {
    slots.forEach(LocalRank::disconnect);
    rankListener.close();
    children.close();
    threads.close();
  }
}
