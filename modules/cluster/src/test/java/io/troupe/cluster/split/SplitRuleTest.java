package io.troupe.cluster.split;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.split.SplitRule.Part;
import io.troupe.cluster.split.SplitRule.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SplitRuleTest {
  /** One letter a member, in order of entry: h, n and w, in capitals those that are reachable. */
  private static List<Seen> members(String letters) {
    List<Seen> members = new ArrayList<>();
    for (int i = 0; i < letters.length(); i++) {
      char letter = letters.charAt(i);
      Part part =
          switch (Character.toLowerCase(letter)) {
            case 'h' -> Part.HEAD;
            case 'n' -> Part.NODE;
            default -> Part.WORKER;
          };
      members.add(new Seen(part, Character.isUpperCase(letter), members.size()));
    }
    return members;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hNWWHNWW", // the head died, another can take its place
        "HnwwNWW", // a node died
        "Hnwww", // all nodes died, and only the head is left
        "HNWWnhww", // the node with the standby died: a tie, which the head wins
        "hnNHNH", // the head's host of three died
        "HNnhNH", // another of the three died
        "NWnw" // there is no head at all, and half of the nodes are left
      })
  void goesOn_yes(String letters) {
    assertThat(SplitRule.goesOn(members(letters))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hNWWNWW", // nobody left could be head
        "HNnhnh", // the head's host of three is cut off
        "hnhN", // a node alone
        "hnNHnh" // one of the three hosts is cut off
      })
  void goesOn_no(String letters) {
    assertThat(SplitRule.goesOn(members(letters))).isFalse();
  }

  @Test
  void goesOn_anySplitWithAHead_isTrueOnExactlyOneSide() {
    long seed = 20;
    Random random = new Random(seed);
    for (int trial = 0; trial < 200; trial++) {
      List<Seen> one = new ArrayList<>();
      one.add(new Seen(Part.HEAD, random.nextBoolean(), 0));
      for (int i = 1; i < 1 + random.nextInt(9); i++) {
        one.add(new Seen(anyPart(random), random.nextBoolean(), i));
      }
      List<Seen> other =
          one.stream().map(seen -> new Seen(seen.part(), !seen.reachable(), seen.age())).toList();
      assertThat(SplitRule.goesOn(one))
          .as("seed %d, trial %d, %s", seed, trial, one)
          .isNotEqualTo(SplitRule.goesOn(other));
    }
  }

  private static Part anyPart(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> Part.HEAD;
      case 1 -> Part.NODE;
      default -> Part.WORKER;
    };
  }
}
