package io.troupe.ranks;

import io.troupe.accelerator.host.SocketRing;
import io.troupe.base.failure.Closing;
import io.troupe.base.files.FileTree;
import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.protocol.CopyPlan;
import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.RankConnection;
import io.troupe.ranks.protocol.RankHeartbeat;
import io.troupe.ranks.protocol.RankListener;
import io.troupe.ranks.protocol.RankProtocol;
import io.troupe.ranks.protocol.StateTransfer;
import io.troupe.ranks.protocol.VersionMarks;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rank's process, as long as one coordinator has it: does what that orders, one after the other.
 */
public final class RankWorker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankWorker.class);
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** The interval of heartbeats; the coordinator misses ten before it judges. */
  private static final Duration HEARTBEAT_INTERVAL = RankClient.HEARTBEAT_TIMEOUT.dividedBy(10);

  private final RankIdentity identity;
  private final TrainerRank rank;
  private final RankConnection line;
  private final RankHeartbeat beat;
  private Optional<ConnectionFactory.Listener> listener = Optional.empty();
  private Optional<GatedCollective> group = Optional.empty();
  private volatile Optional<SocketRing> ring = Optional.empty();
  private final RankCopies copies;
  private final StateWriter state;

  /**
   * The identity of a rank, and how it is reached.
   *
   * @param number from 0
   * @param node whose agent started it; empty if the coordinator did
   * @param process its name there
   * @param endpoint how it reaches the coordinator and the other ranks
   * @param host name or address that the other ranks reach it by
   * @param secret of the run
   * @param deadline of each exchange between ranks
   * @param port where the other ranks reach it; 0 takes a free one
   * @param scratch folder for the trainer's state while it begins, which nothing else uses
   */
  public record RankIdentity(
      int number,
      String node,
      String process,
      ConnectionFactory endpoint,
      String host,
      RunSecret secret,
      Duration deadline,
      int port,
      Path scratch) {}

  /** The coordinator has given this process's number to another one. */
  static final class RankEvictedException extends IOException {
    private static final long serialVersionUID = 1L;

    RankEvictedException(String reason) {
      super(reason);
    }
  }

  private RankWorker(
      RankIdentity self, TrainerRank rank, RankCopies copies, RankConnection line, Duration pause) {
    this.identity = self;
    this.rank = rank;
    this.copies = copies;
    this.line = line;
    this.beat = new RankHeartbeat(line, pause);
    this.state = new StateWriter(rank, beat);
  }

  /**
   * Reports to the coordinator; the rank is not closed with this. Deletes what a former process of
   * this rank has left in its scratch folder.
   *
   * @param keepsCopies whether it keeps copies of the state after a step, of its piece and of its
   *     neighbour's
   */
  public static RankWorker report(
      HostPort coordinator, RankIdentity self, TrainerRank rank, boolean keepsCopies)
      throws IOException {
    return report(coordinator, self, rank, keepsCopies, HEARTBEAT_INTERVAL);
  }

  /** Reports with another pause between heartbeats. */
  static RankWorker report(
      HostPort coordinator,
      RankIdentity self,
      TrainerRank rank,
      boolean keepsCopies,
      Duration pause)
      throws IOException {
    FileTree.delete(self.scratch);
    try {
      Connection wire =
          self.endpoint.connect(
              new InetSocketAddress(coordinator.host(), coordinator.port()), CONNECT);
      RankConnection line = new RankConnection(wire);
      try {
        new PeerHandshake(self.secret, RankListener.PURPOSE).asClient(wire, RankListener.HELLO);
        line.send(
            new RankProtocol.Report(
                self.number, self.node, self.process, ProcessHandle.current().pid()));
        return new RankWorker(self, rank, new RankCopies(keepsCopies), line, pause);
      } catch (IOException refused) {
        line.close();
        throw refused;
      }
    } catch (IOException refused) {
      throw new IOException(
          "the coordinator at %s: %s".formatted(coordinator, refused.getMessage()), refused);
    }
  }

  /** Works until the coordinator hangs up. */
  public void work() throws IOException {
    while (true) {
      RankProtocol order;
      try {
        order = line.receive();
      } catch (EOFException over) {
        return;
      }
      switch (order) {
        case RankProtocol.Order own -> execute(own);
        case RankProtocol.Evicted(String reason) -> throw new RankEvictedException(reason);
        case RankProtocol other -> throw new IOException("no order of the coordinator's: " + other);
      }
    }
  }

  /**
   * Failures of the engine are the coordinator's to judge: it abandons the step, and begins again.
   */
  private void execute(RankProtocol.Order order) throws IOException {
    beat.setBusy(true);
    try {
      switch (order) {
        case RankProtocol.Listen _ -> send(new RankProtocol.Listening(listen()));
        case RankProtocol.ReceiveState(List<String> files) ->
            send(new RankProtocol.StateReceived(receiveState(files)));
        case RankProtocol.FindFolder(String folder, String mark) ->
            send(new RankProtocol.FolderFound(state.sees(folder, mark)));
        case RankProtocol.WriteState written -> {
          state.write(written);
          send(new RankProtocol.StateWritten());
        }
        case RankProtocol.SendState(List<StatePart> parts, VersionMarks marks) -> {
          state.send(parts, marks);
          send(new RankProtocol.StateWritten());
        }
        case RankProtocol.FreezeReference _ -> {
          rank.freezeReference();
          send(new RankProtocol.ReferenceFrozen());
        }
        case RankProtocol.JoinGroup(int place, List<String> addresses, String folder) -> {
          begin(place, addresses, Path.of(folder));
          send(new RankProtocol.GroupJoined());
        }
        case RankProtocol.Step step -> step(step);
        case RankProtocol.ListCopies _ -> send(new RankProtocol.CopiesListed(copies.held()));
        case RankProtocol.TakeCopies(CopyPlan plan) -> {
          copies.take(plan, rank, group.orElseThrow(), ring);
          send(new RankProtocol.CopiesTaken());
        }
      }
    } catch (RankLostException lost) {
      leave();
      send(new RankProtocol.PeerLost(lost.rank(), lost.reason()));
    } catch (RuntimeException fault) {
      LOG.error("event=rank_failed rank={}", identity.number, fault);
      leave();
      send(new RankProtocol.Failed(String.valueOf(fault)));
    } finally {
      beat.setBusy(false);
    }
  }

  private void send(RankProtocol message) throws IOException {
    beat.write(to -> to.send(message));
  }

  private String listen() throws IOException {
    leave();
    try {
      ConnectionFactory.Listener own =
          identity.endpoint.listen(new InetSocketAddress(identity.host, identity.port));
      listener = Optional.of(own);
      return new HostPort(identity.host, own.address().getPort()).toString();
    } catch (IOException unable) {
      throw new UncheckedIOException(unable.getMessage(), unable);
    }
  }

  private String receiveState(List<String> files) throws IOException {
    Path folder = identity.scratch.toAbsolutePath().normalize();
    StateTransfer.receive(line, folder, files);
    return folder.toString();
  }

  private void begin(int place, List<String> addresses, Path folder)
      throws IOException, RankLostException {
    state.close(); // What it has sent is of another group.
    try {
      GatedCollective joined =
          new GatedCollective(joined(place, addresses), () -> awaitBarrier(place));
      group = Optional.of(joined);
      rank.begin(folder, joined);
    } catch (IOException unable) {
      throw new UncheckedIOException(unable.getMessage(), unable);
    } finally {
      deleteState();
    }
    LOG.info("event=rank_began rank={} ranks={}", identity.number, addresses.size());
  }

  /**
   * Joins the neighbours, and waits until all have. Meanwhile the coordinator reports if one is
   * lost: then nobody knocks at the door any more, and this rank leaves it.
   */
  private Collective joined(int place, List<String> addresses)
      throws IOException, RankLostException {
    CompletableFuture<RankProtocol> verdict = verdict(place);
    Collective made;
    try {
      made = join(place, addresses);
    } catch (IOException | RankLostException | RuntimeException failure) {
      boolean told = verdict.isDone();
      RankLostException missed =
          failure instanceof RankLostException lost
              ? lost
              : new RankLostException(place, String.valueOf(failure.getMessage()), failure);
      if (!told) {
        send(new RankProtocol.PeerMissed(missed.rank(), missed.reason()));
      }
      RankProtocol heard = verdict.join(); // It is heard before the next order.
      if (told || failure instanceof RankLostException) {
        pass(place, heard);
      }
      throw failure;
    }
    try {
      send(new RankProtocol.Ready());
      pass(place, verdict.join());
      return made;
    } catch (IOException | RankLostException | RuntimeException failure) {
      made.close();
      throw failure;
    }
  }

  /**
   * Hears what the coordinator says to ranks that begin, and leaves the door unless it is to go on.
   */
  private CompletableFuture<RankProtocol> verdict(int place) {
    CompletableFuture<RankProtocol> verdict = new CompletableFuture<>();
    Optional<ConnectionFactory.Listener> door =
        listener; // this one: the next order may open another
    Thread.ofVirtual()
        .name("rank-verdict")
        .start(
            () -> {
              boolean on = false;
              try {
                RankProtocol heard = awaitVerdict(place);
                on = heard instanceof RankProtocol.Proceed;
                verdict.complete(heard);
              } catch (Throwable unreadable) { // Whatever it is, the rank waits for a verdict.
                verdict.completeExceptionally(
                    new IllegalStateException(
                        "the coordinator's verdict cannot be read: " + unreadable, unreadable));
              }
              if (!on) {
                door.ifPresent(Closing::quietly);
              }
            });
    return verdict;
  }

  private RankProtocol awaitVerdict(int place) {
    try {
      return line.receive();
    } catch (IOException gone) {
      return new RankProtocol.Abort(place, "the coordinator is gone: " + gone.getMessage());
    }
  }

  private Collective join(int place, List<String> addresses) throws IOException, RankLostException {
    ConnectionFactory.Listener own =
        listener.orElseThrow(() -> new IllegalStateException("the rank does not listen"));
    if (addresses.size() == 1) {
      return Collective.alone();
    }
    SocketRing joined =
        SocketRing.join(
            place,
            identity.endpoint,
            own,
            addresses.stream()
                .map(HostPort::parse)
                .map(at -> new InetSocketAddress(at.host(), at.port()))
                .toList(),
            identity.secret,
            this::refused,
            identity.deadline);
    ring = Optional.of(joined);
    return joined;
  }

  private void refused(String reason) {
    LOG.warn("event=ring_peer_refused rank={} reason=\"{}\"", identity.number, reason);
  }

  private void step(RankProtocol.Step order) throws IOException, RankLostException {
    group.ifPresent(GatedCollective::shut);
    switch (rank.step(order.batch(), order.optimisation())) {
      case RankStepOutcome.Updated(var norm, var part) -> {
        if (ring.isPresent()) {
          copies.keep(order.mark(), rank, ring.get());
        }
        send(new RankProtocol.StepDone(norm, part));
      }
      case RankStepOutcome.Refused(String reason) -> send(new RankProtocol.Refused(reason));
    }
  }

  /** Waits until all ranks have their gradients; the coordinator knows, and who is lost. */
  private void awaitBarrier(int place) throws RankLostException {
    try {
      send(new RankProtocol.Ready());
      pass(place, line.receive());
    } catch (IOException gone) {
      throw new RankLostException(place, "the coordinator is gone: " + gone.getMessage(), gone);
    }
  }

  private static void pass(int place, RankProtocol verdict) throws RankLostException {
    switch (verdict) {
      case RankProtocol.Proceed _ -> {}
      case RankProtocol.Abort(int lost, String reason) -> throw new RankLostException(lost, reason);
      case RankProtocol other ->
          throw new RankLostException(place, "the coordinator said out of turn: " + other);
    }
  }

  /** The others find this rank lost at once. */
  private void leave() throws IOException {
    group.ifPresent(Collective::close);
    group = Optional.empty();
    ring = Optional.empty();
    if (listener.isPresent()) {
      listener.get().close();
    }
    listener = Optional.empty();
    deleteState();
  }

  private void deleteState() throws IOException {
    FileTree.delete(identity.scratch);
  }

  /** Works as a rank of a host does that shares no folder with the coordinator's. */
  public RankWorker onAnotherHost() {
    state.onAnotherHost();
    return this;
  }

  /** Returns what this rank has sent to the next one; any thread may ask between two steps. */
  public RankTraffic traffic() {
    return new RankTraffic(
        ring.map(SocketRing::sentBytes).orElse(0L), copies.sentBytes(), copies.time());
  }

  /** Ends {@link #work} in another thread. */
  public void disconnect() throws IOException {
    line.close();
  }

  @Override
  public void close() throws IOException {
    try (line;
        beat;
        copies;
        state) {
      leave();
    }
  }
}
