package io.troupe.gym.quality;

import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.quality.QualityVerdict.Kept;
import io.troupe.gym.quality.QualityVerdict.Refused;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Decides which rows are trained on. The rules apply in this order, and the first one that a row
 * breaks is its reason: {@code length}, {@code script}, {@code answer}, {@code held_out}, {@code
 * duplicate}, {@code unsolved}, {@code known}, {@code flaky}. A row that is kept counts as known to
 * the rows after it, so that the verdicts depend on the order of rows and on nothing else.
 */
public final class QualityChecker {
  private static final int WORDS = 8;

  /**
   * The findings about a row.
   *
   * @param answerPasses whether the row's own response passes the task's verifier
   * @param agreeing tries of the maker that gave the row's answer
   * @param solved tries of the student that were right
   */
  public record Findings(boolean answerPasses, int agreeing, int solved) {}

  private final QualityRules rules;
  private final Map<String, String> heldOutIds = new HashMap<>();
  private final Map<String, String> knownIds = new HashMap<>();
  private final NgramIndex heldOut = new NgramIndex(WORDS);
  private final NgramIndex known = new NgramIndex(WORDS);
  private final Map<String, String> knownAnswers = new HashMap<>();

  /** A checker that knows no rows yet. */
  public QualityChecker(QualityRules rules, List<GymItem> held) {
    this.rules = rules;
    for (GymItem each : held) {
      heldOutIds.put(each.id(), each.id());
      heldOut.add(each.id(), each.prompt());
    }
  }

  /** Adds a row that is trained on already. */
  public void know(TrainingRow row) {
    knownIds.put(row.item().id(), row.id());
    known.add(row.id(), row.item().prompt());
    knownAnswers.putIfAbsent(normal(row.item().prompt()) + "\n" + row.item().answer(), row.id());
  }

  /** Returns the verdict on what needs no model; empty if the row passes so far. */
  public Optional<Refused> refusedUnasked(TrainingRow row) {
    GymItem item = row.item();
    int both = item.prompt().length() + row.response().length();
    if (item.prompt().length() < rules.shortest()
        || row.response().length() < rules.shortest()
        || both > rules.longest()) {
      return Optional.of(
          new Refused(
              "length",
              "%d characters; quality.shortest is %d of each text and longest %d of both"
                  .formatted(both, rules.shortest(), rules.longest())));
    }
    if (unreadable(item.prompt()) || unreadable(row.response())) {
      return Optional.of(new Refused("script", "control or replacement characters in the text"));
    }
    if (item.answer().isBlank()) {
      return Optional.of(new Refused("answer", "the row has no answer"));
    }
    Optional<String> held =
        Optional.ofNullable(heldOutIds.get(item.id()))
            .or(() -> heldOut.nearest(item.prompt(), rules.similarity()));
    if (held.isPresent()) {
      return Optional.of(new Refused("held_out", "matches the held-out item " + held.get()));
    }
    Optional<String> twin =
        Optional.ofNullable(knownIds.get(item.id()))
            .or(
                () ->
                    Optional.ofNullable(
                        knownAnswers.get(normal(item.prompt()) + "\n" + item.answer())))
            .or(() -> known.nearest(item.prompt(), rules.similarity()));
    return twin.map(id -> new Refused("duplicate", "matches the row " + id));
  }

  /** Returns the verdict on a row, and adds the row if it is kept. */
  public QualityVerdict judge(TrainingRow row, Findings findings) {
    Optional<Refused> refused = refusedUnasked(row).or(() -> refusedAsked(findings));
    if (refused.isPresent()) {
      return refused.get();
    }
    know(row);
    return new Kept();
  }

  private Optional<Refused> refusedAsked(Findings findings) {
    if (!findings.answerPasses()) {
      return Optional.of(
          new Refused("answer", "its own response does not pass the task's verifier"));
    }
    if (findings.agreeing() < rules.agreeing()) {
      return Optional.of(
          new Refused(
              "unsolved",
              "%d of %d tries of the maker gave its answer, and quality.agreeing is %d"
                  .formatted(findings.agreeing(), rules.solves(), rules.agreeing())));
    }
    if (rules.tries() == 0 || findings.solved() == 0) {
      return Optional.empty(); // never solved by the student, and verified by the maker's tries
    }
    double share = (double) findings.solved() / rules.tries();
    if (share > rules.most()) {
      return Optional.of(new Refused("known", tried(findings) + "quality.most is " + rules.most()));
    }
    return share < rules.least()
        ? Optional.of(new Refused("flaky", tried(findings) + "quality.least is " + rules.least()))
        : Optional.empty();
  }

  private String tried(Findings findings) {
    return "the student is right in %d of %d tries, and "
        .formatted(findings.solved(), rules.tries());
  }

  private static boolean unreadable(String text) {
    return text.chars()
        .anyMatch(c -> c == 0xFFFD || (Character.isISOControl(c) && c != '\n' && c != '\t'));
  }

  private static String normal(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("\\s+", " ").strip();
  }
}
