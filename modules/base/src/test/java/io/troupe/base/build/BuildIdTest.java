package io.troupe.base.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BuildIdTest {
  @TempDir private Path folder;

  private String of(String jar, int content) throws IOException {
    Path file = folder.resolve(jar);
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(file))) {
      out.putNextEntry(new JarEntry("io/troupe/Some.class"));
      out.write(content);
    }
    return BuildId.of("1", file.toString());
  }

  @Test
  void of_jarAsItIsCalledInABundle_isTheSameBuild() throws IOException {
    assertThat(of("003-troupe-cli.jar", 1))
        .isEqualTo(of("troupe-cli.jar", 1))
        .isNotEqualTo(of("003-troupe-cli.jar", 2));
  }
}
