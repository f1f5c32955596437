package io.troupe.config;

import io.troupe.config.training.DistillationSection;
import io.troupe.config.training.LossSection;
import io.troupe.core.advantage.AdvantageRule;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.Overlong;
import io.troupe.core.loss.SequenceMask;

/** The loss that a configuration's names and numbers come to. */
final class LossResolver {
  private final RunConfig config;
  private final LossSection loss;

  private LossResolver(RunConfig config) {
    this.config = config;
    this.loss = config.loss();
  }

  static LossSettings of(RunConfig config) {
    return new LossResolver(config).settings();
  }

  private LossSettings settings() {
    Objective objective = objective();
    return new LossSettings(
        objective,
        baseline(objective),
        new LossSettings.Clip(
            loss.clipLow() < 0 ? usualClip(0.2, 3e-4, 1) : loss.clipLow(),
            loss.clipHigh() < 0 ? usualClip(0.28, 4e-4, 4) : loss.clipHigh(),
            loss.clipDual()),
        new LossSettings.OffPolicy(correction(objective), mask()),
        new LossSettings.KlPenalty(loss.klCoefficient(), loss.klEstimator(), loss.klIn()),
        new LossSettings.Shares(
            config.distillation().policyCoefficient(),
            distillation(),
            config.supervised().coefficient(),
            loss.entropyCoefficient()),
        new Overlong(
            loss.maskTruncated(),
            new OverlongPunishment(loss.overlongBuffer(), loss.overlongPenalty())),
        config.rollout().temperature());
  }

  private Objective objective() {
    return switch (loss.objective()) {
      case GRPO -> new Objective.Grpo();
      case DR_GRPO ->
          new Objective.DrGrpo(
              loss.drGrpoConstant() == 0 ? config.rollout().maxTokens() : loss.drGrpoConstant());
      case DAPO -> new Objective.Dapo();
      case GSPO -> new Objective.Gspo();
      case CISPO -> new Objective.Cispo();
      case SAPO -> new Objective.Sapo(loss.sapoPositive(), loss.sapoNegative());
      case GMPO -> new Objective.Gmpo();
      case DPPO -> new Objective.Dppo();
      case OWN ->
          new Objective.Own(
              loss.objectiveClass(),
              LossJar.objective(loss.jar().getFirst(), loss.objectiveClass()));
    };
  }

  private AdvantageRule baseline(Objective objective) {
    return switch (loss.baseline()) {
      case AUTO -> objective.baseline();
      case STANDARDISED -> Baseline.STANDARDISED;
      case STANDARDISED_UNBIASED -> Baseline.STANDARDISED_UNBIASED;
      case CENTRED -> Baseline.CENTRED;
      case LEAVE_ONE_OUT -> Baseline.LEAVE_ONE_OUT;
      case MEAN_SCALED -> Baseline.MEAN_SCALED;
      case LENGTH_WEIGHTED -> Baseline.LENGTH_WEIGHTED;
      case STEP_STANDARDISED -> Baseline.STEP_STANDARDISED;
      case GROUP_CENTRED_STEP_SCALED -> Baseline.GROUP_CENTRED_STEP_SCALED;
      case PARTS_STANDARDISED -> Baseline.PARTS_STANDARDISED;
      case OWN ->
          new AdvantageRule.Own(
              loss.baselineClass(),
              LossJar.advantages(loss.jar().getFirst(), loss.baselineClass()));
    };
  }

  private double usualClip(double token, double sequence, double weight) {
    return switch (loss.objective()) {
      case GRPO, DR_GRPO, DAPO -> token;
      case GSPO -> sequence;
      case CISPO -> weight;
      case SAPO, OWN -> 0;
      case GMPO -> 0.4;
      case DPPO -> 0.15;
    };
  }

  private Correction correction(Objective objective) {
    return switch (loss.correction()) {
      case AUTO ->
          config.training().maxStaleness() > 0 && !objective.correctsItself()
              ? new Correction.TruncatedImportance(cap(2))
              : new Correction.None();
      case NONE -> new Correction.None();
      case TRUNCATED_IMPORTANCE -> new Correction.TruncatedImportance(cap(2));
      case ICEPOP -> new Correction.IcePop(loss.icepopLow(), loss.icepopHigh());
      case DECOUPLED -> new Correction.Decoupled(cap(5), Correction.OverCap.MASKED);
      case DECOUPLED_TRUNCATED -> new Correction.Decoupled(cap(5), Correction.OverCap.TRUNCATED);
    };
  }

  private double cap(double usual) {
    return loss.importanceCap() == 0 ? usual : loss.importanceCap();
  }

  private SequenceMask mask() {
    return switch (loss.sequenceMask()) {
      case NONE -> new SequenceMask.None();
      case GEOMETRIC ->
          new SequenceMask.Geometric(
              end(loss.sequenceMaskLow(), 0.99), end(loss.sequenceMaskHigh(), 1.01));
      case OUTLIER ->
          new SequenceMask.Outlier(
              end(loss.sequenceMaskLow(), 1e-4), end(loss.sequenceMaskHigh(), 100));
    };
  }

  private static double end(double given, double usual) {
    return given == 0 ? usual : given;
  }

  private Distillation distillation() {
    DistillationSection d = config.distillation();
    return switch (d.divergence()) {
      case NONE -> new Distillation.None();
      case JSD -> new Distillation.Jsd(d.coefficient(), d.mix(), d.topK());
      case FORWARD_KL ->
          new Distillation.ForwardKl(
              d.coefficient(), d.topK(), d.discards(), config.verifier().mark());
    };
  }
}
