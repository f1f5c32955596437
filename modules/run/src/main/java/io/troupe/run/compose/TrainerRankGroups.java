package io.troupe.run.compose;

import io.troupe.accelerator.host.SharedMemoryGroups;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildSpec;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.parallel.RankNotices;
import io.troupe.engine.parallel.ThreadRanks;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.ranks.LocalRanks;
import io.troupe.ranks.RankRegistry;
import io.troupe.ranks.RemoteRanks;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The ranks of a run's trainer, as its placement wants them.
 *
 * @param members the policy's engines, which the ranks of this process are made of
 * @param gpus of the coordinator and its ranks, as CUDA_VISIBLE_DEVICES lists them; none if that is
 *     not known
 * @param registry registry to which ranks of nodes report, if nodes start them
 * @param notices takes which ranks start or are lost
 */
public record TrainerRankGroups(
    RunConfig config,
    RunFolder folder,
    PolicyEngines members,
    List<String> gpus,
    Optional<RankRegistry> registry,
    RankNotices notices) {
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  /** The accelerators that this process may use, as far as its environment lists them. */
  public static List<String> visibleDevices() {
    return Arrays.stream(System.getenv().getOrDefault(VISIBLE, "").split(",", -1))
        .map(String::strip)
        .filter(device -> !device.isEmpty())
        .toList();
  }

  /** Whether its environment lets this process use none of this host's accelerators. */
  static boolean seesNoDevice() {
    return System.getenv().containsKey(VISIBLE) && visibleDevices().isEmpty();
  }

  /** Makes a group of ranks for each trainer; none if one thread trains. */
  Optional<Supplier<TrainerRanks>> groups() {
    PlacementSection placement = config.placement();
    int ranks = placement.trainerRanks();
    if (placement.nodes() == 0) {
      return Optional.empty();
    }
    return switch (placement.ranksAs()) {
      case THREADS ->
          ranks == 1
              ? Optional.empty()
              : Optional.of(
                  () ->
                      new ThreadRanks(
                          ranks,
                          new SharedMemoryGroups(Composition.RANK_DEADLINE),
                          states(),
                          () -> members.newRank(ranks),
                          notices));
      case CHILDREN -> Optional.of(() -> processes(ranks));
      case NODES ->
          Optional.of(
              () ->
                  new RemoteRanks(
                      registry.orElseThrow(),
                      RemoteRanks.Patience.of(placement.stepLimit()),
                      states(),
                      notices));
    };
  }

  private TrainerRanks processes(int ranks) {
    try {
      return LocalRanks.of(ranks, this::child, config.placement().stepLimit(), states(), notices);
    } catch (IOException e) {
      throw new UncheckedIOException("trainer ranks cannot be started: " + e.getMessage(), e);
    }
  }

  /** Returns the folder through which the ranks' states pass: hosts may share the run folder. */
  private Path states() {
    return folder.path().toAbsolutePath().normalize().resolve("ranks").resolve("states");
  }

  /** Returns the process of a rank that is a child of the coordinator. */
  ChildSpec child(int rank, HostPort coordinator, String secret) throws IOException {
    Path run = folder.path().toAbsolutePath().normalize();
    Path logs = Files.createDirectories(run.resolve("ranks"));
    String name = "trainer-rank-" + rank;
    List<String> command = new ArrayList<>(ChildJvm.command(config.cluster().workerHeap()));
    command.addAll(List.of("trainer-rank", "--rank", Integer.toString(rank)));
    command.addAll(
        List.of("--run-folder", run.toString(), "--coordinator", coordinator.toString()));
    Map<String, String> environment = ChildJvm.environment();
    environment.put(ChildSecrets.RANK, secret);
    if (!gpus.isEmpty()) {
      environment.put(VISIBLE, gpus.get(rank % gpus.size()));
    }
    // Relative paths in the configuration are relative to where the coordinator was started.
    Path here = Path.of("").toAbsolutePath();
    return new ChildSpec(name, command, environment, here, logs.resolve(name + ".log"));
  }
}
