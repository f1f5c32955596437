package io.troupe.console.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stacks added up. */
final class FlameFrameTest {
  @Test
  void flame_stacksWithACommonStart_shareIt() {
    FlameFrame.Sum sum = new FlameFrame.Sum();
    sum.add(List.of("main", "a"));
    sum.add(List.of("main", "a", "b;c"));
    sum.add(List.of("main", "a", "b;c"));
    sum.add(List.of("other"));
    sum.add(List.of());
    FlameFrame flame = sum.flame("all", 1);
    assertThat(flame.samples()).isEqualTo(5);
    assertThat(flame.children()).extracting(FlameFrame::frame).containsExactly("main", "other");
    assertThat(flame.folded()).isEqualTo("main;a 1\nmain;a;b:c 2\nother 1\n");
    assertThat(sum.flame("all", 2).folded()).isEqualTo("main;a 1\nmain;a;b:c 2\n");
  }

  @Test
  void add_recursionWithoutEnd_isCut() {
    FlameFrame.Sum sum = new FlameFrame.Sum();
    sum.add(Collections.nCopies(10_000, "f"));
    assertThat(sum.flame("all", 1).folded().strip().split(";", -1)).hasSize(120);
  }
}
