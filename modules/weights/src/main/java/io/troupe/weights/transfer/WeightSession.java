package io.troupe.weights.transfer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.troupe.net.link.Connection;
import io.troupe.weights.cache.ChunkSource;
import io.troupe.weights.cache.ChunkSource.Availability;
import io.troupe.weights.cache.VersionManifest.Chunk;
import io.troupe.weights.cache.VersionManifest.Place;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.transfer.QuestionQueue.Question;
import io.troupe.weights.transfer.StallWatchdog.Watch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A server's side of the connection of one receiver. Questions are answered in their order, by one
 * thread; deltas that are asked for are coded ahead of their turn by others.
 */
final class WeightSession implements AutoCloseable {
  private static final long SLICE = 1 << 20; // bytes between two counts of the progress
  private static final Duration IDLE = Duration.ofMinutes(1);

  private final Connection wire;
  private final WeightCache cache;
  private final TransferSettings settings;
  private final StallWatchdog guard;
  private final DeltaThreads threads;
  private final WeightServer.Fetcher fetcher;
  private final QuestionQueue questions;
  private final Map<String, OpenVersion> opened = new HashMap<>();

  /** The version that the receiver has, if it is here as well. */
  private Optional<OpenVersion> base = Optional.empty();

  /** A question whose turn will come, and the delta that it asks for, if that is begun. */
  private record PendingAnswer(Question question, Optional<CompletableFuture<byte[]>> delta) {}

  WeightSession(
      Connection wire,
      WeightCache cache,
      TransferSettings settings,
      StallWatchdog guard,
      DeltaThreads threads,
      WeightServer.Fetcher fetcher) {
    this.wire = wire;
    this.cache = cache;
    this.settings = settings;
    this.guard = guard;
    this.threads = threads;
    this.fetcher = fetcher;
    this.questions = new QuestionQueue(wire, settings.ahead(), guard, settings.stall());
  }

  /** Answers until the connection ends. */
  void serve() throws IOException, InterruptedException {
    Deque<PendingAnswer> pending = new ArrayDeque<>();
    while (true) {
      if (pending.isEmpty()) {
        pending.add(begin(questions.await(IDLE)));
      }
      for (Optional<Question> next = ahead(pending); next.isPresent(); next = ahead(pending)) {
        pending.add(begin(next.get()));
      }
      answer(pending.remove());
    }
  }

  private Optional<Question> ahead(Deque<PendingAnswer> pending) throws IOException {
    return pending.size() < settings.ahead() ? questions.next() : Optional.empty();
  }

  /** Begins what can be done before the question's turn, without waiting for anything. */
  private PendingAnswer begin(Question question) throws IOException, InterruptedException {
    String digest = digest(question);
    if (question.operation() == TransferProtocol.BASE) {
      base = open(digest, Duration.ZERO);
    }
    if (question.operation() != TransferProtocol.CHANGED) {
      return new PendingAnswer(question, Optional.empty());
    }
    Optional<OpenVersion> version = open(digest, Duration.ZERO);
    return new PendingAnswer(
        question, version.isPresent() ? delta(version.get(), question.number()) : Optional.empty());
  }

  private static String digest(Question question) {
    return HexFormat.of().formatHex(question.digest());
  }

  private void answer(PendingAnswer pending) throws IOException, InterruptedException {
    Question question = pending.question();
    switch (question.operation()) {
      case TransferProtocol.MANIFEST -> manifest(digest(question));
      case TransferProtocol.CHUNK, TransferProtocol.CHANGED -> chunk(pending);
      case TransferProtocol.BASE ->
          status(base.isPresent() ? TransferProtocol.OK : TransferProtocol.NOT_HERE);
      case TransferProtocol.FETCH -> fetch(question.request());
      default -> throw new IOException("operation " + question.operation() + " does not exist");
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

  private void fetch(byte[] request) throws IOException, InterruptedException {
    try {
      bytes(fetcher.fetch(request));
    } catch (IOException refusal) {
      byte[] reason = String.valueOf(refusal.getMessage()).getBytes(UTF_8);
      try (Watch _ = guard.watch(wire, settings.stall(), Long.MAX_VALUE)) {
        writeHeader(TransferProtocol.FAILED, reason.length);
        wire.write(ByteBuffer.wrap(reason));
      }
    }
  }

  private Optional<OpenVersion> open(String digest, Duration atMost)
      throws IOException, InterruptedException {
    OpenVersion known = opened.get(digest);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<OpenVersion> found = cache.source(digest, atMost).map(OpenVersion::new);
    found.ifPresent(version -> opened.put(digest, version));
    return found;
  }

  private void chunk(PendingAnswer pending) throws IOException, InterruptedException {
    Question question = pending.question();
    String digest = digest(question);
    int number = question.number();
    Optional<OpenVersion> found = open(digest, settings.relayWait());
    if (found.isEmpty()) {
      status(TransferProtocol.NOT_HERE);
      return;
    }
    OpenVersion version = found.get();
    if (number < 0 || number >= version.places.size()) {
      throw new IOException("chunk " + number + " does not exist");
    }
    switch (version.source.await(number, settings.relayWait())) {
      case PRESENT -> {
        Optional<CompletableFuture<byte[]>> delta = pending.delta();
        if (delta.isEmpty() && question.operation() == TransferProtocol.CHANGED) {
          delta = delta(version, number); // it was not here when it was asked for
        }
        byte[] coded = delta.isPresent() ? DeltaThreads.result(delta.get()) : new byte[0];
        if (coded.length > 0) {
          send(coded);
        } else {
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
   * Begins to code what changed since the receiver's version; empty if the chunk is not here yet,
   * or is no chunk of that version.
   */
  private Optional<CompletableFuture<byte[]>> delta(OpenVersion version, int number)
      throws IOException, InterruptedException {
    if (base.isEmpty() || !base.get().has(number) || !version.has(number)) {
      return Optional.empty();
    }
    Place place = version.places.get(number);
    if (!base.get().places.get(number).sameRange(place)) {
      return Optional.empty();
    }
    Chunk chunk = place.chunk();
    String file = place.file().name();
    try {
      return Optional.of(threads.code(base.get().file(file), version.file(file), chunk));
    } catch (NoSuchFileException evicted) {
      return Optional.empty();
    }
  }

  private void send(byte[] delta) throws IOException {
    try (Watch watch = guard.watch(wire, settings.stall(), 1)) {
      writeHeader(TransferProtocol.DELTA, delta.length);
      wire.write(ByteBuffer.wrap(delta));
      watch.add(delta.length);
    }
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

  /** Closes the files; a delta that is still being coded of them fails, and is not asked for. */
  @Override
  public void close() throws IOException {
    questions.close();
    for (OpenVersion version : opened.values()) {
      version.close();
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

    /** Whether a chunk can be read now. */
    boolean has(int number) throws InterruptedException {
      return number >= 0
          && number < places.size()
          && source.await(number, Duration.ZERO) == Availability.PRESENT;
    }

    FileChannel file(String name) throws IOException {
      if (!files.containsKey(name)) {
        files.put(name, open(name));
      }
      return requireNonNull(files.get(name));
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
}
