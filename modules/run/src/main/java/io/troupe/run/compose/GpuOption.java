package io.troupe.run.compose;

import static io.troupe.core.Require.require;

import io.troupe.base.files.PrivateFiles;
import io.troupe.base.process.ChildLedger;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuAssignments;
import io.troupe.hosts.gpu.GpuOccupants;
import io.troupe.hosts.gpu.GpuProbe;
import io.troupe.hosts.gpu.GpuProbeException;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.gpu.NvidiaSmi;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What {@code --gpus} says: which accelerators of this host are used. */
public final class GpuOption {
  private static final String VIRTUAL = "virtual:";
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private static final Pattern LIST =
      Pattern.compile("\\d{1,3}(-\\d{1,3})?(,\\d{1,3}(-\\d{1,3})?)*");
  private static final Logger LOG = LoggerFactory.getLogger(GpuOption.class);

  private GpuOption() {}

  /**
   * The accelerators that an agent owns, if any.
   *
   * @param node folder of the node, where the ledger of its children lies
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
      return Optional.of(GpuProbe.virtual(virtualCount(option)));
    }
    if (isList(option)) {
      List<Integer> numbers = numbers(option);
      require(
          NvidiaSmi.installed(),
          "--gpus %s: there is no nvidia-smi on the PATH, so this host shows no GPU; install the"
              + " NVIDIA driver, or try the run without GPUs by --gpus virtual:%d",
          option,
          numbers.size());
      return Optional.of(GpuProbe.some(host(), numbers));
    }
    require(
        option.equals("auto") || option.equals("none"),
        "--gpus is auto, none, virtual:N or a list such as 0-7 or 0,2,3, not '%s'",
        option);
    return option.equals("auto") && NvidiaSmi.installed() ? Optional.of(host()) : Optional.empty();
  }

  private static GpuProbe host() {
    return new NvidiaSmi(List.of(NvidiaSmi.COMMAND), DEADLINE);
  }

  private static int virtualCount(String option) {
    String count = option.substring(VIRTUAL.length());
    require(
        !count.isEmpty() && count.length() <= 2 && count.chars().allMatch(Character::isDigit),
        "--gpus virtual:N takes a number up to %d, not '%s'",
        GpuProbe.MAX_GPUS,
        count);
    return Integer.parseInt(count);
  }

  /** Whether an option lists GPUs of this host by number. */
  public static boolean isList(String option) {
    return LIST.matcher(option).matches();
  }

  /** Returns the number of accelerators that an option names; it lists some, or is virtual:N. */
  public static int count(String option) {
    require(
        option.startsWith(VIRTUAL) || isList(option),
        "--gpus of a run is a list such as 0-7 or 0,2,3, or virtual:N, not '%s'",
        option);
    int count = isList(option) ? numbers(option).size() : virtualCount(option);
    require(count >= 1, "--gpus %s names no GPU", option);
    return count;
  }

  private static List<Integer> numbers(String option) {
    List<Integer> numbers = new ArrayList<>();
    for (String part : option.split(",", -1)) {
      String[] ends = part.split("-", -1);
      int first = Integer.parseInt(ends[0]);
      int last = Integer.parseInt(ends[ends.length - 1]);
      require(
          first <= last && last < GpuProbe.MAX_GPUS,
          "--gpus %s: '%s' must be a number below %d, or two in ascending order",
          option,
          part,
          GpuProbe.MAX_GPUS);
      IntStream.rangeClosed(first, last).forEach(numbers::add);
    }
    require(
        numbers.stream().distinct().count() == numbers.size(),
        "--gpus %s names a GPU twice",
        option);
    return numbers;
  }

  /** The GPU of this machine with the least memory; none if no driver answers. */
  static Optional<Gpu> smallest() {
    Optional<GpuProbe> probe = probe("auto");
    try {
      return probe.isEmpty()
          ? Optional.empty()
          : probe.get().read().stream()
              .filter(gpu -> gpu.memoryBytes() > 0)
              .min(Comparator.comparingLong(Gpu::memoryBytes));
    } catch (GpuProbeException unknown) {
      LOG.warn("event=gpus_unknown reason=\"{}\"", unknown.getMessage());
      return Optional.empty();
    }
  }
}
