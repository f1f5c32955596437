package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.file.JsonLinesFile;
import io.troupe.telemetry.RowLines;
import io.troupe.telemetry.RowQueue;
import io.troupe.telemetry.StepRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The rule of {@link RowQueue} over a folder: processes that are killed between any two messages of
 * the coordinator, the run, the evaluator and the trainer, and in the middle of a line.
 */
final class RowsUnderKillsTest {
  private static final int MOST_KILLS = 6;
  private static final int MOST_MESSAGES = 40;
  private static final int CHECKPOINT_EVERY = 3;

  /** The content of a checkpoint on the disk. */
  private record Saved(long step, List<String> rows) {}

  @TempDir private Path folder;

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void resume_killedAtAnyMoment_hasEveryStepUpToTheCheckpointOnceAndInOrder(long seed)
      throws IOException {
    Random random = new Random(seed);
    Path file = folder.resolve("metrics.jsonl");
    Optional<Saved> saved = Optional.empty();
    int kills = 1 + random.nextInt(MOST_KILLS);
    for (int kill = 1; kill <= kills; kill++) {
      try (Session session = new Session(file, saved, random)) {
        for (int i = random.nextInt(MOST_MESSAGES); i > 0; i--) {
          session.act();
        }
        saved = session.saved;
      }
      if (random.nextBoolean()) {
        Files.writeString(file, "{\"step\":", StandardOpenOption.APPEND);
      }
    }
    try (Session last = new Session(file, saved, random)) {
      last.finish();
      saved = last.saved;
    }
    long step = saved.orElseThrow().step();
    List<Long> steps = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      steps.add(Long.parseLong(line.replaceAll(".*\"step\":(\\d+).*", "$1")));
    }
    assertThat(steps).containsExactlyElementsOf(LongStream.rangeClosed(0, step).boxed().toList());
  }

  /** One process's part: the queues between its parts, and what a kill leaves of it. */
  private static final class Session implements AutoCloseable {
    private final Random random;
    private final JsonLinesFile metrics;
    private final int evaluateEvery;
    private final Deque<Run.StepMade> toRun = new ArrayDeque<>();
    private final Deque<Long> toCoordinator = new ArrayDeque<>();
    private final Deque<Long> toEvaluator = new ArrayDeque<>();
    private final Deque<Saved> toTrainer = new ArrayDeque<>();
    private RowQueue unwritten;
    private RowQueue rows;
    private long step;
    private Optional<Saved> saved;

    Session(Path file, Optional<Saved> from, Random random) throws IOException {
      this.random = random;
      this.evaluateEvery = 1 + random.nextInt(4);
      this.saved = from;
      this.step = from.map(Saved::step).orElse(-1L);
      long written = JsonLinesFile.cut(file, "step", step).orElse(-1);
      this.unwritten =
          from.map(one -> RowLines.decode(one.rows()).missing(written, step))
              .orElse(RowQueue.EMPTY);
      this.rows = unwritten;
      unwritten.awaitedEvaluation().ifPresent(toEvaluator::add);
      this.metrics =
          JsonLinesFile.open(
              file,
              Duration.ZERO,
              trouble -> {
                throw new AssertionError(trouble);
              });
      if (from.isEmpty()) {
        makeStep();
      }
    }

    void act() {
      switch (random.nextInt(5)) {
        case 0 -> makeStep();
        case 1 -> run();
        case 2 -> evaluate();
        case 3 -> save();
        default -> hear();
      }
    }

    void finish() {
      while (step % CHECKPOINT_EVERY != 0) {
        makeStep();
      }
      while (!toTrainer.isEmpty()) {
        save();
      }
      run();
      while (!toRun.isEmpty() || !rows.isEmpty()) {
        evaluate();
        run();
      }
    }

    private void makeStep() {
      step++;
      boolean due = step % evaluateEvery == 0;
      StepRow row = new StepRow(step, step / 10.0, OptionalDouble.empty(), Optional.empty());
      unwritten = unwritten.add(row, due);
      toRun.add(new Run.StepMade(row, due));
      if (due) {
        toEvaluator.add(step);
      }
      if (step % CHECKPOINT_EVERY == 0) {
        toTrainer.add(new Saved(step, RowLines.encode(unwritten)));
      }
    }

    private void run() {
      if (!toRun.isEmpty()) {
        Run.StepMade made = toRun.remove();
        rows = rows.add(made.row(), made.evaluated());
      }
      List<StepRow> ready = rows.ready();
      rows = rows.withoutReady();
      if (!ready.isEmpty()) {
        ready.forEach(row -> metrics.write(row.toMap()));
        toCoordinator.add(ready.getLast().step());
      }
    }

    private void evaluate() {
      // The run asks for it, after it has the row.
      if (!toEvaluator.isEmpty()
          && toRun.stream().noneMatch(made -> made.row().step() == toEvaluator.element())) {
        rows = rows.evaluated(toEvaluator.remove(), 0.5);
      }
    }

    private void save() {
      if (!toTrainer.isEmpty()) {
        saved = Optional.of(toTrainer.remove());
      }
    }

    private void hear() {
      if (!toCoordinator.isEmpty()) {
        unwritten = unwritten.afterStep(toCoordinator.remove());
      }
    }

    @Override
    public void close() {
      metrics.close();
    }
  }
}
