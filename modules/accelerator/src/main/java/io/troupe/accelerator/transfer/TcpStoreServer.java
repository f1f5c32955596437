package io.troupe.accelerator.transfer;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Closing;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server of PyTorch's TCPStore, as far as a worker that joins a group talks to it (the protocol
 * of the plain backend; numbers are little-endian). It exists for one rendezvous: it holds what
 * {@link #put} gave it, is bounded in keys, bytes and connections, and unpickles nothing.
 */
public final class TcpStoreServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TcpStoreServer.class);
  private static final int MAGIC = 0x3C85F7CE;
  private static final int MOST_CALLERS = 128;
  private static final int MOST_KEYS = 1024;
  private static final long MOST_BYTES = 1 << 16;
  private static final String OWN_KEYS = "/";

  private final ServerSocket listener;
  private final Map<String, byte[]> values = new HashMap<>(); // guarded by this
  private final Set<Caller> callers = new HashSet<>(); // guarded by this

  private TcpStoreServer(ServerSocket listener) {
    this.listener = listener;
  }

  /** Opens a store at an address; port 0 takes a free one. */
  @SuppressWarnings("AddressSelection") // the caller has chosen it
  public static TcpStoreServer open(InetSocketAddress address) throws IOException {
    ServerSocket listener = new ServerSocket();
    listener.bind(address);
    TcpStoreServer store = new TcpStoreServer(listener);
    Thread.ofVirtual().name("tcp-store").start(store::accept);
    return store;
  }

  /** Returns the port. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Sets a value, under the name by which clients ask for it. */
  public void put(String key, byte[] value) {
    set(OWN_KEYS + key, value);
  }

  private synchronized void set(String key, byte[] value) {
    require(values.size() < MOST_KEYS, "a store holds %d keys at most", MOST_KEYS);
    values.put(key, value.clone());
    callers.forEach(Caller::answerWait);
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(true);
        Caller caller = new Caller(socket);
        if (admit(caller)) {
          Thread.ofVirtual().name("tcp-store-caller").start(caller);
        } else {
          caller.close();
        }
      }
    } catch (IOException closed) {
      // The rendezvous is over.
    }
  }

  private synchronized boolean admit(Caller caller) {
    return callers.size() < MOST_CALLERS && callers.add(caller);
  }

  /** A connection; what it sends and waits for is guarded by the store. */
  private final class Caller implements Runnable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private List<String> awaited = List.of();

    Caller(Socket socket) throws IOException {
      this.socket = socket;
      this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      this.out = new DataOutputStream(socket.getOutputStream());
    }

    @Override
    public void run() {
      try (socket) {
        int query = in.read();
        while (query >= 0 && serve(query)) {
          query = in.read();
        }
      } catch (IOException gone) {
        // A worker that leaves, or a stranger.
      } finally {
        synchronized (TcpStoreServer.this) {
          callers.remove(this);
        }
      }
    }

    /** Answers one query; false ends the connection. */
    private boolean serve(int query) throws IOException {
      return switch (query) {
        case 0 -> Integer.reverseBytes(in.readInt()) == MAGIC; // VALIDATE
        case 1 -> set(); // SET
        case 3 -> get(); // GET
        case 4 -> add(); // ADD
        case 5 -> check(); // CHECK
        case 6 -> await(); // WAIT
        case 8 -> delete(); // DELETE_KEY
        case 12 -> cancelWait(); // CANCEL_WAIT
        case 13 -> ping(); // PING
        default -> {
          LOG.warn("event=tcp_store_query_unknown query={} of={}", query, socket.getInetAddress());
          yield false;
        }
      };
    }

    private boolean set() throws IOException {
      String key = text();
      TcpStoreServer.this.set(key, bytes());
      return true;
    }

    private boolean get() throws IOException {
      String key = text();
      synchronized (TcpStoreServer.this) {
        byte[] value = values.get(key);
        if (value == null) {
          return false; // a client waits for a key before it asks for it
        }
        writeLong(value.length);
        out.write(value);
        return true;
      }
    }

    private boolean add() throws IOException {
      String key = text();
      long sum = Long.reverseBytes(in.readLong());
      synchronized (TcpStoreServer.this) {
        byte[] before = values.get(key);
        if (before != null) {
          sum += Long.parseLong(new String(before, StandardCharsets.UTF_8));
        }
        TcpStoreServer.this.set(key, Long.toString(sum).getBytes(StandardCharsets.UTF_8));
        writeLong(sum);
        return true;
      }
    }

    private boolean check() throws IOException {
      List<String> keys = keys();
      synchronized (TcpStoreServer.this) {
        out.write(values.keySet().containsAll(keys) ? 0 : 1);
        return true;
      }
    }

    private boolean await() throws IOException {
      List<String> keys = keys();
      synchronized (TcpStoreServer.this) {
        awaited = keys;
        answerWait();
        return true;
      }
    }

    /** Ends a wait whose keys are all there; the caller holds the lock. */
    private void answerWait() {
      if (!awaited.isEmpty() && values.keySet().containsAll(awaited)) {
        awaited = List.of();
        try {
          out.write(0);
        } catch (IOException gone) {
          close();
        }
      }
    }

    private boolean cancelWait() throws IOException {
      synchronized (TcpStoreServer.this) {
        awaited = List.of();
        out.write(1);
        return true;
      }
    }

    private boolean delete() throws IOException {
      String key = text();
      synchronized (TcpStoreServer.this) {
        writeLong(values.remove(key) == null ? 0 : 1);
        return true;
      }
    }

    private boolean ping() throws IOException {
      int nonce = in.readInt();
      synchronized (TcpStoreServer.this) {
        out.writeInt(nonce);
        return true;
      }
    }

    private void writeLong(long value) throws IOException {
      out.writeLong(Long.reverseBytes(value));
    }

    private List<String> keys() throws IOException {
      long count = Long.reverseBytes(in.readLong());
      requireBound(count, MOST_KEYS);
      List<String> keys = new ArrayList<>();
      for (long i = 0; i < count; i++) {
        keys.add(text());
      }
      return keys;
    }

    private String text() throws IOException {
      return new String(bytes(), StandardCharsets.UTF_8);
    }

    private byte[] bytes() throws IOException {
      long count = Long.reverseBytes(in.readLong());
      requireBound(count, MOST_BYTES);
      byte[] bytes = in.readNBytes((int) count);
      if (bytes.length < count) {
        throw new IOException("the connection ended within a value");
      }
      return bytes;
    }

    private static void requireBound(long count, long most) throws IOException {
      if (count < 0 || count > most) {
        throw new IOException("%d of at most %d".formatted(count, most));
      }
    }

    void close() {
      Closing.quietly(socket);
    }
  }

  @Override
  public void close() {
    Closing.quietly(listener);
    List<Caller> all;
    synchronized (this) {
      all = List.copyOf(callers);
    }
    all.forEach(Caller::close);
  }
}
