package io.troupe.net.link;

import io.troupe.base.files.FileTree;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * Leads connections of a Unix domain socket to a port of the loopback interface: the one way out of
 * a sandbox whose network is its own. Each connection has two virtual threads.
 */
public final class SocketRelay implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final Path folder;
  private final ServerSocketChannel server;
  private final InetSocketAddress target;
  private final Semaphore room;
  private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  private SocketRelay(Path folder, ServerSocketChannel server, int port, int connections) {
    this.folder = folder;
    this.server = server;
    this.target = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    this.room = new Semaphore(connections);
  }

  /**
   * Starts to listen at a socket in a new folder.
   *
   * @param port that connections are led to
   * @param connections at a time; more have to wait
   * @param others whether other users may connect, since programs of this one run as another user
   */
  public static SocketRelay start(int port, int connections, boolean others) throws IOException {
    Path folder = Files.createTempDirectory("troupe-relay-");
    try {
      Path socket = folder.resolve("socket");
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      server.bind(UnixDomainSocketAddress.of(socket));
      if (others) {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
      }
      SocketRelay relay = new SocketRelay(folder, server, port, connections);
      relay.threads.execute(relay::accept);
      return relay;
    } catch (IOException failed) {
      FileTree.delete(folder);
      throw failed;
    }
  }

  /** The socket. */
  public Path socket() {
    return folder.resolve("socket");
  }

  private void accept() {
    try {
      while (true) {
        room.acquire();
        SocketChannel client = server.accept();
        threads.execute(() -> lead(client));
      }
    } catch (IOException | InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void lead(SocketChannel client) {
    open.add(client);
    try (client;
        SocketChannel gateway = SocketChannel.open(target)) {
      gateway.setOption(StandardSocketOptions.TCP_NODELAY, true);
      var back = threads.submit(() -> copy(gateway, client));
      copy(client, gateway);
      back.get();
    } catch (IOException | ExecutionException gone) {
      // The client finds its connection closed.
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(client);
      room.release();
    }
  }

  private static void copy(SocketChannel source, SocketChannel target) {
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    try {
      while (source.read(buffer) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          target.write(buffer);
        }
        buffer.clear();
      }
      target.shutdownOutput();
    } catch (IOException gone) {
      closeBoth(source, target);
    }
  }

  private static void closeBoth(SocketChannel source, SocketChannel target) {
    try (source;
        target) {
      // Neither direction can be used any more.
    } catch (IOException broken) {
      // Nor could it be before.
    }
  }

  /** Closes all connections, and removes the socket. */
  @Override
  public void close() throws IOException {
    server.close();
    for (SocketChannel each : open) {
      each.close();
    }
    threads.shutdownNow();
    FileTree.delete(folder);
  }
}
