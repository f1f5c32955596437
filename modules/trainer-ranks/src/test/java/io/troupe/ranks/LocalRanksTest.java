package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildSpec;
import io.troupe.base.process.JavaCommand;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks of the toy policy that are real processes, against its trainer of one thread. */
final class LocalRanksTest {
  private static final int STEPS = 3;

  @TempDir private Path folder;

  private final List<String> notes = new CopyOnWriteArrayList<>();

  private ChildSpec child(int rank, HostPort head, String secret) {
    JavaCommand java =
        JavaCommand.of(ToyRankMain.class)
            .with(JavaCommand.NATIVE_ACCESS)
            .heap(64)
            .with(JavaCommand.SERIAL_COLLECTOR, "-XX:TieredStopAtLevel=1");
    return new ChildSpec(
        "rank-" + rank,
        java.words(List.of(head.toString(), secret, Integer.toString(rank))),
        java.environment(),
        folder,
        folder.resolve("rank-%d.log".formatted(rank)));
  }

  private TrainerRanks crew(LocalRanks.Starter starter) {
    try {
      return LocalRanks.of(
          2,
          starter,
          new RestartBackoff.Settings(2, 600_000, 10, 10, 10),
          Duration.ofSeconds(60),
          notes::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A step, another for which rank 1 is dead, and one more. */
  @Test
  void train_aRanksProcessKilled_makesTheStepAgainAndIsTheTrainerOfOneThread() {
    try (TrainingEngine trainer =
        new ToyPolicy(ToySteps.POLICY).by(() -> crew(this::child)).newTrainer(3)) {
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
        new ToyPolicy(ToySteps.POLICY).by(() -> crew(late)).newTrainer(3)) {
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
