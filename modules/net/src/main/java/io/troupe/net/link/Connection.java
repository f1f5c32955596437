package io.troupe.net.link;

import io.troupe.net.secret.RunSecret;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import javax.net.ssl.SSLSocket;

/** A connection, plain or encrypted. Calls block; closing it from another thread ends them. */
public sealed interface Connection extends RunSecret.DuplexStream, Closeable {
  /**
   * Reads what there is, at least a byte.
   *
   * @return -1 at the end
   */
  int read(ByteBuffer bytes) throws IOException;

  /**
   * Sends a part of a file.
   *
   * @return bytes sent, at least 1
   */
  long send(FileChannel file, long offset, long length) throws IOException;

  @Override
  default void readFully(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (read(bytes) < 0) {
        throw new EOFException("the other side closed the connection");
      }
    }
  }

  /** Reads the next bytes of a file: some, and at least one. */
  private static ByteBuffer read(FileChannel file, long offset, long length) throws IOException {
    ByteBuffer some = ByteBuffer.allocate((int) Math.min(1 << 16, length));
    if (file.read(some, offset) <= 0) {
      throw new EOFException("the file ends before byte " + (offset + length));
    }
    return some.flip();
  }

  /**
   * TCP as it is: a file goes to the socket without a copy in this process, unless the socket is
   * full and the thread a virtual one. For such a thread the JDK's transfer moves nothing then and
   * does not wait; a write does.
   */
  record Plain(SocketChannel channel) implements Connection {
    @Override
    public int read(ByteBuffer bytes) throws IOException {
      return channel.read(bytes);
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    @Override
    public long send(FileChannel file, long offset, long length) throws IOException {
      long sent = file.transferTo(offset, length, channel);
      if (sent > 0) {
        return sent;
      }
      ByteBuffer some = Connection.read(file, offset, length);
      write(some);
      return some.limit();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** TLS: every byte passes through this process. */
  record Encrypted(SSLSocket socket, InputStream in, OutputStream out) implements Connection {
    private static final int SLICE = 1 << 16;

    /** Closing waits for a write in another thread; a peer that takes nothing is not waited for. */
    private static final int CLOSE_SECONDS = 1;

    static Encrypted of(SSLSocket socket) throws IOException {
      socket.setSoLinger(true, CLOSE_SECONDS);
      return new Encrypted(socket, socket.getInputStream(), socket.getOutputStream());
    }

    @Override
    public int read(ByteBuffer bytes) throws IOException {
      byte[] some = new byte[Math.min(SLICE, bytes.remaining())];
      int count = in.read(some);
      if (count > 0) {
        bytes.put(some, 0, count);
      }
      return count;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      Channels.newChannel(out).write(bytes);
      out.flush();
    }

    @Override
    public long send(FileChannel file, long offset, long length) throws IOException {
      ByteBuffer some = Connection.read(file, offset, length);
      write(some);
      return some.limit();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /**
   * Judged by its progress: a call that moves nothing, or less than 4 MiB of what it has to write,
   * for some time closes the connection and throws a {@link SocketTimeoutException}.
   */
  record Timed(Connection wire, Duration patience) implements Connection {
    private static final int SLICE = 4 << 20;

    private interface Call<T> {
      T go() throws IOException;
    }

    private <T> T within(Call<T> call) throws IOException {
      ConnectionDeadline limit = ConnectionDeadline.of(patience, wire);
      T result;
      try {
        result = call.go();
      } catch (IOException failure) {
        if (limit.cancel()) {
          throw failure;
        }
        throw tooLate(failure);
      }
      if (!limit.cancel()) {
        throw tooLate(new IOException("the connection is closed"));
      }
      return result;
    }

    private SocketTimeoutException tooLate(IOException seen) {
      SocketTimeoutException late =
          new SocketTimeoutException("nothing moved for %d ms".formatted(patience.toMillis()));
      late.initCause(seen);
      return late;
    }

    @Override
    public int read(ByteBuffer bytes) throws IOException {
      return within(() -> wire.read(bytes));
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        ByteBuffer some = bytes.slice().limit(Math.min(SLICE, bytes.remaining()));
        bytes.position(bytes.position() + some.remaining());
        var _ =
            within(
                () -> {
                  wire.write(some);
                  return true;
                });
      }
    }

    @Override
    public long send(FileChannel file, long offset, long length) throws IOException {
      return within(() -> wire.send(file, offset, Math.min(SLICE, length)));
    }

    @Override
    public void close() throws IOException {
      wire.close();
    }
  }
}
