package io.troupe.engine.djl.install;

import io.troupe.base.process.SearchPath;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The C++ compiler and the Java headers of this machine.
 *
 * @param compiler program; empty if there is none
 * @param jdk home of the Java that has the headers
 */
public record BuildTools(String compiler, Path jdk) {
  private static final int SHOWN_LINES = 12;

  /**
   * Looks for a compiler: that of the variable {@code CXX}, else the first of g++, c++ and clang++
   * on the search path. The headers are those of this Java.
   */
  public static BuildTools of(Map<String, String> environment) {
    String named = environment.getOrDefault("CXX", "");
    String compiler =
        Stream.concat(Stream.of(named), Stream.of("g++", "c++", "clang++"))
            .filter(name -> !name.isEmpty())
            .flatMap(name -> SearchPath.find(name, environment).stream())
            .findFirst()
            .map(Path::toString)
            .orElse("");
    return new BuildTools(compiler, Path.of(System.getProperty("java.home")));
  }

  /** The folders of the Java Native Interface's headers. */
  List<Path> javaHeaders() {
    Path include = jdk.resolve("include");
    String system = System.getProperty("os.name").startsWith("Mac") ? "darwin" : "linux";
    return List.of(include, include.resolve(system));
  }

  /** Returns the tools that are missing, each with its remedy. */
  List<String> missing() {
    List<String> missing = new ArrayList<>();
    if (compiler.isEmpty()) {
      missing.add(
          "no C++ compiler: install one (apt-get install g++), or name it in the variable CXX");
    }
    Path header = javaHeaders().getFirst().resolve("jni.h");
    if (!Files.isRegularFile(header)) {
      missing.add(
          "%s: this Java has no headers; set JAVA_HOME to a whole JDK %d"
              .formatted(header, Runtime.version().feature()));
    }
    return missing;
  }

  /**
   * Runs the compiler.
   *
   * @throws UnusableTorchException if it fails; shows its first lines of errors
   */
  void run(List<String> words, Path folder) throws IOException {
    Process process =
        new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true).start();
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new UnusableTorchException(
            "%s failed with exit code %d:\n%s"
                .formatted(
                    String.join(" ", words),
                    process.exitValue(),
                    String.join("\n", output.lines().limit(SHOWN_LINES).toList())));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the compiler ran");
    } finally {
      process.destroyForcibly();
    }
  }
}
