package io.troupe.config.supervised;

import io.troupe.config.CheckpointSection;
import io.troupe.config.RunSection;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.evaluation.NamedEvaluation;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.schema.Doc;
import io.troupe.config.task.DataSection;
import io.troupe.config.training.ImitatedDataSet;
import java.nio.file.Path;
import java.util.List;

/** The configuration of {@code troupe sft}. */
public record SupervisedConfig(
    @Doc("The run as a whole.") RunSection run,
    @Doc("The policy and the engine that computes it.") PolicySection policy,
    @Doc("Where data sets are found, and what becomes of rows that are too long.") DataSection data,
    @Doc("What is imitated: the rows of all of them.") List<ImitatedDataSet> datasets,
    @Doc("The training steps: what enters one, and how it moves the weights.")
        SupervisedTrainingSection training,
    @Doc(
            "Prompts that are sampled and judged at intervals, each with a name, data sets and a"
                + " sampling of its own: docs/evaluation.md.")
        List<NamedEvaluation> evaluations,
    @Doc("The pool that judges evaluations.") VerifierSection verifier,
    @Doc("What survives the process.") CheckpointSection checkpoint)
    implements Validated {
  public SupervisedConfig {
    datasets = List.copyOf(datasets);
    evaluations = List.copyOf(evaluations);
  }

  /**
   * Reads a file.
   *
   * @param overrides assignments of the command line
   * @throws io.troupe.config.binding.ConfigurationException with everything wrong with it
   */
  public static ResolvedConfig<SupervisedConfig> load(Path file, List<String> overrides) {
    return ConfigurationFile.load(SupervisedConfig.class, file, overrides);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("datasets")
        .require(() -> !datasets.isEmpty(), "must list a data set", "add '- file: rows.jsonl'");
    NamedEvaluation.checkNames(rules, evaluations);
    for (int i = 0; i < evaluations.size(); i++) {
      NamedEvaluation each = evaluations.get(i);
      rules
          .on("evaluations[%d].datasets".formatted(i))
          .require(
              () -> !each.keys().datasets().isEmpty(),
              "must list data sets: a supervised run has no task of its own",
              "add '- name: gsm8k', for example");
      rules
          .on("evaluations[%d].max_tokens".formatted(i), "policy.context_length")
          .require(
              () -> each.keys().sampling().maxTokens() < policy.contextLength(),
              "must leave room for a prompt in policy.context_length (%d)"
                  .formatted(policy.contextLength()),
              "lower it, or raise the context");
    }
  }
}
