package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.VersionManifest;
import io.troupe.weights.cache.WeightCache;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FaultyProxy.Fault;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WeightTransferTest extends NodesTestBase {
  private InetSocketAddress through(NodeWeights node, Fault... faults) throws IOException {
    return closing(new FaultyProxy(node.address(), List.of(faults))).address();
  }

  private static FetchOutcome end(java.util.concurrent.CompletionStage<FetchOutcome> stage)
      throws Exception {
    return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
  }

  private static FetchOutcome.Ready ready(java.util.concurrent.CompletionStage<FetchOutcome> stage)
      throws Exception {
    FetchOutcome fetched = end(stage);
    assertThat(fetched).isInstanceOf(FetchOutcome.Ready.class);
    return (FetchOutcome.Ready) fetched;
  }

  @Test
  void fetch_publishedSnapshot_mapsToTheSameWeights() throws Exception {
    WeightSnapshot weights = TestVersions.weights(1, 5, 20);
    CachedVersion published = publisher().publish(weights, List.of());
    FetchOutcome.Ready ready =
        ready(node("a").fetch(published.ref(), List.of(publisher().address())));
    assertThat(TestVersions.content(ready.version().directory()))
        .isEqualTo(TestVersions.content(published.directory()));
    WeightSnapshot mapped = ready.version().map();
    assertThat(mapped.version()).isEqualTo(new WeightVersion(5));
    assertThat(mapped.digest()).isEqualTo(weights.digest());
    assertThat(TensorDigest.of(mapped.tensors())).isEqualTo(weights.digest());
    assertThat(ready.report().fetched()).isEqualTo(published.ref().bytes());
  }

  @Test
  void publish_directory_carriesAllFilesOfIt() throws Exception {
    CachedVersion first = publisher().publish(TestVersions.weights(1, 1, 3), List.of());
    Files.writeString(folder.resolve("config.json"), "{}");
    CachedVersion again =
        publisher().publish(TestVersions.weights(1, 2, 3), List.of(folder.resolve("config.json")));
    NodeWeights other = node("other");
    CachedVersion linked =
        other.publish(new WeightVersion(9), again.manifest().weights(), again.directory());
    assertThat(linked.manifest().files())
        .extracting(VersionManifest.FilePart::name)
        .containsExactly("config.json", "model.safetensors");
    assertThat(linked.manifest().tensors())
        .isEqualTo(again.manifest().tensors())
        .isEqualTo(first.manifest().tensors());
  }

  @Test
  void fetch_twoTensorsChanged_onlyTheirChunksTravel() throws Exception {
    NodeWeights node = node("a");
    CachedVersion one = publisher().publish(TestVersions.weights(1, 1, 50, 3, 30), List.of());
    ready(node.fetch(one.ref(), List.of(publisher().address())));
    CachedVersion two = publisher().publish(TestVersions.weights(1, 2, 50, 3, 30), List.of());
    FetchOutcome.Ready ready = ready(node.fetch(two.ref(), List.of(publisher().address())));
    assertThat(TestVersions.content(ready.version().directory()))
        .isEqualTo(TestVersions.content(two.directory()));
    Set<String> before =
        Set.copyOf(one.manifest().places().stream().map(p -> p.chunk().sha256()).toList());
    long changed =
        two.manifest().places().stream()
            .filter(p -> !before.contains(p.chunk().sha256()))
            .mapToLong(p -> p.chunk().length())
            .sum();
    assertThat(ready.report().fetched()).isEqualTo(changed).isLessThan(two.ref().bytes() / 4);
    assertThat(ready.report().reused()).isEqualTo(two.ref().bytes() - changed);
  }

  @Test
  void fetch_sameWeightsUnderANewVersion_linksTheFile() throws Exception {
    NodeWeights node = node("a");
    WeightSnapshot weights = TestVersions.weights(1, 1, 5);
    CachedVersion one = publisher().publish(weights, List.of());
    FetchOutcome.Ready first = ready(node.fetch(one.ref(), List.of(publisher().address())));
    CachedVersion two =
        publisher()
            .publish(
                new WeightSnapshot(new WeightVersion(2), weights.digest(), weights.tensors()),
                List.of());
    FetchOutcome.Ready second = ready(node.fetch(two.ref(), List.of(publisher().address())));
    assertThat(second.report().fetched()).isZero();
    assertThat(
            Files.isSameFile(
                first.version().directory().resolve("model.safetensors"),
                second.version().directory().resolve("model.safetensors")))
        .isTrue();
  }

  @Test
  void fetch_thirdVersion_evictsTheFirstAndItsMappingStaysReadable() throws Exception {
    NodeWeights node = node("a");
    WeightSnapshot mapped = TestVersions.weights(1, 0, 1);
    List<WeightSnapshot> published = new ArrayList<>();
    for (int v = 1; v <= 3; v++) {
      WeightSnapshot weights = TestVersions.weights(1, v, 8, 0, 1, 2, 3);
      published.add(weights);
      FetchOutcome.Ready ready =
          ready(
              node.fetch(
                  publisher().publish(weights, List.of()).ref(), List.of(publisher().address())));
      mapped = v == 1 ? ready.version().map() : mapped;
    }
    assertThat(node.versions()).extracting(v -> v.ref().version().number()).containsExactly(2L, 3L);
    assertThat(TensorDigest.of(mapped.tensors())).isEqualTo(published.getFirst().digest());
  }

  @Test
  void fetch_parentThatIsStillReceiving_relays() throws Exception {
    NodeWeights a =
        node("a", TestVersions.settings(Duration.ofSeconds(60), Duration.ofSeconds(30)));
    NodeWeights b = node("b");
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 60), List.of());
    var second = b.fetch(published.ref(), List.of(a.address()));
    var first = a.fetch(published.ref(), List.of(publisher().address()));
    assertThat(ready(first).report().failures()).isEmpty();
    assertThat(TestVersions.content(ready(second).version().directory()))
        .isEqualTo(TestVersions.content(published.directory()));
  }

  @Test
  void fetch_silentParent_isLeftForThePublisherAndReported() throws Exception {
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 20), List.of());
    InetSocketAddress silent = through(publisher(), new Fault.Silence(30_000));
    NodeWeights node = node("a", TestVersions.quick(Duration.ofSeconds(2)));
    FetchOutcome.Ready ready =
        ready(node.fetch(published.ref(), List.of(silent, publisher().address())));
    assertThat(ready.report().failures())
        .containsExactly(new FetchOutcome.SourceFailure(silent, "gave too little for PT2S"));
    assertThat(ready.report().fetched()).isEqualTo(published.ref().bytes());
  }

  @Test
  void fetch_damagedChunk_isAskedForAgain() throws Exception {
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 20), List.of());
    InetSocketAddress damaging = through(publisher(), new Fault.Flip(40_000));
    FetchOutcome.Ready ready = ready(node("a").fetch(published.ref(), List.of(damaging)));
    assertThat(ready.report().corrupt()).isEqualTo(1);
    assertThat(ready.report().failures()).isEmpty();
    assertThat(TestVersions.content(ready.version().directory()))
        .isEqualTo(TestVersions.content(published.directory()));
  }

  @Test
  void fetch_deadSources_failsWithEachReasonAndLeavesNothing() throws Exception {
    NodeWeights node = node("a");
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 20), List.of());
    publisher().close();
    FetchOutcome outcome = end(node.fetch(published.ref(), List.of(publisher().address())));
    assertThat(outcome).isInstanceOf(FetchOutcome.Failed.class);
    assertThat(((FetchOutcome.Failed) outcome).reason()).contains("Connection refused");
    try (Stream<Path> left = Files.list(folder.resolve("a"))) {
      assertThat(left).containsExactly(folder.resolve("a").resolve("owner.lock"));
    }
  }

  @Test
  void fetch_closed_failsInsteadOfLeavingTheCallerWithoutAnAnswer() throws Exception {
    NodeWeights node = node("a");
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 2), List.of());
    node.close();
    FetchOutcome outcome = end(node.fetch(published.ref(), List.of(publisher().address())));
    assertThat(((FetchOutcome.Failed) outcome).reason()).contains("the run is over here");
  }

  @Test
  void fetch_strangersHoldConnectionsThatSayNothing_isServedAtOnce() throws Exception {
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 2), List.of());
    List<Socket> strangers = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) { // More than a server takes, proven or not.
        strangers.add(
            new Socket(publisher().address().getAddress(), publisher().address().getPort()));
      }
      FetchOutcome.Ready ready =
          ready(node("a").fetch(published.ref(), List.of(publisher().address())));
      assertThat(ready.report().failures()).isEmpty();
    } finally {
      for (Socket stranger : strangers) {
        stranger.close();
      }
    }
  }

  @Test
  void fetch_otherSecret_isRefused() throws Exception {
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 2), List.of());
    NodeWeights stranger =
        NodeWeights.open(
            TestVersions.cache(folder.resolve("stranger")),
            ConnectionFactory.onLoopback(),
            TestVersions.loopback(),
            RunSecret.random(),
            TestVersions.patient());
    var _ = closing(stranger);
    FetchOutcome outcome = end(stranger.fetch(published.ref(), List.of(publisher().address())));
    assertThat(outcome).isInstanceOf(FetchOutcome.Failed.class);
  }

  @Test
  void fetch_versionsAskedForMeanwhile_onlyTheNewestIsFetched() throws Exception {
    NodeWeights node = node("a");
    CachedVersion one = publisher().publish(TestVersions.weights(1, 1, 20), List.of());
    FaultyProxy slow = new FaultyProxy(publisher().address(), List.of(new Fault.Silence(30_000)));
    var _ = closing(slow);
    var first = node.fetch(one.ref(), List.of(slow.address(), publisher().address()));
    slow.awaitSilence();
    WeightSnapshot two = TestVersions.weights(1, 2, 20, 1);
    WeightRef skipped = new WeightRef(two.version(), "0".repeat(64), 1);
    var second = node.fetch(skipped, List.of(publisher().address()));
    CachedVersion three = publisher().publish(TestVersions.weights(1, 3, 20, 1), List.of());
    var third = node.fetch(three.ref(), List.of(publisher().address()));
    assertThat(end(second)).isEqualTo(new FetchOutcome.Superseded(three.ref()));
    slow.close();
    ready(first);
    assertThat(ready(third).version().ref()).isEqualTo(three.ref());
  }

  @Test
  void client_ofAnotherProcess_getsTheNodesDirectory() throws Exception {
    NodeWeights node = node("a");
    WeightSnapshot weights = TestVersions.weights(1, 1, 20);
    CachedVersion published = publisher().publish(weights, List.of());
    WeightClient client =
        new WeightClient(
            ConnectionFactory.onLoopback(),
            node.address(),
            TestVersions.SECRET,
            Duration.ofSeconds(60));
    FetchOutcome.Ready ready = ready(client.fetch(published.ref(), List.of(publisher().address())));
    assertThat(ready.version()).isEqualTo(node.versions().getFirst());
    assertThat(ready.version().map().digest()).isEqualTo(weights.digest());
    FetchOutcome missing =
        end(
            client.fetch(
                new WeightRef(new WeightVersion(7), "1".repeat(64), 1),
                List.of(publisher().address())));
    assertThat(((FetchOutcome.Failed) missing).reason()).contains("does not have them");
  }

  /** In the middle of the proof of the secret, and in that of the answer. */
  @ParameterizedTest
  @ValueSource(ints = {0, 90})
  void client_ofANodeThatStops_failsInsteadOfWaiting(int bytes) throws Exception {
    NodeWeights node = node("a");
    CachedVersion published = publisher().publish(TestVersions.weights(1, 1, 20), List.of());
    WeightClient client =
        new WeightClient(
            ConnectionFactory.onLoopback(),
            through(node, new Fault.Silence(bytes)),
            TestVersions.SECRET,
            Duration.ofMillis(300),
            Duration.ofMillis(300));
    FetchOutcome outcome = end(client.fetch(published.ref(), List.of(publisher().address())));
    assertThat(((FetchOutcome.Failed) outcome).reason())
        .endsWith("it has not answered within PT0.3S");
  }

  @Test
  void open_cacheOfALivingProcess_isRefused() {
    assertThatThrownBy(() -> TestVersions.node(folder.resolve("publisher")))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("another process owns this weight cache");
  }

  @Test
  void open_afterACrash_keepsWholeVersionsAndDeletesTheRest() throws Exception {
    CachedVersion one = publisher().publish(TestVersions.weights(1, 1, 3), List.of());
    Files.createDirectories(folder.resolve("publisher").resolve("incoming-0123456789abcdef"));
    Files.writeString(
        folder.resolve("publisher/incoming-0123456789abcdef/model.safetensors"), "half");
    publisher().close();
    NodeWeights again = node("publisher");
    assertThat(again.versions()).containsExactly(one);
    assertThat(folder.resolve("publisher").resolve("incoming-0123456789abcdef")).doesNotExist();
  }

  @Test
  void publish_withoutRoom_namesEachPlace() throws Exception {
    WeightCacheSettings greedy =
        new WeightCacheSettings(
            List.of(folder.resolve("full")), Long.MAX_VALUE / 2, 2, TestVersions.CHUNK);
    try (WeightCache cache = WeightCache.open(greedy)) {
      assertThatThrownBy(() -> cache.publish(TestVersions.weights(1, 1, 3), List.of(), DType.F32))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no room for weights")
          .hasMessageContaining(folder.resolve("full").toString());
    }
  }

  /** Three nodes in a chain, every connection with faults, three versions one after the other. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void fetch_anyFaults_endsWithTheNewestVersionEverywhere(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    TransferSettings quick = TestVersions.quick(Duration.ofSeconds(1));
    NodeWeights a = node("a", quick);
    NodeWeights b = node("b", quick);
    NodeWeights c = node("c", quick);
    InetSocketAddress toHead = through(publisher(), faults(random));
    InetSocketAddress toA = through(a, faults(random));
    InetSocketAddress toB = through(b, faults(random));
    for (int v = 1; v <= 3; v++) {
      CachedVersion published =
          publisher().publish(TestVersions.weights(seed, v, 12, random.nextInt(12), 3), List.of());
      var stages =
          List.of(
              c.fetch(published.ref(), List.of(toB, toA, toHead, publisher().address())),
              a.fetch(published.ref(), List.of(toHead, publisher().address())),
              b.fetch(published.ref(), List.of(toA, toHead, publisher().address())));
      for (var stage : stages) {
        assertThat(TestVersions.content(ready(stage).version().directory()))
            .isEqualTo(TestVersions.content(published.directory()));
      }
    }
    for (NodeWeights node : List.of(a, b, c)) {
      assertThat(node.versions())
          .extracting(v -> v.ref().version().number())
          .containsExactly(2L, 3L);
    }
  }

  private static Fault[] faults(SplittableRandom random) {
    return random
        .ints(3)
        .mapToObj(
            _ -> {
              int after = random.nextInt(120_000);
              return switch (random.nextInt(4)) {
                case 0 -> new Fault.Cut(after);
                case 1 -> new Fault.Flip(after);
                case 2 -> random.nextInt(4) == 0 ? new Fault.Silence(after) : new Fault.Cut(after);
                default -> new Fault.None();
              };
            })
        .toArray(Fault[]::new);
  }
}
