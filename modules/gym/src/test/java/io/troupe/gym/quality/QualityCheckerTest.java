package io.troupe.gym.quality;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.quality.QualityChecker.Findings;
import io.troupe.gym.quality.QualityVerdict.Kept;
import io.troupe.gym.quality.QualityVerdict.Refused;
import java.util.List;
import org.junit.jupiter.api.Test;

class QualityCheckerTest {
  private static final QualityRules RULES = new QualityRules(2, 2, 8, 0.25, 0.75, 0.7, 2, 400);
  private static final GymItem HELD =
      new GymItem(
          "held-7",
          "algebra",
          "",
          "A train leaves the station at nine and travels for three hours at sixty miles an hour."
              + " How far does it go?",
          "180");
  private static final Findings GOOD = new Findings(true, 2, 4);

  private final QualityChecker checker = new QualityChecker(RULES, List.of(HELD));

  private static TrainingRow row(String id, String prompt, String answer) {
    return new TrainingRow(
        id, new GymItem(id, "algebra", "", prompt, answer), "So the answer is " + answer);
  }

  @Test
  void judge_aSoundRow_isKept() {
    assertThat(checker.judge(row("r1", "What is two plus three?", "5"), GOOD))
        .isEqualTo(new Kept());
  }

  @Test
  void judge_nearlyAHeldOutItem_isRefusedAndNamesIt() {
    TrainingRow copied =
        row(
            "r1",
            "a TRAIN leaves the station at nine, and travels for three hours at sixty miles an"
                + " hour -- how far does it go",
            "180");

    assertThat(checker.judge(copied, GOOD))
        .isEqualTo(new Refused("held_out", "matches the held-out item held-7"));
  }

  @Test
  void judge_theSameRowTwice_isADuplicateOfTheFirst() {
    QualityVerdict first = checker.judge(row("r1", "What is two plus three?", "5"), GOOD);
    QualityVerdict second = checker.judge(row("r2", "what is  two plus three?", "5"), GOOD);

    assertThat(first).isEqualTo(new Kept());
    assertThat(second).isEqualTo(new Refused("duplicate", "matches the row r1"));
  }

  @Test
  void judge_aRefusedRow_isNoTwinOfALaterOne() {
    QualityVerdict unsolved =
        checker.judge(row("r1", "What is two plus three?", "5"), new Findings(true, 1, 0));
    QualityVerdict later = checker.judge(row("r2", "What is two plus three?", "5"), GOOD);

    assertThat(unsolved)
        .isEqualTo(
            new Refused(
                "unsolved",
                "1 of 2 tries of the maker gave its answer, and quality.agreeing is 2"));
    assertThat(later).isEqualTo(new Kept());
  }

  @Test
  void judge_byTheStudentsTries_keepsTheBandAndWhatItNeverSolves() {
    assertThat(verdict("r0", 0)).isEqualTo(new Kept());
    assertThat(verdict("r1", 1)).extracting("reason").isEqualTo("flaky");
    assertThat(verdict("r2", 2)).isEqualTo(new Kept());
    assertThat(verdict("r6", 6)).isEqualTo(new Kept());
    assertThat(verdict("r7", 7)).extracting("reason").isEqualTo("known");
  }

  private QualityVerdict verdict(String id, int solved) {
    return checker.judge(
        row(id, "A question of its own, number " + id, "7"), new Findings(true, 2, solved));
  }

  @Test
  void judge_whatBreaksABound_isRefused() {
    assertThat(checker.judge(row("r1", "x".repeat(401), "5"), GOOD))
        .extracting("reason")
        .isEqualTo("length");
    assertThat(checker.judge(row("r2", "What is\u0007 this?", "5"), GOOD))
        .extracting("reason")
        .isEqualTo("script");
    assertThat(checker.judge(row("r3", "What is this?", " "), GOOD))
        .isEqualTo(new Refused("answer", "the row has no answer"));
    assertThat(checker.judge(row("r4", "What is this?", "5"), new Findings(false, 2, 4)))
        .isEqualTo(new Refused("answer", "its own response does not pass the task's verifier"));
  }

  @Test
  void nearest_textsOfFewWords_areComparedWhole() {
    NgramIndex index = new NgramIndex(8);
    index.add("a", "07+45=");

    assertThat(index.nearest("07+45=", 1)).contains("a");
    assertThat(index.nearest("07-45=", 0.1)).isEmpty();
  }
}
