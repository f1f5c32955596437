package io.troupe.gym.student;

import io.troupe.chat.Thinking;
import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.training.ImitatedDataSet;
import io.troupe.tasks.PromptTemplate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The configuration of {@code troupe sft} or {@code troupe train} that a student is trained by. The
 * gym replaces its checkpoint, its rows, its seed and its folder of runs, and nothing else.
 *
 * @param file of the configuration
 * @param trainer program whose configuration the file is
 * @param chat whether prompts are messages of the student's chat template
 * @param thinking of the policy
 */
public record StudentRecipe(Path file, Trainer trainer, boolean chat, Thinking thinking) {
  /** The programs that train. */
  public enum Trainer {
    SFT,
    GRPO
  }

  /**
   * Reads a recipe.
   *
   * @throws io.troupe.config.binding.ConfigurationException if it is none that the command takes
   * @throws IllegalArgumentException if the gym cannot replace its rows; says what it must have
   */
  public static StudentRecipe read(Path file, Trainer trainer) {
    return switch (trainer) {
      case SFT -> {
        SupervisedConfig config = SupervisedConfig.load(file, List.of()).config();
        pretrained(file, config.policy());
        if (config.datasets().size() != 1) {
          throw new IllegalArgumentException(
              "student.recipe: %s must have one data set, whose file the gym replaces, and has %d"
                  .formatted(file, config.datasets().size()));
        }
        yield new StudentRecipe(
            file,
            trainer,
            config.datasets().getFirst().template() == ImitatedDataSet.TextForm.CHAT,
            config.policy().thinking());
      }
      case GRPO -> {
        RunConfig config = RunConfig.load(file, List.of()).config();
        pretrained(file, config.policy());
        if (!(config.task() instanceof DataSetSection.Jsonl jsonl)) {
          throw new IllegalArgumentException(
              "student.recipe: %s must have task.name: jsonl, whose file the gym replaces"
                  .formatted(file));
        }
        yield new StudentRecipe(
            file,
            trainer,
            jsonl.prompts().template() == PromptTemplate.PromptForm.CHAT,
            config.policy().thinking());
      }
    };
  }

  private static void pretrained(Path file, PolicySection policy) {
    if (!(policy instanceof PolicySection.Pretrained)) {
      throw new IllegalArgumentException(
          "student.recipe: %s must have policy.engine: pretrained, whose checkpoint the gym replaces"
              .formatted(file));
    }
  }

  /**
   * Returns the words of the command that begins a training.
   *
   * @param rows file of {@link StudentRows}
   * @param runs folder that gets the run
   */
  List<String> begin(Path checkpoint, Path rows, Path runs, long seed) {
    List<String> words = new ArrayList<>(List.of(command(), file.toString()));
    set(words, "policy.checkpoint", checkpoint.toString());
    set(words, trainer == Trainer.SFT ? "datasets[0].file" : "task.file", rows.toString());
    set(words, "run.folder", runs.toString());
    set(words, "run.seed", Long.toString(Math.floorMod(seed, Integer.MAX_VALUE)));
    return words;
  }

  /** Returns the words of the command that continues a training. */
  List<String> resume(Path run) {
    return List.of(command(), "--resume", run.toString());
  }

  private String command() {
    return trainer == Trainer.SFT ? "sft" : "train";
  }

  private static void set(List<String> words, String key, String value) {
    words.add("--set");
    words.add(key + "=" + value);
  }
}
