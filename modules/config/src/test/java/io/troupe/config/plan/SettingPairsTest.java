package io.troupe.config.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.loss.LossSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two settings that are each right alone: together, each still changes the gradient of a step, or
 * the two are refused, or the plan names the one that has no effect. And no pair turns the gradient
 * round.
 */
final class SettingPairsTest {
  private static final String YAML =
      """
      task:
        name: arithmetic
      rollout:
        max_tokens: 8
        completions_per_prompt: 4
      training:
        steps: 200
        groups_per_step: 4
        learning_rate: 3e-4
        max_staleness: 3
      """;

  /** Settings that choose a number, each with one that is not the default. */
  private static final List<String> NUMBERS =
      List.of(
          "loss.dr_grpo_constant=7",
          "loss.clip_low=0.1",
          "loss.clip_high=0.1",
          "loss.clip_dual=1.2",
          "loss.sapo_positive=3",
          "loss.sapo_negative=4",
          "loss.importance_cap=1.1",
          "loss.icepop_low=0.9",
          "loss.icepop_high=1.1",
          "loss.sequence_mask_low=0.7",
          "loss.sequence_mask_high=1.2",
          "loss.mask_truncated=true",
          "loss.overlong_buffer=4",
          "loss.overlong_penalty=0.5",
          "loss.kl_coefficient=0.3",
          "loss.entropy_coefficient=0.01",
          "loss.reference_refresh_every=3",
          "training.filter_degenerate=false",
          "distillation.coefficient=0.5",
          "distillation.mix=0.5",
          "distillation.top_k=3",
          "distillation.policy_coefficient=0.5",
          "distillation.policy_coefficient=0",
          "distillation.discard_perfect=false");

  /** Settings that choose a rule, which may be the one that is taken anyway. */
  private static final List<String> RULES =
      List.of(
          "loss.objective=dr_grpo",
          "loss.objective=dapo",
          "loss.objective=gspo",
          "loss.objective=cispo",
          "loss.objective=sapo",
          "loss.objective=gmpo",
          "loss.objective=dppo",
          "loss.baseline=standardised_unbiased",
          "loss.baseline=centred",
          "loss.baseline=leave_one_out",
          "loss.baseline=mean_scaled",
          "loss.baseline=length_weighted",
          "loss.baseline=step_standardised",
          "loss.baseline=group_centred_step_scaled",
          "loss.baseline=parts_standardised",
          "loss.correction=none",
          "loss.correction=truncated_importance",
          "loss.correction=icepop",
          "loss.correction=decoupled",
          "loss.correction=decoupled_truncated",
          "loss.sequence_mask=geometric",
          "loss.sequence_mask=outlier",
          "loss.kl_in=reward",
          "loss.kl_estimator=k1",
          "loss.kl_estimator=k2",
          "training.max_staleness=0",
          "training.max_staleness=1",
          "distillation.divergence=jsd",
          "distillation.divergence=forward_kl",
          "rollout.top_p=0.9",
          "rollout.top_k=5",
          "rollout.min_p=0.1",
          "rollout.repetition_penalty=1.1");

  /** What a pair comes to: the loss, and the plan's notes. */
  private record Resolved(RunConfig config, List<String> notes, List<Object> effect) {
    Resolved(RunConfig config, List<String> notes) {
      this(config, notes, effect(config));
    }

    LossSettings loss() {
      return config.lossSettings();
    }

    /** Everything of the loss that a step's gradient depends on. */
    private static List<Object> effect(RunConfig config) {
      LossSettings loss = config.lossSettings();
      List<Object> effect = new ArrayList<>();
      for (SyntheticStep.Gradient each : new SyntheticStep(config, false).gradients()) {
        if (loss.distils()) {
          effect.add(each.weights());
        }
        if (loss.shares().policy() > 0) {
          effect.add(each.byLogProb().stream().map(d -> loss.shares().policy() * d).toList());
        }
      }
      effect.add(loss.shares());
      effect.add(loss.readsReference(false) ? config.loss().referenceRefreshEvery() : 0);
      effect.add(config.training().filterDegenerate());
      return effect;
    }
  }

