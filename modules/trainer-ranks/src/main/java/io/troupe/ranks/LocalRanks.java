package io.troupe.ranks;

import static io.troupe.core.Require.require;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankNotices;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.RankListener;
import io.troupe.ranks.protocol.RankProtocol;
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

/**
 * Ranks that are child processes of the coordinator, which exchange over sockets. One that ends is
 * started again when the trainer begins again, after a pause that grows with every end. One that
 * fails, or gives no sign of life, is ended.
 */
public final class LocalRanks extends ConnectedRanks {
  private static final String LOOPBACK = InetAddress.getLoopbackAddress().getHostAddress();

  private final RunSecret secret = RunSecret.random();
  private final Map<Integer, CompletableFuture<RankClient>> awaited = new ConcurrentHashMap<>();
  private final List<LocalRank> slots = new ArrayList<>();
  private final ChildProcesses children = new ChildProcesses();
  private final RankListener rankListener;
  private final Duration limit;

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
      RankNotices notices)
      throws IOException {
    super(scratch, notices);
    this.limit = limit;
    this.rankListener =
        RankListener.open(
            ConnectionFactory.onLoopback(),
            new HostPort(LOOPBACK, 0),
            secret,
            RankClient.HEARTBEAT_TIMEOUT,
            this::onReport);
    for (int rank = 0; rank < ranks; rank++) {
      ChildSpec child = starter.of(rank, rankListener.address(), secret.hex());
      slots.add(new LocalRank(rank, child, children, this::report, policy, notices::say));
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
   * Ranks whose processes start when the trainer begins.
   *
   * @param limit for each of them to begin, and to make a step
   * @param scratch folder for states, which nothing else uses
   * @param notices takes which ranks start, and which are lost
   */
  public static LocalRanks of(
      int ranks, Starter starter, Duration limit, Path scratch, RankNotices notices)
      throws IOException {
    return of(ranks, starter, RestartBackoff.Settings.DEFAULT, limit, scratch, notices);
  }

  /** Ranks with another rule of when a process is started again. */
  static LocalRanks of(
      int ranks,
      Starter starter,
      RestartBackoff.Settings policy,
      Duration limit,
      Path scratch,
      RankNotices notices)
      throws IOException {
    require(ranks >= 1, "a trainer has 1 rank or more, not %d", ranks);
    return new LocalRanks(ranks, starter, policy, limit, scratch, notices);
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
        say("trainer rank %d is process %d".formatted(rank, started.get(rank)));
      }
    }
    List<String> addresses = round().askAll((_, slot, _) -> slot.call().listen());
    round()
        .begin(addresses, Collections.nCopies(addresses.size(), state.toAbsolutePath().toString()));
  }

  @Override
  RankFanOut round() {
    return new RankFanOut(slots, threads(), limit, _ -> {});
  }

  @Override
  public void close() {
    slots.forEach(LocalRank::disconnect);
    rankListener.close();
    children.close();
    super.close();
  }
}
