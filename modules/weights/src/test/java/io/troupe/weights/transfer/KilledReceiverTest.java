package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.JavaCommand;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FaultyProxy.Fault;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KilledReceiverTest {
  @TempDir Path folder;

  @Test
  void open_cacheOfAProcessKilledWhileItReceived_isCleanAndReceivesAnew() throws Exception {
    Path root = folder.resolve("node");
    try (NodeWeights publisher = TestVersions.node(folder.resolve("publisher"));
        FaultyProxy silent =
            new FaultyProxy(publisher.address(), List.of(new Fault.Silence(40_000)))) {
      WeightRef ref = publisher.publish(TestVersions.weights(1, 1, 20), List.of()).ref();
      Process child = start(root, ref, silent);
      try {
        silent.awaitSilence();
        assertThatThrownBy(() -> TestVersions.node(root)).isInstanceOf(FileSystemException.class);
      } finally {
        child.destroyForcibly().waitFor();
      }
      assertThat(names(root)).anyMatch(name -> name.startsWith("incoming-"));
      try (NodeWeights node = TestVersions.node(root)) {
        assertThat(names(root)).containsExactly("owner.lock");
        FetchOutcome fetched =
            node.fetch(ref, List.of(publisher.address()))
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(fetched).isInstanceOf(FetchOutcome.Ready.class);
        assertThat(names(root)).containsExactlyInAnyOrder("owner.lock", ref.folder());
      }
    }
  }

  private static Process start(Path root, WeightRef ref, FaultyProxy source) throws Exception {
    return JavaCommand.of(ReceivingChild.class)
        .heap(64)
        .with(JavaCommand.SERIAL_COLLECTOR, "-XX:TieredStopAtLevel=1")
        .process(
            List.of(
                root.toString(),
                TestVersions.SECRET.hex(),
                Long.toString(ref.version().number()),
                ref.digest(),
                Long.toString(ref.bytes()),
                HostPort.of(source.address()).toString()))
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static List<String> names(Path root) throws Exception {
    try (Stream<Path> entries = Files.list(root)) {
      return entries.map(entry -> entry.toFile().getName()).toList();
    }
  }
}
