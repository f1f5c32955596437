package io.troupe.core.train;

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
   * @return lines separated by newlines, without one at the end
   */
  public static String describe(LossSettings s, int completions, long maxStaleness) {
    List<Line> lines = new ArrayList<>();
    lines.add(
        new Line(
            "policy",
            "p = softmax(logits / %s)".formatted(number(s.temperature())),
            "the trainer's, of the sampled token; carries the gradient"));
    lines.add(advantage(s.objective(), completions));
    lines.addAll(ratio(s.correction()));
    lines.add(new Line("surrogate", "S = " + surrogate(s), ""));
    if (s.klCoefficient() > 0) {
      lines.add(
          new Line(
              "KL penalty",
              "K = " + estimate(s.klEstimator()),
              "d = log p_ref - log p; p_ref: by the reference (v0)"));
    }
    lines.add(new Line("token loss", "l = " + tokenLoss(s), ""));
    lines.addAll(loss(s.objective()));
    lines.add(
        new Line(
            "trained",
            "staleness <= %d".formatted(maxStaleness),
            "an older token is in no sum and no count"));
    return layOut(lines);
  }

  private static Line advantage(Objective objective, int completions) {
    String rewards = "r: the rewards of a group of %d".formatted(completions);
    return switch (objective) {
      case Objective.Grpo(), Objective.Dapo() ->
          new Line(
              "advantage",
              "A = (r - mean(r)) / max(std(r), 1e-6)",
              "%s; std divides by %d".formatted(rewards, completions));
      case Objective.DrGrpo(double _) -> new Line("advantage", "A = r - mean(r)", rewards);
    };
  }

  private static List<Line> ratio(Correction correction) {
    String sampler = "q: the sampler's probability of the token";
    return switch (correction) {
      case Correction.None() -> List.of(new Line("ratio", "rho = p / q", sampler));
      case Correction.TruncatedImportance(double cap) ->
          List.of(
              new Line("ratio", "rho = p / p'", "p': p at the start of the step"),
              new Line(
                  "weight",
                  "w = min(p' / q, %s)".formatted(number(cap)),
                  sampler + "; no gradient"));
    };
  }

  private static String surrogate(LossSettings s) {
    if (!s.clips()) {
      return "rho A";
    }
    BigDecimal low = BigDecimal.ONE.subtract(BigDecimal.valueOf(s.clipLow()));
    BigDecimal high = BigDecimal.ONE.add(BigDecimal.valueOf(s.clipHigh()));
    return "min(rho A, clip(rho, %s, %s) A)".formatted(plain(low), plain(high));
  }

  private static String estimate(KlEstimator estimator) {
    return switch (estimator) {
      case K1 -> "-d";
      case K2 -> "d^2 / 2";
      case K3 -> "exp(d) - d - 1";
    };
  }

  private static String tokenLoss(LossSettings s) {
    String gain =
        switch (s.correction()) {
          case Correction.None() -> "S";
          case Correction.TruncatedImportance(double _) -> "w S";
        };
    return s.klCoefficient() > 0
        ? "-(%s - %s K)".formatted(gain, number(s.klCoefficient()))
        : "-" + gain;
  }

  private static List<Line> loss(Objective objective) {
    String sequences = "N: sequences of the step with a trained token";
    return switch (objective) {
      case Objective.Grpo() ->
          List.of(
              new Line("loss", "L = 1/N sum_i 1/n_i sum_t l", sequences),
              new Line("", "", "n_i: trained tokens of sequence i"));
      case Objective.DrGrpo(double constant) ->
          List.of(
              new Line(
                  "loss", "L = 1/(%s N) sum_i sum_t l".formatted(number(constant)), sequences));
      case Objective.Dapo() ->
          List.of(new Line("loss", "L = 1/n sum_i sum_t l", "n: trained tokens of the step"));
    };
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
