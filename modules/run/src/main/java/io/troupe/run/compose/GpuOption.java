package io.troupe.run.compose;

import static io.troupe.core.Require.require;

import io.troupe.base.files.PrivateFiles;
import io.troupe.base.process.ChildLedger;
import io.troupe.hosts.gpu.GpuAssignments;
import io.troupe.hosts.gpu.GpuOccupants;
import io.troupe.hosts.gpu.GpuProbe;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.gpu.NvidiaSmi;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What {@code --gpus} of a node says. */
public final class GpuOption {
  private static final String VIRTUAL = "virtual:";
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private GpuOption() {}

  /**
   * The accelerators that an agent owns, if any.
   *
   * @param node its folder, where the ledger of its children lies
   */
  public static Optional<NodeGpus> gpus(String option, Path node) throws IOException {
    Optional<GpuProbe> probe = probe(option);
    if (probe.isEmpty()) {
      return Optional.empty();
    }
    PrivateFiles.folders(node);
    return Optional.of(
        new NodeGpus(
            probe.get(),
            ChildLedger.open(node.resolve("children.pids")),
            GpuOccupants.ProcessTable.ofHost(),
            new GpuAssignments()));
  }

  /** Looks at them, without the right to any. */
  static Optional<GpuProbe> probe(String option) {
    if (option.startsWith(VIRTUAL)) {
      String count = option.substring(VIRTUAL.length());
      require(
          !count.isEmpty() && count.length() <= 2 && count.chars().allMatch(Character::isDigit),
          "--gpus virtual:N takes a number up to %d, not '%s'",
          GpuProbe.MAX_GPUS,
          count);
      return Optional.of(GpuProbe.virtual(Integer.parseInt(count)));
    }
    require(
        option.equals("auto") || option.equals("none"),
        "--gpus is auto, none or virtual:N, not '%s'",
        option);
    return option.equals("auto") && NvidiaSmi.installed()
        ? Optional.of(new NvidiaSmi(List.of(NvidiaSmi.COMMAND), DEADLINE))
        : Optional.empty();
  }
}
