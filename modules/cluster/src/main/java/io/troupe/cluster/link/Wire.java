package io.troupe.cluster.link;

import io.troupe.cluster.secret.RunSecret;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;

/** A connection, plain or encrypted. Calls block; closing it from another thread ends them. */
public sealed interface Wire extends RunSecret.Line, Closeable {
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

  /** TCP as it is: a file goes to the socket without a copy in this process. */
  record Plain(SocketChannel channel) implements Wire {
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
      if (sent <= 0) {
        throw new EOFException("the file ends before byte " + (offset + length));
      }
      return sent;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** TLS: every byte passes through this process. */
  record Encrypted(SSLSocket socket, InputStream in, OutputStream out) implements Wire {
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
      ByteBuffer some = ByteBuffer.allocate((int) Math.min(SLICE, length));
      int count = file.read(some, offset);
      if (count <= 0) {
        throw new EOFException("the file ends before byte " + (offset + length));
      }
      out.write(some.array(), 0, count);
      return count;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
