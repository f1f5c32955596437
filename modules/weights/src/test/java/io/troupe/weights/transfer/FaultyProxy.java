package io.troupe.weights.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection to a server with something wrong in it: each connection its own fault, in turn. */
final class FaultyProxy implements AutoCloseable {
  /** A fault after a number of bytes from the server. */
  sealed interface Fault {
    record None() implements Fault {}

    record Cut(int after) implements Fault {}

    record Flip(int after) implements Fault {}

    record Silence(int after) implements Fault {}
  }

  private final ServerSocket listener;
  private final InetSocketAddress target;
  private final List<Fault> faults;
  private final AtomicInteger connections = new AtomicInteger();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private final CountDownLatch silent = new CountDownLatch(1);

  FaultyProxy(InetSocketAddress target, List<Fault> faults) throws IOException {
    this.target = target;
    this.faults = faults;
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().start(this::accept);
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /** Waits until a connection has become silent. */
  void awaitSilence() throws InterruptedException {
    silent.await();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(target.getAddress(), target.getPort());
        open.add(client);
        open.add(server);
        int number = connections.getAndIncrement();
        Fault fault = number < faults.size() ? faults.get(number) : new Fault.None();
        Thread.ofPlatform().daemon().start(() -> pipe(client, server, new Fault.None()));
        Thread.ofPlatform().daemon().start(() -> pipe(server, client, fault));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void pipe(Socket from, Socket to, Fault fault) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] some = new byte[1024];
      long passed = 0;
      while (true) {
        int count = in.read(some);
        if (count < 0) {
          return;
        }
        switch (fault) {
          case Fault.None() -> {}
          case Fault.Cut(int after) -> {
            if (passed + count > after) {
              return;
            }
          }
          case Fault.Flip(int after) -> {
            if (passed <= after && after < passed + count) {
              some[(int) (after - passed)] ^= 1;
            }
          }
          case Fault.Silence(int after) -> {
            if (passed + count > after) {
              silent.countDown();
              end.await();
            }
          }
        }
        out.write(some, 0, count);
        passed += count;
      }
    } catch (IOException | InterruptedException closed) {
      // One side closed; the other follows.
    }
  }

  @Override
  public void close() throws IOException {
    end.countDown();
    listener.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
