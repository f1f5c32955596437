package io.troupe.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.AbstractActor;
import akka.actor.ActorRef;
import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.actor.Terminated;
import akka.io.Tcp;
import akka.io.TcpMessage;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.ClusterSettings.ClusterRole;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class TransportCutoffTest {
  private static final long SECONDS = 60;

  @Test
  void terminate_waitsForAPeerThatDoesNotClose_cutsTheConnectionAndEnds() throws Exception {
    try (ServerSocket peer = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Boolean> cut = new CompletableFuture<>();
      ActorSystem system = system();
      system.actorOf(
          Props.create(Waiting.class, () -> new Waiting(peer.getLocalSocketAddress(), cut)));
      try (Socket line = peer.accept()) {
        Thread.ofVirtual().start(() -> cut.complete(ended(line)));

        system.terminate();

        assertThat(system.getWhenTerminated().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS))
            .isInstanceOf(Terminated.class);
        assertThat(cut).isCompletedWithValue(true);
      }
    }
  }

  private static ActorSystem system() {
    Config usual =
        new ClusterSettings(
                new HostPort("127.0.0.1", 0),
                Set.of(ClusterRole.NODE),
                ClusterSettings.MIN_FRAME_BYTES,
                ConfigFactory.empty(),
                true)
            .config();
    return ActorSystem.create(
        ClusterSettings.SYSTEM_NAME,
        ConfigFactory.parseString("troupe.transport-cutoff-patience = 100ms").withFallback(usual));
  }

  private static boolean ended(Socket line) {
    try {
      return line.getInputStream().read() < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  /** Does not stop before its connection has ended, as little as remoting does. */
  private static final class Waiting extends AbstractActor {
    private final SocketAddress peer;
    private final CompletableFuture<Boolean> cut;

    Waiting(SocketAddress peer, CompletableFuture<Boolean> cut) {
      this.peer = peer;
      this.cut = cut;
    }

    @Override
    public void preStart() {
      Tcp.get(getContext().getSystem())
          .manager()
          .tell(TcpMessage.connect((InetSocketAddress) peer), getSelf());
    }

    @Override
    public Receive createReceive() {
      return receiveBuilder().match(Tcp.Connected.class, _ -> register(getSender())).build();
    }

    private void register(ActorRef connection) {
      connection.tell(TcpMessage.register(getSelf()), getSelf());
    }

    @Override
    public void postStop() throws InterruptedException, ExecutionException {
      try {
        cut.get(SECONDS, TimeUnit.SECONDS);
      } catch (TimeoutException stays) {
        cut.complete(false);
      }
    }
  }
}
