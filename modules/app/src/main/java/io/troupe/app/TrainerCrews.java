package io.troupe.app;

import io.troupe.app.config.PlacementSection;
import io.troupe.app.config.RunConfig;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ChildSpec;
import io.troupe.cluster.collective.HostRanks;
import io.troupe.cluster.ranks.NodeRanks;
import io.troupe.cluster.ranks.RankHall;
import io.troupe.cluster.ranks.RankProcesses;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.parallel.RankCrew;
import io.troupe.engine.parallel.ThreadCrew;
import io.troupe.store.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The ranks of a run's trainer, as its placement wants them.
 *
 * @param members the policy's engines, which the ranks of this process are made of
 * @param gpus of the head and its ranks, as CUDA_VISIBLE_DEVICES lists them; none if that is not
 *     known
 * @param hall where ranks of nodes report, if nodes start them
 * @param say told which processes start, and which are lost
 */
record TrainerCrews(
    RunConfig config,
    RunFolder folder,
    PolicyEngines members,
    List<String> gpus,
    Optional<RankHall> hall,
    Consumer<String> say) {
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  /** The accelerators that this process may use, as far as its environment lists them. */
  static List<String> devices() {
    return Arrays.stream(System.getenv().getOrDefault(VISIBLE, "").split(",", -1))
        .map(String::strip)
        .filter(device -> !device.isEmpty())
        .toList();
  }

  /** Whether its environment lets this process use none of this host's accelerators. */
  static boolean handedNone() {
    return System.getenv().containsKey(VISIBLE) && devices().isEmpty();
  }

  /** Makes a crew for each trainer; none if one thread trains. */
  Optional<Supplier<RankCrew>> crews() {
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
                      new ThreadCrew(
                          ranks,
                          new HostRanks(Composition.RANK_DEADLINE),
                          () -> members.newRank(ranks)));
      case CHILDREN -> Optional.of(() -> processes(ranks));
      case NODES ->
          Optional.of(
              () ->
                  new NodeRanks(
                      hall.orElseThrow(), NodeRanks.Patience.of(placement.stepLimit()), say));
    };
  }

  private RankCrew processes(int ranks) {
    try {
      return RankProcesses.of(ranks, this::child, config.placement().stepLimit(), say);
    } catch (IOException e) {
      throw new UncheckedIOException("trainer ranks cannot be started: " + e.getMessage(), e);
    }
  }

  /** How a rank's process is started that is a child of the head. */
  ChildSpec child(int rank, HostPort head, String secret) throws IOException {
    Path run = folder.path().toAbsolutePath().normalize();
    Path logs = Files.createDirectories(run.resolve("ranks"));
    String name = "trainer-rank-" + rank;
    List<String> command = new ArrayList<>(ChildJvm.command(config.cluster().workerHeap()));
    command.addAll(List.of("trainer-rank", "--rank", Integer.toString(rank)));
    command.addAll(List.of("--run-folder", run.toString(), "--head", head.toString()));
    Map<String, String> environment = ChildJvm.environment();
    environment.put(ChildSecrets.RANK, secret);
    if (!gpus.isEmpty()) {
      environment.put(VISIBLE, gpus.get(rank % gpus.size()));
    }
    // Relative paths in the configuration are relative to where the head was started.
    Path here = Path.of("").toAbsolutePath();
    return new ChildSpec(name, command, environment, here, logs.resolve(name + ".log"));
  }
}
