package io.troupe.telemetry.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.core.run.group.LeaseEndReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LossReasonsTest {
  private static final String RULE =
      "the verifier's answer breaks a rule: \"reward\" must be a finite number, not NaN";

  private final LossReasons losses = new LossReasons();
  private final List<String> said = new ArrayList<>();

  private void end(LeaseEndReason reason, String detail) {
    event(new Event.LeaseEnded(new LeaseId(new GroupId(1), 1), reason, detail));
  }

  private void event(GroupEvent.Requeued event) {
    losses.requeued(event).ifPresent(said::add);
  }

  @Test
  void sentence_losses_areFoldedWithTheMostFrequentFirst() {
    end(LeaseEndReason.EXPIRED, "w3 did not answer within 1000 ms");
    end(LeaseEndReason.FAILED, RULE);
    end(LeaseEndReason.EXPIRED, "w12 did not answer within 1000 ms");
    end(LeaseEndReason.EXPIRED, "w3 did not answer within 1000 ms");
    end(LeaseEndReason.CANCELLED, "ordered by me");
    event(new Event.GroupStale(new LeaseId(new GroupId(1), 1)));

    assertThat(losses.sentence())
        .contains("4 groups: 3 expired: w3 did not answer within 1000 ms; 1 failed: " + RULE);
    assertThat(losses.asMap())
        .containsEntry("failed: " + RULE, 1L)
        .containsEntry("cancelled", 1L)
        .containsEntry("stale", 1L);
  }

  @Test
  void sentence_nothingLost_isEmpty() {
    end(LeaseEndReason.CANCELLED, "");

    assertThat(losses.sentence()).isEmpty();
    assertThat(said).isEmpty();
  }

  @Test
  void event_reasonThatRepeats_isSaidWithPowersOfTen() {
    for (int i = 1; i <= 120; i++) {
      end(LeaseEndReason.ENGINE_FAILED, "out of memory at token " + i);
    }

    assertThat(said)
        .containsExactly(
            "a group was lost, engine failed: out of memory at token 1",
            "10 groups were lost so far, engine failed: out of memory at token 1",
            "100 groups were lost so far, engine failed: out of memory at token 1");
  }

  @Test
  void event_manyLongReasons_areBounded() {
    for (int i = 0; i < 1000; i++) {
      end(LeaseEndReason.FAILED, Character.toString('a' + i) + "x\n".repeat(1000) + "end");
    }

    assertThat(losses.asMap()).hasSize(31).containsEntry("other reasons", 970L);
    assertThat(losses.sentence().orElseThrow())
        .hasSizeLessThan(10_000)
        .doesNotContain("\n")
        .contains("end; ");
  }
}
