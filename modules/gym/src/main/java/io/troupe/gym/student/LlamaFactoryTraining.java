package io.troupe.gym.student;

import io.troupe.base.files.FileTree;
import io.troupe.chat.Thinking;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gym.factory.FactoryData;
import io.troupe.gym.factory.FactoryEntry;
import io.troupe.gym.factory.FactoryRecipe;
import io.troupe.gym.factory.FactoryTraining;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.student.Students.Outcome;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Trains students by LLaMA-Factory. An adapter that it leaves is merged into the weights that it
 * was trained on, in their type, and the sum is the student.
 *
 * <p>LLaMA-Factory is not asked to resume: a training that did not end is made again.
 */
public final class LlamaFactoryTraining implements CheckpointTraining {
  private static final String ROWS = "rows.jsonl";
  private static final String DATA = "data";

  private final String program;
  private final FactoryRecipe recipe;
  private final int gpus;
  private final Consumer<String> say;
  private volatile @Nullable FactoryTraining running;

  /**
   * Trainings by a recipe.
   *
   * @param program name or path of {@code llamafactory-cli}
   * @param gpus that it trains on; 0 means the CPU
   * @param say takes lines about its progress
   */
  public LlamaFactoryTraining(
      String program, FactoryRecipe recipe, int gpus, Consumer<String> say) {
    this.program = program;
    this.recipe = recipe;
    this.gpus = gpus;
    this.say = say;
  }

  @Override
  public Outcome train(
      Path checkpoint, List<TrainingRow> rows, long seed, Path folder, Path student)
      throws IOException {
    Files.createDirectories(folder);
    Path output = FactoryTraining.output(folder);
    FileTree.delete(output);
    StudentRows.write(rows, folder.resolve(ROWS));
    int _ = FactoryData.write(folder.resolve(ROWS), folder.resolve(DATA), FactoryEntry.CUSTOM);
    FactoryTraining training =
        new FactoryTraining(
            program,
            recipe.settings(checkpoint.toString(), gpus).withSeed(Math.floorMod(seed, 1 << 30)),
            say);
    running = training;
    try {
      FactoryTraining.Trained trained =
          training.run(folder.resolve(DATA), FactoryEntry.CUSTOM, folder);
      write(trained.output(), checkpoint, student);
      return new Outcome.Fitted(trained.steps(), trained.loss());
    } catch (FactoryTraining.DivergedException diverged) {
      return new Outcome.NotFinite(String.valueOf(diverged.getMessage()));
    } catch (FactoryTraining.StoppedException stopped) {
      throw new Students.StoppedTrainingException(String.valueOf(stopped.getMessage()));
    } catch (FactoryTraining.FailedException failed) {
      throw new Students.FailedTrainingException(
          failed.getMessage() + "\nmend what it says; --resume trains again");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("waiting for a training was interrupted");
    } finally {
      running = null;
    }
  }

  /** Makes the student's folder from what the training left. */
  private static void write(Path output, Path checkpoint, Path student) throws IOException {
    if (!Files.isRegularFile(output.resolve(PeftFolder.CONFIG))) {
      StudentFolders.copy(output, student);
      return;
    }
    StudentFolders.copyWithoutWeights(checkpoint, student);
    WeightSnapshot base = ServedWeights.read(checkpoint, WeightVersion.BASE);
    try (Arena memory = Arena.ofShared()) {
      Map<String, StoredTensor> stored = ModelFiles.map(checkpoint, memory).tensors();
      List<StoredTensor> merged = new ArrayList<>();
      for (WeightSnapshot.Tensor tensor : PeftFolder.read(output).addedTo(base.tensors())) {
        DType type =
            Optional.ofNullable(stored.get(tensor.name()))
                .map(StoredTensor::dtype)
                .orElse(DType.F32);
        merged.add(StoredTensor.of(tensor, type, memory));
      }
      ModelFiles.write(student, merged, ModelFiles.DEFAULT_SHARD_BYTES);
    } catch (IllegalArgumentException foreign) {
      throw new Students.FailedTrainingException(
          "the adapter in %s does not fit the student: %s".formatted(output, foreign.getMessage()));
    }
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
    return Thinking.AUTO;
  }

  @Override
  public void stop() {
    FactoryTraining training = running;
    if (training != null) {
      training.stop();
    }
  }
}
