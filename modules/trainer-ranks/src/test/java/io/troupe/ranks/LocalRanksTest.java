package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildSpec;
import io.troupe.base.process.JavaCommand;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks of the toy policy that are real processes, against its trainer of one thread. */
final class LocalRanksTest {
  private static final int STEPS = 3;

  /** Digests of a run without a death; the first test that needs them makes that run. */
  private static List<String> undisturbed = List.of();

  @TempDir private Path folder;

  private final List<String> notes = new CopyOnWriteArrayList<>();

  private ChildSpec child(int rank, HostPort coordinator, String secret) {
    return child(rank, coordinator, secret, ToySteps.POLICY.rows(), DyingRank.Phase.NEVER);
  }

  private ChildSpec child(
      int rank, HostPort coordinator, String secret, int rows, DyingRank.Phase death) {
    return child(rank, coordinator, secret, rows, death, true);
  }

  private ChildSpec child(
      int rank,
      HostPort coordinator,
      String secret,
      int rows,
      DyingRank.Phase death,
      boolean keepsCopies) {
    JavaCommand java =
        JavaCommand.of(ToyRankMain.class)
            .with(JavaCommand.BASIC)
            .heap(64)
            .with(JavaCommand.SERIAL_COLLECTOR, "-XX:TieredStopAtLevel=1");
    return new ChildSpec(
        "rank-" + rank,
        java.words(
            List.of(
                coordinator.toString(),
                secret,
                Integer.toString(rank),
                Integer.toString(rows),
                death.name(),
                Boolean.toString(keepsCopies))),
        java.environment(),
        folder,
        folder.resolve("rank-%d.log".formatted(rank)));
  }

  private LocalRanks newRanks(LocalRanks.Starter starter) {
    return newRanks(2, starter);
  }

