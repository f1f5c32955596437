package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search of {@code ./troupe} for a JDK and a Maven, and the arguments of the JVM. */
final class LauncherTest {
  @TempDir private Path folder;
  private FakeLauncherHost machine;

  @BeforeEach
  void prepare() throws IOException {
    machine = new FakeLauncherHost(folder);
  }

  @Test
  void launch_noJdk25_namesWhatItRefusedAndExits2() throws Exception {
    Path old = machine.jdk("jdk-17", "17.0.15");
    Path ancient = machine.jdk("jdk-8", "1.8.0_292");
    machine.environment.put("JAVA_HOME", old.toString());

    var outcome = machine.launch("--help");

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err())
        .contains("error: Troupe needs a JDK 25 or newer, and found none")
        .contains("JAVA_HOME: " + old + " is Java 17.0.15, too old")
        .contains("PATH: no java")
        .contains(ancient + " is Java 1.8.0_292, too old")
        .contains("apt-get install openjdk-25-jdk-headless", "sdk install java", "brew install");
  }

  @Test
  void launch_javaHomeTooOld_takesTheJdk25Elsewhere() throws Exception {
    machine.complete();
    machine.environment.put("JAVA_HOME", machine.jdk("jdk-17", "17.0.15").toString());

    var outcome = machine.launch("--help");

    String jdk25 = folder.toRealPath().resolve("jdks/jdk-25").toString();
    assertThat(outcome.out()).startsWith(jdk25 + "\n");
    assertThat(machine.mavenCalls()).singleElement().asString().startsWith(jdk25 + " ");
  }

  @Test
  void launch_jdkOnPathThroughLinks_isFound() throws Exception {
    machine.complete();
    Path jdk = machine.jdk("jdk-26", "26-ea");
    Path alternative =
        Files.createSymbolicLink(folder.resolve("alternative"), jdk.resolve("bin/java"));
    Files.createSymbolicLink(machine.path.resolve("java"), alternative);

    assertThat(machine.launch().out()).startsWith(jdk + "\n");
  }

  @Test
  void launch_jdkWithoutReleaseFile_isAskedForItsVersion() throws Exception {
    machine.maven("3.9.9", machine.goodBuild());
    Path jdk = machine.jdk("unnamed", "0");
    Files.delete(jdk.resolve("release"));
    machine.script(
        jdk.resolve("bin/java"),
        """
        #!/bin/sh
        [ "$1" != -version ] || { echo 'openjdk version "25" 2025-09-16' >&2; exit; }
        echo ran
        """);

    assertThat(machine.launch().out()).isEqualTo("ran\n");
  }

  @Test
  void launch_runtimeWithoutCompiler_isRefused() throws Exception {
    Files.delete(machine.jdk("jre-25", "25.0.3").resolve("bin/javac"));

    var outcome = machine.launch();

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("jre-25 is Java 25.0.3 without a compiler (bin/javac)");
  }

  @Test
  void launch_noMaven_saysHowToInstallItAndExits2() throws Exception {
    machine.jdk("jdk-25", "25.0.3");

    var outcome = machine.launch("--help");

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err())
        .contains("error: Troupe needs Maven 3.8 or newer to build itself, and found none")
        .contains("PATH: no mvn")
        .contains("apt-get install maven");
  }

  @Test
  void launch_oldMavenOnPath_takesTheOneOfMavenHome() throws Exception {
    machine.complete();
    machine.maven("3.6.3", "exit 1");
    Path home = folder.toRealPath().resolve("maven 4");
    machine.maven(home.resolve("bin/mvn"), "4.0.0", machine.goodBuild());
    machine.environment.put("MAVEN_HOME", home.toString());

    assertThat(machine.launch().code()).isZero();
  }

  @Test
  void launch_onlyOldMaven_namesItsVersionAndExits2() throws Exception {
    machine.jdk("jdk-25", "25.0.3");
    machine.maven("3.6.3", "exit 1");

    var outcome = machine.launch();

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("/bin/mvn: Maven 3.6.3, too old");
  }

  @Test
  void launch_anyVerb_runsTheCommandLineWithTheArgumentsUnchanged() throws Exception {
    machine.complete();

    var outcome = machine.launch("train", "conf/a run.yaml", "", "--set", "a=*", "x\"y'z");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.out())
        .endsWith(
            "\n[io.troupe.cli.Main]\n[train]\n[conf/a run.yaml]\n[]\n[--set]\n[a=*]\n[x\"y'z]\n")
        .contains("\n[-Dtroupe.home=" + machine.clone + "]\n")
        .contains("[" + machine.clone + "/modules/cli/target/troupe-cli.jar:");
  }

  @Test
  void launch_bench_runsTheBenchmarksWithoutTheVerb() throws Exception {
    machine.complete();

    assertThat(machine.launch("bench", "quickstart", "--json", "f").out())
        .contains("/modules/benchmarks/target/troupe-benchmarks.jar:")
        .endsWith("\n[io.troupe.benchmarks.BenchmarkMain]\n[quickstart]\n[--json]\n[f]\n");
  }

  @Test
  void launch_testReal_runsTheCounterpartsOverTheClassPathOfTheCommandLine() throws Exception {
    machine.complete();

    assertThat(machine.launch("test", "--real", "datasets", "--list").out())
        .contains("/modules/real/target/troupe-real.jar:")
        .contains(":" + machine.clone + "/modules/cli/target/troupe-cli.jar:")
        .endsWith("\n[io.troupe.real.RealMain]\n[datasets]\n[--list]\n");
  }

  @Test
  void launch_javaOptionsGiven_comeAfterOurs() throws Exception {
    machine.complete();
    machine.environment.put("TROUPE_JAVA_OPTS", "-Xmx9g  -Dx=*");

    List<String> lines = machine.launch().out().lines().toList();

    assertThat(lines).containsSubsequence("[-Xmx2g]", "[-Xmx9g]", "[-Dx=*]", "[-cp]");
  }

  @Test
  void launch_throughRelativeLink_findsItsClone() throws Exception {
    machine.complete();
    Path link = folder.toRealPath().resolve("link");
    Files.createSymbolicLink(link, Path.of("a clone/troupe"));

    var outcome = machine.outcome(machine.start(link, "plan"));

    assertThat(outcome.code()).isZero();
    assertThat(outcome.out()).contains("[-Dtroupe.home=" + machine.clone + "]");
  }

  @Test
  void launch_mavenMissingForRootWithoutTerminal_installsNothing() throws Exception {
    machine.jdk("jdk-25", "25.0.3");
    machine.tool("id", "echo 0");
    machine.tool("apt-get", "echo called >&2");

    Path yes = Files.writeString(folder.resolve("yes"), "y\n");
    var outcome =
        machine.outcome(
            machine.start(
                ProcessBuilder.Redirect.from(yes.toFile()), machine.clone.resolve("troupe")));

    assertThat(outcome.code()).isEqualTo(2);
    assertThat(outcome.err()).contains("apt-get install maven").doesNotContain("called");
  }
}
