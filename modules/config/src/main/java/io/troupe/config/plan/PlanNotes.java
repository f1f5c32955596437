package io.troupe.config.plan;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.task.ChoiceKeys;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.train.LearningRateSchedule.Decay;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import java.util.ArrayList;
import java.util.List;

/** Notes on settings that are allowed: settings without effect, and surprising ones. */
final class PlanNotes {
  private final ResolvedConfig<RunConfig> resolved;
  private final RunConfig config;
  private final Capacities capacities;
  private final List<String> notes = new ArrayList<>();

  private PlanNotes(ResolvedConfig<RunConfig> resolved, Capacities capacities) {
    this.resolved = resolved;
    this.config = resolved.config();
    this.capacities = capacities;
  }

  static List<String> of(ResolvedConfig<RunConfig> resolved, Capacities capacities) {
    PlanNotes notes = new PlanNotes(resolved, capacities);
    notes.reproducibility();
    notes.flow();
    notes.data();
    notes.choice();
    notes.sampling();
    notes.learningRates();
    notes.notes.addAll(LossNotes.of(resolved));
    notes.withoutEffect();
    return List.copyOf(notes.notes);
  }

  private void reproducibility() {
    if (config.lockStep()) {
      note(true, "lock-step: on the CPU, a run with this seed repeats bit for bit, resumed or not");
    } else if (config.training().maxStaleness() == 0) {
      note(true, "synchronous but not reproducible: with one worker it would be, bit for bit");
    } else {
      note(true, "asynchronous: what arrives when depends on time, so two runs of a seed differ");
    }
  }

  private void flow() {
    int concurrent = config.rollout().maxConcurrentGroups();
    note(
        config.training().groupUses() == config.training().maxStaleness() + 1
            && config.training().groupUses() > 1
            && !config.lockStep(),
        "training.group_uses is max_staleness + 1, so only groups of the newest version get all"
            + " their uses; a greater max_staleness lets others have them");
    note(
        concurrent < capacities.groupsPerStep(),
        "rollout.max_concurrent_groups (%d) is below a batch, so a batch comes in several waves"
            .formatted(concurrent));
    note(
        concurrent > capacities.groupsOutstanding(),
        "rollout.max_concurrent_groups (%d) is never reached: admission allows %d"
            .formatted(concurrent, capacities.groupsOutstanding()));
    note(
        capacities.groupsDecoded() < capacities.groupsUnderLease(),
        "workers decode %d of the %d groups that may be under lease; the rest is verified or waits"
            .formatted(capacities.groupsDecoded(), capacities.groupsUnderLease()));
    note(
        config.training().filterDegenerate()
            && config.training().cannotProgressAfter() < capacities.groupsPerStep(),
        "training.max_filtered_groups (%d) is below a batch: bad luck alone may end the run"
            .formatted(config.training().cannotProgressAfter()));
  }

  private void data() {
    note(
        capacities.groupsOutstanding() > capacities.trainingPrompts(),
        "%d groups may be outstanding and there are %d training prompts: the same prompt can be"
                .formatted(capacities.groupsOutstanding(), capacities.trainingPrompts())
            + " in two of them");
    note(
        capacities.steps() < config.training().steps(),
        "training.epochs (%d) ends the run after about %d of its %d steps"
            .formatted(config.training().epochs(), capacities.steps(), config.training().steps()));
  }

  private void choice() {
    ChoiceKeys choice = config.task().choice();
    boolean byDifficulty = choice.sampling() == ChoiceKeys.Rule.DIFFICULTY;
    note(
        byDifficulty,
        "task.sampling is difficulty: an epoch is one pass over the %,d training prompts, each"
                .formatted(capacities.trainingPrompts())
            + " admitted at most once: those that promise a group of equal rewards are passed over,"
            + " but in %s of the epochs".formatted(choice.exploration()));
    note(
        byDifficulty && config.distillation().discards(),
        "task.sampling is difficulty: it prefers groups with unequal rewards, and a distillation"
            + " learns from groups of equal ones too");
    noteWithoutEffect("task.exploration", !byDifficulty, "task.sampling is uniform");
  }

  private void sampling() {
    GroupSize size = config.rollout().groupSize();
    note(
        size.grows(),
        "rollout.adaptive: a group is sampled by %d completions at a time until %d are right and %d"
                .formatted(size.part(), size.right(), size.wrong())
            + " wrong, %d at most; the loss is written for a group of %d, and each has its own size"
                .formatted(size.most(), size.part()));
    note(
        config.training().maxStaleness() == 0 && config.rollout().kvOnSwap() == KvOnSwap.RECOMPUTE,
        "rollout.kv_on_swap has no effect: no completion spans two weight versions in lock-step");
  }

  private void learningRates() {
    LearningRateNote.OF_REWARDS
        .of("training.learning_rate", config.training().optimizer().learningRate(), config.policy())
        .ifPresent(notes::add);
    if (config.warmup().steps() > 0) {
      LearningRateNote.OF_ROWS
          .of("warmup.learning_rate", config.warmup().learningRate(), config.policy())
          .ifPresent(notes::add);
    }
  }

  private void withoutEffect() {
    noteWithoutEffect(
        "cluster.workers_per_node",
        config.placement().nodes() > 0,
        "placement decides how many workers a node starts");
    noteWithoutEffect(
        "training.no_decay",
        config.training().optimizer().weightDecay() == 0
            || config.policy() instanceof PolicySection.Toy,
        "training.weight_decay is 0, or the policy is a table");
    noteWithoutEffect(
        "training.schedule_floor",
        config.training().optimizer().schedule() == Decay.CONSTANT,
        "training.schedule is constant");
    noteWithoutEffect(
        "training.max_filtered_groups",
        !config.training().filterDegenerate(),
        "training.filter_degenerate is false");
    for (String key : List.of("batch", "learning_rate", "examples")) {
      noteWithoutEffect("warmup." + key, config.warmup().steps() == 0, "warmup.steps is 0");
    }
    for (String key : List.of("prompts", "max_tokens")) {
      noteWithoutEffect(
          "evaluation." + key, config.evaluation().every() == 0, "evaluation.every is 0");
    }
  }

  private void noteWithoutEffect(String key, boolean isIdle, String because) {
    note(isIdle && resolved.isChosen(key), key + " has no effect: " + because);
  }

  private void note(boolean applies, String text) {
    if (applies) {
      notes.add(text);
    }
  }
}
