package io.troupe.core.run.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Rehearsal;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LiveGroupsTest {
  /** First numbers of groups: the tree grows by a level at each power of 16. */
  private static final long[] BEGINNINGS = {
    1, 10, 250, 65_530, (1L << 40) - 8, Long.MAX_VALUE - 90
  };

  /** Any order of changes: every question has the answer that a scan of a plain map gives. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void anySequence_answersAsAScanOfAPlainMapAndLeavesEarlierOnesAlone(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long beginning = BEGINNINGS[random.nextInt(BEGINNINGS.length)];
    TreeMap<GroupId, Group> expected = new TreeMap<>();
    LiveGroups live = LiveGroups.NONE;
    for (int step = 0; step < 150; step++) {
      LiveGroups before = live;
      TreeMap<GroupId, Group> copy = new TreeMap<>(expected);
      GroupId id = new GroupId(beginning + random.nextInt(1 + step / 2));
      switch (random.nextInt(8)) {
        case 0, 1 -> {
          live = live.without(id);
          expected.remove(id);
        }
        case 2 -> {
          List<Group> batch = new ArrayList<>();
          for (Group group : scan(expected, Group.Buffered.class)) {
            GroupSummary summary = ((Group.Buffered) group.stage()).summary();
            batch.add(group.at(new Group.Training(summary)));
          }
          live = live.train(batch);
          batch.forEach(group -> expected.put(group.id(), group));
        }
        case 3 -> {
          live = live.endTraining(List.of());
          expected.values().removeIf(group -> group.stage() instanceof Group.Training);
        }
        default -> {
          Group group = group(id, step, random.nextInt(4));
          live = live.with(group);
          expected.put(id, group);
        }
      }
      assertSame(live, expected);
      assertSame(before, copy);
    }
  }

  private static void assertSame(LiveGroups live, SortedMap<GroupId, Group> expected) {
    assertThat(live).isEqualTo(expected).hasSameSizeAs(expected);
    assertThat(List.copyOf(live.entrySet())).isEqualTo(List.copyOf(expected.entrySet()));
    assertStage(live.waiting(), expected, Group.Waiting.class);
    assertStage(live.leased(), expected, Group.Leased.class);
    assertStage(live.buffered(), expected, Group.Buffered.class);
    assertStage(live.training(), expected, Group.Training.class);
    if (!expected.isEmpty()) {
      assertThat(live.firstKey()).isEqualTo(expected.firstKey());
      assertThat(live.lastKey()).isEqualTo(expected.lastKey());
    }
    assertThat(LiveGroups.of(expected)).isEqualTo(live);
    assertThat(LiveGroups.of(live)).isSameAs(live);
  }

  private static void assertStage(
      Collection<Group> groups, Map<GroupId, Group> all, Class<? extends Group.Stage> stage) {
    List<Group> scanned = scan(all, stage);
    assertThat(List.copyOf(groups)).isEqualTo(scanned);
    assertThat(groups).hasSameSizeAs(scanned);
  }

  private static List<Group> scan(Map<GroupId, Group> all, Class<? extends Group.Stage> stage) {
    return all.values().stream().filter(group -> stage.isInstance(group.stage())).toList();
  }

  private static Group group(GroupId id, int prompt, int stage) {
    Group waiting = Group.admitted(id, prompt, 0);
    LeaseId lease = new LeaseId(id, 1 + prompt);
    GroupSummary summary = Rehearsal.summary(lease, 0, 0, 1);
    return switch (stage) {
      case 0 -> waiting;
      case 1 ->
          waiting.at(
              new Group.Leased(lease, Rehearsal.worker("a"), WeightVersion.BASE, 5, prompt > 9));
      case 2 -> waiting.at(new Group.Buffered(summary));
      default -> waiting.at(new Group.Training(summary));
    };
  }

  @Test
  void lastKey_noGroup_isRefusedAsByEverySortedMap() {
    assertThat(LiveGroups.NONE.get(new GroupId(1))).isNull();
    assertThatThrownBy(LiveGroups.NONE::lastKey).isInstanceOf(NoSuchElementException.class);
    assertThatThrownBy(LiveGroups.NONE::firstKey).isInstanceOf(NoSuchElementException.class);
  }
}
