package io.troupe.config.policy;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.model.Tuning.Target;
import io.troupe.engine.http.sidecar.ServerCommand;
import java.nio.file.Path;
import java.util.List;

/** Low-rank adapters; docs/training.md describes them. */
public record LoraSection(
    @Doc(value = "Rank of the adapters; 0 means none, all weights are trained.", unit = "columns")
        @Default("0")
        @Range(min = 0, max = 65536)
        int rank,
    @Doc("What an adapter adds is scaled by alpha / rank.")
        @Default("32")
        @Range(min = 0, minExclusive = true)
        double alpha,
    @Doc(
            "Adapted matrices, of `q_proj`, `k_proj`, `v_proj`, `o_proj`, `gate_proj`, `up_proj`"
                + " and `down_proj`; none means all seven.")
        List<Target> targets) {
  public LoraSection {
    targets = List.copyOf(targets);
  }

  /** Whether adapters are trained, and not all weights. */
  public boolean enabled() {
    return rank > 0;
  }

  /** The targets, when none are named all of them. */
  public List<Target> resolvedTargets() {
    return targets.isEmpty() ? List.of(Target.values()) : targets;
  }

  /**
   * Versions that servers have use for at a time: a request may still sample with any that is not
   * too stale, while others begin with the newest, and the next is loaded.
   */
  public static int versionsInUse(int maxStaleness) {
    return maxStaleness + 2;
  }

  /**
   * Returns the adapters for which a server makes room.
   *
   * @param folder in which the adapters lie
   */
  public ServerCommand.Adapters forServers(int maxStaleness, Path folder) {
    return new ServerCommand.Adapters(
        rank,
        versionsInUse(maxStaleness),
        resolvedTargets().stream().map(Target::leaf).toList(),
        folder.toString());
  }

  /** Returns the weights that training moves. */
  public Tuning tuning() {
    return enabled() ? new Tuning.LowRank(rank, alpha, resolvedTargets()) : new Tuning.Full();
  }
}
