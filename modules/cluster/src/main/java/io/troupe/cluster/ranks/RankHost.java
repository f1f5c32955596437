package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import io.troupe.cluster.collective.SocketRing;
import io.troupe.cluster.secret.Introduction;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import io.troupe.engine.parallel.TrainerRank;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A rank's process: does what the head orders, one order after the other. */
public final class RankHost implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankHost.class);

  private final int number;
  private final TrainerRank rank;
  private final Duration deadline;
  private final RankLine line;
  private final RunSecret secret;
  private Optional<ServerSocketChannel> listener = Optional.empty();
  private Optional<Collective> group = Optional.empty();

  private RankHost(
      int number, TrainerRank rank, Duration deadline, RankLine line, RunSecret secret) {
    this.number = number;
    this.rank = rank;
    this.deadline = deadline;
    this.line = line;
    this.secret = secret;
  }

  /**
   * Reports to the head.
   *
   * @param number of the rank, from 0
   * @param rank closed with this
   * @param secret in hexadecimal digits, which the head has given to this process
   * @param deadline of each exchange between ranks
   */
  public static RankHost report(
      HostPort head, String secret, int number, TrainerRank rank, Duration deadline)
      throws IOException {
    RunSecret known = RunSecret.of(secret);
    SocketChannel channel = SocketChannel.open(new InetSocketAddress(head.host(), head.port()));
    try {
      new Introduction(known, RankReception.PURPOSE).greet(channel, RankReception.HELLO);
      RankLine line = new RankLine(channel);
      line.write(ByteBuffer.allocate(Integer.BYTES).putInt(number).flip());
      return new RankHost(number, rank, deadline, line, known);
    } catch (IOException refused) {
      channel.close();
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
        case RankTalk.Answer other -> throw new IOException("no order of the head's: " + other);
      }
    }
  }

  /** Failures of the engine are the head's to judge: it abandons the step, and begins anew. */
  private void obey(RankTalk.Order order) throws IOException {
    try {
      switch (order) {
        case RankTalk.Listen _ -> line.say(new RankTalk.Listening(listen()));
        case RankTalk.Begin(String state, List<Integer> ports) -> {
          begin(Path.of(state), ports);
          line.say(new RankTalk.Begun());
        }
        case RankTalk.Step(RankShare share, Optimisation optimisation) -> step(share, optimisation);
      }
    } catch (RankLostException lost) {
      leave();
      line.say(new RankTalk.Lost(lost.rank(), String.valueOf(lost.getMessage())));
    } catch (RuntimeException fault) {
      LOG.error("event=rank_failed rank={}", number, fault);
      leave();
      line.say(new RankTalk.Failed(String.valueOf(fault)));
    }
  }

  private int listen() throws IOException {
    leave();
    ServerSocketChannel own =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    listener = Optional.of(own);
    return ((InetSocketAddress) own.getLocalAddress()).getPort();
  }

  private void begin(Path state, List<Integer> ports) throws IOException, RankLostException {
    ServerSocketChannel own =
        listener.orElseThrow(() -> new IllegalStateException("the rank does not listen"));
    List<InetSocketAddress> addresses =
        ports.stream()
            .map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .toList();
    Collective joined =
        addresses.size() == 1
            ? Collective.alone()
            : SocketRing.join(number, own, addresses, secret, this::refused, deadline);
    group = Optional.of(joined);
    rank.begin(state, joined);
    LOG.info("event=rank_began rank={} ranks={}", number, ports.size());
  }

  private void refused(String reason) {
    LOG.warn("event=ring_stranger_refused rank={} reason=\"{}\"", number, reason);
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
  }

  @Override
  public void close() throws IOException {
    try (line) {
      leave();
    } finally {
      rank.close();
    }
  }
}
