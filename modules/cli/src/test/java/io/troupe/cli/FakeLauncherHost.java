package io.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A machine as the launcher sees it: a clone with a space in its path, a {@code PATH} of nothing
 * but the basic tools, and JDKs and a Maven that are scripts. The scripts note how they were
 * called.
 */
final class FakeLauncherHost {
  /**
   * The programs the launcher may count on everywhere; whatever else it calls, a test has to add.
   */
  private static final List<String> BASIC_TOOLS =
      List.of(
          "awk",
          "bash",
          "cat",
          "cksum",
          "dirname",
          "env",
          "find",
          "grep",
          "id",
          "ln",
          "mkdir",
          "mv",
          "readlink",
          "rm",
          "sed",
          "sh",
          "sleep",
          "sort",
          "tail",
          "touch",
          "tr",
          "xargs");

  private static final long LIMIT_SECONDS = 120;

  final Path clone;
  final Path path;
  final Map<String, String> environment = new HashMap<>();
  private final Path root;

  /** The output and the exit code of a launch. */
  record Outcome(int code, String out, String err) {}

  FakeLauncherHost(Path root) throws IOException {
    this.root = root.toRealPath();
    clone = Files.createDirectories(this.root.resolve("a clone"));
    path = Files.createDirectories(this.root.resolve("bin"));
    for (String tool : BASIC_TOOLS) {
      Files.createSymbolicLink(path.resolve(tool), realTool(tool));
    }
    script(clone.resolve("troupe"), Files.readString(Path.of("../../troupe")));
    write("pom.xml", "<project/>");
    write("modules/cli/pom.xml", "<project/>");
    write("modules/cli/src/main/java/A.java", "class A {}");
    write("modules/cli/src/main/java/B.java", "class B {}");
    environment.put("PATH", path.toString());
    environment.put("HOME", Files.createDirectories(this.root.resolve("home")).toString());
    environment.put(
        "TROUPE_JDK_DIRS", Files.createDirectories(this.root.resolve("jdks")).toString());
  }

  private static Path realTool(String name) {
    for (String folder : List.of("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")) {
      Path tool = Path.of(folder, name);
      if (Files.isExecutable(tool)) {
        return tool;
      }
    }
    throw new AssertionError("this test needs the program %s in /usr/bin or /bin".formatted(name));
  }

  /** A file of the clone. */
  Path write(String file, String text) throws IOException {
    Path target = clone.resolve(file);
    Files.createDirectories(target.getParent());
    return Files.writeString(target, text);
  }

  Path script(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Puts a program on the PATH, in place of the one of that name. */
  void tool(String name, String body) throws IOException {
    Files.deleteIfExists(path.resolve(name));
    script(path.resolve(name), "#!/bin/sh\n" + body + "\n");
  }

  /** Adds what a launch needs: a JDK 25 and a Maven that builds. */
  void complete() throws IOException {
    jdk("jdk-25", "25.0.3");
    maven("3.9.9", goodBuild());
  }

  /** A JDK in a usual folder whose {@code java} prints its own folder, then one argument a line. */
  Path jdk(String name, String version) throws IOException {
    Path jdk = root.resolve("jdks").resolve(name);
    script(
        jdk.resolve("bin/java"),
        "#!/bin/sh\necho '%s'\nfor a in \"$@\"; do echo \"[$a]\"; done\n".formatted(jdk));
    script(jdk.resolve("bin/javac"), "#!/bin/sh\n");
    // Its archives are their manifests.
    script(jdk.resolve("bin/jar"), "#!/bin/sh\ncat \"$5\" >\"$3\"\n");
    Files.writeString(
        jdk.resolve("release"), "IMPLEMENTOR=\"Fake\"\nJAVA_VERSION=\"%s\"\n".formatted(version));
    return jdk;
  }

  /** A Maven on the PATH that notes its arguments, then runs {@code body}. */
  void maven(String version, String body) throws IOException {
    maven(path.resolve("mvn"), version, body);
  }

  void maven(Path file, String version, String body) throws IOException {
    script(
        file,
        """
        #!/bin/sh
        if [ "$1" = -v ]; then echo 'Apache Maven %s (fake)'; exit 0; fi
        echo "$JAVA_HOME $*" >>'%s'
        %s
        """
            .formatted(version, calls(), body));
  }

  /** A body for {@link #maven} that leaves what a good build leaves. */
  String goodBuild() {
    return """
    for a in "$@"; do
      case $a in -Dmdep.outputFile=*) echo '/a b/core.jar:/c/check.jar' >"${a#*=}"; exit 0 ;; esac
    done
    echo "$MAVEN_OPTS" >target/options
    touch '%1$s'
    for m in cli benchmarks real; do
      mkdir -p modules/$m/target
      touch modules/$m/target/troupe-$m.jar
      echo '%1$s' >modules/$m/target/classpath.txt
    done
    """
        .formatted(library());
  }

  /** The one library a fake build depends on. */
  Path library() {
    return root.resolve("library.jar");
  }

  private Path calls() {
    return root.resolve("calls");
  }

  /**
   * The calls of Maven so far, except those for its version: the JDK it ran on and its arguments.
   */
  List<String> mavenCalls() throws IOException {
    return Files.exists(calls()) ? Files.readAllLines(calls()) : List.of();
  }

  Path lock() {
    return clone.resolve("target/troupe-build.lock");
  }

  /** Starts the launcher in the folder above the clone; one that hangs is killed, code 137. */
  Process start(Path launcher, String... arguments) throws IOException {
    return start(ProcessBuilder.Redirect.PIPE, launcher, arguments);
  }

  /** Starts the launcher with a given standard input. */
  Process start(ProcessBuilder.Redirect input, Path launcher, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(launcher.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(root.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.redirectInput(input).redirectOutput(root.resolve("out").toFile());
    Process process = builder.start();
    CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS)
        .execute(process.toHandle()::destroyForcibly);
    return process;
  }

  Outcome launch(String... arguments) throws IOException, InterruptedException {
    return outcome(start(clone.resolve("troupe"), arguments));
  }

  Outcome outcome(Process process) throws IOException, InterruptedException {
    process.getOutputStream().close();
    String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
    return new Outcome(process.waitFor(), Files.readString(root.resolve("out")), err);
  }
}
