package io.troupe.weights.transfer;

import io.troupe.weights.cache.WeightRef;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The provider of a process's weights: the process names a version, and gets a directory of its own
 * host. In the process that owns the host's cache this is {@link NodeWeights}, in the host's others
 * {@link WeightClient}.
 *
 * <pre>{@code
 * supply.fetch(ref, sources).thenAccept(fetched -> {
 *   switch (fetched) {
 *     case Fetched.Ready(var version, var report) -> sampler.load(version.map());
 *     case FetchOutcome.Superseded(var by) -> {}        // newer weights were asked for, and come
 *     case Fetched.Failed(var reason, var report) -> report(reason);
 *   }
 * });
 * }</pre>
 */
public interface WeightProvider {
  /**
   * Brings weights into the host's cache, once however many ask. Returns at once. While one version
   * comes in, of those asked for meanwhile only the newest is fetched next.
   *
   * @param sources of other nodes, the one to prefer first, the publisher last: see {@link
   *     RelayPlan}
   * @return a stage that does not fail for any reason of the network, of other hosts or of the disk
   */
  CompletionStage<FetchOutcome> fetch(WeightRef ref, List<InetSocketAddress> sources);
}
