package io.troupe.weights.transfer;

import static java.util.Objects.requireNonNull;

import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PendingHandshakes;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.ChunkSource;
import io.troupe.weights.cache.VersionManifest.Place;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.delta.ChunkDelta;
import io.troupe.weights.transfer.StallWatchdog.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a node's weights to peers that know the run's secret, including weights that are still
 * being received. Each connection has a thread, and their number is bounded; one that takes nothing
 * is closed, so that a dead receiver holds nothing up but its own thread, and that not for long.
 */
final class WeightServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WeightServer.class);
  private static final long SLICE = 1 << 20; // progress is counted at least so often
  private static final Duration IDLE = Duration.ofMinutes(1);

  /** Bytes of a part of a delta, which the cache of a core holds. */
  private static final int PART = 1 << 17;

  /** A delta is worth its computation where it takes no more than this part of a chunk. */
  private static final int LEAST_SAVING = 2;

  /** Connections without a proof of the secret; more close the oldest. */
  private static final int HALF_OPEN = 256;

  /** A failed accept, as without a free descriptor, is not tried again at once. */
  private static final Duration RECOVERY = Duration.ofMillis(100);

  private final WeightCache cache;
  private final RunSecret secret;
  private final TransferSettings settings;
  private final StallWatchdog guard;
  private final Fetcher fetcher;
  private final ConnectionFactory.Listener listener;
  private final PendingHandshakes halfOpen = new PendingHandshakes(HALF_OPEN);
  private final Semaphore room;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** Answers a process of this host that wants weights in the cache. */
  interface Fetcher {
    /** The request's bytes to the answer's; an exception's message goes to the process. */
    byte[] fetch(byte[] request) throws IOException, InterruptedException;
  }

  WeightServer(
      ConnectionFactory endpoint,
      InetSocketAddress address,
      WeightCache cache,
      RunSecret secret,
      TransferSettings settings,
      StallWatchdog guard,
      Fetcher bringer)
      throws IOException {
    this.cache = cache;
    this.secret = secret;
    this.settings = settings;
    this.guard = guard;
    this.fetcher = bringer;
    this.room = new Semaphore(settings.connections());
    this.listener = endpoint.listen(address);
    daemon("weights-server", this::accept).start();
  }

  private static Thread daemon(String name, Runnable task) {
    return Thread.ofPlatform().daemon().name(name).unstarted(task);
  }

  InetSocketAddress address() {
    return listener.address();
  }

  private void accept() {
    while (!closed) {
      try {
        Connection wire = listener.accept();
        halfOpen.add(wire);
        open.add(wire);
        daemon("weights-connection", () -> serve(wire)).start();
      } catch (IOException failure) {
        if (!closed) {
          LOG.warn("event=weights_accept_failed reason={}", failure.toString());
          LockSupport.parkNanos(RECOVERY.toNanos()); // out of descriptors, it fails at once again
        }
      }
    }
  }

  private void serve(Connection wire) {
    try (wire) {
      try (Watch _ = guard.watch(wire, settings.connect(), Long.MAX_VALUE)) {
        secret.proveAsServer(wire, TransferProtocol.PURPOSE);
      } finally {
        halfOpen.remove(wire);
      }
      if (!room.tryAcquire()) {
        LOG.warn("event=weights_connection_refused limit={}", settings.connections());
        return;
      }
      try (Session connection = new Session(wire)) {
        connection.serve();
      } finally {
        room.release();
      }
    } catch (IOException | InterruptedException end) {
      LOG.debug("event=weights_connection_ended reason={}", end.toString());
    } finally {
      open.remove(wire);
    }
  }

  /** A connection of one receiver, whose requests are answered in order. */
  private final class Session implements AutoCloseable {
    private final Connection wire;
    private final ByteBuffer question = ByteBuffer.allocate(TransferProtocol.QUESTION);
    private final Map<String, OpenVersion> opened = new HashMap<>();
    private @Nullable OpenVersion base;
    private final ByteBuffer slice = ByteBuffer.allocateDirect(PART);
    private final byte[] was = new byte[PART];
    private final byte[] is = new byte[PART];

    Session(Connection wire) {
      this.wire = wire;
    }

    void serve() throws IOException, InterruptedException {
      while (true) {
        question.clear();
        try (Watch idle = guard.watch(wire, IDLE, 1)) {
          wire.readFully(question);
          idle.add(TransferProtocol.QUESTION);
        }
        question.flip();
        byte operation = question.get();
        byte[] digest = new byte[TransferProtocol.DIGEST];
        question.get(digest);
        answer(operation, HexFormat.of().formatHex(digest), question.getInt());
      }
    }

    private void answer(byte operation, String digest, int number)
        throws IOException, InterruptedException {
      switch (operation) {
        case TransferProtocol.MANIFEST -> manifest(digest);
        case TransferProtocol.CHUNK -> chunk(digest, number, false);
        case TransferProtocol.CHANGED -> chunk(digest, number, true);
        case TransferProtocol.BASE -> base(digest);
        case TransferProtocol.FETCH -> fetch(number);
        default -> throw new IOException("operation " + operation + " does not exist");
      }
    }

    private void manifest(String digest) throws IOException, InterruptedException {
      Optional<ChunkSource> source = cache.source(digest, settings.relayWait());
      if (source.isEmpty()) {
        status(TransferProtocol.NOT_HERE);
        return;
      }
      bytes(source.get().manifestBytes());
    }

    private void fetch(int length) throws IOException, InterruptedException {
      if (length < 0 || length > TransferProtocol.MOST_MANIFEST) {
        throw new IOException("a request of " + length + " bytes");
      }
      ByteBuffer request = ByteBuffer.allocate(length);
      try (Watch _ = guard.watch(wire, settings.stall(), Long.MAX_VALUE)) {
        wire.readFully(request);
      }
      try {
        bytes(fetcher.fetch(request.array()));
      } catch (IOException refusal) {
        byte[] reason =
            String.valueOf(refusal.getMessage()).getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (Watch _ = guard.watch(wire, settings.stall(), Long.MAX_VALUE)) {
          writeHeader(TransferProtocol.FAILED, reason.length);
          wire.write(ByteBuffer.wrap(reason));
        }
      }
    }

    /** Notes which version the receiver has, if it is here as well. */
    private void base(String digest) throws IOException, InterruptedException {
      Optional<ChunkSource> known = cache.source(digest, Duration.ZERO);
      if (base != null) {
        base.close();
        base = null;
      }
      known.ifPresent(source -> base = new OpenVersion(source));
      status(known.isPresent() ? TransferProtocol.OK : TransferProtocol.NOT_HERE);
    }

    private void chunk(String digest, int number, boolean changes)
        throws IOException, InterruptedException {
      OpenVersion version = opened.get(digest);
      if (version == null) {
        Optional<ChunkSource> source = cache.source(digest, settings.relayWait());
        if (source.isEmpty()) {
          status(TransferProtocol.NOT_HERE);
          return;
        }
        version = new OpenVersion(source.get());
        opened.put(digest, version);
      }
      if (number < 0 || number >= version.places.size()) {
        throw new IOException("chunk " + number + " does not exist");
      }
      switch (version.source.await(number, settings.relayWait())) {
        case PRESENT -> {
          if (!changes || !sendDelta(version, number)) {
            send(version, version.places.get(number));
          }
        }
        case NOT_YET -> status(TransferProtocol.NOT_YET);
        case GONE -> {
          opened.remove(digest);
          version.close();
          status(TransferProtocol.NOT_HERE);
        }
      }
    }

    /**
     * Sends what changed since the receiver's version; false if the chunk is to be sent instead.
     */
    private boolean sendDelta(OpenVersion version, int number)
        throws IOException, InterruptedException {
      OpenVersion before = base;
      Place place = version.places.get(number);
      if (before == null
          || number >= before.places.size()
          || !before.places.get(number).sameRange(place)
          || before.source.await(number, Duration.ZERO) != ChunkSource.Availability.PRESENT) {
        return false;
      }
      byte[] delta;
      try {
        delta = delta(before, version, place);
      } catch (NoSuchFileException evicted) {
        return false;
      }
      if (delta.length == 0) {
        return false;
      }
      try (Watch watch = guard.watch(wire, settings.stall(), 1)) {
        writeHeader(TransferProtocol.DELTA, delta.length);
        wire.write(ByteBuffer.wrap(delta));
        watch.add(delta.length);
      }
      return true;
    }

    /** The delta of a chunk, part by part; empty if it is not worth it. */
    private byte[] delta(OpenVersion before, OpenVersion version, Place place) throws IOException {
      int length = place.chunk().length();
      ChunkDelta delta = new ChunkDelta(length, length / LEAST_SAVING);
      for (int from = 0; from < length; from += PART) {
        int count = Math.min(PART, length - from);
        before.read(place, from, count, slice, was);
        version.read(place, from, count, slice, is);
        if (!delta.add(was, is, from, count)) {
          return new byte[0];
        }
      }
      return delta.delta();
    }

    private void send(OpenVersion version, Place place) throws IOException {
      FileChannel file;
      try {
        file = version.file(place.file().name());
      } catch (NoSuchFileException evicted) {
        status(TransferProtocol.NOT_HERE);
        return;
      }
      try (Watch watch = guard.watch(wire, settings.stall(), 1)) {
        writeHeader(TransferProtocol.OK, place.chunk().length());
        long at = place.chunk().offset();
        long end = at + place.chunk().length();
        while (at < end) {
          long sent = wire.send(file, at, Math.min(SLICE, end - at));
          watch.add(sent);
          at += sent;
        }
      }
    }

    private void bytes(byte[] content) throws IOException {
      try (Watch watch = guard.watch(wire, settings.stall(), 1)) {
        writeHeader(
            content.length == 0 ? TransferProtocol.NOT_HERE : TransferProtocol.OK, content.length);
        for (int from = 0; from < content.length; from += (int) SLICE) {
          int length = (int) Math.min(SLICE, content.length - from);
          wire.write(ByteBuffer.wrap(content, from, length));
          watch.add(length);
        }
      }
    }

    private void status(byte status) throws IOException {
      writeHeader(status, 0);
    }

    private void writeHeader(byte status, int length) throws IOException {
      wire.write(ByteBuffer.allocate(TransferProtocol.ANSWER).put(status).putInt(length).flip());
    }

    @Override
    public void close() throws IOException {
      for (OpenVersion version : opened.values()) {
        version.close();
      }
      if (base != null) {
        base.close();
      }
    }
  }

  /** A version whose files are open: they can be read on after an eviction. */
  private static final class OpenVersion implements AutoCloseable {
    private final ChunkSource source;
    private final List<Place> places;
    private final Map<String, FileChannel> files = new HashMap<>();

    OpenVersion(ChunkSource source) {
      this.source = source;
      this.places = source.manifest().places();
    }

    FileChannel file(String name) throws IOException {
      if (!files.containsKey(name)) {
        files.put(name, open(name));
      }
      return requireNonNull(files.get(name));
    }

    /** Reads a part of a chunk into an array, through a buffer. */
    void read(Place place, int from, int count, ByteBuffer through, byte[] into)
        throws IOException {
      FileChannel file = file(place.file().name());
      through.clear().limit(count);
      while (through.hasRemaining()) {
        if (file.read(through, place.chunk().offset() + from + through.position()) < 0) {
          throw new IOException(
              "%s ends within a chunk".formatted(source.directory().resolve(place.file().name())));
        }
      }
      through.flip().get(into, 0, count);
    }

    private FileChannel open(String name) throws IOException {
      try {
        return FileChannel.open(source.directory().resolve(name), StandardOpenOption.READ);
      } catch (NoSuchFileException moved) {
        // The version was sealed, and its directory renamed, after the name was read.
        return FileChannel.open(source.directory().resolve(name), StandardOpenOption.READ);
      }
    }

    @Override
    public void close() throws IOException {
      for (FileChannel file : files.values()) {
        file.close();
      }
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
    for (Connection wire : open) {
      wire.close();
    }
  }
}
