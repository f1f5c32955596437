package io.troupe.net.http;

import static io.troupe.core.Require.require;

import com.sun.management.UnixOperatingSystemMXBean;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The JDK's HTTP server with bounds on what unauthenticated clients can hold of it. */
public final class BoundedHttpServer implements AutoCloseable {
  /*
   * Each request has a virtual thread, from its first byte on: the server's dispatcher hands it over
   * when the connection can be read. So the number of threads is that of connections that are in
   * use, and one more than the bound is closed. A thread that waits too long for its peer, for the
   * head of a request, its body, or room for the answer, is interrupted, which closes a channel
   * that it is blocked on. Between two requests, and before the first byte, a connection is the
   * dispatcher's: those are bounded in number by jdk.httpserver.maxConnections, and closed after the
   * 30 s that are the JDK's default. Why not maxReqTime and maxRspTime, which bound the same:
   * docs/decisions/0029-bounded-http-servers.md.
   */

  private static final int MOST_CONNECTIONS = 1024;

  /** The share of the descriptors that a server may take; files need them, too. */
  private static final int SHARE_OF_DESCRIPTORS = 4;

  private static final long IDLE = 0;
  private static final long EXPIRED = -1;
  private static final int LOOKS = 10;
  private static final Duration RAREST_LOOK = Duration.ofSeconds(1);

  static {
    // The server reads them once for all servers of a JVM; other values of the user have
    // precedence.
    preset("jdk.httpserver.maxConnections", Long.toString(mostConnections()));
    preset("sun.net.httpserver.maxReqHeaderSize", Integer.toString(64 << 10));
    // Without it the kernel holds back each small answer until the one before is acknowledged.
    preset("sun.net.httpserver.nodelay", "true");
  }

  /**
   * The limits of a server.
   *
   * @param requests being read or answered, streams too; further connections are closed
   * @param head longest time for the head of a request, from its first byte
   * @param body longest time for the body of a request
   * @param write longest time for the peer to make room for more of an answer
   */
  public record Limits(int requests, Duration head, Duration body, Duration write) {
    public Limits {
      require(requests >= 1, "a server answers at least one request at a time, not %d", requests);
      require(
          head.isPositive() && body.isPositive() && write.isPositive(),
          "limits of time are longer than 0: head %s, body %s, write %s",
          head,
          body,
          write);
    }

    /** 10 s for a head, a minute for a body, a minute for room. */
    public static Limits of(int requests) {
      return new Limits(
          requests, Duration.ofSeconds(10), Duration.ofMinutes(1), Duration.ofMinutes(1));
    }
  }

  /** The sender of the request that a thread answers. */
  private static final ThreadLocal<Peer> CURRENT = new ThreadLocal<>();

