package io.troupe.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.net.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KnownMembersTest {
  private static final HostPort ONE = new HostPort("10.0.0.1", 7400);
  private static final HostPort TWO = new HostPort("node2.lan", 41_001);

  @TempDir private Path folder;

  @Test
  void in_fileOfAnEarlierLife_remembersWhoWasMetLastFirst() throws IOException {
    Path file = folder.resolve("a").resolve("members");
    KnownMembers known = KnownMembers.in(file);
    assertThat(known.all()).isEmpty();
    known.add(ONE);
    known.add(TWO);
    known.add(ONE);
    assertThat(KnownMembers.in(file).all()).containsExactly(ONE, TWO);
    known.remove(TWO);
    Files.writeString(file, Files.readString(file) + "half a li");
    assertThat(KnownMembers.in(file).all()).containsExactly(ONE);
  }

  @Test
  void met_manyMembers_keepsTheLatest() throws IOException {
    KnownMembers known = KnownMembers.in(folder.resolve("members"));
    for (int port = 1; port <= 100; port++) {
      known.add(new HostPort("h", port));
    }
    assertThat(known.all()).hasSize(32).startsWith(new HostPort("h", 100));
  }

  @Test
  void seeds_rememberedThatAreGivenToo_areAskedOnce() {
    SeedNodes seeds = new SeedNodes(List.of(ONE), List.of(TWO, ONE));
    assertThat(seeds.all()).containsExactly(ONE, TWO);
    assertThat(seeds.isEmpty()).isFalse();
  }
}
