package io.troupe.run.cluster;

import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.serve.model.ServedWeights;
import io.troupe.weights.cache.CachedVersion;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import io.troupe.weights.transfer.WeightLocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Serves the weights of an evaluation to workers whose hosts do not see the run's folder, under a
 * secret of its own. It keeps a copy of them, so that the run may delete the checkpoint meanwhile.
 */
public final class CheckpointServer implements AutoCloseable {
  private static final WeightCacheSettings USUAL = WeightCacheSettings.usual("", Path.of(""));

  private final NodeWeights server;
  private final EvaluatedWeights weights;

  private CheckpointServer(NodeWeights server, EvaluatedWeights weights) {
    this.server = server;
    this.weights = weights;
  }

  /**
   * Opens a server. Blocks while it copies the weights.
   *
   * @param folder for the copy; deleted at the end
   */
  public static CheckpointServer open(Path folder, EvaluatedWeights stored, ListenAddress address)
      throws IOException {
    RunSecret secret = RunSecret.random();
    NodeWeights server =
        NodeWeights.open(
            new WeightCacheSettings(List.of(folder), 0, 1, USUAL.chunkBytes()),
            address.endpoint(),
            address.socket(),
            secret,
            TransferSettings.usual());
    try {
      PublishedWeights weights = stored.weights();
      CachedVersion version =
          server.publish(
              ServedWeights.read(Path.of(weights.place()), weights.version()), List.of());
      String locator =
          new WeightLocator(version.ref(), server.address(), List.of(), Set.of()).format();
      return new CheckpointServer(server, stored.servedAt(locator, secret.hex()));
    } catch (IOException | RuntimeException failure) {
      server.delete();
      throw failure;
    }
  }

  /** The weights, with the place of this server. */
  public EvaluatedWeights weights() {
    return weights;
  }

  @Override
  public void close() throws IOException {
    server.delete();
  }
}
