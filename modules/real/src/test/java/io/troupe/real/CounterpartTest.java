package io.troupe.real;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The counterparts of the tree, and files of them that are wrong. */
final class CounterpartTest {
  private static final Path MODULE = Path.of("");

  @TempDir private Path folder;

  @Test
  void readAll_counterpartsOfTheTree_haveAVersionALimitAndADriver() throws IOException {
    List<Counterpart> all = Counterpart.readAll(MODULE.toAbsolutePath());

    assertThat(all).extracting(Counterpart::name).contains("datasets");
    assertThat(all).allSatisfy(each -> assertThat(each.driver()).isRegularFile());
    assertThat(all).allSatisfy(each -> assertThat(each.version()).isNotEmpty());
  }

  @Test
  void read_descriptorWithAnotherKeyOrNumber_isRefusedByName() throws IOException {
    Files.writeString(folder.resolve("env.txt"), "# python 3.12\nx==1\n");
    Path file = folder.resolve("counterpart.properties");
    String good = "claim=c\nenvironment=env\npackages=x\nminutes=5\nmemory_mib=100\n";
    Files.writeString(file, good);
    assertThat(Counterpart.read(folder, folder).version()).isEqualTo("1");

    Files.writeString(file, good + "minuets=5\n");
    assertThatThrownBy(() -> Counterpart.read(folder, folder)).hasMessageContaining("minuets");
    Files.writeString(file, good.replace("=5", "=41"));
    assertThatThrownBy(() -> Counterpart.read(folder, folder))
        .hasMessageContaining("minutes is in 1 to 40, not 41");
    Files.writeString(file, good.replace("=x", "=y"));
    assertThatThrownBy(() -> Counterpart.read(folder, folder))
        .hasMessageContaining("names y, of which");
  }

  @Test
  void requirements_text_givesVersionsPythonAndOptions() {
    Requirements pins =
        new Requirements(
            "env",
            folder,
            """
            # python 3.12
            # install --no-deps -q
            Torch_One[cpu]==2.13.0
            uvloop==0.2; sys_platform != 'win32'
            """);

    assertThat(pins.python()).isEqualTo("3.12");
    assertThat(pins.options()).containsExactly("--no-deps", "-q");
    assertThat(pins.version("torch-one")).contains("2.13.0");
    assertThat(pins.version("uvloop")).contains("0.2");
    assertThat(pins.version("torch")).isEmpty();
    assertThat(pins.folderName()).matches("env-[0-9a-f]{12}");
  }

  @Test
  void requirements_packageWithoutItsVersion_isRefused() {
    for (String line : List.of("torch", "torch>=2", "torch==2.*", "-r more.txt")) {
      assertThatThrownBy(() -> new Requirements("env", folder, "# python 3.12\n" + line))
          .hasMessageContaining("'" + line + "' is not PACKAGE==VERSION");
    }
    assertThatThrownBy(() -> new Requirements("env", folder, "torch==2"))
        .hasMessageContaining("has no line '# python 3.X'");
  }

  @Test
  void memory_linesOfLinux_countSharedPagesInParts() {
    assertThat(
            GroupMemory.bytes(
                List.of(
                    "7f00-7fff ---p [rollup]",
                    "Rss:   9000 kB",
                    "Pss:   1024 kB",
                    "Pss_Dirty: 5 kB")))
        .isEqualTo(1 << 20);
  }
}
