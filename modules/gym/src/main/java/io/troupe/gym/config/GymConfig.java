package io.troupe.gym.config;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.schema.Doc;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.gym.arithmetic.ArithmeticGym;
import io.troupe.gym.loop.GymPlan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The configuration of a gym. */
public record GymConfig(
    @Doc("Trials and their iterations.") TrialsSection trials,
    @Doc("What the student is asked and trained on.") GymTaskSection task,
    @Doc("What the base student must and must not know before a trial begins.") GateSection gate,
    @Doc("How the agent divides and makes rows.") GymAgentSection agent,
    @Doc("The language model that writes rows, if one does.") ModelSection model,
    @Doc("What a row must pass before it is trained on.") QualitySection quality,
    @Doc("The decoder that is the student, with the keys of a run's `policy`.")
        PolicySection policy,
    @Doc("How the student is trained.") StudentSection student)
    implements Validated {
  /**
   * Reads a file.
   *
   * @param overrides assignments of the command line
   */
  public static ResolvedConfig<GymConfig> load(Path file, List<String> overrides) {
    return ConfigurationFile.load(GymConfig.class, file, overrides);
  }

  /** Returns the trials, seed by seed, so that a seed's arms share its base student. */
  public GymPlan plan() {
    List<GymPlan.Planned> planned = new ArrayList<>();
    for (int seed : trials.seeds()) {
      for (TrialsSection.Arm arm : trials.arms()) {
        planned.add(new GymPlan.Planned(arm.name().toLowerCase(Locale.ROOT), seed));
      }
    }
    GymPlan.Gate passed =
        gate.weak().isEmpty()
            ? GymPlan.Gate.NONE
            : new GymPlan.Gate(gate.weak(), gate.weakMost(), gate.othersLeast());
    return new GymPlan(planned, trials.iterations(), passed);
  }

  @Override
  public void check(RuleChecker rules) {
    switch (task) {
      case GymTaskSection.Arithmetic _ -> checkArithmetic(rules);
      case GymTaskSection.Datasets datasets -> checkDatasets(rules, datasets);
    }
    rules
        .on("policy.lora.rank")
        .require(
            () ->
                !switch (policy) {
                  case PolicySection.Djl djl -> djl.compute().lora().enabled();
                  case PolicySection.Pretrained pretrained -> pretrained.compute().lora().enabled();
                  case PolicySection.Toy _ -> false;
                },
            "must be 0 in a gym; adapters of a pretrained student are in its recipe",
            "leave it out");
  }

  private void checkArithmetic(RuleChecker rules) {
    rules
        .on("gate.weak")
        .require(
            () -> gate.weak().stream().allMatch(path -> ArithmeticGym.leaf(path).isPresent()),
            "must be leaves of the task (" + String.join(", ", ArithmeticGym.leaves()) + ")",
            "change it");
    rules
        .on("policy.engine")
        .require(
            () -> policy instanceof PolicySection.Djl,
            "must be djl with task.name arithmetic, whose characters a checkpoint's tokenizer does"
                + " not split alike",
            "set it to djl");
    rules
        .on("policy.context_length")
        .require(
            () -> policy.contextLength() >= GymTaskSection.Arithmetic.LONGEST,
            "must hold the longest prompt and answer (%d tokens)"
                .formatted(GymTaskSection.Arithmetic.LONGEST),
            "raise it");
    rules
        .on("student.trainer")
        .require(
            () -> student.trainer() == StudentSection.Trainer.STEPS,
            "must be steps with task.name arithmetic",
            "leave it out");
    if (policy instanceof PolicySection.Djl djl) {
      rules
          .on("policy.device")
          .require(
              () -> djl.compute().device().equals("cpu"), "must be cpu in a gym", "set it to cpu");
      rules
          .on("policy.precision")
          .require(
              () -> djl.compute().precision() == Precision.FLOAT32,
              "must be float32 in a gym",
              "leave it out");
      rules
          .on("policy.torch")
          .require(
              () -> djl.compute().torch().isEmpty(),
              "must be empty in a gym, which uses DJL's",
              "leave it out");
    }
  }

  private void checkDatasets(RuleChecker rules, GymTaskSection.Datasets datasets) {
    rules
        .on("policy.engine")
        .require(
            () -> policy instanceof PolicySection.Pretrained,
            "must be pretrained with task.name datasets",
            "set it to pretrained, and name policy.checkpoint");
    rules
        .on("student.trainer")
        .require(
            () -> student.trainer() != StudentSection.Trainer.STEPS,
            "must be sft, grpo or llama_factory with policy.engine pretrained",
            "set it to sft, and name student.recipe");
    rules
        .on("model.provider")
        .require(
            model::writes,
            "must name a language model with task.name datasets, for which no script makes rows",
            "set it to openai");
    rules
        .on("trials.arms", "task.skills")
        .require(
            () ->
                datasets.skills().size() == 2
                    || trials.arms().stream().noneMatch(TrialsSection.Arm::divides),
            "must not be weakness, uniform or random where items have no subskills",
            "name a second facet in task.skills, or take open_ended, skill_list or alternating");
    rules
        .on("trials.arms")
        .require(
            () -> !trials.arms().contains(TrialsSection.Arm.OLD_ROWS),
            "must not be old_rows with task.name datasets, whose base student has no rows here",
            "remove it");
  }
}
