package io.troupe.runtime.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.runtime.FailureCause;
import io.troupe.runtime.rollout.VerdictSummary;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The conversions of prompts and verdicts on their way. */
class PromptPoolTest {
  @Test
  void assignment_samePromptAndEpoch_drawsTheSameUnderAnyLease() {
    PromptPool pool = Toys.pool();
    assertThat(pool.assignment(Toys.lease(9, 9), 5, 2, 0).seed())
        .isEqualTo(pool.assignment(Toys.lease(1, 1), 5, 2, 0).seed());
    assertThat(pool.assignment(Toys.lease(1, 1), 5, 2, 0).prompt()).isEqualTo(pool.prompt(5));
    assertThat(pool.assignment(Toys.lease(1, 1), 5, 2, 0).tokens()).isSameAs(pool.tokens(5));
  }

  @Test
  void assignment_otherPromptEpochOrRun_drawsAnew() {
    Set<Long> seeds = new HashSet<>();
    for (long run = 0; run < 4; run++) {
      PromptPool pool = new PromptPool(Toys.prompts(), Toys.policy().tokenizer(), run);
      for (int prompt = 0; prompt < 100; prompt++) {
        for (long epoch = 0; epoch < 4; epoch++) {
          seeds.add(pool.assignment(Toys.lease(1, 1), prompt, epoch, 0).seed());
        }
      }
    }
    assertThat(seeds).hasSize(4 * 100 * 4);
  }

  @Test
  void assignment_groupDrawnBefore_drawsOtherTokensEachTime() {
    PromptPool pool = Toys.pool();
    Set<Long> seeds = new HashSet<>();
    for (int prompt = 0; prompt < 100; prompt++) {
      for (long epoch = 0; epoch < 4; epoch++) {
        for (int draws = 0; draws < 4; draws++) {
          seeds.add(pool.assignment(Toys.lease(1, 1), prompt, epoch, draws).seed());
        }
      }
    }
    assertThat(seeds).hasSize(100 * 4 * 4);
    assertThat(pool.assignment(Toys.lease(9, 9), 5, 2, 3).seed())
        .isEqualTo(pool.assignment(Toys.lease(1, 1), 5, 2, 3).seed());
  }

  @Test
  void pool_promptThatCannotBeEncoded_isNamed() {
    Prompt strange = new Prompt(new PromptId("strange"), "toy", "1-1=", "0", "0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PromptPool(List.of(strange), Toys.policy().tokenizer(), 1))
        .withMessageStartingWith("prompt strange: character '-'");
  }

  @Test
  void longest_pool_isInTokens() {
    assertThat(Toys.pool().longest()).isEqualTo(4);
    assertThat(Toys.pool().size()).isEqualTo(100);
    assertThat(new PromptPool(List.of(), Toys.policy().tokenizer(), 1).longest()).isZero();
  }

  @Test
  void verdicts_mixed_giveRewardsAndTheFirstObstacle() {
    List<Verdict> verdicts =
        List.of(
            new Verdict.Scored(0.5, "", ""),
            new Verdict.Unverifiable(Verdict.Cause.CRASH, "first"),
            new Verdict.Scored(1, "", ""),
            new Verdict.Unverifiable(Verdict.Cause.CRASH, "second"));
    assertThat(VerdictSummary.rewards(verdicts)).containsExactly(0.5, 1.0);
    assertThat(VerdictSummary.firstObstacle(verdicts)).isEqualTo("first");
  }

  @Test
  void causes_wrappedByFutures_areUnwrapped() {
    Throwable disk = new IllegalStateException("disk full");
    assertThat(FailureCause.message(new CompletionException(new CompletionException(disk))))
        .isEqualTo("disk full");
    assertThat(FailureCause.message(new IllegalStateException(" ")))
        .isEqualTo("IllegalStateException");
    assertThat(FailureCause.message(new IllegalStateException()))
        .isEqualTo("IllegalStateException");
  }
}
