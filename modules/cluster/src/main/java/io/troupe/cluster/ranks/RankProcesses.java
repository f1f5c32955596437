package io.troupe.cluster.ranks;

import static io.troupe.core.Require.require;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.Children;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.core.restart.Restarts;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankCrew;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.lang.foreign.Arena;
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
 * Ranks that are child processes of the head, which exchange over sockets. One that ends is started
 * again when the trainer begins anew, after a pause, and given up when it ends too often. One that
 * fails, or gives no sign of life, is ended.
 */
public final class RankProcesses implements RankCrew {
  private static final Logger LOG = LoggerFactory.getLogger(RankProcesses.class);

  private static final String LOOPBACK = InetAddress.getLoopbackAddress().getHostAddress();

  private final RunSecret secret = RunSecret.random();
  private final Map<Integer, CompletableFuture<RankCall>> awaited = new ConcurrentHashMap<>();
  private final List<ChildSeat> seats = new ArrayList<>();
  private final Children children = new Children();
  private final RankReception reception;
  private final Duration limit;
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
     * @param head where it reports
     * @param secret that it proves itself with, in hexadecimal digits
     */
    ChildSpec of(int rank, HostPort head, String secret) throws IOException;
  }

  private RankProcesses(
      int ranks, Starter starter, Restarts.Policy policy, Duration limit, Consumer<String> say)
      throws IOException {
    this.limit = limit;
    this.say = say;
    this.reception =
        RankReception.open(
            Endpoint.onLoopback(), new HostPort(LOOPBACK, 0), secret, RankCall.SILENCE, this::came);
    for (int rank = 0; rank < ranks; rank++) {
      ChildSpec child = starter.of(rank, reception.address(), secret.hex());
      seats.add(new ChildSeat(rank, child, children, this::report, policy));
    }
  }

  /** The report of a rank that is about to start. */
  private CompletableFuture<RankCall> report(int rank) {
    CompletableFuture<RankCall> call = new CompletableFuture<>();
    awaited.put(rank, call);
    return call;
  }

  private RankReception.Welcome came(RankTalk.Report report, RankCall call) {
    return Optional.ofNullable(awaited.remove(report.rank()))
            .map(awaiting -> awaiting.complete(call))
            .orElse(false)
        ? new RankReception.Welcome.Stay()
        : new RankReception.Welcome.NotNow("no such rank is awaited: " + report);
  }

  /**
   * A crew whose processes start when the trainer begins.
   *
   * @param limit for each of them to begin, and to make a step
   * @param say told which ranks start, and which are lost
   */
  public static RankProcesses of(int ranks, Starter starter, Duration limit, Consumer<String> say)
      throws IOException {
    return of(ranks, starter, Restarts.Policy.DEFAULT, limit, say);
  }

  /** The same with another rule of when a process is started again. */
  static RankProcesses of(
      int ranks, Starter starter, Restarts.Policy policy, Duration limit, Consumer<String> say)
      throws IOException {
    require(ranks >= 1, "a trainer has 1 rank or more, not %d", ranks);
    return new RankProcesses(ranks, starter, policy, limit, say);
  }

  @Override
  public int size() {
    return seats.size();
  }

  @Override
  public void begin(Path state) throws IOException, RankLostException {
    for (ChildSeat seat : seats) {
      seat.awaitTurn();
    }
    List<Long> started = round().all((place, _, _) -> seats.get(place).attend());
    for (int rank = 0; rank < started.size(); rank++) {
      if (started.get(rank) > 0) {
        say.accept("trainer rank %d is process %d".formatted(rank, started.get(rank)));
      }
    }
    List<String> addresses = round().all((_, seat, _) -> seat.call().listen());
    round().begin(addresses, Collections.nCopies(addresses.size(), state.toString()));
  }

  private RankRound round() {
    return new RankRound(seats, threads, limit, _ -> {});
  }

  @Override
  public List<RankStep> step(List<RankShare> shares, Optimisation optimisation, Arena arena)
      throws RankLostException {
    return round().step(shares, optimisation, arena);
  }

  @Override
  public void lost(String reason) {
    LOG.warn("event=trainer_rank_lost reason=\"{}\"", reason);
    say.accept("the step is abandoned and made again: " + reason);
  }

  @Override
  public void close() {
    seats.forEach(ChildSeat::hangUp);
    reception.close();
    children.close();
    threads.close();
  }
}
