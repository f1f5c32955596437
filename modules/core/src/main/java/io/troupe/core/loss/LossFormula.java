package io.troupe.core.loss;

import io.troupe.core.advantage.AdvantageRule;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.reward.PassMark;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The loss of a run in plain text, with its numbers filled in: what {@link ScalarLoss}, {@link
 * LossWeights} and the advantages compute under given settings, for a reader who wants to check it
 * against a paper. ASCII only; terms that the settings switch off do not appear.
 */
public final class LossFormula {
  private static final int LABEL_WIDTH = 13;

  private LossFormula() {}

  private record Line(String label, String formula, String note) {}

  /**
   * The formula, one line a symbol, each defined before it is used.
   *
   * @param completions G, completions of a prompt
   * @param maxStaleness greatest staleness of a token with loss weight, in weight versions
   * @param refreshEvery steps after which the reference becomes the present policy; 0: never
   * @return lines separated by newlines, without one at the end
   */
  public static String describe(
      LossSettings s, int completions, long maxStaleness, int refreshEvery) {
    List<Line> lines = new ArrayList<>();
    lines.add(
        new Line(
            "policy",
            "p = softmax(logits / %s)".formatted(number(s.temperature())),
            "the trainer's, of the sampled token; carries the gradient"));
    if (s.shares().policy() > 0) {
      lines.addAll(policyGradient(s, completions, refreshEvery));
    }
    lines.addAll(distillation(s.shares().distillation()));
    if (s.rewardsEntropy()) {
      lines.add(
          new Line(
              "entropy",
              "H = -sum_v p_v log p_v",
              "over the vocabulary, at the position of the token; carries the gradient"));
    }
    lines.add(new Line("token loss", "l = " + tokenLoss(s), ""));
    lines.addAll(loss(s));
    lines.add(
        new Line(
            "trained",
            "staleness <= %d".formatted(maxStaleness),
            "an older token is in no sum and no count"));
    if (s.overlong().masked()) {
      lines.add(
          new Line("", "", "nor is a completion that the token limit cut off; its reward counts"));
    }
    return layOut(lines);
  }

  /** Returns the lines of the terms that the policy coefficient multiplies. */
  private static List<Line> policyGradient(LossSettings s, int completions, int refreshEvery) {
    List<Line> lines = new ArrayList<>();
    lines.add(advantage(s.baseline(), completions));
    if (s.penalisesReward()) {
      lines.add(
          new Line(
              "reward",
              "r = task reward - %s sum_t K".formatted(number(s.kl().coefficient())),
              "K = %s; d = log p_ref - log q, of every token"
                  .formatted(estimate(s.kl().estimator()))));
      lines.addAll(reference(refreshEvery));
    }
    OverlongPunishment punishment = s.overlong().punishment();
    if (punishment.active()) {
      lines.add(
          new Line(
              "reward",
              "r = r - %s min(max(n - (L - %d), 0) / %d, 1)"
                  .formatted(number(punishment.factor()), punishment.buffer(), punishment.buffer()),
              "n tokens of the completion, L its token limit"));
    }
    lines.addAll(ratio(s));
    lines.add(new Line("surrogate", "S = " + surrogate(s), ""));
    lines.addAll(mask(s.offPolicy().mask()));
    if (s.penalisesLoss()) {
      lines.add(
          new Line(
              "KL penalty",
              "K = " + estimate(s.kl().estimator()),
              "d = log p_ref - log p; p_ref: by the reference"));
      lines.addAll(reference(refreshEvery));
    }
    return lines;
  }

  private static List<Line> reference(int refreshEvery) {
    return refreshEvery == 0
        ? List.of()
        : List.of(
            new Line(
                "",
                "",
                "the reference: the policy after the last multiple of %d steps"
                    .formatted(refreshEvery)));
  }

  private static Line advantage(AdvantageRule rule, int completions) {
    return switch (rule) {
      case Baseline baseline -> advantage(baseline, completions);
      case AdvantageRule.Own own ->
          new Line("advantage", "A = " + own.name(), "of all rewards and lengths of the step");
    };
  }

