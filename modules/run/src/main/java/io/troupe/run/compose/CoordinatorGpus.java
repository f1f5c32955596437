package io.troupe.run.compose;

import io.troupe.accelerator.nccl.CudaVisibility;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuProbe;
import io.troupe.hosts.gpu.GpuProbeException;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.hosts.placement.Placement;
import io.troupe.hosts.placement.ProcessRole;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The accelerators that a coordinator computes on: the first of its host, or of those that the
 * environment lets the process see. They are claimed before anything is loaded, like a worker's.
 *
 * @param gpus of the host
 * @param visible list of CUDA_VISIBLE_DEVICES; none if it lists none
 */
public record CoordinatorGpus(NodeGpus gpus, List<String> visible) {
  private static final Pattern NUMBERED = Pattern.compile("cuda:(\\d{1,4})");

  /** The number in {@code cuda:N}; none in another name of a device. */
  private static OptionalInt number(String device) {
    Matcher named = NUMBERED.matcher(device);
    return named.matches() ? OptionalInt.of(Integer.parseInt(named.group(1))) : OptionalInt.empty();
  }

  /**
   * Returns {@code policy.device} for a process that sees only the devices that it was handed:
   * {@code cuda:N} counts the accelerators of a host, and the process counts its own from 0.
   *
   * @param handed accelerators that the process sees, as CUDA_VISIBLE_DEVICES lists them; none if
   *     it sees all
   */
  static String deviceWithin(List<String> handed, String device) {
    boolean beyond = !handed.isEmpty() && number(device).orElse(0) >= handed.size();
    return beyond ? "cuda" : device;
  }

  /**
   * The devices of a coordinator and its ranks.
   *
   * @param visible as CUDA_VISIBLE_DEVICES lists them; none if that is not known, or there are none
   * @param numbers of those that are known by number, on their host
   */
  public record ComputeDevices(List<String> visible, Set<Integer> numbers) {
    public ComputeDevices {
      visible = List.copyOf(visible);
      numbers = Set.copyOf(numbers);
    }

    private static ComputeDevices of(List<Gpu> gpus) {
      return new ComputeDevices(
          gpus.stream().map(Gpu::visible).toList(),
          gpus.stream().map(Gpu::index).collect(Collectors.toSet()));
    }
  }

  /**
   * Chooses the devices of this process as {@link #of} does: where a list says which of the host's
   * GPUs the run has, the process sees its own of them and no others. Called before anything uses
   * CUDA.
   */
  public static ComputeDevices ofProcess(
      RunConfig config, RunFolder folder, String option, boolean handed, Consumer<String> say)
      throws IOException {
    ComputeDevices own = of(config, folder, option, handed, say);
    if (GpuOption.isList(option)) {
      CudaVisibility.restrictTo(own.visible());
    }
    return own;
  }

  /**
   * Accelerators of this host that a run's coordinator and its ranks have. Blocks.
   *
   * @param folder of the run
   * @param option GPUs of the host: {@code --gpus}, or auto
   * @param handed whether the agent that started this process has claimed them
   * @param say takes lines for the operator
   * @throws IOException as {@link #claim}
   */
  public static ComputeDevices of(
      RunConfig config, RunFolder folder, String option, boolean handed, Consumer<String> say)
      throws IOException {
    PlacementSection placement = config.placement();
    // A list counts for itself, whatever the environment shows.
    List<String> visible =
        GpuOption.isList(option) ? List.of() : TrainerRankGroups.visibleDevices();
    int count = placement.coordinatorGpus();
    if (!config.policy().wantsGpu()
        || placement.nodes() == 0
        || count == 0
        || TrainerRankGroups.seesNoDevice()) {
      return new ComputeDevices(visible, Set.of());
    }
    String device = config.policy().computesOn();
    if (handed) {
      Optional<GpuProbe> probe = GpuOption.probe("auto");
      boolean known =
          !visible.isEmpty() || placement.ranksAs() == PlacementSection.RanksAs.CHILDREN;
      return probe.isPresent() && known
          ? assigned(probe.get(), visible, count, device)
          : new ComputeDevices(visible, Set.of());
    }
    Optional<NodeGpus> host = GpuOption.gpus(option, folder.path().resolve("cluster"));
    if (host.isEmpty()) {
      if (placement.ranksOnNodes()) {
        say.accept(
            "note: the placement keeps a GPU for the coordinator, which finds no nvidia-smi on this"
                + " host and computes on the CPU; placement.coordinator_gpu: false leaves"
                + " that GPU to a rollout worker");
      }
      return new ComputeDevices(visible, Set.of());
    }
    List<Gpu> own = new CoordinatorGpus(host.get(), visible).claim(count, device);
    conflictWarning(own, placement).ifPresent(say);
    return ComputeDevices.of(own);
  }

  /**
   * Accelerators that an agent handed to a coordinator, also those that other processes use.
   *
   * @param visible by what CUDA_VISIBLE_DEVICES calls them; none if the agent leaves all to all
   */
  static ComputeDevices assigned(GpuProbe probe, List<String> visible, int count, String device)
      throws IOException {
    List<Integer> numbers = numbers(count, device);
    try {
      return ComputeDevices.of(
          probe.read().stream()
              .filter(
                  gpu -> visible.isEmpty() ? numbers.contains(gpu.index()) : isNamed(gpu, visible))
              .toList());
    } catch (GpuProbeException unknown) {
      throw new IOException(unknown.getMessage(), unknown);
    }
  }

  private static boolean isNamed(Gpu gpu, List<String> names) {
    return names.contains(gpu.uuid()) || names.contains(Integer.toString(gpu.index()));
  }

  /**
   * Returns the conflict for which a node on the coordinator's host would be refused, if any: the
   * placement has a GPU for the coordinator there, and the coordinator may have been given another
   * one.
   *
   * @param own GPUs that were claimed
   */
  static Optional<String> conflictWarning(List<Gpu> own, PlacementSection section) {
    if (!section.ranksOnNodes()) {
      return Optional.empty();
    }
    Placement placement = section.placement().orElseThrow();
    int node = placement.coordinatorNode();
    List<Integer> others =
        placement.processesOf(node).stream()
            .filter(process -> !(process.role() instanceof ProcessRole.Coordinator))
            .flatMap(process -> process.gpus().stream())
            .filter(number -> own.stream().anyMatch(gpu -> gpu.index() == number))
            .toList();
    return others.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "warning: the coordinator computes on %s of this host, which the placement gives to another process of node %d, so `troupe node` on this host will refuse to work: let the coordinator have the one that `troupe plan` draws as C (policy.device: auto, and CUDA_VISIBLE_DEVICES of the coordinator), or start it on a host without a node"
                .formatted(NodeAssignment.gpus(others), node));
  }

  /**
   * Claims GPUs of this host. Blocks.
   *
   * @param count number of GPUs that the process computes on
   * @param device {@code policy.device}
   * @throws IOException if another process uses a GPU, with the name of that process; or if the use
   *     cannot be known
   */
  List<Gpu> claim(int count, String device) throws IOException {
    try {
      return visible.isEmpty()
          ? gpus.claim(numbers(count, device))
          : gpus.claimNamed(visibleNames(count, device));
    } catch (IOException refused) {
      throw new IOException("the coordinator: " + refused.getMessage(), refused);
    }
  }

  private static List<Integer> numbers(int count, String device) {
    int first = number(device).orElse(0);
    return IntStream.range(first, first + count).boxed().toList();
  }

  private List<String> visibleNames(int count, String device) {
    int first = Math.min(number(device).orElse(0), visible.size() - 1);
    return visible.stream().skip(first).limit(count).toList();
  }
}
