package io.troupe.core.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Rehearsal;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class PendingGroupsTest {
  /** Counts and the sum of fingerprints follow every change as a scan of all groups finds them. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void anySequence_countsAndFingerprintAreThoseOfAScan(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    TreeMap<GroupId, AuditedGroup> expected = new TreeMap<>();
    PendingGroups pending = new PendingGroups();
    for (int step = 0; step < 200; step++) {
      GroupId id = new GroupId(1 + random.nextInt(40));
      if (random.nextInt(3) == 0) {
        assertThat(pending.remove(id).orElse(null)).isEqualTo(expected.remove(id));
      } else {
        AuditedGroup group = new AuditedGroup(id, step, step % 3, step % 5, stage(id, random));
        assertThat(pending.put(group).orElse(null)).isEqualTo(expected.put(id, group));
      }
      assertThat(pending.fingerprint())
          .isEqualTo(expected.values().stream().mapToLong(AuditedGroup::fingerprint).sum());
      assertThat(pending.size()).isEqualTo(expected.size());
      assertThat(pending.all()).containsExactlyInAnyOrderElementsOf(expected.values());
      assertStage(pending, expected, AuditedGroup.Waiting.class);
      assertStage(pending, expected, AuditedGroup.Leased.class);
      assertStage(pending, expected, AuditedGroup.Buffered.class);
      assertStage(pending, expected, AuditedGroup.Training.class);
    }
    pending.clear();
    assertThat(pending.fingerprint()).isZero();
    assertThat(pending.count(AuditedGroup.Leased.class)).isZero();
  }

  private static void assertStage(
      PendingGroups pending,
      SortedMap<GroupId, AuditedGroup> all,
      Class<? extends AuditedGroup.Stage> stage) {
    List<AuditedGroup> scanned =
        all.values().stream().filter(group -> stage.isInstance(group.place())).toList();
    assertThat(pending.in(stage)).isEqualTo(scanned);
    assertThat(pending.count(stage)).isEqualTo(scanned.size());
  }

  private static AuditedGroup.Stage stage(GroupId id, SplittableRandom random) {
    LeaseId lease = new LeaseId(id, 1 + random.nextInt(100));
    GroupSummary summary = Rehearsal.summary(lease, random.nextInt(9), random.nextDouble(), 1);
    return switch (random.nextInt(4)) {
      case 0 -> new AuditedGroup.Waiting();
      case 1 -> new AuditedGroup.Leased(lease, new WorkerId("a"), WeightVersion.BASE);
      case 2 -> new AuditedGroup.Buffered(summary, 0);
      default -> new AuditedGroup.Training(summary, 0);
    };
  }
}
