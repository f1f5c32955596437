package io.troupe.soak;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The command by which a soak starts this very program again.
 *
 * @param program the class of the command line, without options
 * @param options beyond the usual ones, of these JVMs and of those they start
 */
public record SoakJvm(JavaCommand program, List<String> options) {
  private static final int HEAP = 256;
  private static final long PATIENCE_SECONDS = 120;

  public SoakJvm {
    options = List.copyOf(options);
  }

  /** The JVM that runs this, and its class path. */
  public static SoakJvm ofThisProcess(Class<?> main) {
    return new SoakJvm(JavaCommand.of(main), List.of("-XX:TieredStopAtLevel=1"));
  }

  /**
   * Returns this program with a cache of loaded and linked classes (JEP 514), which halves the CPU
   * time of every start. A class path with folders in it cannot have one, and is left as it is.
   *
   * @param folder for the cache
   * @param rehearsal arguments of a run that loads the classes; it is ended when it has begun
   */
  SoakJvm warm(Path folder, List<String> rehearsal) throws IOException, InterruptedException {
    if (Arrays.stream(program.classPath().split(File.pathSeparator, -1))
        .anyMatch(entry -> Files.isDirectory(Path.of(entry)))) {
      return this;
    }
    Path cache = folder.resolve("classes.aot").toAbsolutePath();
    List<String> making = new ArrayList<>(options);
    making.add("-XX:AOTCacheOutput=" + cache);
    SoakProcess maker = new SoakProcess("rehearsal", folder);
    maker.start(new SoakJvm(program, making).process(HEAP, rehearsal));
    long deadline = System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000L;
    while (maker.isAlive() && !maker.said(Announcements.CONSOLE) && System.nanoTime() < deadline) {
      Thread.sleep(100);
    }
    maker.signal("TERM");
    if (!maker.ends(PATIENCE_SECONDS) || !Files.exists(cache)) {
      maker.kill();
      throw new IOException(
          "the short run before the soak did not end in order; its words are in "
              + folder.resolve("rehearsal.log"));
    }
    List<String> warm = new ArrayList<>(options);
    warm.add("-XX:AOTCache=" + cache);
    return new SoakJvm(program, warm);
  }

  /** The command line that is the {@code troupe} command, without arguments. */
  public List<String> command(int heapMebibytes) {
    return jvm(heapMebibytes).wordsWithClassPath(List.of());
  }

  private JavaCommand jvm(int heapMebibytes) {
    return program
        .with(JavaCommand.BASIC)
        .with(JavaCommand.SERIAL_COLLECTOR)
        .with(JavaCommand.UTF8_OUTPUT)
        .with("-Dai.djl.offline=true")
        .with(options)
        .heap(heapMebibytes);
  }

  /** A process whose command line can be read. */
  ProcessBuilder process(int heapMebibytes, List<String> arguments) {
    ProcessBuilder builder = jvm(heapMebibytes).process(arguments);
    builder.environment().put("TROUPE_JAVA_OPTS", String.join(" ", options));
    return builder;
  }
}