  /** Resolved settings; one alone is asked for again and again. */
  private static final Map<List<String>, Optional<Resolved>> ALONE = new HashMap<>();

  private static Optional<Resolved> resolve(String setting) {
    return ALONE.computeIfAbsent(List.of(setting), SettingPairsTest::resolveAll);
  }

  private static Optional<Resolved> resolve(String first, String second) {
    return resolveAll(List.of(first, second));
  }

  private static Optional<Resolved> resolveAll(List<String> settings) {
    try {
      ResolvedConfig<RunConfig> resolved =
          ConfigurationFile.bind(RunConfig.class, Path.of("run.yaml"), YAML, settings);
      return Optional.of(new Resolved(resolved.config(), LossNotes.of(resolved)));
    } catch (ConfigurationException refused) {
      return Optional.empty();
    }
  }

  private static final List<String> SETTINGS =
      Stream.concat(RULES.stream(), NUMBERS.stream()).toList();

  static List<String> settings() {
    return SETTINGS;
  }

  private static String key(String setting) {
    return setting.substring(0, setting.indexOf('='));
  }

  /** Whether the second of two settings changes nothing beside the first, and no note says so. */
  private static boolean silent(Resolved first, String second, Resolved both) {
    boolean sameRule = RULES.contains(second) && both.loss().equals(first.loss());
    return !sameRule
        && both.effect().equals(first.effect())
        && both.notes().stream().noneMatch(note -> note.contains(key(second)));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void plan_pairThatCancelsOrTurnsTheGradientRound_isRefusedOrNamed(String first) {
    List<String> wrong = new ArrayList<>();
    for (String second : SETTINGS.subList(SETTINGS.indexOf(first) + 1, SETTINGS.size())) {
      if (key(first).equals(key(second))) {
        continue;
      }
      resolve(first, second)
          .ifPresent(
              both -> {
                resolve(first)
                    .filter(alone -> silent(alone, second, both))
                    .ifPresent(_ -> wrong.add(second + " has no effect"));
                resolve(second)
                    .filter(alone -> silent(alone, first, both))
                    .ifPresent(_ -> wrong.add("it has no effect beside " + second));
                if (both.loss().shares().policy() > 0 && !wellDirected(both)) {
                  wrong.add("the gradient is turned round by " + second);
                }
              });
    }
    assertThat(wrong).as("beside %s", first).isEmpty();
  }

  /** On-policy, where neither a bound nor a correction has anything to do. */
  private static boolean wellDirected(Resolved both) {
    // The order of one is that of parts in units of their deviations, the other compares with the
    // step.
    boolean bySum =
        both.loss().baseline() != Baseline.PARTS_STANDARDISED
            && both.loss().baseline() != Baseline.STEP_STANDARDISED;
    List<SyntheticStep.Gradient> gradients = new SyntheticStep(both.config(), true).gradients();
    boolean up = false;
    boolean down = false;
    for (SyntheticStep.Gradient each : gradients) {
      double best = best(gradients, each.group(), 1);
      double worst = -best(gradients, each.group(), -1);
      if (best == worst) {
        continue;
      }
      boolean turned = each.advantage() * (each.reward() == best ? 1 : -1) < 0;
      if (bySum && turned && (each.reward() == best || each.reward() == worst)) {
        return false;
      }
      boolean moves = each.byLogProb().stream().anyMatch(d -> Math.abs(d) > 1e-9);
      up |= moves && each.advantage() > 0;
      down |= moves && each.advantage() < 0;
    }
    return up && down;
  }

  private static double best(List<SyntheticStep.Gradient> all, int group, int sign) {
    return all.stream()
        .filter(each -> each.group() == group)
        .mapToDouble(each -> sign * each.reward())
        .max()
        .orElseThrow();
  }
}
