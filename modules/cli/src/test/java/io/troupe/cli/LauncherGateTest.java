package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The installs, runs and reports of {@code ./troupe test}. */
final class LauncherGateTest {
  @TempDir private Path folder;
  private FakeLauncherHost machine;

  @BeforeEach
  void prepare() throws IOException {
    machine = new FakeLauncherHost(folder);
  }

  private static final String REPORTS =
      """
      mkdir -p modules/cli/target/surefire-reports
      echo '<testsuite name="a" time="1" tests="7" errors="1" skipped="0" failures="2">' \
      >modules/cli/target/surefire-reports/TEST-a.xml
      echo '<testsuite name="b" time="1" tests="5" errors="0" skipped="0" failures="0">' \
      >modules/cli/target/surefire-reports/TEST-b.xml
      """;

  private void testTools() throws IOException {
    machine.tool("git", "");
    machine.tool("python3", "");
    machine.tool("bwrap", "");
    machine.tool("setpriv", "");
    machine.tool("chromium", "");
    machine.tool("ssh", "");
    machine.tool("sshd", "");
  }

  @Test
  void test_green_verifiesAndLeavesABuildBehind() throws Exception {
    machine.complete();
    testTools();

    var outcome = machine.launch("test");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.out()).contains("quality gate passed: 0 tests, 0 failed, 0 skipped");
    assertThat(machine.launch().err()).as("nothing is left to build").isEmpty();
    assertThat(machine.mavenCalls()).last().asString().endsWith(" -B -ntp -T2C verify");
  }

  @Test
  void test_lint_itsLibrariesAreOnMavensClassPathAndAskedForOnce() throws Exception {
    machine.complete();
    testTools();

    assertThat(machine.launch("test").err()).doesNotContain("note:");
    machine.launch("test");

    assertThat(Files.readString(machine.clone.resolve("target/options")))
        .contains("-javaagent:target/lint/lint.jar ");
    assertThat(machine.clone.resolve("target/lint/lint.jar"))
        .content()
        .contains("Class-Path: file:/a%20b/core.jar file:/c/check.jar");
    assertThat(machine.mavenCalls()).filteredOn(call -> call.contains("class-path")).hasSize(1);
  }

  @Test
  void test_classPathOfTheLintUnknown_goesOnWithoutAndSaysSo() throws Exception {
    machine.complete();
    testTools();
    machine.maven("3.9.9", "case $* in *build-classpath*) exit 1 ;; esac");

    var outcome = machine.launch("test", "-o");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.err()).contains("note: Maven cannot tell the lint's class path");
    assertThat(machine.mavenCalls()).first().asString().contains(" -B -o -q -ntp -N ");
  }

  @Test
  void test_red_countsFailuresAndExits4() throws Exception {
    machine.complete();
    testTools();
    machine.maven("3.9.9", REPORTS + "exit 1");

    var outcome = machine.launch("test", "-pl", "modules/cli");

    assertThat(outcome.code()).isEqualTo(4);
    assertThat(outcome.out()).contains("quality gate FAILED: 12 tests, 3 failed, 0 skipped");
    assertThat(machine.mavenCalls()).last().asString().endsWith(" verify -pl modules/cli");
  }

  @Test
  void test_toolMissingForAUser_saysWhatToInstallAndExits2() throws Exception {
    machine.complete();
    machine.tool("id", "echo 1000");

    var outcome = machine.launch("test");

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err())
        .contains("apt-get install git python3 bubblewrap util-linux openssh-client chromium");
    assertThat(machine.mavenCalls()).isEmpty();
  }

  @Test
  void test_toolsAndMavenMissingForRootOnDebian_installsThemUnasked() throws Exception {
    machine.jdk("jdk-25", "25.0.3");
    machine.maven(folder.resolve("package"), "3.8.7", machine.goodBuild());
    machine.tool("id", "echo 0");
    machine.tool(
        "apt-get",
        """
        echo "apt-get $*" >&2
        while [ $# -gt 0 ]; do
          case $1 in
            git|python3|chromium) ln -s /bin/true '%1$s'/$1 ;;
            bubblewrap) ln -s /bin/true '%1$s'/bwrap ;;
            util-linux) ln -s /bin/true '%1$s'/setpriv ;;
            openssh-client) ln -s /bin/true '%1$s'/ssh ;;
            openssh-server) ln -s /bin/true '%1$s'/sshd ;;
            maven) ln -s '%2$s' '%1$s'/mvn ;;
          esac
          shift
        done
        """
            .formatted(machine.path, folder.toRealPath().resolve("package")));

    var outcome = machine.launch("test");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err().lines().filter(line -> line.startsWith("apt-get ")))
        .containsExactly(
            "apt-get install -y -q --no-install-recommends git python3 bubblewrap"
                + " util-linux openssh-client chromium openssh-server",
            "apt-get install -y -q --no-install-recommends maven");
  }
}
