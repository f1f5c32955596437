package io.troupe.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.config.LossJar.RefusedException;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.core.advantage.Advantages;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.loss.LossFormula;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.StepLoss;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A user's own loss and advantages, from a real jar. */
final class LossJarTest {
  @TempDir Path folder;
  private Path jar;

  @BeforeEach
  void build() throws IOException {
    List<String> names = new ArrayList<>(List.of("Tapered", "FromBest"));
    for (String name : names) {
      Files.writeString(folder.resolve(name + ".java"), source(name));
    }
    // The faulty ones change one thing of the example.
    variant(names, "Reversed", "weight = advantage > 0 ? 1", "weight = advantage > 0 ? -1");
    variant(names, "Slanted", "derivatives[t] = weight", "derivatives[t] = 1.01 * weight");
    variant(names, "Endless", "Math.exp(", "Math.sqrt(");
    variant(names, "Short", "new double[tokens.size()]", "new double[1]");
    variant(names, "Silent", "weight * advantage", "0 * weight");
    variant(names, "Private", "public final class", "final class");
    jar = folder.resolve("mine.jar");
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString()));
    names.forEach(name -> arguments.add(folder.resolve(name + ".java").toString()));
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    assertThat(status).isZero();
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      for (String name : names) {
        out.putNextEntry(new JarEntry(name + ".class"));
        Files.copy(folder.resolve(name + ".class"), out);
      }
    }
  }

  private void variant(List<String> names, String name, String old, String other)
      throws IOException {
    String changed = source("Tapered").replace("Tapered", name).replace(old, other);
    assertThat(changed).contains(other);
    Files.writeString(folder.resolve(name + ".java"), changed);
    names.add(name);
  }

  private static String source(String name) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(LossJarTest.class.getResourceAsStream("/loss/" + name + ".java"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void settings_ofARunWithAJar_haveItsLossAndItsAdvantages() {
    LossSettings s =
        ConfigurationFile.bind(
                RunConfig.class,
                Path.of("run.yaml"),
                """
                task: {name: arithmetic}
                rollout: {max_tokens: 4}
                training: {steps: 10, groups_per_step: 8, learning_rate: 3e-4}
                loss:
                  jar: [%s]
                  objective: own
                  objective_class: Tapered
                  baseline: own
                  baseline_class: FromBest
                """
                    .formatted(jar),
                List.of())
            .config()
            .lossSettings();

    assertThat(
            Advantages.of(
                s.baseline(),
                StepRewards.of(List.of(new double[] {1, 0, 0, 0})),
                List.of(new int[4])))
        .containsExactly(new double[] {1, -1 / 3., -1 / 3., -1 / 3.});
    // p'/q is e for the first token and 1/e for the second.
    TrainingSequence sequence =
        new TrainingSequence(
            new int[] {1}, new int[] {2, 3}, new float[] {-2, -1}, new float[] {.5f, .5f}, -3);
    double[] logProbs = {-1, -2};
    StepLoss step = new StepLoss();
    StepLoss.Derivatives by =
        step.add(s, sequence, new StepLoss.Computed(logProbs, logProbs, logProbs));
    assertThat(by.byLogProb()).containsExactly(new double[] {1.5, 1.5 / Math.E}, within(1e-12));
    assertThat(step.loss()).isCloseTo(-1.5 - 2 * 1.5 / Math.E, within(1e-12));
    assertThat(LossWeights.of(s.objective(), List.of(new boolean[] {true, true}, new boolean[1])))
        .containsExactly(new float[] {.5f, .5f}, new float[1]);
    assertThat(LossFormula.describe(s, 4, 0, 0))
        .contains("A = FromBest ", "S = Tapered(A, tokens of the sequence)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Reversed | makes a token of advantage 1 less likely",
        "Slanted | says that the derivative by log p of token",
        "Endless | gave the surrogate NaN",
        "Short | gave 1 surrogates and 1 derivatives for 6 tokens",
        "Silent | has no derivative other than 0",
        "Private | must be a public class with a public constructor without parameters",
        "FromBest | does not implement io.troupe.core.loss.LossFunction",
        "Absent | has no class Absent; it has Tapered, FromBest",
      })
  void objective_thatCannotBeTrainedWith_isRefusedWithWhy(String name, String why) {
    assertThatThrownBy(() -> LossJar.objective(jar, name))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(name)
        .hasMessageContaining(why);
  }

  @Test
  void objective_ofWhatIsNoJar_isRefusedWithThePath() throws IOException {
    Path text = Files.writeString(folder.resolve("text.jar"), "no jar");
    assertThatThrownBy(() -> LossJar.objective(text, "Tapered"))
        .hasMessageContaining("text.jar has no class Tapered; it has none that can be read");
    Path absent = folder.resolve("absent.jar");
    assertThatThrownBy(() -> LossJar.advantages(absent, "FromBest"))
        .hasMessage(
            "the jar %s does not exist or cannot be read; build it, or correct the path", absent);
  }

  @Test
  void page_onAlgorithms_showsTheExampleThatIsLoadedHere() throws IOException {
    assertThat(Path.of("../../docs/algorithms.md")).content().contains(source("Tapered"));
  }
}
