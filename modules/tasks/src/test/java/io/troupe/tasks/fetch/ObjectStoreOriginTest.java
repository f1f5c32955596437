package io.troupe.tasks.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Splits in an object store, which is a map here. */
final class ObjectStoreOriginTest {
  private static final String ROOT = "s3://lake/sets/";
  private static final SplitRef TEST = new SplitRef("own", "some/set", "main/", "test");

  @TempDir private Path folder;

  private final AtomicInteger hubCalls = new AtomicInteger();

  private DataCache cache(Map<String, String> objects) {
    ObjectStoreOrigin.Store store =
        (place, into) -> {
          int files = 0;
          for (Map.Entry<String, String> each : objects.entrySet()) {
            if (each.getKey().startsWith(place + "/")) {
              Path file = into.resolve(each.getKey().substring(place.length() + 1));
              Files.createDirectories(file.getParent());
              Files.writeString(file, each.getValue());
              files++;
            }
          }
          return files;
        };
    DataOrigin hub =
        new DataOrigin() {
          @Override
          public String place(SplitRef wanted) {
            return "hub";
          }

          @Override
          public boolean fetch(SplitRef wanted, Path into) throws IOException {
            hubCalls.incrementAndGet();
            Files.writeString(into.resolve("test.jsonl"), "of the hub");
            return true;
          }
        };
    return new DataCache(folder, List.of(new ObjectStoreOrigin(store, ROOT), hub), _ -> {});
  }

  private List<Path> files(Map<String, String> objects) throws IOException {
    return DataFolder.cached(cache(objects).folder(TEST), "main/", "test");
  }

  @Test
  void folder_savedByTheLibrary_isOfTheSplitItsNameTells_andTheHubIsNotAsked() throws IOException {
    List<Path> files =
        files(
            Map.of(
                "s3://lake/sets/own_test/data-00000-of-00001.arrow", "A",
                "s3://lake/sets/own_test/state.json", "{}",
                "s3://lake/sets/own_test/dataset_info.json", "{}",
                "s3://lake/sets/own_train/data-00000-of-00001.arrow", "B"));

    assertThat(files).singleElement().satisfies(file -> assertThat(file).hasContent("A"));
    assertThat(hubCalls).hasValue(0);
  }

  @Test
  void folder_notThere_isLeftToTheHub() throws IOException {
    assertThat(files(Map.of()))
        .singleElement()
        .satisfies(file -> assertThat(file).hasContent("of the hub"));
  }

  @Test
  void folder_uploadedFromACache_mustBeWholeByItsMarker() throws IOException {
    String marker = "s3://lake/sets/own_test/.complete";
    String rows = "s3://lake/sets/own_test/main/test-0.jsonl";

    assertThat(files(Map.of(marker, "2 main/test-0.jsonl\n", rows, "{}"))).hasSize(1);
    assertThat(hubCalls).hasValue(0);

    Files.delete(cache(Map.of()).folder(TEST).resolve(CompletionMarker.NAME));
    assertThat(files(Map.of(marker, "3 main/test-0.jsonl\n", rows, "{}")))
        .as("an upload that goes on is not taken; the hub is")
        .singleElement()
        .satisfies(file -> assertThat(file).hasContent("of the hub"));
  }

  @Test
  void folder_nowhere_saysWhyForEveryPlace() {
    DataCache cache =
        new DataCache(
            folder,
            List.of(
                new ObjectStoreOrigin(
                    (place, _) -> {
                      throw new IOException(place + ": status 403");
                    },
                    ROOT)),
            _ -> {});

    assertThatThrownBy(() -> cache.folder(TEST))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("test: not in the cache")
        .hasMessageContaining("s3://lake/sets/own_test: status 403");
  }
}
