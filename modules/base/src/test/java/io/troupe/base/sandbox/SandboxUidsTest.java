package io.troupe.base.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SandboxUidsTest {
  /** Ranges of systemd.io/UIDS-GIDS, and of Debian's /etc/subuid. */
  @ParameterizedTest
  @CsvSource({
    "0 0 4294967295, 70000, 70999",
    "0 1000 65536, 60706, 61183",
    "'0 1000 1\n1 100000 65536', 60706, 61183",
    "'0 1000 1\n1 100000 999999', 70000, 70999",
  })
  void of_workers_areOutsideRangesThatOthersHandOut(String map, int least, int most) {
    int[] uids =
        IntStream.range(0, SandboxUids.MOST_WORKERS)
            .map(index -> SandboxUids.of(index, map))
            .toArray();
    assertThat(IntStream.of(uids).min()).hasValue(least);
    assertThat(IntStream.of(uids).max()).hasValue(most);
    for (int uid : uids) {
      assertThat(uid)
          .satisfiesAnyOf(id -> between(id, 60_706, 61_183), id -> between(id, 65_536, 99_999));
      String command =
          String.join(
              " ", SandboxCommand.of(true, Path.of("/usr/bin/python3"), OptionalInt.of(uid)));
      assertThat(command).startsWith("setpriv --reuid=%d --regid=%d ".formatted(uid, uid));
    }
  }

  private static void between(int uid, int least, int most) {
    assertThat(uid).isBetween(least, most);
  }
}
