package io.troupe.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AcceptLoopTest {
  private final List<String> seen = new ArrayList<>();

  @Test
  void run_acceptFails_pausesAndAcceptsAgain() throws IOException {
    Script listener = new Script();
    for (int i = 0; i < 3; i++) {
      listener.fails(new IOException("Too many open files"));
    }
    listener.accepts();
    run(listener, _ -> seen.add("connection"));
    assertThat(seen)
        .containsExactly(
            "Too many open files", "pause",
            "Too many open files", "pause",
            "Too many open files", "pause",
            "connection", "closed");
  }

  @Test
  void run_handlerFails_closesTheConnectionAndAcceptsTheNext() throws IOException {
    Script listener = new Script();
    SocketChannel first = listener.accepts();
    SocketChannel second = listener.accepts();
    run(
        listener,
        _ -> {
          if (first.isOpen()) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          seen.add("connection");
        });
    assertThat(seen)
        .containsExactly("unable to create native thread", "pause", "connection", "closed");
    assertThat(first.isOpen()).isFalse();
    assertThat(second.isOpen()).isTrue();
    second.close();
  }

  private void run(Script listener, Consumer<Connection> handler) {
    AcceptLoop loop =
        new AcceptLoop(
            listener, handler, failure -> seen.add(failure.getMessage()), () -> seen.add("pause"));
    listener.loop = loop;
    loop.run();
  }

  /** A listener that does what it was told, and is closed by its server after that. */
  private final class Script implements ConnectionFactory.Listener {
    private final Deque<Object> steps = new ArrayDeque<>();
    private AcceptLoop loop = new AcceptLoop(this, _ -> {}, _ -> {}, () -> {});

    void fails(IOException failure) {
      steps.add(failure);
    }

    SocketChannel accepts() throws IOException {
      SocketChannel channel = SocketChannel.open();
      steps.add(channel);
      return channel;
    }

    @Override
    public InetSocketAddress address() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Override
    public Connection accept() throws IOException {
      if (steps.isEmpty()) {
        loop.close();
        throw new IOException("the socket is closed");
      }
      return switch (steps.remove()) {
        case IOException failure -> throw failure;
        case SocketChannel channel -> new Connection.Plain(channel);
        case Object other -> throw new AssertionError(other);
      };
    }

    @Override
    public void close() {
      seen.add("closed");
    }
  }
}
