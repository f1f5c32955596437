package io.troupe.cluster.ranks;

import io.troupe.base.files.FileTree;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.collective.SocketRing;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.Introduction;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import io.troupe.engine.parallel.TrainerRank;
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

/** A rank's process, as long as one head has it: does what that orders, one after the other. */
public final class RankHost implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankHost.class);
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** Of signs of life; the head misses ten before it judges. */
  private static final Duration BEAT = RankCall.SILENCE.dividedBy(10);

  private final Self self;
  private final TrainerRank rank;
  private final RankLine line;
  private final HeartBeat beat;
  private Optional<Endpoint.Listener> listener = Optional.empty();
  private Optional<GatedGroup> group = Optional.empty();

  /**
   * Who a rank is, and how it is reached.
   *
   * @param number from 0
   * @param node whose agent started it; empty if the head did
   * @param process its name there
   * @param endpoint how it reaches the head and the other ranks
   * @param host name or address that the other ranks reach it by
   * @param secret of the run
   * @param deadline of each exchange between ranks
   * @param port where the other ranks reach it; 0 takes a free one
   * @param scratch folder for the trainer's state while it begins, which nothing else uses
   */
  public record Self(
      int number,
      String node,
      String process,
      Endpoint endpoint,
      String host,
      RunSecret secret,
      Duration deadline,
      int port,
      Path scratch) {}

  /** The head has given this process's number to another one. */
  static final class DismissedException extends IOException {
    private static final long serialVersionUID = 1L;

    DismissedException(String reason) {
      super(reason);
    }
  }

  private RankHost(Self self, TrainerRank rank, RankLine line, Duration pause) {
    this.self = self;
    this.rank = rank;
    this.line = line;
    this.beat = new HeartBeat(line, pause);
  }

  /**
   * Reports to the head; the rank is not closed with this. Deletes what a former process of this
   * rank has left in its scratch folder.
   */
  public static RankHost report(HostPort head, Self self, TrainerRank rank) throws IOException {
    return report(head, self, rank, BEAT);
  }

  /** The same with another pause between signs of life. */
  static RankHost report(HostPort head, Self self, TrainerRank rank, Duration pause)
      throws IOException {
    FileTree.delete(self.scratch);
    try {
      Wire wire = self.endpoint.connect(new InetSocketAddress(head.host(), head.port()), CONNECT);
      RankLine line = new RankLine(wire);
      try {
        new Introduction(self.secret, RankReception.PURPOSE).greet(wire, RankReception.HELLO);
        line.say(
            new RankTalk.Report(
                self.number, self.node, self.process, ProcessHandle.current().pid()));
        return new RankHost(self, rank, line, pause);
      } catch (IOException refused) {
        line.close();
        throw refused;
      }
    } catch (IOException refused) {
      throw new IOException("the head at %s: %s".formatted(head, refused.getMessage()), refused);
    }
  }

  /** Works until the head hangs up. */
  public void work() throws IOException {
    while (true) {
      RankTalk order;
      try {
        order = line.hear();
      } catch (EOFException over) {
        return;
      }
      switch (order) {
        case RankTalk.Order own -> obey(own);
        case RankTalk.Dismissed(String reason) -> throw new DismissedException(reason);
        case RankTalk other -> throw new IOException("no order of the head's: " + other);
      }
    }
  }

  /** Failures of the engine are the head's to judge: it abandons the step, and begins anew. */
  private void obey(RankTalk.Order order) throws IOException {
    beat.obeys(true);
    try {
      switch (order) {
        case RankTalk.Listen _ -> say(new RankTalk.Listening(listen()));
        case RankTalk.Take(List<String> files) -> say(new RankTalk.Taken(take(files)));
        case RankTalk.Begin(int place, List<String> addresses, String folder) -> {
          begin(place, addresses, Path.of(folder));
          say(new RankTalk.Begun());
        }
        case RankTalk.Step(RankShare share, Optimisation optimisation) -> step(share, optimisation);
      }
    } catch (RankLostException lost) {
      leave();
      say(new RankTalk.Lost(lost.rank(), lost.reason()));
    } catch (RuntimeException fault) {
      LOG.error("event=rank_failed rank={}", self.number, fault);
      leave();
      say(new RankTalk.Failed(String.valueOf(fault)));
    } finally {
      beat.obeys(false);
    }
  }

  private void say(RankTalk message) throws IOException {
    beat.say(to -> to.say(message));
  }

  private String listen() throws IOException {
    leave();
    try {
      Endpoint.Listener own = self.endpoint.listen(new InetSocketAddress(self.host, self.port));
      listener = Optional.of(own);
      return new HostPort(self.host, own.address().getPort()).toString();
    } catch (IOException unable) {
      throw new UncheckedIOException(unable.getMessage(), unable);
    }
  }

  private String take(List<String> files) throws IOException {
    Path folder = self.scratch.toAbsolutePath().normalize();
    SavedState.take(line, folder, files);
    return folder.toString();
  }

  private void begin(int place, List<String> addresses, Path folder)
      throws IOException, RankLostException {
    try {
      GatedGroup joined = new GatedGroup(joined(place, addresses), () -> passGate(place));
      group = Optional.of(joined);
      rank.begin(folder, joined);
    } catch (IOException unable) {
      throw new UncheckedIOException(unable.getMessage(), unable);
    } finally {
      drop();
    }
    LOG.info("event=rank_began rank={} ranks={}", self.number, addresses.size());
  }

  /**
   * Joins the neighbours, and waits until all have. Meanwhile the head tells if one is lost: then
   * nobody knocks at the door any more, and this rank leaves it.
   */
  private Collective joined(int place, List<String> addresses)
      throws IOException, RankLostException {
    CompletableFuture<RankTalk> verdict = verdict(place);
    Collective ring;
    try {
      ring = join(place, addresses);
    } catch (IOException | RankLostException | RuntimeException failure) {
      boolean told = verdict.isDone();
      RankLostException missed =
          failure instanceof RankLostException lost
              ? lost
              : new RankLostException(place, String.valueOf(failure.getMessage()), failure);
      if (!told) {
        say(new RankTalk.Missed(missed.rank(), missed.reason()));
      }
      RankTalk heard = verdict.join(); // It is heard before the next order.
      if (told || failure instanceof RankLostException) {
        pass(place, heard);
      }
      throw failure;
    }
    try {
      say(new RankTalk.Ready());
      pass(place, verdict.join());
      return ring;
    } catch (IOException | RankLostException | RuntimeException failure) {
      ring.close();
      throw failure;
    }
  }

  /** Hears what the head says to ranks that begin, and leaves the door unless it is to go on. */
  private CompletableFuture<RankTalk> verdict(int place) {
    CompletableFuture<RankTalk> verdict = new CompletableFuture<>();
    Optional<Endpoint.Listener> door = listener; // this one: the next order may open another
    Thread.ofVirtual()
        .name("rank-verdict")
        .start(
            () -> {
              boolean on = false;
              try {
                RankTalk heard = heard(place);
                on = heard instanceof RankTalk.Go;
                verdict.complete(heard);
              } catch (Throwable unreadable) { // Whatever it is, the rank waits for a verdict.
                verdict.completeExceptionally(
                    new IllegalStateException(
                        "the head's verdict cannot be read: " + unreadable, unreadable));
              }
              if (!on) {
                door.ifPresent(RankHost::close);
              }
            });
    return verdict;
  }

  private RankTalk heard(int place) {
    try {
      return line.hear();
    } catch (IOException gone) {
      return new RankTalk.Abandon(place, "the head is gone: " + gone.getMessage());
    }
  }

  private static void close(Endpoint.Listener door) {
    try {
      door.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  private Collective join(int place, List<String> addresses) throws IOException, RankLostException {
    Endpoint.Listener own =
        listener.orElseThrow(() -> new IllegalStateException("the rank does not listen"));
    return addresses.size() == 1
        ? Collective.alone()
        : SocketRing.join(
            place,
            self.endpoint,
            own,
            addresses.stream()
                .map(HostPort::parse)
                .map(at -> new InetSocketAddress(at.host(), at.port()))
                .toList(),
            self.secret,
            this::refused,
            self.deadline);
  }

  private void refused(String reason) {
    LOG.warn("event=ring_stranger_refused rank={} reason=\"{}\"", self.number, reason);
  }

  private void step(RankShare share, Optimisation optimisation)
      throws IOException, RankLostException {
    group.ifPresent(GatedGroup::shut);
    switch (rank.step(share, optimisation)) {
      case RankStep.Moved(var norm, var part, var weights, var first, var second) ->
          beat.say(
              to -> {
                to.say(new RankTalk.Moved(norm, part));
                to.say(weights);
                to.say(first);
                to.say(second);
              });
      case RankStep.Refused(String reason) -> say(new RankTalk.Refused(reason));
    }
  }

  /** Waits until all ranks have their gradients; the head knows, and who is lost. */
  private void passGate(int place) throws RankLostException {
    try {
      say(new RankTalk.Ready());
      pass(place, line.hear());
    } catch (IOException gone) {
      throw new RankLostException(place, "the head is gone: " + gone.getMessage(), gone);
    }
  }

  private static void pass(int place, RankTalk verdict) throws RankLostException {
    switch (verdict) {
      case RankTalk.Go _ -> {}
      case RankTalk.Abandon(int lost, String reason) -> throw new RankLostException(lost, reason);
      case RankTalk other ->
          throw new RankLostException(place, "the head said out of turn: " + other);
    }
  }

  /** The others find this rank lost at once. */
  private void leave() throws IOException {
    group.ifPresent(Collective::close);
    group = Optional.empty();
    if (listener.isPresent()) {
      listener.get().close();
    }
    listener = Optional.empty();
    drop();
  }

  private void drop() throws IOException {
    FileTree.delete(self.scratch);
  }

  /** Ends {@link #work} in another thread. */
  public void hangUp() throws IOException {
    line.close();
  }

  @Override
  public void close() throws IOException {
    try (line;
        beat) {
      leave();
    }
  }
}
