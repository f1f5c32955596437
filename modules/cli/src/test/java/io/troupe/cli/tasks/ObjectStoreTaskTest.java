package io.troupe.cli.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.TaskSection;
import io.troupe.run.task.TaskLoader;
import io.troupe.tasks.DataSetTask;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Tasks whose data sets and order files lie on a server that speaks S3. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class ObjectStoreTaskTest {
  @TempDir private Path folder;

  @AutoClose private FakeObjectStore server;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.startWithKeys();
    server.put(
        "lake/datasets/gsm8k_train/data.jsonl.gz",
        Files.readAllBytes(Path.of("../../conf/data/gsm8k/train.jsonl.gz")));
  }

  private DataSetTask load(String... settings) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of(
                "data.cache=" + folder,
                "data.hub=false",
                "data.s3_folder=s3://lake/datasets",
                "data.s3_endpoint=" + server.endpoint(),
                "data.s3_path_style=true",
                "task.held_out_share=0"));
    all.addAll(List.of(settings));
    TasksShowCommand.TaskConfig bound =
        ConfigurationFile.bind(
                TasksShowCommand.TaskConfig.class, Path.of("test"), "task: {name: gsm8k}", all)
            .config();
    TaskSection task = bound.task();
    DataSection data = bound.data();
    return TaskLoader.of(task, data, 1, PromptTemplate.noTemplate()).load();
  }

  @Test
  void load_dataSetOfTheStore_isFetchedOnce() throws IOException {
    assertThat(load().train()).hasSize(7473);
    int asked = server.requests().size();

    assertThat(load().train()).hasSize(7473);

    assertThat(server.requests()).hasSize(asked).hasSize(2);
  }

  @Test
  void load_orderFileOfTheStore_isTheOrder() throws IOException {
    server.put("lake/curricula/gsm8k.txt", "gsm8k_5\n\ngsm8k_1\n");

    assertThat(load("task.order=s3://lake/curricula/gsm8k.txt").train())
        .extracting(prompt -> prompt.id().value())
        .containsExactly("gsm8k_5", "gsm8k_1");
    assertThatThrownBy(() -> load("task.order=s3://lake/curricula/none.txt"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("s3://lake/curricula/none.txt: status 404");
  }

  @Test
  void load_downloadThatIsCut_leavesNothingAndTheNextOneIsWhole() throws IOException {
    server.fail("lake/datasets/gsm8k_train/data.jsonl.gz", Fault.CUT);
    assertThatThrownBy(this::load)
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("s3://lake/datasets/gsm8k_train");
    try (var left = Files.walk(folder)) {
      assertThat(left.filter(Files::isRegularFile)).allMatch(f -> f.toString().endsWith(".lock"));
    }

    server.fail("lake/datasets/gsm8k_train/data.jsonl.gz", Fault.NONE);

    assertThat(load().train()).hasSize(7473);
  }
}
