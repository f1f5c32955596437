package io.troupe.cluster.weights;

import io.troupe.base.hash.Sha256;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.Wire;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.cluster.weights.Fetched.Report;
import io.troupe.cluster.weights.Fetched.Trouble;
import io.troupe.cluster.weights.StallGuard.Watch;
import io.troupe.cluster.weights.VersionManifest.Place;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * One transfer. It goes from source to source until every chunk is here: what came from one is not
 * asked of the next. In the first round a source that is slower than the settings allow is left; in
 * later rounds any that gives something will do.
 *
 * <p>It ends: each source is left after a stall, two rounds that bring no chunk are the last ones,
 * and so is the total time.
 */
final class WeightFetch {
  private static final int MOST_CORRUPT = 3; // of one connection; then it is the connection
  private static final int ROUNDS = 2;
  private static final int SLICE = 1 << 18;

  private final Endpoint endpoint;
  private final RunSecret secret;
  private final TransferSettings settings;
  private final StallGuard guard;
  private final WeightCache cache;
  private final WeightRef ref;
  private final byte[] digest;
  private final ByteBuffer slice = ByteBuffer.allocateDirect(SLICE);
  private final ByteBuffer answer = ByteBuffer.allocate(Protocol.ANSWER);
  private final List<Trouble> troubles = new ArrayList<>();
  private final long started = System.nanoTime();
  private Optional<Incoming> incoming = Optional.empty();
  private long fetched;
  private long reused;
  private int corrupt;

  WeightFetch(
      Endpoint endpoint,
      RunSecret secret,
      TransferSettings settings,
      StallGuard guard,
      WeightCache cache,
      WeightRef ref) {
    this.endpoint = endpoint;
    this.secret = secret;
    this.settings = settings;
    this.guard = guard;
    this.cache = cache;
    this.ref = ref;
    this.digest = HexFormat.of().parseHex(ref.digest());
  }

  /** Runs to its end. */
  Fetched run(List<InetSocketAddress> sources) {
    Optional<CachedVersion> here = cache.find(ref);
    if (here.isPresent()) {
      return new Fetched.Ready(here.get(), Report.NONE);
    }
    try {
      String reason = from(sources);
      if (whole()) {
        return new Fetched.Ready(cache.seal(ref, incoming.orElseThrow()), report());
      }
      drop();
      return new Fetched.Failed(reason, report());
    } catch (IOException local) {
      try {
        drop();
      } catch (IOException second) {
        local.addSuppressed(second);
      }
      return new Fetched.Failed("this node cannot store them: " + local.getMessage(), report());
    }
  }

  private void drop() throws IOException {
    if (incoming.isPresent()) {
      cache.abandon(ref, incoming.get());
    }
  }

  private Report report() {
    return new Report(
        fetched, reused, corrupt, Duration.ofNanos(System.nanoTime() - started), troubles);
  }

  /** Asks the sources in turn; says why it stopped, when chunks are missing. */
  private String from(List<InetSocketAddress> sources) throws IOException {
    if (sources.isEmpty()) {
      return "no source was named";
    }
    int fruitless = 0;
    for (int turn = 0; fruitless < ROUNDS * sources.size() && !whole(); turn++) {
      if (late()) {
        return "not done after %d s".formatted(settings.total().toSeconds());
      }
      InetSocketAddress source = sources.get(turn % sources.size());
      long before = fetched;
      Optional<String> trouble = attempt(source, turn < sources.size());
      trouble.ifPresent(reason -> troubles.add(new Trouble(source, reason)));
      fruitless = fetched > before || whole() ? 0 : fruitless + 1;
    }
    return "no source gives them: "
        + String.join(
            "; ", troubles.stream().map(t -> t.source() + " " + t.reason()).distinct().toList());
  }

  private boolean late() {
    return System.nanoTime() - started > settings.total().toNanos();
  }

  private boolean whole() {
    return incoming.isPresent() && incoming.get().missingFrom(0) == incoming.get().chunks();
  }

  /** Thrown when this node, and not a source, is at fault. */
  private static final class LocalFailure extends IOException {
    private static final long serialVersionUID = 1L;

    LocalFailure(IOException cause) {
      super(cause.getMessage(), cause);
    }
  }

