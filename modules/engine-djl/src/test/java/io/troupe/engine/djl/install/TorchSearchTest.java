package io.troupe.engine.djl.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TorchSearchTest {
  @TempDir private Path folder;

  @Test
  void at_environmentPackageOrLibraries_isTheSamePyTorch() throws IOException {
    InstalledTorch torch = FakeInstall.torch(folder, "2.13.0+cu130", "13.0");

    assertThat(torch.release()).isEqualTo("2.13.0");
    assertThat(torch.cuda()).isEqualTo("13.0");
    for (Path place :
        new Path[] {folder, torch.folder(), torch.folder().getParent(), torch.lib()}) {
      assertThat(TorchSearch.at(place.toString())).isEqualTo(torch);
    }
  }

  @Test
  void at_environmentWithAPython_asksIt() throws IOException {
    InstalledTorch torch = FakeInstall.torch(folder.resolve("elsewhere"), "2.13.0", "");
    Path python = python(folder.resolve("environment/bin/python"), torch.folder().toString());

    assertThat(TorchSearch.at(folder.resolve("environment").toString())).isEqualTo(torch);
    assertThat(TorchSearch.at(python.toString())).isEqualTo(torch);
  }

  @Test
  void at_placeWithoutPyTorch_namesTheNextCommand() {
    assertThatThrownBy(() -> TorchSearch.at(folder.toString()))
        .isInstanceOf(UnusableTorchException.class)
        .hasMessageContaining("PyTorch is not installed there")
        .hasMessageContaining("-m pip install torch");
    assertThatThrownBy(() -> TorchSearch.at(folder.resolve("nowhere").toString()))
        .hasMessageContaining("there is no such place")
        .hasMessageContaining("troupe torch list");
  }

  @Test
  void all_variableAndSearchPath_givesEachOnce() throws IOException {
    InstalledTorch named = FakeInstall.torch(folder.resolve("named"), "2.13.0", "");
    InstalledTorch imported = FakeInstall.torch(folder.resolve("imported"), "2.14.1", "13.0");
    Path python = python(folder.resolve("bin/python3"), imported.folder().toString());
    TorchSearch search =
        new TorchSearch(
            Map.of(
                "PATH",
                python.getParent() + ":/nowhere",
                TorchSearch.VARIABLE,
                folder.resolve("named").toString()));

    assertThat(search.all(folder.resolve("named").toString()))
        .containsExactly(
            new TorchSearch.Found("policy.torch", named),
            new TorchSearch.Found(python.toString(), imported));
  }

  @Test
  void nccl_besideThePackage_isFound() throws IOException {
    InstalledTorch torch = FakeInstall.torch(folder, "2.13.0+cu130", "13.0");
    assertThat(torch.nccl()).isEmpty();
    Path library = torch.folder().resolveSibling("nvidia/nccl/lib/libnccl.so.2");
    Files.createDirectories(library.getParent());
    Files.writeString(library, "");
    assertThat(torch.nccl()).contains(library);
  }

  private static Path python(Path file, String answer) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\necho '%s'\n".formatted(answer));
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
