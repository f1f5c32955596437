package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.process.JavaCommand;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.VerifierSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's own verifier from a jar, in a process of its own. */
class PluginTest {
  private static final String SOURCE =
      """
      import io.troupe.core.prompt.Prompt;
      import io.troupe.core.reward.Verdict;
      import io.troupe.verifiers.Verifier;
      import io.troupe.verifiers.VerifierOptions;
      import io.troupe.verifiers.VerifierProvider;

      public class Shout implements VerifierProvider {
        @Override public String name() { return "shout"; }
        @Override public String summary() { return "loud enough"; }
        @Override public Verifier create(VerifierOptions options) {
          int least = options.integer("least", 1, 0);
          options.refuseOthers("shout");
          return (prompt, completion) -> {
            System.out.println("chatter on standard output");
            while (completion.equals("for ever")) { Thread.onSpinWait(); }
            if (completion.equals("deep")) { return deep(0); }
            if (completion.equals("throw")) { throw new IllegalStateException("hoarse"); }
            long count = completion.chars().filter(c -> c == '!').count();
            return new Verdict.Scored(count >= least ? 1 : 0, completion, prompt.answer());
          };
        }
        private static Verdict deep(long n) { return n < 0 ? null : deep(n + 1); }
      }
      """;

  @TempDir Path folder;
  private Path jar;

  @BeforeEach
  void build() throws IOException {
    Path source = Files.writeString(folder.resolve("Shout.java"), SOURCE);
    String classPath = System.getProperty("java.class.path");
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                classPath,
                "-d",
                folder.toString(),
                source.toString());
    assertThat(status).isZero();
    jar = folder.resolve("shout.jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      out.putNextEntry(new JarEntry("Shout.class"));
      Files.copy(folder.resolve("Shout.class"), out);
      out.putNextEntry(new JarEntry("META-INF/services/io.troupe.verifiers.VerifierProvider"));
      out.write("Shout\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }
  }

  private VerifierService open(Map<String, String> options) throws IOException {
    return VerifierServices.open(
        new VerifierSpec("shout", options, List.of(jar)),
        PoolSettings.of(1).withDeadline(Duration.ofSeconds(6)));
  }

  private static Verdict verify(VerifierService service, String completion) {
    return service
        .verify(new Prompt(new PromptId("p"), "s", "t", "a", ""), completion)
        .toCompletableFuture()
        .join();
  }

  @Test
  void verify_pluginOfAJar_judgesAndIsKilledWhenItHangs() throws IOException {
    try (VerifierService service = open(Map.of("least", "2"))) {
      assertThat(verify(service, "hey!!")).isEqualTo(new Verdict.Scored(1, "hey!!", "a"));
      assertThat(verify(service, "hey!")).isEqualTo(new Verdict.Scored(0, "hey!", "a"));
      assertThat(((Verdict.Unverifiable) verify(service, "throw")).reason())
          .isEqualTo("the verifier failed: java.lang.IllegalStateException: hoarse");
      assertThat(((Verdict.Unverifiable) verify(service, "deep")).cause())
          .isEqualTo(Verdict.Cause.CRASH);
      assertThat(((Verdict.Unverifiable) verify(service, "for ever")).cause())
          .isEqualTo(Verdict.Cause.TIMEOUT);
      assertThat(verify(service, "hey!!")).isEqualTo(new Verdict.Scored(1, "hey!!", "a"));
    }
  }

  @Test
  void open_optionsThatAreWrong_areRefusedBeforeAnyProcess() {
    assertThatThrownBy(() -> open(Map.of("loud", "1")))
        .hasMessage("verifier shout has no option 'loud'; it takes least, thoughts");
    assertThatThrownBy(() -> open(Map.of("least", "many")))
        .hasMessage("option 'least' must be a whole number, 0 or greater, not 'many'");
  }

  @Test
  void main_endOfItsInputInTheMiddleOfAVerification_endsTheProcess() throws Exception {
    Process process =
        JavaCommand.of(VerifierMain.class)
            .heap(32)
            .andOn(List.of(jar))
            .process(List.of("shout"))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (var out = process.outputWriter()) {
      assertThat(process.inputReader().readLine()).isEqualTo(VerifierProtocol.ready());
      out.write(
          VerifierProtocol.write(
              new VerifierProtocol.Question(
                  1, new Prompt(new PromptId("p"), "s", "t", "a", ""), JudgedText.of("for ever"))));
      out.newLine();
    }
    assertThat(process.onExit().get(60, java.util.concurrent.TimeUnit.SECONDS).exitValue())
        .isZero();
  }
}
