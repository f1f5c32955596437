package io.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import io.troupe.base.files.FileTree;
import io.troupe.run.compose.TestRuns;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The class path of the tests' child JVMs, with a cache of its loaded and linked classes (JEP 514),
 * which saves each child about three of its seven seconds of CPU time. Such a cache holds for a
 * class path of jars only, so folders of classes are packed first. One is made when a test process
 * starts its first child, while others that run beside it wait for it, and kept in {@code target}
 * for the next while nothing has changed.
 */
final class WarmStart {
  private static final Path FOLDER = Path.of("target", "warm-start").toAbsolutePath();

  private final String classPath;
  private final Path cache;

  private WarmStart(String classPath, Path cache) {
    this.classPath = classPath;
    this.cache = cache;
  }

  static WarmStart get() {
    return Holder.INSTANCE;
  }

  String classPath() {
    return classPath;
  }

  /** The JVM's options that use the cache. */
  List<String> options() {
    return List.of("-XX:AOTCache=" + cache);
  }

  private static WarmStart make() {
    String given = System.getProperty("java.class.path");
    Path lock = FOLDER.resolveSibling("warm-start.lock");
    try (FileChannel file = FileChannel.open(lock, CREATE, WRITE);
        FileLock _ = file.lock()) {
      List<Path> entries =
          Stream.of(given.split(File.pathSeparator, -1))
              .filter(entry -> !entry.isEmpty())
              .map(entry -> Path.of(entry).toAbsolutePath())
              .filter(Files::exists)
              .toList();
      String state = state(entries);
      Path note = FOLDER.resolve("state.txt");
      Path cache = FOLDER.resolve("classes.aot");
      boolean current = Files.exists(note) && Files.readString(note).equals(state);
      List<String> jars = new ArrayList<>();
      if (!current) {
        clear();
      }
      for (Path entry : entries) {
        boolean folder = Files.isDirectory(entry);
        Path jar = folder ? FOLDER.resolve(jars.size() + ".jar") : entry;
        if (folder && !current) {
          pack(entry, jar);
        }
        jars.add(jar.toString());
      }
      WarmStart made = new WarmStart(String.join(File.pathSeparator, jars), cache);
      if (!current) {
        made.rehearse();
        Files.writeString(note, state);
      }
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void clear() throws IOException {
    FileTree.delete(FOLDER);
    Files.createDirectories(FOLDER);
  }

  /**
   * Changes whenever a class does or a jar, but not when a compiler writes the same class again.
   */
  private static String state(List<Path> entries) throws IOException {
    StringBuilder state = new StringBuilder();
    for (Path entry : entries) {
      boolean folder = Files.isDirectory(entry);
      for (Path file : files(entry)) {
        Object stamp =
            folder ? Arrays.hashCode(Files.readAllBytes(file)) : Files.getLastModifiedTime(file);
        state.append(file).append(' ').append(Files.size(file)).append(' ').append(stamp);
        state.append('\n');
      }
    }
    return state.toString();
  }

  private static List<Path> files(Path entry) throws IOException {
    try (Stream<Path> walk = Files.walk(entry)) {
      return walk.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static void pack(Path folder, Path jar) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      for (Path file : files(folder)) {
        out.putNextEntry(new ZipEntry(folder.relativize(file).toString()));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
  }

  /** A short run on PyTorch, which loads nearly every class that any run does. */
  private void rehearse() throws IOException, InterruptedException {
    Path folder = Files.createDirectory(FOLDER.resolve("rehearsal"));
    Path log = FOLDER.resolve("rehearsal.log");
    Process process =
        ChildRun.builder(
                folder,
                ChildRun.Size.DJL,
                classPath,
                List.of("-XX:AOTCacheOutput=" + cache),
                "train",
                TestRuns.write(folder, TestRuns.DJL),
                "--set",
                "training.steps=2")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    int status = process.waitFor();
    if (status != 0 || !Files.exists(cache)) {
      throw new IOException(
          "the run that fills the class cache exited with %d:%n%s"
              .formatted(status, Files.readString(log, UTF_8)));
    }
  }

  private static final class Holder {
    private static final WarmStart INSTANCE = make();
  }
}
