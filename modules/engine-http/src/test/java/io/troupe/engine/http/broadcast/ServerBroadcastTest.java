package io.troupe.engine.http.broadcast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.accelerator.host.HostStandIn;
import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.nccl.NcclLibrary;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.broadcast.WeightBroadcaster.BroadcastSettings;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transfers to workers in Python processes, over a stand-in for NCCL. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerBroadcastTest {
  private static final Duration CALL = Duration.ofSeconds(20);

  @TempDir private static Path folder;
  private static Optional<Path> library = Optional.empty();
  private static Path script = Path.of("");

  private final List<Server> servers = new ArrayList<>();

  @BeforeAll
  static void prepare() throws Exception {
    library = HostStandIn.compile(folder);
    script = folder.resolve("fake_transfer_server.py");
    try (InputStream text =
        Objects.requireNonNull(
            ServerBroadcastTest.class.getResourceAsStream("/fake_transfer_server.py"))) {
      Files.copy(text, script);
    }
  }

  @BeforeEach
  void check() {
    assumeTrue(library.isPresent(), "no C compiler (cc) on this host to build the stand-in with");
  }

  @AfterEach
  void end() {
    servers.forEach(Server::close);
  }

  /** A server's process, and this process's side of it. */
  private record Server(Process process, InferenceClient wire, ServerBroadcast broadcast)
      implements AutoCloseable {
    JsonNode state() throws InterruptedException {
      return wire.get("/state", CALL).json();
    }

    List<String> calls() throws InterruptedException {
      List<String> calls = new ArrayList<>();
      state().path("calls").forEach(call -> calls.add(call.asText()));
      return calls;
    }

    @Override
    public void close() {
      process.destroyForcibly();
      broadcast.close();
      wire.close();
    }
  }

  private Server start(WeightBroadcaster broadcaster, String fault) {
    String python = Optional.ofNullable(System.getenv("TROUPE_TEST_PYTHON")).orElse("python3");
    try {
      Process process =
          new ProcessBuilder(python, script.toString(), library.orElseThrow().toString(), fault)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader out = process.inputReader();
      InferenceClient wire =
          new InferenceClient(
              InferenceEndpoint.of("http://127.0.0.1:" + out.readLine().strip(), 1));
      Server server = new Server(process, wire, broadcaster.to(wire));
      servers.add(server);
      return server;
    } catch (IOException absent) {
      assumeTrue(false, "no python3 on this host to play a worker: " + absent.getMessage());
      throw new AssertionError(absent);
    }
  }

  private static WeightBroadcaster broadcaster(Span.Element element, long bufferBytes) {
    Path file = library.orElseThrow();
    return new WeightBroadcaster(
        new BroadcastSettings(
            new NcclCollective.Libraries(NcclLibrary.open(file), CudaRuntime.open(file)),
            0,
            InetAddress.getLoopbackAddress(),
            element,
            bufferBytes,
            Duration.ofSeconds(10)));
  }

  private static Capabilities vllm(String version) {
    return new Capabilities(Dialect.VLLM, version, "model", 64, Set.of());
  }

  /** Tensors of 1.1 MB in bfloat16, of which one is larger than a buffer. */
  private static WeightSnapshot weights(long version) {
    List<WeightSnapshot.Tensor> tensors = new ArrayList<>();
    long[][] shapes = {{1000, 64}, {64, 64}, {64}, {3000, 128}, {7}, {300, 300}};
    for (int t = 0; t < shapes.length; t++) {
      long count = 1;
      List<Long> shape = new ArrayList<>();
      for (long extent : shapes[t]) {
        count *= extent;
        shape.add(extent);
      }
      MemorySegment data = Arena.ofAuto().allocate(count * Float.BYTES, 64);
      for (long i = 0; i < count; i++) {
        data.setAtIndex(ValueLayout.JAVA_FLOAT, i, (i * 31 + t) % 1013 / 1013f + version);
      }
      tensors.add(new WeightSnapshot.Tensor("layer." + t, shape, data));
    }
    return new WeightSnapshot(new WeightVersion(version), "digest", tensors);
  }

  private static String sha(WeightSnapshot weights, DType type) throws Exception {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    for (WeightSnapshot.Tensor tensor : weights.tensors()) {
      byte[] bytes = new byte[(int) (tensor.data().byteSize() / Float.BYTES) * type.bytes()];
      type.fromFloats(tensor.data(), MemorySegment.ofArray(bytes));
      sha.update(bytes);
    }
    return HexFormat.of().formatHex(sha.digest());
  }

  private static void assertTransferred(Server server, WeightSnapshot weights, Capabilities can)
      throws Exception {
    assertThat(server.broadcast().connect(can)).isEmpty();
    assertThat(server.broadcast().send(weights, "v" + weights.version(), can)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0.27.1, BF16, 100000, chunks=3 packed_at=update",
    "0.28.0, BF16, 100000, chunks=3 packed_at=init",
    "0.30.0, F32, 0, chunks=6 packed_at=init",
    "0.27.0, BF16, 0, chunks=6 packed_at=update",
  })
  void send_eachWireForm_arrivesByteForByte(
      String version, Span.Element element, long buffer, String chunks) throws Exception {
    Capabilities can = vllm(version);
    try (WeightBroadcaster broadcaster = broadcaster(element, buffer)) {
      Server server = start(broadcaster, "none");
      for (long v = 1; v <= 2; v++) {
        assertTransferred(server, weights(v), can);
        assertThat(server.state().path("sha").asText())
            .isEqualTo(sha(weights(v), element == Span.Element.F32 ? DType.F32 : DType.BF16));
      }
      assertThat(server.calls())
          .containsExactly(
              "/start_weight_update {\"is_checkpoint_format\": true}",
              chunks,
              "/finish_weight_update {\"weight_version\": \"vv1\"}",
              "/start_weight_update {\"is_checkpoint_format\": true}",
              chunks,
              "/finish_weight_update {\"weight_version\": \"vv2\"}");
    }
  }

  /** One of three ends within a broadcast; the others continue, and its successor joins. */
  @Test
  void send_serverThatDiesWithinATransfer_harmsNoOtherAndIsReplaced() throws Exception {
    Capabilities can = vllm("0.28.1");
    try (WeightBroadcaster broadcaster = broadcaster(Span.Element.BF16, 100_000)) {
      Server first = start(broadcaster, "none");
      Server dying = start(broadcaster, "die");
      Server last = start(broadcaster, "none");
      for (Server server : List.of(first, dying, last)) {
        assertThat(server.broadcast().connect(can)).isEmpty();
      }
      assertTransferred(first, weights(1), can);
      long begun = System.nanoTime();
      assertThat(dying.broadcast().send(weights(1), "v1", can))
          .get()
          .asString()
          .contains("trainer rank 0 is lost: it aborted its group");
      assertThat(Duration.ofNanos(System.nanoTime() - begun))
          .as("the end of the connection is noticed, not the deadline")
          .isLessThan(Duration.ofSeconds(8));
      assertTransferred(last, weights(1), can);
      Server successor = start(broadcaster, "none");
      assertTransferred(successor, weights(1), can);
      for (Server server : List.of(first, last, successor)) {
        assertThat(server.state().path("sha").asText()).isEqualTo(sha(weights(1), DType.BF16));
      }
    }
  }

  @Test
  void send_updateThatIsRefused_saysWhyAndNeedsANewGroup() throws Exception {
    Capabilities can = vllm("0.28.1");
    try (WeightBroadcaster broadcaster = broadcaster(Span.Element.BF16, 100_000)) {
      Server server = start(broadcaster, "refuse");
      assertThat(server.broadcast().connect(can)).isEmpty();
      assertThat(server.broadcast().send(weights(1), "v1", can))
          .get()
          .asString()
          .contains("the shapes do not fit");
      assertThat(server.broadcast().connect(can)).isEmpty();
    }
  }
}
