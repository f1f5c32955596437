package io.troupe.engine.djl.install;

import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** Files that look like an installed PyTorch, its sources and a compiler. */
final class FakeInstall {
  private static final Map<String, String> SOURCES =
      Map.of("a.cc", "int a;", "b.cc", "int b;", "utils.h", "#pragma once");

  private FakeInstall() {}

  /** A virtual environment with a PyTorch, and without a Python. */
  static InstalledTorch torch(Path environment, String version, String cuda) throws IOException {
    Path folder = environment.resolve("lib/python3.11/site-packages/torch");
    Files.createDirectories(folder.resolve("lib"));
    Files.writeString(
        folder.resolve("version.py"),
        """
        from typing import Optional
        __all__ = ['__version__', 'debug', 'cuda']
        __version__ = '%s'
        debug = False
        cuda: Optional[str] = %s
        """
            .formatted(version, cuda.isEmpty() ? "None" : "'" + cuda + "'"));
    for (String library : new String[] {"torch", "torch_cpu", "c10"}) {
      Files.writeString(
          folder.resolve("lib").resolve(System.mapLibraryName(library)), library + version);
    }
    Path headers = folder.resolve("include/torch/csrc/api/include/torch");
    Files.createDirectories(headers);
    Files.writeString(headers.resolve("all.h"), "");
    return InstalledTorch.read(folder).orElseThrow();
  }

  static BindingSources published() {
    TreeMap<String, String> digests = new TreeMap<>();
    SOURCES.forEach(
        (name, text) -> digests.put(name, Sha256.hex(text.getBytes(StandardCharsets.UTF_8))));
    return new BindingSources(digests);
  }

  /** An archive of the sources, with one of them replaced. */
  static Path archive(Path file, Map<String, String> replaced) throws IOException {
    TreeMap<String, String> content = new TreeMap<>(SOURCES);
    content.putAll(replaced);
    try (OutputStream bytes = Files.newOutputStream(file);
        TarArchiveOutputStream tar = new TarArchiveOutputStream(new GZIPOutputStream(bytes))) {
      for (Map.Entry<String, String> each : content.entrySet()) {
        byte[] text = each.getValue().getBytes(StandardCharsets.UTF_8);
        TarArchiveEntry entry = new TarArchiveEntry("djl/native/" + each.getKey());
        entry.setSize(text.length);
        tar.putArchiveEntry(entry);
        tar.write(text);
        tar.closeArchiveEntry();
      }
    }
    return file;
  }

  /** A compiler that notes its words and writes a file for {@code -o}, or fails. */
  static BuildTools tools(Path folder, boolean works) throws IOException {
    Path compiler = folder.resolve("compiler");
    Files.writeString(
        compiler,
        works
            ? """
              #!/bin/sh
              echo "$@" >> "%s"
              while [ $# -gt 0 ]; do [ "$1" = -o ] && echo binary > "$2"; shift; done
              """
                .formatted(folder.resolve("words"))
            : "#!/bin/sh\necho 'a.cc:1: error: no such thing' >&2\nexit 1\n");
    Files.setPosixFilePermissions(compiler, PosixFilePermissions.fromString("rwx------"));
    Path jdk = folder.resolve("jdk");
    Files.createDirectories(jdk.resolve("include"));
    Files.writeString(jdk.resolve("include/jni.h"), "");
    return new BuildTools(compiler.toString(), jdk);
  }
}
