package io.troupe.net.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConnectionTest {
  /** More than the buffers of both ends of a connection within a host take. */
  private static final int LARGE = 24 << 20;

  private static final int SLICE = 4 << 20;

  @TempDir private Path folder;

  /** The other end reads only after the socket has been full. */
  @Test
  void send_fileOnAVirtualThreadToASlowReader_arrivesWhole() throws Exception {
    byte[] content = new byte[LARGE];
    new Random(7).nextBytes(content);
    Path file = Files.write(folder.resolve("state"), content);
    CountDownLatch partly = new CountDownLatch(1);
    try (ConnectionFactory.Listener listener =
            ConnectionFactory.onLoopback()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Connection reader =
            ConnectionFactory.onLoopback().connect(listener.address(), Duration.ofSeconds(10));
        Connection writer = listener.accept();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        FileChannel source = FileChannel.open(file)) {
      Future<Long> sent = threads.submit(() -> sendAll(writer, source, partly));
      partly.await();
      reader.readFully(ByteBuffer.allocate(1));
      ByteBuffer all = ByteBuffer.allocate(LARGE);
      reader.readFully(all);
      assertThat(sent.get()).isEqualTo(LARGE);
      assertThat(all.flip()).isEqualTo(ByteBuffer.wrap(content));
    }
  }

  @Test
  void send_beyondTheEndOfAFile_isRefused() throws Exception {
    Path file = Files.write(folder.resolve("state"), new byte[8]);
    try (ConnectionFactory.Listener listener =
            ConnectionFactory.onLoopback()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Connection _ =
            ConnectionFactory.onLoopback().connect(listener.address(), Duration.ofSeconds(10));
        Connection writer = listener.accept();
        FileChannel source = FileChannel.open(file)) {
      assertThat(writer.send(source, 0, 9)).isEqualTo(8);
      assertThatThrownBy(() -> writer.send(source, 8, 1)).isInstanceOf(EOFException.class);
    }
  }

  /** Closes the connection when it is done. */
  private static long sendAll(Connection writer, FileChannel source, CountDownLatch partly)
      throws IOException {
    try (writer) {
      writer.write(ByteBuffer.allocate(1)); // As a message that says what follows.
      long at = 0;
      while (at < LARGE) {
        long moved = writer.send(source, at, Math.min(SLICE, LARGE - at));
        at += moved;
        if (moved < SLICE) {
          partly.countDown(); // The socket is full.
        }
      }
      return at;
    } finally {
      partly.countDown();
    }
  }
}
