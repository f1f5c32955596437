package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import io.troupe.net.link.Connection;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.IncomingVersion;
import io.troupe.weights.cache.VersionManifest;
import io.troupe.weights.cache.VersionManifest.Chunk;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.cache.WeightCacheSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Deltas of two versions with random changes and random cuts, on one thread and on several. */
class DeltaThreadsTest {
  private static final String FILE = "weights.bin";

  @TempDir Path folder;

  /** The versions before and after, as their sender has them. */
  private record Versions(WeightCache cache, CachedVersion before, CachedVersion after) {
    int chunks() {
      return after.manifest().places().size();
    }
  }

  private Versions publish(SplittableRandom random) throws IOException {
    byte[] before = new byte[1 + random.nextInt(200_000)];
    random.nextBytes(before);
    byte[] after = before.clone();
    for (int i = 0; i < after.length; i += 1 + random.nextInt(100)) {
      // In one of three thousand bytes a stretch begins that has nothing in common with its base.
      if (random.nextInt(30) == 0) {
        int end = Math.min(after.length, i + random.nextInt(3000));
        while (i < end) {
          after[i++] = (byte) random.nextInt();
        }
      } else {
        after[i]++;
      }
    }
    int chunk = random.nextBoolean() ? 64 + random.nextInt(4000) : 4000 + random.nextInt(300_000);
    WeightCache cache = cache("sender", chunk);
    return new Versions(cache, publish(cache, 1, before), publish(cache, 2, after));
  }

  private WeightCache cache(String name, int chunk) throws IOException {
    return WeightCache.open(new WeightCacheSettings(List.of(folder.resolve(name)), 0, 2, chunk));
  }

  private CachedVersion publish(WeightCache cache, int version, byte[] content) throws IOException {
    Path model = Files.createDirectories(folder.resolve("model" + version));
    Files.write(model.resolve(FILE), content);
    return cache.publish(new WeightVersion(version), "digest" + version, model);
  }

  private static TransferSettings settings(int threads) {
    TransferSettings usual = TestVersions.patient();
    return new TransferSettings(
        usual.connect(),
        usual.stall(),
        usual.slowest(),
        usual.relayWait(),
        usual.total(),
        usual.window(),
        usual.connections(),
        threads);
  }

  /** All answers of a session that is asked for the deltas of all chunks at once. */
  private static byte[] answers(Versions versions, int threads) throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open().bind(TestVersions.loopback());
        SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        SocketChannel server = listener.accept();
        StallWatchdog guard = new StallWatchdog();
        DeltaThreads pool = new DeltaThreads(threads)) {
      ByteBuffer questions =
          ByteBuffer.allocate(TransferProtocol.QUESTION * (1 + versions.chunks()));
      question(questions, TransferProtocol.BASE, versions.before, 0);
      for (int i = 0; i < versions.chunks(); i++) {
        question(questions, TransferProtocol.CHANGED, versions.after, i);
      }
      Thread serving =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try (server;
                        WeightSession session =
                            new WeightSession(
                                new Connection.Plain(server),
                                versions.cache,
                                settings(threads),
                                guard,
                                pool,
                                request -> request)) {
                      session.serve();
                    } catch (IOException | InterruptedException end) {
                      // The client has asked for everything and closed its side.
                    }
                  });
      Thread asking =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      new Connection.Plain(client).write(questions.flip());
                      client.shutdownOutput();
                    } catch (IOException closed) {
                      // The answers are too few then.
                    }
                  });
      byte[] read = client.socket().getInputStream().readAllBytes();
      serving.join();
      asking.join();
      return read;
    }
  }

  private static void question(
      ByteBuffer questions, byte operation, CachedVersion version, int number) {
    questions.put(operation).put(HexFormat.of().parseHex(version.ref().digest())).putInt(number);
  }

  /** The deltas among the answers, by the numbers of their chunks. */
  private static Map<Integer, byte[]> deltas(byte[] answers) {
    Map<Integer, byte[]> deltas = new TreeMap<>();
    ByteBuffer in = ByteBuffer.wrap(answers);
    for (int answer = 0; in.hasRemaining(); answer++) {
      byte status = in.get();
      byte[] content = new byte[in.getInt()];
      in.get(content);
      if (status == TransferProtocol.DELTA) {
        deltas.put(answer - 1, content); // the first answer is to the question for the base
      }
    }
    return deltas;
  }

  private static int count(byte[] answers) {
    int count = 0;
    ByteBuffer in = ByteBuffer.wrap(answers);
    while (in.hasRemaining()) {
      in.get();
      in.position(in.getInt() + in.position());
      count++;
    }
    return count;
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void codeAndMake_anyThreadsAndCuts_areTheSameBytesAndRefuseDamagedChunks(long seed)
      throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Versions versions = publish(random);
    int threads = 2 + (int) (seed % 4);

    byte[] sent = answers(versions, 1);
    assertThat(Arrays.equals(answers(versions, threads), sent)).isTrue();
    assertThat(count(sent)).isEqualTo(1 + versions.chunks());

    Map<Integer, byte[]> deltas = deltas(sent);
    byte[] base = Files.readAllBytes(versions.before.directory().resolve(FILE));
    Set<Integer> damaged = new TreeSet<>();
    for (int number : deltas.keySet()) {
      Chunk chunk = versions.after.manifest().places().get(number).chunk();
      if (chunk.length() > 1 && random.nextInt(5) == 0) {
        base[(int) chunk.offset()] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        damaged.add(number);
      }
    }
    Path damagedBase = Files.write(folder.resolve("base.bin"), base);
    assertThat(refused(versions, deltas, damagedBase, 1)).isEqualTo(damaged);
    assertThat(refused(versions, deltas, damagedBase, threads)).isEqualTo(damaged);
  }

  /** Makes all chunks, those without a delta from the sender's file; returns the refused ones. */
  private Set<Integer> refused(
      Versions versions, Map<Integer, byte[]> deltas, Path base, int threads) throws IOException {
    WeightCache receiver = cache("receiver" + threads, 1);
    VersionManifest manifest = versions.after.manifest();
    byte[] json = Files.readAllBytes(versions.after.directory().resolve(VersionManifest.NAME));
    byte[] right = Files.readAllBytes(versions.after.directory().resolve(FILE));
    IncomingVersion incoming = receiver.begin(manifest, json);
    Set<Integer> refused = new TreeSet<>();
    try (DeltaThreads pool = new DeltaThreads(threads)) {
      Map<Integer, CompletableFuture<Boolean>> made = new TreeMap<>();
      for (Map.Entry<Integer, byte[]> delta : deltas.entrySet()) {
        made.put(delta.getKey(), pool.make(delta.getValue(), base, incoming, delta.getKey()));
      }
      for (Map.Entry<Integer, CompletableFuture<Boolean>> chunk : made.entrySet()) {
        if (!DeltaThreads.result(chunk.getValue())) {
          refused.add(chunk.getKey());
        }
      }
    }
    for (int i = incoming.missingFrom(0); i < incoming.chunks(); i = incoming.missingFrom(i + 1)) {
      assertThat(refused.contains(i) || !deltas.containsKey(i)).as("chunk %d", i).isTrue();
      Chunk chunk = incoming.place(i).chunk();
      incoming.write(i, 0, ByteBuffer.wrap(right, (int) chunk.offset(), chunk.length()));
      incoming.copyChunk(i);
    }
    CachedVersion sealed = receiver.seal(versions.after.ref(), incoming);
    assertThat(Arrays.equals(Files.readAllBytes(sealed.directory().resolve(FILE)), right)).isTrue();
    receiver.close();
    return refused;
  }
}
