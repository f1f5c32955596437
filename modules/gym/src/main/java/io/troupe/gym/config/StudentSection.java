package io.troupe.gym.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.gym.factory.FactoryRecipe;
import io.troupe.gym.factory.FactoryTraining;
import io.troupe.gym.student.CheckpointTraining;
import io.troupe.gym.student.LlamaFactoryTraining;
import io.troupe.gym.student.SessionTraining;
import io.troupe.gym.student.StudentFit;
import io.troupe.gym.student.StudentRecipe;
import java.nio.file.Path;
import java.util.function.Consumer;

/** The training of a student: from its base on all rows so far. */
public record StudentSection(
    @Doc(
            "What trains: `steps`, supervised steps of this process for `policy.engine: djl`; for"
                + " `policy.engine: pretrained` sessions of `troupe sft` (`sft`), of `troupe train`"
                + " (`grpo`, which samples the rows' problems and needs no responses) or of"
                + " LLaMA-Factory (`llama_factory`).")
        @Default("steps")
        Trainer trainer,
    @Doc(
            "Configuration of the sessions: with one data set (`sft`), with `task.name: jsonl`"
                + " (`grpo`), or of LLaMA-Factory. The gym replaces its checkpoint, data, folders and"
                + " seed.")
        @Default("")
        @RelativeToFile
        String recipe,
    @Doc(value = "Steps of a base student.", unit = "steps")
        @Default("800")
        @Range(min = 1, max = 10_000_000)
        int baseSteps,
    @Doc("Learning rate of a base student's first step; it falls to a tenth.")
        @Default("3e-3")
        @Range(min = 0, minExclusive = true, max = 1)
        double baseRate,
    @Doc(value = "Passes over the rows of a training.", unit = "epochs")
        @Default("20")
        @Range(min = 1, max = 10_000)
        int epochs,
    @Doc("Learning rate of a training's first step; it falls to a tenth.")
        @Default("5e-4")
        @Range(min = 0, minExclusive = true, max = 1)
        double rate,
    @Doc("Rows of the base student that are mixed in for each new row, against forgetting.")
        @Default("6")
        @Range(min = 0, max = 1000)
        double replay,
    @Doc(value = "Rows of a step.", unit = "rows") @Default("128") @Range(min = 1, max = 1_000_000)
        int batch,
    @Doc(value = "Most tokens of a response.", unit = "tokens") @Default("6") @Range(min = 1)
        int maxTokens)
    implements Validated {
  /** The programs that train a student. */
  public enum Trainer {
    STEPS,
    SFT,
    GRPO,
    LLAMA_FACTORY
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("recipe", "trainer")
        .require(
            () -> (trainer == Trainer.STEPS) == recipe.isEmpty(),
            "is the configuration of the trainers sft, grpo and llama_factory, and of no other",
            "name the file, or leave it out");
  }

  /**
   * Reads the recipe.
   *
   * @param say takes lines about the progress of trainings
   * @throws IllegalArgumentException if it is none
   */
  public CheckpointTraining training(Consumer<String> say) {
    Path file = Path.of(recipe);
    return switch (trainer) {
      case STEPS -> throw new IllegalStateException("steps are of this process");
      case SFT -> new SessionTraining(StudentRecipe.read(file, StudentRecipe.Trainer.SFT));
      case GRPO -> new SessionTraining(StudentRecipe.read(file, StudentRecipe.Trainer.GRPO));
      case LLAMA_FACTORY ->
          new LlamaFactoryTraining(
              FactoryTraining.program(),
              FactoryRecipe.read(file),
              FactoryTraining.visibleGpus(System.getenv()),
              say);
    };
  }

  /** Returns the settings of trainings. */
  public StudentFit settings() {
    return new StudentFit(baseSteps, baseRate, epochs, rate, replay, batch, maxTokens);
  }
}
