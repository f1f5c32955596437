package io.troupe.launch.remote;

import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.base.process.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A build as it goes to hosts: {@code bin/troupe}, which needs nothing but a JDK in {@code
 * JAVA_HOME}, and {@code lib/}, the class path of this very process.
 *
 * @param folder place of the bundle
 * @param digest over names and contents of its files
 */
public record Bundle(Path folder, String digest) {
  private static final String SCRIPT =
      """
      #!/bin/sh
      # Runs Troupe from the folder beside this script's, with the JDK in JAVA_HOME.
      home=$(cd -P "$(dirname "$0")/.." && pwd -P) || exit 2
      class_path=
      while IFS= read -r entry; do class_path="$class_path$home/lib/$entry:"; done <"$home/lib/order"
      compiler=
      case $(sed -n 's/^JAVA_VERSION="\\([0-9]*\\).*/\\1/p' "$JAVA_HOME/release") in
        25) compiler='-XX:+UnlockDiagnosticVMOptions -XX:-ReduceAllocationMerges' ;;
      esac
      exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED \\
        --sun-misc-unsafe-memory-access=allow $compiler -Xmx2g -XX:+UseParallelGC \\
        -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 -Dai.djl.offline=true "-Dtroupe.home=$home" \\
        -cp "$class_path" %s "$@"
      """
          .formatted(ChildJvm.MAIN);

  /** Puts the class path of this process into a new folder. */
  public static Bundle ofThisProcess(Path folder) throws IOException {
    Path lib = Files.createDirectories(folder.resolve("lib"));
    List<String> order = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (entry.isEmpty() || !Files.exists(path)) {
        continue;
      }
      String name = "%03d-%s".formatted(order.size(), path.getFileName());
      copy(path, lib.resolve(name));
      order.add(name);
    }
    Files.write(lib.resolve("order"), order);
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path script = Files.writeString(bin.resolve("troupe"), SCRIPT);
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    return of(folder);
  }

  /** A bundle that is in a folder already. */
  public static Bundle of(Path folder) throws IOException {
    MessageDigest sha = Sha256.digest();
    for (Path file : FileTree.files(folder)) {
      sha.update(folder.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
      Sha256.add(sha, file);
    }
    return new Bundle(folder, Sha256.hex(sha));
  }

  /** A build as people tell it from others. */
  public static String name(String digest) {
    return "build " + digest.substring(0, Math.min(12, digest.length()));
  }

  /** Writes files and folders as a tar archive, with what symbolic links point to. */
  static void tar(Path folder, List<String> names, OutputStream out) throws IOException {
    List<String> command = new ArrayList<>(List.of("tar", "-C", folder.toString(), "-chf", "-"));
    command.addAll(names);
    Process tar =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    tar.getInputStream().transferTo(out);
  }

  /** The use of a bundle. */
  public interface BundleUse {
    void with(Bundle bundle) throws IOException, InterruptedException;
  }

  /** Uses the bundle in a folder, or one of this process for as long as it is used. */
  public static void use(Optional<Path> build, BundleUse use)
      throws IOException, InterruptedException {
    if (build.isPresent()) {
      use.with(of(build.get()));
      return;
    }
    Path folder = Files.createTempDirectory("troupe-bundle");
    try {
      use.with(ofThisProcess(folder));
    } finally {
      FileTree.delete(folder);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      all.forEach(
          path -> {
            Path target = path.equals(from) ? to : to.resolve(from.relativize(path).toString());
            try {
              if (Files.isDirectory(path)) {
                Files.createDirectories(target);
              } else {
                Files.copy(path, target, StandardCopyOption.COPY_ATTRIBUTES);
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    } catch (UncheckedIOException e) {
      throw new IOException("cannot bundle %s: %s".formatted(from, e.getMessage()), e);
    }
  }
}
