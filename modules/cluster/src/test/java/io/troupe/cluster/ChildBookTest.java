package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.ChildBook.Ended;
import io.troupe.cluster.ChildBook.Fate;
import io.troupe.cluster.ChildBook.Mustered;
import io.troupe.core.restart.Restarts;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ChildBookTest {
  private static final Path LOG = Path.of("log");
  private static final ChildSpec WORKER = child("w", "0");
  private static final ChildSpec STANDBY = child("head", "");
  private static final ChildBook BOTH = ChildBook.EMPTY.started(WORKER).started(STANDBY);

  private static ChildSpec child(String name, String gpus) {
    return new ChildSpec(name, List.of("troupe"), Map.of("CUDA_VISIBLE_DEVICES", gpus), LOG, LOG);
  }

  @Test
  void mustered_aStandbyOfASpare_isReplacedByOneWithTheSeatsGpus() {
    ChildSpec seated = child("head", "1");
    Mustered mustered = ChildBook.EMPTY.started(STANDBY).mustered(List.of(WORKER, seated));
    assertThat(mustered.starts()).containsExactly(WORKER);
    assertThat(mustered.outdated()).containsExactly("head");

    Ended ended = mustered.book().ended("head", 0, 0);
    assertThat(ended.fate()).isEqualTo(new Fate.Replaced(seated));
    assertThat(ended.book()).isEqualTo(ChildBook.EMPTY);
  }

  @Test
  void mustered_theSameAgain_leavesThemAlone() {
    Mustered changed = BOTH.mustered(List.of(WORKER, child("head", "1")));
    Mustered back = changed.book().mustered(List.of(WORKER, STANDBY));
    assertThat(back.starts()).isEmpty();
    assertThat(back.outdated()).isEmpty();
    assertThat(back.book()).isEqualTo(BOTH);
  }

  @Test
  void release_allButTheHead_isClearedWithTheLastOfThem() {
    ChildSpec other = child("w2", "1");
    ChildBook released = BOTH.started(other).release(Set.of("head"));
    assertThat(released.released()).containsExactlyInAnyOrder("w", "w2");

    Ended first = released.ended("w", 1, 0);
    assertThat(first.fate()).isEqualTo(new Fate.Over());
    Ended last = first.book().ended("w2", 0, 0);
    assertThat(last.fate()).isEqualTo(new Fate.Cleared());
    assertThat(last.book()).isEqualTo(ChildBook.EMPTY.started(STANDBY));
  }

  @Test
  void ended_early_isStartedAgainAndRestsOnceItEndsTooOften() {
    Ended ended = BOTH.ended("w", 1, 0);
    assertThat(ended.fate()).isEqualTo(new Fate.Again(1_000));
    for (int i = 1; i < Restarts.Policy.DEFAULT.most(); i++) {
      ended = ended.book().started(WORKER).ended("w", 1, i);
    }
    assertThat(ended.fate()).isEqualTo(new Fate.Resting(5, 300_000));
    assertThat(ended.book().allRest()).isFalse(); // The other one runs.
    assertThat(ended.book().ended("head", 0, 6).book().allRest()).isTrue();
    assertThat(ended.book().started(WORKER).allRest()).isFalse();
    assertThat(ended.book().started(WORKER).ended("w", 0, 9).fate()).isEqualTo(new Fate.Over());
  }
}