  private static Line advantage(Baseline baseline, int completions) {
    String rewards = "r: the rewards of a group of %d".formatted(completions);
    return switch (baseline) {
      case STANDARDISED ->
          new Line(
              "advantage",
              "A = (r - mean(r)) / max(std(r), 1e-6)",
              "%s; std divides by %d".formatted(rewards, completions));
      case STANDARDISED_UNBIASED ->
          new Line(
              "advantage",
              "A = (r - mean(r)) / max(std(r), 1e-6)",
              "%s; std divides by %d".formatted(rewards, completions - 1));
      case CENTRED -> new Line("advantage", "A = r - mean(r)", rewards);
      case MEAN_SCALED ->
          new Line(
              "advantage",
              "A = (r - mean(r)) / max(mean(v), 1/%d)".formatted(completions),
              rewards + "; v: the verifier's, without penalties");
      case LENGTH_WEIGHTED ->
          new Line(
              "advantage",
              "A = r - sum(n r) / sum(n)",
              rewards + "; n: sampled tokens of the completion");
      case STEP_STANDARDISED ->
          new Line(
              "advantage",
              "A = (r - mean(r)) / max(std(r), 1e-6)",
              "r: all rewards of the step; std divides by their number");
      case GROUP_CENTRED_STEP_SCALED ->
          new Line(
              "advantage",
              "A = c / max(std(c), 1e-6), c = r - mean(r)",
              rewards + "; std over all of the step");
      case PARTS_STANDARDISED ->
          new Line(
              "advantage",
              "A = B / max(std(B), 1e-6), B = sum_k w_k (r_k - mean(r_k)) / max(std(r_k), 1e-6)",
              rewards + ", part k by part with its weight; std(B) over all of the step");
      case LEAVE_ONE_OUT ->
          new Line(
              "advantage", "A = r - mean(r of the other %d)".formatted(completions - 1), rewards);
    };
  }

  private static List<Line> ratio(LossSettings s) {
    String sampler = "q: the sampler's probability of the token";
    String start = "p': p at the start of the step";
    return switch (s.objective()) {
      case Objective.Gspo() ->
          List.of(
              new Line("ratio", "rho = exp(1/n_i sum_t log(p / q))", sampler),
              new Line("", "", "one for all n_i trained tokens of sequence i"));
      case Objective.Cispo() -> List.of(new Line("ratio", "rho = p' / q", start + "; " + sampler));
      case Objective.Dppo() -> List.of(new Line("ratio", "rho = p / q", sampler));
      case Objective.Own _ -> List.of();
      case Objective.Gmpo() ->
          List.of(
              new Line("ratio", "rho = exp(1/n_i sum_t x_t)", "x = log(p / q); " + sampler),
              new Line(
                  "",
                  s.clip().active()
                      ? "x_t = min(x, clip(x, -%s, %s)) for A > 0"
                          .formatted(number(s.clip().low()), number(s.clip().high()))
                      : "x_t = x",
                  s.clip().active() ? "max of the two for A <= 0" : ""));
      case Objective.Grpo(),
          Objective.DrGrpo(double _),
          Objective.Dapo(),
          Objective.Sapo(double _, double _) ->
          switch (s.offPolicy().correction()) {
            case Correction.None() -> List.of(new Line("ratio", "rho = p / q", sampler));
            case Correction.TruncatedImportance(double cap) ->
                List.of(
                    new Line("ratio", "rho = p / p'", start + ": 1 in value, never clipped"),
                    new Line(
                        "weight",
                        "w = min(p' / q, %s)".formatted(number(cap)),
                        sampler + "; no gradient"));
            case Correction.IcePop(double low, double high) ->
                List.of(
                    new Line("ratio", "rho = p / p'", start + ": 1 in value, never clipped"),
                    new Line(
                        "weight",
                        "w = p' / q in [%s, %s], else 0".formatted(number(low), number(high)),
                        sampler + "; no gradient"));
            case Correction.Decoupled(double cap, Correction.OverCap over) ->
                List.of(
                    new Line(
                        "proximal",
                        "log p_x = log q + (s-1)/s log(p' / q)",
                        start + "; s: staleness of the token; p_x = q for s = 0"),
                    new Line("ratio", "rho = p / p_x", ""),
                    new Line(
                        "weight",
                        (switch (over) {
                              case MASKED -> "w = p_x / q up to %s, else 0";
                              case TRUNCATED -> "w = min(p_x / q, %s)";
                            })
                            .formatted(number(cap)),
                        sampler + "; no gradient"));
          };
    };
  }