  private Optional<String> attempt(InetSocketAddress source, boolean choosy) throws IOException {
    long least = choosy ? Math.max(1, settings.slowest() * settings.stall().toMillis() / 1000) : 1;
    try (Wire wire = connect(source)) {
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
    } catch (LocalFailure ours) {
      throw ours;
    } catch (IOException failure) {
      return Optional.of(String.valueOf(failure.getMessage()));
    }
  }

  private Wire connect(InetSocketAddress source) throws IOException {
    Wire wire = endpoint.connect(source, settings.connect());
    try (Watch _ = guard.watch(wire, settings.connect(), Long.MAX_VALUE)) {
      secret.greet(wire, Protocol.PURPOSE);
      return wire;
    } catch (IOException failure) {
      wire.close();
      throw failure;
    }
  }

  /** Takes what the source has; the reason to leave it, if there is one. */
  private Optional<String> pull(Wire wire, Watch watch) throws IOException {
    if (incoming.isEmpty()) {
      Optional<String> refusal = manifest(wire, watch);
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    Incoming here = incoming.orElseThrow();
    Deque<Integer> asked = new ArrayDeque<>();
    int next = here.missingFrom(0);
    int damaged = 0;
    while (true) {
      while (asked.size() < settings.window() && next < here.chunks()) {
        ask(wire, Protocol.CHUNK, next);
        asked.add(next);
        next = here.missingFrom(next + 1);
      }
      if (asked.isEmpty()) {
        next = here.missingFrom(0);
        if (next == here.chunks()) {
          return Optional.empty();
        }
        continue;
      }
      if (late()) {
        return Optional.of("had no time left");
      }
      int chunk = asked.remove();
      switch (head(wire)) {
        case Protocol.OK -> {
          if (!receive(wire, watch, here, chunk)) {
            corrupt++;
            if (++damaged == MOST_CORRUPT) {
              return Optional.of("sent %d damaged chunks".formatted(damaged));
            }
          }
        }
        case Protocol.NOT_YET -> {} // it stays missing, and is asked for again
        case Protocol.NOT_HERE -> {
          return Optional.of(Trouble.EVICTED);
        }
        default -> throw new IOException("answered what was not asked");
      }
    }
  }

  private Optional<String> manifest(Wire wire, Watch watch) throws IOException {
    ask(wire, Protocol.MANIFEST, 0);
    if (head(wire) != Protocol.OK) {
      return Optional.of(Trouble.ABSENT);
    }
    int length = answer.getInt();
    if (length < 0 || length > Protocol.MOST_MANIFEST) {
      throw new IOException("sent a manifest of %d bytes".formatted(length));
    }
    ByteBuffer json = ByteBuffer.allocate(length);
    while (json.hasRemaining()) {
      int count = wire.read(json);
      if (count < 0) {
        throw new IOException("ended within the manifest");
      }
      watch.passed(count);
    }
    if (!Sha256.hex(json.array()).equals(ref.digest())) {
      return Optional.of("sent a manifest with another digest");
    }
    begin(VersionManifest.of(json.array()), json.array());
    watch.passed(reused); // copying takes its time, and is no fault of the source
    return Optional.empty();
  }

  private void begin(VersionManifest manifest, byte[] json) throws LocalFailure {
    try {
      List<CachedVersion> versions = cache.versions();
      Incoming started = cache.begin(manifest, json);
      incoming = Optional.of(started);
      if (!versions.isEmpty() && cache.find(versions.getLast().ref()).isPresent()) {
        reused = started.reuse(versions.getLast());
      }
    } catch (IOException failure) {
      throw new LocalFailure(failure);
    }
  }

  private void ask(Wire wire, byte operation, int number) throws IOException {
    wire.write(
        ByteBuffer.allocate(Protocol.QUESTION).put(operation).put(digest).putInt(number).flip());
  }

  private byte head(Wire wire) throws IOException {
    answer.clear();
    wire.readFully(answer);
    return answer.flip().get();
  }

  /** Reads a chunk; whether it is what the manifest says. */
  private boolean receive(Wire wire, Watch watch, Incoming here, int number) throws IOException {
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
      watch.passed(count);
      crc.update(slice.flip());
      write(here, number, done);
      done += count;
    }
    if ((int) crc.getValue() != place.chunk().crc32c()) {
      return false;
    }
    fetched += length;
    here.take(number);
    return true;
  }

  private void write(Incoming here, int number, int within) throws LocalFailure {
    try {
      here.write(number, within, slice.flip());
    } catch (IOException failure) {
      throw new LocalFailure(failure);
    }
  }
}