  private final HttpServer http;
  private final Limits limits;
  private final Consumer<String> say;
  private final Semaphore room;
  private final AtomicBoolean rejectedConnections = new AtomicBoolean();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong cut = new AtomicLong();
  private final Set<Peer> peers = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("http-limits").daemon().factory());

  private BoundedHttpServer(HttpServer http, Limits limits, Consumer<String> say) {
    this.http = http;
    this.limits = limits;
    this.say = say;
    this.room = new Semaphore(limits.requests());
  }

  /**
   * Binds an address; nothing is answered before {@link #start}.
   *
   * @param tls to answer HTTPS
   * @param say hears, once for each change, that it is full, has room again, or cuts slow peers
   * @throws java.net.BindException if the address is taken
   */
  public static BoundedHttpServer bind(
      InetSocketAddress address,
      Optional<HttpsConfigurator> tls,
      Limits limits,
      Consumer<String> say)
      throws IOException {
    if (tls.isEmpty()) {
      return new BoundedHttpServer(HttpServer.create(address, 0), limits, say);
    }
    HttpsServer https = HttpsServer.create(address, 0);
    https.setHttpsConfigurator(tls.get());
    return new BoundedHttpServer(https, limits, say);
  }

  private static void preset(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  private static long mostConnections() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? Math.clamp(unix.getMaxFileDescriptorCount() / SHARE_OF_DESCRIPTORS, 16, MOST_CONNECTIONS)
        : MOST_CONNECTIONS;
  }

  /** Begins to answer; exchanges are closed when the handler returns. */
  public void start(HttpHandler handler) {
    http.setExecutor(this::execute);
    http.createContext("/", exchange -> handle(exchange, handler));
    long look =
        Math.max(1, Math.min(RAREST_LOOK.toMillis(), shortest().dividedBy(LOOKS).toMillis()));
    var _ = clock.scheduleWithFixedDelay(this::look, look, look, TimeUnit.MILLISECONDS);
    http.start();
  }

  private Duration shortest() {
    Duration least = limits.head().compareTo(limits.body()) < 0 ? limits.head() : limits.body();
    return least.compareTo(limits.write()) < 0 ? least : limits.write();
  }

  /** Returns the port of the server. */
  public int port() {
    return http.getAddress().getPort();
  }

  /** Connections that were closed because too many were in use. */
  public long refused() {
    return refused.get();
  }

  /** Requests that were cut because their peer took too long. */
  public long cut() {
    return cut.get();
  }

  /** The server closes the connection of what is rejected. */
  private void execute(Runnable exchange) {
    if (!room.tryAcquire()) {
      refused.incrementAndGet();
      if (rejectedConnections.compareAndSet(false, true)) {
        say.accept(
            "full: %d requests are being answered, further connections are closed"
                .formatted(limits.requests()));
      }
      throw new RejectedExecutionException("full");
    }
    boolean begun = false;
    try {
      threads.execute(() -> serve(exchange));
      begun = true;
    } finally {
      if (!begun) {
        room.release();
      }
    }
  }

  private void serve(Runnable exchange) {
    Peer peer = new Peer(Thread.currentThread());
    peers.add(peer);
    CURRENT.set(peer);
    peer.await(limits.head());
    try {
      exchange.run();
    } finally {
      peers.remove(peer);
      peer.done();
      room.release();
      if (room.availablePermits() > limits.requests() / 4
          && rejectedConnections.compareAndSet(true, false)) {
        say.accept("has room again, refused=%d so far".formatted(refused.get()));
      }
    }
  }

  private void handle(HttpExchange exchange, HttpHandler handler) throws IOException {
    Peer peer = CURRENT.get();
    peer.came();
    exchange.setStreams(
        new Body(exchange.getRequestBody(), peer),
        new ResponseStream(exchange.getResponseBody(), peer));
    try {
      handler.handle(exchange);
    } finally {
      // The rest of the body is read, and the rest of the answer written, now.
      peer.await(limits.write());
      exchange.close();
    }
  }

  private void look() {
    long now = System.nanoTime();
    for (Peer peer : peers) {
      if (peer.expired(now)) {
        long number = cut.incrementAndGet();
        if (Long.bitCount(number) == 1) {
          say.accept("cut %d requests whose peers were too slow".formatted(number));
        }
        peer.interrupt(); // counted before the peer can know
      }
    }
  }

  /** A thread that answers, and how long it may wait for its peer. */
  private static final class Peer {
    private final Thread thread;
    private final long zero = System.nanoTime() - 1;

    /** Nanoseconds from zero, {@link #IDLE} or {@link #EXPIRED}. */
    private final AtomicLong until = new AtomicLong(IDLE);

    Peer(Thread thread) {
      this.thread = thread;
    }

    private long now(long nanos) {
      return Math.max(1, nanos - zero);
    }

    void await(Duration longest) {
      awaitUntil(now(System.nanoTime()) + longest.toNanos());
    }

    void awaitUntil(long end) {
      until.compareAndSet(IDLE, end);
    }

    long endIn(Duration longest) {
      return now(System.nanoTime()) + longest.toNanos();
    }

    /** Notes that the awaited bytes came. */
    void came() throws IOException {
      if (until.getAndSet(IDLE) == EXPIRED) {
        until.set(EXPIRED);
        throw new IOException("the peer was too slow");
      }
    }

    void done() {
      until.set(IDLE);
    }

    /** Whether the request has waited too long, and is to be interrupted. */
    boolean expired(long nanos) {
      long end = until.get();
      return end > IDLE && now(nanos) > end && until.compareAndSet(end, EXPIRED);
    }

    void interrupt() {
      thread.interrupt();
    }
  }

  /** A body whose reads have one limit together. */
  private final class Body extends FilterInputStream {
    private final Peer peer;
    private long end;

    Body(InputStream in, Peer peer) {
      super(in);
      this.peer = peer;
    }

    @Override
    public int read() throws IOException {
      await();
      try {
        return in.read();
      } finally {
        peer.came();
      }
    }

    @Override
    public int read(byte[] bytes, int from, int count) throws IOException {
      await();
      try {
        return in.read(bytes, from, count);
      } finally {
        peer.came();
      }
    }

    private void await() {
      end = end == 0 ? peer.endIn(limits.body()) : end;
      peer.awaitUntil(end);
    }
  }

  private final class ResponseStream extends FilterOutputStream {
    private final Peer peer;

    ResponseStream(OutputStream out, Peer peer) {
      super(out);
      this.peer = peer;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      peer.await(limits.write());
      try {
        out.write(bytes, from, count);
      } finally {
        peer.came();
      }
    }

    @Override
    public void flush() throws IOException {
      peer.await(limits.write());
      try {
        out.flush();
      } finally {
        peer.came();
      }
    }

    @Override
    public void close() throws IOException {
      peer.await(limits.write());
      try {
        out.close();
      } finally {
        peer.came();
      }
    }
  }

  /** Stops to listen, and ends what is being answered. */
  @Override
  public void close() {
    close(0);
  }

  /**
   * Closes the server after a time for the requests that are being answered.
   *
   * @param seconds that requests being answered have until they are ended
   */
  public void close(int seconds) {
    http.stop(seconds);
    threads.shutdownNow();
    clock.shutdownNow();
  }
}
