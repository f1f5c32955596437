package io.troupe.weights.transfer;

import io.troupe.base.hash.Sha256;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.IncomingVersion;
import io.troupe.weights.cache.VersionManifest;
import io.troupe.weights.cache.VersionManifest.Place;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome.SourceFailure;
import io.troupe.weights.transfer.FetchOutcome.TransferStats;
import io.troupe.weights.transfer.StallWatchdog.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transfer. It goes from source to source until every chunk is here: what came from one is not
 * asked of the next. In the first round a source that is slower than the settings allow is left; in
 * later rounds any that gives something will do.
 *
 * <p>It ends: each source is left after a stall, two rounds that bring no chunk are the last ones,
 * and so is the total time.
 */
final class WeightFetch {
  private static final Logger LOG = LoggerFactory.getLogger(WeightFetch.class);
  private static final int MOST_CORRUPT = 3; // of one connection; then it is the connection
  private static final int ROUNDS = 2;
  private static final int SLICE = 1 << 18;

  private final ConnectionFactory endpoint;
  private final RunSecret secret;
  private final TransferSettings settings;
  private final StallWatchdog guard;
  private final DeltaThreads threads;
  private final WeightCache cache;
  private final WeightRef ref;
  private final byte[] digest;
  private final ByteBuffer slice = ByteBuffer.allocateDirect(SLICE);
  private final ByteBuffer answer = ByteBuffer.allocate(TransferProtocol.ANSWER);
  private final List<SourceFailure> troubles = new ArrayList<>();
  private final long started = System.nanoTime();
  private Optional<IncomingVersion> incoming = Optional.empty();

  /** The version before, whole on this node; deltas are against it. */
  private Optional<CachedVersion> base = Optional.empty();

  private List<Place> basePlaces = List.of();

  /** Chunks of which a delta was not right; they are taken whole. */
  private final BitSet undone = new BitSet();

  private long fetched;
  private long reused;
  private int corrupt;

  WeightFetch(
      ConnectionFactory endpoint,
      RunSecret secret,
      TransferSettings settings,
      StallWatchdog guard,
      DeltaThreads threads,
      WeightCache cache,
      WeightRef ref) {
    this.endpoint = endpoint;
    this.secret = secret;
    this.settings = settings;
    this.guard = guard;
    this.threads = threads;
    this.cache = cache;
    this.ref = ref;
    this.digest = HexFormat.of().parseHex(ref.digest());
  }

  /** Runs to its end. */
  FetchOutcome run(List<InetSocketAddress> sources) {
    Optional<CachedVersion> here = cache.find(ref);
    if (here.isPresent()) {
      return new FetchOutcome.Ready(here.get(), TransferStats.NONE);
    }
    try {
      String reason = fetchFrom(sources);
      if (isComplete()) {
        return new FetchOutcome.Ready(cache.seal(ref, incoming.orElseThrow()), report());
      }
      drop();
      return new FetchOutcome.Failed(reason, report());
    } catch (IOException local) {
      try {
        drop();
      } catch (IOException second) {
        local.addSuppressed(second);
      }
      return new FetchOutcome.Failed(
          "this node cannot store them: " + local.getMessage(), report());
    }
  }

  private void drop() throws IOException {
    if (incoming.isPresent()) {
      cache.abandon(ref, incoming.get());
    }
  }

  private TransferStats report() {
    return new TransferStats(
        fetched, reused, corrupt, Duration.ofNanos(System.nanoTime() - started), troubles);
  }

  /** Asks the sources in turn; says why it stopped, when chunks are missing. */
  private String fetchFrom(List<InetSocketAddress> sources) throws IOException {
    if (sources.isEmpty()) {
      return "no source was named";
    }
    int fruitless = 0;
    for (int turn = 0; fruitless < ROUNDS * sources.size() && !isComplete(); turn++) {
      if (timedOut()) {
        return "not done after %d s".formatted(settings.total().toSeconds());
      }
      InetSocketAddress source = sources.get(turn % sources.size());
      long before = fetched;
      Optional<String> trouble = attempt(source, turn < sources.size());
      trouble.ifPresent(reason -> troubles.add(new SourceFailure(source, reason)));
      fruitless = fetched > before || isComplete() ? 0 : fruitless + 1;
    }
    return "no source gives them: "
        + String.join(
            "; ", troubles.stream().map(t -> t.source() + " " + t.reason()).distinct().toList());
  }

  private boolean timedOut() {
    return System.nanoTime() - started > settings.total().toNanos();
  }

  private boolean isComplete() {
    return incoming.isPresent() && incoming.get().missingFrom(0) == incoming.get().chunks();
  }