  private static List<Line> mask(SequenceMask mask) {
    String start = "x_t = p' / q, p': p at the start of the step";
    return switch (mask) {
      case SequenceMask.None() -> List.of();
      case SequenceMask.Geometric(double low, double high) ->
          List.of(
              new Line(
                  "mask",
                  "m = 1 if exp(mean_t log x_t) in [%s, %s], else 0"
                      .formatted(number(low), number(high)),
                  start));
      case SequenceMask.Outlier(double low, double high) ->
          List.of(
              new Line(
                  "mask",
                  "m = 1 if all x_t in [%s, %s], else 0".formatted(number(low), number(high)),
                  start));
    };
  }

  private static List<Line> distillation(Distillation distillation) {
    String teacher = "T: the teacher's %d likeliest, sum 1; P: the policy's of these";
    return switch (distillation) {
      case Distillation.None() -> List.of();
      case Distillation.Jsd(double _, double a, int k) when a == 0 ->
          List.of(new Line("distillation", "D = KL(T || P) - 1 + sum P", teacher.formatted(k)));
      case Distillation.Jsd(double _, double a, int k) when a == 1 ->
          List.of(new Line("distillation", "D = KL(P || T) - sum P + 1", teacher.formatted(k)));
      case Distillation.Jsd(double _, double a, int k) ->
          List.of(
              new Line(
                  "distillation",
                  "D = %s KL(T || M) + %s KL(P || M)".formatted(number(a), complement(a)),
                  teacher.formatted(k)),
              new Line("", "M = %s T + %s P".formatted(number(a), complement(a)), ""));
      case Distillation.ForwardKl(double _, int k, boolean discards, PassMark mark) -> {
        List<Line> lines = new ArrayList<>();
        lines.add(new Line("distillation", "D = KL(T || P)", teacher.formatted(k)));
        if (discards) {
          lines.add(
              new Line(
                  "",
                  "",
                  "of completions with r < %s; the others are left out"
                      .formatted(number(mark.reward()))));
        }
        yield lines;
      }
    };
  }

  private static String complement(double share) {
    return plain(BigDecimal.ONE.subtract(BigDecimal.valueOf(share)));
  }

  private static String surrogate(LossSettings s) {
    String clipped =
        "clip(rho, %s, %s)"
            .formatted(
                complement(s.clip().low()),
                plain(BigDecimal.ONE.add(BigDecimal.valueOf(s.clip().high()))));
    if (s.objective() instanceof Objective.Cispo) {
      return (s.clip().active() ? clipped : "rho") + " A log p";
    }
    if (s.objective() instanceof Objective.Own own) {
      return own.name() + "(A, tokens of the sequence)";
    }
    if (s.objective() instanceof Objective.Gmpo) {
      return "rho A";
    }
    if (s.objective() instanceof Objective.Dppo) {
      String capped =
          "rho A, with its gradient at most %s A".formatted(number(Objective.Dppo.MOST_RATIO));
      return s.clip().active()
          ? capped
              + "; 0 where p - q > %s and A > 0, or p - q < -%s and A < 0"
                  .formatted(number(s.clip().high()), number(s.clip().low()))
          : capped;
    }
    if (s.objective() instanceof Objective.Sapo(double positive, double negative)) {
      return "4/t sigmoid(t (rho - 1)) A, t = %s for A > 0, else %s"
          .formatted(number(positive), number(negative));
    }
    String free = s.clip().active() ? "min(rho A, %s A)".formatted(clipped) : "rho A";
    return s.clip().dual() == 0
        ? free
        : free + "; at least %s A where A < 0".formatted(number(s.clip().dual()));
  }

