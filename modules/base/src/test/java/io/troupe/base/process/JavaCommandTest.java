package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class JavaCommandTest {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  /** Prints its heap's limit and its arguments. */
  static final class Printer {
    public static void main(String[] arguments) {
      System.out.println(
          (Runtime.getRuntime().maxMemory() >> 20) + " " + String.join(" ", arguments));
    }
  }

  private final JavaCommand command =
      JavaCommand.of(Printer.class).with(JavaCommand.SERIAL_COLLECTOR).heap(16);

  @Test
  void words_classPath_isInTheEnvironment() {
    assertThat(command.words(List.of("a", "b")))
        .containsExactly(JAVA, "-XX:+UseSerialGC", "-Xmx16m", Printer.class.getName(), "a", "b");
    assertThat(command.environment())
        .containsExactlyEntriesOf(Map.of("CLASSPATH", System.getProperty("java.class.path")));
  }

  @Test
  void wordsWithClassPath_moreEntries_areAtItsEnd() {
    String jar = Path.of("/plugins/plugin.jar").toAbsolutePath().toString();
    assertThat(command.andOn(List.of(Path.of(jar))).wordsWithClassPath(List.of()))
        .containsExactly(
            JAVA,
            "-XX:+UseSerialGC",
            "-Xmx16m",
            "-cp",
            System.getProperty("java.class.path") + File.pathSeparator + jar,
            Printer.class.getName());
  }

  /** Prints whether the second compiler merges allocations. */
  static final class MergesPrinter {
    public static void main(String[] arguments) {
      System.out.println(
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
              .getVMOption("ReduceAllocationMerges")
              .getValue());
    }
  }

  @Test
  void process_withTheBasicOptions_mergesNoAllocationsOnJdk25() throws Exception {
    Process process =
        JavaCommand.of(MergesPrinter.class)
            .with(JavaCommand.BASIC)
            .process(List.of())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(process.inputReader().readLine())
        .isEqualTo(Runtime.version().feature() == 25 ? "false" : "true");
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void process_ofAClassOfThisProcess_runsItWithItsOptions() throws Exception {
    Process process =
        command
            .with("-XX:TieredStopAtLevel=1")
            .process(List.of("a", "b"))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(process.inputReader().readLine()).matches("1[56] a b");
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }
}
