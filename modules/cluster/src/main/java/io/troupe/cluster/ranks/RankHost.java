package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A rank's process, as long as one head has it: does what that orders, one after the other. */
public final class RankHost implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankHost.class);
  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final Self self;
  private final TrainerRank rank;
  private final RankLine line;
  private Optional<Endpoint.Listener> listener = Optional.empty();
  private Optional<Collective> group = Optional.empty();
  private Optional<Path> taken = Optional.empty();

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
   */
  public record Self(
      int number,
      String node,
      String process,
      Endpoint endpoint,
      String host,
      RunSecret secret,
      Duration deadline,
      int port) {
    /** One that listens at a free port. */
    public Self(
        int number,
        String node,
        String process,
        Endpoint endpoint,
        String host,
        RunSecret secret,
        Duration deadline) {
      this(number, node, process, endpoint, host, secret, deadline, 0);
    }
  }

  private RankHost(Self self, TrainerRank rank, RankLine line) {
    this.self = self;
    this.rank = rank;
    this.line = line;
  }

  /** Reports to the head; the rank is not closed with this. */
  public static RankHost report(HostPort head, Self self, TrainerRank rank) throws IOException {
    try {
      Wire wire = self.endpoint.connect(new InetSocketAddress(head.host(), head.port()), CONNECT);
      RankLine line = new RankLine(wire);
      try {
        new Introduction(self.secret, RankReception.PURPOSE).greet(wire, RankReception.HELLO);
        line.say(
            new RankTalk.Report(
                self.number, self.node, self.process, ProcessHandle.current().pid()));
        return new RankHost(self, rank, line);
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
        case RankTalk other -> throw new IOException("no order of the head's: " + other);
      }
    }
  }

  /** Failures of the engine are the head's to judge: it abandons the step, and begins anew. */
  private void obey(RankTalk.Order order) throws IOException {
    try {
      switch (order) {
        case RankTalk.Listen _ -> line.say(new RankTalk.Listening(listen()));
        case RankTalk.Take(List<String> files) -> line.say(new RankTalk.Taken(take(files)));
        case RankTalk.Begin(int place, List<String> addresses, String folder) -> {
          begin(place, addresses, Path.of(folder));
          line.say(new RankTalk.Begun());
        }
        case RankTalk.Step(RankShare share, Optimisation optimisation) -> step(share, optimisation);
      }
    } catch (RankLostException lost) {
      leave();
      line.say(new RankTalk.Lost(lost.rank(), lost.reason()));
    } catch (RuntimeException fault) {
      LOG.error("event=rank_failed rank={}", self.number, fault);
      leave();
      line.say(new RankTalk.Failed(String.valueOf(fault)));
    }
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
    Path folder = Files.createTempDirectory("troupe-rank-").toAbsolutePath();
    taken = Optional.of(folder);
    SavedState.take(line, folder, files);
    return folder.toString();
  }

  private void begin(int place, List<String> addresses, Path folder)
      throws IOException, RankLostException {
    try {
      Collective joined = join(place, addresses);
      group = Optional.of(joined);
      rank.begin(folder, joined);
    } catch (IOException unable) {
      throw new UncheckedIOException(unable.getMessage(), unable);
    } finally {
      drop();
    }
    LOG.info("event=rank_began rank={} ranks={}", self.number, addresses.size());
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
    switch (rank.step(share, optimisation)) {
      case RankStep.Moved(var norm, var part, var weights, var first, var second) -> {
        line.say(new RankTalk.Moved(norm, part));
        line.say(weights);
        line.say(first);
        line.say(second);
      }
      case RankStep.Refused(String reason) -> line.say(new RankTalk.Refused(reason));
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
    if (taken.isPresent()) {
      SavedState.delete(taken.get());
    }
    taken = Optional.empty();
  }

  /** Ends {@link #work} in another thread. */
  public void hangUp() throws IOException {
    line.close();
  }

  @Override
  public void close() throws IOException {
    try (line) {
      leave();
    }
  }
}
