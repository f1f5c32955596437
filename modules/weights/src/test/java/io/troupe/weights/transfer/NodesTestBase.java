package io.troupe.weights.transfer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A test with nodes that exchange weights, one of which publishes them. */
abstract class NodesTestBase {
  @TempDir Path folder;

  private final List<AutoCloseable> open = new ArrayList<>();
  private NodeWeights publisher;

  @BeforeEach
  final void start() throws IOException {
    publisher = node("publisher");
  }

  @AfterEach
  final void stop() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  final NodeWeights publisher() {
    return publisher;
  }

  final NodeWeights node(String name) throws IOException {
    return node(name, TestVersions.patient());
  }

  final NodeWeights node(String name, TransferSettings settings) throws IOException {
    return closing(TestVersions.node(folder.resolve(name), settings));
  }

  /** Closes a resource after the test. */
  final <T extends AutoCloseable> T closing(T resource) {
    open.add(resource);
    return resource;
  }
}
