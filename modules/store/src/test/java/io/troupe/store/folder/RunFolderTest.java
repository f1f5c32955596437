package io.troupe.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.files.PrivateFiles;
import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.FormatException;
import io.troupe.store.journal.MemoryDisk;
import io.troupe.testkit.Meanwhile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunFolderTest {
  private static final LocalDateTime START = LocalDateTime.of(2026, 11, 21, 14, 2, 11);
  private static final byte[] CONFIG = {'a', ':', ' ', '1', '\r', '\n', (byte) 0xff};

  @TempDir(factory = MemoryDisk.class)
  private Path root;

  private RunFolder create(String stem) throws IOException {
    return create(stem, "");
  }

  private RunFolder create(String stem, String diff) throws IOException {
    return RunFolder.create(
        root.resolve("runs"),
        stem,
        START,
        new RunFolder.Contents(CONFIG, "a: 1\n", Map.of("host", "h"), diff));
  }

  @Test
  void create_newRun_hasEveryPart() throws IOException {
    RunFolder run = create("quickstart", "diff --git");
    assertThat(run.name()).isEqualTo("quickstart-20261121-140211");
    assertThat(run.config()).hasBinaryContent(CONFIG);
    assertThat(run.path().resolve("resolved.yaml")).hasContent("# format 1\na: 1\n");
    assertThat(run.path().resolve("run.json"))
        .hasContent("{\n  \"format\" : 1,\n  \"host\" : \"h\"\n}");
    assertThat(run.path().resolve("patches/git_diff.patch")).hasContent("diff --git");
    assertThat(run.journal()).isEmptyDirectory();
    assertThat(run.traces()).isEmptyDirectory();
    assertThat(run.checkpoints()).isEmptyDirectory();
    assertThat(create("clean").path().resolve("patches")).doesNotExist();
  }

  @Test
  void create_newRun_isClosedToOtherUsers() throws IOException {
    RunFolder run = create("quickstart", "");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(run.path())))
        .isEqualTo("rwx------");
    assertThat(PrivateFiles.objection(run.path())).isEmpty();
  }

  @Test
  void replaceResolved_newText_isThereAndNothingElse() throws IOException {
    RunFolder run = create("quickstart", "");
    run.replaceResolved("a: 2\n");
    assertThat(run.resolved()).hasContent("# format 1\na: 2\n");
    try (var files = Files.list(run.path())) {
      assertThat(files).noneMatch(file -> file.toString().endsWith(".tmp"));
    }
  }

  @Test
  void list_whileRunsAreDeleted_hasTheOthers() throws Exception {
    RunFolder stays = create("stays");
    Path goes = root.resolve("runs/goes");
    Meanwhile.look(
        () -> {
          for (int i = 0; i < 20_000; i++) {
            Files.createDirectories(goes.resolve("journal"));
            Files.createFile(goes.resolve("run.json"));
            Files.delete(goes.resolve("journal"));
            Files.delete(goes.resolve("run.json"));
          }
          return null;
        },
        () -> assertThat(RunFolder.list(root.resolve("runs"))).contains(stays.name()));
  }

  @Test
  void create_sameSecond_neverSharesAFolder() throws Exception {
    var paths = ConcurrentHashMap.<Path>newKeySet();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      Callable<Boolean> start = () -> paths.add(create("same").path());
      for (var made : threads.invokeAll(IntStream.range(0, 12).mapToObj(i -> start).toList())) {
        assertThat(made.get()).isTrue();
      }
    }
    assertThat(paths)
        .extracting(path -> path.getFileName().toString())
        .contains("same-20261121-140211", "same-20261121-140211_1", "same-20261121-140211_11")
        .hasSize(12);
  }

  @Test
  void create_fails_leavesNothing() throws IOException {
    Object notJson = new Object();
    assertThatThrownBy(
            () ->
                RunFolder.create(
                    root, "x", START, new RunFolder.Contents(CONFIG, "", Map.of("k", notJson), "")))
        .isInstanceOf(DiskFailureException.class)
        .hasMessageContaining("cannot make the run folder");
    assertThat(root).isEmptyDirectory();
    Files.writeString(root.resolve("file"), "");
    assertThatThrownBy(
            () ->
                RunFolder.create(
                    root.resolve("file"),
                    "x",
                    START,
                    new RunFolder.Contents(CONFIG, "", Map.of(), "")))
        .isInstanceOf(DiskFailureException.class);
  }

  @Test
  void create_stemWithFolder_isRefused() {
    assertThatThrownBy(() -> create("../x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'../x' is no file name");
  }

  @Test
  void open_nameOrPath_findsTheRun() throws IOException {
    RunFolder run = create("quickstart");
    Path runs = root.resolve("runs");
    assertThat(RunFolder.open(runs, run.name()).path()).isEqualTo(run.path());
    assertThat(RunFolder.open(runs, run.path().toString()).path()).isEqualTo(run.path());
    assertThat(RunFolder.open(runs, run.path() + "/").name()).isEqualTo(run.name());
  }

  @Test
  void open_unknown_suggestsTheNewestRuns() throws IOException {
    for (String stem : List.of("a", "b", "c", "d", "e", "f")) {
      Files.setLastModifiedTime(
          create(stem).journal(), FileTime.from(Instant.ofEpochSecond(stem.charAt(0) * 1000L)));
    }
    Path runs = root.resolve("runs");
    assertThatThrownBy(() -> RunFolder.open(runs, "quick"))
        .isInstanceOf(IOException.class)
        .hasMessage(
            ("there is no run folder %s. The newest runs in %s: f-20261121-140211,"
                    + " e-20261121-140211, d-20261121-140211, c-20261121-140211, b-20261121-140211")
                .formatted(runs.resolve("quick"), runs));
    assertThatThrownBy(() -> RunFolder.open(root.resolve("none"), "x"))
        .hasMessageContaining("There is no run in " + root.resolve("none"));
    assertThatThrownBy(() -> RunFolder.open(runs, "a\0b")).hasMessageContaining("neither a path");
  }

  @Test
  void open_partsMissing_namesThem() throws IOException {
    RunFolder run = create("quickstart");
    Files.delete(run.path().resolve("run.json"));
    Files.delete(run.journal());
    assertThatThrownBy(() -> RunFolder.open(root.resolve("runs"), run.name()))
        .hasMessageContaining("is not a whole run folder: run.json, journal/ missing")
        .hasMessageContaining("There is no run in");
  }

  @Test
  void view_runJsonOfAnotherVersion_isRefusedWithWhatToDo() throws IOException {
    RunFolder run = create("quickstart");
    Path papers = run.path().resolve("run.json");
    Files.writeString(papers, "{\"host\": \"h\"}");
    assertThatThrownBy(() -> RunFolder.view(root, run.path().toString()))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            papers
                + " has format 0, and this version of Troupe reads format 1; use the version of"
                + " Troupe that wrote it (run.json says which), or begin a new run with its"
                + " config.yaml");
    Files.writeString(papers, "{\"format\": 1, ");
    assertThatThrownBy(() -> RunFolder.view(root, run.path().toString()))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(papers + " is no JSON");
  }

  @Test
  void view_resolvedConfigurationOfAnotherVersion_isRefused() throws IOException {
    RunFolder run = create("quickstart");
    Files.writeString(run.resolved(), "# format 2\na: 1\n");
    assertThatThrownBy(() -> RunFolder.view(root, run.path().toString()))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(run.resolved() + " has format 2, and this version");
    Files.writeString(run.resolved(), "a: 1\n");
    assertThatThrownBy(() -> RunFolder.view(root, run.path().toString()))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining(run.resolved() + " has format 0, and this version");
  }
}
