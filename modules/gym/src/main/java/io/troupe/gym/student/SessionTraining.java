package io.troupe.gym.student;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.Signals;
import io.troupe.chat.Thinking;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.student.Students.Outcome;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Trains students by {@code troupe sft} and {@code troupe train}, each a process of its own, so
 * that its accelerator is free again when it ends.
 *
 * <p>The folder of a training has the rows, the log of the processes, and one run. A training whose
 * run exists is resumed, so that a gym that ends in the middle of one loses a checkpoint's interval
 * at most.
 */
public final class SessionTraining implements CheckpointTraining {
  private static final String ROWS = "rows.jsonl";
  private static final String LOG = "session.log";
  private static final int HEAP_MEBIBYTES = 4096;
  private static final int LAST_LINES = 12;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final StudentRecipe recipe;
  private volatile @Nullable ProcessGroup running;

  /** Trainings by a recipe. */
  public SessionTraining(StudentRecipe recipe) {
    this.recipe = recipe;
  }

  @Override
  public Path recipe() {
    return recipe.file();
  }

  @Override
  public boolean chat() {
    return recipe.chat();
  }

  @Override
  public Thinking thinking() {
    return recipe.thinking();
  }

  @Override
  public void stop() {
    ProcessGroup group = running;
    if (group != null) {
      group.leader().destroy();
    }
  }

  @Override
  public Outcome train(
      Path checkpoint, List<TrainingRow> rows, long seed, Path folder, Path student)
      throws IOException {
    Path runs = folder.resolve("runs");
    Files.createDirectories(folder);
    StudentRows.write(rows, folder.resolve(ROWS));
    Optional<Path> begun = run(runs);
    List<String> words =
        begun.isPresent()
            ? recipe.resume(begun.get())
            : recipe.begin(
                checkpoint, folder.resolve(ROWS).toAbsolutePath(), runs.toAbsolutePath(), seed);
    int code = follow(words, folder.resolve(LOG));
    if (code == ExitCode.ofSignal(Signals.SIGINT) || code == ExitCode.ofSignal(Signals.SIGTERM)) {
      throw new Students.StoppedTrainingException(
          "the training in %s was stopped".formatted(folder));
    }
    if (code != 0) {
      String last = lastLines(folder.resolve(LOG));
      if (last.contains(LearningRateSchedule.LOWER_RATE)) {
        return new Outcome.NotFinite(
            "the training in %s had no finite loss; lower its recipe's learning rate"
                .formatted(folder));
      }
      throw new Students.FailedTrainingException(
          "the training in %s ended with exit code %d; mend what it says, and --resume continues:%n%s"
              .formatted(folder, code, last));
    }
    return kept(run(runs).orElseThrow(), student);
  }

  private static Optional<Path> run(Path runs) throws IOException {
    return RunFolder.list(runs).stream().findFirst().map(runs::resolve);
  }

  private int follow(List<String> words, Path log) throws IOException {
    List<String> command = ChildJvm.command(HEAP_MEBIBYTES);
    command.addAll(words);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(ChildJvm.environment());
    ProcessGroup group = ProcessGroup.start(builder);
    running = group;
    try (group) {
      return group.leader().waitFor();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("waiting for a training was interrupted");
    } finally {
      running = null;
    }
  }

  /** Copies the newest checkpoint's policy without what only a resume needs. */
  private static Outcome kept(Path run, Path student) throws IOException {
    RunFolder folder = RunFolder.view(run.resolveSibling("."), run.toString());
    Checkpoint newest =
        Checkpoints.view(folder.checkpoints())
            .list()
            .newest()
            .orElseThrow(() -> new IOException(run + " is complete and has no whole checkpoint"));
    StudentFolders.copy(newest.directory().resolve(TrainerTasks.POLICY_FOLDER), student);
    List<String> metrics = Files.readAllLines(folder.metrics());
    double loss = 0;
    for (String line : metrics) {
      JsonNode row = JSON.readTree(line);
      loss = row.has("loss") ? row.path("loss").asDouble() : loss;
    }
    return new Outcome.Fitted((int) newest.step(), loss);
  }

  private static String lastLines(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      List<String> all = lines.toList();
      return String.join("\n", all.subList(Math.max(0, all.size() - LAST_LINES), all.size()));
    }
  }
}
