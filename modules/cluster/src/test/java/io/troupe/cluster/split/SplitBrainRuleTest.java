package io.troupe.cluster.split;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.split.SplitBrainRule.Action;
import io.troupe.cluster.split.SplitBrainRule.MemberKind;
import io.troupe.cluster.split.SplitBrainRule.MemberView;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SplitBrainRuleTest {
  /** One letter a member, in order of entry: h, n and w, in capitals those that are reachable. */
  private static List<MemberView> members(String letters) {
    List<MemberView> members = new ArrayList<>();
    for (int i = 0; i < letters.length(); i++) {
      char letter = letters.charAt(i);
      MemberKind part =
          switch (Character.toLowerCase(letter)) {
            case 'h' -> MemberKind.COORDINATOR;
            case 'n' -> MemberKind.NODE;
            default -> MemberKind.WORKER;
          };
      members.add(new MemberView(part, Character.isUpperCase(letter), members.size()));
    }
    return members;
  }

  @ParameterizedTest
  @CsvSource({
    "hNWHnw, 3, CLAIM", // coordinator and a node died: a minority is left, and may continue
    "hNWHnw, 1, WAIT",
    "hNWHNH, 5, WAIT", // an older process that can coordinate claims the lease
    "hNWWNWW, 1, LEAVE", // no remaining process can coordinate
    "HNwwNWW, 1, WAIT", // the coordinator decides, which holds the lease
    "HNnhnh, 0, CLAIM", // a coordinator without the lease claims it as well
    "NWnw, 0, REMOVE", // no process can coordinate, and half of the nodes are left
    "NWnw, 1, WAIT",
    "NWnnw, 0, LEAVE"
  })
  void verdict_withoutTheLease(String letters, int self, Action verdict) {
    assertThat(SplitBrainRule.verdict(members(letters), self, false)).isEqualTo(verdict);
  }

  @Test
  void verdict_holdsTheLease_removesHoweverFewAreLeft() {
    assertThat(SplitBrainRule.verdict(members("Hnhnh"), 0, true)).isEqualTo(Action.REMOVE);
  }
}