  private Optional<String> attempt(InetSocketAddress source, boolean choosy) throws IOException {
    long least = choosy ? Math.max(1, settings.slowest() * settings.stall().toMillis() / 1000) : 1;
    try (Connection wire = connect(source)) {
      try (Watch watch = guard.watch(wire, settings.stall(), least)) {
        try {
          return pull(wire, watch);
        } catch (IOException failure) {
          if (watch.expired()) {
            return Optional.of("gave too little for %s".formatted(settings.stall()));
          }
          throw failure;
        }
      }
    } catch (LocalStoreException ours) {
      throw ours;
    } catch (IOException failure) {
      return Optional.of(String.valueOf(failure.getMessage()));
    }
  }

  private Connection connect(InetSocketAddress source) throws IOException {
    Connection wire = endpoint.connect(source, settings.connect());
    try (Watch _ = guard.watch(wire, settings.connect(), Long.MAX_VALUE)) {
      secret.proveAsClient(wire, TransferProtocol.PURPOSE);
      return wire;
    } catch (IOException failure) {
      wire.close();
      throw failure;
    }
  }

  /** Takes what the source has; the reason to leave it, if there is one. */
  private Optional<String> pull(Connection wire, Watch watch) throws IOException {
    if (incoming.isEmpty()) {
      Optional<String> refusal = manifest(wire, watch);
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    boolean deltas = base.isPresent() && knowsBase(wire, base.get());
    try (PendingChunks pending = new PendingChunks(incoming.orElseThrow())) {
      return pull(wire, watch, incoming.orElseThrow(), deltas, pending);
    }
  }

  private Optional<String> pull(
      Connection wire, Watch watch, IncomingVersion here, boolean deltas, PendingChunks pending)
      throws IOException {
    Deque<Integer> asked = new ArrayDeque<>();
    int next = here.missingFrom(0);
    int damaged = 0;
    while (true) {
      while (asked.size() < settings.window() && next < here.chunks()) {
        boolean changes = deltas && !undone.get(next);
        ask(wire, changes ? TransferProtocol.CHANGED : TransferProtocol.CHUNK, next);
        asked.add(next);
        next = here.missingFrom(next + 1);
      }
      if (asked.isEmpty()) {
        pending.finishAll();
        next = here.missingFrom(0);
        if (next == here.chunks()) {
          return Optional.empty();
        }
        continue;
      }
      if (timedOut()) {
        return Optional.of("had no time left");
      }
      int chunk = asked.remove();
      switch (readStatus(wire)) {
        case TransferProtocol.OK -> {
          if (!receive(wire, watch, here, chunk)) {
            corrupt++;
            if (++damaged == MOST_CORRUPT) {
              return Optional.of("sent %d damaged chunks".formatted(damaged));
            }
          }
        }
        case TransferProtocol.DELTA -> {
          byte[] delta = readDelta(answer.getInt(), wire, watch, here.place(chunk));
          pending.add(chunk, delta);
        }
        case TransferProtocol.NOT_YET -> {} // it stays missing, and is asked for again
        case TransferProtocol.NOT_HERE -> {
          return Optional.of(SourceFailure.EVICTED);
        }
        default -> throw new IOException("answered what was not asked");
      }
    }
  }

  private Optional<String> manifest(Connection wire, Watch watch) throws IOException {
    ask(wire, TransferProtocol.MANIFEST, 0);
    if (readStatus(wire) != TransferProtocol.OK) {
      return Optional.of(SourceFailure.ABSENT);
    }
    int length = answer.getInt();
    if (length < 0 || length > TransferProtocol.MOST_MANIFEST) {
      throw new IOException("sent a manifest of %d bytes".formatted(length));
    }
    ByteBuffer json = ByteBuffer.allocate(length);
    while (json.hasRemaining()) {
      int count = wire.read(json);
      if (count < 0) {
        throw new IOException("ended within the manifest");
      }
      watch.add(count);
    }
    if (!Sha256.hex(json.array()).equals(ref.digest())) {
      return Optional.of("sent a manifest with another digest");
    }
    begin(VersionManifest.of(json.array()), json.array());
    watch.add(reused); // copying takes its time, and is no fault of the source
    return Optional.empty();
  }

  private void begin(VersionManifest manifest, byte[] json) throws LocalStoreException {
    try {
      List<CachedVersion> versions = cache.versions();
      IncomingVersion started = cache.begin(manifest, json);
      incoming = Optional.of(started);
      if (!versions.isEmpty() && cache.find(versions.getLast().ref()).isPresent()) {
        reused = started.reuse(versions.getLast());
        base = Optional.of(versions.getLast());
        basePlaces = versions.getLast().manifest().places();
      }
    } catch (IOException failure) {
      throw new LocalStoreException(failure);
    }
  }

  private boolean knowsBase(Connection wire, CachedVersion before) throws IOException {
    ask(wire, TransferProtocol.BASE, HexFormat.of().parseHex(before.ref().digest()), 0);
    return readStatus(wire) == TransferProtocol.OK;
  }

  private void ask(Connection wire, byte operation, int number) throws IOException {
    ask(wire, operation, digest, number);
  }

  private static void ask(Connection wire, byte operation, byte[] digest, int number)
      throws IOException {
    wire.write(
        ByteBuffer.allocate(TransferProtocol.QUESTION)
            .put(operation)
            .put(digest)
            .putInt(number)
            .flip());
  }

  private byte readStatus(Connection wire) throws IOException {
    answer.clear();
    wire.readFully(answer);
    return answer.flip().get();
  }

  /** Reads a chunk; whether it is what the manifest says. */
  private boolean receive(Connection wire, Watch watch, IncomingVersion here, int number)
      throws IOException {
    Place place = here.place(number);
    int length = answer.getInt();
    if (length != place.chunk().length()) {
      throw new IOException(
          "sent %d bytes as a chunk of %d".formatted(length, place.chunk().length()));
    }
    CRC32C crc = new CRC32C();
    int done = 0;
    while (done < length) {
      slice.clear().limit(Math.min(SLICE, length - done));
      int count = wire.read(slice);
      if (count < 0) {
        throw new IOException("ended within a chunk");
      }
      watch.add(count);
      crc.update(slice.flip());
      DeltaThreads.write(here, number, done, slice.flip());
      done += count;
    }
    if ((int) crc.getValue() != place.chunk().crc32c()) {
      return false;
    }
    fetched += length;
    here.copyChunk(number);
    return true;
  }

  private static byte[] readDelta(int length, Connection wire, Watch watch, Place place)
      throws IOException {
    if (length < 0 || length > place.chunk().length()) {
      throw new IOException(
          "sent a delta of %d bytes for a chunk of %d".formatted(length, place.chunk().length()));
    }
    ByteBuffer delta = ByteBuffer.allocate(length);
    while (delta.hasRemaining()) {
      int count = wire.read(delta);
      if (count < 0) {
        throw new IOException("ended within a delta");
      }
      watch.add(count);
    }
    watch.add(place.chunk().length() - length); // as much as if the chunk itself had come
    return delta.array();
  }

  /** Deltas that came, of which chunks are being made; closing waits for them. */
  private final class PendingChunks implements AutoCloseable {
    private final IncomingVersion here;
    private final Deque<PendingChunk> pending = new ArrayDeque<>();

    private record PendingChunk(int number, int delta, CompletableFuture<Boolean> made) {}

    PendingChunks(IncomingVersion here) {
      this.here = here;
    }

    /** Has a chunk made of its delta; waits where all threads have work ahead. */
    void add(int number, byte[] delta) throws IOException {
      Place place = here.place(number);
      if (number >= basePlaces.size() || !basePlaces.get(number).sameRange(place)) {
        refuse(number);
        return;
      }
      if (pending.size() == settings.ahead()) {
        finish();
      }
      Path file = base.orElseThrow().directory().resolve(place.file().name());
      pending.add(new PendingChunk(number, delta.length, threads.make(delta, file, here, number)));
    }

    /** Waits for the oldest. */
    private void finish() throws IOException {
      PendingChunk oldest = pending.remove();
      if (DeltaThreads.result(oldest.made)) {
        fetched += oldest.delta;
        reused += here.place(oldest.number).chunk().length() - oldest.delta;
      } else {
        refuse(oldest.number);
      }
    }

    /** Notes that a chunk was not made of its delta: it is taken whole. */
    private void refuse(int number) {
      Place place = here.place(number);
      LOG.warn(
          "event=weights_delta_refused version={} file={} offset={} bytes={}"
              + " reason=\"what it makes of version {} has other sums\" then=\"taken whole\"",
          ref.version(),
          place.file().name(),
          place.chunk().offset(),
          place.chunk().length(),
          base.orElseThrow().ref().version());
      corrupt++;
      undone.set(number);
    }

    void finishAll() throws IOException {
      while (!pending.isEmpty()) {
        finish();
      }
    }

    @Override
    public void close() throws IOException {
      // All have ended before one may fail: none writes into a version that is given up.
      CompletableFuture.allOf(
              pending.stream().map(PendingChunk::made).toArray(CompletableFuture[]::new))
          .exceptionally(_ -> null)
          .join();
      finishAll();
    }
  }
}
