package io.troupe.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class PersistentMapTest {
  @Test
  void anySequence_equalsTreeMapAndLeavesEarlierOnesAlone() {
    for (long seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      TreeMap<Integer, Integer> expected = new TreeMap<>();
      PersistentMap<Integer, Integer> map = PersistentMap.empty();
      for (int step = 0; step < 200; step++) {
        PersistentMap<Integer, Integer> before = map;
        Map<Integer, Integer> copy = Map.copyOf(before);
        int key = random.nextInt(40);
        if (random.nextInt(3) == 0) {
          map = map.without(key);
          expected.remove(key);
        } else {
          map = map.with(key, step);
          expected.put(key, step);
        }
        assertThat(map)
            .as("seed %d, step %d", seed, step)
            .isEqualTo(expected)
            .hasSameSizeAs(expected);
        assertThat(before).as("seed %d, step %d: the one before", seed, step).isEqualTo(copy);
      }
      assertThat(List.copyOf(map.entrySet())).isEqualTo(List.copyOf(expected.entrySet()));
      if (!expected.isEmpty()) {
        assertThat(map.firstKey()).isEqualTo(expected.firstKey());
        assertThat(map.lastKey()).isEqualTo(expected.lastKey());
        assertThat(map.headMap(20)).isEqualTo(expected.headMap(20));
        assertThat(map.tailMap(20)).isEqualTo(expected.tailMap(20));
      }
      assertThat(map.get(99)).isNull();
    }
  }

  @Test
  void with_ascendingKeys_staysShallow() {
    PersistentMap<Integer, Integer> map = PersistentMap.empty();
    for (int key = 0; key < 100_000; key++) {
      map = map.with(key, key);
    }
    // 1.44 log2(100,000) = 23.9, the bound of an AVL tree.
    assertThat(map.height()).isLessThanOrEqualTo(24);
    for (int key = 0; key < 99_999; key++) {
      map = map.without(key);
    }
    assertThat(map).isEqualTo(Map.of(99_999, 99_999));
    assertThat(map.height()).isEqualTo(1);
  }

  @Test
  void clear_isRefused() {
    PersistentMap<Integer, Integer> one = PersistentMap.<Integer, Integer>empty().with(1, 1);
    assertThatThrownBy(one::clear).isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> one.put(2, 2)).isInstanceOf(UnsupportedOperationException.class);
  }
}
