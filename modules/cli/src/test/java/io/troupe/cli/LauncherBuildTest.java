package io.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The builds of {@code ./troupe}: when it builds, and that it builds once. */
final class LauncherBuildTest {
  @TempDir private Path folder;
  private FakeLauncherHost machine;

  @BeforeEach
  void prepare() throws IOException {
    machine = new FakeLauncherHost(folder);
  }

  @Test
  void launch_firstTimeThenAgain_buildsOnce() throws Exception {
    machine.complete();

    var first = machine.launch();
    var second = machine.launch();

    assertThat(first.err()).startsWith("building Troupe (the first time");
    assertThat(second.err()).isEmpty();
    assertThat(machine.mavenCalls()).hasSize(1);
    assertThat(machine.lock()).doesNotExist();
  }

  @Test
  void launch_buildThatTakesLong_saysWhereItIsWithoutATerminalToo() throws Exception {
    machine.jdk("jdk-25", "25.0.3");
    machine.maven(
        "3.9.9",
        "echo '[INFO] Building   troupe-core 0.1.0                 [3/39]'; sleep 3; "
            + machine.goodBuild());
    machine.environment.put("TROUPE_PROGRESS_SECONDS", "1");

    var launch = machine.launch();

    assertThat(launch.code()).isZero();
    assertThat(launch.err().lines())
        .anyMatch(line -> line.matches("  \\d+ s {2}troupe-core 0\\.1\\.0 \\[3/39]"));
    assertThat(launch.err()).doesNotContain("\r");
  }

  @Test
  void launch_builds_withoutTheLintAndLeavesItsClassesToBeCompiledAgain() throws Exception {
    machine.jdk("jdk-25", "25.0.3");
    machine.maven(
        "3.9.9", machine.goodBuild() + "mkdir -p modules/cli/target/maven-status/compile");

    machine.launch();

    assertThat(machine.mavenCalls()).singleElement().asString().contains(" -Dlint=off ");
    assertThat(machine.clone.resolve("modules/cli/target/classpath.txt")).exists();
    assertThat(machine.clone.resolve("modules/cli/target/maven-status")).doesNotExist();
  }

  @Test
  void launch_sourceEdited_buildsAgain() throws Exception {
    machine.complete();
    machine.launch();
    machine.write("modules/cli/src/main/java/A.java", "class A { }");

    assertThat(machine.launch().err()).startsWith("building Troupe (sources changed)");
    assertThat(machine.mavenCalls()).hasSize(2);
  }

  @Test
  void launch_sourceDeleted_buildsAgain() throws Exception {
    machine.complete();
    machine.launch();
    Files.delete(machine.clone.resolve("modules/cli/src/main/java/B.java"));

    machine.launch();

    assertThat(machine.mavenCalls()).hasSize(2);
  }

  @Test
  void launch_sourceAddedInANewModule_buildsAgain() throws Exception {
    machine.complete();
    machine.launch();
    machine.write("modules/new one/src/main/resources/settings.txt", "x");

    machine.launch();

    assertThat(machine.mavenCalls()).hasSize(2);
  }

  @Test
  void launch_testEditedOrSourceTouched_doesNotBuild() throws Exception {
    machine.complete();
    machine.launch();
    machine.write("modules/cli/src/test/java/ATest.java", "class ATest {}");
    machine.write("modules/cli/src/main/java/A.java", "class A {}");

    machine.launch();

    assertThat(machine.mavenCalls()).hasSize(1);
  }

  @Test
  void launch_libraryGone_buildsAgain() throws Exception {
    machine.complete();
    machine.launch();
    Files.delete(machine.library());

    assertThat(machine.launch().code()).isZero();
    assertThat(machine.mavenCalls()).hasSize(2);
  }

  @Test
  void launch_modulesOfAnotherCheckout_buildsAgain() throws Exception {
    machine.complete();
    machine.launch();
    Path foreign = Files.createFile(folder.toRealPath().resolve("troupe-core.jar"));
    machine.write("modules/cli/target/classpath.txt", foreign.toString());

    machine.launch();

    assertThat(machine.mavenCalls()).hasSize(2);
  }

  @Test
  void launch_buildFails_showsTheErrorsOfMavenAndExits2() throws Exception {
    machine.complete();
    machine.maven(
        "3.9.9", "echo '[INFO] chatter'; echo '[ERROR] A.java:[1,1] no such word'; exit 1");

    var outcome = machine.launch("--help");

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err())
        .contains("[ERROR] A.java:[1,1] no such word")
        .contains("error: the build failed")
        .doesNotContain("chatter");
    assertThat(machine.launch().code())
        .as("a failed build is not taken for a good one")
        .isEqualTo(2);
    assertThat(machine.lock()).doesNotExist();
  }

  @Test
  void launch_anotherBuildUnderWay_waitsForIt() throws Exception {
    machine.complete();
    machine.launch();
    String built = Files.readString(machine.clone.resolve("modules/cli/target/troupe.stamp"));
    Files.delete(machine.clone.resolve("modules/cli/target/troupe.stamp"));
    hold(ProcessHandle.current().pid());

    Process waiting = machine.start(machine.clone.resolve("troupe"));
    BufferedReader err = waiting.errorReader(UTF_8);
    assertThat(err.readLine()).startsWith("waiting for the build of process ");
    machine.write("modules/cli/target/troupe.stamp", built);
    Files.delete(machine.lock());

    assertThat(machine.outcome(waiting).code()).isZero();
    assertThat(machine.mavenCalls()).as("the other build is good for both").hasSize(1);
  }

  @Test
  void launch_holderOfTheLockGone_takesTheLock() throws Exception {
    machine.complete();
    Process ended = machine.start(machine.path.resolve("sh"), "-c", ":");
    ended.waitFor();
    hold(ended.pid());

    assertThat(machine.launch().code()).isZero();
    assertThat(machine.lock()).doesNotExist();
  }

  private void hold(long pid) throws Exception {
    machine.start(machine.path.resolve("bash"), "-c", "echo $HOSTNAME").waitFor();
    String host = Files.readString(folder.resolve("out")).strip();
    Files.createDirectories(machine.lock().getParent());
    Files.createSymbolicLink(machine.lock(), Path.of(host + ":" + pid));
  }

  @Test
  void launch_terminatedWhileBuilding_stopsMavenAndExits143() throws Exception {
    machine.complete();
    Path pipe = folder.toRealPath().resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    machine.maven("3.9.9", "echo $$ >'%s'; exec sleep 60".formatted(pipe));

    Process launcher = machine.start(machine.clone.resolve("troupe"));
    ProcessHandle maven =
        ProcessHandle.of(Long.parseLong(Files.readString(pipe).strip())).orElseThrow();
    launcher.toHandle().destroy(); // Process.destroy would close its streams as well

    assertThat(machine.outcome(launcher).code()).isEqualTo(143);
    assertThat(maven.isAlive()).isFalse();
    assertThat(machine.lock()).doesNotExist();
  }

  @Test
  void launch_insideItsOwnBuildAndOutOfDate_refusesInsteadOfWaiting() throws Exception {
    machine.complete();
    machine.environment.put("TROUPE_BUILDING", "1");

    var outcome = machine.launch();

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("this command runs inside its build");
  }
}
