package io.troupe.store.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.JournalException;
import io.troupe.store.journal.ChildJvm;
import io.troupe.store.journal.Journals;
import io.troupe.store.journal.MemoryDisk;
import io.troupe.testkit.Meanwhile;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CheckpointsTest {
  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  /** The files of checkpoint {@code step} in these tests. */
  static void write(long step, Path directory) throws IOException {
    Random random = new Random(step);
    byte[] weights = new byte[5000];
    random.nextBytes(weights);
    Files.write(directory.resolve("model.safetensors"), weights);
    Files.createDirectory(directory.resolve("optimizer"));
    Files.write(directory.resolve("optimizer").resolve("state.bin"), new byte[(int) step + 1]);
    Files.writeString(directory.resolve("state.json"), "{\"step\":%d}".formatted(step));
  }

  private static Checkpoint save(Checkpoints checkpoints, long step) throws IOException {
    return checkpoints.save(step, directory -> write(step, directory));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> paths = Files.list(folder)) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private static List<Long> steps(CheckpointListing listing) {
    return listing.whole().stream().map(Checkpoint::step).toList();
  }

  @Test
  void save_ofAProcessThatIsFenced_replacesAndDeletesNothing() throws IOException {
    Checkpoints successor = Checkpoints.open(folder);
    Checkpoint theirs = save(successor, 3);
    save(successor, 2);
    Checkpoints fenced =
        Checkpoints.open(
            folder,
            () -> {
              throw new JournalException.Fenced("the run belongs to another process");
            });
    assertThatThrownBy(() -> save(fenced, 3)).isInstanceOf(JournalException.Fenced.class);
    assertThatThrownBy(() -> save(fenced, 4)).isInstanceOf(JournalException.Fenced.class);
    assertThatThrownBy(() -> fenced.keepLast(1)).isInstanceOf(JournalException.Fenced.class);
    assertThat(names()).containsExactly("step2", "step3");
    assertThat(successor.verify().newest().orElseThrow().manifest()).isEqualTo(theirs.manifest());
  }

  @Test
  void save_whole_isListedWithSizesAndDigests() throws IOException {
    Clock clock = Clock.fixed(Instant.parse("2026-11-21T14:02:11Z"), ZoneOffset.UTC);
    Checkpoint saved = save(Checkpoints.open(folder, clock), 3);
    assertThat(saved.directory()).isEqualTo(folder.resolve("step3"));
    assertThat(saved.manifest().created()).isEqualTo("2026-11-21T14:02:11Z");
    assertThat(saved.manifest().files())
        .extracting(CheckpointManifest.Entry::path)
        .containsExactly("model.safetensors", "optimizer/state.bin", "state.json");
    assertThat(saved.manifest().files().getLast())
        .isEqualTo(
            new CheckpointManifest.Entry(
                "state.json",
                10,
                "f2c76473acac2fa2146cd9615b918e8ae33033c5a78dd320338b04ac6fa438ab"));
    assertThat(names()).containsExactly("step3");
    assertThat(Checkpoints.view(folder).verify().newest()).contains(saved);
  }

  @Test
  void list_manySteps_newestIsGreatestStepNotLastWritten() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    for (long step : new long[] {9, 100, 20, 0}) {
      save(checkpoints, step);
    }
    assertThat(steps(checkpoints.list())).containsExactly(100L, 20L, 9L, 0L);
  }

  @Test
  void list_whileCheckpointsAreReplacedAndDeleted_callsNoneBroken() throws Exception {
    Checkpoints checkpoints = Checkpoints.open(folder);
    Meanwhile.look(
        () -> {
          for (int i = 0; i < 300; i++) {
            byte[] content = new byte[i];
            for (long step : new long[] {1, 2 + i}) {
              checkpoints.save(step, directory -> Files.write(directory.resolve("file"), content));
            }
            checkpoints.keepLast(1);
          }
          return null;
        },
        () -> assertThat(Checkpoints.view(folder).list().broken()).isEmpty());
  }

  @Test
  void save_writerFails_leavesOthersAndNoTrace() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    save(checkpoints, 1);
    assertThatThrownBy(
            () ->
                checkpoints.save(
                    2,
                    directory -> {
                      Files.write(directory.resolve("half"), new byte[123]);
                      throw new IOException("No space left on device");
                    }))
        .isInstanceOf(DiskFailureException.class)
        .hasMessageContaining("cannot write checkpoint step2 (123 bytes so far): ")
        .hasMessageContaining("No space left on device")
        .hasMessageMatching(".* \\d+ bytes free at .*");
    assertThatThrownBy(
            () ->
                checkpoints.save(
                    2,
                    directory -> {
                      throw new IllegalStateException("engine");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(names()).containsExactly("step1");
    assertThat(checkpoints.verify().newest().orElseThrow().step()).isEqualTo(1);
  }

  @Test
  void save_stepExists_replacesItAndKeepsItsMark() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    save(checkpoints, 1);
    checkpoints.keep(1);
    checkpoints.save(1, directory -> Files.writeString(directory.resolve("new"), "x"));
    save(checkpoints, 2);
    assertThat(checkpoints.keepLast(1)).isEmpty();
    assertThat(names()).containsExactly("step1", "step2");
    assertThat(checkpoints.list().whole().getLast().manifest().files())
        .extracting(CheckpointManifest.Entry::path)
        .containsExactly("new");
  }

  @Test
  void save_replacementFails_keepsTheEarlierOne() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    Checkpoint first = save(checkpoints, 1);
    assertThatThrownBy(
            () ->
                checkpoints.save(
                    1,
                    directory -> {
                      throw new IOException("No space left on device");
                    }))
        .isInstanceOf(DiskFailureException.class);
    assertThat(checkpoints.verify().newest()).contains(first);
  }

  @Test
  void save_writerLeavesALink_isRefused() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    assertThatThrownBy(
            () ->
                checkpoints.save(
                    1,
                    directory ->
                        Files.createSymbolicLink(directory.resolve("link"), Path.of("/tmp"))))
        .hasMessageContaining("plain files and folders only");
    assertThat(names()).isEmpty();
  }

  @Test
  void list_damagedLater_isReportedWithReasonAndLeftAlone() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    for (int step = 1; step <= 6; step++) {
      save(checkpoints, step);
    }
    Journals.truncate(folder.resolve("step6/model.safetensors"), 4999);
    Files.delete(folder.resolve("step5/optimizer/state.bin"));
    Files.delete(folder.resolve("step4/manifest.json"));
    Journals.truncate(folder.resolve("step3/manifest.json"), 50);
    CheckpointListing listing = Checkpoints.open(folder).list();
    assertThat(steps(listing)).containsExactly(2L, 1L);
    assertThat(listing.broken())
        .extracting(CheckpointListing.Broken::step)
        .containsExactly(6L, 5L, 4L, 3L);
    assertThat(listing.broken().get(0).reason())
        .isEqualTo("model.safetensors has 4999 bytes instead of 5000");
    assertThat(listing.broken().get(1).reason()).isEqualTo("optimizer/state.bin is missing");
    assertThat(listing.broken().get(2).reason()).startsWith("manifest.json cannot be read: ");
    assertThat(listing.broken().get(3).reason()).startsWith("manifest.json cannot be read: ");
    assertThat(names()).hasSize(6);
  }

  @Test
  void verify_contentChanged_fallsBackToTheNextWholeOne() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    save(checkpoints, 1);
    save(checkpoints, 2);
    Journals.flip(folder.resolve("step2/model.safetensors"), 77, 4);
    assertThat(steps(checkpoints.list())).containsExactly(2L, 1L);
    CheckpointListing verified = checkpoints.verify();
    assertThat(steps(verified)).containsExactly(1L);
    assertThat(verified.broken().getFirst().reason()).startsWith("model.safetensors has sha-256 ");
  }

  @Test
  void keepLast_several_deletesOldOnesButMarkedAndBroken() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    for (int step = 1; step <= 6; step++) {
      save(checkpoints, step);
    }
    checkpoints.keep(2);
    Files.delete(folder.resolve("step6/manifest.json"));
    assertThat(checkpoints.keepLast(2)).containsExactly(3L, 1L);
    assertThat(names()).containsExactly("step2", "step4", "step5", "step6");
  }

  @Test
  void open_leftovers_areRemovedAndAnInterruptedReplacementIsUndone() throws IOException {
    Checkpoints checkpoints = Checkpoints.open(folder);
    save(checkpoints, 1);
    Files.move(folder.resolve("step1"), folder.resolve(".step1.old-0123abcd"));
    Files.createDirectories(folder.resolve(".step1.tmp-0123abcd/deep/er"));
    Files.write(folder.resolve(".step1.tmp-0123abcd/deep/file"), new byte[3]);
    Files.createDirectory(folder.resolve(".step9.del-0123abcd"));
    Files.createDirectory(folder.resolve("notes"));
    assertThat(steps(Checkpoints.view(folder).list())).isEmpty();
    assertThat(names()).hasSize(4);
    assertThat(steps(Checkpoints.open(folder).verify())).containsExactly(1L);
    assertThat(names()).containsExactly("notes", "step1");
  }

  /** A directory cut short anywhere is never taken for a whole checkpoint. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void open_killedAtRandomMoment_findsOnlyWholeCheckpoints(long seed) throws IOException {
    Random random = new Random(seed);
    Checkpoints checkpoints = Checkpoints.open(folder);
    save(checkpoints, 1);
    save(checkpoints, 2);
    Path whole = folder.resolve("step2");
    // What a kill leaves: the first few files, the last of them cut off, under the hidden name.
    Path partial = Files.createDirectory(folder.resolve(".step3.tmp-00000000"));
    List<String> order =
        List.of("model.safetensors", "optimizer/state.bin", "state.json", "manifest.json");
    int files = random.nextInt(order.size() + 1);
    for (int i = 0; i < files; i++) {
      byte[] bytes = Files.readAllBytes(whole.resolve(order.get(i)));
      int length = i == files - 1 ? random.nextInt(bytes.length + 1) : bytes.length;
      Files.createDirectories(partial.resolve(order.get(i)).getParent());
      Files.write(partial.resolve(order.get(i)), java.util.Arrays.copyOf(bytes, length));
    }
    // And a disk that lost the end of a file of the newest one.
    boolean damaged = random.nextBoolean();
    if (damaged) {
      Path victim = whole.resolve(order.get(random.nextInt(order.size())));
      Journals.truncate(victim, random.nextLong(Files.size(victim)));
    }
    CheckpointListing listing = Checkpoints.open(folder).verify();
    assertThat(steps(listing)).isEqualTo(damaged ? List.of(1L) : List.of(2L, 1L));
    assertThat(listing.broken()).hasSize(damaged ? 1 : 0);
    assertThat(names()).containsExactly("step1", "step2");
  }

  @Test
  void save_processKilled_acknowledgedOnesAreWholeAndNoneIsHalf() throws Exception {
    Random random = new Random(5);
    long acknowledged = -1;
    for (int kill = 0; kill < 4; kill++) {
      Process child = ChildJvm.start(SavingChild.class, folder.toString());
      try (BufferedReader lines = child.inputReader()) {
        int enough = 1 + random.nextInt(30);
        for (int i = 0; i < enough; i++) {
          acknowledged = Long.parseLong(lines.readLine());
        }
        child.toHandle().destroyForcibly();
        child.waitFor();
      }
      CheckpointListing listing = Checkpoints.open(folder).verify();
      assertThat(listing.broken()).isEmpty();
      assertThat(listing.newest().orElseThrow().step()).isGreaterThanOrEqualTo(acknowledged);
      assertThat(names()).allMatch(name -> name.startsWith("step"));
      // SavingChild keeps three; a kill may come between saving one and deleting another.
      assertThat(listing.whole()).hasSizeLessThanOrEqualTo(4);
    }
  }
}
