package io.troupe.aws.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A container that cannot start leaves the reason where SageMaker looks for it. */
final class ContainerRunTest {
  @TempDir private Path base;

  private void assertRefused(String reason) {
    Map<String, String> environment = Map.of(ContainerFolders.BASE, base.toString());
    assertThatThrownBy(() -> ContainerRun.enter(environment, System.out))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason);
    assertThat(base.resolve("output/failure")).content().contains(reason).hasSizeLessThan(1_025);
  }

  @Test
  void enter_withoutTheFilesOrAChannel_leavesTheReason() throws IOException {
    assertRefused("resourceconfig.json is not there; this is for a container of a training job");

    ContainerFolders folders = ContainerFolders.in(base);
    Files.createDirectories(base.resolve("input/config"));
    Files.writeString(
        folders.description("resourceconfig.json"), "{\"current_host\":\"a\",\"hosts\":[\"a\"]}");
    Files.writeString(folders.description("hyperparameters.json"), "{\"config_00\":\"unquoted\"}");
    assertRefused("hyperparameter config_00 must be a string of JSON");

    Files.writeString(
        folders.description("hyperparameters.json"), "{\"config_00\":\"\\\"run: 1\\\"\"}");
    Files.writeString(folders.description("inputdataconfig.json"), "{\"model\":{}}");
    assertRefused("channel model has no folder in " + base.resolve("input/data"));
  }
}