  private LocalRanks newRanks(int ranks, LocalRanks.Starter starter) {
    try {
      return LocalRanks.of(
          ranks,
          starter,
          new RestartBackoff.Settings(2, 600_000, 10, 10, 10),
          Duration.ofSeconds(60),
          folder.resolve("states"),
          notes::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A step, another for which rank 1 is dead, and one more. */
  @Test
  void train_aRanksProcessKilled_makesTheStepAgainAndIsTheTrainerOfOneThread() {
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> newRanks(this::child)).newTrainer(3)) {
      trainer.freezeReference();
      ToySteps.make(trainer, 0);
      ProcessHandle killed = ProcessHandle.of(started(1).getFirst()).orElseThrow();
      killed.destroyForcibly();
      killed.onExit().join();
      ToySteps.make(trainer, 1);
      ToySteps.make(trainer, 2);
      ToySteps.assertAlone(trainer, STEPS);
    }
    assertThat(started(0)).hasSize(1);
    assertThat(started(1)).hasSize(2);
    assertThat(notes)
        .filteredOn(note -> note.contains("abandoned"))
        .singleElement()
        .asString()
        .contains(
            "trainer rank 1 is lost: process %d ended with 137".formatted(started(1).getFirst()));
    assertThat(started(0)).noneMatch(pid -> ProcessHandle.of(pid).isPresent());
    assertThat(started(1)).noneMatch(pid -> ProcessHandle.of(pid).isPresent());
  }

  /**
   * A process that ends itself as kill -9 does, in each exchange of a step, and half-way in a file.
   * The other one's copies have what it held, so that only the abandoned step is made again.
   */
  @ParameterizedTest
  @EnumSource(value = DyingRank.Phase.class, mode = EnumSource.Mode.EXCLUDE, names = "NEVER")
  void train_processKilledInAPhaseOfAStep_hasTheBitsOfARunWithoutLoss(DyingRank.Phase phase)
      throws IOException {
    List<String> lossy = digests(phase);
    assertThat(folder.resolve("died")).exists();
    assertThat(started(1)).hasSize(2);
    assertThat(folder.resolve("steps-0"))
        .hasSize(phase.compareTo(DyingRank.Phase.WRITING) >= 0 ? STEPS : STEPS + 1);
    assertThat(notes).noneMatch(note -> note.contains("go back"));
    if (undisturbed.isEmpty()) {
      undisturbed = digests(DyingRank.Phase.NEVER);
    }
    assertThat(lossy).isEqualTo(undisturbed);
  }

  /** Ranks 1 and 2 of three: what rank 1 held is at neither of the others. */
  @Test
  void train_twoNeighboursKilled_goesBackToTheSavedStateAloud() {
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> newRanks(3, this::child)).newTrainer(3)) {
      trainer.freezeReference();
      ToySteps.make(trainer, 0);
      ToySteps.make(trainer, 1);
      for (int rank : new int[] {1, 2}) {
        ProcessHandle killed = ProcessHandle.of(started(rank).getFirst()).orElseThrow();
        killed.destroyForcibly();
        killed.onExit().join();
      }
      ToySteps.make(trainer, 2);
      ToySteps.assertAlone(trainer, STEPS);
    }
    assertThat(notes)
        .contains(
            "the ranks that kept piece 1 of 3 are lost; the ranks go back to their last saved"
                + " state and make 2 steps again first");
    assertThat(folder.resolve("steps-0")).hasSize(STEPS + 3);
  }

  @Test
  void train_aRankKilledWhereNoneKeepsCopies_goesBackToTheSavedStateAloud() {
    LocalRanks.Starter starter =
        (rank, coordinator, secret) ->
            child(rank, coordinator, secret, ToySteps.POLICY.rows(), DyingRank.Phase.NEVER, false);
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> newRanks(starter)).newTrainer(3)) {
      trainer.freezeReference();
      ToySteps.make(trainer, 0);
      ToySteps.make(trainer, 1);
      ProcessHandle killed = ProcessHandle.of(started(1).getFirst()).orElseThrow();
      killed.destroyForcibly();
      killed.onExit().join();
      ToySteps.make(trainer, 2);
      ToySteps.assertAlone(trainer, STEPS);
    }
    assertThat(notes)
        .contains(
            "no rank has a copy of the state after the last step; the ranks go back to their last"
                + " saved state and make 2 steps again first");
    assertThat(folder.resolve("steps-0")).hasSize(STEPS + 3);
  }

  /** The weights after each of three steps, and what a checkpoint of them continues with. */
  private List<String> digests(DyingRank.Phase death) throws IOException {
    LocalRanks.Starter starter =
        (rank, coordinator, secret) ->
            child(
                rank,
                coordinator,
                secret,
                ToySteps.POLICY.rows(),
                rank == 1 ? death : DyingRank.Phase.NEVER);
    Path saved = Files.createDirectory(folder.resolve("saved-by-" + death));
    List<String> digests = new ArrayList<>();
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> newRanks(starter)).newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < STEPS; step++) {
        ToySteps.make(trainer, step);
        digests.add(trainer.snapshot(WeightVersion.BASE).digest());
      }
      trainer.save(saved);
    }
    try (TrainingEngine trainer = new ToyPolicy(ToySteps.POLICY).newTrainer(4)) {
      trainer.restore(saved);
      ToySteps.make(trainer, STEPS);
      digests.add(trainer.snapshot(WeightVersion.BASE).digest());
    }
    return digests;
  }

  /** 12,000 and 120,000 parameters; the last bytes are lengths and times in CBOR. */
  @Test
  void train_ofAnySize_passesTheBatchAndNoTensorBetweenTheProcesses() {
    long small = linkBytes(1_000);
    long large = linkBytes(10_000);
    assertThat(small).isBetween(1_000L, 20_000L);
    assertThat(large).isCloseTo(small, within(200L));
  }

  /**
   * The bytes of two steps, snapshots, a frozen reference and a checkpoint, once all have begun.
   */
  private long linkBytes(int rows) {
    ToySettings policy = new ToySettings("abcdef", 16, 4, rows, Duration.ZERO);
    List<LocalRanks> opened = new ArrayList<>();
    try (TrainingEngine trainer =
        new ToyPolicy(policy)
            .by(
                () -> {
                  opened.add(
                      newRanks(
                          (rank, coordinator, secret) ->
                              child(rank, coordinator, secret, rows, DyingRank.Phase.NEVER)));
                  return opened.getFirst();
                })
            .newTrainer(3)) {
      trainer.freezeReference();
      ToySteps.make(trainer, 0);
      long before = opened.getFirst().linkBytes();
      ToySteps.make(trainer, 1);
      trainer.snapshot(WeightVersion.BASE);
      trainer.freezeReference();
      ToySteps.make(trainer, 2);
      trainer.save(Files.createDirectory(folder.resolve("saved-" + rows)));
      return opened.getFirst().linkBytes() - before;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The process of rank 1 ends four times before it comes to itself. */
  @Test
  void train_processThatEndsAgainAndAgain_isNeverGivenUp() {
    LocalRanks.Starter late =
        (rank, coordinator, secret) -> {
          ChildSpec sound = child(rank, coordinator, secret);
          List<String> command =
              Stream.concat(
                      Stream.of(
                          "sh",
                          "-c",
                          "echo >> ends; [ $(wc -l < ends) -gt 4 ] && exec \"$@\"",
                          "-"),
                      sound.command().stream())
                  .toList();
          return rank == 0
              ? sound
              : new ChildSpec(
                  sound.name(), command, sound.environment(), sound.folder(), sound.log());
        };
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> newRanks(late)).newTrainer(3)) {
      trainer.freezeReference();
      ToySteps.make(trainer, 0);
      ToySteps.assertAlone(trainer, 1);
    }
    assertThat(notes)
        .anyMatch(
            note -> note.startsWith("rank-1 ended 2 times within 10 minutes, and starts again"));
  }

  /** Processes that were started for a rank. */
  private List<Long> started(int rank) {
    String part = "trainer rank %d is process ".formatted(rank);
    return notes.stream()
        .filter(note -> note.startsWith(part))
        .map(note -> Long.valueOf(note.substring(part.length())))
        .toList();
  }
}