  private static String estimate(KlEstimator estimator) {
    return switch (estimator) {
      case K1 -> "-d";
      case K2 -> "d^2 / 2";
      case K3 -> "exp(d) - d - 1";
    };
  }

  private static String tokenLoss(LossSettings s) {
    List<String> terms = new ArrayList<>();
    if (s.shares().policy() > 0) {
      String gain =
          (s.offPolicy().mask() instanceof SequenceMask.None ? "" : "m ")
              + (s.offPolicy().correction() instanceof Correction.None ? "S" : "w S");
      String own =
          s.penalisesLoss() ? "(%s - %s K)".formatted(gain, number(s.kl().coefficient())) : gain;
      terms.add("-" + times(s.shares().policy(), own));
    }
    switch (s.shares().distillation()) {
      case Distillation.None() -> {}
      case Distillation.Jsd(double c, double _, int _) -> terms.add(times(c, "D"));
      case Distillation.ForwardKl(double c, int _, boolean _, var _) -> terms.add(times(c, "D"));
    }
    String sum = String.join(" + ", terms);
    if (s.rewardsEntropy()) {
      sum += (sum.isEmpty() ? "-" : " - ") + times(s.shares().entropy(), "H");
    }
    return sum.isEmpty() ? "0" : sum;
  }

  private static String times(double factor, String term) {
    return factor == 1 ? term : number(factor) + " " + term;
  }

  private static List<Line> loss(LossSettings s) {
    List<Line> lines = new ArrayList<>();
    String sequences = "N: sequences of the step with a trained token";
    Line byTokens = new Line("loss", "L = 1/n sum_i sum_t l", "n: trained tokens of the step");
    List<Line> bySequences =
        List.of(
            new Line("loss", "L = 1/N sum_i 1/n_i sum_t l", sequences),
            new Line("", "", "n_i: trained tokens of sequence i"));
    switch (s.objective()) {
      case Objective.Grpo(),
          Objective.Gspo(),
          Objective.Gmpo(),
          Objective.Sapo(double _, double _) ->
          lines.addAll(bySequences);
      case Objective.DrGrpo(double constant) ->
          lines.add(
              new Line(
                  "loss", "L = 1/(%s N) sum_i sum_t l".formatted(number(constant)), sequences));
      case Objective.Dapo(), Objective.Cispo(), Objective.Dppo() -> lines.add(byTokens);
      case Objective.Own(String _, LossFunction function) ->
          lines.addAll(
              function.mean() == LossFunction.Mean.TOKENS ? List.of(byTokens) : bySequences);
    }
    if (s.shares().supervised() > 0) {
      lines.add(
          new Line(
              "",
              "  + %s 1/e sum -log p".formatted(number(s.shares().supervised())),
              "over the e tokens of the step's examples, at temperature 1"));
    }
    return lines;
  }

  private static String layOut(List<Line> lines) {
    int width = lines.stream().mapToInt(l -> l.formula.length()).max().orElse(0);
    List<String> text = new ArrayList<>();
    for (Line l : lines) {
      String formula = l.formula + " ".repeat(width - l.formula.length() + 3);
      String label = l.label + " ".repeat(LABEL_WIDTH - l.label.length());
      text.add((label + formula + l.note).stripTrailing());
    }
    return String.join("\n", text);
  }

  private static String number(double value) {
    return plain(BigDecimal.valueOf(value));
  }

  private static String plain(BigDecimal value) {
    return value.stripTrailingZeros().toPlainString();
  }
}
