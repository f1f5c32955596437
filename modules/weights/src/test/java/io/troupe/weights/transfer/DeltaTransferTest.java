package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.transfer.FaultyProxy.Fault;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Versions in bfloat16 of which a few numbers change, between nodes. */
class DeltaTransferTest extends NodesTestBase {
  private static final int ELEMENTS = 40_000;

  /** Every version moves two numbers in a hundred by one in the last place. */
  private static WeightSnapshot weights(int version) {
    SplittableRandom random = new SplittableRandom(7);
    MemorySegment data = Arena.ofAuto().allocate((long) ELEMENTS * Float.BYTES, Long.BYTES);
    for (int i = 0; i < ELEMENTS; i++) {
      int bits = DType.bfloat16((float) random.nextGaussian() * 0.02f);
      for (int v = 1; v <= version; v++) {
        bits += new SplittableRandom(31L * v + i).nextInt(50) == 0 ? 1 : 0;
      }
      data.setAtIndex(
          ValueLayout.JAVA_FLOAT, i, Float.intBitsToFloat(bits << (Float.SIZE - Short.SIZE)));
    }
    List<WeightSnapshot.Tensor> tensors =
        List.of(new WeightSnapshot.Tensor("t", List.of((long) ELEMENTS), data));
    return new WeightSnapshot(new WeightVersion(version), TensorDigest.of(tensors), tensors);
  }

  private CachedVersion publish(int version) throws IOException {
    return publisher().publish(weights(version), List.of(), DType.BF16);
  }

  private static FetchOutcome.Ready ready(
      NodeWeights node, CachedVersion version, InetSocketAddress source) throws Exception {
    FetchOutcome fetched =
        node.fetch(version.ref(), List.of(source)).toCompletableFuture().get(120, TimeUnit.SECONDS);
    assertThat(fetched).isInstanceOf(FetchOutcome.Ready.class);
    FetchOutcome.Ready ready = (FetchOutcome.Ready) fetched;
    assertThat(TestVersions.content(ready.version().directory()))
        .isEqualTo(TestVersions.content(version.directory()));
    return ready;
  }

  @Test
  void fetch_versionAfterOneThatBothHave_takesAFewPercentOfTheBytes() throws Exception {
    NodeWeights node = node("a");
    ready(node, publish(1), publisher().address());
    CachedVersion two = publish(2);
    FetchOutcome.TransferStats report = ready(node, two, publisher().address()).report();

    assertThat(report.fetched()).isBetween(two.ref().bytes() / 100, two.ref().bytes() / 20);
    assertThat(report.fetched() + report.reused()).isEqualTo(two.ref().bytes());
    assertThat(report.corrupt()).isZero();
  }

  /** A relay makes deltas of its own files, while the version still comes in. */
  @Test
  void fetch_throughARelay_isADeltaThereToo() throws Exception {
    NodeWeights first = node("a");
    NodeWeights second = node("b");
    CachedVersion one = publish(1);
    ready(first, one, publisher().address());
    ready(second, one, first.address());
    CachedVersion two = publish(2);
    var relayed = first.fetch(two.ref(), List.of(publisher().address()));
    FetchOutcome.TransferStats report = ready(second, two, first.address()).report();
    relayed.toCompletableFuture().get(60, TimeUnit.SECONDS);

    assertThat(report.fetched()).isLessThan(two.ref().bytes() / 20);
  }

  @Test
  void fetch_firstVersionOfANode_isWhole() throws Exception {
    publish(1);
    CachedVersion two = publish(2);
    FetchOutcome.TransferStats report = ready(node("late"), two, publisher().address()).report();

    assertThat(report.fetched()).isEqualTo(two.ref().bytes());
  }

  /** The sender keeps two versions; the receiver's is older than both. */
  @Test
  void fetch_afterABaseThatTheSenderHasNoMore_isWhole() throws Exception {
    NodeWeights node = node("a");
    ready(node, publish(1), publisher().address());
    publish(2);
    publish(3);
    CachedVersion four = publish(4);
    FetchOutcome.TransferStats report = ready(node, four, publisher().address()).report();

    // Chunks that are the same in both, such as the file's header, may be reused.
    assertThat(report.fetched()).isGreaterThan(four.ref().bytes() / 2);
  }

  @Test
  void fetch_baseDamagedOnThisNode_isRefusedByItsDigestAndTakenWhole() throws Exception {
    NodeWeights node = node("a");
    FetchOutcome.Ready one = ready(node, publish(1), publisher().address());
    Path file = one.version().directory().resolve("model.safetensors");
    try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
      damaged.seek(damaged.length() / 2);
      damaged.write(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
    }
    CachedVersion two = publish(2);
    FetchOutcome.TransferStats report = ready(node, two, publisher().address()).report();

    assertThat(report.corrupt()).isEqualTo(1);
    assertThat(report.fetched())
        .isBetween((long) TestVersions.CHUNK, two.ref().bytes() / 20 + 2L * TestVersions.CHUNK);
  }

  @Test
  void fetch_deltaDamagedOnTheWay_isMadeGood() throws Exception {
    NodeWeights node = node("a");
    ready(node, publish(1), publisher().address());
    int harmed = 0;
    for (int version = 2; version <= 8; version++) {
      CachedVersion next = publish(version);
      long manifest = Files.size(next.directory().resolve("weights.json"));
      Fault flip = new Fault.Flip((int) manifest + 150 * version);
      FaultyProxy proxy = new FaultyProxy(publisher().address(), List.of(flip));
      var _ = closing(proxy);
      FetchOutcome.TransferStats report = ready(node, next, proxy.address()).report();
      harmed += report.corrupt() + report.failures().size();
    }
    assertThat(harmed).isGreaterThanOrEqualTo(5);
  }
}
